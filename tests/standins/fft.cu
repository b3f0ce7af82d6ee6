// Compares cuFFT with a discrete Fourier transform that the host computes from its definition:
// every type, many lengths, one to three dimensions, batches, layouts with gaps, in place, in a
// stream of its own and from a graph. Prints "all right" and exits with 0, or says what is wrong
// and exits with 1. Written for cuFFT as documented: it holds for NVIDIA's library as for the
// stand-in.
#include <cufftXt.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

typedef std::complex<long double> Number; // so that the reference is exact beside the results

static int wrong;
static double worst[2]; // relative error, of float and of double

#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s: ", __LINE__, #condition);                                         \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
            wrong++;                                                                               \
        }                                                                                          \
    } while (0)
#define CUDA(call)                                                                                 \
    do {                                                                                           \
        const cudaError_t error = call;                                                            \
        if (error != cudaSuccess) {                                                                \
            printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error));               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// ---- one comparison -----------------------------------------------------------------------------

enum How { OUT_OF_PLACE, IN_PLACE, IN_STREAM, CAPTURED, HOWS };
enum Maker { SIMPLE, MANY, MANY64, XT };

struct Side {
    std::vector<long long> embed; // empty: the basic layout
    long long stride, distance;
};

struct Case {
    cufftType type;
    std::vector<long long> n;
    long long batch;
    int direction;
    How how;
    Maker maker;
    Side in, out;
    bool own_work; // the caller gives the work area
};

static bool is_double(cufftType type)
{
    return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D;
}
static bool reads_real(cufftType type)
{
    return type == CUFFT_R2C || type == CUFFT_D2Z;
}
static bool writes_real(cufftType type)
{
    return type == CUFFT_C2R || type == CUFFT_Z2D;
}

static long long count(const std::vector<long long> &n)
{
    long long product = 1;
    for (long long length : n) product *= length;
    return product;
}

// A number between -1 and 1 for each integer.
static double noise(uint64_t x)
{
    x = (x + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)(int64_t)(x ^ x >> 31) / 9223372036854775808.0;
}

// The coordinates of the element that is the `index`-th of a full array, the last one fastest.
static std::vector<long long> coordinates(const std::vector<long long> &n, long long index)
{
    std::vector<long long> at(n.size());
    for (size_t k = n.size(); k-- > 0; index /= n[k]) at[k] = index % n[k];
    return at;
}
static long long mirrored(const std::vector<long long> &n, long long index)
{
    long long result = 0;
    const std::vector<long long> at = coordinates(n, index);
    for (size_t k = 0; k < n.size(); k++) result = result * n[k] + (n[k] - at[k]) % n[k];
    return result;
}

// The input, as all precisions have it: floats.
static Number input(const Case &c, long long batch, long long index)
{
    const uint64_t base = (uint64_t)batch * 1000003u;
    if (reads_real(c.type)) return Number((float)noise(base + index), 0);
    const Number here((float)noise(base + 2 * index), (float)noise(base + 2 * index + 1));
    if (!writes_real(c.type)) return here;
    const long long other = mirrored(c.n, index); // the spectrum of real numbers
    const Number there((float)noise(base + 2 * other), (float)noise(base + 2 * other + 1));
    return Number((float)(here.real() + there.real()), (float)(here.imag() - there.imag()));
}

// Where an element is, or -1 if this side does not have it.
static long long place(const Case &c, const Side &side, bool real, bool half, long long batch,
                       long long index)
{
    const size_t rank = c.n.size();
    const std::vector<long long> at = coordinates(c.n, index);
    const long long last = c.n[rank - 1], spectrum = last / 2 + 1;
    if (half && at[rank - 1] >= spectrum) return -1;
    std::vector<long long> embed = side.embed;
    long long stride = side.stride, distance = side.distance;
    if (embed.empty()) {
        embed = c.n;
        embed[rank - 1] = half ? spectrum : real && c.how == IN_PLACE ? 2 * spectrum : last;
        stride = 1;
        distance = count(embed);
    }
    long long offset = 0;
    for (size_t k = 0; k < rank; k++) offset = offset * embed[k] + at[k];
    return batch * distance + offset * stride;
}

template <class R> static long long room(const Case &c, const Side &side, bool real, bool half)
{
    long long most = 0;
    for (long long batch = 0; batch < c.batch; batch++)
        for (long long k = 0; k < count(c.n); k++)
            most = std::max(most, place(c, side, real, half, batch, k));
    return (most + 1) * (real ? 1 : 2);
}

