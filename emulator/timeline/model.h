/* timeline_model: the parameters of the virtual clock, in one table, and the costs made from them.
 *
 * It models one H100 as measured (see the notes), for ratios: serial against overlapped, breadth-
 * against depth-first, streams against hardware queues. It never predicts an absolute time, and
 * nothing that a program computes depends on it.
 */
#ifndef OVERLAP_TIMELINE_MODEL_H
#define OVERLAP_TIMELINE_MODEL_H

#include "emulator/timeline/timeline.h"

/* PARAMETER(name, value, unit, where it comes from) */
// clang-format off
#define TIMELINE_MODEL(PARAMETER)                                                                  \
    /* The host: what a call costs the thread that makes it. */                                    \
    PARAMETER(call, 300, "ns", "a call that submits nothing")                                      \
    PARAMETER(submit, 2000, "ns", "an asynchronous call; a launch takes a host about 2 us")        \
    PARAMETER(query, 1000, "ns", "a query; repeated ones cost more, so that a polling loop ends")  \
    PARAMETER(initialise, 240e6, "ns", "cuInit: 0.34 s measured with the first context")           \
    PARAMETER(context_create, 100e6, "ns", "measured; one at a time in a process")                 \
    PARAMETER(context_destroy, 50e6, "ns", "measured; one at a time in a process")                 \
    PARAMETER(module_load, 5e6, "ns", "with the driver's cache warm (0.125 s without)")            \
    PARAMETER(allocate, 50e3, "ns", "device memory")                                               \
    PARAMETER(allocate_pinned, 250, "ns per KiB", "pinned memory: 1 ms for 4 MiB")                 \
    PARAMETER(pending, 8192, "operations", "in the queues; a GPU holds about 1000 launches")       \
    /* Between host and device. */                                                                 \
    PARAMETER(dispatch, 3000, "ns", "from the call to the earliest start on the device")           \
    PARAMETER(chain, 1000, "ns", "from the end of one operation to the start of a dependent one")  \
    PARAMETER(event_tick, 500, "ns", "resolution of cuEventElapsedTime: about 0.5 us")             \
    /* Copies. */                                                                                  \
    PARAMETER(copy_fixed, 1500, "ns", "every copy")                                                \
    PARAMETER(copy_in, 55.1, "bytes per ns", "pinned, measured")                                   \
    PARAMETER(copy_out, 55.0, "bytes per ns", "pinned, measured")                                  \
    PARAMETER(copy_pageable, 8.7, "bytes per ns", "serial pageable against pinned, measured")      \
    PARAMETER(copy_duplex, 0.86, "of the rate", "both directions at once: 93 to 97 in total")      \
    PARAMETER(copy_inside, 1500, "bytes per ns", "3001 read + write, measured")                    \
    PARAMETER(copy_host, 8.7, "bytes per ns", "a memcpy")                                          \
    PARAMETER(set, 2500, "bytes per ns", "a memset, bound by device memory")                       \
    /* Kernels. */                                                                                 \
    PARAMETER(kernel_fixed, 2000, "ns", "the shortest kernel")                                     \
    PARAMETER(kernel_guess, 20e3, "ns", "a kernel that has never run, until it has")               \
    PARAMETER(host_function, 20e3, "ns", "a host function, with its thread's wake-up")             \
    PARAMETER(resident_grids, 128, "", "Programming Guide, table of technical specifications")     \
    PARAMETER(multiprocessors, 132, "", "H100 SXM")                                                \
    PARAMETER(clock, 1.755, "cycles per ns", "H100 SXM under load")                                \
    PARAMETER(issue_slots, 4, "warp instructions per cycle and multiprocessor", "4 schedulers")    \
    PARAMETER(dependent_issue, 4.5, "cycles", "between dependent instructions of one warp")        \
    PARAMETER(memory_latency, 560, "cycles", "one access to device memory that is waited for")     \
    PARAMETER(memory_bandwidth, 3065, "bytes per ns", "CUB's reduction, measured")                 \
    PARAMETER(multiprocessor_bandwidth, 64, "bytes per cycle", "one multiprocessor's share of L2") \
    PARAMETER(resident_warps, 64, "per multiprocessor", "compute capability 9.0")                  \
    PARAMETER(resident_blocks, 32, "per multiprocessor", "compute capability 9.0")                 \
    PARAMETER(shared_bytes, 233472, "per multiprocessor", "compute capability 9.0")                \
    PARAMETER(shared_reserved, 1024, "bytes per block", "compute capability 9.0")                  \
    PARAMETER(registers, 65536, "per multiprocessor", "compute capability 9.0")
// clang-format on

struct timeline_model {
#define PARAMETER(name, value, unit, source) double name;
    TIMELINE_MODEL(PARAMETER)
#undef PARAMETER
};
extern const struct timeline_model timeline_model;

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
};
struct timeline_cost timeline_kernel_cost(const struct timeline_kernel *kernel);

/* Blocks of this shape that one multiprocessor holds at a time; 0 when not even one fits. */
unsigned timeline_resident_blocks(uint32_t threads_per_block, uint32_t shared_bytes,
                                  uint32_t registers_per_thread);

/* Host time that a copy of pageable memory keeps its caller (staging), in ns. */
uint64_t timeline_staging_time(uint64_t bytes);

/* The cost of everything that is no kernel. */
struct timeline_cost timeline_transfer_cost(enum timeline_kind kind, uint64_t bytes, bool pageable);

#endif
