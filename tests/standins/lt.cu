// The stand-in for cuBLASLt computes products with every epilogue, order, batch and pointer mode,
// of every type that it has, and answers for its structures. Runs on a GPU with NVIDIA's library as
// well. Prints "all right", or what is not so.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static int failures;
static void check(bool fine, const char *what, const char *of)
{
    if (fine) return;
    std::printf("not so: %s, %s\n", what, of);
    failures++;
}
#define CALL(call)                                                                                 \
    do {                                                                                           \
        const int status_ = (int)(call);                                                           \
        if (status_ != 0) {                                                                        \
            std::printf("%s:%d: %s: %d\n", __FILE__, __LINE__, #call, status_);                    \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

static cublasLtHandle_t handle;
static cudaStream_t stream;
static void *workspace;
static const uint64_t workspace_bytes = 1 << 25;

// ---- types --------------------------------------------------------------------------------------

template <class T> struct Type;
#define TYPE(T, number)                                                                            \
    template <> struct Type<T> {                                                                   \
        static const cudaDataType value = number;                                                  \
    }
TYPE(float, CUDA_R_32F);
TYPE(double, CUDA_R_64F);
TYPE(__half, CUDA_R_16F);
TYPE(__nv_bfloat16, CUDA_R_16BF);
TYPE(int8_t, CUDA_R_8I);
TYPE(int, CUDA_R_32I);
template <class T> static double widen(T x)
{
    return (double)(float)x;
}
template <> double widen(double x)
{
    return x;
}

static int draw(int most)
{
    static unsigned state = 12345;
    state = state * 1103515245u + 12345u;
    return (int)(state >> 16) % (2 * most + 1) - most;
}

// Small whole numbers in device memory, managed so that the host sees results.
template <class T> static T *numbers(size_t count, int most = 3)
{
    T *made;
    CALL(cudaMallocManaged(&made, count * sizeof(T)));
    for (size_t k = 0; k < count; k++) made[k] = (T)(float)draw(most);
    return made;
}

// ---- one product --------------------------------------------------------------------------------

// 64 x 48 x 80, of which every dimension is a multiple of 16: NVIDIA's kernels for bytes want that.
enum { M = 64, N = 48, K = 80, COUNT = 3 };

struct Case {
    const char *name;
    unsigned epilogue;
    bool a_transposed, b_transposed, by_rows;
    int count;
    cublasLtPointerMode_t pointers;
    bool apart; // the matrices of a batch are where an array says
};

static cublasLtMatrixLayout_t layout(cudaDataType type, int rows, int columns, const Case &of)
{
    const bool by_rows = of.by_rows;
    const int count = of.count;
    const unsigned mode =
        of.apart ? CUBLASLT_BATCH_MODE_POINTER_ARRAY : CUBLASLT_BATCH_MODE_STRIDED;
    cublasLtMatrixLayout_t made;
    const int order = by_rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
    const int64_t next = (int64_t)rows * columns;
    CALL(cublasLtMatrixLayoutCreate(&made, type, rows, columns, by_rows ? columns : rows));
    CALL(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, 4));
    CALL(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, 4));
    CALL(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &next,
                                          8));
    CALL(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, &mode, 4));
    return made;
}

template <class T>
static void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t which, T value)
{
    CALL(cublasLtMatmulDescSetAttribute(operation, which, &value, sizeof value));
}

static double gelu(double x)
{
    return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}
static double gelu_gradient(double x)
{
    const double t = std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}

