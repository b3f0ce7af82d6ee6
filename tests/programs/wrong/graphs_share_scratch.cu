// Wrong: two graphs launched into two streams use the same scratch buffer with nothing ordering
// them.
// Found: race
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define OK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t status = (x);                                                                  \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s, line %d: %s\n", #x, __LINE__, cudaGetErrorString(status));        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void blurRows(const float *in, float *tmp, int w, int h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= w * h) return;
    int x = i % w;
    float l = x > 0 ? in[i - 1] : in[i], r = x < w - 1 ? in[i + 1] : in[i];
    tmp[i] = (l + in[i] + r) / 3.0f;
}

__global__ void blurColumns(const float *tmp, float *out, int w, int h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= w * h) return;
    int y = i / w;
    float u = y > 0 ? tmp[i - w] : tmp[i], d = y < h - 1 ? tmp[i + w] : tmp[i];
    out[i] = (u + tmp[i] + d) / 3.0f;
}

static cudaGraphExec_t record(cudaStream_t s, float *img, float *scratch, int w, int h, int passes)
{
    const int grid = (w * h + 127) / 128;
    cudaGraph_t g;
    cudaGraphExec_t e;
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    for (int p = 0; p < passes; ++p) {
        blurRows<<<grid, 128, 0, s>>>(img, scratch, w, h);
        blurColumns<<<grid, 128, 0, s>>>(scratch, img, w, h);
    }
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaGraphInstantiate(&e, g, 0));
    OK(cudaGraphDestroy(g));
    return e;
}

static void reference(std::vector<float> &v, int w, int h, int passes)
{
    std::vector<float> t(v.size());
    for (int p = 0; p < passes; ++p) {
        for (int i = 0; i < w * h; ++i)
            t[i] = (v[i % w > 0 ? i - 1 : i] + v[i] + v[i % w < w - 1 ? i + 1 : i]) / 3.0f;
        for (int i = 0; i < w * h; ++i)
            v[i] = (t[i / w > 0 ? i - w : i] + t[i] + t[i / w < h - 1 ? i + w : i]) / 3.0f;
    }
}

int main()
{
    const int w = 150, h = 100, n = w * h, passes = 3, launches = 2;
    std::vector<float> a(n), b(n), ga(n), gb(n);
    for (int i = 0; i < n; ++i) {
        a[i] = (float)((i * 7) % 256);
        b[i] = (float)((i * 23) % 256);
    }
    float *da, *db, *scratch;
    OK(cudaMalloc(&da, n * sizeof(float)));
    OK(cudaMalloc(&db, n * sizeof(float)));
    OK(cudaMalloc(&scratch, n * sizeof(float)));
    OK(cudaMemcpy(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    OK(cudaMemcpy(db, b.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    OK(cudaDeviceSynchronize());

    cudaStream_t s[2];
    for (auto &st : s) OK(cudaStreamCreateWithFlags(&st, cudaStreamNonBlocking));
    float *image[2] = {da, db};
    cudaGraphExec_t exec[2];
    for (int k = 0; k < 2; ++k) exec[k] = record(s[k], image[k], scratch, w, h, passes);
    for (int l = 0; l < launches; ++l)
        for (int k = 0; k < 2; ++k) OK(cudaGraphLaunch(exec[k], s[k]));
    for (auto &st : s) OK(cudaStreamSynchronize(st));

    OK(cudaMemcpy(ga.data(), da, n * sizeof(float), cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(gb.data(), db, n * sizeof(float), cudaMemcpyDeviceToHost));
    reference(a, w, h, passes * launches);
    reference(b, w, h, passes * launches);
    int bad = 0;
    for (int i = 0; i < n; ++i) {
        if (!(std::fabs(ga[i] - a[i]) < 1e-2f) && bad++ < 4)
            printf("a[%d] = %f, expected %f\n", i, ga[i], a[i]);
        if (!(std::fabs(gb[i] - b[i]) < 1e-2f) && bad++ < 8)
            printf("b[%d] = %f, expected %f\n", i, gb[i], b[i]);
    }
    for (int k = 0; k < 2; ++k) {
        OK(cudaGraphExecDestroy(exec[k]));
        OK(cudaStreamDestroy(s[k]));
    }
    OK(cudaFree(da));
    OK(cudaFree(db));
    OK(cudaFree(scratch));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
