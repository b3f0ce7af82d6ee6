#include "emulator/exec/check/unwritten.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "emulator/exec/check/poison.h"

enum { WORD = 4 };
_Static_assert(sizeof(wchar_t) == WORD, "wmemset fills words");

/* The state of one word of a block's shared memory; there is one for each word. If memory holds
 * another value than `value`, a store was not seen, and the word counts as written. */
struct exec_unwritten {
    uint32_t value; /* as stored */
    uint32_t site;  /* 1 + the position of the load that it comes from; 0: of none */
    bool computed;  /* it was computed from what was loaded */
};

/* Returns the fill word of block `index`: a large number as any type, of bytes that are rare on
 * their own. */
static uint32_t word_of(uint64_t index)
{
    enum { LEAST = 0x91, BYTES = 0xee - LEAST + 1 };
    const uint64_t mixed = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t word = 0x71 | (uint32_t)(mixed >> 63) << 7;
    for (unsigned k = 0; k < 3; k++)
        word = word << 8 | (LEAST + (uint32_t)(mixed >> (32 + 8 * k) & 0xff) % BYTES);
    return word;
}

void exec_unwritten_begin(struct exec_block *block)
{
    const uint32_t count = EXEC_RESERVED_FIRST(block->worker->shared_bytes) / WORD;
    block->unwritten_told[0] = block->unwritten_told[1] = UINT32_MAX;
    if (count == 0) return; /* no byte can be loaded or stored */
    block->unwritten_word = word_of(block->index);
    /* The C library uses the host's widest stores for it. */
    wmemset((wchar_t *)(void *)block->shared, (wchar_t)block->unwritten_word, count);
    block->unwritten = block->shadow != NULL;
    block->unwritten_met = 0;
    exec_unwritten_end(block);
}

void exec_unwritten_end(struct exec_block *block)
{
    free(block->follows);
    block->follows = NULL;
}

void exec_unwritten_met(struct exec_block *block)
{
    const uint32_t *words = (const uint32_t *)(const void *)block->shared;
    const uint32_t count = block->worker->user_shared / WORD;
    const uint32_t word = block->unwritten_word;
    uint32_t left = 0;
    /* Only at power-of-two counts of barriers: a tile with an unwritten margin never becomes
     * full. */
    const uint32_t met = ++block->unwritten_met;
    if ((met & (met - 1)) != 0) return;
    for (uint32_t k = 0; k < count; k++) left |= (uint32_t)(words[k] == word);
    block->unwritten = left != 0;
}

/* ---- one access ------------------------------------------------------------------------------ */

struct access {
    uint32_t element, count, mask;
    enum exec_access access;
    uint32_t offset[EXEC_LANES];
};

/* Returns false if a lane's address is in another block or in none; the access itself reports
 * this. */
static bool find_offsets(const struct exec_warp *warp, const struct exec_inst *inst, uint32_t mask,
                         struct access *access)
{
    const uint64_t *wide = exec_slot(warp, inst->a);
    const uint32_t *narrow = exec_slot(warp, inst->a);
    const uint32_t bytes = access->element * access->count, size = warp->worker->user_shared;
    access->mask = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        uint64_t at = inst->cache & EXEC_WATCH_WIDE ? wide[l] + inst->imm
                                                    : (uint32_t)(narrow[l] + (uint32_t)inst->imm);
        if (inst->cache & EXEC_WATCH_GENERIC) {
            if ((at & EXEC_WINDOW_MASK) != EXEC_WINDOW_SHARED) continue;
            at &= ~EXEC_WINDOW_MASK;
        }
        if (at > size || size - at < bytes || at & (bytes - 1)) return false;
        access->offset[l] = (uint32_t)at;
        access->mask |= 1u << l;
    }
    return access->mask != 0;
}

/* The first and last word that the bytes lie in. */
static uint32_t first_word(uint32_t offset)
{
    return offset / WORD;
}

static uint32_t last_word(uint32_t offset, uint32_t bytes)
{
    return (offset + bytes - 1) / WORD;
}

/* Returns 1 + the position of the load that the word's unwritten value comes from (`here` if the
 * word itself is unwritten), or 0 if it is written. Sets *computed if the value was computed. */
static uint32_t origin_of(const struct exec_block *block, uint32_t at, uint32_t here,
                          bool *computed)
{
    const uint32_t value = ((const uint32_t *)(const void *)block->shared)[at];
    if (value == block->unwritten_word) return here + 1;
    const struct exec_unwritten *follows = block->follows;
    if (follows == NULL || follows[at].value != value) return 0;
    *computed |= follows[at].computed;
    return follows[at].site;
}

