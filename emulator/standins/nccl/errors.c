/* Results, their sentences, and findings. */
#include <stdarg.h>
#include <stdio.h>

#include "emulator/standins/nccl/comm.h"

enum { SENTENCE = 512 };

/* The latest failure's, of the calling thread. */
static _Thread_local char last[SENTENCE];

static const char *const sentences[NCCL_RESULTS] = {
    [NCCL_SUCCESS] = "no error",
    [NCCL_CUDA_ERROR] = "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
    [NCCL_SYSTEM_ERROR] = "unhandled system error (run with NCCL_DEBUG=INFO for details)",
    [NCCL_INTERNAL_ERROR] = "internal error - please report this issue to the NCCL developers",
    [NCCL_INVALID_ARGUMENT] = "invalid argument (run with NCCL_DEBUG=WARN for details)",
    [NCCL_INVALID_USAGE] = "invalid usage (run with NCCL_DEBUG=WARN for details)",
    [NCCL_REMOTE_ERROR] = "remote process exited or there was a network error",
    [NCCL_IN_PROGRESS] = "NCCL operation in progress",
};

STANDIN_PUBLIC const char *ncclGetErrorString(int result)
{
    return result >= 0 && result < NCCL_RESULTS ? sentences[result] : "unknown result code";
}

STANDIN_PUBLIC const char *ncclGetLastError(const struct ncclComm *comm)
{
    (void)comm;
    return last;
}

enum nccl_result nccl_fail(enum nccl_result result, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(last, sizeof last, format, list);
    va_end(list);
    return result;
}

enum nccl_result nccl_misuse(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(last, sizeof last, format, list);
    va_end(list);
    standin_misused(last);
    return NCCL_INVALID_USAGE;
}

enum nccl_result nccl_given_up(void)
{
    return nccl_fail(NCCL_REMOTE_ERROR, "a rank of the communicator has given up");
}

enum nccl_result nccl_usable(const struct ncclComm *comm)
{
    if (comm == NULL) return nccl_fail(NCCL_INVALID_ARGUMENT, "the communicator is NULL");
    return comm->segment != NULL ? NCCL_SUCCESS
                                 : nccl_misuse("rank %u of a communicator of %u is used, which has "
                                               "ended (ncclCommDestroy, ncclCommAbort) or is not "
                                               "made yet (before ncclGroupEnd)",
                                               comm->rank, comm->ranks);
}

enum nccl_result nccl_of_cuda(CUresult error)
{
    const char *name = "an error";
    if (standin_met(error) == CUDA_SUCCESS) return NCCL_SUCCESS;
    cuGetErrorName(error, &name);
    return nccl_fail(NCCL_CUDA_ERROR, "the device answers %s", name);
}
