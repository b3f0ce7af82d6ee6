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

/* Of values, each by its place, so that values that change places are seen. */
static inline u64 sum_of(const void *values, size_t words, u64 start)
{
    const exec_quarter_warp turns = {1, 6, 11, 16, 21, 26, 31, 36};
    exec_quarter_warp plain = {start}, rows = {0}, here;
    for (size_t k = 0; k < words; k += 8) {
        memcpy(&here, (const u64 *)values + k, sizeof here);
        plain += here;
        rows += plain;
    }
    const exec_quarter_warp sum =
        (plain << turns | plain >> (64 - turns)) ^ (rows << 32 | rows >> 32);
#ifdef __AVX512F__
    return (u64)_mm512_reduce_add_epi64((__m512i)sum);
#else
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
#endif
}

/* Follows a read that another thread's write may be awaited with (volatile, acquire, atomic); d is
 * its destination. The same values at the same instruction over and over mean waiting: others, in
 * the warp and beyond, get a turn. */
static inline int poll(struct exec_warp *warp, const struct exec_inst *inst, size_t words)
{
    enum { POLLS_BEFORE_YIELD = 8 };
    const uint64_t sum = sum_of(exec_slot(warp, inst->d), words, warp->mask);
    uint32_t k = 0;
    look_again(warp, inst);
    warp->poll_latest = inst;
    while (k < EXEC_POLLS && warp->poll_inst[k] != inst) k++;
    if (k == EXEC_POLLS || warp->poll_sum[k] != sum) {
        if (k == EXEC_POLLS) k = warp->poll_next++ % EXEC_POLLS;
        warp->polls = 0;
        warp->worker->news++;
        warp->poll_inst[k] = inst;
        warp->poll_sum[k] = sum;
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
    return poll(warp, inst, EXEC_LANES / 2);
}

static int op_poll64(struct exec_warp *warp, const struct exec_inst *inst)
{
    return poll(warp, inst, EXEC_LANES);
}

const struct exec_row EXEC_TABLE(exec_poll_rows)[] = {
    {"poll.b32", op_poll32, ""}, {"poll.b64", op_poll64, ""}, {NULL, NULL, NULL}};
