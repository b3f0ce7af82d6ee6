/* Liveness of slots: what a region copies in from the frame, and what it copies back.
 *
 * The analysis is a compiler's usual one, for one lane. An instruction of which too little is known
 * counts as reading all slots.
 */
#include "emulator/exec/native/private.h"
#include "emulator/exec/ops/ops.h"

#include <stdlib.h>
#include <string.h>

enum { BITS = 64 };

static int by_offset(const void *a, const void *b)
{
    const struct native_use *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static const struct native_use *find(const struct native_live *live, uint32_t offset)
{
    const struct native_use key = {.offset = offset};
    return bsearch(&key, live->slots, live->slot_count, sizeof key, by_offset);
}

static bool knows(const struct exec_inst *inst)
{
    const enum native_kind kind = native_kind(inst);
    return kind != NATIVE_END && kind != NATIVE_BRANCH;
}

/* Lists the slots that known instructions name, each once, with its greatest width. */
static void list_slots(struct native_live *live, const struct exec_function *function)
{
    size_t count = 0, kept = 0;
    for (size_t k = 0; k < function->code_count; k++)
        if (knows(&function->code[k]))
            count += native_uses(&function->code[k], &live->slots[count]);
    qsort(live->slots, count, sizeof *live->slots, by_offset);
    for (size_t k = 0; k < count; k++) {
        if (kept == 0 || live->slots[kept - 1].offset != live->slots[k].offset)
            live->slots[kept++] = live->slots[k];
        if (live->slots[kept - 1].width < live->slots[k].width)
            live->slots[kept - 1].width = live->slots[k].width;
    }
    live->slot_count = kept;
}

static uint64_t *set_of(const struct native_live *live, size_t index)
{
    return &live->sets[index * live->words];
}

static void change(const struct native_live *live, uint64_t *set, uint32_t offset, bool reads)
{
    const struct native_use *slot = find(live, offset);
    if (slot == NULL) return;
    const size_t k = (size_t)(slot - live->slots);
    const uint64_t bit = UINT64_C(1) << k % BITS;
    set[k / BITS] = reads ? set[k / BITS] | bit : set[k / BITS] & ~bit;
}

static void add_named(const struct native_live *live, uint64_t *set, const struct exec_inst *inst)
{
    const uint32_t named[] = {inst->d, inst->a, inst->b, inst->c, inst->e};
    for (size_t k = 0; k < sizeof named / sizeof *named; k++) change(live, set, named[k], true);
}

/* A barrier reads its number, unless that is a constant, and its count. */
static void add_barrier(const struct native_live *live, uint64_t *set, const struct exec_inst *inst)
{
    if (inst->run == exec_barrier_sync && inst->e != 0) return;
    change(live, set, inst->a, true);
    if (inst->imm) change(live, set, inst->b, true);
}

/* Lane arithmetic may also read the slots other than d that it writes: the carry flag and a
 * comparison's complement. */
static bool only_writes(const struct exec_inst *inst, const struct native_use *use)
{
    const enum native_kind kind = native_kind(inst);
    return use->writes && (kind != NATIVE_LANES || use->offset == inst->d);
}

static void pass_known(const struct native_live *live, uint64_t *set, const struct exec_inst *inst)
{
    struct native_use uses[NATIVE_USES];
    const unsigned count = native_uses(inst, uses);
    const bool always = inst->guard == EXEC_NO_GUARD;
    for (unsigned k = 0; k < count && always; k++)
        if (only_writes(inst, &uses[k]) && uses[k].width == find(live, uses[k].offset)->width)
            change(live, set, uses[k].offset, false);
    for (unsigned k = 0; k < count; k++)
        if (!only_writes(inst, &uses[k])) change(live, set, uses[k].offset, true);
    if (!always) change(live, set, inst->guard >> 1, true);
    if (native_is_judge(inst) || !native_is_counted(inst)) add_named(live, set, inst);
}

/* Turns the set of slots that are live behind an instruction into the set live before it. */
static void pass(const struct native_live *live, const struct exec_function *function, size_t index,
                 uint64_t *set)
{
    const struct exec_inst *inst = &function->code[index];
    if (native_kind(inst) == NATIVE_BRANCH) {
        const size_t target = native_target(function, inst);
        const uint64_t *there = set_of(live, target);
        for (size_t w = 0; w < live->words; w++)
            set[w] = there[w] | (inst->guard != EXEC_NO_GUARD ? set[w] : 0);
        if (inst->guard != EXEC_NO_GUARD) change(live, set, inst->guard >> 1, true);
    } else if (knows(inst)) {
        pass_known(live, set, inst);
    } else if (inst->run == exec_barrier_sync || inst->run == exec_barrier_arrive) {
        add_barrier(live, set, inst);
    } else {
        const bool none = function->entry && native_is_end(inst);
        memset(set, none ? 0 : 0xff, live->words * sizeof *set);
    }
}

bool native_live_find(const struct exec_function *function, struct native_live *live)
{
    const size_t count = function->code_count;
    *live = (struct native_live){.slots = calloc(count * NATIVE_USES + 1, sizeof *live->slots)};
    if (live->slots == NULL) return false;
    list_slots(live, function);
    live->words = live->slot_count / BITS + 1;
    live->sets = calloc((count + 2) * live->words, sizeof *live->sets);
    if (live->sets == NULL) {
        native_live_end(live);
        return false;
    }
    uint64_t *set = set_of(live, count + 1);
    memset(set_of(live, count), 0xff, live->words * sizeof *set);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = count; k-- > 0;) {
            memcpy(set, set_of(live, k + 1), live->words * sizeof *set);
            pass(live, function, k, set);
            if (memcmp(set, set_of(live, k), live->words * sizeof *set) == 0) continue;
            memcpy(set_of(live, k), set, live->words * sizeof *set);
            changed = true;
        }
    }
    return true;
}

int32_t native_live_slot(const struct native_live *live, uint32_t offset)
{
    const struct native_use *slot = find(live, offset);
    return slot != NULL ? (int32_t)(slot - live->slots) : -1;
}

uint32_t native_live_width(const struct native_live *live, uint32_t offset)
{
    const struct native_use *slot = find(live, offset);
    return slot != NULL ? slot->width : 0;
}

bool native_is_live(const struct native_live *live, size_t index, uint32_t offset)
{
    const struct native_use *slot = find(live, offset);
    if (slot == NULL) return true;
    const size_t k = (size_t)(slot - live->slots);
    return set_of(live, index)[k / BITS] >> k % BITS & 1;
}

void native_live_end(struct native_live *live)
{
    free(live->slots);
    free(live->sets);
}
