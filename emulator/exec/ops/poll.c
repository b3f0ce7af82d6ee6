/* The instructions that lowering puts behind reads that another thread's write may be awaited with:
 * a warp that waits by looking is noticed, and others get their turn. Compiled once per EXEC_LEVEL.
 */
#include "emulator/exec/ops/lanes.h"
#include "emulator/exec/ops/tables.h"

/* A warp that waits by looking takes a slot that others leave free, and its reads are answered by
 * the cache: a launch is not charged for it. Called behind each look; inst->a is the slot of its
 * address, if imm. */
static inline void look_again(struct exec_warp *warp, const struct exec_inst *inst)
{
    enum { TIGHT = 64 }; /* instructions between two looks; with more there is work in the loop */
    struct exec_idle *idle = &warp->idle;
    struct exec_counts *counts = &warp->worker->counts;
    if (!inst->imm) return;
    const uint64_t *address = exec_slot(warp, inst->a);
    const uint64_t where = address[__builtin_ctz(warp->mask)];
    if (idle->look == inst && idle->where == where &&
        warp->instructions - idle->instructions <= TIGHT) {
        idle->wasted += warp->instructions - idle->instructions;
        warp->chain = idle->chain;
        counts->bytes_loaded = idle->loaded;
        counts->transactions = idle->transactions;
    }
    idle->look = inst;
    idle->where = where;
    idle->instructions = warp->instructions;
    idle->chain = warp->chain;
    idle->loaded = counts->bytes_loaded;
    idle->transactions = counts->transactions;
}

/* Follows a read that another thread's write may be awaited with (volatile, acquire, atomic); d is
 * its destination, of elements of `bytes`, known when compiling. The same values at the same
 * instruction over and over mean waiting: others, in the warp and beyond, get a turn. They are
 * compared and kept as they are: a checksum of 32 lanes takes longer than its loads and stores. */
static inline int poll(struct exec_warp *warp, const struct exec_inst *inst, size_t bytes)
{
    enum { POLLS_BEFORE_YIELD = 8 };
    const unsigned char *seen = exec_slot(warp, inst->d);
    uint32_t k = 0;
    look_again(warp, inst);
    warp->poll_latest = inst;
    while (k < EXEC_POLLS && warp->poll_inst[k] != inst) k++;
    const bool known = k < EXEC_POLLS;
    if (!known) k = warp->poll_next++ % EXEC_POLLS;
    unsigned char *kept = (unsigned char *)warp->poll_values[k];
    if (!known || warp->poll_mask[k] != warp->mask || exec_differ(kept, seen, EXEC_LANES * bytes)) {
        warp->polls = 0;
        warp->worker->news++;
        warp->poll_inst[k] = inst;
        warp->poll_mask[k] = warp->mask;
        warp->poll_bytes[k] = (uint32_t)(EXEC_LANES * bytes);
        memcpy(kept, seen, EXEC_LANES * bytes);
    } else if (++warp->polls >= POLLS_BEFORE_YIELD) {
        warp->polls = 0;
        warp->backward = 0;
        warp->yield = true;
        return EXEC_RESCHEDULE;
    }
    return EXEC_GO;
}

static int op_poll32(struct exec_warp *warp, const struct exec_inst *inst)
{
    return poll(warp, inst, sizeof(u32));
}

static int op_poll64(struct exec_warp *warp, const struct exec_inst *inst)
{
    return poll(warp, inst, sizeof(u64));
}

const struct exec_row EXEC_TABLE(exec_poll_rows)[] = {
    {"poll.b32", op_poll32, ""}, {"poll.b64", op_poll64, ""}, {NULL, NULL, NULL}};
