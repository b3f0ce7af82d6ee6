/* Promises of libcudart.so.13: nothing starts before it is needed; errors are kept and cleared as
 * documented; the runtime uses the thread's context or the primary one; registered modules are
 * loaded into each context; unsupported calls say so. Every test has a process of its own. */
#include "trace/trace.h"

#include <check.h>
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OK(call) ck_assert_str_eq(cudaGetErrorName(call), "cudaSuccess")
#define GIVES(call, error) ck_assert_str_eq(cudaGetErrorName(call), #error)
#define DRIVER_OK(call) ck_assert_int_eq(call, CUDA_SUCCESS)

/* From crt/host_runtime.h, which only the compiler may include. */
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                            int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t size, int constant, int global);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *symbol);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared, cudaStream_t stream);

/* ---- registration by hand ---------------------------------------------------------------- */

struct wrapper {
    uint32_t magic, version;
    const void *container;
    void *file_name;
};

/* Stand for the host's functions and variables, which are identified by their addresses. */
static char host_add, host_bounded, host_missing, host_variable, host_constant;

static void *load_file(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", IMAGES, name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    void *bytes = malloc(size);
    ck_assert_uint_eq(fread(bytes, 1, size, file), size);
    fclose(file);
    return bytes;
}

static void **register_image(const char *name)
{
    static struct wrapper wrapper;
    static dim3 *const none = NULL;
    wrapper = (struct wrapper){0x466243b1, 1, load_file(name), NULL};
    void **handle = __cudaRegisterFatBinary(&wrapper);
    ck_assert_ptr_nonnull(handle);
    __cudaRegisterFunction(handle, &host_add, NULL, "runtime_add", -1, NULL, NULL, none, none,
                           NULL);
    __cudaRegisterFunction(handle, &host_bounded, NULL, "runtime_bounded", -1, NULL, NULL, none,
                           none, NULL);
    __cudaRegisterFunction(handle, &host_missing, NULL, "nobody", -1, NULL, NULL, none, none, NULL);
    __cudaRegisterVar(handle, &host_variable, NULL, "runtime_variable_a", 0, 4, 0, 0);
    __cudaRegisterVar(handle, &host_constant, NULL, "runtime_constant", 0, 12, 1, 0);
    __cudaRegisterFatBinaryEnd(handle);
    return handle;
}

static const dim3 one = {1, 1, 1}, four = {4, 1, 1};

static cudaError_t launch_add(int *x, int value)
{
    void *arguments[] = {&x, &value};
    return cudaLaunchKernel(&host_add, one, four, arguments, 0, NULL);
}

static void launch_as_the_stub_does(void **arguments)
{
    cudaKernel_t kernel = NULL;
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    OK(__cudaGetKernel(&kernel, &host_add));
    OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    OK(__cudaLaunchKernel(kernel, grid, block, arguments, shared, stream));
}

static void assert_adds(int value, int wanted)
{
    int *x, host[4] = {0};
    OK(cudaMalloc((void **)&x, sizeof host));
    OK(cudaMemset(x, 0, sizeof host));
    OK(launch_add(x, value));
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4; i++) ck_assert_int_eq(host[i], wanted);
    OK(cudaFree(x));
}

START_TEST(a_registered_kernel_is_launched)
{
    void **handle = register_image("kernels.fatbin");
    assert_adds(5, 16);
    int *x, host[4], value = 3;
    void *arguments[] = {&x, &value};
    OK(cudaMalloc((void **)&x, sizeof host));
    OK(cudaMemset(x, 0, sizeof host));
    ck_assert_uint_eq(__cudaPushCallConfiguration(one, four, 0, NULL), 0);
    launch_as_the_stub_does(arguments);
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    ck_assert_int_eq(host[3], 14);
    __cudaUnregisterFatBinary(handle);
    GIVES(launch_add(x, 1), cudaErrorInvalidResourceHandle);
}
END_TEST

START_TEST(registering_starts_nothing)
{
    void **handle = register_image("kernels.fatbin");
    unsigned flags;
    int active;
    ck_assert_int_eq(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_ERROR_NOT_INITIALIZED);
    __cudaUnregisterFatBinary(handle);
    ck_assert_int_eq(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_ERROR_NOT_INITIALIZED);
}
END_TEST

