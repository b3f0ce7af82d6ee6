/* device_grid: kernels that start kernels: the grids that a kernel has launched, in which order
 * they run, what happens before what among them, and when a GPU would have run them. All of them
 * are part of the operation that the host asked for: it is over when they are.
 *
 * A child grid runs when the kernel that launched it has ended, which a GPU may do: nobody promises
 * that the two are on the device at once. What the functions of the device runtime are called, and
 * what they take, is device_runtime.c's.
 *
 * Source: CUDA C++ Programming Guide 13.0, "CUDA Dynamic Parallelism".
 */
#ifndef OVERLAP_DRIVER_WORK_DEVICE_GRID_H
#define OVERLAP_DRIVER_WORK_DEVICE_GRID_H

#include "emulator/driver/core/core.h"
#include "emulator/exec/exec.h"

struct device_grid; /* a kernel that may launch others, while it runs and until they have ended */
struct findings_kernel;

/* ---- for whoever runs kernels (launch.c) --------------------------------------------------- */

/* The grid of an operation that begins to run; NULL: no memory. */
struct device_grid *device_grid_create(struct operation *operation);
void device_grid_destroy(struct device_grid *grid); /* NULL is fine */
/* The kernel runs, or goes on, with this request, which gets what it needs. */
void device_grid_begins(struct device_grid *grid, struct exec_launch *request,
                        struct findings_kernel *noted);
/* As what the touches are to be told that it has made since its last launch. */
struct timeline_op *device_grid_now(const struct device_grid *grid);
/* The kernel has ended: runs all that it has launched, and adds to `cost` what that takes. False:
 * one of them failed, and the context has the error. */
bool device_grid_finish(struct device_grid *grid, struct timeline_cost *cost);

/* A grid as a kernel asks for it. */
struct device_shape {
    const struct exec_function *code;
    unsigned grid[3], block[3];
    unsigned dynamic_shared; /* bytes */
};
/* launch.c: an operation that launches it, asked for by `parent`'s kernel. `parameters` are as many
 * bytes as the function takes. On error a finding has been made. */
CUresult launch_within(const struct operation *parent, const struct device_shape *shape,
                       const void *parameters, struct operation **made);
/* launch.c: runs it, and all that it launches. `operation->op` is set. */
bool launch_run_within(struct operation *operation, struct timeline_cost *cost);
/* launch.c: where it keeps its grid, NULL until it runs; NULL: its kernel can launch nothing. */
struct device_grid **launch_device_grid(struct operation *operation);

/* ---- for the device runtime (device_runtime.c) --------------------------------------------- */

/* exec_launch.device_call: `grid` is the struct device_grid. */
bool device_runtime_call(void *grid, struct exec_device_call *call);

/* Streams that have no handle of their own; driver_types.h has their numbers. */
enum device_stream {
    DEVICE_STREAM_NULL,
    DEVICE_STREAM_LEGACY,
    DEVICE_STREAM_PER_THREAD,
    DEVICE_STREAM_TAIL,
    DEVICE_STREAM_FORGET,
    DEVICE_STREAM_OWN
};

/* Room for a launch's parameters, which the kernel fills in. 0: none is left. */
uint64_t device_buffer_take(struct device_grid *grid, const struct device_shape *shape);
/* Launches what the buffer was taken for, and gives the buffer back. A value of cudaError_t. */
unsigned device_launch(struct device_grid *grid, struct exec_device_call *call, uint64_t buffer,
                       uint64_t stream, bool *stops);
/* Streams and events of a block; 0: no memory. */
uint64_t device_stream_create(struct device_grid *grid, uint64_t block);
uint64_t device_event_create(struct device_grid *grid, uint64_t block);
/* A value of cudaError_t: no such stream or event is the block's. */
unsigned device_stream_destroy(struct device_grid *grid, uint64_t block, uint64_t stream);
unsigned device_event_destroy(struct device_grid *grid, uint64_t block, uint64_t event);
unsigned device_event_record(struct device_grid *grid, const struct exec_device_call *call,
                             uint64_t event, uint64_t stream);
unsigned device_stream_wait(struct device_grid *grid, const struct exec_device_call *call,
                            uint64_t stream, uint64_t event);
/* The last error of a thread, and room to set it; NULL: no memory. */
unsigned *device_error(struct device_grid *grid, const struct exec_device_call *call);
/* The kernel of the same program that a kernel means by `token`; NULL: none. */
const struct exec_function *device_function(const struct device_grid *grid, uint64_t token);
struct context *device_context(const struct device_grid *grid);

#endif
