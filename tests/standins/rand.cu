// cuRAND's host API, used as a program would: ranges, moments, histograms, reproducible sequences,
// streams, graphs and the status of each error. Prints what is wrong.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>
#include <curand.h>

static int wrong;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: %s: ", __FILE__, __LINE__, #condition);                                 \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
            wrong++;                                                                               \
        }                                                                                          \
    } while (0)
#define OK(call) CHECK((call) == 0, "failed")
#define STATUS(call, expected)                                                                     \
    do {                                                                                           \
        const int status_ = (int)(call);                                                           \
        CHECK(status_ == (int)(expected), "status %d", status_);                                   \
    } while (0)

static const curandRngType_t TYPES[] = {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A,
                                        CURAND_RNG_PSEUDO_PHILOX4_32_10};

// A generator that ends with its scope.
struct Generator {
    curandGenerator_t handle = nullptr;
    explicit Generator(curandRngType_t type, unsigned long long seed = 1234, bool host = false)
    {
        OK(host ? curandCreateGeneratorHost(&handle, type) : curandCreateGenerator(&handle, type));
        OK(curandSetPseudoRandomGeneratorSeed(handle, seed));
    }
    ~Generator()
    {
        OK(curandDestroyGenerator(handle));
    }
};

template <class T> struct Device {
    T *data = nullptr;
    size_t count;
    explicit Device(size_t n) : count(n)
    {
        OK(cudaMalloc(&data, n * sizeof(T)));
    }
    ~Device()
    {
        OK(cudaFree(data));
    }
    std::vector<T> host() const
    {
        std::vector<T> copy(count);
        OK(cudaMemcpy(copy.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
        return copy;
    }
};

// ---- distributions ------------------------------------------------------------------------------

template <class T> static double mean_of(const std::vector<T> &x)
{
    double sum = 0;
    for (const T v : x) sum += (double)v;
    return sum / (double)x.size();
}

template <class T> static double variance_of(const std::vector<T> &x)
{
    const double mean = mean_of(x);
    double sum = 0;
    for (const T v : x) sum += ((double)v - mean) * ((double)v - mean);
    return sum / (double)x.size();
}

// Values that should be uniform in (0, 1]. Chi-square with 99 degrees of freedom lies between 50
// and 170 but once in 100,000 times; the seeds are fixed.
template <class T> static void check_uniform(const char *what, int type, const std::vector<T> &x)
{
    enum { BINS = 100 };
    double bins[BINS] = {}, chi = 0, neighbours = 0;
    for (size_t i = 0; i < x.size(); i++) {
        CHECK(x[i] > 0 && x[i] <= 1, "%s %d: [%zu] is %g", what, type, i, (double)x[i]);
        if (wrong) return;
        bins[x[i] >= 1 ? BINS - 1 : (int)(x[i] * BINS)]++;
        if (i) neighbours += ((double)x[i] - 0.5) * ((double)x[i - 1] - 0.5);
    }
    const double expected = (double)x.size() / BINS, n = (double)x.size();
    for (const double bin : bins) chi += (bin - expected) * (bin - expected) / expected;
    CHECK(chi > 50 && chi < 170, "%s %d: chi-square %g", what, type, chi);
    CHECK(std::fabs(mean_of(x) - 0.5) < 5 * std::sqrt(1 / (12 * n)), "%s %d", what, type);
    CHECK(std::fabs(variance_of(x) * 12 - 1) < 0.02, "%s %d: %g", what, type, variance_of(x));
    CHECK(std::fabs(neighbours * 12 / n) < 5 / std::sqrt(n), "%s %d: neighbours", what, type);
}

template <class T>
static void check_moments(const char *what, int type, const std::vector<T> &x, double mean,
                          double variance)
{
    const double error = 5 * std::sqrt(variance / (double)x.size());
    CHECK(std::fabs(mean_of(x) - mean) < error, "%s %d: mean %g", what, type, mean_of(x));
    CHECK(std::fabs(variance_of(x) / variance - 1) < 0.05, "%s %d: variance %g", what, type,
          variance_of(x));
}

template <class T> static void check_normal(const char *what, int type, const std::vector<T> &x)
{
    double skew = 0, kurtosis = 0, within = 0, pairs = 0;
    check_moments(what, type, x, 1, 4);
    for (size_t i = 0; i < x.size(); i++) {
        const double z = ((double)x[i] - 1) / 2;
        skew += z * z * z;
        kurtosis += z * z * z * z;
        within += std::fabs(z) < 1;
        if (i % 2) pairs += z * ((double)x[i - 1] - 1) / 2;
    }
    const double n = (double)x.size();
    CHECK(std::fabs(skew / n) < 0.05, "%s %d: skew %g", what, type, skew / n);
    CHECK(std::fabs(kurtosis / n - 3) < 0.1, "%s %d: kurtosis %g", what, type, kurtosis / n);
    CHECK(std::fabs(within / n - 0.6827) < 0.01, "%s %d: %g", what, type, within / n);
    CHECK(std::fabs(pairs / n) < 0.01, "%s %d: pairs %g", what, type, pairs / n);
}

static void distributions(curandRngType_t type)
{
    const size_t N = 100000;
    const double variance = (std::exp(0.25) - 1) * std::exp(0.25);
    Generator g(type);
    Device<unsigned> bits(N);
    Device<float> f(N);
    Device<double> d(N);
    OK(curandGenerate(g.handle, bits.data, N));
    std::vector<double> scaled;
    for (const unsigned x : bits.host()) scaled.push_back((x + 1.0) / 4294967296.0);
    check_uniform("bits", type, scaled);
    OK(curandGenerateUniform(g.handle, f.data, N));
    check_uniform("uniform", type, f.host());
    OK(curandGenerateUniformDouble(g.handle, d.data, N));
    check_uniform("uniform double", type, d.host());
    OK(curandGenerateNormal(g.handle, f.data, N, 1, 2));
    check_normal("normal", type, f.host());
    OK(curandGenerateNormalDouble(g.handle, d.data, N, 1, 2));
    check_normal("normal double", type, d.host());
    OK(curandGenerateLogNormal(g.handle, f.data, N, 0, 0.5f));
    check_moments("lognormal", type, f.host(), std::exp(0.125), variance);
    OK(curandGenerateLogNormalDouble(g.handle, d.data, N, 0, 0.5));
    check_moments("lognormal double", type, d.host(), std::exp(0.125), variance);
    for (const double lambda : {0.5, 10.0, 63.0, 100.0, 3000.0, 300000.0}) {
        OK(curandGeneratePoisson(g.handle, bits.data, N, lambda));
        check_moments("Poisson", type, bits.host(), lambda, lambda);
    }
}

// ---- sequences ----------------------------------------------------------------------------------

static std::vector<unsigned> bits_of(curandGenerator_t g, size_t count)
{
    Device<unsigned> out(count);
    OK(curandGenerate(g, out.data, count));
    return out.host();
}

static std::vector<unsigned> from(const std::vector<unsigned> &x, size_t first)
{
    return std::vector<unsigned>(x.begin() + (std::ptrdiff_t)first, x.end());
}

static void sequences(curandRngType_t type)
{
    const size_t N = 300007, FIRST = 100003, SECOND = 163000; // the second one wraps
    Generator whole(type), parts(type), other(type, 1235), behind(type), host(type, 1234, true);
    const std::vector<unsigned> all = bits_of(whole.handle, N);
    std::vector<unsigned> joined;
    for (const size_t part : {FIRST, SECOND, N - FIRST - SECOND}) {
        const std::vector<unsigned> x = bits_of(parts.handle, part);
        joined.insert(joined.end(), x.begin(), x.end());
    }
    CHECK(joined == all, "%d: three calls do not continue the sequence", type);

    size_t same = 0;
    const std::vector<unsigned> others = bits_of(other.handle, N);
    for (size_t i = 0; i < N; i++) same += all[i] == others[i];
    CHECK(same < 10, "%d: %zu equal numbers under another seed", type, same);

    OK(curandSetGeneratorOffset(behind.handle, FIRST));
    CHECK(bits_of(behind.handle, N - FIRST) == from(all, FIRST), "%d: offset", type);
    OK(curandSetGeneratorOffset(behind.handle, 0));
    CHECK(bits_of(behind.handle, N) == all, "%d: back to the beginning", type);

    std::vector<unsigned> there(N);
    OK(curandGenerate(host.handle, there.data(), N));
    CHECK(there == all, "%d: results in host memory", type);
}

// Where a sequence of bits goes on behind doubles, which consume more of each subsequence: at the
// indices that NVIDIA's CPU generators were seen to go on at.
static void mixed()
{
    static const struct {
        curandRngType_t type;
        size_t turn;    // results before the first subsequence is drawn from again
        size_t doubled; // numbers of a double
    } generators[] = {{CURAND_RNG_PSEUDO_XORWOW, 4096, 2},
                      {CURAND_RNG_PSEUDO_MRG32K3A, 81920, 1},
                      {CURAND_RNG_PSEUDO_PHILOX4_32_10, 262144, 2}};
    const size_t SOME = 1000;
    for (const auto &is : generators) {
        Generator g(is.type), reference(is.type);
        Device<double> d(is.turn + 2);
        OK(curandGenerateUniformDouble(g.handle, d.data, is.turn + 2));
        OK(curandSetGeneratorOffset(reference.handle, is.doubled * is.turn + 2));
        CHECK(bits_of(g.handle, SOME) == bits_of(reference.handle, SOME), "%d", is.type);
    }
}

// Some of XORWOW's subsequences yield normal doubles, by four numbers for two, the others bits,
// many times; then all yield bits.
static void uneven()
{
    const size_t TURN = 4096, PART = 2000, TIMES = 22; // inside a block of 256
    Generator g(CURAND_RNG_PSEUDO_XORWOW), reference(CURAND_RNG_PSEUDO_XORWOW);
    Device<double> d(2 * PART);
    const std::vector<unsigned> all = bits_of(reference.handle, (4 * TIMES + 1) * TURN);
    for (size_t i = 0; i < TIMES; i++) {
        OK(curandGenerateNormalDouble(g.handle, d.data, 2 * PART, 0, 1));
        bits_of(g.handle, TURN - PART);
    }
    const std::vector<unsigned> x = bits_of(g.handle, TURN);
    for (size_t i = 0; i < TURN && !wrong; i++) {
        const size_t draws = i < PART ? 4 * TIMES : TIMES;
        CHECK(x[i] == all[draws * TURN + i], "subsequence %zu", i);
    }
}

// Calls of many sizes and distributions, more than a generator keeps apart.
static void motley(curandRngType_t type)
{
    const size_t MOST = 1009, TIMES = 80, N = 100000;
    Generator g(type);
    Device<double> d(MOST);
    Device<float> f(N);
    for (size_t i = 1; i <= TIMES; i++)
        if (i % 2)
            OK(curandGenerateUniformDouble(g.handle, d.data, i * 701 % MOST));
        else
            OK(curandGenerateUniform(g.handle, f.data, i * 613 % MOST));
    OK(curandGenerateUniform(g.handle, f.data, N));
    check_uniform("after many calls", type, f.host());
}

// The first numbers of NVIDIA's library 10.4 for the seed 1234, from its CPU generators.
static void known()
{
    static const unsigned first[][4] = {{624778773u, 3522650202u, 2363946744u, 1266286439u},
                                        {3379073520u, 653317650u, 4012281984u, 4237272334u},
                                        {546353992u, 3665621163u, 1140953199u, 3419031310u}};
    static const unsigned at8192[] = {3739671282u, 2839517893u, 4070662259u};
    for (int i = 0; i < 3; i++) {
        Generator g(TYPES[i]);
        const std::vector<unsigned> x = bits_of(g.handle, 9000);
        for (int k = 0; k < 4; k++) CHECK(x[k] == first[i][k], "%d: [%d] is %u", TYPES[i], k, x[k]);
        CHECK(x[8192] == at8192[i], "%d: [8192] is %u", TYPES[i], x[8192]);
    }
}

static void orderings()
{
    const size_t N = 20000, LEGACY = 4096;
    Generator plain(CURAND_RNG_PSEUDO_MRG32K3A), legacy(CURAND_RNG_PSEUDO_MRG32K3A);
    OK(curandSetGeneratorOffset(legacy.handle, 1));
    OK(curandSetGeneratorOrdering(legacy.handle, CURAND_ORDERING_PSEUDO_LEGACY));
    const std::vector<unsigned> a = bits_of(plain.handle, N), b = bits_of(legacy.handle, N);
    for (size_t i = 0; i < LEGACY - 1; i++)
        CHECK(b[i] == a[i + 1], "the subsequences' first numbers");
    CHECK(b[LEGACY] != a[LEGACY + 1], "legacy has 4096 subsequences");
}

// ---- streams and graphs -------------------------------------------------------------------------

__global__ void add_one(float *x, size_t n)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}

static void streams(curandRngType_t type)
{
    const size_t N = 10000;
    Generator g(type), reference(type);
    Device<float> one(N), two(N), expected(2 * N);
    cudaStream_t stream[2];
    for (cudaStream_t &s : stream) OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    // One generator in two streams: the calls share nothing.
    float *const out[] = {one.data, two.data};
    for (int i = 0; i < 2; i++) {
        OK(curandSetStream(g.handle, stream[i]));
        OK(curandGenerateUniform(g.handle, out[i], N));
        add_one<<<(unsigned)(N / 256 + 1), 256, 0, stream[i]>>>(out[i], N);
    }
    for (cudaStream_t s : stream) OK(cudaStreamSynchronize(s));
    OK(curandGenerateUniform(reference.handle, expected.data, 2 * N));
    const std::vector<float> a = one.host(), b = two.host(), x = expected.host();
    for (size_t i = 0; i < N; i++)
        CHECK(a[i] == x[i] + 1 && b[i] == x[N + i] + 1, "%d: [%zu] in a stream", type, i);
    for (cudaStream_t s : stream) OK(cudaStreamDestroy(s));
}

static void graphs(curandRngType_t type)
{
    const size_t N = 10000;
    Generator g(type), reference(type);
    Device<unsigned> out(N);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    OK(cudaStreamCreate(&stream));
    OK(curandSetStream(g.handle, stream));
    OK(curandGenerateSeeds(g.handle)); // NVIDIA's library needs them before a capture
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(curandGenerate(g.handle, out.data, N));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&run, graph, 0));
    std::vector<unsigned> results[3];
    for (std::vector<unsigned> &result : results) {
        OK(cudaGraphLaunch(run, stream));
        OK(cudaStreamSynchronize(stream));
        result = out.host();
    }
    CHECK(results[0] == bits_of(reference.handle, N), "%d: the graph's first launch", type);
    CHECK(results[1] != results[0] && results[2] != results[1], "%d: later launches", type);
    OK(cudaGraphExecDestroy(run));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
}

