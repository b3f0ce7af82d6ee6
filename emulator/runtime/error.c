#include "emulator/runtime/error.h"
#include "emulator/driver/driver.h"
#include "emulator/runtime/runtime.h"

static _Thread_local cudaError_t last_error;

static const struct row {
    int code;
    const char *name;
    const char *sentence;
} rows[] = {
#define ERROR(code, sentence) {code, #code, sentence},
#include "emulator/runtime/errors.def"
#undef ERROR
};

static const struct row *find(int code)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == code) return &rows[i];
    return NULL;
}

bool runtime_is_error(int error)
{
    return find(error) != NULL;
}

/* cudaErrorNotReady is an answer and not a failure, so it is not remembered. */
cudaError_t runtime_keep_error(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
    return error;
}

static cudaError_t get_error(bool take)
{
    cudaError_t error = last_error;
    if (take) last_error = cudaSuccess;
    return error;
}

void runtime_forget_error(void)
{
    last_error = cudaSuccess;
}

/* ---- the exported functions ------------------------------------------------------------------ */

static const char unknown[] = "unrecognized error code";

/* For functions that the trace does not show as calls: makes a call of one only if it initialises
 * the driver. */
static void start(const char *name, const void *caller)
{
    if (runtime_has_started()) return;
    overlap_call_enter(name, caller, 0);
    runtime_start();
    overlap_call_leave(cudaSuccess);
}

RUNTIME_EXPORT const char *cudaGetErrorName(cudaError_t error)
{
    const struct row *row = find((int)error);
    start("cudaGetErrorName", __builtin_return_address(0));
    return row != NULL ? row->name : unknown;
}

RUNTIME_EXPORT const char *cudaGetErrorString(cudaError_t error)
{
    const struct row *row = find((int)error);
    start("cudaGetErrorString", __builtin_return_address(0));
    return row != NULL ? row->sentence : unknown;
}

static cudaError_t answer_last_error(const char *name, const void *caller, bool take)
{
    overlap_call_enter(name, caller, OVERLAP_CALL_REPEATS);
    runtime_start();
    return (cudaError_t)overlap_call_leave((int)get_error(take));
}

RUNTIME_EXPORT cudaError_t cudaGetLastError(void)
{
    return answer_last_error("cudaGetLastError", __builtin_return_address(0), true);
}

RUNTIME_EXPORT cudaError_t cudaPeekAtLastError(void)
{
    return answer_last_error("cudaPeekAtLastError", __builtin_return_address(0), false);
}

/* ---- the driver's log of errors -------------------------------------------------------------- */

cudaError_t runtime_cudaLogsRegisterCallback(cudaLogsCallback_t callbackFunc, void *userData,
                                             cudaLogsCallbackHandle *callback_out)
{
    /* cudaLogLevel and CUlogLevel are the same two numbers. */
    return runtime_error(cuLogsRegisterCallback((CUlogsCallback)(void (*)(void))callbackFunc,
                                                userData, callback_out));
}

cudaError_t runtime_cudaLogsUnregisterCallback(cudaLogsCallbackHandle callback)
{
    return runtime_error(cuLogsUnregisterCallback(callback));
}

cudaError_t runtime_cudaLogsCurrent(cudaLogIterator *iterator_out, unsigned int flags)
{
    return runtime_error(cuLogsCurrent(iterator_out, flags));
}

cudaError_t runtime_cudaLogsDumpToFile(cudaLogIterator *iterator, const char *pathToFile,
                                       unsigned int flags)
{
    return runtime_error(cuLogsDumpToFile(iterator, pathToFile, flags));
}

cudaError_t runtime_cudaLogsDumpToMemory(cudaLogIterator *iterator, char *buffer, size_t *size,
                                         unsigned int flags)
{
    return runtime_error(cuLogsDumpToMemory(iterator, buffer, size, flags));
}
