// Conditional nodes of graphs, asked of a GPU: which handles, nodes and bodies are taken, what
// graphs with such nodes may not do, and which bodies run how often. Each line is a case and its
// answer. Lines that begin with ~ are of what nobody promises. conditional.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o conditional tests/gpu/conditional.cu
//     ./conditional > tests/gpu/conditional.txt
#include "gpu.cuh"

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

using Handle = cudaGraphConditionalHandle;

static int *device, host[8];

__global__ void set(Handle handle, unsigned value)
{
    cudaGraphSetConditional(handle, value);
}

// Adds to a cell, and goes on as long as it is below `limit`.
__global__ void count(Handle handle, int *cell, int limit)
{
    cudaGraphSetConditional(handle, ++*cell < limit);
}

__global__ void add(int *cell, int value)
{
    *cell += value;
}

// ---- short forms
// ---------------------------------------------------------------------------------

template <typename... P>
static cudaGraphNode_t kernel_node(cudaGraph_t graph, cudaGraphNode_t after, void (*kernel)(P...),
                                   P... args)
{
    void *list[] = {&args...};
    cudaGraphNode_t node;
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = (void *)kernel;
    params.kernel.gridDim = params.kernel.blockDim = dim3(1);
    params.kernel.kernelParams = list;
    CHECK(cudaGraphAddNode(&node, graph, &after, nullptr, after != nullptr, &params));
    return node;
}

static Handle handle_of(cudaGraph_t graph, unsigned value = 0,
                        unsigned flags = cudaGraphCondAssignDefault)
{
    Handle handle;
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph, value, flags));
    return handle;
}

static cudaError_t conditional(cudaGraph_t graph, cudaGraphNode_t after, Handle handle,
                               cudaGraphConditionalNodeType type, unsigned size,
                               cudaGraph_t *bodies, cudaGraphNode_t *node)
{
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    cudaError_t error = cudaGraphAddNode(node, graph, &after, nullptr, after != nullptr, &params);
    for (unsigned i = 0; error == cudaSuccess && i < size; i++)
        bodies[i] = params.conditional.phGraph_out[i];
    return error;
}

static cudaGraphNode_t add_conditional(cudaGraph_t graph, cudaGraphNode_t after, Handle handle,
                                       cudaGraphConditionalNodeType type, unsigned size,
                                       cudaGraph_t *bodies)
{
    cudaGraphNode_t node;
    CHECK(conditional(graph, after, handle, type, size, bodies, &node));
    return node;
}

static void show(const char *name, int cells = 1)
{
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s: %s", name, cudaGetErrorName(error));
    if (error == cudaSuccess) {
        CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
        for (int i = 0; i < cells; i++) printf(" %d", host[i]);
    }
    printf("\n");
    CHECK(cudaMemset(device, 0, sizeof host));
    CHECK(cudaDeviceSynchronize());
}

static void run(const char *name, cudaGraph_t graph, int cells = 1, int launches = 1)
{
    cudaGraphExec_t exec;
    cudaError_t error = cudaGraphInstantiate(&exec, graph, 0);
    if (error != cudaSuccess) {
        say(name, error);
        return;
    }
    for (int i = 0; i < launches; i++) CHECK(cudaGraphLaunch(exec, 0));
    show(name, cells);
    CHECK(cudaGraphExecDestroy(exec));
}

// ---- what is taken
// -------------------------------------------------------------------------------

