/* exec_unread: stores by lanes of one warp to the same bytes of shared memory, which nothing orders
 * and nobody has read so far. Keeps the finding until somebody reads what they have left, and drops
 * it when a store that is ordered behind them takes its place, or the block ends: which of them was
 * the last concerns only who reads. Private to emulator/exec.
 *
 * Code that compacts values relies on it: what a lane does not want it stores to one word behind
 * the others, where it meets the other lanes' (CUB's scatter of what was selected). Warps that meet
 * so are reported at once.
 *
 * A cell of check/shadow.h whose moment is EXEC_UNREAD_TIME stands for such stores. It is later
 * than every other, so that the fast paths leave it to check/shadow.c.
 */
#ifndef OVERLAP_EXEC_CHECK_UNREAD_H
#define OVERLAP_EXEC_CHECK_UNREAD_H

#include "emulator/exec/check/racecheck.h"
#include "emulator/exec/check/shadow.h"

enum { EXEC_UNREAD_TIME = (1 << (31 - EXEC_SHADOW_TIME)) - 1 };

struct exec_unread {
    uint64_t offset; /* of the cell's first byte in shared memory */
    int32_t cell;    /* the last of the stores, with EXEC_SHADOW_MANY */
    bool used;
    struct exec_racecheck_found found;
};

static inline bool exec_unread_is(int32_t cell)
{
    return cell >> EXEC_SHADOW_TIME == EXEC_UNREAD_TIME;
}

/* Returns the entry for the cell, or with `make` the one that is to be filled in for it; NULL:
 * there is none, or no room. */
struct exec_unread *exec_unread_at(struct exec_shadow *shadow, size_t index, bool make);
/* Makes the entry the cell's last store, by `now`. */
void exec_unread_keep(struct exec_shadow *shadow, size_t index, struct exec_unread *unread,
                      int32_t now);
/* The cell stands for the last of the stores alone, from now on. */
void exec_unread_settle(struct exec_shadow *shadow, size_t index, struct exec_unread *unread);
/* The block's shared memory begins anew. */
void exec_unread_forget(struct exec_shadow *shadow);

#endif
