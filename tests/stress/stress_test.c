/* Many host threads that call everything at once: the device's results stay right, and under
 * ThreadSanitizer (./selftest --sanitize=thread) no two threads access anything unordered.
 *
 * Each thread runs a random sequence of small scenarios, drawn from its number. A scenario makes
 * what it needs, checks its own results and leaves nothing behind; some use what all threads share:
 * one stream, one event, one counter in device memory, the primary context. */
#include <check.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 8, STORIES = 60, ELEMENTS = 200, GENERATIONS = 2 };

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .u32 module_number;\n"
    /* p[i] = p[i] * 3 + value */
    ".visible .entry step(.param .u64 p, .param .u32 value, .param .u32 n) {\n"
    ".reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<2>;\n"
    "ld.param.u64 %d1, [p]; ld.param.u32 %r1, [value]; ld.param.u32 %r2, [n];\n"
    "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;\n"
    "mad.lo.u32 %r3, %r3, %r4, %r5; setp.ge.u32 %p1, %r3, %r2; @%p1 bra END;\n"
    "mul.wide.u32 %d2, %r3, 4; add.u64 %d1, %d1, %d2;\n"
    "ld.global.u32 %r6, [%d1]; mad.lo.u32 %r6, %r6, 3, %r1; st.global.u32 [%d1], %r6;\n"
    "END: ret; }\n"
    /* each thread adds one to *p */
    ".visible .entry count(.param .u64 p) { .reg .b32 %r<2>; .reg .b64 %d<2>;\n"
    "ld.param.u64 %d1, [p]; atom.global.add.u32 %r1, [%d1], 1; ret; }\n";

/* Shared by all threads. */
static struct {
    CUcontext primary;
    CUmodule module;
    CUfunction step, count;
    CUstream stream;
    CUevent event;
    CUdeviceptr counter;
    atomic_uint counted; /* expected final value of `counter` */
    atomic_uint told;    /* host functions and callbacks that have run */
    atomic_uint asked;   /* and that were requested */
    atomic_bool failed;
} shared;

struct teller {
    uint64_t state; /* of its random numbers */
    unsigned number;
};

static uint32_t draw(struct teller *teller, uint32_t below)
{
    teller->state = teller->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(teller->state >> 33) % below;
}

/* A thread cannot end a Check test: it records the problem, and the main thread ends the test. */
#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (condition) break;                                                                      \
        fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);              \
        atomic_store(&shared.failed, true);                                                        \
    } while (0)
