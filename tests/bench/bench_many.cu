// What one operation costs when there are many: allocations, streams, events, pending launches,
// places in a large allocation. Each row does the same n times, for n, 4 n and 16 n, and prints the
// microseconds for each. Where the three differ much, something is searched or copied that grows.
//
//     bench_many [--tiny] [ROW...]
//
// As a test (--tiny) it only shows that all of it works: times are for people.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t code = (call);                                                           \
        if (code != cudaSuccess) {                                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(code));          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { WIDE = 32, PLACES = 4096 };

static float *array; // PLACES rows of WIDE floats
static float *large; // of large_bytes
static size_t large_bytes;

static __global__ void add_one(float *row)
{
    row[threadIdx.x] += 1;
}

template <class T> static T *many(size_t n)
{
    T *made = static_cast<T *>(calloc(n, sizeof(T)));
    if (made == nullptr) abort();
    return made;
}

static void launch(float *row, cudaStream_t stream = nullptr)
{
    add_one<<<1, WIDE, 0, stream>>>(row);
    CHECK(cudaGetLastError());
}

static void wait()
{
    CHECK(cudaDeviceSynchronize());
}

// ---- rows
// ----------------------------------------------------------------------------------------

static void allocations(int n)
{
    float **each = many<float *>(n);
    for (int i = 0; i < n; i++) CHECK(cudaMalloc(&each[i], WIDE * sizeof(float)));
    for (int i = 0; i < n; i++) CHECK(cudaMemsetAsync(each[i], 0, WIDE * sizeof(float)));
    for (int i = 0; i < n; i++) launch(each[i]);
    wait();
    for (int i = 0; i < n; i++) CHECK(cudaFree(each[i]));
    free(each);
}

static void pooled(int n)
{
    float **each = many<float *>(n);
    for (int i = 0; i < n; i++) {
        CHECK(cudaMallocAsync(&each[i], WIDE * sizeof(float), nullptr));
        CHECK(cudaMemsetAsync(each[i], 0, WIDE * sizeof(float)));
        launch(each[i]);
    }
    for (int i = 0; i < n; i++) CHECK(cudaFreeAsync(each[i], nullptr));
    wait();
    free(each);
}

static void launches(int n)
{
    for (int i = 0; i < n; i++) launch(array);
    wait();
}

static void launches_in_places(int n)
{
    for (int i = 0; i < n; i++) launch(array + i % PLACES * WIDE);
    wait();
}

static void launches_in_a_large_one(int n)
{
    const size_t rows = large_bytes / sizeof(float) / WIDE;
    for (int i = 0; i < n; i++) launch(large + i % 7 * (rows / 7) * WIDE);
    wait();
}

static void copies(int n)
{
    static float from[WIDE];
    for (int i = 0; i < n; i++)
        CHECK(cudaMemcpy(array + i % PLACES * WIDE, from, sizeof from, cudaMemcpyHostToDevice));
}

static void memsets(int n)
{
    for (int i = 0; i < n; i++)
        CHECK(cudaMemsetAsync(array + i % PLACES * WIDE, 0, WIDE * sizeof(float)));
    wait();
}

static void streams(int n)
{
    cudaStream_t *each = many<cudaStream_t>(n);
    for (int i = 0; i < n; i++) CHECK(cudaStreamCreateWithFlags(&each[i], cudaStreamNonBlocking));
    for (int i = 0; i < n; i++) launch(array + i % PLACES * WIDE, each[i]);
    wait();
    for (int i = 0; i < n; i++) CHECK(cudaStreamDestroy(each[i]));
    free(each);
}

// What many streams leave behind must not slow down what comes later.
static void use_many_streams()
{
    streams(PLACES / 2);
}

