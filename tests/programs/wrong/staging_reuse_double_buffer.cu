// Wrong: the host refills a pinned staging buffer while the copy from it two rounds ago may still
// be under way (no cudaEventSynchronize before it).
// Found: race
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CK(x)                                                                                      \
    if ((x) != cudaSuccess) {                                                                      \
        fprintf(stderr, "failed in line %d: %s\n", __LINE__,                                       \
                cudaGetErrorString(cudaGetLastError()));                                           \
        exit(1);                                                                                   \
    }

// a rolling checksum per record
__global__ void checksum(const uint32_t *block, int records, int words, uint32_t *sums)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= records) return;
    uint32_t a = 1, b = 0;
    for (int w = 0; w < words; ++w) {
        a = (a + block[r * words + w]) % 65521u;
        b = (b + a) % 65521u;
    }
    sums[r] = b << 16 | a;
}

// stands for reading a file
static void readBlock(uint32_t *dst, int block, int n)
{
    uint32_t s = 0x9e3779b9u * (uint32_t)(block + 1);
    for (int i = 0; i < n; ++i) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        dst[i] = s & 0xffff;
    }
}

int main()
{
    const int records = 512, words = 24, n = records * words, blocks = 8;
    uint32_t *staging[2], *dev[2], *dSums, *hSums;
    cudaEvent_t copied[2];
    cudaStream_t stream;
    CK(cudaStreamCreate(&stream));
    for (int k = 0; k < 2; ++k) {
        CK(cudaHostAlloc(&staging[k], n * sizeof(uint32_t), cudaHostAllocWriteCombined));
        CK(cudaMalloc(&dev[k], n * sizeof(uint32_t)));
        CK(cudaEventCreateWithFlags(&copied[k], cudaEventDisableTiming));
    }
    CK(cudaMalloc(&dSums, blocks * records * sizeof(uint32_t)));
    CK(cudaMallocHost(&hSums, blocks * records * sizeof(uint32_t)));

    for (int b = 0; b < blocks; ++b) {
        const int k = b & 1;
        readBlock(staging[k], b, n);
        CK(cudaMemcpyAsync(dev[k], staging[k], n * sizeof(uint32_t), cudaMemcpyHostToDevice,
                           stream));
        CK(cudaEventRecord(copied[k], stream));
        checksum<<<(records + 63) / 64, 64, 0, stream>>>(dev[k], records, words,
                                                         dSums + b * records);
        CK(cudaGetLastError());
    }
    CK(cudaMemcpyAsync(hSums, dSums, blocks * records * sizeof(uint32_t), cudaMemcpyDeviceToHost,
                       stream));
    CK(cudaStreamSynchronize(stream));

    int bad = 0;
    std::vector<uint32_t> ref(n);
    for (int b = 0; b < blocks; ++b) {
        readBlock(ref.data(), b, n);
        for (int r = 0; r < records; ++r) {
            uint32_t a = 1, c = 0;
            for (int w = 0; w < words; ++w) {
                a = (a + ref[r * words + w]) % 65521u;
                c = (c + a) % 65521u;
            }
            if (hSums[b * records + r] != (c << 16 | a) && bad++ < 5)
                printf("block %d record %d: %08x, expected %08x\n", b, r, hSums[b * records + r],
                       c << 16 | a);
        }
    }
    for (int k = 0; k < 2; ++k) {
        CK(cudaFreeHost(staging[k]));
        CK(cudaFree(dev[k]));
        CK(cudaEventDestroy(copied[k]));
    }
    CK(cudaFree(dSums));
    CK(cudaFreeHost(hSums));
    CK(cudaStreamDestroy(stream));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
