// Graphs node by node, asked of a GPU: edges and lists with too little room, parameters told back,
// attributes of kernel nodes, and what may change in an executable graph. Each line is a case and
// its answer, of a section of its own. nodes.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o nodes tests/gpu/nodes.cu -lcuda && ./nodes
//     >tests/gpu/nodes.txt
#include "ask.cuh"

#include <cassert>

namespace graphs
{
__global__ void k(int *p)
{
    if (p) *p += 1;
}
__global__ void k2(int *p, int v)
{
    if (p) *p += v;
}
static cudaGraph_t g;
static cudaGraphNode_t a, b, c;
static int *d;
static void prep()
{
    Q(cudaMalloc(&d, 4096));
    Q(cudaMemset(d, 0, 4096));
    Q(cudaGraphCreate(&g, 0));
    Q(cudaGraphAddEmptyNode(&a, g, NULL, 0));
    Q(cudaGraphAddEmptyNode(&b, g, &a, 1));
    Q(cudaGraphAddEmptyNode(&c, g, &b, 1));
}

SECTION(deps)
{
    prep();
    A(cudaGraphAddDependencies(g, &a, &b, NULL, 1));
    A(cudaGraphAddDependencies(g, &a, &c, NULL, 1));
    A(cudaGraphAddDependencies(g, &a, &c, NULL, 1));
    A(cudaGraphAddDependencies(g, &c, &a, NULL, 1));
    A(cudaGraphAddDependencies(g, &a, &a, NULL, 1));
    A(cudaGraphAddDependencies(g, NULL, NULL, NULL, 0));
    A(cudaGraphAddDependencies(g, NULL, &a, NULL, 1));
    A(cudaGraphAddDependencies(g, &a, NULL, NULL, 1));
    A(cudaGraphAddDependencies(NULL, &a, &b, NULL, 1));
    size_t m;
    Q(cudaGraphGetEdges(g, NULL, NULL, NULL, &m));
    V(m);
    A(cudaGraphRemoveDependencies(g, &c, &a, NULL, 1));
    A(cudaGraphRemoveDependencies(g, &a, &b, NULL, 1));
    A(cudaGraphRemoveDependencies(g, &a, &b, NULL, 1));
    cudaGraphNode_t f[2] = {b, a}, t[2] = {c, b};
    A(cudaGraphRemoveDependencies(g, f, t, NULL, 2));
    Q(cudaGraphGetEdges(g, NULL, NULL, NULL, &m));
    V(m);
    cudaGraphNode_t f2[3] = {a, b, b}, t2[3] = {b, c, b};
    A(cudaGraphAddDependencies(g, f2, t2, NULL, 3));
    Q(cudaGraphGetEdges(g, NULL, NULL, NULL, &m));
    V(m);
    cudaGraph_t o;
    cudaGraphNode_t on;
    Q(cudaGraphCreate(&o, 0));
    Q(cudaGraphAddEmptyNode(&on, o, NULL, 0));
    A(cudaGraphAddDependencies(g, &on, &a, NULL, 1));
    cudaGraphEdgeData e = {};
    e.type = 1;
    A(cudaGraphAddDependencies(g, &a, &c, &e, 1));
    e.type = 0;
    e.from_port = 1;
    A(cudaGraphAddDependencies(g, &a, &c, &e, 1));
    e.from_port = 0;
    e.reserved[2] = 1;
    A(cudaGraphAddDependencies(g, &a, &c, &e, 1));
    e.reserved[2] = 0;
    e.type = 7;
    A(cudaGraphAddDependencies(g, &a, &c, &e, 1));
}

SECTION(queries)
{
    prep();
    size_t n;
    cudaGraphNode_t v[8];
    n = 8;
    memset(v, 1, sizeof v);
    A(cudaGraphGetNodes(g, v, &n));
    V(n);
    V(v[3] == NULL);
    V(v[0] == a);
    n = 2;
    A(cudaGraphGetNodes(g, v, &n));
    V(n);
    n = 0;
    A(cudaGraphGetNodes(g, v, &n));
    V(n);
    A(cudaGraphGetNodes(g, v, NULL));
    A(cudaGraphGetNodes(NULL, v, &n));
    n = 5;
    A(cudaGraphGetRootNodes(g, v, &n));
    V(n);
    V(v[1] == NULL);
    A(cudaGraphGetRootNodes(g, NULL, NULL));
    n = 1;
    cudaGraphNode_t w[8];
    A(cudaGraphGetEdges(g, v, w, NULL, &n));
    V(n);
    n = 5;
    memset(v, 1, sizeof v);
    A(cudaGraphGetEdges(g, v, w, NULL, &n));
    V(n);
    V(v[2] == NULL);
    A(cudaGraphGetEdges(g, v, NULL, NULL, &n));
    A(cudaGraphGetEdges(g, NULL, w, NULL, &n));
    A(cudaGraphGetEdges(g, NULL, NULL, NULL, NULL));
    n = 4;
    memset(v, 1, sizeof v);
    A(cudaGraphNodeGetDependencies(b, v, NULL, &n));
    V(n);
    V(v[0] == a);
    V(v[1] == NULL);
    A(cudaGraphNodeGetDependencies(NULL, NULL, NULL, &n));
    A(cudaGraphNodeGetDependencies(b, NULL, NULL, NULL));
    n = 4;
    A(cudaGraphNodeGetDependentNodes(b, v, NULL, &n));
    V(n);
    V(v[0] == c);
    A(cudaGraphNodeGetDependentNodes(c, NULL, NULL, &n));
    V(n);
    cudaGraphEdgeData ed[8];
    memset(ed, 9, sizeof ed);
    n = 4;
    A(cudaGraphGetEdges(g, v, w, ed, &n));
    V(ed[0].type);
    V(ed[1].from_port);
    V(ed[3].type);
    n = 4;
    A(cudaGraphGetEdges(g, NULL, NULL, ed, &n));
    cudaGraphNodeType t;
    A(cudaGraphNodeGetType(NULL, &t));
    A(cudaGraphNodeGetType(a, NULL));
}

SECTION(clone)
{
    prep();
    cudaGraph_t h;
    cudaGraphNode_t n;
    A(cudaGraphClone(&h, g));
    A(cudaGraphClone(NULL, g));
    A(cudaGraphClone(&h, NULL));
    Q(cudaGraphClone(&h, g));
    A(cudaGraphNodeFindInClone(&n, b, h));
    V(n != b);
    cudaGraphNodeType t;
    A(cudaGraphNodeGetType(n, &t));
    V(t);
    A(cudaGraphNodeFindInClone(&n, b, g));
    A(cudaGraphNodeFindInClone(NULL, b, h));
    A(cudaGraphNodeFindInClone(&n, NULL, h));
    A(cudaGraphNodeFindInClone(&n, b, NULL));
    cudaGraph_t h2;
    Q(cudaGraphClone(&h2, h));
    A(cudaGraphNodeFindInClone(&n, b, h2));
    Q(cudaGraphNodeFindInClone(&n, b, h));
    cudaGraphNode_t n2;
    A(cudaGraphNodeFindInClone(&n2, n, h2));
    A(cudaGraphDestroyNode(n));
    A(cudaGraphNodeFindInClone(&n, b, h));
    size_t z;
    A(cudaGraphGetEdges(h, NULL, NULL, NULL, &z));
    V(z);
    A(cudaGraphGetNodes(g, NULL, &z));
    V(z);
    cudaGraphNode_t added;
    Q(cudaGraphAddEmptyNode(&added, g, NULL, 0));
    A(cudaGraphNodeFindInClone(&n, added, h));
    A(cudaGraphDestroy(g));
    A(cudaGraphGetNodes(h, NULL, &z));
    V(z);
}

SECTION(child_update)
{
    prep();
    cudaGraph_t h, h2;
    cudaGraphNode_t n, m;
    Q(cudaGraphCreate(&h, 0));
    Q(cudaGraphAddEmptyNode(&m, h, NULL, 0));
    Q(cudaGraphAddChildGraphNode(&n, g, NULL, 0, h));
    cudaGraphExec_t x;
    Q(cudaGraphInstantiate(&x, g, 0));
    A(cudaGraphExecChildGraphNodeSetParams(x, n, h));
    Q(cudaGraphClone(&h2, h));
    A(cudaGraphExecChildGraphNodeSetParams(x, n, h2));
    Q(cudaGraphAddEmptyNode(&m, h2, NULL, 0));
    A(cudaGraphExecChildGraphNodeSetParams(x, n, h2));
    A(cudaGraphExecChildGraphNodeSetParams(x, a, h));
    A(cudaGraphExecChildGraphNodeSetParams(x, n, NULL));
    A(cudaGraphExecChildGraphNodeSetParams(NULL, n, h));
}

SECTION(enabled)
{
    prep();
    cudaGraphNode_t x, h;
    cudaKernelNodeParams p = {};
    void *ar[] = {&d};
    p.func = (void *)k;
    p.gridDim = 1;
    p.blockDim = 1;
    p.kernelParams = ar;
    Q(cudaGraphAddKernelNode(&x, g, NULL, 0, &p));
    cudaHostNodeParams hp = {[](void *) {}, 0};
    Q(cudaGraphAddHostNode(&h, g, NULL, 0, &hp));
    cudaMemsetParams ms = {};
    ms.dst = d + 8;
    ms.elementSize = 4;
    ms.width = 4;
    ms.height = 1;
    ms.value = 3;
    cudaGraphNode_t m;
    Q(cudaGraphAddMemsetNode(&m, g, NULL, 0, &ms));
    cudaGraphExec_t e;
    Q(cudaGraphInstantiate(&e, g, 0));
    unsigned v = 9;
    A(cudaGraphNodeGetEnabled(e, x, &v));
    V(v);
    A(cudaGraphNodeSetEnabled(e, x, 0));
    A(cudaGraphNodeGetEnabled(e, x, &v));
    V(v);
    A(cudaGraphNodeSetEnabled(e, x, 7));
    A(cudaGraphNodeGetEnabled(e, x, &v));
    V(v);
    A(cudaGraphNodeSetEnabled(e, a, 0));
    A(cudaGraphNodeSetEnabled(e, h, 0));
    A(cudaGraphNodeSetEnabled(e, m, 0));
    A(cudaGraphNodeGetEnabled(e, a, &v));
    A(cudaGraphNodeGetEnabled(e, h, &v));
    A(cudaGraphNodeSetEnabled(NULL, x, 0));
    A(cudaGraphNodeSetEnabled(e, NULL, 0));
    A(cudaGraphNodeGetEnabled(e, x, NULL));
    A(cudaGraphNodeSetEnabled(e, x, 0));
    Q(cudaGraphLaunch(e, 0));
    int o[16];
    Q(cudaMemcpy(o, d, 64, cudaMemcpyDefault));
    V(o[0]);
    V(o[8]);
    Q(cudaGraphNodeSetEnabled(e, x, 1));
    Q(cudaGraphLaunch(e, 0));
    Q(cudaMemcpy(o, d, 64, cudaMemcpyDefault));
    V(o[0]);
    V(o[8]);
}

} // namespace graphs