static void handles_and_nodes()
{
    cudaGraph_t graph, other, bodies[8];
    cudaGraphNode_t node, second;
    Handle handle;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphCreate(&other, 0));
    say("handle, flags 0", cudaGraphConditionalHandleCreate(&handle, graph, 3, 0));
    say("handle, flags 2", cudaGraphConditionalHandleCreate(&handle, graph, 3, 2));
    say("handle of no graph", cudaGraphConditionalHandleCreate(&handle, nullptr, 0, 0));
    say("handle to nowhere", cudaGraphConditionalHandleCreate(nullptr, graph, 0, 0));
    const cudaGraphConditionalNodeType types[] = {cudaGraphCondTypeIf, cudaGraphCondTypeWhile,
                                                  cudaGraphCondTypeSwitch,
                                                  (cudaGraphConditionalNodeType)3};
    for (cudaGraphConditionalNodeType type : types)
        for (unsigned size = 0; size < 4; size++) {
            char name[64];
            snprintf(name, sizeof name, "node of type %d, size %u", type, size);
            say(name, conditional(graph, nullptr, handle_of(graph), type, size, bodies, &node));
        }
    say("node of handle 0", conditional(graph, nullptr, 0, cudaGraphCondTypeIf, 1, bodies, &node));
    // A GPU's handles are numbers within their graph: this one is also one of `graph`.
    say("~node of another graph's handle",
        conditional(graph, nullptr, handle_of(other), cudaGraphCondTypeIf, 1, bodies, &node));
    cudaGraphExec_t exec;
    say("~  and instantiate", cudaGraphInstantiate(&exec, graph, 0));
    cudaGraph_t empty;
    CHECK(cudaGraphCreate(&empty, 0));
    say("node of a handle that its graph lacks",
        conditional(empty, nullptr, handle_of(graph), cudaGraphCondTypeIf, 1, bodies, &node));
    CHECK(cudaGraphDestroy(empty));
    handle = handle_of(graph);
    say("first node of a handle",
        conditional(graph, nullptr, handle, cudaGraphCondTypeIf, 1, bodies, &node));
    say("second node of a handle",
        conditional(graph, nullptr, handle, cudaGraphCondTypeIf, 1, bodies, &second));
    size_t nodes = 9;
    cudaGraphNodeType type;
    CHECK(cudaGraphGetNodes(bodies[0], nullptr, &nodes));
    CHECK(cudaGraphNodeGetType(node, &type));
    printf("nodes of a new body: %zu, type %d\n", nodes, type);
    say("destroying a body", cudaGraphDestroy(bodies[0]));
    say("destroying a node", cudaGraphDestroyNode(node));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(other));
}

// ---- what such a graph may not do
// ----------------------------------------------------------------

static void restrictions()
{
    cudaGraph_t graph, other, copy, body;
    cudaGraphExec_t exec, again;
    cudaGraphNode_t node, first, child;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphCreate(&other, 0));
    Handle handle = handle_of(graph, 1);
    first = kernel_node(graph, nullptr, set, handle, 1u);
    node = add_conditional(graph, first, handle, cudaGraphCondTypeIf, 1, &body);
    cudaGraphNode_t inner = kernel_node(body, nullptr, add, device, 1);
    say("clone", cudaGraphClone(&copy, graph));
    say("child graph", cudaGraphAddChildGraphNode(&child, other, nullptr, 0, graph));
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeGraph;
    params.graph.graph = graph;
    params.graph.ownership = cudaGraphChildGraphOwnershipMove;
    say("instantiate a body", cudaGraphInstantiate(&exec, body, 0));
    say("instantiate", cudaGraphInstantiate(&exec, graph, 0));
    say("instantiate again", cudaGraphInstantiate(&again, graph, 0));
    say("disable", cudaGraphNodeSetEnabled(exec, node, 0));
    say("disable inside", cudaGraphNodeSetEnabled(exec, inner, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    show("disabled inside");
    say("enable inside", cudaGraphNodeSetEnabled(exec, inner, 1));
    cudaKernelNodeParams kernel = {};
    int value = 7;
    void *list[] = {&device, &value};
    kernel.func = (void *)add;
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.kernelParams = list;
    say("set a kernel inside", cudaGraphExecKernelNodeSetParams(exec, inner, &kernel));
    CHECK(cudaGraphLaunch(exec, 0));
    show("set inside");
    cudaGraphNodeParams condition = {};
    condition.type = cudaGraphNodeTypeConditional;
    condition.conditional.handle = handle;
    condition.conditional.type = cudaGraphCondTypeIf;
    condition.conditional.size = 1;
    say("set the node", cudaGraphNodeSetParams(node, &condition));
    say("set the node of the instance", cudaGraphExecNodeSetParams(exec, node, &condition));
    say("remove an edge", cudaGraphRemoveDependencies(graph, &first, &node, nullptr, 1));
    say("destroy a node inside", cudaGraphDestroyNode(inner));
    say("destroy a kernel", cudaGraphDestroyNode(first));
    CHECK(cudaGraphExecDestroy(exec));
    say("instantiate after destroy", cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphExecDestroy(exec));
    say("move", cudaGraphAddNode(&child, other, nullptr, nullptr, 0, &params));
    say("~instantiate what it moved into", cudaGraphInstantiate(&exec, other, 0));
}

static void unused_handle()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphInstantiateParams params = {};
    CHECK(cudaGraphCreate(&graph, 0));
    handle_of(graph);
    kernel_node(graph, nullptr, add, device, 1);
    cudaError_t error = cudaGraphInstantiateWithParams(&exec, graph, &params);
    printf("unused handle: %s, result %d, node %d\n", cudaGetErrorName(error), params.result_out,
           params.errNode_out != nullptr);
    CHECK(cudaGraphDestroy(graph));
}

