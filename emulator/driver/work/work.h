/* work: kernels, copies and fills: what they may touch, whether the host waits for them, and doing
 * them; and the same as work of a graph's node.
 *
 * It orders nothing: what may run when is the timeline's business.
 *
 * Source: CUDA Driver API 13.0, "Memory Management", "Execution Control", "Occupancy", "API
 * synchronization behavior".
 */
#ifndef OVERLAP_DRIVER_WORK_WORK_H
#define OVERLAP_DRIVER_WORK_WORK_H

#include "emulator/driver/core/core.h"
#include "emulator/driver/findings/rows.h"

/* A piece of memory, for the timeline; of no object where there is none at the address. */
struct timeline_touch touch_of(uint64_t address, uint64_t bytes);

/* ---- as a node's --------------------------------------------------------------------------- */

/* Each checks the parameters and makes an operation in `context`, or describes one that was made,
 * whether for a stream or for a node. What pointers of a description point to is the operation's.
 */
CUresult launch_operation(const CUDA_KERNEL_NODE_PARAMS_v3 *params, struct operation **operation,
                          struct timeline_work *work);
void launch_describe(const struct operation *operation, CUDA_KERNEL_NODE_PARAMS_v3 *params);
/* The arguments' addresses in the operation: their number is returned; `list` may be NULL. */
size_t launch_arguments(const struct operation *operation, void **list);
bool launch_is_cooperative(const struct operation *operation);
void launch_set_cooperative(struct operation *operation, bool cooperative);
/* Blocks of a cluster; zeros: there are none. */
void launch_cluster(const struct operation *operation, unsigned cluster[3]);
CUresult launch_set_cluster(struct operation *operation, const unsigned cluster[3]);
/* Both: whether they are the same, and making them so; what a kernel was compiled for stays. */
bool launch_is_like(const struct operation *operation, const struct operation *other);
void launch_set_like(struct operation *operation, const struct operation *other);

/* A copy that the host does not wait for: what it has in flight from its submission on. */
struct copy_flight {
    uint64_t number; /* findings/in_flight.h */
    struct races_rows written, read;
};
struct copy_flight copy_begins(struct operation *operation);
/* The same for a fill. */
struct copy_flight fill_flight(const struct operation *operation);
/* `op` may be NULL: it could not be submitted. */
void copy_submitted(const struct copy_flight *flight, const struct timeline_op *op);
CUresult copy_operation(struct context *context, const CUDA_MEMCPY3D *params,
                        struct operation **operation, struct timeline_work *work);
void copy_describe(const struct operation *operation, CUDA_MEMCPY3D *params);
CUresult fill_operation(struct context *context, const CUDA_MEMSET_NODE_PARAMS_v2 *params,
                        struct operation **operation, struct timeline_work *work);
/* Whether a fill's address is memory: one that is captured has not been asked. */
bool fill_is_possible(const struct operation *operation);
void fill_describe(const struct operation *operation, CUDA_MEMSET_NODE_PARAMS_v2 *params);

#endif
