// Right: half2 and bfloat16 arithmetic, int8 dot products (dp4a, dp2a), SIMD-in-a-word video
// instructions, bit intrinsics.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <functional>
#include <vector>

#define CK(x)                                                                                      \
    if (cudaError_t e = (x)) {                                                                     \
        printf("line %d: %s\n", __LINE__, cudaGetErrorString(e));                                  \
        exit(1);                                                                                   \
    }

__global__ void haxpy(int n2, __half a, const __half2 *x, __half2 *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n2) y[i] = __hfma2(__half2half2(a), x[i], y[i]);
}

__global__ void hdot(const __half2 *x, const __half2 *y, int n2, float *out)
{
    float s = 0.0f;
    for (int i = threadIdx.x; i < n2; i += 32) {
        float2 a = __half22float2(x[i]), b = __half22float2(y[i]);
        s += a.x * b.x + a.y * b.y;
    }
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
    if (threadIdx.x == 0) *out = s;
}

__global__ void bfScale(const float *in, __nv_bfloat16 *out, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __hmul(__float2bfloat16(in[i]), __float2bfloat16(factor));
}

// C = A * B^T for int8 matrices with the depth packed by four
__global__ void gemmI8(const int *A, const int *B, int *C, int m, int n, int k4)
{
    int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= m || c >= n) return;
    int acc = 0;
    for (int k = 0; k < k4; ++k) acc = __dp4a(A[r * k4 + k], B[c * k4 + k], acc);
    C[r * n + c] = acc;
}

constexpr int OPS = 22;
__global__ void words(const unsigned *a, const unsigned *b, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i], *o = out + i * OPS;
    o[0] = __vadd4(x, y);
    o[1] = __vsub4(x, y);
    o[2] = __vaddus4(x, y);
    o[3] = __vabsdiffu4(x, y);
    o[4] = __vavgu4(x, y);
    o[5] = __vmaxs4(x, y);
    o[6] = __vminu4(x, y);
    o[7] = __vcmpgtu4(x, y);
    o[8] = __vsadu4(x, y);
    o[9] = __vadd2(x, y);
    o[10] = __vmaxu2(x, y);
    o[11] = __byte_perm(x, y, 0x6240);
    o[12] = __funnelshift_l(x, y, 11);
    o[13] = __brev(x);
    o[14] = __popc(x) + 100 * __clz(y) + 10000 * __ffs(y);
    o[15] = __umulhi(x, y);
    o[16] = (unsigned)__mulhi((int)x, (int)y);
    o[17] = __usad(x, y, 17u);
    o[18] = __uhadd(x, y);
    o[19] = (unsigned)__dp2a_lo((int)x, (int)y, 5);
    o[20] = __popcll(((unsigned long long)x << 32) | y);
    o[21] = __dp4a(x, y, 9u);
}

static unsigned bytes(unsigned x, unsigned y, const std::function<unsigned(unsigned, unsigned)> &f)
{
    unsigned r = 0;
    for (int k = 0; k < 4; ++k) r |= (f((x >> 8 * k) & 255, (y >> 8 * k) & 255) & 255u) << 8 * k;
    return r;
}

static void wordsRef(unsigned x, unsigned y, unsigned *o)
{
    o[0] = bytes(x, y, [](unsigned a, unsigned b) { return a + b; });
    o[1] = bytes(x, y, [](unsigned a, unsigned b) { return a - b; });
    o[2] = bytes(x, y, [](unsigned a, unsigned b) { return a + b > 255 ? 255 : a + b; });
    o[3] = bytes(x, y, [](unsigned a, unsigned b) { return a > b ? a - b : b - a; });
    o[4] = bytes(x, y, [](unsigned a, unsigned b) { return (a + b + 1) / 2; });
    o[5] = bytes(x, y, [](unsigned a, unsigned b) { return (int8_t)a > (int8_t)b ? a : b; });
    o[6] = bytes(x, y, [](unsigned a, unsigned b) { return a < b ? a : b; });
    o[7] = bytes(x, y, [](unsigned a, unsigned b) { return a > b ? 255u : 0u; });
    o[8] = 0, o[19] = 5, o[21] = 9;
    for (int k = 0; k < 4; ++k) {
        int a = (x >> 8 * k) & 255, b = (y >> 8 * k) & 255;
        o[8] += (unsigned)std::abs(a - b);
        o[21] += (unsigned)(a * b);
    }
    for (int k = 0; k < 2; ++k)
        o[19] += (unsigned)((int)(int16_t)(x >> 16 * k) * (int)(int8_t)(y >> 8 * k));
    o[9] = ((x + y) & 0xffff) | ((((x >> 16) + (y >> 16)) & 0xffff) << 16);
    unsigned xl = x & 0xffff, yl = y & 0xffff, xh = x >> 16, yh = y >> 16;
    o[10] = (xl > yl ? xl : yl) | (xh > yh ? xh : yh) << 16;
    uint64_t both = ((uint64_t)y << 32) | x;
    o[11] = o[13] = 0;
    for (int k = 0; k < 4; ++k)
        o[11] |= (unsigned)((both >> 8 * ((0x6240 >> 4 * k) & 7)) & 255) << 8 * k;
    o[12] = (y << 11) | (x >> 21);
    for (int k = 0; k < 32; ++k)
        if (x >> k & 1) o[13] |= 1u << (31 - k);
    o[14] =
        __builtin_popcount(x) + 100 * (y ? __builtin_clz(y) : 32) + 10000 * __builtin_ffs((int)y);
    o[15] = (unsigned)(((uint64_t)x * y) >> 32);
    o[16] = (unsigned)(((int64_t)(int)x * (int)y) >> 32);
    o[17] = (x > y ? x - y : y - x) + 17u;
    o[18] = (unsigned)(((uint64_t)x + y) >> 1);
    o[20] = __builtin_popcount(x) + __builtin_popcount(y);
}

