/* The device's cache, as far as times depend on it: a kernel whose data has just been copied in
 * waits less for each access (measured: one kernel of lesson 02 takes 7.6 ms behind its copy,
 * and 9.6 ms when 200 arrays have been copied in since). It knows pieces of memory, not lines. */
#include "emulator/base/hash.h"
#include "emulator/timeline/parts.h"

static struct clock_piece *place_of(struct clock_cache *cache, uint64_t object)
{
    return &cache->pieces[(object * HASH_GOLDEN >> 32) % CACHE_PIECES];
}

/* Was so much of it brought in, and not so much else since that it is gone? */
static bool is_there(const struct clock_cache *cache, const struct timeline_touch *touch)
{
    const struct clock_piece *piece = place_of((struct clock_cache *)cache, touch->object);

    return piece->object == touch->object && piece->bytes + piece->bytes / 8 >= touch->bytes &&
           (double)(cache->brought - piece->stamp + touch->bytes) <= timeline_model->cache_bytes;
}

static void bring(struct clock_cache *cache, const struct timeline_touch *touch)
{
    struct clock_piece *piece = place_of(cache, touch->object);
    const struct timeline_touch whole = {touch->object, piece->bytes};
    /* The next part of what is there. */
    const uint64_t before =
        piece->object == touch->object && is_there(cache, &whole) ? piece->bytes : 0;

    if (before < touch->bytes || !is_there(cache, touch)) cache->brought += touch->bytes;
    *piece = (struct clock_piece){touch->object, before + touch->bytes, cache->brought};
    if (before >= touch->bytes) piece->bytes = before;
}

void cache_start(struct timeline_op *op)
{
    struct clock_cache *cache = &op->timeline->cache;
    bool any = false;

    op->cache_stamp = CACHE_NEVER;
    for (size_t i = 0; i < TIMELINE_TOUCHES; i++) {
        const struct timeline_touch *touch = &op->work.touches[i];
        if (touch->object == 0) continue;
        if (op->work.kind != TIMELINE_KERNEL) {
            bring(cache, touch);
            continue;
        }
        if (!is_there(cache, touch)) {
            op->cache_stamp = CACHE_NEVER;
            return;
        }
        /* The oldest of them is gone first. */
        const uint64_t stamp = place_of(cache, touch->object)->stamp - touch->bytes;
        if (!any || stamp < op->cache_stamp) op->cache_stamp = stamp;
        any = true;
    }
}

bool cache_holds(const struct timeline_op *op)
{
    return op->cache_stamp != CACHE_NEVER &&
           (double)(op->timeline->cache.brought - op->cache_stamp) <= timeline_model->cache_bytes;
}

void cache_end(const struct timeline_op *op)
{
    if (op->work.kind != TIMELINE_KERNEL) return;
    for (size_t i = 0; i < TIMELINE_TOUCHES; i++)
        if (op->work.touches[i].object != 0) bring(&op->timeline->cache, &op->work.touches[i]);
}