#define GOES(call)                                                                                 \
    do {                                                                                           \
        const int goes_code = (int)(call);                                                         \
        if (goes_code == 0) break;                                                                 \
        fprintf(stderr, "%s:%d: %s returned %d\n", __FILE__, __LINE__, #call, goes_code);          \
        atomic_store(&shared.failed, true);                                                        \
    } while (0)

/* ---- pieces ---------------------------------------------------------------------------------- */

static void launch_step(CUfunction step, CUstream stream, CUdeviceptr p, uint32_t value)
{
    uint32_t n = ELEMENTS;
    void *arguments[] = {&p, &value, &n};
    GOES(cuLaunchKernel(step, (ELEMENTS + 63) / 64, 1, 1, 64, 1, 1, 0, stream, arguments, NULL));
}

/* Copies numbers in, makes two steps, copies them out, all in `stream`, and checks them. */
static void there_and_back(struct teller *teller, CUfunction step, CUstream stream, uint32_t *host)
{
    CUdeviceptr p;
    const uint32_t first = draw(teller, 1000), value = draw(teller, 1000);
    GOES(cuMemAlloc(&p, ELEMENTS * 4));
    for (uint32_t i = 0; i < ELEMENTS; i++) host[i] = first + i;
    GOES(cuMemcpyHtoDAsync(p, host, ELEMENTS * 4, stream));
    launch_step(step, stream, p, value);
    launch_step(step, stream, p, value + 1);
    GOES(cuMemcpyDtoHAsync(host, p, ELEMENTS * 4, stream));
    GOES(cuStreamSynchronize(stream));
    for (uint32_t i = 0; i < ELEMENTS; i++)
        HOLDS(host[i] == ((first + i) * 3 + value) * 3 + value + 1);
    GOES(cuMemFree(p));
}

static void tell(void *told)
{
    atomic_fetch_add((atomic_uint *)told, 1);
}

static void CUDA_CB tell_callback(CUstream stream, CUresult status, void *told)
{
    (void)stream;
    if (status == CUDA_SUCCESS) tell(told);
}

/* ---- stories --------------------------------------------------------------------------------- */

static void own_stream(struct teller *teller)
{
    CUstream stream;
    uint32_t host[ELEMENTS];
    GOES(cuStreamCreate(&stream, draw(teller, 2) ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
    there_and_back(teller, shared.step, stream, host);
    GOES(cuStreamDestroy(stream));
}

static void default_stream(struct teller *teller)
{
    uint32_t host[ELEMENTS];
    there_and_back(teller, shared.step, draw(teller, 2) ? CU_STREAM_LEGACY : CU_STREAM_PER_THREAD,
                   host);
}

static void pinned_memory(struct teller *teller)
{
    void *host;
    CUstream stream;
    GOES(cuMemHostAlloc(&host, ELEMENTS * 4, 0));
    GOES(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1));
    there_and_back(teller, shared.step, stream, host);
    GOES(cuStreamDestroy(stream));
    GOES(cuMemFreeHost(host));
}

static void own_context(struct teller *teller)
{
    CUcontext context, popped;
    CUmodule module;
    CUfunction step;
    uint32_t host[ELEMENTS];
    GOES(cuCtxCreate(&context, NULL, 0, 0));
    GOES(cuModuleLoadData(&module, ptx));
    GOES(cuModuleGetFunction(&step, module, "step"));
    there_and_back(teller, step, NULL, host);
    GOES(cuCtxSynchronize());
    if (draw(teller, 2)) GOES(cuModuleUnload(module));
    GOES(cuCtxPopCurrent(&popped));
    HOLDS(popped == context);
    GOES(cuCtxDestroy(context));
}

static void module_load(struct teller *teller)
{
    CUmodule module;
    CUdeviceptr variable;
    size_t size;
    uint32_t number = 0;
    GOES(cuModuleLoadData(&module, ptx));
    GOES(cuModuleGetGlobal(&variable, &size, module, "module_number"));
    HOLDS(size == 4);
    GOES(cuMemsetD32(variable, teller->number, 1));
    GOES(cuMemcpyDtoH(&number, variable, 4));
    HOLDS(number == teller->number);
    GOES(cuModuleUnload(module));
}

static void shared_counter(struct teller *teller)
{
    void *arguments[] = {&shared.counter};
    const uint32_t threads = 1 + draw(teller, 64);
    atomic_fetch_add(&shared.counted, threads);
    GOES(cuLaunchKernel(shared.count, 1, 1, 1, threads, 1, 1, 0, shared.stream, arguments, NULL));
    if (draw(teller, 3) == 0) GOES(cuStreamSynchronize(shared.stream));
}

static void queries(struct teller *teller)
{
    size_t free_bytes, total;
    CUdevice device;
    int value;
    CUresult code = cuStreamQuery(shared.stream);
    HOLDS(code == CUDA_SUCCESS || code == CUDA_ERROR_NOT_READY);
    code = cuEventQuery(shared.event);
    HOLDS(code == CUDA_SUCCESS || code == CUDA_ERROR_NOT_READY);
    GOES(cuMemGetInfo(&free_bytes, &total));
    HOLDS(free_bytes <= total);
    GOES(cuCtxGetDevice(&device));
    GOES(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
    HOLDS(value == 32);
    GOES(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, shared.step));
    GOES(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, shared.step,
                                                     32 + (int)draw(teller, 64), 0));
    HOLDS(cuMemAlloc(&(CUdeviceptr){0}, (size_t)1 << 50) == CUDA_ERROR_OUT_OF_MEMORY);
    HOLDS(cuStreamDestroy((CUstream)(uintptr_t)0x1234560) != CUDA_SUCCESS);
}

static void events(struct teller *teller)
{
    CUstream before, after;
    CUevent event, end;
    CUdeviceptr p;
    float ms = -1;
    uint32_t host[ELEMENTS];
    GOES(cuStreamCreate(&before, CU_STREAM_NON_BLOCKING));
    GOES(cuStreamCreate(&after, CU_STREAM_NON_BLOCKING));
    GOES(cuEventCreate(&event, CU_EVENT_DEFAULT));
    GOES(cuEventCreate(&end, CU_EVENT_DEFAULT));
    GOES(cuMemAllocAsync(&p, ELEMENTS * 4, before));
    GOES(cuMemsetD32Async(p, 5, ELEMENTS, before));
    launch_step(shared.step, before, p, 1);
    GOES(cuEventRecord(event, before));
    GOES(cuStreamWaitEvent(after, event, 0));
    if (draw(teller, 2)) GOES(cuEventRecord(shared.event, shared.stream));
    if (draw(teller, 2)) GOES(cuStreamWaitEvent(after, shared.event, 0));
    launch_step(shared.step, after, p, 2);
    GOES(cuMemcpyDtoHAsync(host, p, sizeof host, after));
    GOES(cuEventRecord(end, after));
    GOES(cuMemFreeAsync(p, after));
    GOES(cuEventSynchronize(end));
    GOES(cuEventElapsedTime(&ms, event, end));
    HOLDS(ms >= 0);
    for (int i = 0; i < ELEMENTS; i++) HOLDS(host[i] == (5 * 3 + 1) * 3 + 2);
    GOES(cuEventDestroy(event));
    GOES(cuEventDestroy(end));
    GOES(cuStreamDestroy(before));
    GOES(cuStreamDestroy(after));
}

static void host_functions(struct teller *teller)
{
    CUstream stream;
    atomic_uint mine = 0;
    GOES(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    GOES(cuLaunchHostFunc(stream, tell, &mine));
    GOES(cuStreamAddCallback(stream, tell_callback, &mine, 0));
    GOES(cuLaunchHostFunc(stream, tell, &mine));
    if (draw(teller, 2)) {
        atomic_fetch_add(&shared.asked, 1);
        GOES(cuLaunchHostFunc(shared.stream, tell, &shared.told));
    }
    if (draw(teller, 2))
        while (atomic_load(&mine) < 3) usleep(100); /* they run although no call is made */
    GOES(cuStreamSynchronize(stream));
    HOLDS(atomic_load(&mine) == 3);
    GOES(cuStreamDestroy(stream));
}

/* The same through the runtime API, in the same primary context. */
static void through_the_runtime(struct teller *teller)
{
    cudaStream_t stream;
    cudaEvent_t event;
    struct cudaDeviceProp properties;
    void *p;
    unsigned char host[256];
    int device = -1;
    const int byte = (int)draw(teller, 256);
    GOES(cudaSetDevice(0));
    GOES(cudaGetDevice(&device));
    HOLDS(device == 0);
    GOES(cudaGetDeviceProperties(&properties, 0));
    GOES(cudaStreamCreate(&stream));
    GOES(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    GOES(cudaMalloc(&p, sizeof host));
    GOES(cudaMemsetAsync(p, byte, sizeof host, stream));
    GOES(cudaEventRecord(event, stream));
    GOES(cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, stream));
    GOES(cudaEventSynchronize(event));
    GOES(cudaStreamSynchronize(stream));
    for (size_t i = 0; i < sizeof host; i++) HOLDS(host[i] == byte);
    HOLDS(cudaMalloc(&p, SIZE_MAX / 2) == cudaErrorMemoryAllocation);
    HOLDS(cudaGetLastError() == cudaErrorMemoryAllocation);
    HOLDS(cudaGetLastError() == cudaSuccess);
    GOES(cudaEventDestroy(event));
    GOES(cudaStreamDestroy(stream));
}

static void graph(struct teller *teller)
{
    CUstream stream;
    CUgraph made;
    CUgraphExec ready;
    CUdeviceptr p;
    uint32_t host[ELEMENTS];
    const uint32_t value = draw(teller, 100);
    GOES(cuMemAlloc(&p, sizeof host));
    GOES(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    GOES(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    GOES(cuMemsetD32Async(p, value, ELEMENTS, stream));
    launch_step(shared.step, stream, p, 1);
    GOES(cuMemcpyDtoHAsync(host, p, sizeof host, stream));
    GOES(cuStreamEndCapture(stream, &made));
    GOES(cuGraphInstantiate(&ready, made, 0));
    for (int times = 0; times < 2; times++) GOES(cuGraphLaunch(ready, stream));
    GOES(cuStreamSynchronize(stream));
    for (int i = 0; i < ELEMENTS; i++) HOLDS(host[i] == value * 3 + 1);
    GOES(cuGraphExecDestroy(ready));
    GOES(cuGraphDestroy(made));
    GOES(cuStreamDestroy(stream));
    GOES(cuMemFree(p));
}

static void (*const stories[])(struct teller *) = {
    own_stream, default_stream, pinned_memory,  own_context,         module_load, shared_counter,
    queries,    events,         host_functions, through_the_runtime, graph,
};

/* ---- the threads ------------------------------------------------------------------------------
 */

static void *live(void *argument)
{
    struct teller teller = {.number = (unsigned)(uintptr_t)argument};
    teller.state = 1000 + teller.number;
    GOES(cuCtxSetCurrent(shared.primary));
    for (int i = 0; i < STORIES; i++)
        stories[draw(&teller, sizeof stories / sizeof *stories)](&teller);
    /* Some threads end with work pending and a context current. */
    if (teller.number % 2 == 0) {
        GOES(cuStreamSynchronize(shared.stream));
        GOES(cuCtxSetCurrent(NULL));
    }
    return NULL;
}

static void share(void)
{
    GOES(cuInit(0));
    GOES(cuDevicePrimaryCtxRetain(&shared.primary, 0));
    GOES(cuCtxSetCurrent(shared.primary));
    GOES(cuModuleLoadData(&shared.module, ptx));
    GOES(cuModuleGetFunction(&shared.step, shared.module, "step"));
    GOES(cuModuleGetFunction(&shared.count, shared.module, "count"));
    GOES(cuStreamCreate(&shared.stream, CU_STREAM_NON_BLOCKING));
    GOES(cuEventCreate(&shared.event, CU_EVENT_DISABLE_TIMING));
    GOES(cuMemAlloc(&shared.counter, 4));
    GOES(cuMemsetD32(shared.counter, 0, 1));
    GOES(cuCtxSynchronize()); /* a non-blocking stream does not wait for it */
}

static const char *const orders[] = {"latest", "earliest", "random:3"};

START_TEST(everything_at_once)
{
    pthread_t threads[THREADS];
    uint32_t counted = 0;
    ck_assert_int_eq(setenv("OVERLAP_ORDER", orders[_i], 1), 0);
    ck_assert_int_eq(setenv("OVERLAP_WORKERS", "3", 1), 0);
    ck_assert_int_eq(setenv("OVERLAP_QUIET", "1", 1), 0);
    share();
    /* Threads begin while others run, and after all threads of an earlier generation have ended. */
    for (uintptr_t generation = 0; generation < GENERATIONS; generation++) {
        for (uintptr_t i = 0; i < THREADS; i++)
            ck_assert_int_eq(
                pthread_create(&threads[i], NULL, live, (void *)(i + generation * THREADS)), 0);
        for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    }
    GOES(cuStreamSynchronize(shared.stream));
    GOES(cuMemcpyDtoH(&counted, shared.counter, 4));
    HOLDS(counted == atomic_load(&shared.counted));
    HOLDS(atomic_load(&shared.told) == atomic_load(&shared.asked));
    GOES(cuDevicePrimaryCtxReset(0));
    ck_assert_msg(!atomic_load(&shared.failed), "see above");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stress");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, everything_at_once, 0, sizeof orders / sizeof *orders);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