template <class T> static T *up(const std::vector<T> &h)
{
    T *d;
    CK(cudaMalloc(&d, h.size() * sizeof(T)));
    CK(cudaMemcpy(d, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice));
    return d;
}
template <class T> static std::vector<T> down(T *d, size_t n)
{
    std::vector<T> h(n);
    CK(cudaMemcpy(h.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost));
    CK(cudaFree(d));
    return h;
}

int main()
{
    int bad = 0;
    const int n = 2048;
    std::vector<__half> hx(n), hy(n);
    for (int i = 0; i < n; ++i) {
        hx[i] = __float2half((i % 200) * 0.03125f - 2.0f);
        hy[i] = __float2half(1.0f + (i % 7) * 0.1f);
    }
    __half a = __float2half(0.7f);
    __half *dx = up(hx), *dy = up(hy);
    float *dd;
    CK(cudaMalloc(&dd, sizeof(float)));
    haxpy<<<n / 2 / 128, 128>>>(n / 2, a, (const __half2 *)dx, (__half2 *)dy);
    hdot<<<1, 32>>>((const __half2 *)dx, (const __half2 *)dy, n / 2, dd);
    CK(cudaGetLastError());
    float dot = down(dd, 1)[0];
    std::vector<__half> got = down(dy, n);
    double ref = 0;
    for (int i = 0; i < n; ++i) {
        double exact = (double)__half2float(a) * __half2float(hx[i]) + __half2float(hy[i]);
        float g = __half2float(got[i]);
        if (std::fabs(g - exact) > 0.0005 * std::fabs(exact) + 1e-6 && bad++ < 4)
            printf("haxpy[%d]: %f, expected %f\n", i, g, exact);
        ref += (double)__half2float(hx[i]) * g;
    }
    if (std::fabs(dot - ref) > 1e-3 * std::fabs(ref) + 1e-2) {
        printf("hdot: %f, expected %f\n", dot, ref);
        ++bad;
    }
    CK(cudaFree(dx));

    std::vector<float> f(1000);
    for (int i = 0; i < 1000; ++i)
        f[i] = std::ldexp(1.0f + i / 1000.0f, i % 40 - 20) * (i % 2 ? -1 : 1);
    float *df = up(f);
    __nv_bfloat16 *db;
    CK(cudaMalloc(&db, f.size() * sizeof(__nv_bfloat16)));
    bfScale<<<8, 128>>>(df, db, 1.7f, 1000);
    CK(cudaGetLastError());
    auto gb = down(db, f.size());
    for (int i = 0; i < 1000; ++i) {
        float p = __bfloat162float(__float2bfloat16(f[i])) *
                  __bfloat162float(__float2bfloat16(1.7f)); // exact
        float want = __bfloat162float(__float2bfloat16(p));
        if (__bfloat162float(gb[i]) != want && bad++ < 8)
            printf("bf16[%d]: %g, expected %g\n", i, __bfloat162float(gb[i]), want);
    }
    CK(cudaFree(df));

    const int M = 30, N = 26, K = 64;
    std::vector<int8_t> A(M * K), B(N * K);
    for (size_t i = 0; i < A.size(); ++i) A[i] = (int8_t)((i * 73) % 255 - 127);
    for (size_t i = 0; i < B.size(); ++i) B[i] = (int8_t)((i * 41) % 253 - 126);
    int8_t *dA = up(A), *dB = up(B);
    int *dC;
    CK(cudaMalloc(&dC, M * N * sizeof(int)));
    gemmI8<<<dim3((N + 7) / 8, (M + 7) / 8), dim3(8, 8)>>>((const int *)dA, (const int *)dB, dC, M,
                                                           N, K / 4);
    CK(cudaGetLastError());
    auto C = down(dC, M * N);
    for (int q = 0; q < M * N; ++q) {
        int r = q / N, c = q % N, want = 0;
        for (int k = 0; k < K; ++k) want += A[r * K + k] * B[c * K + k];
        if (C[q] != want && bad++ < 12) printf("gemm(%d,%d): %d, expected %d\n", r, c, C[q], want);
    }
    CK(cudaFree(dA));
    CK(cudaFree(dB));
    const int w = 512;
    std::vector<unsigned> x(w), y(w);
    unsigned s = 1;
    for (int i = 0; i < w; ++i) {
        s = s * 1664525u + 1013904223u;
        x[i] = s ^ (s >> 16);
        s = s * 1664525u + 1013904223u;
        y[i] = i == 5 ? 0 : s ^ (s >> 15);
    }
    unsigned *dX = up(x), *dY = up(y), *dO;
    CK(cudaMalloc(&dO, w * OPS * sizeof(unsigned)));
    words<<<w / 64, 64>>>(dX, dY, dO, w);
    CK(cudaGetLastError());
    auto o = down(dO, w * OPS);
    for (int i = 0; i < w; ++i) {
        unsigned r[OPS];
        wordsRef(x[i], y[i], r);
        for (int k = 0; k < OPS; ++k)
            if (o[i * OPS + k] != r[k] && bad++ < 16)
                printf("op %d of %08x %08x: %08x, expected %08x\n", k, x[i], y[i], o[i * OPS + k],
                       r[k]);
    }
    CK(cudaFree(dX));
    CK(cudaFree(dY));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
