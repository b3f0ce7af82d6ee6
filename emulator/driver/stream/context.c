/* Contexts: creation, the stack of current contexts per thread, primary contexts, destruction. */
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/findings/handle.h"
#include "emulator/driver/stream/parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    FLAGS_KNOWN = CU_CTX_SCHED_MASK | CU_CTX_MAP_HOST | CU_CTX_LMEM_RESIZE_TO_MAX |
                  CU_CTX_COREDUMP_ENABLE | CU_CTX_USER_COREDUMP_ENABLE | CU_CTX_SYNC_MEMOPS,
    PRIORITY_LEAST = 0,
    PRIORITY_GREATEST = -5,
};

/* ---- life -------------------------------------------------------------------------------- */

static const struct {
    CUlimit limit;
    size_t initial;
    CUresult set; /* what cuCtxSetLimit returns */
    size_t most;
} limits[] = {
    /* Local memory per thread: an H200's driver keeps some of the 512 KiB. */
    {CU_LIMIT_STACK_SIZE, 1024, CUDA_SUCCESS, (512 << 10) - 576},
    {CU_LIMIT_PRINTF_FIFO_SIZE, 132 * (64 << 10), CUDA_SUCCESS, SIZE_MAX}, /* by multiprocessor */
    {CU_LIMIT_MALLOC_HEAP_SIZE, 8 << 20, CUDA_SUCCESS, SIZE_MAX},
    {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048, CUDA_SUCCESS, SIZE_MAX},
    {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64, CUDA_SUCCESS, 128},
    {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0, CUDA_SUCCESS, SIZE_MAX},
    {CU_LIMIT_SHMEM_SIZE, 227 << 10, CUDA_ERROR_NOT_PERMITTED, 0}, /* graphics only */
    {CU_LIMIT_CIG_ENABLED, 0, CUDA_ERROR_NOT_PERMITTED, 0},
};

/* Returns true if all flags are known and at most one way of waiting is chosen. */
static bool flags_known(unsigned flags)
{
    const unsigned wait = flags & CU_CTX_SCHED_MASK;
    return (flags & ~(unsigned)FLAGS_KNOWN) == 0 && (wait & (wait - 1)) == 0;
}

