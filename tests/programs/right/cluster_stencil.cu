// Right: a field spread over the shared memory of a cluster's blocks, which read their neighbours'
// edges; steps in which each tells the other by barrier objects; clusters by a launch attribute.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define CELLS 64
#define BLOCKS 8

// Each cluster holds a ring of cells.
__global__ void ring(const float *in, float *out, int steps)
{
    __shared__ float field[2][CELLS];
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    const unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
    const int t = threadIdx.x, place = blockIdx.x * CELLS + t;
    field[0][t] = in[place];
    for (int step = 0; step < steps; step++) {
        const int now = step & 1;
        cluster.sync();
        const float left =
            t > 0 ? field[now][t - 1]
                  : cluster.map_shared_rank(field[now], (rank + blocks - 1) % blocks)[CELLS - 1];
        const float right = t < CELLS - 1
                                ? field[now][t + 1]
                                : cluster.map_shared_rank(field[now], (rank + 1) % blocks)[0];
        field[now ^ 1][t] = 0.25f * left + 0.5f * field[now][t] + 0.25f * right;
    }
    out[place] = field[steps & 1][t];
    cluster.sync();
}

// The sum of a cluster's cells, by atomics in the first block's shared memory.
__global__ void __cluster_dims__(4, 1, 1) sums(const float *in, int *out)
{
    __shared__ int sum;
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    if (threadIdx.x == 0) sum = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&sum, 0), (int)(16 * in[blockIdx.x * CELLS + threadIdx.x]));
    cluster.sync();
    if (cluster.thread_rank() == 0) out[blockIdx.x / cluster.num_blocks()] = sum;
}

static std::vector<float> on_host(std::vector<float> field, int ring_size, int steps)
{
    std::vector<float> next(field.size());
    for (int step = 0; step < steps; step++, field.swap(next))
        for (int i = 0; i < (int)field.size(); i++) {
            const int first = i / ring_size * ring_size;
            const float left = field[first + (i - first + ring_size - 1) % ring_size];
            const float right = field[first + (i - first + 1) % ring_size];
            next[i] = 0.25f * left + 0.5f * field[i] + 0.25f * right;
        }
    return field;
}

int main()
{
    const int n = BLOCKS * CELLS, steps = 13;
    std::vector<float> field(n), result(n);
    float *in, *out;
    int *totals, wrong = 0;
    for (int i = 0; i < n; i++) field[i] = (float)(i * 37 % 101);
    CHECK(cudaMalloc(&in, n * sizeof *in));
    CHECK(cudaMalloc(&out, n * sizeof *out));
    CHECK(cudaMalloc(&totals, 2 * sizeof *totals));
    CHECK(cudaMemcpy(in, field.data(), n * sizeof *in, cudaMemcpyHostToDevice));
    for (unsigned size = 1; size <= BLOCKS; size *= 2) {
        cudaLaunchAttribute attribute = {};
        cudaLaunchConfig_t config = {};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = size;
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        config.gridDim = BLOCKS;
        config.blockDim = CELLS;
        config.attrs = &attribute;
        config.numAttrs = 1;
        CHECK(cudaLaunchKernelEx(&config, ring, (const float *)in, out, steps));
        CHECK(cudaMemcpy(result.data(), out, n * sizeof *out, cudaMemcpyDeviceToHost));
        const std::vector<float> expected = on_host(field, (int)size * CELLS, steps);
        for (int i = 0; i < n; i++) wrong += result[i] != expected[i];
    }
    sums<<<BLOCKS, CELLS>>>(in, totals);
    CHECK(cudaGetLastError());
    int seen[2], expected[2] = {0, 0};
    CHECK(cudaMemcpy(seen, totals, sizeof seen, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) expected[i / (4 * CELLS)] += (int)(16 * field[i]);
    wrong += seen[0] != expected[0] || seen[1] != expected[1];
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(totals));
    printf("%s\n", wrong ? "wrong" : "right");
    return wrong != 0;
}
