/* work: kernels, copies and fills: argument checks, whether the host waits, execution; and the same
 * as work of graph nodes.
 *
 * This room orders nothing: the timeline decides what may run when.
 *
 * Source: CUDA Driver API 13.0, "Memory Management", "Execution Control", "Occupancy", "API
 * synchronization behavior".
 */
#ifndef OVERLAP_DRIVER_WORK_WORK_H
#define OVERLAP_DRIVER_WORK_WORK_H

#include "emulator/driver/core/core.h"
#include "emulator/driver/findings/rows.h"

/* Describes accessed memory for the timeline; no object if there is no region at the address. */
struct timeline_touch touch_of(uint64_t address, uint64_t bytes);

/* ---- work of graph nodes ------------------------------------------------------------------- */

/* The *_operation functions check parameters and make an operation in a context. The *_describe
 * functions return the parameters of an operation made for a stream or a node; what their pointers
 * point to belongs to the operation.
 */
CUresult launch_operation(const CUDA_KERNEL_NODE_PARAMS_v3 *params, struct operation **operation,
                          struct timeline_work *work);
void launch_describe(const struct operation *operation, CUDA_KERNEL_NODE_PARAMS_v3 *params);
/* Returns the number of arguments, and writes their addresses in the operation to `list`, which may
 * be NULL. */
size_t launch_arguments(const struct operation *operation, void **list);
/* Returns true if the launch was told a priority of its own, and which. */
bool launch_priority(const struct operation *operation, int *priority);
bool launch_is_cooperative(const struct operation *operation);
void launch_set_cooperative(struct operation *operation, bool cooperative);
/* Was the kernel launched with programmatic stream serialization? */
bool launch_is_dependent(const struct operation *operation);
/* The kernel that is about to be submitted may begin before the kernel of `primary`, submitted as
 * `op`, has ended: at that kernel's trigger or, `at_once`, when its blocks have begun. Returns
 * false if it has to come behind its end. */
bool launch_follow(struct operation *operation, const struct operation *primary,
                   struct timeline_op *op, bool at_once);
/* Blocks per cluster axis; zeros: no clusters. */
void launch_cluster(const struct operation *operation, unsigned cluster[3]);
CUresult launch_set_cluster(struct operation *operation, const unsigned cluster[3]);
/* Compares whether both are cooperative, and copies both settings (cooperative, cluster); what a
 * kernel was compiled for stays. Nothing is copied if the clusters do not divide the grid. */
bool launch_is_like(const struct operation *operation, const struct operation *other);
CUresult launch_set_like(struct operation *operation, const struct operation *other);

/* The memory in use by a copy that the host does not wait for, from its submission on. */
struct copy_flight {
    uint64_t number; /* findings/in_flight.h */
    struct races_rows written, read;
};
struct copy_flight copy_begins(struct operation *operation);
/* The same for a fill. */
struct copy_flight fill_flight(const struct operation *operation);
/* `op` NULL: the submission failed. */
void copy_submitted(const struct copy_flight *flight, const struct timeline_op *op);
/* Refuses what cuMemcpy3D would refuse of a copy, and one of nothing. */
CUresult copy_check(const CUDA_MEMCPY3D *params);
CUresult copy_operation(struct context *context, const CUDA_MEMCPY3D *params,
                        struct operation **operation, struct timeline_work *work);
void copy_describe(const struct operation *operation, CUDA_MEMCPY3D *params);
CUresult fill_operation(struct context *context, const CUDA_MEMSET_NODE_PARAMS_v2 *params,
                        struct operation **operation, struct timeline_work *work);
/* Returns true if a fill's destination is memory: captured fills were not checked. */
bool fill_is_possible(const struct operation *operation);
void fill_describe(const struct operation *operation, CUDA_MEMSET_NODE_PARAMS_v2 *params);

#endif