namespace kinds
{
__global__ void k(int *p)
{
    if (p) *p += 1;
}
__global__ void k2(int *p, int v)
{
    if (p) *p += v;
}
__global__ void big(int *p)
{
    extern __shared__ int s[];
    s[threadIdx.x] = 1;
    if (p) *p = s[0];
}
static cudaGraph_t g;
static cudaGraphNode_t e0;
static int *d;
static int hst[1024];
static void prep()
{
    Q(cudaMalloc(&d, 4096));
    Q(cudaMemset(d, 0, 4096));
    Q(cudaGraphCreate(&g, 0));
    Q(cudaGraphAddEmptyNode(&e0, g, NULL, 0));
}

SECTION(kernel)
{
    prep();
    cudaGraphNode_t n;
    int v = 4;
    void *ar[] = {&d, &v};
    cudaKernelNodeParams p = {}, q;
    p.func = (void *)k2;
    p.gridDim = dim3(2, 3, 4);
    p.blockDim = dim3(5, 6, 7);
    p.sharedMemBytes = 128;
    p.kernelParams = ar;
    A(cudaGraphAddKernelNode(&n, g, NULL, 0, &p));
    A(cudaGraphKernelNodeGetParams(n, &q));
    V(q.func == (void *)k2);
    V(q.gridDim.z);
    V(q.blockDim.y);
    V(q.sharedMemBytes);
    V(q.kernelParams != NULL);
    V(q.extra == NULL);
    V(*(int *)q.kernelParams[1]);
    V(*(int **)q.kernelParams[0] == d);
    A(cudaGraphAddKernelNode(&n, g, NULL, 0, NULL));
    A(cudaGraphAddKernelNode(NULL, g, NULL, 0, &p));
    p.func = NULL;
    A(cudaGraphAddKernelNode(&n, g, NULL, 0, &p));
    p.func = &d;
    A(cudaGraphAddKernelNode(&n, g, NULL, 0, &p));
    p.func = (void *)k2;
    p.gridDim = dim3(0, 1, 1);
    A(cudaGraphAddKernelNode(&n, g, NULL, 0, &p));
    p.gridDim = 1;
    p.blockDim = dim3(0, 1, 1);
    A(cudaGraphAddKernelNode(&n, g, NULL, 0, &p));
    p.blockDim = 1025;
    A(cudaGraphAddKernelNode(&n, g, NULL, 0, &p));
    p.blockDim = dim3(1, 1, 65);
    A(cudaGraphAddKernelNode(&n, g, NULL, 0, &p));
    p.blockDim = 1;
    p.gridDim = dim3(1, 65536, 1);
    A(cudaGraphAddKernelNode(&n, g, NULL, 0, &p));
    p.gridDim = 1;
    p.sharedMemBytes = 49153;
    A(cudaGraphAddKernelNode(&n, g, NULL, 0, &p));
    p.sharedMemBytes = 1 << 20;
    A(cudaGraphAddKernelNode(&n, g, NULL, 0, &p));
    p.sharedMemBytes = 0;
    Q(cudaGraphAddKernelNode(&n, g, NULL, 0, &p));
    p.gridDim = 0;
    A(cudaGraphKernelNodeSetParams(n, &p));
    p.gridDim = 9;
    A(cudaGraphKernelNodeSetParams(n, &p));
    A(cudaGraphKernelNodeGetParams(n, &q));
    V(q.gridDim.x);
    p.func = (void *)k;
    A(cudaGraphKernelNodeSetParams(n, &p));
    A(cudaGraphKernelNodeGetParams(n, &q));
    V(q.func == (void *)k);
    A(cudaGraphKernelNodeSetParams(n, NULL));
    A(cudaGraphKernelNodeGetParams(n, NULL));
    A(cudaGraphKernelNodeSetParams(e0, &p));
    A(cudaGraphKernelNodeGetParams(e0, &q));
    A(cudaGraphKernelNodeGetParams(NULL, &q));
    p.kernelParams = NULL;
    p.func = (void *)k2;
    A(cudaGraphAddKernelNode(&n, g, NULL, 0, &p));
}

SECTION(kernel_attr)
{
    prep();
    cudaGraphNode_t n, m;
    void *ar[] = {&d};
    cudaKernelNodeParams p = {};
    p.func = (void *)k;
    p.gridDim = 1;
    p.blockDim = 1;
    p.kernelParams = ar;
    Q(cudaGraphAddKernelNode(&n, g, NULL, 0, &p));
    Q(cudaGraphAddKernelNode(&m, g, NULL, 0, &p));
    cudaKernelNodeAttrValue v;
    for (int i = 0; i < 18; i++) {
        memset(&v, 0, sizeof v);
        char b[40];
        snprintf(b, 40, "get %d", i);
        AL(b, cudaGraphKernelNodeGetAttribute(n, (cudaKernelNodeAttrID)i, &v));
        int *w = (int *)&v;
        say("  %d %d %d", w[0], w[1], w[2]);
    }
    for (int i = 0; i < 18; i++) {
        if (i == cudaLaunchAttributeDeviceUpdatableKernelNode) continue;
        memset(&v, 0, sizeof v);
        v.clusterDim.x = v.clusterDim.y = v.clusterDim.z = 1;
        char b[40];
        snprintf(b, 40, "set %d to 1", i);
        AL(b, cudaGraphKernelNodeSetAttribute(n, (cudaKernelNodeAttrID)i, &v));
    }
    memset(&v, 0, sizeof v);
    v.clusterDim.x = 2;
    v.clusterDim.y = v.clusterDim.z = 1;
    A(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeClusterDimension, &v));
    v.clusterDim.x = 0;
    A(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeClusterDimension, &v));
    v.clusterDim.x = 17;
    A(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeClusterDimension, &v));
    memset(&v, 0, sizeof v);
    v.priority = -3;
    A(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributePriority, &v));
    v.priority = 0;
    A(cudaGraphKernelNodeGetAttribute(n, cudaLaunchAttributePriority, &v));
    V(v.priority);
    v.priority = -99;
    A(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributePriority, &v));
    A(cudaGraphKernelNodeGetAttribute(n, cudaLaunchAttributePriority, &v));
    V(v.priority);
    A(cudaGraphKernelNodeCopyAttributes(m, n));
    A(cudaGraphKernelNodeGetAttribute(m, cudaLaunchAttributePriority, &v));
    V(v.priority);
    A(cudaGraphKernelNodeCopyAttributes(m, e0));
    A(cudaGraphKernelNodeCopyAttributes(e0, m));
    A(cudaGraphKernelNodeGetAttribute(e0, cudaLaunchAttributePriority, &v));
}

