// Right: square roots by Newton's method in one graph, whose loop goes on until no root moves any
// more; a branch inside of it counts the rounds in which most moved, and a switch behind it writes
// the verdict. The loop's own condition has a default, that of the branch is set by a kernel.
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

struct State {
    unsigned moved, rounds, busy, verdict;
};

__global__ void step(const double *of, double *root, int n, State *state)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double next = 0.5 * (root[i] + of[i] / root[i]);
    if (fabs(next - root[i]) > 1e-12 * next) atomicAdd(&state->moved, 1u);
    root[i] = next;
}

__global__ void decide(cudaGraphConditionalHandle loop, cudaGraphConditionalHandle most, int n,
                       State *state)
{
    state->rounds++;
    cudaGraphSetConditional(most, 2 * state->moved > (unsigned)n);
    cudaGraphSetConditional(loop, state->moved > 0);
}

__global__ void judge(cudaGraphConditionalHandle handle, const State *state)
{
    cudaGraphSetConditional(handle, state->rounds < 20 ? 0 : state->rounds < 40 ? 1 : 2);
}

__global__ void count(unsigned *value, unsigned by)
{
    *value += by;
}

static cudaGraph_t *conditional(cudaGraph_t graph, cudaStream_t capturing,
                                cudaGraphConditionalHandle handle,
                                cudaGraphConditionalNodeType type, unsigned size)
{
    cudaStreamCaptureStatus active;
    const cudaGraphNode_t *tips;
    size_t tip_count;
    cudaGraphNode_t node;
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    OK(cudaStreamGetCaptureInfo(capturing, &active, nullptr, &graph, &tips, nullptr, &tip_count));
    OK(cudaGraphAddNode(&node, graph, tips, nullptr, tip_count, &params));
    OK(cudaStreamUpdateCaptureDependencies(capturing, &node, nullptr, 1,
                                           cudaStreamSetCaptureDependencies));
    return params.conditional.phGraph_out;
}

int main()
{
    const int n = 5000;
    std::vector<double> numbers(n), roots(n, 1.0), got(n);
    for (int i = 0; i < n; i++) numbers[i] = 0.5 + i;
    double *of, *root;
    State *state, result;
    OK(cudaMalloc(&of, n * sizeof(double)));
    OK(cudaMalloc(&root, n * sizeof(double)));
    OK(cudaMalloc(&state, sizeof *state));
    OK(cudaMemcpy(of, numbers.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    OK(cudaDeviceSynchronize());

    cudaStream_t stream, inner, innermost;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&inner, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&innermost, cudaStreamNonBlocking));
    cudaGraph_t graph;
    cudaGraphConditionalHandle loop, most, verdict;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault));
    OK(cudaGraphConditionalHandleCreate(&most, graph, 0, 0));
    OK(cudaGraphConditionalHandleCreate(&verdict, graph, 0, 0));

    OK(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                     cudaStreamCaptureModeRelaxed));
    OK(cudaMemsetAsync(state, 0, sizeof *state, stream));
    cudaGraph_t body = conditional(graph, stream, loop, cudaGraphCondTypeWhile, 1)[0];
    OK(cudaStreamBeginCaptureToGraph(inner, body, nullptr, nullptr, 0,
                                     cudaStreamCaptureModeRelaxed));
    OK(cudaMemsetAsync(&state->moved, 0, sizeof state->moved, inner));
    step<<<(n + 127) / 128, 128, 0, inner>>>(of, root, n, state);
    decide<<<1, 1, 0, inner>>>(loop, most, n, state);
    cudaGraph_t busy = conditional(body, inner, most, cudaGraphCondTypeIf, 1)[0];
    OK(cudaStreamBeginCaptureToGraph(innermost, busy, nullptr, nullptr, 0,
                                     cudaStreamCaptureModeRelaxed));
    count<<<1, 1, 0, innermost>>>(&state->busy, 1);
    OK(cudaStreamEndCapture(innermost, &busy));
    OK(cudaStreamEndCapture(inner, &body));
    judge<<<1, 1, 0, stream>>>(verdict, state);
    cudaGraph_t *verdicts = conditional(graph, stream, verdict, cudaGraphCondTypeSwitch, 3);
    for (unsigned i = 0; i < 3; i++) {
        OK(cudaStreamBeginCaptureToGraph(inner, verdicts[i], nullptr, nullptr, 0,
                                         cudaStreamCaptureModeRelaxed));
        count<<<1, 1, 0, inner>>>(&state->verdict, 100 + i);
        OK(cudaStreamEndCapture(inner, &verdicts[i]));
    }
    OK(cudaStreamEndCapture(stream, &graph));

    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    int bad = 0;
    for (int launch = 0; launch < 3; launch++) {
        OK(cudaMemcpyAsync(root, roots.data(), n * sizeof(double), cudaMemcpyHostToDevice, stream));
        OK(cudaGraphLaunch(exec, stream));
        if (launch == 1)
            while (cudaStreamQuery(stream) == cudaErrorNotReady) {
            }
        OK(cudaStreamSynchronize(stream));
        OK(cudaMemcpy(&result, state, sizeof result, cudaMemcpyDeviceToHost));
        OK(cudaMemcpy(got.data(), root, n * sizeof(double), cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; i++)
            if (fabs(got[i] - std::sqrt(numbers[i])) > 1e-9 && bad++ < 4)
                printf("root of %g: %.15g\n", numbers[i], got[i]);
        printf("%u rounds, %u of them busy, verdict %u\n", result.rounds, result.busy,
               result.verdict);
        if (result.rounds < 5 || result.busy < 2 || result.busy >= result.rounds ||
            result.verdict != 100)
            bad++;
    }
    OK(cudaGraphExecDestroy(exec));
    OK(cudaStreamDestroy(innermost));
    OK(cudaStreamDestroy(inner));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(state));
    OK(cudaFree(root));
    OK(cudaFree(of));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
