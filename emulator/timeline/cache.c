/* The device's second-level cache, as far as times depend on it. It models pieces of memory, not
 * lines. How long a kernel waits for an access depends on how its data came into the cache
 * (measured on an H100 and an H200, one kernel of lesson 02 with stamps, tests/timing/questions.cu;
 * and by pointer chasing, in cycles per access): 5.9 ms and 289 where a kernel has used it; 6.6 ms
 * and 452 where it was copied in over cached data; 9.5 ms and 691 where it is in memory alone.
 *
 * Data that is used again is found whole if not much else was used since, and in part if a little
 * more was. Data that is copied in does not evict data that kernels use: it goes into the small
 * share of the cache that nobody uses, from which kernels and further copies evict it. That share
 * is larger where used data has been copied out, or copied over, since. So the same kernel
 * takes 8.3 ms behind its copy when 400 MiB were set or read before, 7.65 ms in a row of arrays
 * that are copied in, worked on and copied out, and 9.5 ms where another array was copied in
 * between. */
#include "emulator/base/hash.h"
#include "emulator/timeline/parts.h"

static struct clock_piece *place_of(struct clock_cache *cache, uint64_t object)
{
    return &cache->pieces[(object * HASH_GOLDEN >> 32) % CACHE_PIECES];
}

/* ---- the list of pieces, most recently used first -------------------------------------------- */

/* Takes the piece out of the list. */
static void unlink_piece(struct clock_cache *cache, struct clock_piece *piece)
{
    if (piece->newer != NULL)
        piece->newer->older = piece->older;
    else if (cache->newest == piece)
        cache->newest = piece->older;
    if (piece->older != NULL) piece->older->newer = piece->newer;
    piece->newer = piece->older = NULL;
}

/* Puts the piece in front of the list. */
static void link_piece(struct clock_cache *cache, struct clock_piece *piece)
{
    piece->older = cache->newest;
    if (piece->older != NULL) piece->older->newer = piece;
    cache->newest = piece;
}

/* Returns the bytes used since the piece was, its own included; beyond the cache's size the count
 * stops early. */
static double used_since(const struct clock_cache *cache, const struct clock_piece *piece)
{
    double bytes = (double)piece->bytes;

    for (const struct clock_piece *at = cache->newest; at != piece; at = at->older) {
        if (at == NULL) return 2 * timeline_model->cache_bytes;
        if (at->how != CACHE_FRESH) bytes += (double)at->bytes;
        if (bytes > timeline_model->cache_bytes) break;
    }
    return bytes;
}

/* Returns the part, 0 to 1, of a piece that is found again after so many bytes were used. */
static double found_after(double bytes)
{
    const double sure = timeline_model->cache_sure * timeline_model->cache_bytes;

    if (bytes <= sure) return 1;
    if (bytes >= timeline_model->cache_bytes) return 0;
    return (timeline_model->cache_bytes - bytes) / (timeline_model->cache_bytes - sure);
}

/* Returns the part, 0 to 1, of the cached data that was copied out or over since it was used. */
static double part_given_up(const struct clock_cache *cache)
{
    double all = 0, given_up = 0;

    for (const struct clock_piece *at = cache->newest; at != NULL; at = at->older) {
        if (at->how == CACHE_FRESH) continue;
        all += (double)at->bytes;
        if (all > timeline_model->cache_bytes) break;
        if (at->given_up) given_up += (double)at->bytes;
    }
    const double most = timeline_model->cache_sure * timeline_model->cache_bytes;
    return given_up < most ? given_up / most : 1;
}

/* ---- what the cache holds -------------------------------------------------------------------- */

/* Returns the part, 0 to 1, of the touched data that is still cached; for a CACHE_FRESH piece 1 or
 * 0. 0 when less than the touched bytes was ever brought in. */
static double left_of(const struct clock_cache *cache, const struct timeline_touch *touch)
{
    const struct clock_piece *piece = place_of((struct clock_cache *)cache, touch->object);

    if (piece->bytes == 0 || piece->object != touch->object ||
        piece->bytes + piece->bytes / 8 < touch->bytes)
        return 0;
    const uint64_t since = cache->brought - piece->brought + cache->fresh - piece->fresh;
    if (piece->how == CACHE_FRESH)
        return (double)(since + piece->bytes) <= timeline_model->cache_bytes;
    const double left = found_after(used_since(cache, piece));
    return left < piece->left ? left : piece->left;
}

