// Textures of integers that stay integers (CU_TRSF_READ_AS_INTEGER) with a linear filter, which the
// driver makes and the runtime refuses: what they give in each format and shape, at the edges, and
// of four texels at once. integer_filters.txt has an H200's answers.
//
//     nvcc -std=c++17 -arch=sm_90 -o integer_filters tests/gpu/integer_filters.cu -lcuda
//     ./integer_filters > tests/gpu/integer_filters.txt
#include "ask.cuh"

constexpr int SIDE = 4, SAMPLES = 96, MOST = SIDE * SIDE * SIDE * 4;

static const struct Format {
    const char *name;
    CUarray_format format;
    unsigned bytes;
} formats[] = {
    {"u8", CU_AD_FORMAT_UNSIGNED_INT8, 1},   {"s8", CU_AD_FORMAT_SIGNED_INT8, 1},
    {"u16", CU_AD_FORMAT_UNSIGNED_INT16, 2}, {"s16", CU_AD_FORMAT_SIGNED_INT16, 2},
    {"u32", CU_AD_FORMAT_UNSIGNED_INT32, 4}, {"s32", CU_AD_FORMAT_SIGNED_INT32, 4},
};

static uint32_t noise(uint32_t i)
{
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return (uint32_t)(x >> 32);
}

