// Right: a graph built node by node: memset, kernels, child graph, copy, host node; kernel
// parameters changed between launches.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t st = (call);                                                                   \
        if (st != cudaSuccess) {                                                                   \
            fprintf(stderr, "error %d (%s) at line %d\n", (int)st, cudaGetErrorString(st),         \
                    __LINE__);                                                                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void ramp(float *v, int n, float start, float step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = start + step * (i % 64);
}

__global__ void clampTo(float *v, int n, float hi)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = fminf(v[i], hi);
}

__global__ void dot(const float *x, const float *y, int n, double *acc)
{
    __shared__ double sm[128];
    double s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        s += (double)x[i] * y[i];
    sm[threadIdx.x] = s;
    __syncthreads();
    for (int k = 64; k > 0; k /= 2) {
        if (threadIdx.x < k) sm[threadIdx.x] += sm[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(acc, sm[0]);
}

struct Log {
    const double *source;
    std::vector<double> values;
};

static void CUDART_CB append(void *p)
{
    Log *log = static_cast<Log *>(p);
    log->values.push_back(*log->source);
}

static double reference(int n, float xs, float xstep, float ystart, float ystep, float hi)
{
    double s = 0;
    for (int i = 0; i < n; ++i) {
        float x = xs + xstep * (i % 64), y = ystart + ystep * (i % 64);
        s += (double)x * (y < hi ? y : hi);
    }
    return s;
}

int main()
{
    int n = 9000;
    float *x, *y;
    double *acc, *result;
    CK(cudaMalloc(&x, n * sizeof(float)));
    CK(cudaMalloc(&y, n * sizeof(float)));
    CK(cudaMalloc(&acc, sizeof(double)));
    CK(cudaMallocHost(&result, sizeof(double)));
    Log log{result, {}};
    log.values.reserve(16);

    cudaGraph_t graph, child;
    CK(cudaGraphCreate(&graph, 0));
    CK(cudaGraphCreate(&child, 0));

    // child graph: y = min(ramp, hi)
    float ystart = 5.0f, ystep = -0.25f, hi = 2.0f;
    cudaGraphNode_t yRamp, yClamp;
    cudaKernelNodeParams kp = {};
    kp.gridDim = dim3((n + 255) / 256);
    kp.blockDim = dim3(256);
    void *yArgs[] = {&y, &n, &ystart, &ystep};
    kp.func = (void *)ramp;
    kp.kernelParams = yArgs;
    CK(cudaGraphAddKernelNode(&yRamp, child, nullptr, 0, &kp));
    void *cArgs[] = {&y, &n, &hi};
    kp.func = (void *)clampTo;
    kp.kernelParams = cArgs;
    CK(cudaGraphAddKernelNode(&yClamp, child, &yRamp, 1, &kp));

    // main graph: three roots, then the product, the copy, the host node
    cudaGraphNode_t zero, xRamp, yChild, product, copy, host;
    cudaMemsetParams mp = {};
    mp.dst = acc;
    mp.value = 0;
    mp.elementSize = 4;
    mp.width = 2;
    mp.height = 1;
    CK(cudaGraphAddMemsetNode(&zero, graph, nullptr, 0, &mp));

    float xs = 1.0f, xstep = 0.5f;
    void *xArgs[] = {&x, &n, &xs, &xstep};
    cudaKernelNodeParams xp = {};
    xp.func = (void *)ramp;
    xp.gridDim = dim3((n + 127) / 128);
    xp.blockDim = dim3(128);
    xp.kernelParams = xArgs;
    CK(cudaGraphAddKernelNode(&xRamp, graph, nullptr, 0, &xp));
    CK(cudaGraphAddChildGraphNode(&yChild, graph, nullptr, 0, child));

    cudaGraphNode_t before[] = {zero, xRamp, yChild};
    void *dArgs[] = {&x, &y, &n, &acc};
    cudaKernelNodeParams dp = {};
    dp.func = (void *)dot;
    dp.gridDim = dim3(10);
    dp.blockDim = dim3(128);
    dp.kernelParams = dArgs;
    CK(cudaGraphAddKernelNode(&product, graph, before, 3, &dp));
    CK(cudaGraphAddMemcpyNode1D(&copy, graph, &product, 1, result, acc, sizeof(double),
                                cudaMemcpyDeviceToHost));
    cudaHostNodeParams hp = {};
    hp.fn = append;
    hp.userData = &log;
    CK(cudaGraphAddHostNode(&host, graph, &copy, 1, &hp));

    cudaGraphExec_t exec;
    CK(cudaGraphInstantiate(&exec, graph, 0));
    cudaStream_t s;
    CK(cudaStreamCreate(&s));

    // parameters of later launches change while the earlier ones may still be running
    std::vector<double> want;
    for (int k = 0; k < 5; ++k) {
        xs = 1.0f + k;
        xstep = 0.5f / (k + 1);
        CK(cudaGraphExecKernelNodeSetParams(exec, xRamp, &xp));
        CK(cudaGraphLaunch(exec, s));
        want.push_back(reference(n, xs, xstep, ystart, ystep, hi));
    }
    // a clone is independent of the original
    cudaGraph_t clone;
    CK(cudaGraphClone(&clone, graph));
    CK(cudaGraphDestroy(graph));
    CK(cudaGraphDestroy(child));
    cudaGraphExec_t exec2;
    CK(cudaGraphInstantiate(&exec2, clone, 0));
    CK(cudaGraphLaunch(exec2, s)); // same stream: after the others
    want.push_back(reference(n, 1.0f, 0.5f, ystart, ystep, hi));
    CK(cudaStreamSynchronize(s));

    bool ok = log.values.size() == want.size();
    if (!ok) printf("%zu results instead of %zu\n", log.values.size(), want.size());
    for (size_t i = 0; ok && i < want.size(); ++i)
        if (std::fabs(log.values[i] - want[i]) > 1e-4 * std::fabs(want[i])) {
            printf("launch %zu: %f, expected %f\n", i, log.values[i], want[i]);
            ok = false;
        }
    CK(cudaGraphExecDestroy(exec));
    CK(cudaGraphExecDestroy(exec2));
    CK(cudaGraphDestroy(clone));
    CK(cudaStreamDestroy(s));
    CK(cudaFree(x));
    CK(cudaFree(y));
    CK(cudaFree(acc));
    CK(cudaFreeHost(result));
    if (!ok) return 1;
    printf("PASS\n");
    return 0;
}
