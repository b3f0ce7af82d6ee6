/* exec_shadow_line: race check of shared memory a line at a time. Keeps what whole warps touched in
 * a line since the block's last order as a few touches of several words each, where check/shadow.h
 * keeps a cell for each word. Decides only that there is no race, never that there is one: what it
 * cannot tell it leaves to the cells. Private to emulator/exec.
 *
 * Since an order of the block either the lines hold all touches or the cells do. The first touch
 * that a line cannot take, of an instruction that is no plain load or store of 4 bytes or of lanes
 * without a pattern, moves everything to the cells until the block's next order
 * (exec_shadow_part). What was touched before an order is forgotten; so where that still matters
 * there are no lines: in clusters, in programs with asynchronous proxies (check/proxy.h), and in
 * blocks whose lanes have stored over each other (check/unread.h). Nor are there in blocks with
 * asynchronous copies (check/async.h), or that access parts of words.
 *
 * Source: as check/shadow.h.
 */
#ifndef OVERLAP_EXEC_CHECK_SHADOW_LINE_H
#define OVERLAP_EXEC_CHECK_SHADOW_LINE_H

#include "emulator/exec/check/shadow.h"

enum { EXEC_LINE_WORDS = 32, EXEC_LINE_TOUCHES = 14 };

/* What touches. The fields are joined into numbers, since they are made, compared and kept as a
 * whole at nearly every access to shared memory. */
enum exec_line_flag {
    EXEC_LINE_STORE = 1,
    EXEC_LINE_MANY = 2, /* another lane of the warp touched each word, too */
    EXEC_LINE_ONE = 4,  /* `thread` touched all the words; else thread + (k >> shift) word k */
    EXEC_LINE_SHIFT = 3 /* number of the lowest of two bits: the shift */
};

struct exec_line_touch {
    uint32_t words; /* a bit for each word of the line */
    uint32_t who;   /* from the high bits down: thread (16), warp (8), flags */
    uint64_t when;  /* moment, as a cell value without a thread (32), source position */
};

/* `thread` may be negative: that of word 0, where word 0 is not touched. */
static inline uint32_t exec_line_who(int32_t thread, uint32_t warp, uint32_t flags)
{
    return (uint32_t)thread << 16 | warp << 8 | flags;
}

static inline uint64_t exec_line_when(int32_t moment, uint32_t site)
{
    return (uint64_t)(uint32_t)moment << 32 | site;
}

static inline int32_t exec_line_thread(uint32_t who)
{
    return (int32_t)who >> 16;
}

static inline uint32_t exec_line_warp(uint32_t who)
{
    return who >> 8 & 0xff;
}

static inline uint32_t exec_line_shift(uint32_t who)
{
    return who >> EXEC_LINE_SHIFT & 3;
}

static inline int32_t exec_line_moment(uint64_t when)
{
    return (int32_t)(when >> 32);
}

struct exec_line {
    int32_t floor; /* the shadow's floor at these touches; another: there are none */
    uint32_t count;
    uint32_t touched; /* words of all touches */
    uint32_t stored;  /* words that were stored to */
    uint32_t known;   /* words that two warps have loaded: more loads of them tell nothing */
    struct exec_line_touch touches[EXEC_LINE_TOUCHES];
};

/* Returns true while the lines hold the block's touches. exec_lines_are_used: and there is one of
 * them since the block's last order. */
static inline bool exec_lines_hold(const struct exec_shadow *shadow)
{
    return shadow->lines != NULL && shadow->parted != shadow->floor && !shadow->converses;
}

static inline bool exec_lines_are_used(const struct exec_shadow *shadow)
{
    return shadow->lined == shadow->floor;
}

/* Returns true if the touch may be a race with one that the line holds. `quiet`: words that the
 * store leaves as they are. */
static inline bool exec_line_conflicts(const struct exec_shadow *shadow,
                                       const struct exec_line *line,
                                       const struct exec_line_touch *touch, uint32_t quiet)
{
    const uint32_t against_loads = touch->who & EXEC_LINE_STORE ? touch->words : 0;
    const int32_t warp_floor = shadow->warp_floor[exec_line_warp(touch->who)];
    for (uint32_t k = 0; k < line->count; k++) {
        const struct exec_line_touch *old = &line->touches[k];
        const uint32_t differ = (old->who ^ touch->who) & ~(uint32_t)EXEC_LINE_STORE;
        const uint32_t against = old->who & EXEC_LINE_STORE ? touch->words | quiet : against_loads;
        if (!(old->words & against)) continue;
        if (!differ) continue; /* the same threads: only loads are of several lanes each */
        if (exec_line_warp(differ) != 0 || exec_line_moment(old->when) >= warp_floor) return true;
    }
    return false;
}

