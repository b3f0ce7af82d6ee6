// Right: an array is compacted in place. Lanes send what they drop to one word behind the others,
// of which nobody reads; and a block looks at the element before its own, which the block before
// stores again, as it is there, where nothing has been dropped yet. CUB does both.
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t err = (call);                                                                  \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int EACH = 3, TILE = 32 * EACH, TILES = 20;

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

// Keeps what differs from the element before. ends[tile]: 1 + how many are kept up to its end.
__global__ void unique(long long *all, int *ends)
{
    __shared__ long long kept[TILE + 1];
    const int lane = threadIdx.x, tile = blockIdx.x, mine_at = (tile * 32 + lane) * EACH;
    long long mine[EACH], before = mine_at > 0 ? all[mine_at - 1] : 0;
    int place[EACH], many = 0, start = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        mine[k] = all[mine_at + k];
        const bool drops = mine[k] == before && mine_at + k > 0;
        place[k] = drops ? -1 : many;
        many += !drops;
        before = mine[k];
    }
    int at = many;
    for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(~0u, at, step);
        if (lane >= step) at += other;
    }
    const int total = __shfl_sync(~0u, at, 31);
    at -= many;
    kept[place[0] < 0 ? TILE : at + place[0]] = mine[0];
    kept[place[1] < 0 ? TILE : at + place[1]] = mine[1];
    kept[place[2] < 0 ? TILE : at + place[2]] = mine[2];
    __syncwarp();
    if (lane == 0 && tile > 0)
        while ((start = Flag(ends[tile - 1]).load(cuda::memory_order_acquire)) == 0) continue;
    if (lane == 0) start -= tile > 0;
    start = __shfl_sync(~0u, start, 0);
    if (lane == 0) Flag(ends[tile]).store(start + total + 1, cuda::memory_order_release);
    for (int k = lane; k < total; k += 32) all[start + k] = kept[k];
}

static bool check(const std::vector<long long> &values)
{
    std::vector<long long> expected, got(values.size());
    long long *all;
    int *ends, last;
    for (size_t k = 0; k < values.size(); k++)
        if (k == 0 || values[k] != values[k - 1]) expected.push_back(values[k]);
    CHECK(cudaMalloc(&all, values.size() * sizeof *all));
    CHECK(cudaMalloc(&ends, TILES * sizeof *ends));
    CHECK(cudaMemset(ends, 0, TILES * sizeof *ends));
    CHECK(cudaMemcpy(all, values.data(), values.size() * sizeof *all, cudaMemcpyHostToDevice));
    unique<<<TILES, 32>>>(all, ends);
    CHECK(cudaMemcpy(&last, ends + TILES - 1, sizeof last, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(got.data(), all, got.size() * sizeof *all, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(all));
    CHECK(cudaFree(ends));
    got.resize(expected.size());
    return last == (int)expected.size() + 1 && got == expected;
}

int main()
{
    std::vector<long long> different(TILES * TILE), pairs(TILES * TILE);
    for (size_t k = 0; k < different.size(); k++) {
        different[k] = (long long)k * 1000003;
        pairs[k] = (long long)(k / 2 + k / 7) * 1000003;
    }
    const bool right = check(different) && check(pairs);
    printf("%s\n", right ? "PASS" : "wrong");
    return !right;
}
