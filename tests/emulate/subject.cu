// The program that the tests of ./emulate run: what it does, right or wrong, its first argument
// says. A line whose number a test looks for ends with the comment "here: NAME".
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

__global__ void fill(int *data, int n, int limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < limit) data[i] = n - i; // here: store
}

static int *allocate(int n)
{
    int *data;
    cudaMalloc(&data, n * sizeof(int)); // here: allocation
    return data;
}

static int run_well()
{
    int *data = allocate(64), back[64] = {};
    fill<<<2, 32>>>(data, 64, 64);
    cudaMemcpy(back, data, sizeof back, cudaMemcpyDeviceToHost);
    cudaFree(data);
    return back[63] == 1 ? 0 : 1;
}

static int out_of_bounds()
{
    int *data = allocate(64);
    for (int i = 0; i < 3; i++) fill<<<3, 32>>>(data, 64, 65); // here: launch
    cudaError_t error = cudaDeviceSynchronize();
    printf("the program saw %s\n", cudaGetErrorName(error));
    return error == cudaErrorIllegalAddress ? 3 : 1;
}

static int leaks_of_other_calls()
{
    static int registered[1024];
    const cudaChannelFormatDesc words = cudaCreateChannelDesc<int>();
    cudaArray_t array;
    cudaMallocArray(&array, &words, 32, 4);                                   // here: array
    cudaHostRegister(registered, sizeof registered, cudaHostRegisterDefault); // here: registered
    return 0;
}

static int leaks()
{
    cudaStream_t stream;
    for (int i = 0; i < 4; i++) allocate(16);
    cudaStreamCreate(&stream); // here: stream
    return 0;
}

static int unsupported()
{
    cudaExternalMemory_t memory;
    cudaExternalMemoryHandleDesc description = {};
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < 2; i++)
        error = cudaImportExternalMemory(&memory, &description); // here: unsupported
    return error == cudaErrorNotSupported ? 0 : 1;
}

static volatile sig_atomic_t got;

static void take(int number)
{
    got = number;
}

static int wait_for_signal()
{
    signal(SIGUSR1, take);
    puts("ready");
    fflush(stdout);
    while (got == 0) pause();
    printf("signal %d\n", got == SIGUSR1);
    return 6;
}

static int in_a_child()
{
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        allocate(8);
        exit(0);
    }
    waitpid(child, &status, 0);
    return status;
}

static int echo()
{
    for (int c; (c = getchar()) != EOF;) putchar(c);
    fprintf(stderr, "on stderr\n");
    return run_well();
}

static int touch()
{
    int *data = allocate(4);
    return *data; // here: touch
}

/* One post for each thread whose work is done. */
static sem_t worked;

static void *work(void *)
{
    run_well();
    sem_post(&worked);
    return nullptr;
}

static void *sleep_on(void *)
{
    for (;;) pause();
}

std::thread *lost; /* the thread is, its memory is not: of that LeakSanitizer would tell */

/* Two threads are lost; those that are joined, or let go and still there, are not. */
static int threads()
{
    pthread_t thread;
    sem_init(&worked, 0, 0);
    pthread_create(&thread, nullptr, work, nullptr);
    pthread_join(thread, nullptr);
    std::thread(work, nullptr).join();
    std::thread(work, nullptr).detach();
    lost = new std::thread(work, nullptr); // here: standard thread
    pthread_create(&thread, nullptr, sleep_on, nullptr);
    pthread_detach(thread);
    pthread_create(&thread, nullptr, work, nullptr); // here: thread
    // What a thread has allocated when the process ends would be a third finding.
    for (int i = 0; i < 5; i++) sem_wait(&worked);
    return run_well();
}

/* What a thread is to work on is set behind its start, and its result read before its end. */
static int *given, result;

static void *read_given(void *)
{
    result = given != nullptr ? 4 : 0;
    return nullptr;
}

static int start_too_early()
{
    int number = 0;
    pthread_t thread;
    cudaFree(nullptr);
    pthread_create(&thread, nullptr, read_given, nullptr);
    given = &number;
    int seen = result;
    pthread_join(thread, nullptr);
    return 10 * seen + result; /* latest: 4, earliest: 0 */
}

static int start_standard_too_early()
{
    int number = 0;
    std::thread thread(read_given, nullptr);
    given = &number;
    int seen = result;
    thread.join();
    return 10 * seen + result;
}

/* The same mistake behind an error that was looked at, and behind one that was not. */
static int copy_nothing(bool look)
{
    void *block;
    int number;
    cudaFree(nullptr);
    cudaMalloc(&block, (size_t)1 << 50); // here: refused
    if (look && cudaGetLastError() != cudaErrorMemoryAllocation) return 1;
    return cudaMemcpy(&number, nullptr, 4, cudaMemcpyDeviceToHost) == cudaSuccess;
}

__global__ void print_numbers(int n)
{
    for (int i = 0; i < n; i++) printf("%d\n", i);
}

/* The least buffer that there is, 512 KiB, holds 5,242 calls of 96 bytes and an argument of 4. */
static int prints_much()
{
    cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1);
    print_numbers<<<1, 1>>>(5242);
    print_numbers<<<1, 1>>>(6000); // here: printing
    return cudaDeviceSynchronize() != cudaSuccess;
}

/* Once the device watches for faults, a signal that is none still ends the process. */
static int raises()
{
    cudaFree(nullptr);
    return raise(SIGSEGV);
}

