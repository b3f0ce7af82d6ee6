// Right: cub scans a million numbers: its blocks look back at tiles of blocks that have started,
// some of which have ended, and one waits for another that has not looked at anything yet.
#include <cstdio>
#include <cstdlib>
#include <cub/device/device_scan.cuh>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t err = (call);                                                                  \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int N = 1 << 20;

int main()
{
    std::vector<int> values(N), sums(N);
    int *in, *out, sum = 0, wrong = 0;
    void *scratch = nullptr;
    size_t bytes = 0;
    for (int i = 0; i < N; i++) values[i] = i % 13 - 5;
    CHECK(cudaMalloc(&in, N * sizeof(int)));
    CHECK(cudaMalloc(&out, N * sizeof(int)));
    CHECK(cudaMemcpy(in, values.data(), N * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, N));
    CHECK(cudaMalloc(&scratch, bytes));
    CHECK(cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, N));
    CHECK(cudaMemcpy(sums.data(), out, N * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) wrong += sums[i] != (sum += values[i]);
    printf("%s\n", wrong ? "wrong" : "PASS");
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(scratch));
    return wrong != 0;
}
