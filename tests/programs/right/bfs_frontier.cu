// Right: level-synchronous BFS on a CSR graph with frontier queues, atomicCAS to claim vertices,
// block-local queues flushed together.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <queue>
#include <random>
#include <vector>

#define CUDA_CALL(x)                                                                               \
    do {                                                                                           \
        cudaError_t rc = (x);                                                                      \
        if (rc != cudaSuccess) {                                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(rc));            \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)

constexpr int BLOCK = 128;
constexpr int LOCAL = 192; // capacity of a block's queue

struct Csr {
    std::vector<int> row, col;
};

static Csr makeGraph(int n, int degree, unsigned seed)
{
    std::mt19937 rng(seed);
    std::vector<std::vector<int>> adj(n);
    for (int v = 0; v < n; ++v)
        for (int k = 0; k < degree; ++k) {
            // neighbours are mostly near, so that there are a good number of levels; some vertices
            // stay alone
            int u = (v + 1 + (int)(rng() % 40)) % n;
            if (v % 37 == 5 || u % 37 == 5) continue;
            adj[v].push_back(u);
            adj[u].push_back(v);
        }
    Csr g;
    g.row.push_back(0);
    for (auto &a : adj) {
        g.col.insert(g.col.end(), a.begin(), a.end());
        g.row.push_back((int)g.col.size());
    }
    return g;
}

__global__ void initLevels(int *level, int *parent, int n, int source, int *frontier)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        level[i] = i == source ? 0 : -1;
        parent[i] = i == source ? source : -1;
        if (i == 0) frontier[0] = source;
    }
}

__global__ void expand(const int *row, const int *col, int *level, int *parent, const int *frontier,
                       int count, int *next, int *nextCount, int depth)
{
    __shared__ int queue[LOCAL];
    __shared__ int fill, place;
    if (threadIdx.x == 0) fill = 0;
    __syncthreads();

    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        int v = frontier[i];
        for (int e = row[v]; e < row[v + 1]; ++e) {
            int u = col[e];
            if (atomicCAS(&level[u], -1, depth) == -1) { // claimed by exactly one thread
                parent[u] = v;
                int at = atomicAdd(&fill, 1);
                if (at < LOCAL)
                    queue[at] = u;
                else
                    next[atomicAdd(nextCount, 1)] = u; // the local queue is full
            }
        }
    }
    __syncthreads();
    int have = min(fill, LOCAL);
    if (threadIdx.x == 0) place = atomicAdd(nextCount, have);
    __syncthreads();
    for (int k = threadIdx.x; k < have; k += blockDim.x) next[place + k] = queue[k];
}

int main()
{
    const int n = 3000, source = 17;
    Csr g = makeGraph(n, 4, 11);
    const int m = (int)g.col.size();

    int *row, *col, *level, *parent, *front, *next, *count;
    CUDA_CALL(cudaMalloc(&row, (n + 1) * sizeof(int)));
    CUDA_CALL(cudaMalloc(&col, m * sizeof(int)));
    CUDA_CALL(cudaMalloc(&level, n * sizeof(int)));
    CUDA_CALL(cudaMalloc(&parent, n * sizeof(int)));
    CUDA_CALL(cudaMalloc(&front, n * sizeof(int)));
    CUDA_CALL(cudaMalloc(&next, n * sizeof(int)));
    CUDA_CALL(cudaMalloc(&count, sizeof(int)));
    CUDA_CALL(cudaMemcpy(row, g.row.data(), (n + 1) * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CALL(cudaMemcpy(col, g.col.data(), m * sizeof(int), cudaMemcpyHostToDevice));

    initLevels<<<8, 128>>>(level, parent, n, source, front);
    CUDA_CALL(cudaGetLastError());
    int size = 1, depth = 0;
    while (size > 0) {
        ++depth;
        CUDA_CALL(cudaMemset(count, 0, sizeof(int)));
        expand<<<(size + BLOCK - 1) / BLOCK, BLOCK>>>(row, col, level, parent, front, size, next,
                                                      count, depth);
        CUDA_CALL(cudaGetLastError());
        CUDA_CALL(
            cudaMemcpy(&size, count, sizeof(int), cudaMemcpyDeviceToHost)); // waits for the kernel
        std::swap(front, next);
    }
    std::vector<int> gl(n), gp(n), ref(n, -1);
    CUDA_CALL(cudaMemcpy(gl.data(), level, n * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CALL(cudaMemcpy(gp.data(), parent, n * sizeof(int), cudaMemcpyDeviceToHost));

    std::queue<int> q;
    ref[source] = 0;
    q.push(source);
    while (!q.empty()) {
        int v = q.front();
        q.pop();
        for (int e = g.row[v]; e < g.row[v + 1]; ++e)
            if (ref[g.col[e]] < 0) {
                ref[g.col[e]] = ref[v] + 1;
                q.push(g.col[e]);
            }
    }
    int bad = 0;
    for (int v = 0; v < n; ++v) {
        if (gl[v] != ref[v] && bad++ < 5)
            printf("level of %d: %d, expected %d\n", v, gl[v], ref[v]);
        if (ref[v] > 0) {
            // any parent of the level above that is a neighbour is right
            bool linked = false;
            if (gp[v] >= 0 && gp[v] < n && ref[gp[v]] == ref[v] - 1)
                for (int e = g.row[v]; e < g.row[v + 1]; ++e) linked = linked || g.col[e] == gp[v];
            if (!linked && bad++ < 10) printf("parent of %d: %d\n", v, gp[v]);
        }
    }
    for (int *p : {row, col, level, parent, front, next, count}) CUDA_CALL(cudaFree(p));
    if (bad) {
        printf("%d errors\n", bad);
        return 1;
    }
    printf("PASS\n");
    return 0;
}
