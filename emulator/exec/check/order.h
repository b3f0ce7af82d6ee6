/* exec_order: what the threads of a block know of each other's accesses because they synchronise
 * through memory (flags, tickets, locks), shared or global, or by a .sync instruction of a part of
 * their warp. Private to emulator/exec.
 *
 * It implements the memory consistency model of PTX with vector clocks, one per thread, in the
 * moments of check/shadow.h:
 *  - a fence or a release, followed by a strong store or an atomic: what the thread did before the
 *    fence, and what it knew by then, is passed on with the value. So is what other lanes of its
 *    warp did before a fence of their own, or before the warp's last .sync instruction;
 *  - a thread that reads that value by a strong load or an atomic knows all this from its next
 *    fence or .sync instruction on; at once, if the read acquires. A chain of atomics passes on
 *    what each of them read.
 * Every scope orders the threads of a block. A store of 1 or 2 bytes adds to what is passed on
 * instead of replacing it, and what a thread learns between its fence and its store is passed on
 * too: some races are missed, no correct program is reported. What orders the whole block
 * (check/shadow.h) makes all of this obsolete.
 *
 * A race of two read-modify-writes by volatile accesses is found here, too: two threads of a block
 * each change the same bytes so, and nothing orders one thread's store before the other's.
 *
 * Accesses call this only in programs whose threads can communicate through memory
 * (exec_program.converses).
 *
 * Source: PTX ISA 9.0, chapter 8 (memory consistency model).
 */
#ifndef OVERLAP_EXEC_CHECK_ORDER_H
#define OVERLAP_EXEC_CHECK_ORDER_H

#include "emulator/exec/check/shadow.h"

struct exec_order;

void exec_order_destroy(struct exec_order *order); /* NULL is fine */

/* The whole block is ordered: forgets what its threads know. */
void exec_order_forget(const struct exec_block *block);
/* The warp's lanes synchronise: each knows what any of them knows. */
void exec_order_join_warp(const struct exec_warp *warp);

/* Some lanes of the warp do: each of `group` knows what any of them has done or knows. */
void exec_order_join_lanes(const struct exec_warp *warp, uint32_t group);

/* Returns true if `thread` knows that the touch `cell` (check/shadow.h) of another thread is
 * over. */
bool exec_order_knows(const struct exec_order *order, uint32_t thread, int32_t cell);
/* Returns true if `thread` has synchronised with lanes of its warp since the touch `cell` of
 * another lane, which it does not know to be over. */
bool exec_order_apart(const struct exec_order *order, uint32_t thread, int32_t cell);
/* Returns true if the warp of one thread has read a value stored by the warp of the other. */
bool exec_order_met(const struct exec_order *order, uint32_t thread, uint32_t other);

/* Row "order" (ops/racecheck.c), inserted before a strong access or an atomic. Slots: a address, b
 * a store's value; imm: offset; cache: EXEC_ORDER bits; guard: as in exec_racecheck_lanes. */
enum {
    EXEC_ORDER_BYTES = 31,       /* bytes of the access */
    EXEC_ORDER_ACCESS_SHIFT = 5, /* enum exec_access, 2 bits */
    EXEC_ORDER_ACQUIRES = 1 << 7,
    EXEC_ORDER_RELEASES = 1 << 8,
    EXEC_ORDER_SHARED = 1 << 9,    /* the address is of shared memory ... */
    EXEC_ORDER_NARROW = 1 << 10,   /* ... and has 32 bits */
    EXEC_ORDER_MODIFIES = 1 << 11, /* a volatile store after a volatile load from there */
};
/* The slow path of that row, for the lanes of `mask`. */
void exec_order_access(struct exec_warp *warp, const struct exec_inst *inst, uint32_t mask);
/* Inserted before a fence. */
exec_handler exec_order_fence;

static inline enum exec_access exec_order_access_of(const struct exec_inst *inst)
{
    return (enum exec_access)(inst->cache >> EXEC_ORDER_ACCESS_SHIFT & 3);
}

/* Returns the generic address; 0: it is in neither shared nor global memory. */
static inline uint64_t exec_order_address(const struct exec_warp *warp,
                                          const struct exec_inst *inst, unsigned lane)
{
    const uint64_t *wide = exec_slot(warp, inst->a);
    const uint32_t *narrow = exec_slot(warp, inst->a);
    if (inst->cache & EXEC_ORDER_NARROW)
        return EXEC_WINDOW_SHARED + (uint32_t)(narrow[lane] + (uint32_t)inst->imm);
    const uint64_t at = wide[lane] + inst->imm;
    if (inst->cache & EXEC_ORDER_SHARED) return EXEC_WINDOW_SHARED + at;
    /* The block's own shared memory, addressed by the block's rank. */
    if ((at & EXEC_WINDOW_MASK) == EXEC_WINDOW_SHARED &&
        (at & EXEC_RANK_MASK) >> EXEC_RANK_SHIFT == warp->block->rank + UINT64_C(1))
        return at & ~EXEC_RANK_MASK;
    return (at >> 56) == 1 && (at & EXEC_WINDOW_MASK) != EXEC_WINDOW_SHARED ? 0 : at;
}

#endif
