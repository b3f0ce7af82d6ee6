// Right: a graph with allocation and free nodes, a memset and 1D copies, launched several times
// with other parameters.
#include "tests/programs/program.cuh"

#include <vector>
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
int main()
{
    const int n = 5000;
    float a = 3;
    std::vector<float> hx(n), hy(n);
    for (int i = 0; i < n; i++) hx[i] = i;
    cudaGraph_t g;
    CHECK(cudaGraphCreate(&g, 0));
    cudaMemAllocNodeParams ap = {};
    ap.poolProps.allocType = cudaMemAllocationTypePinned;
    ap.poolProps.location = {cudaMemLocationTypeDevice, 0};
    ap.bytesize = n * 4;
    cudaGraphNode_t ax, ay, cx, my, k, co, fx, fy;
    CHECK(cudaGraphAddMemAllocNode(&ax, g, nullptr, 0, &ap));
    float *x = (float *)ap.dptr;
    CHECK(cudaGraphAddMemAllocNode(&ay, g, nullptr, 0, &ap));
    float *y = (float *)ap.dptr;
    CHECK(cudaGraphAddMemcpyNode1D(&cx, g, &ax, 1, x, hx.data(), n * 4, cudaMemcpyHostToDevice));
    cudaMemsetParams mp = {};
    mp.dst = y;
    mp.elementSize = 4;
    mp.width = n;
    mp.height = 1;
    mp.value = 0x3f800000;
    CHECK(cudaGraphAddMemsetNode(&my, g, &ay, 1, &mp));
    int nn = n;
    void *args[] = {&nn, &a, &x, &y};
    cudaKernelNodeParams kp = {};
    kp.func = (void *)saxpy;
    kp.gridDim = dim3((n + 255) / 256);
    kp.blockDim = dim3(256);
    kp.kernelParams = args;
    cudaGraphNode_t deps[] = {cx, my};
    CHECK(cudaGraphAddKernelNode(&k, g, deps, 2, &kp));
    CHECK(cudaGraphAddMemcpyNode1D(&co, g, &k, 1, hy.data(), y, n * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaGraphAddMemFreeNode(&fx, g, &k, 1, x));
    CHECK(cudaGraphAddMemFreeNode(&fy, g, &co, 1, y));
    cudaGraphExec_t ex;
    CHECK(cudaGraphInstantiate(&ex, g, 0));
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    for (int r = 0; r < 4; r++) {
        CHECK(cudaGraphLaunch(ex, s));
        CHECK(cudaStreamSynchronize(s));
        for (int i = 0; i < n; i++) EXPECT(hy[i] == a * i + 1);
        a += 1;
        CHECK(cudaGraphExecKernelNodeSetParams(ex, k, &kp));
    }
    size_t used;
    CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
    EXPECT(used >= 2u * n * 4);
    CHECK(cudaGraphExecDestroy(ex));
    CHECK(cudaGraphDestroy(g));
    CHECK(cudaStreamDestroy(s));
    CHECK(cudaDeviceGraphMemTrim(0));
    puts("PASS");
    return 0;
}
