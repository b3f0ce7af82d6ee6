// Right: batched FFT by hand: Stockham passes between two global buffers, the same in shared
// memory, inverse, convolution theorem.
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cuComplex.h>
#include <cuda_runtime.h>
#include <utility>
#include <vector>

#define CK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t e = (x);                                                                       \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(e));                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// radix-2 Stockham step: n/2 butterflies, `s` sub-transforms of length n/s so far
__device__ void butterfly(const cuFloatComplex *x, cuFloatComplex *y, int i, int n, int s,
                          float sign)
{
    const int m = n / (2 * s);
    const int p = i / s, q = i % s;
    cuFloatComplex a = x[q + s * p], b = x[q + s * (p + m)];
    float sn, cs;
    sincospif(sign * p / m, &sn, &cs);
    cuFloatComplex d = cuCsubf(a, b);
    y[q + s * (2 * p)] = cuCaddf(a, b);
    y[q + s * (2 * p + 1)] = cuCmulf(d, make_cuFloatComplex(cs, sn));
}

__global__ void stockhamPass(const cuFloatComplex *x, cuFloatComplex *y, int n, int s, int batch,
                             float sign)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= batch * n / 2) return;
    int b = t / (n / 2), i = t % (n / 2);
    butterfly(x + b * n, y + b * n, i, n, s, sign);
}

// one block per transform, n/2 threads, two halves of dynamic shared memory
__global__ void stockhamShared(cuFloatComplex *data, int n, float sign, float scale)
{
    extern __shared__ cuFloatComplex sm[];
    cuFloatComplex *x = sm, *y = sm + n;
    data += (size_t)blockIdx.x * n;
    x[threadIdx.x] = data[threadIdx.x];
    x[threadIdx.x + n / 2] = data[threadIdx.x + n / 2];
    __syncthreads();
    for (int s = 1; s < n; s *= 2) {
        butterfly(x, y, threadIdx.x, n, s, sign);
        __syncthreads();
        cuFloatComplex *t = x;
        x = y;
        y = t;
    }
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        data[k] = make_cuFloatComplex(x[k].x * scale, x[k].y * scale);
}

__global__ void multiply(cuFloatComplex *a, const cuFloatComplex *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = cuCmulf(a[i], b[i]);
}

typedef std::complex<double> cd;

static std::vector<cd> dftReference(const cuFloatComplex *x, int n)
{
    std::vector<cd> w(n), r(n);
    for (int k = 0; k < n; ++k) w[k] = std::polar(1.0, -2.0 * M_PI * k / n);
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j) r[k] += cd(x[j].x, x[j].y) * w[(size_t)k * j % n];
    return r;
}

int main()
{
    const int n = 256, batch = 5, total = n * batch;
    std::vector<cuFloatComplex> h(total), got(total), sh(total);
    unsigned r = 1234;
    for (auto &c : h) {
        r = r * 1664525u + 1013904223u;
        c.x = (float)(r >> 16) / 65536.0f - 0.5f;
        r = r * 1664525u + 1013904223u;
        c.y = (float)(r >> 16) / 65536.0f - 0.5f;
    }
    cuFloatComplex *a, *b, *c;
    CK(cudaMalloc(&a, total * sizeof(*a)));
    CK(cudaMalloc(&b, total * sizeof(*b)));
    CK(cudaMalloc(&c, total * sizeof(*c)));
    CK(cudaMemcpy(a, h.data(), total * sizeof(*a), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(c, a, total * sizeof(*a), cudaMemcpyDeviceToDevice));

    for (int s = 1; s < n; s *= 2) {
        stockhamPass<<<(total / 2 + 127) / 128, 128>>>(a, b, n, s, batch, -1.0f);
        CK(cudaGetLastError());
        std::swap(a, b);
    }
    stockhamShared<<<batch, n / 2, 2 * n * sizeof(cuFloatComplex)>>>(c, n, -1.0f, 1.0f);
    CK(cudaGetLastError());
    CK(cudaMemcpy(got.data(), a, total * sizeof(*a), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(sh.data(), c, total * sizeof(*c), cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int t = 0; t < batch; ++t) {
        auto ref = dftReference(&h[t * n], n);
        for (int k = 0; k < n; ++k) {
            cd g(got[t * n + k].x, got[t * n + k].y), s(sh[t * n + k].x, sh[t * n + k].y);
            if ((std::abs(g - ref[k]) > 2e-4 || std::abs(s - ref[k]) > 2e-4) && bad++ < 5)
                printf("transform %d bin %d: %g%+gi and %g%+gi, expected %g%+gi\n", t, k, g.real(),
                       g.imag(), s.real(), s.imag(), ref[k].real(), ref[k].imag());
        }
    }

    // back again
    stockhamShared<<<batch, n / 2, 2 * n * sizeof(cuFloatComplex)>>>(c, n, 1.0f, 1.0f / n);
    CK(cudaGetLastError());
    CK(cudaMemcpy(sh.data(), c, total * sizeof(*c), cudaMemcpyDeviceToHost));
    for (int i = 0; i < total; ++i)
        if ((std::fabs(sh[i].x - h[i].x) > 1e-5f || std::fabs(sh[i].y - h[i].y) > 1e-5f) &&
            bad++ < 8)
            printf("round trip %d: %f%+fi, expected %f%+fi\n", i, sh[i].x, sh[i].y, h[i].x, h[i].y);

    // cyclic convolution of transforms 0 and 1
    multiply<<<2, 128>>>(a, a + n, n);
    stockhamShared<<<1, n / 2, 2 * n * sizeof(cuFloatComplex)>>>(a, n, 1.0f, 1.0f / n);
    CK(cudaGetLastError());
    CK(cudaMemcpy(got.data(), a, n * sizeof(*a), cudaMemcpyDeviceToHost));
    for (int k = 0; k < n; ++k) {
        cd w = 0;
        for (int j = 0; j < n; ++j) {
            const cuFloatComplex &p = h[j], &q = h[n + (k - j + n) % n];
            w += cd(p.x, p.y) * cd(q.x, q.y);
        }
        if (std::abs(cd(got[k].x, got[k].y) - w) > 1e-3 && bad++ < 12)
            printf("convolution %d: %f%+fi, expected %f%+fi\n", k, got[k].x, got[k].y, w.real(),
                   w.imag());
    }
    CK(cudaFree(a));
    CK(cudaFree(b));
    CK(cudaFree(c));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
