// What the programs that ask of textures share: arrays filled with numbers, coordinates, samples.
#pragma once
#include "gpu.cuh"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

constexpr int SAMPLES = 4096;
static float *answers;     // SAMPLES of them
static float3 *directions; // the same
static FILE *raw;

static void begin(const char *file)
{
    raw = file != nullptr ? fopen(file, "w") : nullptr;
    CHECK(cudaMalloc(&answers, SAMPLES * sizeof *answers));
    CHECK(cudaMalloc(&directions, SAMPLES * sizeof *directions));
}

// Number `i` of a sequence that looks random: 24 bits.
static uint32_t noise(uint32_t i)
{
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return (uint32_t)((x ^ (x >> 31)) >> 40);
}

static float between(float low, float high, uint32_t i)
{
    return low + (high - low) * (float)noise(i) / 16777216.0f;
}

template <typename T> static T texel(uint32_t i)
{
    return sizeof(T) == 1 ? (T)noise(i) : (T)(noise(i) >> 8);
}

// What ran last has left SAMPLES answers: a hash of their bits, and the first.
static void show(const char *name)
{
    std::vector<uint32_t> bits(SAMPLES);
    uint64_t hash = 1469598103934665603ull;
    float first;
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("%s: %s\n", name, cudaGetErrorName(error));
        exit(1);
    }
    CHECK(cudaMemcpy(bits.data(), answers, SAMPLES * 4, cudaMemcpyDeviceToHost));
    for (uint32_t b : bits) hash = (hash ^ b) * 1099511628211ull;
    memcpy(&first, &bits[SAMPLES - 1], 4);
    printf("%s: %016llx %.9g\n", name, (unsigned long long)hash, first);
    if (raw == nullptr) return;
    fprintf(raw, "# %s\n", name);
    for (uint32_t b : bits) fprintf(raw, "%08x\n", b);
    fflush(raw);
}

static void put_directions(float3 (*direction)(int i, unsigned seed), unsigned seed)
{
    std::vector<float3> list(SAMPLES);
    for (int i = 0; i < SAMPLES; i++) list[i] = direction(i, seed);
    CHECK(cudaMemcpy(directions, list.data(), SAMPLES * sizeof(float3), cudaMemcpyHostToDevice));
}

template <typename T>
static void fill(cudaArray_t array, int width, int height, int depth, uint32_t seed)
{
    const int rows = height > 0 ? height : 1, slices = depth > 0 ? depth : 1;
    std::vector<T> texels((size_t)width * rows * slices);
    for (size_t i = 0; i < texels.size(); i++) texels[i] = texel<T>((uint32_t)i + seed);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(texels.data(), width * sizeof(T), width, rows);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(width, rows, slices);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
}

template <typename T>
static cudaArray_t filled_array(int width, int height, int depth, unsigned flags)
{
    cudaArray_t array;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
    CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(width, height, depth), flags));
    fill<T>(array, width, height, depth, 0);
    return array;
}

// Levels of random texels; or, with a `step`, all of a level are its number times that.
template <typename T>
static cudaMipmappedArray_t filled_levels(int width, int height, int depth, int levels,
                                          unsigned flags)
{
    cudaMipmappedArray_t made;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
    CHECK(cudaMallocMipmappedArray(&made, &desc, make_cudaExtent(width, height, depth), levels,
                                   flags));
    for (int i = 0; i < levels; i++) {
        cudaArray_t level;
        cudaExtent extent;
        unsigned got;
        CHECK(cudaGetMipmappedArrayLevel(&level, made, i));
        CHECK(cudaArrayGetInfo(&desc, &extent, &got, level));
        fill<T>(level, (int)extent.width, (int)extent.height, (int)extent.depth, 7919u * (i + 1));
    }
    return made;
}

static const cudaResourceDesc *resource_of(cudaArray_t array)
{
    static cudaResourceDesc resource;
    resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return &resource;
}

static const cudaResourceDesc *resource_of(cudaMipmappedArray_t array)
{
    static cudaResourceDesc resource;
    resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = array;
    return &resource;
}

static cudaTextureObject_t texture_of(const cudaResourceDesc *resource, const cudaTextureDesc &how)
{
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, resource, &how, nullptr));
    return texture;
}
