// Wrong: the host reads managed memory right after the launch (cudaDeviceSynchronize is missing
// before it).
// Found: race
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#define CUDA_CHECK(x)                                                                              \
    if (cudaError_t e = (x)) {                                                                     \
        fprintf(stderr, "%s(%d): %s\n", __FILE__, __LINE__, cudaGetErrorString(e));                \
        exit(EXIT_FAILURE);                                                                        \
    }

const int kBins = 32;

struct Image {
    int width, height;
    unsigned char *pixels;
    unsigned *histogram;
};

__global__ void equaliseCounts(const unsigned char *px, int n, unsigned *hist)
{
    __shared__ unsigned local[kBins];
    if (threadIdx.x < kBins) local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&local[px[i] >> 3], 1u);
    __syncthreads();
    if (threadIdx.x < kBins) atomicAdd(&hist[threadIdx.x], local[threadIdx.x]);
}

__global__ void brighten(unsigned char *px, int n, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) px[i] = (unsigned char)min(255, px[i] + by);
}

int main(int argc, char **argv)
{
    Image im;
    im.width = 160;
    im.height = 120;
    const int n = im.width * im.height;
    CUDA_CHECK(cudaMallocManaged(&im.pixels, n));
    CUDA_CHECK(cudaMallocManaged(&im.histogram, kBins * sizeof(unsigned)));
    unsigned char *copy = (unsigned char *)malloc(n);
    for (int i = 0; i < n; ++i) copy[i] = im.pixels[i] = (unsigned char)((i * 31 + i / 7) & 0xff);
    memset(im.histogram, 0, kBins * sizeof(unsigned));

    brighten<<<(n + 255) / 256, 256>>>(im.pixels, n, 20);
    CUDA_CHECK(cudaGetLastError());
    equaliseCounts<<<20, 128>>>(im.pixels, n, im.histogram);
    CUDA_CHECK(cudaGetLastError());

    unsigned ref[kBins] = {0};
    for (int i = 0; i < n; ++i) {
        int v = copy[i] + 20;
        ++ref[(v > 255 ? 255 : v) >> 3];
    }
    int bad = 0;
    unsigned total = 0;
    for (int b = 0; b < kBins; ++b) {
        unsigned got = im.histogram[b];
        total += got;
        if (got != ref[b]) {
            printf("bin %d: %u, expected %u\n", b, got, ref[b]);
            ++bad;
        }
    }
    if (total != (unsigned)n) printf("%u of %d pixels counted\n", total, n);

    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaFree(im.pixels));
    CUDA_CHECK(cudaFree(im.histogram));
    free(copy);
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
