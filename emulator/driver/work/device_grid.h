/* device_grid: kernels that launch kernels (dynamic parallelism): the grids that a kernel has
 * launched, the order in which they run, happens-before between them, and the time when a GPU would
 * have run them. All of them are part of the operation that the host submitted, which is over when
 * they are.
 *
 * A child grid runs after the kernel that launched it has ended. A GPU may do the same: nothing
 * promises that both are on the device at once. The names and arguments of the device runtime's
 * functions are in device_runtime.c.
 *
 * Source: CUDA C++ Programming Guide 13.0, "CUDA Dynamic Parallelism".
 */
#ifndef OVERLAP_DRIVER_WORK_DEVICE_GRID_H
#define OVERLAP_DRIVER_WORK_DEVICE_GRID_H

#include "emulator/driver/core/core.h"
#include "emulator/exec/exec.h"

struct device_grid; /* a kernel that may launch others, from its start until they have ended */
struct findings_kernel;

/* ---- for the code that runs kernels (launch.c) --------------------------------------------- */

/* Makes the grid of an operation that begins to run; NULL: no memory. */
struct device_grid *device_grid_create(struct operation *operation);
void device_grid_destroy(struct device_grid *grid); /* NULL is fine */
/* The kernel runs, or resumes, with this request, in which the fields for device launches are
 * set. */
void device_grid_begins(struct device_grid *grid, struct exec_launch *request,
                        struct findings_kernel *noted);
/* The operation to which the kernel's accesses since its last launch belong. */
struct timeline_op *device_grid_now(const struct device_grid *grid);
/* The kernel has ended: runs all grids that it launched and adds their time to `cost`. Returns
 * false if one of them failed; the context has the error then. */
bool device_grid_finish(struct device_grid *grid, struct timeline_cost *cost);

/* A grid as requested by a kernel. */
struct device_shape {
    const struct exec_function *code;
    unsigned grid[3], block[3];
    unsigned dynamic_shared; /* bytes */
};
/* In launch.c: makes an operation that launches the grid, requested by the kernel of `parent`.
 * `parameters` has as many bytes as the function takes. On error a finding has been reported. */
CUresult launch_within(const struct operation *parent, const struct device_shape *shape,
                       const void *parameters, struct operation **made);
/* In launch.c: runs that operation and everything it launches. `operation->op` must be set. */
bool launch_run_within(struct operation *operation, struct timeline_cost *cost);
/* In launch.c: where the operation keeps its grid. *result is NULL until it runs; the result is
 * NULL if the kernel cannot launch anything. */
struct device_grid **launch_device_grid(struct operation *operation);

/* ---- for the device runtime (device_runtime.c) --------------------------------------------- */

/* exec_launch.device_call: `grid` is the struct device_grid. */
bool device_runtime_call(void *grid, struct exec_device_call *call);

/* Streams with fixed handles; driver_types.h has their numbers. */
enum device_stream {
    DEVICE_STREAM_NULL,
    DEVICE_STREAM_LEGACY,
    DEVICE_STREAM_PER_THREAD,
    DEVICE_STREAM_TAIL,
    DEVICE_STREAM_FORGET,
    DEVICE_STREAM_OWN
};

/* Takes a buffer for a launch's parameters, which the kernel fills in. Returns its address; 0: none
 * is left. */
uint64_t device_buffer_take(struct device_grid *grid, const struct device_shape *shape);
/* Launches the grid for which the buffer was taken, and releases the buffer. Returns a
 * cudaError_t. */
unsigned device_launch(struct device_grid *grid, struct exec_device_call *call, uint64_t buffer,
                       uint64_t stream, bool *stops);
/* Create a stream or an event of a block; 0: no memory. */
uint64_t device_stream_create(struct device_grid *grid, uint64_t block);
uint64_t device_event_create(struct device_grid *grid, uint64_t block);
/* Return a cudaError_t: an error if the block has no such stream or event. */
unsigned device_stream_destroy(struct device_grid *grid, uint64_t block, uint64_t stream);
unsigned device_event_destroy(struct device_grid *grid, uint64_t block, uint64_t event);
unsigned device_event_record(struct device_grid *grid, const struct exec_device_call *call,
                             uint64_t event, uint64_t stream);
unsigned device_stream_wait(struct device_grid *grid, const struct exec_device_call *call,
                            uint64_t stream, uint64_t event);
/* The last error of a thread, to be read or set; NULL: no memory. */
unsigned *device_error(struct device_grid *grid, const struct exec_device_call *call);
/* The kernel of the same program that `token` stands for in device code; NULL: none. */
const struct exec_function *device_function(const struct device_grid *grid, uint64_t token);
struct context *device_context(const struct device_grid *grid);

#endif