// E: of A and B, C: of C and D, F: of alpha and beta, S: of a bias.
template <class E, class C, class F, class S> struct Product {
    const char *type;
    const Case &of;
    double tolerance;
    E *a, *b;
    C *c, *d;
    S *bias;
    C *inputs;      // of GELU
    unsigned *bits; // of RELU
    F *alpha, *beta;
    int count;
    bool wrong = false;
    std::vector<void *> arrays;

    Product(const char *type_, const Case &of_, double tolerance_)
        : type(type_), of(of_), tolerance(tolerance_), count(of_.count)
    {
        a = numbers<E>((size_t)M * K * count), b = numbers<E>((size_t)N * K * count);
        c = numbers<C>((size_t)M * N * count), d = numbers<C>((size_t)M * N * count);
        bias = numbers<S>((size_t)(M + N) * count);
        inputs = numbers<C>((size_t)M * N * count, 2);
        CALL(cudaMallocManaged(&bits, (size_t)128 / 8 * N * count));
        for (int k = 0; k < 128 / 32 * N * count; k++)
            bits[k] = (unsigned)draw(32767) * 65537u ^ (unsigned)draw(32767);
        alpha = numbers<F>(M), beta = numbers<F>(M);
        // Half of the largest values that a byte has, so that a few are out of its range.
        for (int i = 0; i < M; i++) alpha[i] = (F)(1 + i % 2), beta[i] = (F)(i % 3);
        if (of.pointers < CUBLASLT_POINTER_MODE_DEVICE_VECTOR) alpha[0] = (F)2, beta[0] = (F)1;
    }
    ~Product()
    {
        void *all[] = {a, b, c, d, bias, inputs, bits, alpha, beta};
        for (void *one : all) CALL(cudaFree(one));
        for (void *one : arrays) CALL(cudaFree(one));
    }

    // The matrices of a batch, or an array of pointers to them.
    template <class T> void *batch(T *first, int size)
    {
        T **array;
        if (!of.apart) return first;
        CALL(cudaMallocManaged(&array, count * sizeof *array));
        for (int z = 0; z < count; z++) array[z] = first + (size_t)z * size;
        arrays.push_back(array);
        return array;
    }

    double at_a(int z, int i, int k) const
    {
        const bool along = of.a_transposed != of.by_rows;
        return widen(a[(size_t)z * M * K + (along ? k + i * K : i + k * M)]);
    }
    double at_b(int z, int k, int j) const
    {
        const bool along = of.b_transposed != of.by_rows;
        return widen(b[(size_t)z * N * K + (along ? j + k * N : k + j * K)]);
    }
    size_t place(int z, int i, int j) const
    {
        return (size_t)z * M * N + (of.by_rows ? j + i * N : i + j * M);
    }
    double factor(const F *factors, int i) const
    {
        return widen(factors[of.pointers >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR ? i : 0]);
    }
    size_t bit_at(int z, int i, int j) const
    {
        return ((size_t)z * N + j) * 128 + i;
    }
    bool bit(int z, int i, int j) const
    {
        return ((const unsigned char *)bits)[bit_at(z, i, j) / 8] >> bit_at(z, i, j) % 8 & 1;
    }

    // Before the epilogue.
    double plain(int z, int i, int j) const
    {
        double sum = 0;
        for (int k = 0; k < K; k++) sum += at_a(z, i, k) * at_b(z, k, j);
        const bool with_beta = of.pointers != CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO;
        const double scaled = factor(alpha, i) * sum;
        if (!with_beta) return scaled;
        const bool one = of.pointers == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST;
        return scaled + (one ? widen(beta[0]) : factor(beta, i)) * widen(c[place(z, i, j)]);
    }
    // NVIDIA's gradient of GELU is right to 1e-5 only, in double as well.
    double allowed() const
    {
        return of.epilogue & 64 ? std::fmax(tolerance, 3e-5) : tolerance;
    }
    // `size`: of what was added up.
    void expect(const char *what, double wanted, double got, double size)
    {
        if (std::fabs(wanted - got) <= allowed() * (1 + size)) return;
        if (!wrong) {
            std::printf("%s: wanted %g, got %g: ", what, wanted, got);
            check(false, of.name, type);
        }
        wrong = true; // one is enough of each
    }

    void expect(const char *what, double wanted, double got)
    {
        expect(what, wanted, got, std::fabs(wanted));
    }

    void run(cublasComputeType_t compute, cudaDataType scale)
    {
        cublasLtMatmulDesc_t operation;
        CALL(cublasLtMatmulDescCreate(&operation, compute, scale));
        set<int>(operation, CUBLASLT_MATMUL_DESC_TRANSA, of.a_transposed);
        set<int>(operation, CUBLASLT_MATMUL_DESC_TRANSB, of.b_transposed);
        set<int>(operation, CUBLASLT_MATMUL_DESC_POINTER_MODE, of.pointers);
        set<unsigned>(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, of.epilogue);
        const bool wants_bits = (of.epilogue & 128) && (of.epilogue & (2 | 8));
        if (of.epilogue & (4 | 16 | 256 | 512))
            set<void *>(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
        if (count > 1) {
            set<int64_t>(operation, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, M);
            set<int64_t>(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE,
                         wants_bits ? 128 * N : M * N);
        }
        if (of.epilogue & 128) {
            set<void *>(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
                        wants_bits ? (void *)bits : (void *)inputs);
            set<int64_t>(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, wants_bits ? 128 : M);
        }
        cublasLtMatrixLayout_t of_a =
            layout(Type<E>::value, of.a_transposed ? K : M, of.a_transposed ? M : K, of);
        cublasLtMatrixLayout_t of_b =
            layout(Type<E>::value, of.b_transposed ? N : K, of.b_transposed ? K : N, of);
        cublasLtMatrixLayout_t of_c = layout(Type<C>::value, M, N, of);
        cublasLtMatmulPreference_t preference;
        cublasLtMatmulHeuristicResult_t found[4];
        int number = 0;
        CALL(cublasLtMatmulPreferenceCreate(&preference));
        CALL(cublasLtMatmulPreferenceSetAttribute(
            preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes, 8));
        const int status = cublasLtMatmulAlgoGetHeuristic(handle, operation, of_a, of_b, of_c, of_c,
                                                          preference, 4, found, &number);
        if (status == CUBLAS_STATUS_NOT_SUPPORTED || number == 0) {
            std::printf("not supported: %s, %s\n", of.name, type); // not all of it is, on a GPU
        } else {
            CALL(status);
            CALL(cublasLtMatmul(handle, operation, alpha, batch(a, M * K), of_a, batch(b, N * K),
                                of_b, beta, batch(c, M * N), of_c, batch(d, M * N), of_c,
                                &found[0].algo, workspace, workspace_bytes, stream));
            CALL(cudaStreamSynchronize(stream));
            look();
        }
        CALL(cublasLtMatmulPreferenceDestroy(preference));
        CALL(cublasLtMatrixLayoutDestroy(of_a));
        CALL(cublasLtMatrixLayoutDestroy(of_b));
        CALL(cublasLtMatrixLayoutDestroy(of_c));
        CALL(cublasLtMatmulDescDestroy(operation));
    }

    double finished(int z, int i, int j)
    {
        double value = plain(z, i, j);
        if (of.epilogue & 4) value += widen(bias[z * M + i]);
        if (of.epilogue & 2) {
            if (of.epilogue & 128) expect("the mask", value >= 0, bit(z, i, j));
            return value > 0 ? value : 0;
        }
        if (of.epilogue & 8) return bit(z, i, j) ? value : 0;
        if (of.epilogue & 32) {
            if (of.epilogue & 128)
                expect("what goes into GELU", value, widen(inputs[place(z, i, j)]));
            return gelu(value);
        }
        if (of.epilogue & 64) return value * gelu_gradient(widen(inputs[place(z, i, j)]));
        return value;
    }

    void look()
    {
        std::vector<double> rows(M), sizes(M), of_a(M), of_b(N);
        for (int z = 0; z < count; z++)
            for (int i = 0; i < M; i++)
                for (int j = 0; j < N; j++) {
                    double wanted = finished(z, i, j);
                    if (sizeof(C) == 1) wanted = std::fmin(std::fmax(wanted, -128), 127);
                    expect("an element", wanted, widen(d[place(z, i, j)]));
                    rows[i] += wanted, sizes[i] += std::fabs(wanted);
                }
        for (int i = 0; i < M && (of.epilogue & 16); i++)
            expect("the bias's gradient", rows[i], widen(bias[i]), sizes[i]);
        for (int k = 0; k < K; k++) {
            for (int i = 0; i < M; i++) of_a[i] += at_a(0, i, k);
            for (int j = 0; j < N; j++) of_b[j] += at_b(0, k, j);
        }
        for (int i = 0; i < M && (of.epilogue & 256); i++)
            expect("the bias's gradient", of_a[i], widen(bias[i]));
        for (int j = 0; j < N && (of.epilogue & 512); j++)
            expect("the bias's gradient", of_b[j], widen(bias[j]));
    }
};

static const Case cases[] = {
    {"plain", CUBLASLT_EPILOGUE_DEFAULT, true, false, false, 1, CUBLASLT_POINTER_MODE_HOST},
    {"neither transposed", CUBLASLT_EPILOGUE_DEFAULT, false, false, false, 1,
     CUBLASLT_POINTER_MODE_HOST},
    {"both transposed", CUBLASLT_EPILOGUE_DEFAULT, true, true, false, 1,
     CUBLASLT_POINTER_MODE_HOST},
    {"by rows", CUBLASLT_EPILOGUE_DEFAULT, false, true, true, 1, CUBLASLT_POINTER_MODE_HOST},
    {"a batch", CUBLASLT_EPILOGUE_DEFAULT, true, false, false, COUNT, CUBLASLT_POINTER_MODE_HOST},
    {"a batch of matrices apart", CUBLASLT_EPILOGUE_DEFAULT, true, false, false, COUNT,
     CUBLASLT_POINTER_MODE_HOST, true},
    {"a batch with biases", CUBLASLT_EPILOGUE_GELU_AUX_BIAS, true, false, false, COUNT,
     CUBLASLT_POINTER_MODE_HOST},
    {"a batch with masks", CUBLASLT_EPILOGUE_RELU_AUX_BIAS, true, false, false, COUNT,
     CUBLASLT_POINTER_MODE_HOST},
    {"factors in device memory", CUBLASLT_EPILOGUE_DEFAULT, true, false, false, 1,
     CUBLASLT_POINTER_MODE_DEVICE},
    {"vectors of factors", CUBLASLT_EPILOGUE_DEFAULT, true, false, false, 1,
     CUBLASLT_POINTER_MODE_DEVICE_VECTOR},
    {"a vector and nothing", CUBLASLT_EPILOGUE_DEFAULT, true, false, false, 1,
     CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO},
    {"a vector and a value", CUBLASLT_EPILOGUE_DEFAULT, true, false, false, 1,
     CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST},
    {"bias", CUBLASLT_EPILOGUE_BIAS, true, false, false, 1, CUBLASLT_POINTER_MODE_HOST},
    {"relu", CUBLASLT_EPILOGUE_RELU, true, false, false, 1, CUBLASLT_POINTER_MODE_HOST},
    {"relu by rows", CUBLASLT_EPILOGUE_RELU, false, true, true, 1, CUBLASLT_POINTER_MODE_HOST},
    {"gradient of A by rows", CUBLASLT_EPILOGUE_BGRADA, false, true, true, 1,
     CUBLASLT_POINTER_MODE_HOST},
    {"gelu by rows", CUBLASLT_EPILOGUE_GELU, false, true, true, 1, CUBLASLT_POINTER_MODE_HOST},
    {"bias, relu", CUBLASLT_EPILOGUE_RELU_BIAS, true, false, false, 1, CUBLASLT_POINTER_MODE_HOST},
    {"bias, relu and mask", CUBLASLT_EPILOGUE_RELU_AUX_BIAS, true, false, false, 1,
     CUBLASLT_POINTER_MODE_HOST},
    {"gradient of relu", CUBLASLT_EPILOGUE_DRELU, true, false, false, 1,
     CUBLASLT_POINTER_MODE_HOST},
    {"gradients of relu and bias", CUBLASLT_EPILOGUE_DRELU_BGRAD, true, false, false, 1,
     CUBLASLT_POINTER_MODE_HOST},
    {"gelu", CUBLASLT_EPILOGUE_GELU, true, false, false, 1, CUBLASLT_POINTER_MODE_HOST},
    {"bias, gelu and input", CUBLASLT_EPILOGUE_GELU_AUX_BIAS, true, false, false, 1,
     CUBLASLT_POINTER_MODE_HOST},
    {"gradient of gelu", CUBLASLT_EPILOGUE_DGELU, true, false, false, 1,
     CUBLASLT_POINTER_MODE_HOST},
    {"gradients of gelu and bias", CUBLASLT_EPILOGUE_DGELU_BGRAD, true, false, false, 1,
     CUBLASLT_POINTER_MODE_HOST},
    {"bias's gradient by A", CUBLASLT_EPILOGUE_BGRADA, true, false, false, 1,
     CUBLASLT_POINTER_MODE_HOST},
    {"bias's gradient by B", CUBLASLT_EPILOGUE_BGRADB, true, false, false, 1,
     CUBLASLT_POINTER_MODE_HOST},
};

template <class E, class C, class F, class S>
static void every_case(const char *type, cublasComputeType_t compute, double tolerance,
                       bool with_epilogues = true)
{
    for (const Case &one : cases)
        if (with_epilogues || one.epilogue == CUBLASLT_EPILOGUE_DEFAULT)
            Product<E, C, F, S>(type, one, tolerance).run(compute, Type<F>::value);
}

// D = A^H B of complex numbers.
template <class T, class R>
static void complex_numbers(const char *type, cudaDataType number, cublasComputeType_t compute)
{
    enum { SIZE = 16 };
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayoutOpaque_t layout;
    R *a = numbers<R>(2 * SIZE * SIZE), *b = numbers<R>(2 * SIZE * SIZE);
    R *d = numbers<R>(2 * SIZE * SIZE);
    const T one = {1, 0}, none = {0, 0};
    bool fine = true;
    CALL(cublasLtMatrixLayoutInit(&layout, number, SIZE, SIZE, SIZE));
    CALL(cublasLtMatmulDescCreate(&operation, compute, number));
    set<int>(operation, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_C);
    CALL(cublasLtMatmul(handle, operation, &one, a, &layout, b, &layout, &none, d, &layout, d,
                        &layout, nullptr, workspace, workspace_bytes, stream));
    CALL(cudaStreamSynchronize(stream));
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            R re = 0, im = 0;
            for (int k = 0; k < SIZE; k++) {
                const R *x = a + 2 * (k + i * SIZE), *y = b + 2 * (k + j * SIZE);
                re += x[0] * y[0] + x[1] * y[1];
                im += x[0] * y[1] - x[1] * y[0];
            }
            fine = fine && d[2 * (i + j * SIZE)] == re && d[2 * (i + j * SIZE) + 1] == im;
        }
    check(fine, "the conjugate of A", type);
    CALL(cublasLtMatmulDescDestroy(operation));
    CALL(cudaFree(a));
    CALL(cudaFree(b));
    CALL(cudaFree(d));
}