SECTION(memset_node)
{
    prep();
    cudaGraphNode_t n;
    cudaMemsetParams p = {}, q;
    p.dst = d;
    p.pitch = 64;
    p.value = 0x12345678;
    p.elementSize = 4;
    p.width = 4;
    p.height = 2;
    A(cudaGraphAddMemsetNode(&n, g, NULL, 0, &p));
    A(cudaGraphMemsetNodeGetParams(n, &q));
    V(q.pitch);
    V(q.value);
    V(q.elementSize);
    V(q.width);
    V(q.height);
    for (int es = 0; es <= 8; es++) {
        p.elementSize = es;
        char b[40];
        snprintf(b, 40, "element size %d", es);
        AL(b, cudaGraphAddMemsetNode(&n, g, NULL, 0, &p));
    }
    p.elementSize = 1;
    Q(cudaGraphAddMemsetNode(&n, g, NULL, 0, &p));
    Q(cudaGraphMemsetNodeGetParams(n, &q));
    say("value of 1 byte %x", q.value);
    p.elementSize = 4;
    p.width = 0;
    A(cudaGraphAddMemsetNode(&n, g, NULL, 0, &p));
    p.width = 4;
    p.height = 0;
    A(cudaGraphAddMemsetNode(&n, g, NULL, 0, &p));
    p.height = 2;
    p.pitch = 8;
    A(cudaGraphAddMemsetNode(&n, g, NULL, 0, &p));
    p.height = 1;
    p.pitch = 0;
    A(cudaGraphAddMemsetNode(&n, g, NULL, 0, &p));
    A(cudaGraphMemsetNodeGetParams(n, &q));
    V(q.pitch);
    p.dst = NULL;
    A(cudaGraphAddMemsetNode(&n, g, NULL, 0, &p));
    p.dst = hst;
    A(cudaGraphAddMemsetNode(&n, g, NULL, 0, &p));
    p.dst = (char *)d + 1;
    A(cudaGraphAddMemsetNode(&n, g, NULL, 0, &p));
    p.dst = d;
    p.width = 2000;
    A(cudaGraphAddMemsetNode(&n, g, NULL, 0, &p));
    A(cudaGraphAddMemsetNode(&n, g, NULL, 0, NULL));
    A(cudaGraphMemsetNodeGetParams(e0, &q));
    A(cudaGraphMemsetNodeSetParams(e0, &p));
    A(cudaGraphMemsetNodeGetParams(n, NULL));
    A(cudaGraphMemsetNodeSetParams(n, NULL));
}

