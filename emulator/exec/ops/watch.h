/* exec_watch: the simplest race checks of row "watch", which checks accesses to shared memory:
 * shared by ops/racecheck.c and the machine code of ops/quick.c and native/. Private to
 * emulator/exec.
 */
#ifndef OVERLAP_EXEC_OPS_WATCH_H
#define OVERLAP_EXEC_OPS_WATCH_H

#include "emulator/exec/check/shadow_line.h"
#include "emulator/exec/ops/lanes.h"

/* exec_inst.cache of a "watch" before an access of 4 bytes. */
enum {
    EXEC_WATCH_ORDINARY = 4 | 1 << EXEC_WATCH_COUNT_SHIFT,
    EXEC_WATCH_LOAD = EXEC_WATCH_ORDINARY | EXEC_LOAD << EXEC_WATCH_ACCESS_SHIFT,
    EXEC_WATCH_STORE =
        EXEC_WATCH_ORDINARY | EXEC_STORE << EXEC_WATCH_ACCESS_SHIFT | EXEC_WATCH_VALUES,
    EXEC_WATCH_ATOMIC = EXEC_WATCH_ORDINARY | EXEC_ATOMIC << EXEC_WATCH_ACCESS_SHIFT,
};

/* Returns true for that kind (EXEC_WATCH_LOAD, ...). Full warps need no more than this: the flags
 * COUNTS and EXCHANGES are ignored. */
static inline bool exec_watch_is(const struct exec_inst *inst, uint32_t kind)
{
    return (inst->cache & ~(uint32_t)(EXEC_WATCH_COUNTS | EXEC_WATCH_EXCHANGES)) == kind;
}

/* Bytes of an element. */
static inline uint32_t exec_watch_element(const struct exec_inst *inst)
{
    return inst->cache & 0xff;
}

/* Returns true if the lanes load or store whole words of shared memory through narrow addresses:
 * 1 << *shift of them each. */
static inline bool exec_watch_moves(const struct exec_inst *inst, bool store, uint32_t *shift)
{
    enum { LOADS = EXEC_LOAD << EXEC_WATCH_ACCESS_SHIFT };
    enum { STORES = EXEC_STORE << EXEC_WATCH_ACCESS_SHIFT | EXEC_WATCH_VALUES };
    const uint32_t count = inst->cache >> EXEC_WATCH_COUNT_SHIFT & 0xf;
    const uint32_t element = exec_watch_element(inst), bytes = element * count;
    const uint32_t any_size = element | count << EXEC_WATCH_COUNT_SHIFT;
    *shift = bytes >= 16 ? 2 : bytes / 8;
    return exec_watch_is(inst, (store ? STORES : LOADS) | any_size) && element >= 4 &&
           4u << *shift == bytes;
}

/* Returns true when the block's cells, which must exist, stand for 4 bytes each and hold everything
 * that matters. Compiles to one branch, since machine code asks at every atomic. */
static inline bool exec_watch_tells(const struct exec_block *block)
{
    const struct exec_shadow *shadow = block->shadow;
    return !((shadow->shift ^ 2) | shadow->converses | shadow->visited);
}

/* Returns a touch by the warp now, whose lane `lane` touches the first of the words. */
static inline struct exec_line_touch exec_watch_touch(const struct exec_warp *warp,
                                                      const struct exec_inst *inst, unsigned flags,
                                                      u32 lane, u32 words)
{
    const s32 thread = (s32)(warp->index * EXEC_LANES + lane);
    return (struct exec_line_touch){
        .words = words,
        .who = exec_line_who(thread, warp->index, flags),
        .when = exec_line_when(warp->block->shadow->time << EXEC_SHADOW_TIME, inst->position)};
}

/* Of lanes of `rest`, returns those that touch neighbouring elements of 1 << shift words, beginning
 * with the first lane; or, if that is alone, those that load the same one. */