/* The same for an element: all of its words must be unwritten. */
static uint32_t origin_of_all(const struct exec_block *block, uint32_t offset, uint32_t bytes,
                              uint32_t here, bool *computed)
{
    uint32_t origin = 0;
    for (uint32_t at = first_word(offset); at <= last_word(offset, bytes); at++) {
        origin = origin_of(block, at, here, computed);
        if (origin == 0) return 0;
    }
    return origin;
}

static bool loads(struct exec_warp *warp, const struct exec_inst *inst, const struct access *access)
{
    struct exec_poisoned lanes[4] = {{0, 0}};
    uint32_t site = inst->position;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        for (uint32_t k = 0; k < access->count && k < 4; k++) {
            bool computed = false;
            const uint32_t origin =
                origin_of_all(warp->block, access->offset[l] + k * access->element, access->element,
                              inst->position, &computed);
            if (origin == 0) continue;
            lanes[k].lanes |= 1u << l;
            lanes[k].computed |= (uint32_t)computed << l;
            site = origin - 1;
        }
    }
    return exec_poison_loads(warp, inst + 1, lanes, site);
}

static void changes(const struct exec_warp *warp, const struct exec_inst *inst,
                    const struct access *access)
{
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        bool computed = false;
        const uint32_t origin =
            origin_of_all(warp->block, access->offset[l], access->element * access->count,
                          inst->position, &computed);
        if (origin == 0) continue;
        exec_poison_tell(warp, inst, l, EXEC_WRONG_UNWRITTEN, EXEC_ATOMIC,
                         origin - 1 == inst->position ? EXEC_ATOMIC : EXEC_LOAD, origin - 1);
        return;
    }
}

/* From now on all warps of the block are followed, so that their stores over such a value are
 * seen. */
static struct exec_unwritten *follow(struct exec_block *block)
{
    const size_t words = block->worker->user_shared / WORD + 1;
    if (block->follows != NULL) return block->follows;
    struct exec_unwritten *follows = calloc(words, sizeof *follows);
    if (follows == NULL) return NULL;
    block->follows = follows;
    for (uint32_t k = 0; k < block->warp_count; k++) exec_poison_look(&block->warps[k]);
    return follows;
}

static void stores(struct exec_warp *warp, const struct exec_inst *inst,
                   const struct access *access)
{
    const uint32_t slots[4] = {inst->d, inst->b, inst->c, inst->e};
    const bool values = inst->cache & EXEC_WATCH_VALUES;
    for (uint32_t k = 0; k < access->count; k++) {
        uint32_t site = 0;
        struct exec_poisoned has = {0, 0};
        if (values && k < 4) has = exec_poison_unwritten(warp, slots[k], &site);
        struct exec_unwritten *follows =
            has.lanes & access->mask ? follow(warp->block) : warp->block->follows;
        if (follows == NULL) continue;
        for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
            const unsigned l = (unsigned)__builtin_ctz(rest);
            const uint32_t offset = access->offset[l] + k * access->element;
            for (uint32_t at = first_word(offset); at <= last_word(offset, access->element); at++) {
                struct exec_unwritten *word = &follows[at];
                /* A store of less than a word counts as written. */
                word->site = has.lanes >> l & 1 && access->element >= WORD ? site + 1 : 0;
                word->computed = has.computed >> l & 1;
                if (word->site == 0) continue;
                const unsigned char *value = exec_stored(warp, inst, l, k, access->element);
                memcpy(&word->value, value + (at * WORD - offset), WORD);
            }
        }
    }
}

bool exec_unwritten_watch(struct exec_warp *warp, const struct exec_inst *inst, uint32_t mask)
{
    struct access access; /* large array, filled by find_offsets where needed */
    access.element = inst->cache & 0xff;
    access.count = inst->cache >> EXEC_WATCH_COUNT_SHIFT & 0xf;
    access.access = (enum exec_access)(inst->cache >> EXEC_WATCH_ACCESS_SHIFT & 3);
    if (!find_offsets(warp, inst, mask, &access)) return false;
    if (access.element < WORD && access.access != EXEC_STORE) return false;
    if (access.access == EXEC_LOAD) return loads(warp, inst, &access);
    if (access.access == EXEC_STORE)
        stores(warp, inst, &access);
    else if (!(inst->cache & EXEC_WATCH_EXCHANGES))
        changes(warp, inst, &access);
    return false;
}
