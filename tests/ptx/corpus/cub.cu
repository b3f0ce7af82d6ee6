// The toolkit's own algorithms: long, much inlined, much inline PTX.
#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

__global__ void sort(int *keys)
{
    typedef cub::BlockRadixSort<int, 128, 4> sorter;
    __shared__ typename sorter::TempStorage storage;
    int mine[4];
    for (int i = 0; i < 4; i++) mine[i] = keys[threadIdx.x * 4 + i];
    sorter(storage).Sort(mine);
    for (int i = 0; i < 4; i++) keys[threadIdx.x * 4 + i] = mine[i];
}

cudaError_t algorithms(void *room, size_t size, int *in, int *out, int n)
{
    cudaError_t first = cub::DeviceReduce::Sum(room, size, in, out, n);
    cudaError_t second = cub::DeviceScan::InclusiveSum(room, size, in, out, n);
    return first != cudaSuccess ? first : second;
}