// ---- structures ---------------------------------------------------------------------------------

static void structures()
{
    cublasLtMatrixLayoutOpaque_t room;
    uint64_t rows = 0;
    size_t written = 0;
    int order = CUBLASLT_ORDER_ROW;
    CALL(cublasLtMatrixLayoutInit(&room, CUDA_R_32F, 7, 5, 9));
    CALL(cublasLtMatrixLayoutGetAttribute(&room, CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, 8, &written));
    check(rows == 7 && written == 8, "an attribute comes back", "layout");
    CALL(cublasLtMatrixLayoutGetAttribute(&room, CUBLASLT_MATRIX_LAYOUT_LD, nullptr, 0, &written));
    check(written == 8, "its size is told", "layout");
    check(cublasLtMatrixLayoutSetAttribute(&room, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, 2) ==
              CUBLAS_STATUS_INVALID_VALUE,
          "another size is refused", "layout");

    cublasLtMatmulDescOpaque_t operation;
    unsigned epilogue = 0;
    CALL(cublasLtMatmulDescInit(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    CALL(cublasLtMatmulDescGetAttribute(&operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, 4,
                                        &written));
    check(epilogue == CUBLASLT_EPILOGUE_DEFAULT, "the epilogue at first", "operation");

    cublasLtMatrixLayoutOpaque_t a, b, c;
    cublasLtMatmulHeuristicResult_t found;
    cublasLtMatmulPreferenceOpaque_t preference;
    int number = 7, id = 0;
    CALL(cublasLtMatmulPreferenceInit(&preference));
    CALL(cublasLtMatrixLayoutInit(&a, CUDA_R_32F, 16, 8, 16));
    CALL(cublasLtMatrixLayoutInit(&b, CUDA_R_32F, 4, 16, 4));
    CALL(cublasLtMatrixLayoutInit(&c, CUDA_R_32F, 16, 16, 16));
    check(cublasLtMatmulAlgoGetHeuristic(handle, &operation, &a, &b, &c, &c, &preference, 1, &found,
                                         &number) != CUBLAS_STATUS_SUCCESS ||
              number == 0,
          "sizes that do not fit", "product");
    CALL(cublasLtMatrixLayoutInit(&b, CUDA_R_32F, 8, 16, 8));
    CALL(cublasLtMatmulAlgoGetHeuristic(handle, &operation, &a, &b, &c, &c, &preference, 1, &found,
                                        &number));
    check(number == 1 && found.state == CUBLAS_STATUS_SUCCESS, "an algorithm", "product");
    check(cublasLtMatmulAlgoConfigGetAttribute(&found.algo, CUBLASLT_ALGO_CONFIG_ID, &id, 4,
                                               &written) == CUBLAS_STATUS_SUCCESS,
          "its number", "algorithm");
    CALL(cublasLtMatmulAlgoCheck(handle, &operation, &a, &b, &c, &c, &found.algo, &found));
    check(found.state == CUBLAS_STATUS_SUCCESS, "it may run", "algorithm");
    unsigned tiles[1000];
    CALL(cublasLtMatmulAlgoCapGetAttribute(&found.algo, CUBLASLT_ALGO_CAP_TILE_IDS, nullptr, 0,
                                           &written));
    check(written % 4 == 0, "how many tiles", "algorithm");
    CALL(cublasLtMatmulAlgoCapGetAttribute(&found.algo, CUBLASLT_ALGO_CAP_TILE_IDS, tiles, written,
                                           &written));
    float one = 1;
    check(cublasLtMatmul(nullptr, &operation, &one, &one, &a, &one, &b, &one, &one, &c, &one, &c,
                         nullptr, nullptr, 0, stream) == CUBLAS_STATUS_NOT_INITIALIZED,
          "a product without a handle", "product");
}

int main()
{
    CALL(cublasLtCreate(&handle));
    CALL(cudaStreamCreate(&stream));
    CALL(cudaMalloc(&workspace, workspace_bytes));
    every_case<float, float, float, float>("float", CUBLAS_COMPUTE_32F, 1e-5);
    every_case<double, double, double, double>("double", CUBLAS_COMPUTE_64F, 1e-9);
    every_case<__half, __half, float, __half>("half", CUBLAS_COMPUTE_32F, 2e-3);
    every_case<__half, float, float, float>("half to float", CUBLAS_COMPUTE_32F, 1e-5);
    every_case<__half, __half, __half, __half>("half by half", CUBLAS_COMPUTE_16F, 4e-3);
    every_case<__nv_bfloat16, __nv_bfloat16, float, __nv_bfloat16>("bfloat16", CUBLAS_COMPUTE_32F,
                                                                   2e-2);
    every_case<__nv_bfloat16, float, float, float>("bfloat16 to float", CUBLAS_COMPUTE_32F, 1e-5);
    every_case<int8_t, int, int, int>("bytes to int", CUBLAS_COMPUTE_32I, 0, false);
    every_case<int8_t, int8_t, float, float>("bytes", CUBLAS_COMPUTE_32I, 0.6);
    complex_numbers<cuComplex, float>("complex", CUDA_C_32F, CUBLAS_COMPUTE_32F);
    complex_numbers<cuDoubleComplex, double>("double complex", CUDA_C_64F, CUBLAS_COMPUTE_64F);
    structures();
    CALL(cudaFree(workspace));
    CALL(cudaStreamDestroy(stream));
    CALL(cublasLtDestroy(handle));
    std::puts(failures == 0 ? "all right" : "not all right");
    return failures != 0;
}