__global__ void sample_rows(CUtexObject texture, const float3 *at, uint4 *out)
{
    uint4 v;
    const float3 p = at[threadIdx.x];
    asm volatile("tex.2d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(texture), "f"(p.x), "f"(p.y));
    out[threadIdx.x] = v;
}

__global__ void sample_line(CUtexObject texture, const float3 *at, uint4 *out)
{
    uint4 v;
    asm volatile("tex.1d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5}];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(texture), "f"(at[threadIdx.x].x));
    out[threadIdx.x] = v;
}

__global__ void sample_box(CUtexObject texture, const float3 *at, uint4 *out)
{
    uint4 v;
    const float3 p = at[threadIdx.x];
    asm volatile("tex.3d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(texture), "f"(p.x), "f"(p.y), "f"(p.z));
    out[threadIdx.x] = v;
}

__global__ void gather(CUtexObject texture, const float3 *at, uint4 *out)
{
    uint4 v;
    const float3 p = at[threadIdx.x];
    asm volatile("tld4.r.2d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(texture), "f"(p.x), "f"(p.y));
    out[threadIdx.x] = v;
}

typedef void sampler(CUtexObject texture, const float3 *at, uint4 *out);

static float3 *at;
static uint4 *out;
static uint32_t texels[MOST];

static void begin()
{
    Q(cudaMallocManaged(&at, SAMPLES * sizeof *at));
    Q(cudaMallocManaged(&out, SAMPLES * sizeof *out));
    for (int i = 0; i < MOST; i++) texels[i] = noise(i);
    for (int i = 0; i < SAMPLES; i++) {
        const uint32_t n = noise(1000 + i);
        at[i] = {(float)(n % 1024) / 128.0f - 2.0f, (float)(n / 1024 % 1024) / 128.0f - 2.0f,
                 (float)(n / 1048576 % 1024) / 128.0f - 2.0f};
    }
}

// Samples, and prints the channel whose number is the sample's, in turn.
static void show(const char *name, const CUDA_RESOURCE_DESC &resource, sampler *kernel,
                 unsigned channels, CUaddress_mode mode = CU_TR_ADDRESS_MODE_CLAMP,
                 unsigned flags = CU_TRSF_READ_AS_INTEGER)
{
    CUDA_TEXTURE_DESC sampling = {};
    CUtexObject texture = 0;
    char line[SAMPLES * 10 + 1] = "";
    sampling.addressMode[0] = sampling.addressMode[1] = sampling.addressMode[2] = mode;
    sampling.filterMode = CU_TR_FILTER_MODE_LINEAR;
    sampling.flags = flags;
    sampling.borderColor[0] = 1e-43f;
    const CUresult code = cuTexObjectCreate(&texture, &resource, &sampling, nullptr);
    if (code != CUDA_SUCCESS) return say("%s: %s", name, name_of(code));
    kernel<<<1, SAMPLES>>>(texture, at, out);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) return answer(name, error);
    for (int i = 0; i < SAMPLES; i++)
        sprintf(line + strlen(line), " %x", (&out[i].x)[i % channels]);
    say("%s:%s", name, line);
    Q(cuTexObjectDestroy(texture));
}

static CUDA_RESOURCE_DESC made(const Format &f, size_t width, size_t height, size_t depth,
                               unsigned channels, unsigned flags)
{
    CUDA_RESOURCE_DESC resource = {};
    CUDA_ARRAY3D_DESCRIPTOR d = {width, height, depth, f.format, channels, flags};
    CUDA_MEMCPY3D copy = {};
    Q(cuArray3DCreate(&resource.res.array.hArray, &d));
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = texels;
    copy.srcPitch = copy.WidthInBytes = width * channels * f.bytes;
    copy.srcHeight = copy.Height = height ? height : 1;
    copy.Depth = depth ? depth : 1;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = resource.res.array.hArray;
    Q(cuMemcpy3D(&copy));
    return resource;
}

// The array's texture is of one dimension, two or three.
#define SHAPE(shape, kernel, width, height, depth)                                                 \
    SECTION(shape)                                                                                 \
    {                                                                                              \
        Q(cudaFree(nullptr));                                                                      \
        begin();                                                                                   \
        for (const Format &f : formats)                                                            \
            show(f.name, made(f, width, height, depth, 1, 0), kernel, 1);                          \
    }

SHAPE(line, sample_line, SIDE, 0, 0)
SHAPE(rows, sample_rows, SIDE, SIDE, 0)
SHAPE(box, sample_box, SIDE, SIDE, SIDE)

SECTION(channels)
{
    Q(cudaFree(nullptr));
    begin();
    for (const Format &f : formats)
        for (const unsigned channels : {2u, 4u}) {
            char name[32];
            snprintf(name, sizeof name, "%s x %u", f.name, channels);
            show(name, made(f, SIDE, SIDE, 0, channels, 0), sample_rows, channels);
        }
}

SECTION(edges)
{
    Q(cudaFree(nullptr));
    begin();
    for (const Format &f : formats)
        for (int mode = 0; mode < 4; mode++)
            for (const unsigned flags : {0u, (unsigned)CU_TRSF_NORMALIZED_COORDINATES}) {
                char name[32];
                snprintf(name, sizeof name, "%s, mode %d, flags %u", f.name, mode, flags);
                show(name, made(f, SIDE, SIDE, 0, 1, 0), sample_rows, 1, (CUaddress_mode)mode,
                     flags | CU_TRSF_READ_AS_INTEGER);
            }
}

SECTION(words)
{
    Q(cudaFree(nullptr));
    begin();
    for (const Format &f : formats)
        if (f.bytes == 4)
            show(f.name, made(f, SIDE, SIDE, 0, 1, 0), sample_rows, 1, CU_TR_ADDRESS_MODE_CLAMP, 0);
}

SECTION(gather)
{
    Q(cudaFree(nullptr));
    begin();
    for (const Format &f : formats)
        show(f.name, made(f, SIDE, SIDE, 0, 1, CUDA_ARRAY3D_TEXTURE_GATHER), gather, 4);
}

SECTION(memory)
{
    void *rows;
    Q(cudaMalloc(&rows, 4096));
    begin();
    Q(cudaMemcpy(rows, texels, sizeof texels, cudaMemcpyHostToDevice));
    for (const Format &f : formats) {
        CUDA_RESOURCE_DESC resource = {};
        resource.resType = CU_RESOURCE_TYPE_PITCH2D;
        resource.res.pitch2D = {(CUdeviceptr)(uintptr_t)rows, f.format, 1, SIDE, SIDE, 32};
        show(f.name, resource, sample_rows, 1);
    }
}

SECTION(runtime)
{
    cudaArray_t array;
    cudaTextureObject_t texture;
    cudaTextureDesc sampling = {};
    cudaResourceDesc resource = {};
    const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<uchar1>();
    Q(cudaMallocArray(&array, &bytes, SIDE, SIDE));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    sampling.filterMode = cudaFilterModeLinear;
    A(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
}
