// Right: Mandelbrot and a Julia set in bands of rows, several streams, pinned result, each band
// checked as its event completes.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CUDA_CHECK_RETURN(value)                                                                   \
    do {                                                                                           \
        cudaError_t _m = (value);                                                                  \
        if (_m != cudaSuccess) {                                                                   \
            fprintf(stderr, "Error %s at line %d in file %s\n", cudaGetErrorString(_m), __LINE__,  \
                    __FILE__);                                                                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int W = 120, H = 88, BANDS = 11, ROWS = H / BANDS, STREAMS = 3, MAXIT = 90;

struct View {
    float cx, cy, scale;
    bool julia;
    float jr, ji;
};

__host__ __device__ inline int escape(float zr, float zi, float cr, float ci)
{
    int it = 0;
    while (it < MAXIT) {
        float r2 = zr * zr, i2 = zi * zi;
        if (r2 + i2 > 4.0f) break;
        zi = 2.0f * zr * zi + ci;
        zr = r2 - i2 + cr;
        ++it;
    }
    return it;
}

__host__ __device__ inline int pixel(int x, int y, const View &v)
{
    float re = v.cx + (x - W / 2) * v.scale, im = v.cy + (y - H / 2) * v.scale;
    return v.julia ? escape(re, im, v.jr, v.ji) : escape(0.0f, 0.0f, re, im);
}

__global__ void renderBand(unsigned char *out, int y0, View v, unsigned *inside)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    bool in = false;
    if (x < W && y < ROWS) {
        int it = pixel(x, y0 + y, v);
        out[y * W + x] = (unsigned char)it;
        in = it == MAXIT;
    }
    int cnt = __syncthreads_count(in);
    if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(inside, (unsigned)cnt);
}

int main()
{
    const View views[2] = {{-0.6f, 0.0f, 0.025f, false, 0, 0},
                           {0.0f, 0.0f, 0.03f, true, -0.4f, 0.6f}};
    cudaStream_t s[STREAMS];
    for (auto &st : s) CUDA_CHECK_RETURN(cudaStreamCreateWithFlags(&st, cudaStreamNonBlocking));
    cudaEvent_t ready, done[BANDS];
    CUDA_CHECK_RETURN(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    for (auto &e : done)
        CUDA_CHECK_RETURN(
            cudaEventCreateWithFlags(&e, cudaEventDisableTiming | cudaEventBlockingSync));

    unsigned char *h, *d;
    unsigned *dInside, *hInside;
    CUDA_CHECK_RETURN(cudaMallocHost(&h, W * H));
    CUDA_CHECK_RETURN(cudaMallocHost(&hInside, sizeof(unsigned)));
    CUDA_CHECK_RETURN(cudaMalloc(&d, W * H));
    CUDA_CHECK_RETURN(cudaMalloc(&dInside, sizeof(unsigned)));

    int bad = 0;
    for (const View &v : views) {
        // everybody waits for the counter to be cleared in stream 0
        CUDA_CHECK_RETURN(cudaMemsetAsync(dInside, 0, sizeof(unsigned), s[0]));
        CUDA_CHECK_RETURN(cudaEventRecord(ready, s[0]));
        for (int k = 1; k < STREAMS; ++k) CUDA_CHECK_RETURN(cudaStreamWaitEvent(s[k], ready, 0));

        for (int b = 0; b < BANDS; ++b) {
            cudaStream_t st = s[b % STREAMS];
            dim3 block(32, 4), grid((W + 31) / 32, (ROWS + 3) / 4);
            renderBand<<<grid, block, 0, st>>>(d + b * ROWS * W, b * ROWS, v, dInside);
            CUDA_CHECK_RETURN(cudaGetLastError());
            CUDA_CHECK_RETURN(cudaMemcpyAsync(h + b * ROWS * W, d + b * ROWS * W, ROWS * W,
                                              cudaMemcpyDeviceToHost, st));
            CUDA_CHECK_RETURN(cudaEventRecord(done[b], st));
        }
        // the count needs all the bands; stream 0 collects it
        for (int b = 0; b < BANDS; ++b) CUDA_CHECK_RETURN(cudaStreamWaitEvent(s[0], done[b], 0));
        CUDA_CHECK_RETURN(
            cudaMemcpyAsync(hInside, dInside, sizeof(unsigned), cudaMemcpyDeviceToHost, s[0]));

        // bands are looked at as they come in, some by polling
        unsigned inside = 0;
        for (int b = 0; b < BANDS; ++b) {
            if (b % 2) {
                cudaError_t q;
                while ((q = cudaEventQuery(done[b])) == cudaErrorNotReady) {
                }
                CUDA_CHECK_RETURN(q);
            } else {
                CUDA_CHECK_RETURN(cudaEventSynchronize(done[b]));
            }
            for (int y = b * ROWS; y < (b + 1) * ROWS; ++y)
                for (int x = 0; x < W; ++x) {
                    int want = pixel(x, y, v);
                    inside += want == MAXIT;
                    if (h[y * W + x] != want && bad++ < 6)
                        printf("(%d,%d): %d, expected %d\n", x, y, h[y * W + x], want);
                }
        }
        CUDA_CHECK_RETURN(cudaStreamSynchronize(s[0]));
        if (*hInside != inside) {
            printf("%u points inside, expected %u\n", *hInside, inside);
            ++bad;
        }
    }
    for (auto &e : done) CUDA_CHECK_RETURN(cudaEventDestroy(e));
    CUDA_CHECK_RETURN(cudaEventDestroy(ready));
    for (auto &st : s) CUDA_CHECK_RETURN(cudaStreamDestroy(st));
    CUDA_CHECK_RETURN(cudaFree(d));
    CUDA_CHECK_RETURN(cudaFree(dInside));
    CUDA_CHECK_RETURN(cudaFreeHost(h));
    CUDA_CHECK_RETURN(cudaFreeHost(hInside));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
