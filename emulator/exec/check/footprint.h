/* exec_footprint: which bytes of which regions a launch loaded, stored and changed atomically, and
 * which source lines did it. Filled by the executor when a launch asks for it. It draws no
 * conclusions.
 */
#ifndef OVERLAP_EXEC_CHECK_FOOTPRINT_H
#define OVERLAP_EXEC_CHECK_FOOTPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_region;

enum exec_access { EXEC_LOAD, EXEC_STORE, EXEC_ATOMIC, EXEC_ACCESS_COUNT };

struct exec_owners; /* check/owners.h */

struct exec_footprint_region {
    const struct memory_region *region;
    uint64_t *bits[EXEC_ACCESS_COUNT]; /* bit i: byte i was accessed in this way; NULL: none was */
    uint64_t words;                    /* of 64 bits, in each */
    struct exec_owners *owners;        /* NULL: not wanted */
    bool tells;                        /* exec_footprint_tell was called for it */
};

/* The accesses to one region by one instruction lie between `first` and `end`. */
struct exec_footprint_site {
    const struct memory_region *region;
    enum exec_access access;
    uint64_t first, end;
    const char *file; /* owned by the program; NULL: unknown */
    uint32_t line;
    uint32_t widest; /* bytes of its largest access */
    bool strong;     /* it may tell other threads something, or learn it from them: volatile or
                        ordered, past the L1 cache, or atomic */
    bool deaf;       /* atomics whose results decide nothing that their threads do */
    bool updates;    /* it stores what its thread has computed from a load of the same bytes */
};

struct exec_footprint;

/* `met` is called before a region is accessed for the first time; may be NULL. Returns NULL without
 * memory. */
struct exec_footprint *
exec_footprint_create(void (*met)(void *user, const struct memory_region *region), void *user);
void exec_footprint_destroy(struct exec_footprint *footprint);
/* `tells` is called, with create's `user`, before a store or an atomic by which a thread may tell
 * others something (exec_footprint_site.strong) accesses a region for the first time. */
void exec_footprint_listen(struct exec_footprint *footprint,
                           void (*tells)(void *user, const struct exec_footprint *footprint,
                                         const struct memory_region *region));

/* Adds the regions and bytes of `other`, but not its sites, to `footprint`. */
void exec_footprint_join(struct exec_footprint *footprint, const struct exec_footprint *other);

/* Forgets all accesses so far, but keeps the owners. */
void exec_footprint_empty(struct exec_footprint *footprint);

size_t exec_footprint_region_count(const struct exec_footprint *footprint);
const struct exec_footprint_region *exec_footprint_region_at(const struct exec_footprint *footprint,
                                                             size_t index);

/* Bytes of a region, both multiples of 64 (or beyond the region's end). */
struct exec_footprint_window {
    uint64_t first, end;
};
enum { EXEC_FOOTPRINT_WINDOWS = 16 };
/* Lists the windows, ascending and apart, that contain every byte whose bit is set in
 * region->bits[access], and returns how many they are: most launches touch little of a large
 * region. */
size_t exec_footprint_windows(const struct exec_footprint *footprint,
                              const struct exec_footprint_region *region, enum exec_access access,
                              struct exec_footprint_window windows[EXEC_FOOTPRINT_WINDOWS]);

/* Whether every access lies in a site that is known. */
bool exec_footprint_has_all_sites(const struct exec_footprint *footprint);
size_t exec_footprint_site_count(const struct exec_footprint *footprint);
const struct exec_footprint_site *exec_footprint_site_at(const struct exec_footprint *footprint,
                                                         size_t index);

/* ---- for the executor; from several threads at once ------------------------------------------ */

/* Returns the bitmap for `access` to `region`. NULL without memory: then nothing is recorded. */
uint64_t *exec_footprint_bits(struct exec_footprint *footprint, const struct memory_region *region,
                              enum exec_access access);
/* Returns the owners of the region's bytes, made on first use. `maps` false: without tables per
 * byte; the same for the whole launch. NULL without memory. */
struct exec_owners *exec_footprint_owners(struct exec_footprint *footprint,
                                          const struct memory_region *region, bool maps);
/* A strong store to the region, or an atomic, is about to be executed. */
void exec_footprint_tell(struct exec_footprint *footprint, const struct memory_region *region);
/* The launch pauses: it may end without adding its last sites. */
void exec_footprint_pause(struct exec_footprint *footprint);
/* Adds a site, merged with one of the same source place that hears as little. */
void exec_footprint_add_site(struct exec_footprint *footprint,
                             const struct exec_footprint_site *site);