static cufftResult make_plan(const Case &c, cufftHandle *plan, cudaStream_t stream)
{
    const int rank = (int)c.n.size();
    std::vector<long long> n = c.n, in = c.in.embed, out = c.out.embed;
    std::vector<int> n_int(n.begin(), n.end()), in_int(in.begin(), in.end()),
        out_int(out.begin(), out.end());
    cufftResult result = CUFFT_SUCCESS;
    size_t size = 0;
    if (c.maker == SIMPLE && !c.own_work) {
        if (rank == 1) result = cufftPlan1d(plan, n_int[0], c.type, (int)c.batch);
        if (rank == 2) result = cufftPlan2d(plan, n_int[0], n_int[1], c.type);
        if (rank == 3) result = cufftPlan3d(plan, n_int[0], n_int[1], n_int[2], c.type);
    } else if (c.maker == MANY && !c.own_work) {
        result = cufftPlanMany(plan, rank, n_int.data(), in.empty() ? nullptr : in_int.data(),
                               (int)c.in.stride, (int)c.in.distance,
                               out.empty() ? nullptr : out_int.data(), (int)c.out.stride,
                               (int)c.out.distance, c.type, (int)c.batch);
    } else {
        static const struct {
            cufftType type;
            cudaDataType in, out, execution;
        } types[] = {{CUFFT_C2C, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},
                     {CUFFT_R2C, CUDA_R_32F, CUDA_C_32F, CUDA_C_32F},
                     {CUFFT_C2R, CUDA_C_32F, CUDA_R_32F, CUDA_C_32F},
                     {CUFFT_Z2Z, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F},
                     {CUFFT_D2Z, CUDA_R_64F, CUDA_C_64F, CUDA_C_64F},
                     {CUFFT_Z2D, CUDA_C_64F, CUDA_R_64F, CUDA_C_64F}};
        result = cufftCreate(plan);
        if (c.own_work) cufftSetAutoAllocation(*plan, 0);
        if (result == CUFFT_SUCCESS && c.maker != XT)
            result =
                cufftMakePlanMany64(*plan, rank, n.data(), in.empty() ? nullptr : in.data(),
                                    c.in.stride, c.in.distance, out.empty() ? nullptr : out.data(),
                                    c.out.stride, c.out.distance, c.type, c.batch, &size);
        // Of real input, the execution may have its type as well.
        const bool is_real = (c.type == CUFFT_R2C || c.type == CUFFT_D2Z) && c.batch > 1;
        for (const auto &row : types)
            if (result == CUFFT_SUCCESS && c.maker == XT && row.type == c.type)
                result = cufftXtMakePlanMany(
                    *plan, rank, n.data(), in.empty() ? nullptr : in.data(), c.in.stride,
                    c.in.distance, row.in, out.empty() ? nullptr : out.data(), c.out.stride,
                    c.out.distance, row.out, c.batch, &size, is_real ? row.in : row.execution);
    }
    return result == CUFFT_SUCCESS && stream != nullptr ? cufftSetStream(*plan, stream) : result;
}

static cufftResult execute(const Case &c, cufftHandle plan, void *in, void *out)
{
    if (c.maker == XT) return cufftXtExec(plan, in, out, c.direction);
    switch (c.type) {
    case CUFFT_C2C:
        return cufftExecC2C(plan, (cufftComplex *)in, (cufftComplex *)out, c.direction);
    case CUFFT_R2C:
        return cufftExecR2C(plan, (cufftReal *)in, (cufftComplex *)out);
    case CUFFT_C2R:
        return cufftExecC2R(plan, (cufftComplex *)in, (cufftReal *)out);
    case CUFFT_Z2Z:
        return cufftExecZ2Z(plan, (cufftDoubleComplex *)in, (cufftDoubleComplex *)out, c.direction);
    case CUFFT_D2Z:
        return cufftExecD2Z(plan, (cufftDoubleReal *)in, (cufftDoubleComplex *)out);
    default:
        return cufftExecZ2D(plan, (cufftDoubleComplex *)in, (cufftDoubleReal *)out);
    }
}

// Launches what a stream captured, twice.
static void launch(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    size_t nodes = 0;
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes > 0, "the graph is empty");
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int k = 0; k < 2; k++) CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
}

