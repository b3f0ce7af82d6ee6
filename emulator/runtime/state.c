/* State per process and per thread, and the beginning and the end of every call. */
#include "emulator/driver/driver.h"
#include "emulator/runtime/error.h"
#include "emulator/runtime/runtime.h"

#include <pthread.h>

/* State of the process. The runtime retains one primary context per device, from its first use
 * until cudaDeviceReset. */
#define MAX_DEVICES 64

static struct {
    pthread_mutex_t lock;
    bool ready; /* cuInit has succeeded; atomic */
    struct {
        CUcontext context;
        bool retained;
    } primary[MAX_DEVICES];
} runtime = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
    int device;
    bool chosen;       /* by cudaSetDevice */
    CUcontext adopted; /* context that the runtime, not the submission, made current */
    enum runtime_default_stream default_stream;
} thread;

cudaError_t runtime_error(CUresult result)
{
    return runtime_is_error((int)result) ? (cudaError_t)result : cudaErrorUnknown;
}

/* ---- contexts -------------------------------------------------------------------------------- */

/* Calls cuInit once. In a child forked after that the driver's functions refuse by themselves. */
static CUresult make_ready(void)
{
    if (__atomic_load_n(&runtime.ready, __ATOMIC_ACQUIRE)) return CUDA_SUCCESS;
    CUresult result = cuInit(0);
    if (result == CUDA_SUCCESS) result = runtime_know_devices();
    if (result == CUDA_SUCCESS) __atomic_store_n(&runtime.ready, true, __ATOMIC_RELEASE);
    return result;
}

bool runtime_has_started(void)
{
    return __atomic_load_n(&runtime.ready, __ATOMIC_ACQUIRE);
}

void runtime_start(void)
{
    if (overlap_call_permitted() && !overlap_forked()) make_ready();
}

static CUresult retain_primary(int device, CUcontext *context)
{
    CUresult result = CUDA_SUCCESS;
    if (device < 0 || device >= MAX_DEVICES) return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&runtime.lock);
    /* Somebody else may have released or reset it for good. */
    if (!runtime.primary[device].retained || !overlap_primary_alive(device)) {
        result = cuDevicePrimaryCtxRetain(&runtime.primary[device].context, device);
        runtime.primary[device].retained = result == CUDA_SUCCESS;
        /* A device whose context a fault has ended cannot be used again. */
        if (result >= CUDA_ERROR_ILLEGAL_ADDRESS) result = CUDA_ERROR_DEVICE_UNAVAILABLE;
    }
    *context = runtime.primary[device].context;
    pthread_mutex_unlock(&runtime.lock);
    return result;
}

static CUresult release_primary(int device)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&runtime.lock);
    if (runtime.primary[device].retained) {
        runtime.primary[device].retained = false;
        result = cuDevicePrimaryCtxRelease(device);
    }
    pthread_mutex_unlock(&runtime.lock);
    return result;
}

static bool is_retained(int device)
{
    pthread_mutex_lock(&runtime.lock);
    const bool retained = device >= MAX_DEVICES || runtime.primary[device].retained;
    pthread_mutex_unlock(&runtime.lock);
    return retained;
}

CUresult runtime_primary(int device, bool make, CUcontext *context)
{
    if (make || is_retained(device)) return retain_primary(device, context);
    *context = NULL;
    return CUDA_SUCCESS;
}

static CUresult adopt_primary(int device, CUcontext current)
{
    CUcontext primary;
    CUresult result = retain_primary(device, &primary);
    if (result == CUDA_SUCCESS && current != primary) result = cuCtxSetCurrent(primary);
    if (result == CUDA_SUCCESS) thread.adopted = primary;
    return result;
}

/* If another caller retained a primary context and made it current, the runtime retains it as well,
 * as on a GPU (tests/gpu/primary.cu). Contexts created by cuCtxCreate belong to their creator only.
 * Errors of the context are left to the call itself. */