/* As with CUDA 13; so a child that is forked afterwards has no CUDA. */
START_TEST(any_call_starts_the_driver)
{
    int count = 0;
    CUcontext current = NULL;
    ck_assert_int_eq(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    ck_assert_str_eq(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
    ck_assert_int_eq(cuDeviceGetCount(&count), CUDA_SUCCESS);
    ck_assert_int_eq(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    ck_assert_ptr_null(current);
    OK(cudaSetDeviceFlags(cudaDeviceScheduleYield)); /* starts the device with them */
    ck_assert_int_eq(cuCtxSynchronize(), CUDA_SUCCESS);
}
END_TEST

START_TEST(each_context_has_its_own_variables)
{
    CUcontext first, second, popped;
    int value = 100;
    register_image("kernels.fatbin");
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuCtxCreate(&first, NULL, 0, 0));
    OK(cudaMemcpyToSymbol(&host_variable, &value, sizeof value, 0, cudaMemcpyHostToDevice));
    assert_adds(0, 100);
    DRIVER_OK(cuCtxCreate(&second, NULL, 0, 0));
    assert_adds(0, 11);
    DRIVER_OK(cuCtxPopCurrent(&popped));
    ck_assert_ptr_eq(popped, second);
    assert_adds(0, 100);
    DRIVER_OK(cuCtxPopCurrent(&popped));
    assert_adds(0, 11); /* the primary one */
    DRIVER_OK(cuCtxDestroy(first));
    DRIVER_OK(cuCtxDestroy(second));
    assert_adds(0, 11);
}
END_TEST

START_TEST(variables_are_bounded)
{
    int value[3] = {7, 8, 9}, host[4], *x;
    void *address;
    size_t size;
    register_image("kernels.fatbin");
    OK(cudaMemcpyToSymbol(&host_constant, &value[1], 4, 4, cudaMemcpyHostToDevice));
    OK(cudaMalloc((void **)&x, sizeof host));
    void *arguments[] = {&x};
    /* As in CUDA 13, this function clears an earlier error when it succeeds. */
    GIVES(cudaSetDevice(99), cudaErrorInvalidDevice);
    OK(cudaFuncSetAttribute(&host_bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, 0));
    OK(cudaPeekAtLastError());
    OK(cudaLaunchKernel(&host_bounded, one, four, arguments, 0, NULL));
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    ck_assert(host[0] == 1 && host[1] == 8 && host[2] == 3 && host[3] == 1);
    OK(cudaGetSymbolSize(&size, &host_constant));
    ck_assert_uint_eq(size, 12);
    OK(cudaGetSymbolAddress(&address, &host_variable));
    OK(cudaMemcpy(host, address, 4, cudaMemcpyDeviceToHost));
    ck_assert_int_eq(host[0], 11);
    GIVES(cudaMemcpyToSymbol(&host_constant, value, 12, 4, cudaMemcpyHostToDevice),
          cudaErrorInvalidValue);
    GIVES(cudaMemcpyFromSymbol(value, &host_constant, 4, SIZE_MAX, cudaMemcpyDeviceToHost),
          cudaErrorInvalidValue);
    GIVES(cudaMemcpyToSymbol(&host_constant, value, 4, 0, cudaMemcpyDeviceToHost),
          cudaErrorInvalidMemcpyDirection);
    GIVES(cudaMemcpyFromSymbol(value, &host_constant, 4, 0, cudaMemcpyHostToDevice),
          cudaErrorInvalidMemcpyDirection);
    GIVES(cudaGetSymbolSize(&size, value), cudaErrorInvalidSymbol);
}
END_TEST

START_TEST(kernels_that_are_not_there)
{
    cudaFunction_t function;
    const char *name;
    register_image("kernels.fatbin");
    GIVES(cudaLaunchKernel(&host_missing, one, four, NULL, 0, NULL),
          cudaErrorInvalidDeviceFunction);
    GIVES(cudaLaunchKernel(NULL, one, four, NULL, 0, NULL), cudaErrorInvalidDeviceFunction);
    GIVES(cudaLaunchKernel("nothing", one, four, NULL, 0, NULL), cudaErrorInvalidResourceHandle);
    GIVES(cudaGetFuncBySymbol(&function, "nothing"), cudaErrorInvalidDeviceFunction);
    GIVES(cudaFuncGetName(&name, "nothing"), cudaErrorInvalidResourceHandle);
    OK(cudaFuncGetName(&name, &host_add));
    ck_assert_str_eq(name, "runtime_add");
    OK(cudaGetFuncBySymbol(&function, &host_add));
    DRIVER_OK(cuFuncGetName(&name, function));
    ck_assert_str_eq(name, "runtime_add");
}
END_TEST

START_TEST(machine_code_alone_is_refused)
{
    int *x;
    register_image("machine.fatbin");
    OK(cudaMalloc((void **)&x, 16));
    GIVES(launch_add(x, 1), cudaErrorNoKernelImageForDevice);
    GIVES(cudaGetLastError(), cudaErrorNoKernelImageForDevice);
    OK(cudaFree(x)); /* and the context still works */
}
END_TEST

START_TEST(configurations_nest)
{
    dim3 grid, block, other = {7, 8, 9};
    size_t shared;
    cudaStream_t stream;
    GIVES(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
          cudaErrorMissingConfiguration);
    for (unsigned i = 0; i < 10; i++)
        ck_assert_uint_eq(__cudaPushCallConfiguration(other, four, i, cudaStreamPerThread), 0);
    for (unsigned i = 10; i-- > 0;) {
        OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
        ck_assert_uint_eq(shared, i);
        ck_assert(grid.y == 8 && block.x == 4 && stream == cudaStreamPerThread);
    }
    GIVES(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
          cudaErrorMissingConfiguration);
}
END_TEST

/* ---- errors ------------------------------------------------------------------------------ */

START_TEST(the_last_error_is_kept_until_it_is_taken)
{
    int *x;
    OK(cudaGetLastError());
    GIVES(cudaMalloc(NULL, 4), cudaErrorInvalidValue);
    OK(cudaMalloc((void **)&x, 4)); /* success does not reset it */
    GIVES(cudaPeekAtLastError(), cudaErrorInvalidValue);
    GIVES(cudaSetDevice(-1), cudaErrorInvalidDevice); /* a later error replaces it */
    GIVES(cudaGetLastError(), cudaErrorInvalidDevice);
    OK(cudaGetLastError());
    OK(cudaFree(x));
}
END_TEST

/* "Not ready" is a result, not an error. */
START_TEST(not_ready_is_no_last_error)
{
    void *x;
    OK(cudaMalloc(&x, 1 << 20));
    OK(cudaMemsetAsync(x, 1, 1 << 20, NULL));
    GIVES(cudaStreamQuery(NULL), cudaErrorNotReady);
    OK(cudaGetLastError());
    OK(cudaFree(x));
}
END_TEST

static void *last_error_of_thread(void *unused)
{
    (void)unused;
    return (void *)cudaGetErrorName(cudaPeekAtLastError());
}

START_TEST(the_last_error_is_the_threads_own)
{
    pthread_t thread;
    void *name;
    GIVES(cudaSetDevice(-1), cudaErrorInvalidDevice);
    ck_assert_int_eq(pthread_create(&thread, NULL, last_error_of_thread, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, &name), 0);
    ck_assert_str_eq(name, "cudaSuccess");
}
END_TEST

START_TEST(error_names_and_sentences_are_the_toolkits)
{
    void *toolkit = dlopen(TOOLKIT_CUDART, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(toolkit != NULL, "%s", dlerror());
    const char *(*name)(int), *(*sentence)(int);
    *(void **)&name = dlsym(toolkit, "cudaGetErrorName");
    *(void **)&sentence = dlsym(toolkit, "cudaGetErrorString");
    ck_assert(name != NULL && sentence != NULL);
    ck_assert_ptr_ne((const void *)name(1), (const void *)cudaGetErrorName(1)); /* two libraries */
    int known = 0;
    for (int code = -2; code < 11000; code++) {
        ck_assert_str_eq(cudaGetErrorName((cudaError_t)code), name(code));
        ck_assert_str_eq(cudaGetErrorString((cudaError_t)code), sentence(code));
        known += strcmp(name(code), name(-1)) != 0;
    }
    ck_assert_int_gt(known, 100);
}
END_TEST

/* ---- contexts ---------------------------------------------------------------------------- */

START_TEST(the_thread_s_context_is_used)
{
    CUcontext mine, primary, current;
    void *x;
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuCtxCreate(&mine, NULL, 0, 0));
    OK(cudaMalloc(&x, 100));
    DRIVER_OK(cuPointerGetAttribute(&current, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)x));
    ck_assert_ptr_eq(current, mine);
    OK(cudaFree(x));
    DRIVER_OK(cuCtxPopCurrent(&current));
    OK(cudaMalloc(&x, 100));
    DRIVER_OK(cuDevicePrimaryCtxRetain(&primary, 0));
    DRIVER_OK(cuPointerGetAttribute(&current, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)x));
    ck_assert_ptr_eq(current, primary);
    DRIVER_OK(cuCtxGetCurrent(&current));
    ck_assert_ptr_eq(current, primary);
    DRIVER_OK(cuCtxPushCurrent(mine));
    OK(cudaSetDevice(0)); /* makes the primary one current */
    DRIVER_OK(cuCtxGetCurrent(&current));
    ck_assert_ptr_eq(current, primary);
    DRIVER_OK(cuCtxDestroy(mine));
}
END_TEST

