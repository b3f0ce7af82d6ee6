// Right: events: times in two streams, polling, external records in captured graphs, record and
// wait nodes.
#include "tests/programs/program.cuh"

#include <vector>
__global__ void spin(int *p, int n)
{
    int v = threadIdx.x;
    for (int i = 0; i < n; i++) v = v * 1664525 + 1013904223;
    p[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
int main()
{
    int *p;
    CHECK(cudaMalloc(&p, 4 * 64 * 256));
    cudaStream_t s[2];
    for (auto &x : s) CHECK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking));
    cudaEvent_t b[2], e[2];
    for (int i = 0; i < 2; i++) {
        CHECK(cudaEventCreate(&b[i]));
        CHECK(cudaEventCreateWithFlags(&e[i], cudaEventBlockingSync));
    }
    spin<<<32, 256>>>(p, 10);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 2; i++) {
        CHECK(cudaEventRecord(b[i], s[i]));
        spin<<<32, 256, 0, s[i]>>>(p + i * 32 * 256, 2000 * (i + 1));
        CHECK(cudaEventRecord(e[i], s[i]));
    }
    float ms[2];
    for (int i = 0; i < 2; i++) {
        cudaError_t q;
        while ((q = cudaEventQuery(e[i])) == cudaErrorNotReady)
            ;
        CHECK(q);
        CHECK(cudaEventElapsedTime(&ms[i], b[i], e[i]));
        EXPECT(ms[i] > 0);
    }
    EXPECT(ms[1] > ms[0]);
    cudaEvent_t x;
    CHECK(cudaEventCreateWithFlags(&x, cudaEventDisableTiming));
    cudaGraph_t g;
    CHECK(cudaStreamBeginCapture(s[0], cudaStreamCaptureModeThreadLocal));
    spin<<<4, 256, 0, s[0]>>>(p, 100);
    CHECK(cudaEventRecordWithFlags(x, s[0], cudaEventRecordExternal));
    spin<<<4, 256, 0, s[0]>>>(p + 4096, 100);
    CHECK(cudaStreamEndCapture(s[0], &g));
    cudaGraphExec_t ex;
    CHECK(cudaGraphInstantiate(&ex, g, 0));
    for (int i = 0; i < 3; i++) {
        CHECK(cudaGraphLaunch(ex, s[0]));
        CHECK(cudaStreamWaitEvent(s[1], x, 0));
        CHECK(cudaStreamSynchronize(s[1]));
    }
    CHECK(cudaStreamSynchronize(s[0]));
    cudaGraph_t g2;
    CHECK(cudaGraphCreate(&g2, 0));
    cudaGraphNode_t r, w;
    CHECK(cudaGraphAddEventRecordNode(&r, g2, nullptr, 0, x));
    CHECK(cudaGraphAddEventWaitNode(&w, g2, &r, 1, x));
    cudaEvent_t got;
    CHECK(cudaGraphEventRecordNodeGetEvent(r, &got));
    EXPECT(got == x);
    cudaGraphExec_t ex2;
    CHECK(cudaGraphInstantiate(&ex2, g2, 0));
    CHECK(cudaGraphLaunch(ex2, s[1]));
    CHECK(cudaStreamSynchronize(s[1]));
    CHECK(cudaGraphExecDestroy(ex));
    CHECK(cudaGraphDestroy(g));
    CHECK(cudaGraphExecDestroy(ex2));
    CHECK(cudaGraphDestroy(g2));
    CHECK(cudaEventDestroy(x));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaEventDestroy(b[i]));
        CHECK(cudaEventDestroy(e[i]));
        CHECK(cudaStreamDestroy(s[i]));
    }
    CHECK(cudaFree(p));
    puts("PASS");
    return 0;
}
