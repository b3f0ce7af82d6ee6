// Right: quicksort whose kernels launch kernels for the two parts; short parts by insertion.
#include <algorithm>
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

__device__ void insertion_sort(int *data, int left, int right)
{
    for (int i = left + 1; i <= right; i++) {
        int value = data[i], j = i - 1;
        for (; j >= left && data[j] > value; j--) data[j + 1] = data[j];
        data[j + 1] = value;
    }
}

__global__ void sort(int *data, int left, int right, int depth)
{
    if (depth >= 20 || right - left < 24) {
        insertion_sort(data, left, right);
        return;
    }
    const int pivot = data[left + (right - left) / 2];
    int i = left, j = right;
    while (i <= j) {
        while (data[i] < pivot) i++;
        while (data[j] > pivot) j--;
        if (i > j) break;
        const int value = data[i];
        data[i++] = data[j];
        data[j--] = value;
    }
    // Each part in a stream of its own: nothing orders the two, and they touch nothing in common.
    if (left < j) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        sort<<<1, 1, 0, stream>>>(data, left, j, depth + 1);
        cudaStreamDestroy(stream);
    }
    if (i < right) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        sort<<<1, 1, 0, stream>>>(data, i, right, depth + 1);
        cudaStreamDestroy(stream);
    }
}

int main()
{
    const int n = 1500;
    std::vector<int> data(n), result(n);
    unsigned state = 17;
    for (int &value : data)
        value = static_cast<int>((state = state * 1664525u + 1013904223u) >> 12);
    int *device;
    CHECK(cudaMalloc(&device, n * sizeof(int)));
    CHECK(cudaMemcpy(device, data.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    sort<<<1, 1>>>(device, 0, n - 1, 0);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(result.data(), device, n * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    std::sort(data.begin(), data.end());
    if (data != result) {
        fprintf(stderr, "not sorted\n");
        return 1;
    }
    return 0;
}