START_TEST(a_reset_ends_the_primary_context)
{
    unsigned flags;
    int active;
    void *x;
    OK(cudaMalloc(&x, 100));
    DRIVER_OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_int_eq(active, 1);
    OK(cudaDeviceReset());
    DRIVER_OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_int_eq(active, 0);
    OK(cudaMalloc(&x, 100));
    OK(cudaFree(x));
}
END_TEST

static pthread_barrier_t barrier;

static void *use_before_and_after(void *unused)
{
    void *x;
    (void)unused;
    cudaError_t before = cudaMalloc(&x, 10);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    cudaError_t after = cudaMalloc(&x, 10);
    return (void *)(before == cudaSuccess ? cudaGetErrorName(after) : cudaGetErrorName(before));
}

START_TEST(another_thread_goes_on_after_a_reset)
{
    pthread_t thread;
    void *name;
    pthread_barrier_init(&barrier, NULL, 2);
    ck_assert_int_eq(pthread_create(&thread, NULL, use_before_and_after, NULL), 0);
    pthread_barrier_wait(&barrier);
    OK(cudaDeviceReset());
    pthread_barrier_wait(&barrier);
    ck_assert_int_eq(pthread_join(thread, &name), 0);
    ck_assert_str_eq(name, "cudaSuccess");
}
END_TEST

