/* occupancy: how many blocks and clusters of a launch the device holds at once, and the API
 * functions that query it. This module launches nothing.
 *
 * Source: CUDA Driver API 13.0, "Occupancy"; CUDA Programming Guide, "Compute Capabilities",
 * "Thread Block Clusters".
 */
#ifndef OVERLAP_DRIVER_WORK_OCCUPANCY_H
#define OVERLAP_DRIVER_WORK_OCCUPANCY_H

#include "emulator/driver/module/module.h"

/* Most blocks of a cluster: always, and where the function allows non-portable sizes. */
enum { CLUSTER_PORTABLE = 8, CLUSTER_MOST = 16 };

/* Blocks that a multiprocessor holds at once; 0 if the launch needs more dynamic shared memory than
 * the function may have. */
unsigned occupancy_blocks(int device, const struct function *function, uint64_t threads,
                          uint64_t dynamic_shared);
/* Clusters of `blocks` blocks that the device holds at once. */
uint64_t occupancy_clusters(int device, const struct function *function, uint64_t blocks,
                            uint64_t threads, uint64_t dynamic_shared);
/* Most bytes of shared memory per block, on the current context's device. */
int64_t occupancy_shared_most(void);

#endif