// ---- errors -------------------------------------------------------------------------------------

static void errors()
{
    Generator xorwow(CURAND_RNG_PSEUDO_DEFAULT), philox(CURAND_RNG_PSEUDO_PHILOX4_32_10);
    Device<double> room(16);
    curandGenerator_t none = nullptr, g = xorwow.handle;
    float *const f = (float *)room.data;
    unsigned *const u = (unsigned *)room.data;
    int value = -1;
    STATUS(curandCreateGenerator(&none, (curandRngType_t)7), CURAND_STATUS_TYPE_ERROR);
    STATUS(curandGenerate(nullptr, u, 4), CURAND_STATUS_NOT_INITIALIZED);
    STATUS(curandDestroyGenerator(nullptr), CURAND_STATUS_NOT_INITIALIZED);
    STATUS(curandSetStream(nullptr, nullptr), CURAND_STATUS_NOT_INITIALIZED);
    STATUS(curandGenerateNormal(g, f, 3, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    STATUS(curandGenerateNormalDouble(g, room.data, 3, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    STATUS(curandGenerateLogNormal(g, f, 3, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    STATUS(curandGenerateNormal(philox.handle, f, 3, 0, 1), CURAND_STATUS_SUCCESS);
    STATUS(curandGeneratePoisson(g, u, 4, 0), CURAND_STATUS_OUT_OF_RANGE);
    STATUS(curandGeneratePoisson(g, u, 4, 400001), CURAND_STATUS_OUT_OF_RANGE);
    STATUS(curandGenerateLongLong(g, (unsigned long long *)room.data, 4), CURAND_STATUS_TYPE_ERROR);
    STATUS(curandSetQuasiRandomGeneratorDimensions(g, 2), CURAND_STATUS_TYPE_ERROR);
    STATUS(curandSetGeneratorOrdering(g, CURAND_ORDERING_QUASI_DEFAULT),
           CURAND_STATUS_OUT_OF_RANGE);
    STATUS(curandSetGeneratorOrdering(philox.handle, CURAND_ORDERING_PSEUDO_SEEDED),
           CURAND_STATUS_OUT_OF_RANGE);
    STATUS(curandGenerate(g, u, 0), CURAND_STATUS_SUCCESS);
    OK(curandGenerateSeeds(g));
    OK(curandGetVersion(&value));
    CHECK(value >= 10000 && value < 11000, "version %d", value);
    OK(curandGetProperty(MAJOR_VERSION, &value));
    CHECK(value == 10, "major version %d", value);
    STATUS(curandGetProperty((libraryPropertyType)9, &value), CURAND_STATUS_OUT_OF_RANGE);
    OK(cudaDeviceSynchronize());
}

int main()
{
    for (const curandRngType_t type : TYPES) {
        distributions(type);
        sequences(type);
        motley(type);
        streams(type);
        graphs(type);
    }
    known();
    mixed();
    uneven();
    orderings();
    errors();
    if (!wrong) printf("all right\n");
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