/* Returns the touch with its size: where the caller did not give one, that of the cached piece. */
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
    const double left = left_of(cache, &whole);
    /* A partial touch extends what is cached of the piece. */
    const uint64_t before = left > 0 ? piece->bytes : 0;
    const bool is_in = kind == TIMELINE_COPY_IN, was_fresh = piece->how == CACHE_FRESH;
    enum clock_how how = CACHE_USED;

    if (is_in)
        how = left > 0 && !was_fresh ? CACHE_COPIED : CACHE_FRESH;
    else if (kind != TIMELINE_KERNEL)
        how = CACHE_COPIED;
    if (how == CACHE_FRESH)
        cache->fresh += touch->bytes;
    else if (!is_in && (before < touch->bytes || was_fresh))
        cache->brought += touch->bytes;
    unlink_piece(cache, piece);
    *piece = (struct clock_piece){.object = touch->object,
                                  .bytes = before < touch->bytes ? before + touch->bytes : before,
                                  .brought = cache->brought,
                                  .fresh = cache->fresh,
                                  .left = is_in && left > 0 ? left : 1,
                                  .given_up = is_in,
                                  .how = how};
    link_piece(cache, piece);
}

/* ---- for the clock --------------------------------------------------------------------------- */

static void copy_starts(struct clock_cache *cache, const struct timeline_touch *touch,
                        enum timeline_kind kind)
{
    struct clock_piece *piece = place_of(cache, touch->object);

    if (kind != TIMELINE_COPY_OUT)
        bring(cache, touch, kind);
    else if (piece->object == touch->object)
        piece->given_up = true;
}

void cache_start(struct timeline_op *op)
{
    struct clock_cache *cache = &op->device->cache;
    struct clock_cached *cached = &op->cached;

    *cached = (struct clock_cached){.left = 1, .used = true, .brought = cache->brought};
    for (size_t i = 0; i < TIMELINE_TOUCHES && cached->left > 0; i++) {
        const struct timeline_touch *touch = &op->work.touches[i];
        if (touch->object == 0) continue;
        if (op->work.kind != TIMELINE_KERNEL) {
            copy_starts(cache, touch, op->work.kind);
            continue;
        }
        const struct timeline_touch whole = sized(cache, touch);
        const struct clock_piece *piece = place_of(cache, touch->object);
        const double left = left_of(cache, &whole);
        /* The oldest piece is evicted first. */
        const double since = left > 0 ? used_since(cache, piece) : 0;
        cached->any = true;
        if (left < cached->left) cached->left = left;
        if (since > cached->since) cached->since = since;
        cached->used = cached->used && piece->how == CACHE_USED;
        if (touch->bytes == 0) cached->guessed += whole.bytes;
        if (left > 0 && piece->how == CACHE_FRESH &&
            (cached->fresh_bytes == 0 || piece->fresh < cached->fresh)) {
            cached->fresh = piece->fresh;
            cached->fresh_brought = piece->brought;
            cached->fresh_bytes = whole.bytes;
        }
    }
    if (cached->fresh_bytes > 0) cached->room = part_given_up(cache);
}

/* Returns how much of the CACHE_FRESH data is still there, 0 to 1. What was brought in since evicts
 * it; on average, half of the piece itself came after any byte of it. Equal amounts evict equal
 * parts of what is left, so e^-x of it is left; a polynomial gives the same result on every
 * machine. */
static double fresh_there(const struct clock_cache *cache, const struct clock_cached *cached)
{
    const struct timeline_model *m = timeline_model;
    const double share = m->cache_fresh + cached->room * (m->cache_given_up - m->cache_fresh);
    const double since = (double)(cache->fresh - cached->fresh) +
                         (double)(cache->brought - cached->fresh_brought) +
                         (double)cached->fresh_bytes / 2;
    const double x = since / share;

    return m->cache_found / (1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4))));
}

/* Returns how much of the kernel's data is still there, 0 to 1. */
static double part_there(const struct timeline_op *op)
{
    const struct clock_cache *cache = &op->device->cache;
    const struct clock_cached *cached = &op->cached;

    if (!cached->any || cached->left <= 0) return 0;
    if (cached->guessed > 0 && op->cost.touched > 1.125 * (double)cached->guessed) return 0;
    if (cached->fresh_bytes > 0) return fresh_there(cache, cached);
    const double left = found_after(cached->since + (double)(cache->brought - cached->brought));
    return left < cached->left ? left : cached->left;
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
        bring(&op->device->cache, &whole, TIMELINE_KERNEL);
    }
}