SECTION(memset_exec)
{
    prep();
    cudaGraphNode_t n;
    cudaMemsetParams p = {};
    p.dst = d;
    p.value = 1;
    p.elementSize = 4;
    p.width = 8;
    p.height = 1;
    Q(cudaGraphAddMemsetNode(&n, g, NULL, 0, &p));
    cudaGraphExec_t x;
    Q(cudaGraphInstantiate(&x, g, 0));
    p.width = 9;
    A(cudaGraphExecMemsetNodeSetParams(x, n, &p));
    p.width = 4;
    A(cudaGraphExecMemsetNodeSetParams(x, n, &p));
    p.height = 2;
    p.pitch = 32;
    A(cudaGraphExecMemsetNodeSetParams(x, n, &p));
    p.height = 1;
    p.elementSize = 1;
    A(cudaGraphExecMemsetNodeSetParams(x, n, &p));
    p.elementSize = 4;
    p.value = 77;
    A(cudaGraphExecMemsetNodeSetParams(x, n, &p));
    void *m;
    Q(cudaMallocHost(&m, 64));
    p.dst = m;
    A(cudaGraphExecMemsetNodeSetParams(x, n, &p));
    p.dst = d;
    p.elementSize = 3;
    A(cudaGraphExecMemsetNodeSetParams(x, n, &p));
    p.elementSize = 2;
    p.width = 0;
    A(cudaGraphExecMemsetNodeSetParams(x, n, &p));
    A(cudaGraphExecMemsetNodeSetParams(x, e0, &p));
    A(cudaGraphExecMemsetNodeSetParams(x, n, NULL));
    Q(cudaGraphLaunch(x, 0));
    Q(cudaMemcpy(hst, d, 64, cudaMemcpyDefault));
    for (int i = 0; i < 10; i++) V(hst[i]);
}