START_TEST(a_child_of_a_process_with_cuda_has_none)
{
    void *x;
    int status;
    OK(cudaMalloc(&x, 100));
    pid_t child = fork();
    if (child == 0) {
        int count;
        bool refused = cudaMalloc(&x, 4) == cudaErrorInitializationError &&
                       cudaGetDevice(&count) == cudaErrorInitializationError &&
                       cudaGetDeviceCount(&count) == cudaSuccess && count == 1;
        _exit(refused ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(a_child_of_a_process_without_cuda_starts_it)
{
    int status;
    void **handle = register_image("kernels.fatbin");
    ck_assert_ptr_nonnull(handle);
    pid_t child = fork();
    if (child == 0) {
        assert_adds(2, 13);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    assert_adds(3, 14);
}
END_TEST

/* ---- devices ----------------------------------------------------------------------------- */

START_TEST(properties_are_the_attributes)
{
    struct cudaDeviceProp prop;
    int value, device = 7;
    char bus[32];
    OK(cudaGetDeviceProperties(&prop, 0));
    ck_assert_int_eq(prop.warpSize, 32);
    ck_assert_int_eq(prop.maxThreadsDim[2], 64);
    ck_assert_int_eq(prop.maxGridSize[1], 65535);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlock, 0));
    ck_assert_uint_eq(prop.sharedMemPerBlock, (size_t)value);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
    ck_assert_int_eq(prop.major, value);
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    OK(cudaDeviceGetByPCIBusId(&device, bus));
    ck_assert_int_eq(device, 0);
    OK(cudaChooseDevice(&device, &prop));
    GIVES(cudaGetDeviceProperties(NULL, 0), cudaErrorInvalidValue);
    GIVES(cudaGetDeviceProperties(&prop, 99), cudaErrorInvalidDevice);
    GIVES(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, -3), cudaErrorInvalidDevice);
    GIVES(cudaSetValidDevices((int[]){5}, 1), cudaErrorInvalidDevice);
    GIVES(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
}
END_TEST

START_TEST(the_device_that_meets_most_is_chosen)
{
    static const struct {
        int major, minor;
        size_t memory, shared;
        int device;
    } rows[] = {{0, 0, 0, 0, 0},       {7, 0, 0, 0, 0},          {7, 5, 0, 0, 0},
                {8, 0, 0, 0, 1},       {9, 0, 0, 0, 1},          {99, 0, 0, 0, 0},
                {0, 0, 1 << 20, 0, 0}, {0, 0, 3ull << 30, 0, 1}, {9, 0, 1 << 20, 1 << 10, 1}};
    setenv("OVERLAP_DEVICES", "t4:2G,h100:4G", 1);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct cudaDeviceProp prop = {.major = rows[k].major,
                                      .minor = rows[k].minor,
                                      .totalGlobalMem = rows[k].memory,
                                      .sharedMemPerBlock = rows[k].shared};
        int device = 7;
        OK(cudaChooseDevice(&device, &prop));
        ck_assert_msg(device == rows[k].device, "row %zu: %d", k, device);
    }
}
END_TEST

START_TEST(limits_and_flags)
{
    size_t value = 0;
    unsigned flags = 0;
    OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    OK(cudaGetDeviceFlags(&flags));
    ck_assert_uint_eq(flags, cudaDeviceScheduleBlockingSync | cudaDeviceMapHost);
    OK(cudaInitDevice(0, 0, 0));
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    OK(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    ck_assert_uint_ge(value, 16 << 20);
    GIVES(cudaDeviceGetLimit(NULL, cudaLimitStackSize), cudaErrorInvalidValue);
    OK(cudaDeviceSetLimit(cudaLimitStackSize, (512 << 10) - 576));
    GIVES(cudaDeviceSetLimit(cudaLimitStackSize, 512 << 10), cudaErrorInvalidValue);
    OK(cudaInitDevice(0, cudaDeviceScheduleYield, 99)); /* bit 0: the flags are valid */
    OK(cudaGetDeviceFlags(&flags));
    ck_assert_uint_eq(flags, cudaDeviceScheduleYield | cudaDeviceMapHost);
    GIVES(cudaDeviceSetLimit((enum cudaLimit)7, 64), cudaErrorNotPermitted);
    OK(cudaDeviceGetLimit(&value, (enum cudaLimit)7));
    OK(cudaProfilerStart());
    OK(cudaProfilerStop());
}
END_TEST

START_TEST(driver_entry_points)
{
    enum cudaDriverEntryPointQueryResult status;
    CUresult (*get_count)(int *) = NULL;
    CUresult (*allocate)(CUdeviceptr *, size_t) = NULL;
    void *function = NULL;
    int count = 0;
    OK(cudaGetDriverEntryPoint("cuDeviceGetCount", (void **)&get_count, cudaEnableDefault,
                               &status));
    ck_assert_int_eq(status, cudaDriverEntryPointSuccess);
    DRIVER_OK(get_count(&count));
    ck_assert_int_ge(count, 1);
    OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", (void **)&allocate, 13000, cudaEnableDefault,
                                        &status));
    ck_assert(allocate == cuMemAlloc);
    function = &count;
    OK(cudaGetDriverEntryPoint("cuNoSuchThing", &function, cudaEnableDefault, &status));
    ck_assert_ptr_null(function);
    ck_assert_int_eq(status, cudaDriverEntryPointSymbolNotFound);
}
END_TEST

