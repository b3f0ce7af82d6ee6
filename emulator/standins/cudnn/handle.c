/* Handles, the version, and the sentences of statuses. */
#include "emulator/standins/cudnn/dnn.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* ---- handles -----------------------------------------------------------------------------------
 */

static enum dnn_status create(struct cudnnContext **made)
{
    if (made == NULL) return DNN_NULL_POINTER;
    if (standin_met(standin_context()) != CUDA_SUCCESS) return DNN_NOT_INITIALIZED;
    *made = calloc(1, sizeof **made);
    return *made == NULL ? DNN_ALLOC_FAILED : DNN_SUCCESS;
}

STANDIN_PUBLIC int cudnnCreate(struct cudnnContext **made)
{
    standin_call_begin("cudnnCreate", __builtin_return_address(0));
    const enum dnn_status status = create(made);
    standin_call_end(status == DNN_SUCCESS, CUDA_ERROR_INVALID_VALUE);
    return (int)status;
}

STANDIN_PUBLIC int cudnnDestroy(struct cudnnContext *handle)
{
    free(handle);
    return handle == NULL ? DNN_NULL_POINTER : DNN_SUCCESS;
}

STANDIN_PUBLIC int cudnnSetStream(struct cudnnContext *handle, CUstream stream)
{
    if (handle == NULL) return DNN_NULL_POINTER;
    handle->stream = stream;
    return DNN_SUCCESS;
}

STANDIN_PUBLIC int cudnnGetStream(const struct cudnnContext *handle, CUstream *stream)
{
    if (handle == NULL || stream == NULL) return DNN_NULL_POINTER;
    *stream = handle->stream;
    return DNN_SUCCESS;
}

/* ---- of the library ----------------------------------------------------------------------------
 */

STANDIN_PUBLIC size_t cudnnGetVersion(void)
{
    return DNN_MAJOR * 10000 + DNN_MINOR * 100 + DNN_PATCH;
}

STANDIN_PUBLIC size_t cudnnGetMaxDeviceVersion(void)
{
    return cudnnGetVersion();
}

STANDIN_PUBLIC size_t cudnnGetCudartVersion(void)
{
    int version = 0;
    return cudaRuntimeGetVersion(&version) == cudaSuccess ? (size_t)version : 0;
}

STANDIN_PUBLIC int cudnnGetProperty(int which, int *value)
{
    static const int parts[] = {DNN_MAJOR, DNN_MINOR, DNN_PATCH};
    if (which < 0 || which > 2 || value == NULL) return DNN_BAD_PARAM;
    *value = parts[which];
    return DNN_SUCCESS;
}

/* The parts of NVIDIA's library ask each other whether they fit together. There are no parts. */
#define FITS(part)                                                                                 \
    STANDIN_PUBLIC int cudnn##part##VersionCheck(void)                                             \
    {                                                                                              \
        return DNN_SUCCESS;                                                                        \
    }
FITS(Graph)
FITS(Ops)
FITS(Cnn)
FITS(Adv)

/* None can be made, so it is one that could not. */
STANDIN_PUBLIC int cudnnBackendDestroyDescriptor(void *descriptor)
{
    (void)descriptor;
    return DNN_SUCCESS;
}

/* ---- statuses ----------------------------------------------------------------------------------
 */

STANDIN_PUBLIC const char *cudnnGetErrorString(int status)
{
    static const struct {
        enum dnn_status status;
        const char *name;
    } names[] = {
        {DNN_SUCCESS, "CUDNN_STATUS_SUCCESS"},
        {DNN_NOT_INITIALIZED, "CUDNN_STATUS_NOT_INITIALIZED"},
        {DNN_BAD_PARAM, "CUDNN_STATUS_BAD_PARAM"},
        {DNN_NULL_POINTER, "CUDNN_STATUS_BAD_PARAM_NULL_POINTER"},
        {DNN_NOT_SUPPORTED, "CUDNN_STATUS_NOT_SUPPORTED"},
        {DNN_INTERNAL_ERROR, "CUDNN_STATUS_INTERNAL_ERROR"},
        {DNN_ALLOC_FAILED, "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED"},
        {DNN_EXECUTION_FAILED, "CUDNN_STATUS_EXECUTION_FAILED"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((int)names[i].status == status) return names[i].name;
    return "CUDNN_UNKNOWN_STATUS";
}

/* Asked after a function that has named itself. */
STANDIN_PUBLIC void cudnnGetLastErrorString(char *message, size_t size)
{
    static const char text[] = "the stand-in for cuDNN has handles, and computes nothing";
    if (message == NULL || size == 0) return;
    const size_t length = sizeof text - 1 < size - 1 ? sizeof text - 1 : size - 1;
    memcpy(message, text, length);
    message[length] = '\0';
}