SECTION(memcpy_exec)
{
    prep();
    static int other[64];
    void *pin;
    Q(cudaMallocHost(&pin, 4096));
    cudaGraphNode_t n;
    Q(cudaGraphAddMemcpyNode1D(&n, g, NULL, 0, hst, d, 64, cudaMemcpyDeviceToHost));
    cudaGraphExec_t x;
    Q(cudaGraphInstantiate(&x, g, 0));
    A(cudaGraphExecMemcpyNodeSetParams1D(x, n, hst, d, 32, cudaMemcpyDeviceToHost));
    A(cudaGraphExecMemcpyNodeSetParams1D(x, n, hst, d, 128, cudaMemcpyDeviceToHost));
    A(cudaGraphExecMemcpyNodeSetParams1D(x, n, hst, d, 64, cudaMemcpyDefault));
    A(cudaGraphExecMemcpyNodeSetParams1D(x, n, d, hst, 64, cudaMemcpyHostToDevice));
    A(cudaGraphExecMemcpyNodeSetParams1D(x, n, d, d + 32, 64, cudaMemcpyDeviceToDevice));
    A(cudaGraphExecMemcpyNodeSetParams1D(x, n, pin, d, 64, cudaMemcpyDeviceToHost));
    A(cudaGraphExecMemcpyNodeSetParams1D(x, n, other, d, 64, cudaMemcpyDeviceToHost));
    A(cudaGraphExecMemcpyNodeSetParams1D(x, n, hst, d, 0, cudaMemcpyDeviceToHost));
    A(cudaGraphExecMemcpyNodeSetParams1D(x, n, hst, d, 4, (cudaMemcpyKind)8));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(d, 64, 16, 4);
    p.dstPtr = make_cudaPitchedPtr(hst, 32, 16, 4);
    p.extent = make_cudaExtent(16, 2, 1);
    p.kind = cudaMemcpyDeviceToHost;
    A(cudaGraphExecMemcpyNodeSetParams(x, n, &p));
    p.extent.height = 1;
    A(cudaGraphExecMemcpyNodeSetParams(x, n, &p));
    A(cudaGraphExecMemcpyNodeSetParams1D(x, e0, hst, d, 4, cudaMemcpyDefault));
    A(cudaGraphExecMemcpyNodeSetParams(x, n, NULL));
    void *mg;
    Q(cudaMallocManaged(&mg, 64));
    A(cudaGraphExecMemcpyNodeSetParams1D(x, n, mg, d, 64, cudaMemcpyDefault));
}