static void events(int n)
{
    cudaEvent_t *each = many<cudaEvent_t>(n);
    for (int i = 0; i < n; i++) {
        CHECK(cudaEventCreateWithFlags(&each[i], cudaEventDisableTiming));
        CHECK(cudaEventRecord(each[i]));
        CHECK(cudaStreamWaitEvent(nullptr, each[i]));
    }
    wait();
    for (int i = 0; i < n; i++) CHECK(cudaEventDestroy(each[i]));
    free(each);
}

static void two_streams_in_turn(int n)
{
    cudaStream_t stream[2];
    cudaEvent_t done;
    for (int k = 0; k < 2; k++) CHECK(cudaStreamCreate(&stream[k]));
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    for (int i = 0; i < n; i++) {
        launch(array, stream[i % 2]);
        CHECK(cudaEventRecord(done, stream[i % 2]));
        CHECK(cudaStreamWaitEvent(stream[(i + 1) % 2], done));
    }
    wait();
    CHECK(cudaEventDestroy(done));
    for (int k = 0; k < 2; k++) CHECK(cudaStreamDestroy(stream[k]));
}

static void graph_nodes(int n)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < n; i++) launch(array, stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
}

static void managed(int n)
{
    float **each = many<float *>(n);
    for (int i = 0; i < n; i++) {
        CHECK(cudaMallocManaged(&each[i], WIDE * sizeof(float)));
        memset(each[i], 0, WIDE * sizeof(float));
        launch(each[i]);
    }
    wait();
    for (int i = 0; i < n; i++) {
        if (each[i][WIDE - 1] != 1) abort();
        CHECK(cudaFree(each[i]));
    }
    free(each);
}

static const struct {
    const char *name;
    void (*run)(int n);
    int most;
    void (*before)(); // not timed; may be null
} rows[] = {
    {"allocations", allocations, 16384},
    {"stream-ordered allocations", pooled, 16384},
    {"launches", launches, 32768},
    {"launches in 4,096 places", launches_in_places, 32768},
    {"launches in a large array", launches_in_a_large_one, 4096},
    {"copies", copies, 32768},
    {"memsets", memsets, 32768},
    {"streams", streams, 2048},
    {"launches, after streams", launches, 32768, use_many_streams},
    {"events", events, 16384},
    {"two streams in turn", two_streams_in_turn, 16384},
    {"nodes of a graph", graph_nodes, 4096},
    {"managed allocations", managed, 4096},
};

// -------------------------------------------------------------------------------------------------

static double microseconds()
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

static bool is_wanted(const char *name, char **words)
{
    bool any = false, wanted = false;
    for (; *words != nullptr; words++) {
        if (!strcmp(*words, "--tiny")) continue;
        any = true;
        wanted = wanted || !strcmp(*words, name);
    }
    return wanted || !any;
}

int main(int argc, char **argv)
{
    bool tiny = false;
    for (int k = 1; k < argc; k++) tiny = tiny || !strcmp(argv[k], "--tiny");
    large_bytes = tiny ? 1 << 20 : 1 << 30;
    CHECK(cudaMalloc(&array, PLACES * WIDE * sizeof(float)));
    CHECK(cudaMemset(array, 0, PLACES * WIDE * sizeof(float)));
    CHECK(cudaMalloc(&large, large_bytes));
    CHECK(cudaMemset(large, 0, large_bytes));
    launch(array);
    wait();
    printf("%-28s %21s %19s %19s\n", "", "n", "4 n", "16 n");
    for (const auto &row : rows) {
        if (!is_wanted(row.name, argv + 1)) continue;
        printf("%-28s", row.name);
        if (row.before != nullptr) row.before();
        for (int part = 16; part > 0; part /= 4) {
            const int n = tiny ? 64 / part : row.most / part;
            const double begun = microseconds();
            row.run(n);
            printf(" %7d %8.2f us", n, (microseconds() - begun) / n);
            fflush(stdout);
        }
        putchar('\n');
    }
    CHECK(cudaFree(array));
    CHECK(cudaFree(large));
    return 0;
}