/* Adds the words to a touch by the same threads at the same place and time, or takes the place of
 * an older touch of the same words. Returns false if there is neither. */
static inline bool exec_line_join(struct exec_line *line, const struct exec_line_touch *touch)
{
    for (uint32_t k = line->count; k-- > 0;) {
        struct exec_line_touch *old = &line->touches[k];
        if (old->who != touch->who) continue;
        if (old->when != touch->when && old->words != touch->words) continue;
        old->words |= touch->words;
        old->when = touch->when;
        return true;
    }
    return false;
}

/* Records a touch of a line that it may conflict with, or that may know it already. */
static inline bool exec_line_add(struct exec_shadow *shadow, struct exec_line *line,
                                 const struct exec_line_touch *touch, uint32_t quiet)
{
    const bool store = touch->who & EXEC_LINE_STORE;
    const uint32_t against =
        store ? line->touched & (touch->words | quiet) : line->stored & touch->words;
    const uint32_t told = store ? 0 : line->known;
    if (against && exec_line_conflicts(shadow, line, touch, quiet)) return false;
    if (!(touch->words & ~told)) return true;
    if (!exec_line_join(line, touch)) {
        if (line->count == EXEC_LINE_TOUCHES) return false;
        line->touches[line->count++] = *touch;
    }
    line->touched |= touch->words;
    line->stored |= store ? touch->words : 0;
    for (uint32_t k = 0; k < line->count && !store; k++) {
        const struct exec_line_touch *old = &line->touches[k];
        if (!(old->who & EXEC_LINE_STORE) && exec_line_warp(old->who ^ touch->who) != 0)
            line->known |= old->words & touch->words;
    }
    return true;
}

/* Records a touch of line `index`. Returns false, without effect, if the cells must take it.
 * `quiet`: as for exec_line_conflicts. */
static inline __attribute__((always_inline)) bool exec_line_touch(struct exec_shadow *shadow,
                                                                  uint32_t index,
                                                                  struct exec_line_touch touch,
                                                                  uint32_t quiet)
{
    struct exec_line *line = &shadow->lines[index];
    if (line->floor == shadow->floor) return exec_line_add(shadow, line, &touch, quiet);
    line->floor = shadow->lined = shadow->floor;
    line->count = 1;
    line->touched = touch.words;
    line->stored = touch.who & EXEC_LINE_STORE ? touch.words : 0;
    line->known = 0;
    line->touches[0] = touch;
    return true;
}

/* The same for words that may lie in two lines: bit k of `touch.words`, and of `quiet`, is for
 * word `word` + k, and the thread for k = 0. `word` is a multiple of 1 << shift. */
static inline __attribute__((always_inline)) bool exec_lines_touch(struct exec_shadow *shadow,
                                                                   uint32_t word,
                                                                   struct exec_line_touch touch,
                                                                   uint32_t quiet)
{
    const uint32_t inside = word % EXEC_LINE_WORDS, shift = exec_line_shift(touch.who);
    const uint32_t step = touch.who & EXEC_LINE_ONE ? 0 : exec_line_who(1, 0, 0);
    const uint64_t words = (uint64_t)touch.words << inside, still = (uint64_t)quiet << inside;
    touch.words = (uint32_t)words;
    touch.who -= step * (inside >> shift);
    if ((uint32_t)(words | still) != 0 &&
        !exec_line_touch(shadow, word / EXEC_LINE_WORDS, touch, (uint32_t)still))
        return false;
    touch.words = (uint32_t)(words >> EXEC_LINE_WORDS);
    touch.who += step * (EXEC_LINE_WORDS >> shift);
    return (words | still) >> EXEC_LINE_WORDS == 0 ||
           exec_line_touch(shadow, word / EXEC_LINE_WORDS + 1, touch,
                           (uint32_t)(still >> EXEC_LINE_WORDS));
}

/* Gives the memory lines, or leaves it with cells alone: without room, and from now on. */
void exec_shadow_line(struct exec_shadow *shadow);
void exec_shadow_line_drop(struct exec_shadow *shadow);
/* The shadow's time starts again: forgets all touches. */
void exec_shadow_line_forget(struct exec_shadow *shadow);
/* Moves all touches to the cells, which take all others until the block's next order. */
void exec_shadow_part_slowly(struct exec_shadow *shadow);
static inline void exec_shadow_part(struct exec_shadow *shadow)
{
    if (shadow->lines != NULL && shadow->parted != shadow->floor) exec_shadow_part_slowly(shadow);
}

#endif
