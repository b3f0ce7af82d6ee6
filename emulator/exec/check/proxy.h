/* exec_proxy: bulk copies out of shared memory, and products of it (wgmma), that may not see what
 * threads have stored there. Private to emulator/exec.
 *
 * Both read by another way than loads and stores, the async proxy. What a thread has stored they
 * see behind a fence.proxy.async alone, whatever barrier stands between. Here one thread's fence
 * counts for all stores of the block until then: a missing one may be missed, none that is there
 * is. What a bulk copy has filled, another sees as it is.
 *
 * Tensor maps are read by a third way, the tensormap proxy. How a kernel has changed one in global
 * memory a copy sees behind a fence.proxy.tensormap::generic.acquire; here one thread's fence
 * counts for all changes of the block until then, whatever map it names. Changes by other blocks,
 * and by plain stores, are not looked at.
 *
 * Source: PTX ISA 9.0, 8.4 (proxies), 9.7.9.25.4 (bulk copies), 9.7.13.4 (fence.proxy).
 */
#ifndef OVERLAP_EXEC_CHECK_PROXY_H
#define OVERLAP_EXEC_CHECK_PROXY_H

#include "emulator/exec/block.h"

struct exec_proxy;

void exec_proxy_destroy(struct exec_proxy *proxy); /* NULL is fine */

/* The instruction before a fence.proxy.async of shared memory. */
exec_handler exec_proxy_fence;

/* The lane's bulk copy has filled these bytes of the block's shared memory; and it, or the lane's
 * part of a product, is about to read those, which is told if they may not be there. */
void exec_proxy_fills(const struct exec_warp *warp, const struct exec_inst *inst, uint64_t offset,
                      uint32_t bytes);
void exec_proxy_reads(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      uint64_t offset, uint32_t bytes);

/* The instruction before a fence.proxy.tensormap that acquires. */
exec_handler exec_proxy_map_fence;

/* The lane has changed the tensor map at a generic address; and copies by the one there, which is
 * told if it may not be as it was changed to be. Of global memory; else nothing. */
void exec_proxy_map_changed(const struct exec_warp *warp, const struct exec_inst *inst,
                            unsigned lane, uint64_t address);
void exec_proxy_map_used(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                         uint64_t address);

#endif