// The execution, from a graph where the case asks for that, and the copy of its result to `to`, in
// the same stream: nothing but the stream orders the two.
static void run(const Case &c, cufftHandle plan, void *in, void *out, cudaStream_t stream, void *to,
                size_t size)
{
    if (c.how == CAPTURED) CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    const cufftResult result = execute(c, plan, in, out);
    EXPECT(result == CUFFT_SUCCESS, "%d", result);
    if (c.how == CAPTURED) launch(stream);
    CUDA(cudaMemcpyAsync(to, out, size, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
}

static std::vector<std::vector<Number>> circles(const Case &c)
{
    const long double pi = 3.14159265358979323846264338328L;
    std::vector<std::vector<Number>> result;
    for (long long n : c.n) {
        std::vector<Number> circle(n);
        for (long long k = 0; k < n; k++) // of at most half a turn, for accuracy
            circle[k] = std::polar(1.0L, pi * (2 * k > n ? 2 * (k - n) : 2 * k) / n);
        result.push_back(circle);
    }
    return result;
}

// One element of the transform of data in full arrays, by definition.
static Number transformed(const Case &c, const std::vector<Number> &data,
                          const std::vector<std::vector<Number>> &circle, long long index)
{
    const std::vector<long long> at = coordinates(c.n, index);
    const size_t rank = c.n.size();
    std::vector<long long> k(rank, 0), turn(rank, 0);
    Number sum = 0;
    for (const Number &x : data) {
        Number factor = circle[0][turn[0]];
        for (size_t axis = 1; axis < rank; axis++) factor *= circle[axis][turn[axis]];
        sum += x * (c.direction == CUFFT_FORWARD ? std::conj(factor) : factor);
        for (size_t axis = rank; axis-- > 0;) {
            turn[axis] = (turn[axis] + at[axis]) % c.n[axis];
            if (++k[axis] < c.n[axis]) break;
            k[axis] = turn[axis] = 0;
        }
    }
    return sum;
}

static void describe(const Case &c, char *text, size_t room)
{
    int length = snprintf(text, room, "type %#x, ", c.type);
    for (size_t k = 0; k < c.n.size(); k++)
        length += snprintf(text + length, room - length, "%s%lld", k ? " x " : "", c.n[k]);
    snprintf(text + length, room - length, ", batch %lld, direction %d, how %d, maker %d%s",
             c.batch, c.direction, c.how, c.maker, c.in.embed.empty() ? "" : ", with gaps");
}

// Compares `result` with the definition: all elements of small transforms, some of large ones.
template <class R> static void compare(const Case &c, const std::vector<R> &result, R untouched)
{
    const long long elements = count(c.n), most = 1 << 17;
    const long long step = std::max<long long>(1, elements * elements / most / 37 * 37);
    const bool real = writes_real(c.type), half = reads_real(c.type);
    const std::vector<std::vector<Number>> circle = circles(c);
    std::vector<bool> written(result.size());
    long double error = 0, size = 0;
    for (long long batch = 0; batch < c.batch; batch++) {
        std::vector<Number> data(elements);
        for (long long k = 0; k < elements; k++) data[k] = input(c, batch, k);
        for (long long k = 0; k < elements; k++) {
            const long long at = place(c, c.out, real, half, batch, k);
            if (at < 0) continue;
            written[real ? at : 2 * at] = written[real ? at : 2 * at + 1] = true;
            if (k % step != 0 && k != elements - 1 && k != 1) continue;
            const Number want = transformed(c, data, circle, k);
            const Number got =
                real ? Number(result[at]) : Number(result[2 * at], result[2 * at + 1]);
            error += std::norm(got - (real ? Number(want.real()) : want));
            size += std::norm(want);
        }
    }
    const double relative = (double)std::sqrt(error / size);
    char text[200];
    describe(c, text, sizeof text);
    EXPECT(relative < (sizeof(R) == 4 ? 6e-7 : 1e-15), "%s: error %g", text, relative);
    if (relative > worst[sizeof(R) == 8]) worst[sizeof(R) == 8] = relative;
    long long touched = 0;
    for (size_t k = 0; k < result.size() && c.how != IN_PLACE; k++)
        touched += !written[k] && result[k] != untouched;
    EXPECT(touched == 0, "%s: %lld elements in gaps were written", text, touched);
}

template <class R> static void check_of(const Case &c)
{
    const R untouched = 12345;
    const bool real_in = reads_real(c.type), real_out = writes_real(c.type);
    const size_t in_room = room<R>(c, c.in, real_in, real_out);
    const size_t out_room = room<R>(c, c.out, real_out, real_in);
    const size_t shared = std::max(in_room, out_room);
    std::vector<R> in(c.how == IN_PLACE ? shared : in_room, untouched);
    std::vector<R> out(c.how == IN_PLACE ? shared : out_room, untouched), before;
    for (long long batch = 0; batch < c.batch; batch++)
        for (long long k = 0; k < count(c.n); k++) {
            const long long at = place(c, c.in, real_in, real_out, batch, k);
            const Number x = at < 0 ? 0 : input(c, batch, k);
            if (at >= 0 && real_in) in[at] = (R)x.real();
            if (at >= 0 && !real_in) in[2 * at] = (R)x.real();
            if (at >= 0 && !real_in) in[2 * at + 1] = (R)x.imag();
        }
    cudaStream_t stream = nullptr;
    cufftHandle plan;
    void *d_in, *d_out, *work = nullptr;
    size_t work_size = 0;
    char text[200];
    describe(c, text, sizeof text);
    if (c.how == IN_STREAM || c.how == CAPTURED)
        CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaMalloc(&d_in, in.size() * sizeof(R)));
    if (c.how == IN_PLACE)
        d_out = d_in;
    else
        CUDA(cudaMalloc(&d_out, out.size() * sizeof(R)));
    if (d_out != d_in)
        CUDA(cudaMemcpy(d_out, out.data(), out.size() * sizeof(R), cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(d_in, in.data(), in.size() * sizeof(R), cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize()); // the stream does not wait for the copies
    const cufftResult result = make_plan(c, &plan, stream);
    EXPECT(result == CUFFT_SUCCESS, "%s: %d", text, result);
    if (result != CUFFT_SUCCESS) return;
    EXPECT(cufftGetSize(plan, &work_size) == CUFFT_SUCCESS, "%s", text);
    if (c.own_work && work_size > 0) {
        CUDA(cudaMalloc(&work, work_size));
        EXPECT(cufftSetWorkArea(plan, work) == CUFFT_SUCCESS, "%s", text);
    }
    run(c, plan, d_in, d_out, stream, out.data(), out.size() * sizeof(R));
    EXPECT(cufftDestroy(plan) == CUFFT_SUCCESS, "%s", text);
    if (work != nullptr) CUDA(cudaFree(work));
    if (d_out != d_in) CUDA(cudaFree(d_out));
    CUDA(cudaFree(d_in));
    if (stream != nullptr) CUDA(cudaStreamDestroy(stream));
    compare(c, out, untouched);
}

// Every case, or one of four, each time the same: a test has no time for all.
static bool check_all;

static bool is_skipped()
{
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return !check_all && state >> 30 != 0;
}

static void check(Case c)
{
    if (is_skipped()) return;
    // NVIDIA's library overwrites this input, so that a graph cannot be launched again.
    if (c.how == CAPTURED && writes_real(c.type) && c.n.size() > 1) return;
    if (reads_real(c.type)) c.direction = CUFFT_FORWARD;
    if (writes_real(c.type)) c.direction = CUFFT_INVERSE;
    if (is_double(c.type))
        check_of<double>(c);
    else
        check_of<float>(c);
}

// ---- the comparisons ----------------------------------------------------------------------------

static const cufftType types[] = {CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D};

static Case basic(cufftType type, std::vector<long long> n, long long batch = 1,
                  int direction = CUFFT_FORWARD, How how = OUT_OF_PLACE, Maker maker = SIMPLE)
{
    return Case{type, n, batch, direction, how, maker, {{}, 1, 0}, {{}, 1, 0}, false};
}

static void lengths()
{
    static const int all[] = {1,  2,  3,  4,  5,  7,   8,   11,  12,  13,  15,  16,   17,   22,  30,
                              32, 49, 64, 74, 97, 100, 128, 169, 210, 243, 251, 1000, 1024, 4096};
    for (int n : all)
        for (cufftType type : types) {
            check(basic(type, {n}));
            if (type == CUFFT_C2C || type == CUFFT_Z2Z) check(basic(type, {n}, 1, CUFFT_INVERSE));
            check(basic(type, {n}, n > 200 ? 2 : 5, CUFFT_INVERSE, IN_PLACE));
        }
    for (cufftType type : types) check(basic(type, {40000})); // roots in two tables
    check(basic(CUFFT_Z2Z, {10007}));
}

static void dimensions()
{
    static const std::vector<long long> shapes[] = {
        {4, 6},   {16, 16},  {5, 1},    {1, 5},     {7, 37},     {37, 7},   {32, 48},
        {3, 130}, {2, 3, 4}, {8, 8, 8}, {5, 37, 6}, {16, 9, 20}, {1, 12, 1}};
    for (const auto &n : shapes)
        for (cufftType type : types)
            for (int how = 0; how < HOWS; how++) {
                check(basic(type, n, 1, how % 2 ? CUFFT_INVERSE : CUFFT_FORWARD, (How)how));
                check(basic(type, n, 3, how % 2 ? CUFFT_FORWARD : CUFFT_INVERSE, (How)how,
                            how % 2 ? MANY : XT));
            }
}

// A side with gaps: rows longer than the data, elements and transforms apart.
static Side with_gaps(const std::vector<long long> &n, bool half, long long stride)
{
    Side side = {n, stride, 0};
    for (size_t k = 1; k < n.size(); k++) side.embed[k] = n[k] + (long long)k;
    if (half) side.embed.back() = n.back() / 2 + 3;
    side.distance = (count(side.embed) + 2) * stride;
    return side;
}

static void layouts()
{
    static const std::vector<long long> shapes[] = {{8}, {15}, {37}, {60}, {6, 10}, {4, 5, 6}};
    for (const auto &n : shapes)
        for (cufftType type : types)
            for (Maker maker : {MANY, MANY64, XT}) {
                Case c = basic(type, n, 3, maker == MANY ? CUFFT_FORWARD : CUFFT_INVERSE,
                               maker == XT ? IN_STREAM : OUT_OF_PLACE, maker);
                c.in = with_gaps(n, writes_real(type), 2);
                c.out = with_gaps(n, reads_real(type), 3);
                check(c);
                c.own_work = maker == MANY64;
                const long long batch = c.batch; // transforms interleaved
                c.in.stride = c.out.stride = batch;
                c.in.distance = c.out.distance = 1;
                check(c);
                c.how = CAPTURED;
                c.out.distance = with_gaps(n, reads_real(type), 1).distance;
                c.out.stride = 1;
                check(c);
            }
    for (cufftType type : {CUFFT_C2C, CUFFT_Z2Z}) // columns of a matrix, in place
        for (int n : {8, 16, 37, 60}) {
            Case c = basic(type, {n}, 6, CUFFT_FORWARD, IN_PLACE, MANY);
            c.in = c.out = Side{{n}, 6, 1};
            check(c);
        }
}

// The transform of a transform is the input, `n` times.
static void back_and_forth()
{
    enum { N = 360, BATCH = 4 };
    std::vector<float> in(N * BATCH), out(N * BATCH);
    for (int k = 0; k < N * BATCH; k++) in[k] = (float)noise(k);
    float *data;
    cufftComplex *spectrum;
    cufftHandle there, back;
    CUDA(cudaMalloc(&data, in.size() * sizeof(float)));
    CUDA(cudaMalloc(&spectrum, (N / 2 + 1) * BATCH * sizeof(cufftComplex)));
    EXPECT(cufftPlan1d(&there, N, CUFFT_R2C, BATCH) == CUFFT_SUCCESS, "plan");
    EXPECT(cufftPlan1d(&back, N, CUFFT_C2R, BATCH) == CUFFT_SUCCESS, "plan");
    EXPECT(there != back, "handles");
    CUDA(cudaMemcpy(data, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));
    EXPECT(cufftExecR2C(there, data, spectrum) == CUFFT_SUCCESS, "there");
    EXPECT(cufftExecC2R(back, spectrum, data) == CUFFT_SUCCESS, "back");
    CUDA(cudaMemcpy(out.data(), data, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (int k = 0; k < N * BATCH; k++)
        EXPECT(std::fabs(out[k] / N - in[k]) < 1e-6, "element %d: %g, not %g", k, out[k] / N,
               in[k]);
    EXPECT(cufftDestroy(there) == CUFFT_SUCCESS, "destroy");
    EXPECT(cufftDestroy(back) == CUFFT_SUCCESS, "destroy");
    CUDA(cudaFree(data));
    CUDA(cudaFree(spectrum));
}

// The statuses that an H100 with NVIDIA's library gave, of calls that a document refuses.
static void statuses()
{
    int n[] = {8, 8, 8, 8}, zero[] = {0};
    size_t size;
    cufftHandle plan = 0;
    char *data;
    CUDA(cudaMalloc(&data, 1024));
    cufftComplex *c = (cufftComplex *)data, *odd = (cufftComplex *)(data + 4);
    const struct {
        int line;
        cufftResult got, want;
    } rows[] = {
#define ROW(call, want) {__LINE__, call, want}
        ROW(cufftPlan1d(&plan, 0, CUFFT_C2C, 1), CUFFT_INVALID_SIZE),
        ROW(cufftPlan1d(&plan, 8, CUFFT_C2C, 0), CUFFT_INVALID_SIZE),
        ROW(cufftPlan1d(&plan, 8, (cufftType)5, 1), CUFFT_INVALID_TYPE),
        ROW(cufftPlan1d(nullptr, 8, CUFFT_C2C, 1), CUFFT_INVALID_VALUE),
        ROW(cufftPlanMany(&plan, 0, n, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1), CUFFT_INVALID_VALUE),
        ROW(cufftPlanMany(&plan, 4, n, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1), CUFFT_INVALID_VALUE),
        ROW(cufftPlanMany(&plan, 1, 0, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1), CUFFT_INVALID_VALUE),
        ROW(cufftPlanMany(&plan, 1, n, 0, 1, 8, n, 1, 8, CUFFT_C2C, 1), CUFFT_INVALID_VALUE),
        ROW(cufftPlanMany(&plan, 1, n, n, 0, 8, n, 1, 8, CUFFT_C2C, 1), CUFFT_INVALID_VALUE),
        ROW(cufftPlanMany(&plan, 1, n, n, 1, 0, n, 1, 8, CUFFT_C2C, 1), CUFFT_INVALID_VALUE),
        ROW(cufftEstimate1d(0, CUFFT_C2C, 1, &size), CUFFT_INVALID_SIZE),
        ROW(cufftEstimate1d(8, CUFFT_C2C, 1, nullptr), CUFFT_INVALID_VALUE),
        ROW(cufftDestroy(CUFFT_PLAN_NULL), CUFFT_SUCCESS),
        ROW(cufftDestroy(12345), CUFFT_INVALID_PLAN),
        ROW(cufftSetStream(12345, nullptr), CUFFT_INVALID_PLAN),
        ROW(cufftExecC2C(12345, c, c, CUFFT_FORWARD), CUFFT_INVALID_PLAN),
        ROW(cufftCreate(&plan), CUFFT_SUCCESS),
        ROW(cufftExecC2C(plan, c, c, CUFFT_FORWARD), CUFFT_INVALID_PLAN),
        ROW(cufftGetSize(plan, &size), CUFFT_INVALID_PLAN),
        ROW(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, nullptr), CUFFT_INVALID_VALUE),
        ROW(cufftMakePlan1d(plan, 0, CUFFT_C2C, 1, &size), CUFFT_INVALID_SIZE),
        ROW(cufftMakePlanMany(plan, 1, n, zero, 1, 8, zero, 1, 8, CUFFT_C2C, 1, &size),
            CUFFT_SUCCESS),
        ROW(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &size), CUFFT_INVALID_PLAN),
        ROW(cufftExecC2C(plan, c, c, 0), CUFFT_INVALID_VALUE),
        ROW(cufftExecC2C(plan, odd, c, CUFFT_FORWARD), CUFFT_INVALID_VALUE),
        ROW(cufftXtExec(plan, c, c, 5), CUFFT_INVALID_VALUE),
        ROW(cufftGetSize1d(plan, 16, CUFFT_C2C, 1, &size), CUFFT_SUCCESS),
        ROW(cufftDestroy(plan), CUFFT_SUCCESS),
        ROW(cufftDestroy(plan), CUFFT_INVALID_PLAN),
    };
    for (const auto &row : rows)
        EXPECT(row.got == row.want, "line %d: %d, not %d", row.line, row.got, row.want);
    CUDA(cudaFree(data));
}

int main(int count, char **arguments)
{
    check_all = count > 1 && strcmp(arguments[1], "all") == 0;
    int version = 0, major = 0;
    EXPECT(cufftGetVersion(&version) == CUFFT_SUCCESS && version == CUFFT_VERSION, "%d", version);
    EXPECT(cufftGetProperty(MAJOR_VERSION, &major) == CUFFT_SUCCESS && major == CUFFT_VER_MAJOR,
           "%d", major);
    lengths();
    dimensions();
    layouts();
    back_and_forth();
    statuses();
    printf("largest relative errors: %.2g of float, %.2g of double\n", worst[0], worst[1]);
    if (wrong == 0) printf("all right\n");
    return wrong != 0;
}