static void nothing(void *) {}

// Each kind of node in a body: whether it can be added, and whether the graph can be instantiated.
static void kinds_in_bodies()
{
    static const char *const names[] = {"host",  "event record", "event wait", "allocation",
                                        "empty", "copy",         "fill",       "child"};
    cudaEvent_t event;
    CHECK(cudaEventCreate(&event));
    CHECK(cudaEventRecord(event));
    for (int kind = 0; kind < 8; kind++) {
        cudaGraph_t graph, body, child;
        cudaGraphExec_t exec;
        cudaGraphNode_t node;
        cudaGraphNodeParams params = {};
        cudaGraphInstantiateParams made = {};
        CHECK(cudaGraphCreate(&graph, 0));
        CHECK(cudaGraphCreate(&child, 0));
        add_conditional(graph, nullptr, handle_of(graph, 1), cudaGraphCondTypeIf, 1, &body);
        if (kind == 0) {
            params.type = cudaGraphNodeTypeHost;
            params.host.fn = nothing;
        } else if (kind == 1) {
            params.type = cudaGraphNodeTypeEventRecord;
            params.eventRecord.event = event;
        } else if (kind == 2) {
            params.type = cudaGraphNodeTypeWaitEvent;
            params.eventWait.event = event;
        } else if (kind == 3) {
            params.type = cudaGraphNodeTypeMemAlloc;
            params.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
            params.alloc.poolProps.location.type = cudaMemLocationTypeDevice;
            params.alloc.bytesize = 64;
        } else if (kind == 4) {
            params.type = cudaGraphNodeTypeEmpty;
        } else if (kind == 5) {
            params.type = cudaGraphNodeTypeMemcpy;
            params.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(device, 4, 4, 1);
            params.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(device + 1, 4, 4, 1);
            params.memcpy.copyParams.extent = make_cudaExtent(4, 1, 1);
            params.memcpy.copyParams.kind = cudaMemcpyDeviceToDevice;
        } else if (kind == 6) {
            params.type = cudaGraphNodeTypeMemset;
            params.memset.dst = device;
            params.memset.elementSize = 4;
            params.memset.width = params.memset.height = 1;
        } else {
            kernel_node(child, nullptr, add, device, 1);
            params.type = cudaGraphNodeTypeGraph;
            params.graph.graph = child;
        }
        cudaError_t error = cudaGraphAddNode(&node, body, nullptr, nullptr, 0, &params);
        printf("%s in a body: %s", names[kind], cudaGetErrorName(error));
        error = cudaGraphInstantiateWithParams(&exec, graph, &made);
        printf(", %s, result %d, node %d\n", cudaGetErrorName(error), made.result_out,
               made.errNode_out == nullptr ? 0
               : made.errNode_out == node  ? 1
                                           : 2);
        cudaGetLastError();
    }
    // Copies to and from the host.
    static const char *const memories[] = {"pageable", "pinned", "managed"};
    int *pinned, *managed;
    CHECK(cudaMallocHost(&pinned, 4));
    CHECK(cudaMallocManaged(&managed, 4));
    *pinned = *managed = 4;
    for (int i = 0; i < 6; i++) {
        cudaGraph_t graph, body;
        cudaGraphNode_t node;
        char name[64];
        int *memory = i / 2 == 0 ? host : i / 2 == 1 ? pinned : managed;
        CHECK(cudaGraphCreate(&graph, 0));
        add_conditional(graph, nullptr, handle_of(graph, 1), cudaGraphCondTypeIf, 1, &body);
        snprintf(name, sizeof name, "copy %s %s memory in a body", i & 1 ? "to" : "from",
                 memories[i / 2]);
        say(name, i & 1 ? cudaGraphAddMemcpyNode1D(&node, body, nullptr, 0, memory, device, 4,
                                                   cudaMemcpyDefault)
                        : cudaGraphAddMemcpyNode1D(&node, body, nullptr, 0, device, memory, 4,
                                                   cudaMemcpyDefault));
        run("  and run", graph);
    }
}

// ---- what runs how often
// -------------------------------------------------------------------------

