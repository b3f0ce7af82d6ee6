/* lower_access: shared by the files that lower loads, stores and copies: where an access goes, and
 * what the checks must know before it runs. Private to emulator/exec/lower/.
 *
 * A look is a load after which some way through the function leads to an act: a store or an atomic
 * to the same address. Such a load is not checked for races; the act is (check/grid_shadow.h). A
 * strong access is volatile or has a memory ordering other than .weak.
 */
#ifndef OVERLAP_EXEC_LOWER_ACCESS_H
#define OVERLAP_EXEC_LOWER_ACCESS_H

#include "emulator/exec/check/footprint.h"
#include "emulator/exec/lower/lower.h"

/* ---- lower/memory.c -------------------------------------------------------------------------- */

/* Where an access goes. */
struct lower_place {
    const char *where; /* as in the keys of ops/memory.def; NULL: entry parameters (constants) */
    uint32_t slot;     /* slot of the address */
    uint64_t offset;
    bool global; /* other blocks may access it */
};
/* Returns false when lower_unsupported has been called. */
bool lower_find_place(struct lower *lower, const struct ptx_operand *address, uint16_t space,
                      struct lower_place *place);
/* Returns how many elements the value of a load or store has, and sets `first`, unless it is NULL,
 * to their operands: a vector's, or the operand itself. */
uint32_t lower_elements(const struct ptx_operand *operand, const struct ptx_operand **first);
/* Returns whether an access to that space may be to global memory. */
bool lower_may_be_global(uint16_t space);
/* Returns whether the operand is the address, constant in the function, of a parameter of an entry,
 * and sets its offset among the parameters. */
bool lower_find_parameter(struct lower *lower, const struct ptx_operand *address, uint16_t space,
                          uint64_t *offset);
/* Returns the slot with the 64-bit generic address of global or shared memory, or EXEC_NO_SLOT when
 * lower_unsupported has been called. */
uint32_t lower_generic(struct lower *lower, const struct ptx_operand *address, uint16_t space);

/* Fills in the slots of a bulk copy: those of a multicast's ranks (`ranks`; NULL: no multicast),
 * and scratch slots for a reduction. Returns false when lower_unsupported has been called. */
bool lower_bulk_slots(struct lower *lower, const struct ptx_operand *ranks, struct exec_bulk *bulk);

/* Emits a fence with the scope of `at`. */
void lower_fence(struct lower *lower);

/* ---- lower/racecheck.c ----------------------------------------------------------------------- */

/* Called before the access that they are about; they emit nothing in a program that is not
 * watched. */

/* Emits the race check of an access to `count` elements of `element` bytes at `place`, if that may
 * be shared memory. `slots` are those of a store's values, of what an atom.cas compares with and
 * stores, or NULL. */
void lower_racecheck(struct lower *lower, const struct lower_place *place, uint32_t element,
                     uint32_t count, enum exec_access access, const uint32_t slots[4]);
/* The same for a load that looks before an atomic on the same address. */
void lower_racecheck_look(struct lower *lower, const struct lower_place *place, uint32_t element,
                          uint32_t count);
/* The same for an asynchronous copy of `bytes` bytes to `place`; and for an instruction that closes
 * or waits for groups of such copies, or of products. */
void lower_racecheck_copy(struct lower *lower, const struct lower_place *place, uint32_t bytes);
void lower_racecheck_groups(struct lower *lower);
/* Emits the check of the atomic or of the strong load or store `at`, of `bytes` bytes at `place`,
 * by which threads may communicate. `value` is the slot of a store's value. And the same for a
 * fence. */
void lower_order(struct lower *lower, const struct lower_place *place, uint32_t bytes,
                 enum exec_access access, uint32_t value);
void lower_order_fence(struct lower *lower);
/* Returns whether threads of the function may communicate through memory. */
bool lower_converses(const struct ptx_function *source);
/* Notes which instructions of the function are of the system's scope. */
void lower_note_system(struct lower *lower);
/* Returns whether volatile accesses to shared memory, of which the function has some, tell threads
 * nothing of each other, so that they are race-checked as plain ones. It has no call, and either no
 * fence, no atomic that could be a lock or a flag, and no loop that could wait for what it loads;
 * or no atomic on shared memory, and nothing that it loads so decides what a thread does. */
bool lower_volatile_is_plain(const struct ptx_function *source);
/* Returns whether the access is strong in the sense of PTX's memory model, or stands for a flag. */
bool lower_is_strong(const struct lower *lower, const struct ptx_instruction *at);
/* Return true when the access acquires, or releases; .acq_rel does both. */
bool lower_acquires(const struct ptx_instruction *at);
bool lower_releases(const struct ptx_instruction *at);
/* Returns whether the address of an access by `at` and of one by `other_at` are computed from the
 * same values by additions and multiplications with numbers (lower/sums.c). */
bool lower_same_sum(const struct lower *lower, const struct ptx_instruction *at,
                    const struct ptx_operand *address, const struct ptx_instruction *other_at,
                    const struct ptx_operand *other_address);
/* Which acts further on in the function make a load a look, besides atomics on the same address;
 * stores do only where the loaded value can decide something, or goes into them. */
enum lower_acts {
    LOWER_ACTS_STORES = 1,  /* stores as well */
    LOWER_ACTS_AT_ONCE = 2, /* only acts before the block's next barrier */
    LOWER_ACTS_OF_SHARED = LOWER_ACTS_AT_ONCE,
    LOWER_ACTS_OF_BLOCKS = LOWER_ACTS_STORES,
    LOWER_ACTS_OF_THREADS = LOWER_ACTS_STORES | LOWER_ACTS_AT_ONCE,
};
/* Returns whether the store `at` modifies what a volatile load of the function, outside of a loop
 * that waits, has read from the same address. */
bool lower_modifies(struct lower *lower, const struct ptx_operand *address);
bool lower_looks(struct lower *lower, const struct ptx_operand *address, enum lower_acts acts);
/* Returns how the store `at` uses a value that the function has loaded from the same address: 0,
 * EXEC_LOOK_UPDATES, or that and EXEC_LOOK_COUNTS. lower/updates.c. */
unsigned lower_updates(struct lower *lower);
/* Returns whether the atomic `at` swaps the word around a byte, or around two, that the program
 * means: what else is in the word stays as it was. lower/updates.c. */
bool lower_swaps_part(const struct lower *lower);
/* Returns whether `address` equals the address `operand`, as far as the text of the function shows.
 * lower/racecheck.c. */
bool lower_same_address(struct lower *lower, const struct ptx_operand *address,
                        const struct ptx_operand *operand);
/* Adds the enum exec_look bits `looks` to what is known of the access with index `cache`. */
void lower_note_look(struct lower *lower, uint32_t cache, unsigned looks);

/* ---- lower/decisions.c ----------------------------------------------------------------------- */

/* Returns, for each register of the function, whether its value can decide what a thread does. From
 * malloc; NULL: the host has no memory. */
bool *lower_deciding(const struct ptx_function *source);
/* Returns whether what the load or atomic brings decides nothing. `deciding` NULL: false. */
bool lower_brings_data(const bool *deciding, const struct ptx_instruction *at);

#endif
