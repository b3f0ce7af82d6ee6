/* exec_products: products of four warps (wgmma) under way. Keeps which words of a block's shared
 * memory such a product may still be reading, and reports stores and copies to them. Private to
 * emulator/exec.
 *
 * The device multiplies when the product is issued; CUDA lets it read until a thread of the four
 * warps has waited for its group (wgmma.wait_group). A group is what a warp issued before a
 * wgmma.commit_group: a product behind the last of them is never waited for. Before the wait, a
 * store, an atomic or a copy to the words is an error, whatever barriers lie between. A wait by one
 * of the four warps counts for all of them, as CUTLASS has it. Of two products that read the same
 * word only the later one is kept, and of a block's products the latest ones. What another block of
 * the cluster stores there is not checked.
 *
 * Source: PTX ISA 9.0, 9.7.15.1 and 9.7.15.7 (wgmma.commit_group, wgmma.wait_group).
 */
#ifndef OVERLAP_EXEC_CHECK_PRODUCTS_H
#define OVERLAP_EXEC_CHECK_PRODUCTS_H

#include "emulator/exec/check/shadow.h"

struct exec_products;

void exec_products_destroy(struct exec_products *products); /* NULL is fine */
/* Prepares for another block. NULL is fine. */
void exec_products_reset(struct exec_products *products);

/* _begin: the warp issues its part of a product. _reads: which reads the word at `offset`. */
void exec_products_begin(const struct exec_warp *warp, const struct exec_inst *inst);
void exec_products_reads(const struct exec_warp *warp, uint64_t offset);

/* Returns true while any product is under way. */
bool exec_products_any(const struct exec_block *block);
/* Reports the product that may still be reading the `bytes` bytes at `offset`, which lane `lane`
 * changes, or lets a copy fill. */
void exec_products_touch(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                         uint64_t offset, uint64_t bytes, enum exec_access access);

/* Inserted before wgmma.commit_group, and before wgmma.wait_group, which leaves `imm` groups
 * pending. */
exec_handler exec_products_commit, exec_products_wait;

#endif