SECTION(host_node)
{
    prep();
    cudaGraphNode_t n;
    static int c;
    cudaHostNodeParams p = {[](void *u) {
                                say("host node %d", *(int *)u);
                                void *q;
                                A(cudaMalloc(&q, 4));
                            },
                            &c},
                       q;
    A(cudaGraphAddHostNode(&n, g, NULL, 0, &p));
    A(cudaGraphHostNodeGetParams(n, &q));
    V(q.fn == p.fn);
    V(q.userData == &c);
    A(cudaGraphHostNodeGetParams(n, NULL));
    A(cudaGraphHostNodeGetParams(e0, &q));
    cudaHostNodeParams z = {NULL, NULL};
    cudaGraphNode_t m;
    A(cudaGraphAddHostNode(&m, g, NULL, 0, &z));
    A(cudaGraphHostNodeSetParams(n, &z));
    A(cudaGraphAddHostNode(&m, g, NULL, 0, NULL));
    cudaGraphExec_t x;
    Q(cudaGraphInstantiate(&x, g, 0));
    c = 1;
    A(cudaGraphLaunch(x, 0));
    A(cudaDeviceSynchronize());
    static int o = 5;
    p.userData = &o;
    A(cudaGraphExecHostNodeSetParams(x, n, &p));
    A(cudaGraphExecHostNodeSetParams(x, n, &z));
    A(cudaGraphExecHostNodeSetParams(x, e0, &p));
    A(cudaGraphLaunch(x, 0));
    A(cudaDeviceSynchronize());
}

__device__ int sym[4];

} // namespace kinds

