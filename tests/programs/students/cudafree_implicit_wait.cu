// right: functions whose only wait is the cudaFree / cudaFreeHost at their end, results read from
// mapped memory
//
// relies on cudaFree waiting
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

static void ck(cudaError_t e, const char *what, int line)
{
    if (e != cudaSuccess) {
        fprintf(stderr, "line %d: %s: %s\n", line, what, cudaGetErrorString(e));
        exit(EXIT_FAILURE);
    }
}
#define CK(x) ck((x), #x, __LINE__)

__global__ void boxBlur(const float *src, float *dst, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float s = 0.0f;
    int cnt = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            int xx = x + dx, yy = y + dy;
            if (xx < 0 || yy < 0 || xx >= w || yy >= h) continue;
            s += src[yy * w + xx];
            ++cnt;
        }
    dst[y * w + x] = s / cnt;
}

__global__ void scaleBy(float *v, const float *table, int tableLen, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] *= table[i % tableLen];
}

// Blurs `passes` times; `result` is mapped host memory that the last kernel writes.
static void blur(const float *h_img, float *result, int w, int h, int passes, cudaStream_t st)
{
    size_t bytes = (size_t)w * h * sizeof(float);
    float *d_ping, *d_pong, *d_result;
    CK(cudaMalloc((void **)&d_ping, bytes));
    CK(cudaMalloc((void **)&d_pong, bytes));
    CK(cudaHostGetDevicePointer((void **)&d_result, result, 0));
    CK(cudaMemcpy(d_ping, h_img, bytes, cudaMemcpyHostToDevice));
    dim3 block(16, 8), grid((w + 15) / 16, (h + 7) / 8);
    for (int p = 0; p < passes; ++p) {
        float *out = (p == passes - 1) ? d_result : d_pong;
        boxBlur<<<grid, block, 0, st>>>(d_ping, out, w, h);
        CK(cudaGetLastError());
        float *t = d_ping;
        d_ping = d_pong;
        d_pong = t;
    }
    cudaFree(d_ping); // waits for the kernels above
    cudaFree(d_pong);
}

// Uploads a table from a temporary pinned buffer and lets go of it straight away.
static float *uploadTable(int n, cudaStream_t st)
{
    float *h_tmp, *d_table;
    CK(cudaMallocHost((void **)&h_tmp, n * sizeof(float)));
    CK(cudaMalloc((void **)&d_table, n * sizeof(float)));
    for (int i = 0; i < n; ++i) h_tmp[i] = 1.0f + 0.5f * i;
    CK(cudaMemcpyAsync(d_table, h_tmp, n * sizeof(float), cudaMemcpyHostToDevice, st));
    cudaFreeHost(h_tmp); // waits for the copy
    return d_table;
}

static void refBlur(float *a, int w, int h, int passes)
{
    float *b = (float *)malloc((size_t)w * h * sizeof(float));
    for (int p = 0; p < passes; ++p) {
        for (int y = 0; y < h; ++y)
            for (int x = 0; x < w; ++x) {
                float s = 0;
                int cnt = 0;
                for (int yy = y - 1; yy <= y + 1; ++yy)
                    for (int xx = x - 1; xx <= x + 1; ++xx)
                        if (xx >= 0 && yy >= 0 && xx < w && yy < h) {
                            s += a[yy * w + xx];
                            ++cnt;
                        }
                b[y * w + x] = s / cnt;
            }
        memcpy(a, b, (size_t)w * h * sizeof(float));
    }
    free(b);
}

int main()
{
    const int w = 93, h = 61, n = w * h, tableLen = 7, passes = 4;
    CK(cudaSetDeviceFlags(cudaDeviceMapHost));
    cudaStream_t st;
    CK(cudaStreamCreate(&st));

    float *img = (float *)malloc(n * sizeof(float));
    float *ref = (float *)malloc(n * sizeof(float));
    float *result;
    CK(cudaHostAlloc((void **)&result, n * sizeof(float), cudaHostAllocMapped));
    int bad = 0;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < n; ++i) ref[i] = img[i] = (float)((i * 37 + round * 11) % 101);
        memset(result, 0, n * sizeof(float));
        blur(img, result, w, h, passes, st);
        refBlur(ref, w, h, passes);
        for (int i = 0; i < n; ++i)
            if (fabsf(result[i] - ref[i]) > 1e-3f && bad++ < 5)
                printf("blur round %d [%d]: %f vs %f\n", round, i, result[i], ref[i]);
    }

    float *d_table = uploadTable(tableLen, st);
    float *d_result;
    CK(cudaHostGetDevicePointer((void **)&d_result, result, 0));
    scaleBy<<<(n + 127) / 128, 128, 0, st>>>(d_result, d_table, tableLen, n);
    CK(cudaGetLastError());
    cudaFree(d_table); // waits for scaleBy
    for (int i = 0; i < n; ++i) {
        float want = ref[i] * (1.0f + 0.5f * (i % tableLen));
        if (fabsf(result[i] - want) > 4e-3f && bad++ < 10)
            printf("scale [%d]: %f vs %f\n", i, result[i], want);
    }
    CK(cudaFreeHost(result));
    CK(cudaStreamDestroy(st));
    free(img);
    free(ref);
    if (bad) {
        printf("FAILED, %d differences\n", bad);
        return 1;
    }
    printf("PASS\n");
    return 0;
}