/* Most bits are set already, by another warp or lane: a load is cheaper than an atomic or. */
static inline void exec_footprint_mark_word(uint64_t *word, uint64_t mask)
{
    if (mask == ~0ull)
        __atomic_store_n(word, mask, __ATOMIC_RELAXED);
    else if ((__atomic_load_n(word, __ATOMIC_RELAXED) & mask) != mask)
        __atomic_fetch_or(word, mask, __ATOMIC_RELAXED);
}

/* Returns the bits of `bytes` bytes, at least one, from bit `at` on, all in one word. */
static inline uint64_t exec_footprint_mask(uint64_t at, uint64_t bytes)
{
    return ~0ull >> (64 - bytes) << at;
}

/* As exec_footprint_mark_word. `alone`: no other thread sets bits at this time, so that no atomics
 * are needed. */
static inline void exec_footprint_mark_word_alone(uint64_t *word, uint64_t mask, bool alone)
{
    if (alone)
        *word |= mask;
    else
        exec_footprint_mark_word(word, mask);
}

/* Sets the bits of `bytes` bytes from `offset` on. */
static inline void exec_footprint_mark(uint64_t *bits, uint64_t offset, uint64_t bytes)
{
    const uint64_t at = offset % 64, here = bytes < 64 - at ? bytes : 64 - at;
    uint64_t *word = &bits[offset / 64];
    if (bytes == 0) return;
    exec_footprint_mark_word(word++, exec_footprint_mask(at, here));
    for (bytes -= here; bytes >= 64; bytes -= 64) __atomic_store_n(word++, ~0ull, __ATOMIC_RELAXED);
    if (bytes > 0) exec_footprint_mark_word(word, exec_footprint_mask(0, bytes));
}

/* Bits of some words that are not in the bitmaps yet: accesses that lie apart set a few bits of
 * many words, and the next accesses mostly set others of the same words. Owned by one thread. */
enum { EXEC_PENDING_WORDS = 64 };
struct exec_pending {
    bool alone; /* as for exec_footprint_mark_word_alone */
    struct {
        uint64_t *word;
        uint64_t bits; /* 0: none */
    } places[EXEC_PENDING_WORDS];
};

/* exec_footprint_mark_word, now or later. A word that is complete is set at once. */
static inline void exec_pending_mark(struct exec_pending *pending, uint64_t *word, uint64_t mask)
{
    if ((__atomic_load_n(word, __ATOMIC_RELAXED) & mask) == mask) return;
    const uint64_t k = (uint64_t)(uintptr_t)word / sizeof *word;
    const uint64_t place = (k ^ k >> 6 ^ k >> 12) % EXEC_PENDING_WORDS;
    uint64_t bits = pending->places[place].bits;
    if (bits != 0 && pending->places[place].word != word) {
        exec_footprint_mark_word_alone(pending->places[place].word, bits, pending->alone);
        bits = 0;
    }
    bits |= mask;
    if (bits == ~0ull) {
        __atomic_store_n(word, bits, __ATOMIC_RELAXED);
        bits = 0;
    }
    pending->places[place].word = word;
    pending->places[place].bits = bits;
}

/* Sets all bits that are not in the bitmaps yet. */
static inline void exec_pending_settle(struct exec_pending *pending)
{
    for (unsigned k = 0; k < EXEC_PENDING_WORDS; k++) {
        if (pending->places[k].bits != 0)
            exec_footprint_mark_word_alone(pending->places[k].word, pending->places[k].bits,
                                           pending->alone);
        pending->places[k].bits = 0;
    }
}

/* The bits of pieces of `each` bytes, at every `step`th byte, word by word: 0 < each <= step <= 64.
 */
struct exec_comb {
    uint64_t teeth; /* of pieces that begin at 0, step, ... */
    uint64_t over;  /* bits of the word before's last piece in this word */
    uint64_t left;  /* bytes from this word's first to the last piece's last; 0: that was all */
    uint32_t step, each;
    uint32_t begin; /* of this word's first piece: less than 64 */
    uint32_t place; /* the same modulo step */
    uint32_t less;  /* how much less it is in the next word, modulo step */
};

