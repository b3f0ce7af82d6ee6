/* exec_proof: proves, before a launch, that its threads have no race on an allocation: that they
 * only load from it, or that no two of them touch the same byte. Accesses to it then need no race
 * check, neither between blocks (check/grid_shadow.h) nor between the threads of a block
 * (check/block_shadow.h). Most kernels load from some allocations, and give each thread elements of
 * its own in the others. The module never says that there is a race, and never reads memory.
 *
 * Lowering writes down, for each access to global memory, how its address and the branches around
 * it are computed from the launch's parameters and the thread's indexes, as terms, where that is
 * the whole truth. At the launch each term is a number, or a form: base + a * lane + b * warp + c *
 * threadIdx.y + ... + z * k, in which lane + 32 * warp is threadIdx.x, so that kernels in which
 * each warp has elements of its own are understood as well, and k counts the rounds of a loop. Each
 * byte belongs to one thread if all accesses to the allocation have the same factors, and if each
 * factor exceeds what the smaller ones reach together, as the digits of a number do. A loop's
 * numbers are taken not to overflow.
 *
 * An address that is no such form may still be known to come from one parameter's pointer. Regions
 * lie far apart (memory/memory.h): a pointer into one does not lead to another.
 */
#ifndef OVERLAP_EXEC_CHECK_PROOF_H
#define OVERLAP_EXEC_CHECK_PROOF_H

#include "emulator/exec/launch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_region;

/* ---- what lowering writes down --------------------------------------------------------------- */

enum exec_term_op {
    EXEC_TERM_UNKNOWN,
    EXEC_TERM_VALUE,     /* value */
    EXEC_TERM_PARAMETER, /* the launch's parameter bytes from offset `value` on */
    EXEC_TERM_TID,       /* special registers, component `value` */
    EXEC_TERM_NTID,
    EXEC_TERM_CTAID,
    EXEC_TERM_NCTAID,
    EXEC_TERM_VARIABLE, /* the address of module variable `a` + value */
    EXEC_TERM_LOOP,     /* a, or what term b has been in an earlier round of loop `value` */
    EXEC_TERM_ADD,      /* of a and b, as are the following */
    EXEC_TERM_SUB,
    EXEC_TERM_MUL,
    EXEC_TERM_SHL,
    EXEC_TERM_SHR, /* `value` is 1 if a is signed; as for the following */
    EXEC_TERM_DIV,
    EXEC_TERM_REM,
    EXEC_TERM_MIN,
    EXEC_TERM_MAX,
    EXEC_TERM_JOIN,     /* a | b */
    EXEC_TERM_MASK,     /* a & b */
    EXEC_TERM_SIGNED,   /* a, 4 bytes wide, as a signed number of 8 bytes */
    EXEC_TERM_UNSIGNED, /* the same, unsigned */
    EXEC_TERM_LOW,      /* the low 4 bytes of a */
    /* Predicates: */
    EXEC_TERM_LESS, /* a < b; `value` is 1 if the numbers are signed; as for the following */
    EXEC_TERM_LESS_EQUAL,
    EXEC_TERM_EQUAL,
    EXEC_TERM_NOT, /* of a */
    EXEC_TERM_BOTH,
    EXEC_TERM_EITHER,
};

/* Terms refer to terms before them, but for the b of EXEC_TERM_LOOP. */
struct exec_term {
    uint8_t op;    /* enum exec_term_op */
    uint8_t bytes; /* of its value: 4 or 8 */
    uint32_t a, b;
    uint64_t value;
};

/* A loop of EXEC_TERM_LOOP: another round begins only if the predicate holds, or does not. `term`
 * 0: nothing is known. `late`: the predicate is of the loop's number as it is in the next round. */
struct exec_proof_loop {
    uint32_t term;
    bool holds, late;
};

/* A predicate that holds, or does not, wherever the access is executed. */
struct exec_proof_guard {
    uint32_t term;
    bool holds;
};

/* An access to global memory. `roots`: a bit for each root that its address may come from. */
struct exec_proof_access {
    uint32_t address; /* term; 0: unknown */
    uint32_t bytes;
    bool modifies;
    uint8_t within; /* a bit for each loop that it is in, before the loop's number changes */
    size_t first_guard, guard_count;
    uint64_t roots;
};

enum { EXEC_PROOF_TERMS = 512, EXEC_PROOF_LOOPS = 8, EXEC_PROOF_ROOTS = 62 };

/* What is known of a kernel. Terms 0 is EXEC_TERM_UNKNOWN. */
struct exec_proof {
    const struct exec_term *terms;
    size_t term_count;
    const struct exec_proof_guard *guards;
    struct exec_proof_loop loops[EXEC_PROOF_LOOPS];
    const struct exec_proof_access *accesses;
    size_t access_count;
    uint32_t roots[EXEC_PROOF_ROOTS]; /* terms: pointers that are parameters or variables */
    size_t root_count;
};

/* ---- at the launch --------------------------------------------------------------------------- */

enum { EXEC_PROVEN = 16 };
/* Regions on which the launch's threads have no race among themselves. */
struct exec_proven {
    const struct memory_region *regions[EXEC_PROVEN];
    size_t count;
};

/* Returns the region of the texels of a texture or surface object; NULL: there is no such object.
 * *several: they may be in other regions, too. */
typedef const struct memory_region *exec_proof_texels(uint64_t handle, bool *several);

/* Fills in `proven`; for a launch that is race-checked. */
void exec_proof_make(const struct exec_launch *launch, exec_proof_texels *texels,
                     struct exec_proven *proven);

static inline bool exec_proof_holds(const struct exec_proven *proven,
                                    const struct memory_region *region)
{
    for (size_t k = 0; k < proven->count; k++)
        if (proven->regions[k] == region) return true;
    return false;
}

#endif
