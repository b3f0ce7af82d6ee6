/* The device runtime: the functions that kernels call to launch kernels, one row each in
 * device_runtime.def. CUDA C++ Programming Guide 13.0, "CUDA Dynamic Parallelism", "API Reference".
 */
#include "emulator/driver/work/device_grid.h"

#include <driver_types.h>
#include <string.h>

/* Argument `index` as a number. */
static uint64_t number(const struct exec_device_call *call, size_t index)
{
    uint64_t value = 0;
    const size_t size = call->arguments[index].size;
    memcpy(&value, call->arguments[index].bytes, size < sizeof value ? size : sizeof value);
    return value;
}

/* Writes a result to the address in argument `index`. */
static unsigned give(const struct exec_device_call *call, size_t index, const void *value,
                     size_t size)
{
    unsigned char *bytes = call->memory(call, number(call, index), size);
    if (bytes == NULL) return cudaErrorInvalidValue;
    memcpy(bytes, value, size);
    return cudaSuccess;
}

/* Sets a call's result; a failure also becomes the thread's last error. */
static void answer(struct device_grid *grid, struct exec_device_call *call, unsigned code)
{
    unsigned *last = code != cudaSuccess ? device_error(grid, call) : NULL;
    if (last != NULL) *last = code;
    call->result = code;
}

/* ---- launches ---------------------------------------------------------------------------- */

static bool get_parameter_buffer(struct device_grid *grid, struct exec_device_call *call)
{
    struct device_shape shape = {.code = device_function(grid, number(call, 0)),
                                 .dynamic_shared = (unsigned)number(call, 3)};
    if (call->arguments[1].size != sizeof shape.grid ||
        call->arguments[2].size != sizeof shape.block)
        return false;
    memcpy(shape.grid, call->arguments[1].bytes, sizeof shape.grid);
    memcpy(shape.block, call->arguments[2].bytes, sizeof shape.block);
    const uint64_t buffer = shape.code != NULL ? device_buffer_take(grid, &shape) : 0;
    if (buffer == 0)
        answer(grid, call,
               shape.code == NULL ? cudaErrorInvalidDeviceFunction
                                  : cudaErrorLaunchPendingCountExceeded);
    call->result = buffer;
    return true;
}

static bool launch(struct device_grid *grid, struct exec_device_call *call, uint64_t stream)
{
    bool stops = false;
    answer(grid, call, device_launch(grid, call, number(call, 0), stream, &stops));
    return !stops;
}

static bool launch_device(struct device_grid *grid, struct exec_device_call *call)
{
    return launch(grid, call, number(call, 1));
}

/* The default stream in code compiled for per-thread default streams. */
static uint64_t per_thread(uint64_t stream)
{
    return stream == DEVICE_STREAM_NULL ? DEVICE_STREAM_PER_THREAD : stream;
}

static bool launch_device_per_thread(struct device_grid *grid, struct exec_device_call *call)
{
    return launch(grid, call, per_thread(number(call, 1)));
}

/* ---- errors ------------------------------------------------------------------------------ */

static bool peek_at_last_error(struct device_grid *grid, struct exec_device_call *call)
{
    const unsigned *last = device_error(grid, call);
    call->result = last != NULL ? *last : cudaSuccess;
    return true;
}

static bool get_last_error(struct device_grid *grid, struct exec_device_call *call)
{
    unsigned *last = device_error(grid, call);
    call->result = last != NULL ? *last : cudaSuccess;
    if (last != NULL) *last = cudaSuccess;
    return true;
}

/* ---- streams and events ------------------------------------------------------------------ */

/* Creates a stream or an event and writes its handle to the first argument. In a kernel the second
 * argument must be `flags`. */
static bool create(struct device_grid *grid, struct exec_device_call *call, uint64_t flags,
                   uint64_t (*make)(struct device_grid *grid, uint64_t block))
{
    unsigned code = cudaErrorInvalidValue;
    if (number(call, 1) == flags) {
        const uint64_t handle = make(grid, call->block);
        code = handle != 0 ? give(call, 0, &handle, sizeof handle) : cudaErrorMemoryAllocation;
    }
    answer(grid, call, code);
    return true;
}

static bool stream_create(struct device_grid *grid, struct exec_device_call *call)
{
    return create(grid, call, cudaStreamNonBlocking, device_stream_create);
}

static bool stream_destroy(struct device_grid *grid, struct exec_device_call *call)
{
    answer(grid, call, device_stream_destroy(grid, call->block, number(call, 0)));
    return true;
}

static bool event_create(struct device_grid *grid, struct exec_device_call *call)
{
    return create(grid, call, cudaEventDisableTiming, device_event_create);
}

static bool event_destroy(struct device_grid *grid, struct exec_device_call *call)
{
    answer(grid, call, device_event_destroy(grid, call->block, number(call, 0)));
    return true;
}

static bool event_record(struct device_grid *grid, struct exec_device_call *call)
{
    answer(grid, call, device_event_record(grid, call, number(call, 0), number(call, 1)));
    return true;
}

static bool event_record_per_thread(struct device_grid *grid, struct exec_device_call *call)
{
    answer(grid, call,
           device_event_record(grid, call, number(call, 0), per_thread(number(call, 1))));
    return true;
}

static bool stream_wait_event(struct device_grid *grid, struct exec_device_call *call)
{
    answer(grid, call, device_stream_wait(grid, call, number(call, 0), number(call, 1)));
    return true;
}

static bool stream_wait_event_per_thread(struct device_grid *grid, struct exec_device_call *call)
{
    answer(grid, call,
           device_stream_wait(grid, call, per_thread(number(call, 0)), number(call, 1)));
    return true;
}

/* ---- the device -------------------------------------------------------------------------- */

static bool give_int(struct device_grid *grid, struct exec_device_call *call, int value)
{
    answer(grid, call, give(call, 0, &value, sizeof value));
    return true;
}

static bool get_device(struct device_grid *grid, struct exec_device_call *call)
{
    return give_int(grid, call, 0);
}

static bool get_device_count(struct device_grid *grid, struct exec_device_call *call)
{
    return give_int(grid, call, 1);
}

static bool get_version(struct device_grid *grid, struct exec_device_call *call)
{
    return give_int(grid, call, CUDA_VERSION);
}

static bool get_limit(struct device_grid *grid, struct exec_device_call *call)
{
    const uint64_t limit = number(call, 1);
    if (limit != CU_LIMIT_STACK_SIZE && limit != CU_LIMIT_PRINTF_FIFO_SIZE &&
        limit != CU_LIMIT_MALLOC_HEAP_SIZE && limit != CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT) {
        answer(grid, call, cudaErrorUnsupportedLimit);
        return true;
    }
    const size_t value = device_context(grid)->limits[limit];
    answer(grid, call, give(call, 0, &value, sizeof value));
    return true;
}

/* ---- the table --------------------------------------------------------------------------- */

bool device_runtime_call(void *grid, struct exec_device_call *call)
{
    static const struct {
        const char *name;
        size_t arguments;
        bool (*run)(struct device_grid *grid, struct exec_device_call *call);
    } rows[] = {
#define ROW(name, arguments, run) {"__cudaCDP2" #name, arguments, run},
#include "emulator/driver/work/device_runtime.def"
#undef ROW
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, call->name) == 0)
            return call->argument_count == rows[i].arguments && rows[i].run(grid, call);
    return false;
}