/* Starts `context`, which is zero but for its flags and device. */
static CUresult context_start(struct context *context, bool implicit)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        context->limits[limits[i].limit] = limits[i].initial;
    context->number = ++driver.contexts;
    context->time = timeline_context_create(driver.timeline, (unsigned)context->device);
    if (context->time == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    object_add(&context->object, OBJECT_CONTEXT);
    context->alive = true;
    trace_object(&context->object, TRACE_CREATE, TRACE_CONTEXT, implicit ? TRACE_IMPLICIT : 0);
    context->legacy = stream_make(context, TIMELINE_LEGACY, CU_STREAM_DEFAULT, 0, true);
    if (context->legacy == NULL) {
        timeline_context_destroy(context->time);
        object_remove(&context->object);
        context->alive = false;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    thread_spend_exclusively(timeline_model->context_create);
    return CUDA_SUCCESS;
}

static void (*release_memory)(const struct context *context);

void context_memory_is_of(void (*release)(const struct context *context))
{
    release_memory = release;
}

/* Registered memory may have been freed by now, so pending work must not access it. */
static bool has_registered_memory(void)
{
    for (size_t i = 0; i < memory_count(); i++)
        if (memory_at(i)->registered && memory_at(i)->ended == 0) return true;
    return false;
}

void context_run_unseen(struct context *context)
{
    if (!findings_watching() || driver.failed != CUDA_SUCCESS || has_registered_memory()) return;
    driver.ending = true;
    if (context == NULL)
        timeline_run_rest(driver.timeline);
    else
        timeline_context_run_rest(context->time);
}

/* What the work does to the process, if it fails, has no effect either. */
static void run_rest_of(struct context *context)
{
    const bool ending = driver.ending, lost = driver.lost;
    const CUresult failed = driver.failed;
    if (context->sticky == CUDA_SUCCESS) context_run_unseen(context);
    driver.ending = ending;
    driver.lost = lost;
    driver.failed = failed;
}

static void context_end(struct context *context, bool implicit)
{
    findings_context_ends(context);
    run_rest_of(context);
    timeline_context_abandon(context->time);
    findings_context_abandoned(context);
    while (context->objects != NULL) context->objects->end(context->objects, true);
    release_memory(context);
    timeline_op_release(context->gate);
    context->gate = NULL;
    timeline_context_destroy(context->time);
    context->time = NULL;
    context->legacy = NULL;
    context->alive = false;
    if (context->primary) driver.primary[context->device].flags = context->flags = 0;
    context->object.ended = (uint64_t)(uintptr_t)thread.call.caller;
    context->sticky = CUDA_SUCCESS;
    trace_object(&context->object, TRACE_DESTROY, TRACE_CONTEXT, implicit ? TRACE_IMPLICIT : 0);
    thread_spend_exclusively(timeline_model->context_destroy);
    pthread_cond_broadcast(&driver.changed);
}

void context_fail(struct context *context, CUresult code)
{
    context_lose(context, code);
    if (driver.failed == CUDA_SUCCESS) driver.failed = code;
}

void context_lose(struct context *context, CUresult code)
{
    if (context->sticky == CUDA_SUCCESS) context->sticky = code;
    driver.lost = true;
    timeline_context_abandon(context->time);
    findings_context_abandoned(context);
}

CUresult context_check(const struct context *context)
{
    if (context->alive) return CUDA_SUCCESS;
    struct trace_record found =
        finding_at_call(FINDING_CONTEXT_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    finding_object(&found, 0, &context->object);
    finding_put(&found);
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult context_find(CUcontext handle, struct context **context)
{
    *context = object_find(handle, OBJECT_CONTEXT);
    return *context != NULL ? context_check(*context) : CUDA_ERROR_INVALID_CONTEXT;
}

/* Finds the context that becomes current. As on a GPU a destroyed context can become current, and
 * every call that works in it fails; the finding is reported here already. */
static CUresult context_known(CUcontext handle, struct context **context)
{
    *context = object_find(handle, OBJECT_CONTEXT);
    if (*context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
    context_check(*context);
    return CUDA_SUCCESS;
}

/* ---- the stack --------------------------------------------------------------------------- */

static CUresult stack_push(struct context *context)
{
    if (thread.depth_of_stack == thread.room_of_stack) {
        size_t room = thread.room_of_stack ? thread.room_of_stack * 2 : 8;
        struct context **stack = reallocarray(thread.stack, room, sizeof *stack);
        if (stack == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
        thread.stack = stack;
        thread.room_of_stack = room;
    }
    thread.stack[thread.depth_of_stack++] = context;
    thread.call.context = context->object.id;
    return CUDA_SUCCESS;
}

CUresult driver_cuCtxPushCurrent(CUcontext ctx)
{
    struct context *context;
    NEED_POINTER(ctx);
    TRY(context_known(ctx, &context));
    return stack_push(context);
}

CUresult driver_cuCtxPopCurrent(CUcontext *pctx)
{
    struct context *top = thread_context();
    if (top == NULL) return CUDA_ERROR_INVALID_CONTEXT;
    thread.call.context = top->object.id;
    if (pctx != NULL) *pctx = (CUcontext)top;
    thread.depth_of_stack--;
    return CUDA_SUCCESS;
}

CUresult driver_cuCtxSetCurrent(CUcontext ctx)
{
    struct context *context;
    if (ctx == NULL) {
        if (thread.depth_of_stack > 0) thread.depth_of_stack--;
        return CUDA_SUCCESS;
    }
    TRY(context_known(ctx, &context));
    if (thread.depth_of_stack > 0) thread.depth_of_stack--;
    return stack_push(context);
}

CUresult driver_cuCtxGetCurrent(CUcontext *pctx)
{
    NEED_POINTER(pctx);
    *pctx = (CUcontext)thread_context();
    return CUDA_SUCCESS;
}

/* ---- create and destroy ------------------------------------------------------------------ */

CUresult driver_cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    NEED_POINTER(pctx);
    NEED_DEVICE(dev);
    if (!flags_known(flags)) return CUDA_ERROR_INVALID_VALUE;
    if (driver.failed != CUDA_SUCCESS) return driver.failed; /* as an H100 does */
    wait_for_others_on_gpus(dev, NULL);
    struct context *context = calloc(1, sizeof *context);
    if (context == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    context->flags = flags;
    context->device = dev;
    CUresult code = context_start(context, false);
    if (code != CUDA_SUCCESS) {
        free(context);
        return code;
    }
    TRY(stack_push(context));
    *pctx = (CUcontext)context;
    return CUDA_SUCCESS;
}

CUresult driver_cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
                               unsigned int flags, CUdevice dev)
{
    if (paramsArray != NULL || numParams != 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return driver_cuCtxCreate_v2(pctx, flags, dev);
}

CUresult driver_cuCtxCreate(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags,
                            CUdevice dev)
{
    if (ctxCreateParams != NULL && ctxCreateParams->numExecAffinityParams != 0)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    if (ctxCreateParams != NULL && ctxCreateParams->cigParams != NULL)
        return CUDA_ERROR_NOT_SUPPORTED;
    return driver_cuCtxCreate_v2(pctx, flags, dev);
}

CUresult driver_cuCtxDestroy(CUcontext ctx)
{
    struct context *context;
    NEED_POINTER(ctx);
    /* With none current, an H200 does not say that this one was destroyed before. */
    const CUresult code = context_find(ctx, &context);
    if (code != CUDA_SUCCESS && thread_context() == NULL) return CUDA_ERROR_INVALID_CONTEXT;
    TRY(code);
    if (context->primary) return CUDA_ERROR_INVALID_CONTEXT; /* released, never destroyed */
    thread.call.context = context->object.id;
    wait_for_others_on_gpus(context->device, context);
    if (!context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    context_end(context, false);
    /* Removed from the caller's stack only; in other threads it stays current, and its use is
     * reported. */
    if (thread_context() == context) thread.depth_of_stack--;
    return CUDA_SUCCESS;
}

CUresult driver_cuCtxAttach(CUcontext *pctx, unsigned int flags)
{
    NEED_POINTER(pctx);
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    thread_context()->attached++;
    *pctx = (CUcontext)thread_context();
    return CUDA_SUCCESS;
}

CUresult driver_cuCtxDetach(CUcontext ctx)
{
    struct context *context;
    TRY(context_find(ctx, &context));
    if (thread_context() != context) return CUDA_ERROR_INVALID_CONTEXT;
    if (context->attached == 0) return driver_cuCtxDestroy(ctx);
    context->attached--;
    thread.call.context = context->object.id;
    return CUDA_SUCCESS;
}

/* ---- the primary context ----------------------------------------------------------------- */

CUresult driver_cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    NEED_POINTER(pctx);
    NEED_DEVICE(dev);
    struct context **primary = &driver.primary[dev].context;
    if (*primary == NULL) {
        *primary = calloc(1, sizeof **primary);
        if (*primary == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
        (*primary)->primary = true;
    }
    if (!(*primary)->alive) {
        if (driver.failed != CUDA_SUCCESS) return driver.failed; /* as for any new context */
        if (object_live(*primary) != NULL) object_remove(&(*primary)->object);
        **primary =
            (struct context){.primary = true, .device = dev, .flags = driver.primary[dev].flags};
        TRY(context_start(*primary, true));
    }
    driver.primary[dev].count++;
    *pctx = (CUcontext)*primary;
    return CUDA_SUCCESS;
}

/* The device's live primary context; NULL: there is none. */
static struct context *primary_alive(CUdevice dev)
{
    struct context *primary = driver.primary[dev].context;
    return primary != NULL && primary->alive ? primary : NULL;
}

bool overlap_primary_alive(int device)
{
    driver_lock();
    const bool alive = primary_alive(device) != NULL;
    driver_unlock();
    return alive;
}

CUresult driver_cuDevicePrimaryCtxRelease(CUdevice dev)
{
    NEED_DEVICE(dev);
    if (driver.primary[dev].count == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--driver.primary[dev].count > 0) return CUDA_SUCCESS;
    if (primary_alive(dev) != NULL) context_end(primary_alive(dev), true);
    return CUDA_SUCCESS;
}

CUresult driver_cuDevicePrimaryCtxReset(CUdevice dev)
{
    NEED_DEVICE(dev);
    if (primary_alive(dev) != NULL) context_end(primary_alive(dev), true);
    return CUDA_SUCCESS;
}

CUresult driver_cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
    NEED_DEVICE(dev);
    if (!flags_known(flags) || (flags & CU_CTX_MAP_HOST) != 0) return CUDA_ERROR_INVALID_VALUE;
    driver.primary[dev].flags = flags;
    struct context *primary = primary_alive(dev);
    if (primary !=
        NULL) /* what a context writes when a kernel fails stays decided, as on an H200 */
        primary->flags = flags | (primary->flags & CU_CTX_COREDUMP_ENABLE);
    return CUDA_SUCCESS;
}

CUresult driver_cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
    NEED_POINTER(flags);
    NEED_POINTER(active);
    NEED_DEVICE(dev);
    *flags = driver.primary[dev].flags;
    *active = primary_alive(dev) != NULL;
    return CUDA_SUCCESS;
}

/* ---- queries ----------------------------------------------------------------------------- */

/* The context of a handle, or the current one for NULL. */
static CUresult context_or_current(CUcontext handle, struct context **context)
{
    if (handle != NULL) return context_find(handle, context);
    *context = thread_context();
    if (*context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
    return context_check(*context);
}

CUresult driver_cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
    struct context *context;
    NEED_POINTER(ctxId);
    TRY(context_or_current(ctx, &context));
    *ctxId = context->number;
    return CUDA_SUCCESS;
}

/* Since CUDA 3.2, whose cuCtxCreate every later one still is. */
enum { API_VERSION = 3020 };

CUresult driver_cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
    struct context *context;
    NEED_POINTER(version);
    /* Unlike for other calls, a GPU's driver does not report a destroyed context here. */
    const CUresult code = context_or_current(ctx, &context);
    if (code != CUDA_SUCCESS) return ctx != NULL ? CUDA_ERROR_INVALID_CONTEXT : code;
    *version = API_VERSION;
    return CUDA_SUCCESS;
}

CUresult driver_cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
    struct context *context;
    NEED_POINTER(device);
    TRY(context_or_current(ctx, &context));
    *device = context->device;
    return CUDA_SUCCESS;
}

CUresult driver_cuCtxGetDevice(CUdevice *device)
{
    NEED_POINTER(device);
    /* As cuCtxGetFlags. */
    const struct context *context = thread_context();
    if (context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
    *device = context->device;
    return CUDA_SUCCESS;
}

CUresult driver_cuCtxSynchronize_v2(CUcontext ctx)
{
    struct context *context;
    TRY(context_or_current(ctx, &context));
    thread.call.context = context->object.id;
    TRY(capture_check_context(context));
    TRY(capture_check_unsafe());
    if (context->sticky != CUDA_SUCCESS) return context->sticky;
    uint64_t end = timeline_context_finish(context->time);
    findings_host_waited();
    if (!context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    thread_wait_for_device(end);
    return context->sticky;
}

CUresult driver_cuCtxSynchronize(void)
{
    return driver_cuCtxSynchronize_v2(NULL);
}

CUresult driver_cuCtxGetFlags(unsigned int *flags)
{
    struct context *context;
    NEED_POINTER(flags);
    /* A GPU's driver answers this for a destroyed context that is still current as well. */
    context = thread_context();
    if (context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
    *flags = context->flags | (context->primary && context->alive ? CU_CTX_MAP_HOST : 0u);
    return CUDA_SUCCESS;
}

CUresult driver_cuCtxSetFlags(unsigned int flags)
{
    if (!flags_known(flags)) return CUDA_ERROR_INVALID_VALUE;
    thread_context()->flags = flags & ~(unsigned)CU_CTX_MAP_HOST; /* as an H200 does */
    return CUDA_SUCCESS;
}

/* Returns true if the limit can no longer change: kernels that print or allocate fix it. A heap
 * that was never used is released, to be made anew. */
static bool is_settled(struct context *context, CUlimit limit)
{
    if (limit == CU_LIMIT_PRINTF_FIFO_SIZE) return context->has_printed;
    if (limit == CU_LIMIT_MALLOC_HEAP_SIZE && context->has_taken) return true;
    if (limit != CU_LIMIT_MALLOC_HEAP_SIZE || context->heap == NULL) return false;
    static const unsigned char unused[16];
    if (memcmp(context->heap->bytes, unused, sizeof unused) != 0) return true;
    memory_release(context->heap, (uint64_t)(uintptr_t)thread.call.caller);
    context->heap = NULL;
    return false;
}

/* Rounds a requested limit in bytes as an H200 does. The part of the L2 cache for persisting lines
 * is a hint that "can be ignored or clamped": no more is kept than the device says it has. */
static size_t limit_kept(CUlimit limit, size_t value)
{
    if (limit == CU_LIMIT_PERSISTING_L2_CACHE_SIZE) {
        const size_t most = (size_t)device_says(thread_context()->device,
                                                CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
        return value < most ? value : most;
    }
    const size_t least_print = 512 << 10, most_print = (size_t)2 << 30, least_heap = 4 << 20,
                 heap_unit = 64 << 10;
    if (limit == CU_LIMIT_STACK_SIZE) return (value + 15) & ~(size_t)15;
    if (limit == CU_LIMIT_MALLOC_HEAP_SIZE)
        return value < least_heap ? least_heap : (value + heap_unit - 1) & ~(heap_unit - 1);
    if (limit != CU_LIMIT_PRINTF_FIFO_SIZE) return value;
    if (value < least_print) return least_print;
    return value > most_print ? most_print : (value + 255) & ~(size_t)255;
}

CUresult driver_cuCtxSetLimit(CUlimit limit, size_t value)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].limit != limit) continue;
        if (limits[i].set != CUDA_SUCCESS) return limits[i].set;
        if (value > limits[i].most || is_settled(thread_context(), limit))
            return CUDA_ERROR_INVALID_VALUE;
        if (limit == CU_LIMIT_STACK_SIZE && value > thread_context()->limits[limit])
            TRY(wait_for_context_on_gpus(thread_context()));
        thread_context()->limits[limit] = limit_kept(limit, value);
        return CUDA_SUCCESS;
    }
    return (int)limit >= 0 && limit < CU_LIMIT_MAX ? CUDA_ERROR_UNSUPPORTED_LIMIT
                                                   : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    NEED_POINTER(pvalue);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].limit != limit) continue;
        *pvalue = thread_context()->limits[limit];
        return CUDA_SUCCESS;
    }
    return (int)limit >= 0 && limit < CU_LIMIT_MAX ? CUDA_ERROR_UNSUPPORTED_LIMIT
                                                   : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
    NEED_POINTER(pconfig);
    *pconfig = thread_context()->cache;
    return CUDA_SUCCESS;
}