/* ---- memory ------------------------------------------------------------------------------ */

START_TEST(nothing_is_a_size)
{
    void *x = &x;
    size_t pitch = 1;
    OK(cudaMalloc(&x, 0));
    ck_assert_ptr_null(x);
    OK(cudaFree(NULL));
    OK(cudaFreeHost(NULL));
    x = &x;
    OK(cudaMallocManaged(&x, 0, cudaMemAttachGlobal));
    ck_assert_ptr_null(x);
    OK(cudaMallocPitch(&x, &pitch, 0, 10));
    OK(cudaMalloc(&x, 16));
    OK(cudaMemcpy(x, x, 0, cudaMemcpyDeviceToDevice));
    OK(cudaMemset(x, 1, 0));
    OK(cudaMemset2D(x, 16, 1, 0, 3));
    OK(cudaMemcpy2D(x, 16, x, 16, 4, 0, cudaMemcpyDeviceToDevice));
}
END_TEST

START_TEST(wrong_pointers_are_refused)
{
    int local = 0;
    void *x, *pinned;
    OK(cudaMalloc(&x, 64));
    OK(cudaMallocHost(&pinned, 64));
    GIVES(cudaFree(&local), cudaErrorInvalidValue);
    GIVES(cudaFree((char *)x + 8), cudaErrorInvalidValue);
    OK(cudaFree(x));
    GIVES(cudaFree(x), cudaErrorInvalidValue);
    GIVES(cudaFreeHost(&local), cudaErrorInvalidValue);
    OK(cudaFreeHost(pinned));
    GIVES(cudaHostUnregister(&local), cudaErrorHostMemoryNotRegistered);
    GIVES(cudaMemcpy2D(&local, 2, &local, 8, 4, 2, cudaMemcpyHostToHost),
          cudaErrorInvalidPitchValue);
    GIVES(cudaMemcpy2D(&local, 2, &local, 8, 4, 1, cudaMemcpyHostToHost), cudaErrorInvalidValue);
    GIVES(cudaMemcpyAsync(&local, &local, 4, (enum cudaMemcpyKind)77, NULL),
          cudaErrorInvalidMemcpyDirection);
}
END_TEST

