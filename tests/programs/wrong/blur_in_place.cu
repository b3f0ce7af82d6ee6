// Wrong: a picture is blurred in place: a pixel's neighbours are sampled from the memory that other
// threads write to.
// Found: global memory race, race between blocks
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t err = (call);                                                                  \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int WIDTH = 64, HEIGHT = 48;

__global__ void blur(cudaTextureObject_t picture, float *pixels)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) sum += tex2D<float>(picture, x + dx + 0.5f, y + dy + 0.5f);
    pixels[y * WIDTH + x] = sum / 9;
}

int main()
{
    std::vector<float> pixels(WIDTH * HEIGHT);
    for (size_t i = 0; i < pixels.size(); i++) pixels[i] = static_cast<float>(i * 7 % 256);
    float *device;
    const size_t bytes = pixels.size() * sizeof(float);
    CHECK(cudaMalloc(&device, bytes));
    CHECK(cudaMemcpy(device, pixels.data(), bytes, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = device;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = WIDTH;
    resource.res.pitch2D.height = HEIGHT;
    resource.res.pitch2D.pitchInBytes = WIDTH * sizeof(float);
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t picture;
    CHECK(cudaCreateTextureObject(&picture, &resource, &how, NULL));
    const dim3 block(16, 16), grid(WIDTH / 16, HEIGHT / 16);
    blur<<<grid, block>>>(picture, device);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(pixels.data(), device, bytes, cudaMemcpyDeviceToHost));
    printf("%f\n", pixels[WIDTH + 1]);
    CHECK(cudaDestroyTextureObject(picture));
    CHECK(cudaFree(device));
    return 0;
}
