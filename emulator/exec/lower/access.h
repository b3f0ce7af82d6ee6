/* lower_access: what the files that lower loads, stores and copies share: where an access goes, and
 * what racecheck and initcheck have to be told before it. Private to emulator/exec/lower/.
 */
#ifndef OVERLAP_EXEC_LOWER_ACCESS_H
#define OVERLAP_EXEC_LOWER_ACCESS_H

#include "emulator/exec/check/footprint.h"
#include "emulator/exec/lower/lower.h"

/* ---- lower/memory.c -------------------------------------------------------------------------- */

/* Where an access goes, as the rows of ops/memory.def call it. */
struct lower_place {
    const char *where; /* NULL: entry parameters, which are constants */
    uint32_t slot;     /* the address's register */
    uint64_t offset;
    bool global; /* other blocks may see it */
};
/* False: lower_unsupported has been called. */
bool lower_find_place(struct lower *lower, const struct ptx_operand *address, uint16_t space,
                      struct lower_place *place);
/* The slot with the generic address, 64 bits, of global or shared memory; UINT32_MAX: not possible,
 * and lower_unsupported has been called. */
uint32_t lower_generic(struct lower *lower, const struct ptx_operand *address, uint16_t space);

/* The slots of a bulk copy: the ranks that a multicast names (NULL: it is none), and room for a
 * reduction's operation. False: not possible, and lower_unsupported has been called. */
bool lower_bulk_slots(struct lower *lower, const struct ptx_operand *ranks, struct exec_bulk *bulk);

/* A fence of the scope of the instruction at hand. */
void lower_fence(struct lower *lower);

/* ---- lower/racecheck.c ----------------------------------------------------------------------- */

/* Before the access that they are about; nothing in a program that is not watched. */

/* `count` elements of `element` bytes at `place`, if that may be shared memory. `slots`: those of a
 * store's values, or NULL. */
void lower_racecheck(struct lower *lower, const struct lower_place *place, uint32_t element,
                     uint32_t count, enum exec_access access, const uint32_t slots[4]);
/* An asynchronous copy of `bytes` bytes to `place`; and what closes or waits for groups of them. */
void lower_racecheck_copy(struct lower *lower, const struct lower_place *place, uint32_t bytes);
void lower_racecheck_groups(struct lower *lower);
/* The atomic or, if it is strong, the load or store at hand, of `bytes` bytes at `place`: threads
 * may tell each other something by it. `value`: the slot of a store's. And a fence. */
void lower_order(struct lower *lower, const struct lower_place *place, uint32_t bytes,
                 enum exec_access access, uint32_t value);
void lower_order_fence(struct lower *lower);
/* Whether threads of the function may. */
bool lower_converses(const struct ptx_function *source);
/* Which acts further on in the function make a load a look, besides atomics on the same address. */
enum lower_acts {
    LOWER_ACTS_STORES = 1,  /* stores too */
    LOWER_ACTS_AT_ONCE = 2, /* with no barrier of the block between */
    LOWER_ACTS_OF_SHARED = LOWER_ACTS_AT_ONCE,
    LOWER_ACTS_OF_BLOCKS = LOWER_ACTS_STORES,
    LOWER_ACTS_OF_THREADS = LOWER_ACTS_STORES | LOWER_ACTS_AT_ONCE,
};
/* Whether the store at hand changes what a volatile load of the function, other than a loop that
 * waits, has brought from there. */
bool lower_modifies(struct lower *lower, const struct ptx_operand *address);
bool lower_looks(struct lower *lower, const struct ptx_operand *address, enum lower_acts acts);
/* What the store at hand does with what a load of the function has brought from the same address:
 * 0, EXEC_LOOK_UPDATES, or that and EXEC_LOOK_COUNTS. lower/updates.c. */
unsigned lower_updates(struct lower *lower);
/* Whether the address is that of `at`'s operand, as far as the text says. lower/racecheck.c. */
bool lower_same_address(struct lower *lower, const struct ptx_operand *address,
                        const struct ptx_operand *operand);
/* The access with that cache is such a look, or volatile or ordered: enum exec_look bits. */
void lower_note_look(struct lower *lower, uint32_t cache, unsigned looks);

#endif