/* What a range of managed memory was advised is known later, by pages. */
START_TEST(advice_is_kept)
{
    int mostly = 77, preferred = 77, *x;
    void *answers[] = {&mostly, &preferred};
    size_t sizes[] = {sizeof mostly, sizeof preferred};
    enum cudaMemRangeAttribute wanted[] = {cudaMemRangeAttributeReadMostly,
                                           cudaMemRangeAttributePreferredLocation};
    const struct cudaMemLocation device = {.type = cudaMemLocationTypeDevice, .id = 0};
    OK(cudaMallocManaged((void **)&x, 8192, cudaMemAttachGlobal));
    OK(cudaMemAdvise(x, 64, cudaMemAdviseSetReadMostly, device));
    OK(cudaMemAdvise(x, 8192, cudaMemAdviseSetPreferredLocation, device));
    OK(cudaMemRangeGetAttributes(answers, sizes, wanted, 2, x, 4096));
    ck_assert(mostly == 1 && preferred == 0);
    OK(cudaMemRangeGetAttribute(&mostly, sizeof mostly, cudaMemRangeAttributeReadMostly, x, 8192));
    ck_assert_int_eq(mostly, 0);
    OK(cudaFree(x));
}
END_TEST

/* Undefined according to the documentation. As on a GPU, the pointers decide, and only host memory
 * passed as device memory is refused. */
START_TEST(copies_go_by_the_pointers)
{
    static const enum cudaMemcpyKind kinds[] = {cudaMemcpyHostToHost, cudaMemcpyHostToDevice,
                                                cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice};
    char host[2][64] = {"text"};
    void *device[2], *ends[2][2];
    for (int i = 0; i < 2; i++) {
        OK(cudaMalloc(&device[i], 64));
        ends[0][i] = host[i];
        ends[1][i] = device[i];
        OK(cudaMemset(device[i], 1, 64));
    }
    for (int from = 0; from < 2; from++)
        for (int to = 0; to < 2; to++)
            for (int kind = 0; kind < 4; kind++) {
                bool refused = (from == 0 && (kinds[kind] & 2)) || (to == 0 && (kinds[kind] & 1));
                ck_assert_int_eq(cudaMemcpy(ends[to][1], ends[from][0], 64, kinds[kind]),
                                 refused ? cudaErrorInvalidValue : cudaSuccess);
                ck_assert_int_eq(cudaMemcpyAsync(ends[to][1], ends[from][0], 64, kinds[kind], NULL),
                                 refused ? cudaErrorInvalidValue : cudaSuccess);
            }
    for (int from = 0; from < 2; from++)
        for (int to = 0; to < 2; to++)
            OK(cudaMemcpy(ends[to][1], ends[from][0], 64, cudaMemcpyDefault));
    OK(cudaMemcpy(host[1], "copied", 7, cudaMemcpyHostToHost));
    ck_assert_str_eq(host[1], "copied");
    OK(cudaMemcpy(host[1], host[0], 0, cudaMemcpyHostToHost));
}
END_TEST

/* An H200's results for pitches and extents that do not fit each other. */
START_TEST(slices_must_be_apart)
{
    static const struct {
        size_t pitch, rows, x, y, width, height, depth;
        int kind;
        cudaError_t answer;
    } rows[] = {
        {64, 8, 4, 1, 16, 3, 2, 4, cudaSuccess},
        {0, 8, 16, 1, 16, 1, 1, 4, cudaSuccess}, /* a single row needs no pitch */
        {0, 8, 0, 0, 16, 3, 1, 4, cudaErrorInvalidPitchValue},
        {0, 8, 0, 0, 16, 1, 2, 4, cudaErrorInvalidPitchValue},
        {16, 8, 0, 0, 30, 1, 1, 4, cudaErrorInvalidValue},
        {16, 8, 4, 0, 16, 3, 1, 4, cudaErrorInvalidValue},
        {64, 1, 0, 0, 16, 3, 2, 4, cudaErrorInvalidPitchValue},
        {64, 1, 0, 0, 16, 3, 1, 4, cudaErrorInvalidValue},
        {64, 4, 0, 2, 16, 3, 1, 4, cudaErrorInvalidValue},
        {0, 8, 0, 0, 16, 3, 2, 9, cudaErrorInvalidMemcpyDirection},
        {0, 0, 0, 0, 0, 3, 2, 9, cudaSuccess}, /* a copy of nothing may say anything */
    };
    char host[4096] = "", *device;
    OK(cudaMalloc((void **)&device, sizeof host));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct cudaMemcpy3DParms copy = {
            .srcPtr = {host, 64, 64, 8},
            .dstPtr = {device, rows[i].pitch, rows[i].pitch, rows[i].rows},
            .dstPos = {rows[i].x, rows[i].y, 0},
            .extent = {rows[i].width, rows[i].height, rows[i].depth},
            .kind = (enum cudaMemcpyKind)rows[i].kind};
        cudaError_t waited = cudaMemcpy3D(&copy), not_waited = cudaMemcpy3DAsync(&copy, NULL);
        ck_assert_msg(waited == rows[i].answer && not_waited == rows[i].answer,
                      "row %zu: %d and %d instead of %d", i, waited, not_waited, rows[i].answer);
    }
    const struct cudaPitchedPtr flat = {device, 0, 0, 8};
    GIVES(cudaMemset3D(flat, 1, (struct cudaExtent){1, 1, 2}), cudaErrorInvalidValue);
    OK(cudaMemset3D(flat, 1, (struct cudaExtent){1, 1, 1}));
    OK(cudaMemcpy2D(host, 0, device, 64, 16, 1, cudaMemcpyDefault));
}
END_TEST