/* Of the pieces from `first` to before `end`. */
static inline struct exec_comb exec_comb_of(uint64_t first, uint64_t end, uint32_t step,
                                            uint32_t each)
{
    const uint32_t begin = first % 64;
    struct exec_comb comb = {.teeth = exec_footprint_mask(0, each),
                             .left = end - first + begin,
                             .step = step,
                             .each = each,
                             .begin = begin,
                             .place = begin % step,
                             .less = 64 % step};
    for (uint32_t by = step; by < 64; by *= 2) comb.teeth |= comb.teeth << by;
    return comb;
}

/* Returns the bits of this word, and goes on to the next. */
static inline uint64_t exec_comb_next(struct exec_comb *comb)
{
    const uint64_t here = comb->left < 64 ? comb->left : 64;
    const uint64_t bits = (comb->teeth << comb->begin | comb->over) & exec_footprint_mask(0, here);
    comb->left -= here;
    comb->place += (comb->place < comb->less ? comb->step : 0) - comb->less;
    comb->begin = comb->place;
    /* The last piece begins a step before that. */
    const uint32_t end = comb->begin + comb->each;
    comb->over = end > comb->step ? exec_footprint_mask(0, end - comb->step) : 0;
    return bits;
}

/* Marks the pieces of a comb from `first` to before `end`, now or later. */
static inline void exec_pending_mark_comb(struct exec_pending *pending, uint64_t *bits,
                                          uint64_t first, uint64_t end, uint32_t step,
                                          uint32_t each)
{
    struct exec_comb comb = exec_comb_of(first, end, step, each);
    for (uint64_t *word = &bits[first / 64]; comb.left > 0; word++)
        exec_pending_mark(pending, word, exec_comb_next(&comb));
}

/* exec_footprint_mark_steps for a comb. */
static inline void exec_footprint_mark_comb(uint64_t *bits, uint64_t first, uint64_t end,
                                            uint32_t step, uint32_t each, bool alone)
{
    struct exec_comb comb = exec_comb_of(first, end, step, each);
    for (uint64_t *word = &bits[first / 64]; comb.left > 0; word++)
        exec_footprint_mark_word_alone(word, exec_comb_next(&comb), alone);
}

/* Sets the bits of `bytes` bytes at every `step`th offset from `first` to `last`, up or down.
 * `alone`: as for exec_footprint_mark_word_alone. Not inlined, because it is long. */
static __attribute__((noinline, unused)) void
exec_footprint_mark_steps(uint64_t *bits, uint64_t first, uint64_t step, uint64_t last,
                          uint32_t bytes, bool alone)
{
    const bool up = first <= last;
    const uint64_t size = up ? step : -step, least = up ? first : last, most = up ? last : first;
    if (bytes >= size) {
        exec_footprint_mark(bits, least, most - least + bytes);
        return;
    }
    if (bytes < size && size <= 64) {
        exec_footprint_mark_comb(bits, least, most + bytes, (uint32_t)size, bytes, alone);
        return;
    }
    for (uint64_t offset = first;; offset += step) {
        exec_footprint_mark(bits, offset, bytes);
        if (offset == last) break;
    }
}

/* The same, now or later, for bytes that lie far apart: 0 < bytes <= 64. */
static inline void exec_pending_mark_steps(struct exec_pending *pending, uint64_t *bits,
                                           uint64_t first, uint64_t step, uint64_t last,
                                           uint32_t bytes)
{
    for (uint64_t offset = first;; offset += step) {
        const uint64_t at = offset % 64, here = bytes < 64 - at ? bytes : 64 - at;
        uint64_t *word = &bits[offset / 64];
        exec_pending_mark(pending, word, exec_footprint_mask(at, here));
        if (here < bytes)
            exec_pending_mark(pending, word + 1, exec_footprint_mask(0, bytes - here));
        if (offset == last) break;
    }
}

/* Returns true when all bits from `first` to before `end` are set. */
static inline bool exec_footprint_is_marked(const uint64_t *bits, uint64_t first, uint64_t end)
{
    const uint64_t last = (end - 1) / 64;
    uint64_t missing = 0;
    for (uint64_t k = first / 64; k <= last; k++) {
        uint64_t wanted = ~0ull;
        if (k == first / 64) wanted &= ~0ull << first % 64;
        if (k == last) wanted &= ~0ull >> (63 - (end - 1) % 64);
        missing |= ~__atomic_load_n(&bits[k], __ATOMIC_RELAXED) & wanted;
    }
    return missing == 0;
}

#endif
