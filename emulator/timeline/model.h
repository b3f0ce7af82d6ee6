/* timeline_model: the parameters of the virtual clock, and the costs computed from them.
 *
 * The model describes one of a few GPUs (timeline/model.def, the one documented table). It is for
 * ratios: serial against overlapped, breadth-first against depth-first, streams against hardware
 * queues. Neither a program's results nor the device's findings depend on it, except for the number
 * of multiprocessors, by which programs choose their grids.
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
/* The GPU whose clock is simulated: the H100 until another is chosen. */
extern const struct timeline_model *timeline_model;

/* Returns the index-th model, or its name; NULL beyond the last. A model is chosen before anything
 * is timed. */
const struct timeline_model *timeline_model_at(size_t index);
const char *timeline_model_name(size_t index);

/* How a kernel was launched, and what it did, as the executor counted it. */
struct timeline_kernel {
    uint64_t blocks;
    uint32_t threads_per_block;
    uint32_t shared_bytes;         /* per block, static and dynamic */
    uint32_t registers_per_thread; /* 0: unknown */
    uint64_t warp_instructions;
    uint64_t longest_warp;  /* instructions of the longest warp */
    uint64_t longest_chain; /* memory accesses that one warp waited for, one after another */
    uint64_t longest_wait;  /* clock cycles that one warp slept or spent spinning */
    uint64_t sectors;       /* 32-byte sectors of device memory touched */
    /* Behaviour in the first-level cache, and at barriers; 0: unknown. */
    uint64_t found;       /* of `sectors`: those that hit */
    uint64_t short_chain; /* of `longest_chain`: accesses all of whose data hit */
    uint64_t wavefronts;  /* passes: 128-byte cache lines, and rows of shared memory's banks */
    uint64_t barriers;    /* barriers that one warp waited at */
};
struct timeline_cost timeline_kernel_cost(const struct timeline_kernel *kernel);

/* Returns how many blocks of this shape one multiprocessor of that GPU holds at a time; 0 when not
 * even one fits. */
unsigned timeline_resident_blocks(const struct timeline_model *model, uint32_t threads_per_block,
                                  uint32_t shared_bytes, uint32_t registers_per_thread);

/* Returns how many 128-byte lines of the first-level cache each warp has when all warps have equal
 * shares. */
uint32_t timeline_reach(const struct timeline_kernel *kernel);

/* Returns the host time, in ns, for which a copy of pageable memory keeps its caller (staging). */
uint64_t timeline_staging_time(uint64_t bytes);

/* Returns the host time, in ns, to submit one operation of that kind. */
double timeline_host_time(enum timeline_kind kind);

/* Returns the cost of an operation that is not a kernel. */
struct timeline_cost timeline_transfer_cost(enum timeline_kind kind, uint64_t bytes, bool pageable);

#endif