/* Sizes that would begin again at 0, so that nothing were left to do. */
START_TEST(an_extent_larger_than_all_addresses_is_refused)
{
    const size_t many = (size_t)1 << 32;
    static char host[64];
    char *device;
    cudaArray_t array;
    const struct cudaChannelFormatDesc format = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    OK(cudaMalloc((void **)&device, sizeof host));
    OK(cudaMallocArray(&array, &format, 16, 1, 0));
    const struct cudaPitchedPtr endless = {device, 64, 64, many};
    GIVES(cudaMemset3D(endless, 1, (struct cudaExtent){1, many, many}), cudaErrorInvalidValue);
    const struct cudaMemcpy3DParms wide = {.srcPtr = {host, 64, 64, 1},
                                           .dstArray = array,
                                           .extent = {SIZE_MAX / 4 + 1, 1, 1},
                                           .kind = cudaMemcpyDefault};
    GIVES(cudaMemcpy3D(&wide), cudaErrorInvalidValue);
    struct cudaMemcpy3DParms far = wide;
    far.extent.width = 1;
    far.dstPos.x = SIZE_MAX / 4 + 1;
    GIVES(cudaMemcpy3D(&far), cudaErrorInvalidValue);
}
END_TEST

START_TEST(a_copy_of_no_array_is_refused)
{
    struct cudaMemcpy3DParms parts = {.srcArray = (cudaArray_t)&parts, .extent = {1, 1, 1}};
    GIVES(cudaMemcpy3D(&parts), cudaErrorInvalidValue);
    GIVES(cudaMemcpy3D(NULL), cudaErrorInvalidValue);
}
END_TEST

/* ---- libraries --------------------------------------------------------------------------- */

