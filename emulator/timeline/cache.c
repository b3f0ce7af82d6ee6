/* The device's cache, as far as times depend on it. It knows pieces of memory, not lines. What a
 * kernel has to wait for an access depends on how its data came there (measured on an H200, one
 * kernel of lesson 02, and by chasing pointers, in cycles an access): 5.8 ms and 289 where a kernel
 * has used it; 6.5 ms and 452 where it was copied in over what was there; 9.4 ms and 691 where it
 * is in memory alone. What is copied in and was not
 * there has only a small share of the cache, out of which what follows drives it: of 1 MiB all is
 * found again, of 4 MiB half to two thirds, of the first 4 of 16 MiB nothing. */
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

    return piece->bytes > 0 && piece->object == touch->object &&
           piece->bytes + piece->bytes / 8 >= touch->bytes &&
           (double)(cache->brought - piece->stamp + touch->bytes) <= timeline_model->cache_bytes;
}

/* What a kernel is about to touch of it: where that is not known, what one has touched there. */
static struct timeline_touch sized(const struct clock_cache *cache,
                                   const struct timeline_touch *touch)
{
    const struct clock_piece *piece = place_of((struct clock_cache *)cache, touch->object);

    return (struct timeline_touch){touch->object, touch->bytes != 0 ? touch->bytes : piece->bytes};
}

static void bring(struct clock_cache *cache, const struct timeline_touch *touch,
                  enum timeline_kind kind)
{
    struct clock_piece *piece = place_of(cache, touch->object);
    const struct timeline_touch whole = {touch->object, piece->bytes};
    /* The next part of what is there. */
    const bool known = piece->object == touch->object && is_there(cache, &whole);
    const uint64_t before = known ? piece->bytes : 0;
    enum clock_how how = CACHE_USED;

    if (kind == TIMELINE_COPY_IN)
        how = known && piece->how != CACHE_FRESH ? CACHE_COPIED : CACHE_FRESH;
    else if (kind != TIMELINE_KERNEL)
        how = CACHE_COPIED;
    if (before < touch->bytes || !is_there(cache, touch)) cache->brought += touch->bytes;
    if (how == CACHE_FRESH) cache->fresh += touch->bytes;
    *piece = (struct clock_piece){touch->object, before + touch->bytes, cache->brought,
                                  cache->fresh, how};
    if (before >= touch->bytes) piece->bytes = before;
}

void cache_start(struct timeline_op *op)
{
    struct clock_cache *cache = &op->timeline->cache;
    bool any = false;

    op->cached = (struct clock_cached){.stamp = CACHE_NEVER, .used = true};
    for (size_t i = 0; i < TIMELINE_TOUCHES; i++) {
        const struct timeline_touch *touch = &op->work.touches[i];
        if (touch->object == 0) continue;
        if (op->work.kind != TIMELINE_KERNEL) {
            /* What goes out to the host leaves the cache as it is. */
            if (op->work.kind != TIMELINE_COPY_OUT) bring(cache, touch, op->work.kind);
            continue;
        }
        const struct timeline_touch whole = sized(cache, touch);
        if (!is_there(cache, &whole)) {
            op->cached.stamp = CACHE_NEVER;
            return;
        }
        /* The oldest of them is gone first. */
        const struct clock_piece *piece = place_of(cache, touch->object);
        const uint64_t stamp = piece->stamp - whole.bytes;
        if (!any || stamp < op->cached.stamp) op->cached.stamp = stamp;
        op->cached.used = op->cached.used && piece->how == CACHE_USED;
        if (touch->bytes == 0) op->cached.guessed += whole.bytes;
        if (piece->how == CACHE_FRESH &&
            (op->cached.fresh_bytes == 0 || piece->fresh < op->cached.fresh)) {
            op->cached.fresh = piece->fresh;
            op->cached.fresh_bytes = whole.bytes;
        }
        any = true;
    }
}

/* How much of it is still there, 0 to 1. */
static double part_there(const struct timeline_op *op)
{
    const struct clock_cache *cache = &op->timeline->cache;
    const struct clock_cached *cached = &op->cached;

    if (cached->stamp == CACHE_NEVER ||
        (double)(cache->brought - cached->stamp) > timeline_model->cache_bytes)
        return 0;
    if (cached->guessed > 0 && op->cost.touched > 1.125 * (double)cached->guessed) return 0;
    if (cached->fresh_bytes == 0) return 1;
    /* On average half of it came after a byte of it, and all that was copied in since. Each piece
     * of that takes the same part of what is left, e^-x of it; the same on every machine. */
    const double x = ((double)(cache->fresh - cached->fresh) + (double)cached->fresh_bytes / 2) /
                     timeline_model->cache_fresh;
    return 1 / (1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4))));
}

double cache_rate(const struct timeline_op *op)
{
    const struct timeline_cost *cost = &op->cost;
    const double there_ns = op->cached.used ? cost->used_ns : cost->cached_ns;

    if (there_ns <= 0 || there_ns >= cost->duration_ns) return 1;
    const double part = part_there(op);
    return cost->duration_ns / (part * there_ns + (1 - part) * cost->duration_ns);
}

void cache_end(const struct timeline_op *op)
{
    if (op->work.kind != TIMELINE_KERNEL) return;
    for (size_t i = 0; i < TIMELINE_TOUCHES; i++) {
        const struct timeline_touch *touch = &op->work.touches[i];
        if (touch->object == 0) continue;
        if (touch->bytes == 0 && op->cost.touched <= 0) continue;
        const struct timeline_touch whole = {
            touch->object, touch->bytes != 0 ? touch->bytes : (uint64_t)op->cost.touched};
        bring(&op->timeline->cache, &whole, TIMELINE_KERNEL);
    }
}