namespace updates
{
__global__ void k(int *p)
{
    if (p) *p += 1;
}
__global__ void k2(int *p)
{
    if (p) *p += 2;
}
__global__ void k3(int *p, int v)
{
    if (p) *p += v;
}
static int *d;
static int hst[64];
static cudaGraph_t G()
{
    cudaGraph_t g;
    Q(cudaGraphCreate(&g, 0));
    return g;
}
static cudaGraphNode_t K(cudaGraph_t g, void *f, int grid, cudaGraphNode_t dep = NULL, int shm = 0)
{
    static int v = 3;
    void *ar[] = {&d, &v};
    cudaKernelNodeParams p = {};
    p.func = f;
    p.gridDim = grid;
    p.blockDim = 1;
    p.sharedMemBytes = shm;
    p.kernelParams = ar;
    cudaGraphNode_t n;
    Q(cudaGraphAddKernelNode(&n, g, dep ? &dep : NULL, dep ? 1 : 0, &p));
    return n;
}
static void up(const char *l, cudaGraphExec_t x, cudaGraph_t g)
{
    cudaGraphExecUpdateResultInfo r;
    memset(&r, 0x55, sizeof r);
    cudaError_t e = cudaGraphExecUpdate(x, g, &r);
    say("%s: %s result %d node %s from %s last %s", l, cudaGetErrorName(e), r.result,
        r.errorNode ? "some" : "null", r.errorFromNode ? "some" : "null",
        cudaGetErrorName(cudaGetLastError()));
}

SECTION(basic)
{
    Q(cudaMalloc(&d, 4096));
    cudaGraph_t g = G();
    cudaGraphNode_t a = K(g, (void *)k, 1), b = K(g, (void *)k, 1, a);
    cudaGraphExec_t x;
    Q(cudaGraphInstantiate(&x, g, 0));
    up("same", x, g);
    cudaGraph_t h = G();
    a = K(h, (void *)k2, 1);
    K(h, (void *)k, 5, a);
    up("other function and grid", x, h);
    h = G();
    a = K(h, (void *)k3, 1);
    K(h, (void *)k, 5, a);
    up("other signature", x, h);
    h = G();
    K(h, (void *)k, 1);
    K(h, (void *)k, 1);
    up("no edge", x, h);
    h = G();
    K(h, (void *)k, 1);
    up("one node less", x, h);
    h = G();
    a = K(h, (void *)k, 1);
    b = K(h, (void *)k, 1, a);
    K(h, (void *)k, 1, b);
    up("one node more", x, h);
    h = G();
    a = K(h, (void *)k, 1);
    cudaGraphNode_t n;
    Q(cudaGraphAddEmptyNode(&n, h, &a, 1));
    up("other type", x, h);
    h = G();
    Q(cudaGraphAddEmptyNode(&n, h, NULL, 0));
    K(h, (void *)k, 1, n);
    up("other type first", x, h);
    h = G();
    up("empty graph", x, h);
    A(cudaGraphExecUpdate(x, NULL, NULL));
    A(cudaGraphExecUpdate(NULL, g, NULL));
    cudaGraphExecUpdateResultInfo r;
    A(cudaGraphExecUpdate(x, NULL, &r));
    A(cudaGraphExecUpdate(x, g, NULL));
    A(cudaGraphExecUpdate(NULL, g, &r));
}

SECTION(copies)
{
    Q(cudaMalloc(&d, 4096));
    cudaGraphNode_t n;
    cudaGraph_t g = G();
    Q(cudaGraphAddMemcpyNode1D(&n, g, NULL, 0, hst, d, 64, cudaMemcpyDeviceToHost));
    cudaGraphExec_t x;
    Q(cudaGraphInstantiate(&x, g, 0));
    cudaGraph_t h = G();
    Q(cudaGraphAddMemcpyNode1D(&n, h, NULL, 0, hst, d, 32, cudaMemcpyDeviceToHost));
    up("shorter", x, h);
    h = G();
    Q(cudaGraphAddMemcpyNode1D(&n, h, NULL, 0, d, hst, 64, cudaMemcpyHostToDevice));
    up("other direction", x, h);
    h = G();
    Q(cudaGraphAddMemcpyNode1D(&n, h, NULL, 0, d, d + 64, 64, cudaMemcpyDeviceToDevice));
    up("between device", x, h);
    void *p;
    Q(cudaMallocHost(&p, 64));
    h = G();
    Q(cudaGraphAddMemcpyNode1D(&n, h, NULL, 0, p, d, 64, cudaMemcpyDeviceToHost));
    up("pinned", x, h);
    cudaMemcpy3DParms c = {};
    c.srcPtr = make_cudaPitchedPtr(d, 64, 16, 4);
    c.dstPtr = make_cudaPitchedPtr(hst, 32, 16, 4);
    c.extent = make_cudaExtent(16, 2, 1);
    c.kind = cudaMemcpyDeviceToHost;
    h = G();
    Q(cudaGraphAddMemcpyNode(&n, h, NULL, 0, &c));
    up("two rows", x, h);
    Q(cudaGraphInstantiate(&x, h, 0));
    up("two rows again", x, h);
    c.extent.height = 3;
    h = G();
    Q(cudaGraphAddMemcpyNode(&n, h, NULL, 0, &c));
    up("three rows", x, h);
    up("back to one row", x, g);
}

SECTION(fills)
{
    Q(cudaMalloc(&d, 4096));
    cudaGraphNode_t n;
    cudaMemsetParams p = {};
    p.dst = d;
    p.elementSize = 4;
    p.width = 8;
    p.height = 1;
    p.value = 1;
    cudaGraph_t g = G();
    Q(cudaGraphAddMemsetNode(&n, g, NULL, 0, &p));
    cudaGraphExec_t x;
    Q(cudaGraphInstantiate(&x, g, 0));
    cudaGraph_t h;
    p.value = 2;
    h = G();
    Q(cudaGraphAddMemsetNode(&n, h, NULL, 0, &p));
    up("value", x, h);
    p.width = 16;
    h = G();
    Q(cudaGraphAddMemsetNode(&n, h, NULL, 0, &p));
    up("wider", x, h);
    p.elementSize = 1;
    h = G();
    Q(cudaGraphAddMemsetNode(&n, h, NULL, 0, &p));
    up("bytes", x, h);
    p.height = 2;
    p.pitch = 64;
    h = G();
    Q(cudaGraphAddMemsetNode(&n, h, NULL, 0, &p));
    up("two rows", x, h);
    p.height = 1;
    Q(cudaMallocManaged((void **)&p.dst, 64));
    h = G();
    Q(cudaGraphAddMemsetNode(&n, h, NULL, 0, &p));
    up("managed", x, h);
    Q(cudaMallocHost((void **)&p.dst, 64));
    h = G();
    Q(cudaGraphAddMemsetNode(&n, h, NULL, 0, &p));
    up("pinned", x, h);
}

} // namespace updates

