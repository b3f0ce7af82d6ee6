/* occupancy: how many blocks and clusters of a launch the device holds at once, and the functions
 * of the API that ask. It launches nothing.
 *
 * Source: CUDA Driver API 13.0, "Occupancy"; CUDA Programming Guide, "Compute Capabilities",
 * "Thread Block Clusters".
 */
#ifndef OVERLAP_DRIVER_WORK_OCCUPANCY_H
#define OVERLAP_DRIVER_WORK_OCCUPANCY_H

#include "emulator/driver/module/module.h"

/* Blocks of a cluster: everywhere, and where the function allows more. */
enum { CLUSTER_PORTABLE = 8, CLUSTER_MOST = 16 };

/* Blocks that a multiprocessor holds at once; none where a launch would need more dynamic shared
 * memory than the function may have. */
unsigned occupancy_blocks(int device, const struct function *function, uint64_t threads,
                          uint64_t dynamic_shared);
/* Clusters of so many blocks that the device holds at once. */
uint64_t occupancy_clusters(int device, const struct function *function, uint64_t blocks,
                            uint64_t threads, uint64_t dynamic_shared);
/* Bytes that a block may have, on the device of the current context. */
int64_t occupancy_shared_most(void);

#endif
