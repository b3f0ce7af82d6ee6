// Right: graphs cloned, updated, switched on and off, captured into, asked for nodes and edges,
// with user objects.
#include "tests/programs/program.cuh"

#include <cstring>
#include <vector>
__global__ void add(int *p, int v)
{
    p[threadIdx.x] += v;
}
static int destroyed;
static void CUDART_CB bye(void *p)
{
    destroyed++;
    delete (int *)p;
}
static void CUDART_CB note(void *p)
{
    ++*(int *)p;
}
int main()
{
    int *d;
    CHECK(cudaMalloc(&d, 128));
    CHECK(cudaMemset(d, 0, 128));
    cudaStream_t s;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
    cudaGraph_t g, c;
    CHECK(cudaGraphCreate(&g, 0));
    int calls = 0;
    cudaGraphNode_t first, hn;
    cudaHostNodeParams hp = {note, &calls};
    int v1 = 1;
    void *args[] = {&d, &v1};
    cudaKernelNodeParams kp = {};
    kp.func = (void *)add;
    kp.gridDim = dim3(1);
    kp.blockDim = dim3(32);
    kp.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&first, g, nullptr, 0, &kp));
    CHECK(cudaStreamBeginCaptureToGraph(s, g, &first, nullptr, 1, cudaStreamCaptureModeGlobal));
    add<<<1, 32, 0, s>>>(d, 10);
    cudaStreamCaptureStatus st;
    unsigned long long id;
    cudaGraph_t cg_;
    const cudaGraphNode_t *deps;
    const cudaGraphEdgeData *ed;
    size_t nd;
    CHECK(cudaStreamGetCaptureInfo(s, &st, &id, &cg_, &deps, &ed, &nd));
    EXPECT(st == cudaStreamCaptureStatusActive && nd == 1 && cg_ == g);
    cudaGraph_t out;
    CHECK(cudaStreamEndCapture(s, &out));
    EXPECT(out == g);
    CHECK(cudaGraphAddHostNode(&hn, g, &first, 1, &hp));
    cudaUserObject_t uo;
    CHECK(cudaUserObjectCreate(&uo, new int(3), bye, 1, cudaUserObjectNoDestructorSync));
    CHECK(cudaGraphRetainUserObject(g, uo, 1, cudaGraphUserObjectMove));
    size_t n = 0, e = 0, r = 0;
    CHECK(cudaGraphGetNodes(g, nullptr, &n));
    CHECK(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &e));
    CHECK(cudaGraphGetRootNodes(g, nullptr, &r));
    EXPECT(n == 3 && e == 2 && r == 1);
    CHECK(cudaGraphClone(&c, g));
    cudaGraphNode_t inClone;
    CHECK(cudaGraphNodeFindInClone(&inClone, first, c));
    cudaGraphNodeType t;
    CHECK(cudaGraphNodeGetType(inClone, &t));
    EXPECT(t == cudaGraphNodeTypeKernel);
    cudaGraphExec_t ex;
    CHECK(cudaGraphInstantiateWithFlags(&ex, g, 0));
    CHECK(cudaGraphLaunch(ex, s));
    CHECK(cudaStreamSynchronize(s));
    int h[32];
    CHECK(cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost));
    EXPECT(h[5] == 11 && calls == 1);
    CHECK(cudaGraphNodeSetEnabled(ex, first, 0));
    unsigned on;
    CHECK(cudaGraphNodeGetEnabled(ex, first, &on));
    EXPECT(on == 0);
    CHECK(cudaGraphLaunch(ex, s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost));
    EXPECT(h[5] == 21 && calls == 2);
    v1 = 100;
    CHECK(cudaGraphKernelNodeSetParams(inClone, &kp));
    CHECK(cudaGraphNodeSetEnabled(ex, first, 1));
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(ex, c, &info));
    EXPECT(info.result == cudaGraphExecUpdateSuccess);
    CHECK(cudaGraphLaunch(ex, s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost));
    EXPECT(h[5] == 131);
    cudaLaunchAttributeValue av = {};
    av.priority = 0;
    CHECK(cudaGraphKernelNodeSetAttribute(first, cudaLaunchAttributePriority, &av));
    CHECK(cudaGraphDebugDotPrint(g, "graph_tools.dot", 0));
    FILE *f = fopen("graph_tools.dot", "r");
    char line[64];
    EXPECT(f && fgets(line, 64, f) && strstr(line, "digraph"));
    fclose(f);
    remove("graph_tools.dot");
    CHECK(cudaGraphExecDestroy(ex));
    CHECK(cudaGraphDestroy(c));
    CHECK(cudaGraphDestroy(g));
    CHECK(cudaStreamDestroy(s));
    CHECK(cudaFree(d));
    CHECK(cudaDeviceSynchronize());
    puts("PASS");
    return 0;
}
