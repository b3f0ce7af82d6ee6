/* exec_proxy: reports bulk copies out of shared memory, and matrix products of it (wgmma), that may
 * not see what threads have stored there. Private to emulator/exec.
 *
 * Both read through the async proxy, not as loads do. They see a thread's stores only after a
 * fence.proxy.async, whatever barriers lie between. Here one thread's fence counts for all stores
 * of the block until then: a missing fence may be missed, but none is reported that is there. What
 * a bulk copy has filled, another one sees without a fence.
 *
 * Tensor maps are read through a third proxy, the tensormap proxy. A copy sees a kernel's changes
 * to a map in global memory only after a fence.proxy.tensormap::generic.acquire. Here one thread's
 * fence counts for all changes of the block until then, whatever map it names. Changes by other
 * blocks, and by plain stores, are not checked.
 *
 * Source: PTX ISA 9.0, 8.4 (proxies), 9.7.9.25.4 (bulk copies), 9.7.13.4 (fence.proxy).
 */
#ifndef OVERLAP_EXEC_CHECK_PROXY_H
#define OVERLAP_EXEC_CHECK_PROXY_H

#include "emulator/exec/block.h"

struct exec_proxy;

void exec_proxy_destroy(struct exec_proxy *proxy); /* NULL is fine */

/* Inserted before a fence.proxy.async of shared memory. */
exec_handler exec_proxy_fence;

/* _fills: the lane's bulk copy has filled these bytes of the block's shared memory. _reads: a bulk
 * copy or the lane's part of a product is about to read them; reported if it may not see their
 * stores. */
void exec_proxy_fills(const struct exec_warp *warp, const struct exec_inst *inst, uint64_t offset,
                      uint32_t bytes);
void exec_proxy_reads(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      uint64_t offset, uint32_t bytes);

/* Inserted before a fence.proxy.tensormap that acquires. */
exec_handler exec_proxy_map_fence;

/* _changed: the lane has changed the tensor map at a generic address. _used: it copies by the map
 * there; reported if the copy may not see the change. Ignored unless the map is in global
 * memory. */
void exec_proxy_map_changed(const struct exec_warp *warp, const struct exec_inst *inst,
                            unsigned lane, uint64_t address);
void exec_proxy_map_used(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                         uint64_t address);

#endif