static void branches()
{
    for (unsigned value = 0; value < 6; value++) {
        char name[64];
        cudaGraph_t graph, bodies[4];
        CHECK(cudaGraphCreate(&graph, 0));
        Handle handle = handle_of(graph, 9);
        cudaGraphNode_t before = kernel_node(graph, nullptr, set, handle, value);
        cudaGraphNode_t node =
            add_conditional(graph, before, handle, cudaGraphCondTypeSwitch, 4, bodies);
        for (int i = 0; i < 4; i++) kernel_node(bodies[i], nullptr, add, device, 10 + i);
        kernel_node(graph, node, add, device + 1, 1);
        snprintf(name, sizeof name, "switch %u", value);
        run(name, graph, 2, 2);
    }
    for (unsigned value = 0; value < 4; value++) {
        char name[64];
        cudaGraph_t graph, bodies[2];
        const unsigned size = value & 2 ? 2 : 1;
        CHECK(cudaGraphCreate(&graph, 0));
        Handle handle = handle_of(graph, value & 1 ? 0x80000000u : 0);
        add_conditional(graph, nullptr, handle, cudaGraphCondTypeIf, size, bodies);
        for (unsigned i = 0; i < size; i++)
            kernel_node(bodies[i], nullptr, add, device, 10 + (int)i);
        snprintf(name, sizeof name, "if %u of size %u", value & 1, size);
        run(name, graph, 1, 2);
    }
}

static void loops()
{
    cudaGraph_t graph, body, inner[2];
    // The default is assigned at each launch.
    CHECK(cudaGraphCreate(&graph, 0));
    Handle handle = handle_of(graph, 1);
    add_conditional(graph, nullptr, handle, cudaGraphCondTypeWhile, 1, &body);
    kernel_node(body, nullptr, count, handle, device, 10);
    run("while", graph, 1, 2);
    // Without it a kernel may set the condition.
    CHECK(cudaGraphCreate(&graph, 0));
    handle = handle_of(graph, 0, 0);
    cudaGraphNode_t first = kernel_node(graph, nullptr, set, handle, 1u);
    add_conditional(graph, first, handle, cudaGraphCondTypeWhile, 1, &body);
    kernel_node(body, nullptr, count, handle, device, 10);
    run("while without a default", graph, 1, 2);
    // Inside a loop: a branch by a value that another kernel of the body sets, whose handle is the
    // outer graph's or the body's.
    for (int own = 0; own < 2; own++) {
        CHECK(cudaGraphCreate(&graph, 0));
        handle = handle_of(graph, 1);
        add_conditional(graph, nullptr, handle, cudaGraphCondTypeWhile, 1, &body);
        Handle choice = handle_of(own ? body : graph, 0);
        cudaGraphNode_t node = kernel_node(body, nullptr, count, handle, device, 5);
        node = kernel_node(body, node, count, choice, device + 1, 3);
        cudaGraphNode_t nested;
        cudaError_t error = conditional(body, node, choice, cudaGraphCondTypeIf, 2, inner, &nested);
        say(own ? "nested, the body's handle" : "nested, the graph's handle", error);
        if (error != cudaSuccess) continue;
        kernel_node(inner[0], nullptr, add, device + 2, 1);
        kernel_node(inner[1], nullptr, add, device + 3, 1);
        run("  and run", graph, 4);
    }
    // Whether a nested handle gets its default again each time round.
    CHECK(cudaGraphCreate(&graph, 0));
    handle = handle_of(graph, 1);
    add_conditional(graph, nullptr, handle, cudaGraphCondTypeWhile, 1, &body);
    Handle choice = handle_of(body, 1);
    cudaGraphNode_t node = kernel_node(body, nullptr, count, handle, device, 5);
    node = add_conditional(body, node, choice, cudaGraphCondTypeIf, 1, inner);
    node = kernel_node(inner[0], nullptr, add, device + 1, 1);
    kernel_node(inner[0], node, set, choice, 0u);
    run("a nested default in five rounds", graph, 2);
    // A loop within a loop.
    CHECK(cudaGraphCreate(&graph, 0));
    handle = handle_of(graph, 1);
    add_conditional(graph, nullptr, handle, cudaGraphCondTypeWhile, 1, &body);
    choice = handle_of(graph, 0);
    node = kernel_node(body, nullptr, set, choice, 1u);
    node = add_conditional(body, node, choice, cudaGraphCondTypeWhile, 1, inner);
    kernel_node(inner[0], nullptr, count, choice, device + 1, 7);
    kernel_node(body, node, count, handle, device, 3);
    run("a loop within a loop", graph, 2);
    // An empty body, and a loop that does not begin.
    CHECK(cudaGraphCreate(&graph, 0));
    node = add_conditional(graph, nullptr, handle_of(graph, 1), cudaGraphCondTypeIf, 1, &body);
    node = add_conditional(graph, node, handle_of(graph, 0), cudaGraphCondTypeWhile, 1, inner);
    kernel_node(inner[0], nullptr, add, device + 1, 1);
    kernel_node(graph, node, add, device, 1);
    run("an empty body", graph, 2);
}