CUresult driver_cuCtxSetCacheConfig(CUfunc_cache config)
{
    if ((int)config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL)
        return CUDA_ERROR_INVALID_VALUE;
    thread_context()->cache = config;
    return CUDA_SUCCESS;
}

CUresult driver_cuCtxGetSharedMemConfig(CUsharedconfig *pConfig)
{
    NEED_POINTER(pConfig);
    *pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE; /* true of every device since Maxwell */
    return CUDA_SUCCESS;
}

CUresult driver_cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    if ((int)config < 0 || config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS; /* accepted, without effect */
}

CUresult driver_cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    if (leastPriority != NULL) *leastPriority = PRIORITY_LEAST;
    if (greatestPriority != NULL) *greatestPriority = PRIORITY_GREATEST;
    return CUDA_SUCCESS;
}

CUresult driver_cuCtxResetPersistingL2Cache(void)
{
    return CUDA_SUCCESS; /* there is no cache to reset */
}

/* ---- profilers: no effect ---------------------------------------------------------------- */

CUresult driver_cuProfilerInitialize(const char *configFile, const char *outputFile,
                                     CUoutput_mode outputMode)
{
    (void)configFile;
    (void)outputFile;
    (void)outputMode;
    return CUDA_SUCCESS;
}

CUresult driver_cuProfilerStart(void)
{
    return CUDA_SUCCESS;
}

CUresult driver_cuProfilerStop(void)
{
    return CUDA_SUCCESS;
}