START_TEST(a_library_is_loaded_by_hand)
{
    void *image = load_file("kernels.fatbin");
    cudaLibrary_t library;
    cudaKernel_t kernel;
    unsigned count = 0;
    int *x, value = 4, host[4];
    void *arguments[] = {&x, &value}, *variable;
    size_t size;
    cudaKernel_t kernels[2] = {NULL, NULL};
    OK(cudaLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernelCount(&count, library));
    ck_assert_uint_eq(count, 2);
    OK(cudaLibraryEnumerateKernels(kernels, 2, library));
    ck_assert(kernels[0] != NULL && kernels[1] != NULL && kernels[0] != kernels[1]);
    OK(cudaLibraryGetKernel(&kernel, library, "runtime_add"));
    OK(cudaMalloc((void **)&x, sizeof host));
    OK(cudaMemset(x, 0, sizeof host));
    OK(cudaLaunchKernel(kernel, one, four, arguments, 0, NULL));
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    ck_assert_int_eq(host[2], 15);
    OK(cudaLibraryGetGlobal(&variable, &size, library, "runtime_variable_a"));
    ck_assert_uint_eq(size, 4);
    OK(cudaLibraryUnload(library));
    free(image);
    OK(cudaLibraryLoadFromFile(&library, IMAGES "/kernels.fatbin", NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernel(&kernel, library, "runtime_bounded"));
    GIVES(cudaLibraryGetKernel(&kernel, library, "nobody"), cudaErrorSymbolNotFound);
    OK(cudaLibraryUnload(library));
    GIVES(cudaLibraryLoadFromFile(&library, "/nowhere", NULL, NULL, 0, NULL, NULL, 0),
          cudaErrorFileNotFound);
}
END_TEST

/* ---- what is not supported --------------------------------------------------------------- */

/* Makes a trace in memory: a test may end in any way. Returns its descriptor. */
static int begin_trace(void)
{
    char path[64];
    const int file = trace_create_in_memory(0, TRACE_ALL_KINDS & ~TRACE_KIND_BIT(TRACE_STACK));
    ck_assert_int_ge(file, 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    setenv(TRACE_PATH_VARIABLE, path, 1);
    return file;
}

START_TEST(what_is_not_supported_says_so_once)
{
    struct trace trace;
    char why[256], text[1000] = "";
    int pipe_ends[2], terminal = dup(2), found = 0;
    cudaExternalMemory_t memory;
    const int file = begin_trace();
    ck_assert_int_eq(pipe(pipe_ends), 0);
    dup2(pipe_ends[1], 2);
    GIVES(cudaImportExternalMemory(&memory, NULL), cudaErrorNotSupported);
    GIVES(cudaImportExternalMemory(&memory, NULL), cudaErrorNotSupported);
    dup2(terminal, 2);
    GIVES(cudaGetLastError(), cudaErrorNotSupported);

    ck_assert_int_gt(read(pipe_ends[0], text, sizeof text - 1), 0);
    const char *first = strstr(text, "cudaImportExternalMemory");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_null(strstr(first + 1, "cudaImportExternalMemory"));
    ck_assert_msg(trace_read_descriptor(file, NULL, &trace, why, sizeof why) == 0, "%s", why);
    for (size_t i = 0; i < trace.count; i++)
        found += trace.records[i].kind == TRACE_FINDING &&
                 strcmp(trace.records[i].name, "cudaImportExternalMemory") == 0;
    ck_assert_int_eq(found, 1);
    trace_free(&trace);
}
END_TEST

/* ---- the record -------------------------------------------------------------------------- */

START_TEST(one_call_is_one_record)
{
    struct trace trace;
    char why[256];
    void *x;
    int host[4] = {0}, mallocs = 0, copies = 0, inner = 0, launches = 0, failures = 0;
    const int file = begin_trace();
    register_image("kernels.fatbin");
    OK(cudaMalloc(&x, sizeof host));
    OK(cudaMemcpyAsync(x, host, sizeof host, cudaMemcpyHostToDevice, cudaStreamPerThread));
    OK(launch_add(x, 1));
    int value = 1; /* as <<<...>>> does it: the record's caller is the place of the first call */
    void *arguments[] = {&x, &value};
    ck_assert_uint_eq(__cudaPushCallConfiguration(one, four, 0, NULL), 0);
    launch_as_the_stub_does(arguments);
    GIVES(cudaSetDevice(44), cudaErrorInvalidDevice);

    ck_assert_msg(trace_read_descriptor(file, NULL, &trace, why, sizeof why) == 0, "%s", why);
    for (size_t i = 0; i < trace.count; i++) {
        const struct trace_record *record = &trace.records[i];
        if (record->kind != TRACE_CALL) continue;
        mallocs += strcmp(record->name, "cudaMalloc") == 0;
        launches += strcmp(record->name, "cudaLaunchKernel") == 0;
        inner += strncmp(record->name, "cuda", 4) != 0;
        if (strcmp(record->name, "cudaMemcpyAsync") == 0) {
            copies++;
            ck_assert(record->flags & TRACE_ASYNC);
            ck_assert_uint_ne(record->stream, 0);
        }
        if (strcmp(record->name, "cudaSetDevice") == 0) {
            failures++;
            ck_assert_int_eq(record->code, cudaErrorInvalidDevice);
        }
        Dl_info where = {0};
        ck_assert_int_ne(dladdr((void *)record->caller, &where), 0);
        ck_assert_ptr_nonnull(strstr(where.dli_fname, "runtime_test"));
    }
    ck_assert(mallocs == 1 && copies == 1 && launches == 2 && failures == 1);
    ck_assert_int_eq(inner, 0); /* the driver calls inside are not the submission's */
    trace_free(&trace);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_registered_kernel_is_launched,
        registering_starts_nothing,
        any_call_starts_the_driver,
        each_context_has_its_own_variables,
        variables_are_bounded,
        kernels_that_are_not_there,
        machine_code_alone_is_refused,
        configurations_nest,
        the_last_error_is_kept_until_it_is_taken,
        not_ready_is_no_last_error,
        the_last_error_is_the_threads_own,
        error_names_and_sentences_are_the_toolkits,
        the_thread_s_context_is_used,
        a_reset_ends_the_primary_context,
        another_thread_goes_on_after_a_reset,
        a_child_of_a_process_with_cuda_has_none,
        a_child_of_a_process_without_cuda_starts_it,
        properties_are_the_attributes,
        the_device_that_meets_most_is_chosen,
        limits_and_flags,
        driver_entry_points,
        nothing_is_a_size,
        wrong_pointers_are_refused,
        advice_is_kept,
        copies_go_by_the_pointers,
        slices_must_be_apart,
        an_extent_larger_than_all_addresses_is_refused,
        a_copy_of_no_array_is_refused,
        a_library_is_loaded_by_hand,
        what_is_not_supported_says_so_once,
        one_call_is_one_record,
    };
    Suite *suite = suite_create("runtime");
    TCase *tcase = tcase_create("runtime");
    tcase_set_timeout(tcase, 300);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