// ---- updates and capture
// -------------------------------------------------------------------------

static cudaGraph_t looped(unsigned value, unsigned flags, cudaGraphConditionalNodeType type,
                          int step)
{
    cudaGraph_t graph, body;
    CHECK(cudaGraphCreate(&graph, 0));
    Handle handle = handle_of(graph, value, flags);
    add_conditional(graph, nullptr, handle, type, 1, &body);
    cudaGraphNode_t node = kernel_node(body, nullptr, add, device + 1, step);
    kernel_node(body, node, set, handle, 0u);
    return graph;
}

static void updates()
{
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphInstantiate(&exec, looped(1, cudaGraphCondAssignDefault, cudaGraphCondTypeIf, 1),
                               0));
    const struct {
        const char *name;
        unsigned value;
        cudaGraphConditionalNodeType type;
    } cases[] = {{"update of the default", 0, cudaGraphCondTypeIf},
                 {"update of the body", 1, cudaGraphCondTypeIf},
                 {"update of the type", 1, cudaGraphCondTypeWhile}};
    for (auto &c : cases) {
        cudaError_t error = cudaGraphExecUpdate(
            exec, looped(c.value, cudaGraphCondAssignDefault, c.type, 5), &info);
        printf("%s: %s, result %d\n", c.name, cudaGetErrorName(error), info.result);
        cudaGetLastError();
        CHECK(cudaGraphLaunch(exec, 0));
        show("  and run", 2);
    }
}

static void capture()
{
    cudaStream_t stream, inside;
    cudaGraph_t graph, body;
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *tips;
    size_t tip_count;
    cudaGraphNode_t node;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&inside));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(device, 2);
    CHECK(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &tips, nullptr, &tip_count));
    Handle handle = handle_of(graph, 1);
    node = add_conditional(graph, tips[0], handle, cudaGraphCondTypeWhile, 1, &body);
    CHECK(cudaStreamBeginCaptureToGraph(inside, body, nullptr, nullptr, 0,
                                        cudaStreamCaptureModeRelaxed));
    add<<<1, 1, 0, inside>>>(device + 1, 3);
    count<<<1, 1, 0, inside>>>(handle, device, 6);
    CHECK(cudaStreamEndCapture(inside, &body));
    CHECK(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1,
                                              cudaStreamSetCaptureDependencies));
    add<<<1, 1, 0, stream>>>(device + 2, 1);
    CHECK(cudaStreamEndCapture(stream, &graph));
    run("captured", graph, 3);
}

// ---- what nobody promises
// ------------------------------------------------------------------------

static void unset(int kind)
{
    cudaGraph_t graph, body;
    CHECK(cudaMalloc(&device, sizeof host));
    CHECK(cudaMemset(device, 0, sizeof host));
    CHECK(cudaGraphCreate(&graph, 0));
    Handle handle = handle_of(graph, 1, 0);
    if (kind == 0) {
        set<<<1, 1>>>(handle, 1);
        say("~set outside of a graph", cudaDeviceSynchronize());
        return;
    }
    add_conditional(graph, nullptr, handle,
                    kind == 1 ? cudaGraphCondTypeIf : cudaGraphCondTypeWhile, 1, &body);
    kernel_node(body, nullptr, count, handle, device, 10);
    run(kind == 1 ? "~if that nothing sets" : "~while that nothing sets", graph, 1, 2);
}

int main()
{
    // Each in a process of its own, since it may end the context.
    for (int kind = 0; kind < 3; kind++) {
        const pid_t child = fork();
        if (child == 0) {
            unset(kind);
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, nullptr, 0);
    }
    CHECK(cudaMalloc(&device, sizeof host));
    CHECK(cudaMemset(device, 0, sizeof host));
    handles_and_nodes();
    unused_handle();
    kinds_in_bodies();
    CHECK(cudaMemset(device, 0, sizeof host));
    branches();
    loops();
    updates();
    capture();
    restrictions();
    return 0;
}
