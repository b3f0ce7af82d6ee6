/* exec_shadow: who touched each byte of a block's shared memory last, and whether anything orders a
 * new touch behind those. Private to emulator/exec.
 *
 * Two touches of a byte by two threads of a block, of which one at least writes, are a race unless
 * something orders them. What orders, and what is never accused:
 *  - a barrier of the block (bar, barrier, cluster) that completes, one with a count or an arrival
 *    included, and a phase of a barrier object (mbarrier) that completes: all that the block did
 *    before comes before all that it does later. For barriers that only some threads take part in
 *    this is more than they promise: a race beside one may be missed, no order is;
 *  - a .sync instruction (bar.warp.sync, shfl, vote, match, redux, elect): the same for the warp.
 *    CUDA promises it for __syncwarp() alone; programs rely on the others;
 *  - a fence, and a volatile or ordered write, and cas or exch, in whatever memory: threads may
 *    make an order of their own with them, so from there on all before is taken as ordered;
 *  - two atomics; and volatile or ordered accesses against anything (they converse);
 *  - a store of the value that is there already: nobody could see it;
 *  - stores by one instruction of one warp: PTX promises that one of them stays;
 *  - a load whose address an atomic further on in the function has too: a look before the act.
 * Lanes of a warp that merely run side by side are not ordered (Volta and later). Two threads of
 * one block that race in global memory are not found.
 *
 * Source: PTX ISA 9.0, chapter 8 (memory consistency model) and 9.7.13; CUDA Programming Guide,
 * "Independent Thread Scheduling", "Synchronization Functions".
 */
#ifndef OVERLAP_EXEC_SHADOW_H
#define OVERLAP_EXEC_SHADOW_H

#include "emulator/exec/exec_machine.h"

struct exec_shadow;

/* For `bytes` of shared memory and a launch that wants to know. NULL: no memory. */
struct exec_shadow *exec_shadow_create(uint32_t bytes);
void exec_shadow_destroy(struct exec_shadow *shadow);

/* All that was done before comes before all that will be done: by the block, by one warp. NULL is
 * fine. */
void exec_shadow_order(struct exec_shadow *shadow);
void exec_shadow_order_warp(struct exec_shadow *shadow, uint32_t warp);

/* Lane `lane` touches `bytes` bytes at `offset` of shared memory, at `inst`'s place in the source.
 */
void exec_shadow_touch(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                       uint64_t offset, uint64_t bytes, enum exec_access access);

/* ---- instructions that lowering puts before others, in programs that are to be watched ----------
 * They are none of the program's: nothing counts them. */

/* An access that may be of shared memory. Slots a: address, d, b, c, e: the values that a store
 * stores, as the access has them; imm: offset; cache: EXEC_WATCH bits; guard: as exec_guarded. */
exec_handler exec_watch_access;
/* Something that threads may make an order with: exec_shadow_order. */
exec_handler exec_watch_order;

enum {
    EXEC_WATCH_COUNT_SHIFT = 8,   /* bits 0 to 7: bytes of an element; 8 to 11: elements */
    EXEC_WATCH_ACCESS_SHIFT = 12, /* enum exec_access, 2 bits */
    EXEC_WATCH_WIDE = 1 << 14,    /* the address has 64 bits */
    EXEC_WATCH_GENERIC = 1 << 15, /* and is generic */
    EXEC_WATCH_VALUES = 1 << 16,  /* a store's values are in the slots */
};

#endif