// Half of a managed buffer is a kernel's, and files go into the other half: right; or (`into_use`)
// into the same.
static int exchange_files(bool into_use)
{
    const int n = 1 << 16;
    int *data;
    cudaMallocManaged(&data, 2 * n * sizeof(int));
    for (int i = 0; i < 2 * n; i++) data[i] = 7;
    FILE *in = fopen("/dev/zero", "r"), *out = fopen("/dev/null", "w");
    int *half = into_use ? data : data + n;
    fill<<<n / 256, 256>>>(data, n, n);
    const size_t got = fread(half, sizeof *half, n, in);
    fill<<<n / 256, 256>>>(data, n, n);
    const ssize_t more = read(fileno(in), half, n * sizeof *half);
    fill<<<n / 256, 256>>>(data, n, n);
    const size_t put = fwrite(half, sizeof *half, n, out);
    cudaDeviceSynchronize();
    const bool right = got == n && more == (ssize_t)(n * sizeof *half) && put == n;
    fclose(in);
    fclose(out);
    cudaFree(data);
    return right ? 0 : 1;
}

static int files()
{
    return exchange_files(false);
}

static int files_into_use()
{
    return exchange_files(true);
}

// Calls a library of its folder that was built without lines.
static int borrows()
{
    void *library = dlopen("./libborrow.so", RTLD_NOW);
    auto borrow = library != nullptr ? (int (*)())dlsym(library, "borrow") : nullptr;
    if (borrow == nullptr) return 1;
    const int result = borrow(); // here: library
    printf("borrowed: %d\n", result);
    return result;
}

static volatile int *pinned;

static void CUDART_CB look(void *)
{
    (void)*pinned; // here: host function
}

// A host function that nothing orders behind the copy whose result it reads.
static int calls_back()
{
    const int bytes = 64 * sizeof(int);
    int *data = allocate(64), *to;
    cudaStream_t copying, calling;
    cudaStreamCreate(&copying);
    cudaStreamCreate(&calling);
    cudaMallocHost(&to, bytes);
    pinned = to;
    cudaMemset(data, 0, bytes);
    cudaDeviceSynchronize();
    cudaMemcpyAsync(to, data, bytes, cudaMemcpyDeviceToHost, copying);
    cudaLaunchHostFunc(calling, look, nullptr);
    cudaDeviceSynchronize();
    cudaFreeHost(to);
    cudaFree(data);
    cudaStreamDestroy(copying);
    cudaStreamDestroy(calling);
    return 0;
}

static int looks()
{
    return copy_nothing(true);
}

static int ignores()
{
    return copy_nothing(false);
}

__global__ void wait_in_vain(const volatile int *flag)
{
    while (*flag == 0) { // here: look
    }
}

// Nobody sets it.
static int waits_in_vain()
{
    int *flag;
    cudaMalloc(&flag, sizeof *flag);
    cudaMemset(flag, 0, sizeof *flag);
    wait_in_vain<<<1, 1>>>(flag);
    return cudaDeviceSynchronize() == cudaSuccess;
}

// The graph that becomes a part of another is that one's, and what is destroyed is not left.
static int leaks_of_objects()
{
    const cudaChannelFormatDesc words = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cudaStream_t stream;
    cudaGraph_t captured, made, inner;
    cudaGraphExec_t executable;
    cudaGraphNode_t node;
    cudaTextureObject_t texture, other;
    cudaSurfaceObject_t surface;
    cudaMallocArray(&array, &words, 32, 4, cudaArraySurfaceLoadStore);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    const cudaTextureDesc sampling = {};
    cudaCreateTextureObject(&texture, &resource, &sampling, nullptr); // here: texture
    cudaCreateTextureObject(&other, &resource, &sampling, nullptr);
    cudaDestroyTextureObject(other);
    cudaCreateSurfaceObject(&surface, &resource); // here: surface
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaLaunchHostFunc(stream, free, nullptr);
    cudaStreamEndCapture(stream, &captured);        // here: captured
    cudaGraphInstantiate(&executable, captured, 0); // here: executable
    cudaGraphCreate(&inner, 0);
    cudaGraphCreate(&made, 0); // here: made
    cudaGraphNodeParams child = {};
    child.type = cudaGraphNodeTypeGraph;
    child.graph.graph = inner;
    child.graph.ownership = cudaGraphChildGraphOwnershipMove;
    cudaGraphAddNode(&node, made, nullptr, nullptr, 0, &child);
    cudaGraphClone(&inner, captured);
    cudaGraphDestroy(inner);
    cudaStreamDestroy(stream);
    cudaFreeArray(array);
    return 0;
}

static const struct {
    const char *name;
    int (*run)();
} modes[] = {{"run_well", run_well},
             {"out_of_bounds", out_of_bounds},
             {"leaks", leaks},
             {"leaks_of_other_calls", leaks_of_other_calls},
             {"leaks_of_objects", leaks_of_objects},
             {"unsupported", unsupported},
             {"wait", wait_for_signal},
             {"child", in_a_child},
             {"echo", echo},
             {"touch", touch},
             {"threads", threads},
             {"start_too_early", start_too_early},
             {"start_standard_too_early", start_standard_too_early},
             {"raises", raises},
             {"prints_much", prints_much},
             {"files", files},
             {"files_into_use", files_into_use},
             {"borrows", borrows},
             {"calls_back", calls_back},
             {"looks", looks},
             {"waits_in_vain", waits_in_vain},
             {"ignores", ignores}};

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "exit") == 0) return atoi(argv[2]);
    if (argc == 3 && strcmp(argv[1], "signal") == 0) raise(atoi(argv[2]));
    for (const auto &mode : modes)
        if (argc == 2 && strcmp(argv[1], mode.name) == 0) return mode.run();
    for (int i = 1; i < argc; i++) printf("[%s]", argv[i]);
    return 0;
}