namespace memory
{
__global__ void k(int *p, int v)
{
    *p += v;
}
static cudaGraph_t G()
{
    cudaGraph_t g;
    Q(cudaGraphCreate(&g, 0));
    return g;
}
static cudaMemAllocNodeParams M(size_t n)
{
    cudaMemAllocNodeParams m = {};
    m.poolProps.allocType = cudaMemAllocationTypePinned;
    m.poolProps.location.type = cudaMemLocationTypeDevice;
    m.bytesize = n;
    return m;
}

SECTION(free_rules)
{
    cudaGraph_t g = G();
    cudaGraphNode_t a, f, f2, e;
    cudaMemAllocNodeParams m = M(64);
    void *o;
    Q(cudaMalloc(&o, 64));
    Q(cudaGraphAddMemAllocNode(&a, g, NULL, 0, &m));
    A(cudaGraphAddMemFreeNode(&f, g, NULL, 0, m.dptr));
    A(cudaGraphAddMemFreeNode(&f, g, &a, 1, (char *)m.dptr + 8));
    A(cudaGraphAddMemFreeNode(&f, g, &a, 1, NULL));
    A(cudaGraphAddMemFreeNode(&f, g, &a, 1, o));
    Q(cudaGraphAddEmptyNode(&e, g, &a, 1));
    A(cudaGraphAddMemFreeNode(&f, g, &e, 1, m.dptr));
    A(cudaGraphAddMemFreeNode(&f2, g, &a, 1, m.dptr));
    void *p = NULL;
    A(cudaGraphMemFreeNodeGetParams(f, &p));
    V(p == m.dptr);
    A(cudaGraphMemFreeNodeGetParams(a, &p));
    A(cudaGraphMemAllocNodeGetParams(f, &m));
    A(cudaGraphDestroyNode(f));
    A(cudaGraphDestroyNode(a));
    A(cudaGraphRemoveDependencies(g, &a, &e, NULL, 1));
    A(cudaGraphAddDependencies(g, &a, &e, NULL, 1));
    cudaGraph_t c;
    A(cudaGraphClone(&c, g));
    cudaGraphNode_t n;
    A(cudaGraphAddChildGraphNode(&n, G(), NULL, 0, g));
    cudaGraphExec_t x, y;
    A(cudaGraphInstantiate(&x, g, 0));
    A(cudaGraphInstantiate(&y, g, 0));
    A(cudaGraphExecDestroy(x));
    A(cudaGraphInstantiate(&y, g, 0));
}

SECTION(auto_free)
{
    cudaGraph_t g = G();
    cudaGraphNode_t a;
    cudaMemAllocNodeParams m = M(64);
    Q(cudaGraphAddMemAllocNode(&a, g, NULL, 0, &m));
    cudaGraphExec_t x;
    A(cudaGraphInstantiate(&x, g, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    A(cudaGraphLaunch(x, 0));
    A(cudaGraphLaunch(x, 0));
    A(cudaGraphLaunch(x, 0));
    A(cudaFree(m.dptr));
    A(cudaGraphLaunch(x, 0));
    A(cudaGraphExecDestroy(x));
    A(cudaFree(m.dptr));
}

SECTION(free_other)
{
    void *p;
    Q(cudaMallocAsync(&p, 64, 0));
    cudaGraph_t g = G();
    cudaGraphNode_t f;
    A(cudaGraphAddMemFreeNode(&f, g, NULL, 0, p));
    cudaGraph_t h = G();
    cudaGraphNode_t a;
    cudaMemAllocNodeParams m = M(64);
    Q(cudaGraphAddMemAllocNode(&a, h, NULL, 0, &m));
    cudaGraphNode_t f2;
    A(cudaGraphAddMemFreeNode(&f2, g, NULL, 0, m.dptr));
    cudaGraphExec_t x, y;
    A(cudaGraphInstantiate(&x, h, 0));
    A(cudaGraphInstantiate(&y, g, 0));
    A(cudaGraphLaunch(y, 0));
    A(cudaGraphLaunch(x, 0));
    A(cudaGraphLaunch(y, 0));
    A(cudaGraphLaunch(x, 0));
    A(cudaGraphLaunch(y, 0));
    A(cudaGraphLaunch(y, 0));
    A(cudaDeviceSynchronize());
}

SECTION(capture)
{
    cudaStream_t s;
    Q(cudaStreamCreate(&s));
    Q(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    void *p, *q;
    A(cudaMallocAsync(&p, 100, s));
    A(cudaFreeAsync(p, s));
    A(cudaFreeAsync(p, s));
    A(cudaMallocAsync(&q, 0, s));
    V(q == NULL);
    A(cudaMallocAsync(&q, 4, s));
    A(cudaFree(q));
    A(cudaFreeAsync(NULL, s));
    cudaGraph_t g;
    A(cudaStreamEndCapture(s, &g));
    size_t n = 0;
    if (g) A(cudaGraphGetNodes(g, NULL, &n));
    V(n);
    cudaGraphExec_t x;
    if (g) {
        A(cudaGraphInstantiate(&x, g, 0));
        A(cudaGraphLaunch(x, s));
        A(cudaStreamSynchronize(s));
        A(cudaGraphLaunch(x, s));
        A(cudaFree(q));
        A(cudaGraphLaunch(x, s));
        A(cudaStreamSynchronize(s));
    }
}

SECTION(destroy_graph_first)
{
    cudaGraph_t g = G();
    cudaGraphNode_t a;
    cudaMemAllocNodeParams m = M(64);
    Q(cudaGraphAddMemAllocNode(&a, g, NULL, 0, &m));
    cudaGraphExec_t x;
    Q(cudaGraphInstantiate(&x, g, 0));
    Q(cudaGraphLaunch(x, 0));
    A(cudaGraphDestroy(g));
    A(cudaGraphExecDestroy(x));
    A(cudaMemset(m.dptr, 0, 64));
    A(cudaDeviceSynchronize());
    A(cudaFree(m.dptr));
}

} // namespace memory
