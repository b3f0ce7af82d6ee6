// Breadth-first search over a CSR graph in unified memory: queues that warps fill together,
// distance against the host's.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <vector>

using namespace cooperative_groups;

#define checkCudaErrors(val) check((val), #val, __FILE__, __LINE__)
void check(cudaError_t result, char const *const func, const char *const file, int const line)
{
    if (result) {
        fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", file, line, (int)result,
                cudaGetErrorName(result), func);
        exit(EXIT_FAILURE);
    }
}

struct Graph {
    int nodes, *offset, *target;
};

__device__ unsigned add_to_queue(unsigned *count)
{
    coalesced_group active = coalesced_threads();
    unsigned base = 0;
    if (active.thread_rank() == 0) base = atomicAdd(count, active.size());
    return active.shfl(base, 0) + active.thread_rank();
}

__global__ void expand(Graph graph, const int *frontier, unsigned size, int *next, unsigned *count,
                       int *distance, int level)
{
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    unsigned warps = gridDim.x * blockDim.x / 32;
    for (unsigned i = warp; i < size; i += warps) {
        int node = frontier[i];
        for (int e = graph.offset[node] + lane; e < graph.offset[node + 1]; e += 32) {
            int other = graph.target[e];
            if (atomicCAS(&distance[other], -1, level) == -1) next[add_to_queue(count)] = other;
        }
    }
}

int main(int argc, char **argv)
{
    const int nodes = argc > 1 ? atoi(argv[1]) : 2000, edges = 5 * nodes;
    std::vector<std::vector<int>> list(nodes);
    unsigned seed = 99;
    auto random = [&](int below) {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        return (int)(seed % below);
    };
    for (int e = 0; e < edges; e++) list[random(nodes)].push_back(random(nodes));
    for (int v = 0; v < 100; v++) list[3].push_back(random(nodes)); // a hub: more than a warp

    Graph graph;
    int *frontier[2], *distance;
    unsigned *count;
    graph.nodes = nodes;
    checkCudaErrors(cudaMallocManaged(&graph.offset, (nodes + 1) * sizeof(int)));
    checkCudaErrors(cudaMallocManaged(&graph.target, (edges + 100) * sizeof(int)));
    checkCudaErrors(cudaMallocManaged(&distance, nodes * sizeof(int)));
    checkCudaErrors(cudaMallocManaged(&count, sizeof(unsigned)));
    for (int **queue : {&frontier[0], &frontier[1]})
        checkCudaErrors(cudaMallocManaged(queue, nodes * sizeof(int)));
    graph.offset[0] = 0;
    for (int v = 0; v < nodes; v++) {
        graph.offset[v + 1] = graph.offset[v];
        for (int t : list[v]) graph.target[graph.offset[v + 1]++] = t;
        distance[v] = -1;
    }
    distance[0] = 0;
    frontier[0][0] = 0;
    unsigned size = 1;
    int level = 0;
    while (size > 0) {
        *count = 0;
        expand<<<4, 128>>>(graph, frontier[level % 2], size, frontier[(level + 1) % 2], count,
                           distance, level + 1);
        checkCudaErrors(cudaGetLastError());
        checkCudaErrors(cudaDeviceSynchronize());
        size = *count;
        level++;
    }

    std::vector<int> expected(nodes, -1);
    std::queue<int> queue;
    expected[0] = 0;
    queue.push(0);
    while (!queue.empty()) {
        int v = queue.front();
        queue.pop();
        for (int t : list[v])
            if (expected[t] < 0) {
                expected[t] = expected[v] + 1;
                queue.push(t);
            }
    }
    int wrong = 0, reached = 0;
    for (int v = 0; v < nodes; v++)
        wrong += distance[v] != expected[v], reached += distance[v] >= 0;
    printf("%d of %d nodes reached in %d levels, %d wrong\n", reached, nodes, level, wrong);
    for (void *p : {(void *)graph.offset, (void *)graph.target, (void *)distance, (void *)count,
                    (void *)frontier[0], (void *)frontier[1]})
        checkCudaErrors(cudaFree(p));
    return wrong != 0;
}
