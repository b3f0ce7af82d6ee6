/* timeline_model: the parameters of the virtual clock, and the costs made from them.
 *
 * It models one of a few GPUs (timeline/model.def, the one documented table), for ratios: serial
 * against overlapped, breadth- against depth-first, streams against hardware queues. What a program
 * computes does not depend on it, nor what the device says of itself, but for the number of
 * multiprocessors, which programs choose their grids by.
 */
#ifndef OVERLAP_TIMELINE_MODEL_H
#define OVERLAP_TIMELINE_MODEL_H

#include "emulator/timeline/timeline.h"

struct timeline_model {
    const char *name; /* "h100" */
#define PARAMETER(name, unit, what, h100, h200, a100, rtx4060, t4) double name;
#include "emulator/timeline/model.def"
#undef PARAMETER
};
/* The GPU whose clock it is: the H100 until another is chosen. */
extern const struct timeline_model *timeline_model;

/* The index-th, to be chosen before anything is timed, and its name; NULL behind the last. */
const struct timeline_model *timeline_model_at(size_t index);
const char *timeline_model_name(size_t index);

/* What a kernel did, as the executor counted it, and how it was launched. */
struct timeline_kernel {
    uint64_t blocks;
    uint32_t threads_per_block;
    uint32_t shared_bytes;         /* per block, static and dynamic */
    uint32_t registers_per_thread; /* 0: unknown */
    uint64_t warp_instructions;
    uint64_t longest_warp;  /* instructions of the longest warp */
    uint64_t longest_chain; /* memory accesses that one warp waited for, one after another */
    uint64_t longest_wait;  /* clock cycles that one warp slept, or spun away */
    uint64_t sectors;       /* 32-byte sectors of device memory touched */
    /* What the first-level cache makes of it; 0: nobody knows. */
    uint64_t found;       /* of the sectors: there */
    uint64_t short_chain; /* of longest_chain: all of it there */
    uint64_t wavefronts;  /* lines of 128 bytes, or rows of shared memory's banks, to be passed */
    uint64_t barriers;    /* that one warp waited at */
};
struct timeline_cost timeline_kernel_cost(const struct timeline_kernel *kernel);

/* Blocks of this shape that one multiprocessor of that GPU holds at a time; 0 when not even one
 * fits. */
unsigned timeline_resident_blocks(const struct timeline_model *model, uint32_t threads_per_block,
                                  uint32_t shared_bytes, uint32_t registers_per_thread);

/* Lines of 128 bytes of the first-level cache that each warp has, where all of them have the same.
 */
uint32_t timeline_reach(const struct timeline_kernel *kernel);

/* Host time that a copy of pageable memory keeps its caller (staging), in ns. */
uint64_t timeline_staging_time(uint64_t bytes);

/* Host time to submit one of that kind, in ns. */
double timeline_host_time(enum timeline_kind kind);

/* The cost of everything that is no kernel. */
struct timeline_cost timeline_transfer_cost(enum timeline_kind kind, uint64_t bytes, bool pageable);

#endif