static inline u32 exec_watch_run(const u32 *word, u32 rest, u32 shift, bool store, bool *same)
{
    const u32 first = (u32)__builtin_ctz(rest), at = word[first];
    u32 is[EXEC_LANES];
    EXEC_FOR_LANES is[l] = word[l] - ((u32)l << shift) == at - (first << shift);
    const u32 run = exec_bits(is) & rest;
    *same = false;
    if (store || (run & (run - 1)) != 0) return run;
    EXEC_FOR_LANES is[l] = word[l] == at;
    const u32 together = exec_bits(is) & rest;
    *same = (together & (together - 1)) != 0;
    return together;
}

/* Returns which words of the lane's element, of 1 << shift, a store changes. */
static inline u32 exec_watch_changed(const struct exec_warp *warp, const struct exec_inst *inst,
                                     u32 lane, u32 word, u32 shift)
{
    const u32 element = exec_watch_element(inst), each = element / 4;
    const unsigned char *memory = warp->block->shared + word * (size_t)4;
    u32 changed = 0;
    for (u32 k = 0; k < 1u << shift; k++)
        if (memcmp(memory + k * (size_t)4,
                   exec_stored(warp, inst, lane, k / each, element) + k % each * 4, 4) != 0)
            changed |= 1u << k;
    return changed;
}

/* A run of lanes: touches of the words of `run`, a part at a time. */
static inline bool exec_watch_parts(const struct exec_warp *warp, const struct exec_inst *inst,
                                    u32 run, const u32 *word, u32 shift, bool store)
{
    const u32 each = 1u << shift, all = (1u << each) - 1, lanes = EXEC_LINE_WORDS >> shift;
    const unsigned flags = shift << EXEC_LINE_SHIFT | (store ? EXEC_LINE_STORE : 0);
    while (run) {
        const u32 first = (u32)__builtin_ctz(run);
        u32 words = 0, quiet = 0;
        for (u32 l = first; l < first + lanes && l < EXEC_LANES; l++) {
            if (!(run >> l & 1)) continue;
            const u32 changed = store ? exec_watch_changed(warp, inst, l, word[l], shift) : all;
            words |= changed << (l - first) * each;
            quiet |= (all & ~changed) << (l - first) * each;
            run &= ~(1u << l);
        }
        if (!exec_lines_touch(warp->block->shadow, word[first],
                              exec_watch_touch(warp, inst, flags, first, words), quiet))
            return false;
    }
    return true;
}

/* Lanes of `mask` that touch an element of 1 << shift words each, at the addresses `at`, in a few
 * runs of neighbouring ones. Returns false if the cells must take it. */
static inline bool exec_watch_lines(struct exec_warp *warp, const struct exec_inst *inst, u32 mask,
                                    const u32 *at, u32 shift, bool store)
{
    enum { MOST_RUNS = 4 };
    const u32 size = warp->worker->shared_bytes, bytes = 4u << shift;
    u32 word[EXEC_LANES], wrong[EXEC_LANES];
    if (size < bytes) return false;
    EXEC_FOR_LANES wrong[l] = (u32)(at[l] > size - bytes) | (at[l] & (bytes - 1));
    EXEC_FOR_LANES word[l] = at[l] / 4;
    if ((exec_bits(wrong) & mask) != 0) return false;
    for (u32 rest = mask, runs = 0; rest; runs++) {
        bool same;
        const u32 run = exec_watch_run(word, rest, shift, store, &same);
        const u32 last = EXEC_LANES - 1 - (u32)__builtin_clz(run);
        if (runs == MOST_RUNS ||
            !(same ? exec_lines_touch(warp->block->shadow, word[last],
                                      exec_watch_touch(warp, inst, EXEC_LINE_MANY | EXEC_LINE_ONE,
                                                       last, (1u << (1u << shift)) - 1),
                                      0)
                   : exec_watch_parts(warp, inst, run, word, shift, store)))
            return false;
        rest &= ~run;
    }
    warp->block->shadow->touched |= 1u << warp->index;
    return true;
}

#endif