static void keep_primary(CUcontext current)
{
    CUcontext primary;
    CUdevice device;
    unsigned flags;
    int active = 0;
    if (cuCtxGetDevice(&device) != CUDA_SUCCESS || is_retained(device)) return;
    if (cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS || !active) return;
    if (retain_primary(device, &primary) == CUDA_SUCCESS && primary != current)
        release_primary(device);
}

/* Makes a context current for a call. A context that the submission made current stays; one that
 * the runtime made current may have been reset meanwhile by any thread. */
static CUresult make_current(void)
{
    CUcontext current;
    CUresult result = cuCtxGetCurrent(&current);
    if (result != CUDA_SUCCESS) return result;
    if (current == NULL || current == thread.adopted) return adopt_primary(thread.device, current);
    keep_primary(current);
    return CUDA_SUCCESS;
}

cudaError_t runtime_use_device(int device)
{
    CUcontext current;
    CUdevice handle;
    CUresult result = cuDeviceGet(&handle, device);
    if (result == CUDA_SUCCESS) result = cuCtxGetCurrent(&current);
    if (result == CUDA_SUCCESS) result = adopt_primary(device, current);
    if (result != CUDA_SUCCESS) return runtime_error(result);
    thread.device = device;
    thread.chosen = true;
    return cudaSuccess;
}

void runtime_prefer_device(int device)
{
    if (!thread.chosen) thread.device = device;
}

int runtime_device(void)
{
    CUcontext current;
    CUdevice device;
    if (!__atomic_load_n(&runtime.ready, __ATOMIC_ACQUIRE) ||
        cuCtxGetCurrent(&current) != CUDA_SUCCESS || current == NULL || current == thread.adopted ||
        cuCtxGetDevice(&device) != CUDA_SUCCESS)
        return thread.device;
    return device;
}

cudaError_t runtime_reset_device(int device)
{
    CUresult result = cuDevicePrimaryCtxReset(device);
    if (result != CUDA_SUCCESS || device >= MAX_DEVICES) return runtime_error(result);
    /* The ended context stays current, as on a GPU, until a call needs one. */
    return runtime_error(release_primary(device));
}

bool runtime_is_reset(CUcontext context)
{
    return context != NULL && context == thread.adopted && !overlap_primary_alive(thread.device);
}

cudaError_t runtime_start_device(int device)
{
    CUcontext primary;
    return runtime_error(retain_primary(device, &primary));
}

/* ---- calls ----------------------------------------------------------------------------------- */

CUstream runtime_stream(cudaStream_t stream)
{
    if (stream != NULL) return stream;
    return thread.default_stream == RUNTIME_PER_THREAD ? CU_STREAM_PER_THREAD : NULL;
}

bool runtime_per_thread(void)
{
    return thread.default_stream == RUNTIME_PER_THREAD;
}

cudaError_t runtime_enter(const char *name, const void *caller, enum runtime_needs needs,
                          enum runtime_default_stream stream)
{
    overlap_call_enter(name, caller, needs == RUNTIME_ASYNC ? OVERLAP_CALL_ASYNC : 0);
    thread.default_stream = stream;
    if (needs == RUNTIME_ANY || (needs == RUNTIME_KNOWN && runtime_has_started())) {
        runtime_start();
        return runtime_error((CUresult)overlap_call_fault());
    }
    if (!overlap_call_permitted()) return cudaErrorNotPermitted;
    if (needs == RUNTIME_HERE && overlap_forked()) return cudaErrorInitializationError;
    if (needs == RUNTIME_HERE) {
        runtime_start();
        return runtime_error((CUresult)overlap_call_fault());
    }
    CUresult result = make_ready();
    if (result == CUDA_SUCCESS && needs >= RUNTIME_CURRENT) result = make_current();
    if (result == CUDA_SUCCESS) result = (CUresult)overlap_call_fault();
    return runtime_error(result);
}

cudaError_t runtime_leave(cudaError_t error)
{
    runtime_keep_error(error);
    return (cudaError_t)overlap_call_leave((int)error);
}
