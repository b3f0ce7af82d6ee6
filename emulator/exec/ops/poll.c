/* Detection of polling. Lowering puts these instructions behind reads by which a program may wait
 * for another thread's write. A warp that waits by polling yields to others. Compiled once per
 * EXEC_LEVEL.
 */
#include "emulator/exec/ops/lanes.h"
#include "emulator/exec/ops/tables.h"

/* Discounts a poll. On a GPU a polling warp uses an issue slot that others leave free, and the
 * cache answers its reads, so the launch is not charged for them. Called after each poll; inst->a
 * is the slot of its address, if imm is set. */
static inline void look_again(struct exec_warp *warp, const struct exec_inst *inst)
{
    enum { TIGHT = 64 }; /* instructions between two polls; with more, the loop does other work */
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

/* Follows a read by which the program may wait for another thread's write (volatile, acquire,
 * atomic). Slot d is the read's destination, of elements of `bytes`, a compile-time constant. The
 * same values at the same instruction several times mean waiting: other fragments, warps and blocks
 * get their turn. The values are compared and kept as they are, since a checksum of 32 lanes takes
 * longer than their loads and stores. */
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
        if (known && warp->poll_mask[k] == warp->mask) warp->worker->heard = true;
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
