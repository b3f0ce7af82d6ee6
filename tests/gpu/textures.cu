// Arrays and textures, asked of a GPU: which arrays there are, which views of an array a texture
// may have and what is read through them, numbers in sRGB, borders, four texels at once,
// descriptions that say nothing. Each line is a case and its answer. textures.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o textures tests/gpu/textures.cu -lcuda
//     ./textures > tests/gpu/textures.txt
#include "gpu.cuh"

#include <initializer_list>

// ---- arrays
// --------------------------------------------------------------------------------------

static CUarray array_of(size_t width, size_t height, size_t depth, CUarray_format format,
                        unsigned channels, unsigned flags = 0)
{
    CUarray made;
    const CUDA_ARRAY3D_DESCRIPTOR of = {width, height, depth, format, channels, flags};
    NEED(cuArray3DCreate(&made, &of));
    return made;
}

static void make(size_t width, size_t height, size_t depth, int format, unsigned channels,
                 unsigned flags)
{
    CUarray made;
    const CUDA_ARRAY3D_DESCRIPTOR of = {width,    height, depth, (CUarray_format)format,
                                        channels, flags};
    const CUresult code = cuArray3DCreate(&made, &of);
    printf("%zu by %zu by %zu, format 0x%x, %u channels, flags %u, ", width, height, depth, format,
           channels, flags);
    say("array", code);
    if (code == CUDA_SUCCESS) NEED(cuArrayDestroy(made));
}

static void arrays()
{
    const int bytes = CU_AD_FORMAT_UNSIGNED_INT8, floats = CU_AD_FORMAT_FLOAT;
    const unsigned gather = CUDA_ARRAY3D_TEXTURE_GATHER;
    make(8, 0, 0, floats, 1, gather);
    make(8, 8, 0, floats, 4, gather);
    make(8, 8, 8, floats, 1, gather);
    make(8, 0, 8, floats, 1, gather | CUDA_ARRAY3D_LAYERED);
    make(8, 8, 8, floats, 1, gather | CUDA_ARRAY3D_LAYERED);
    make(8, 8, 6, floats, 1, gather | CUDA_ARRAY3D_CUBEMAP);
    make(8, 8, 0, bytes, 1, gather | CUDA_ARRAY3D_SURFACE_LDST);
    make(32768, 8, 0, bytes, 1, gather);
    make(32769, 8, 0, bytes, 1, gather);
    make(8, 32769, 0, bytes, 1, gather);
    make(1, 1, 16385, bytes, 1, 0);
    make(1, 1, 32768, bytes, 1, 0);
    make(1, 1, 32769, bytes, 1, 0);
    make(8193, 1, 32768, bytes, 1, 0);
    make(1, 8193, 32768, bytes, 1, 0);
    make(8193, 1, 16384, bytes, 1, 0);
    make(8193, 1, 16385, bytes, 1, 0);
    make(16385, 1, 2, bytes, 1, 0);
    make(8, 8, 0, 0x30, 1, 0);
    make(8, 8, 0, CU_AD_FORMAT_UNORM_INT8X4, 1, 0);
    make(16, 16, 0, CU_AD_FORMAT_NV12, 1, 0);
    make(16, 16, 0, CU_AD_FORMAT_NV12, 3, 0);
    make(8, 8, 0, floats, 1, CUDA_ARRAY3D_DEPTH_TEXTURE);
    make(8, 8, 0, floats, 4, CUDA_ARRAY3D_COLOR_ATTACHMENT);
    const CUarray plain = array_of(8, 8, 0, CU_AD_FORMAT_FLOAT, 1);
    CUarray plane;
    CUDA_ARRAY_SPARSE_PROPERTIES tiles;
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs;
    cudaArray_t part;
    say("plane of a plain array", cuArrayGetPlane(&plane, plain, 0));
    say("tiles of a plain array", cuArrayGetSparseProperties(&tiles, plain));
    say("needs of a plain array", cuArrayGetMemoryRequirements(&needs, plain, 0));
    say("runtime: plane", cudaArrayGetPlane(&part, (cudaArray_t)plain, 0));
    NEED(cuArrayDestroy(plain));
}

// ---- textures
// ------------------------------------------------------------------------------------

static CUDA_RESOURCE_DESC resource;
static CUDA_TEXTURE_DESC sampling;
static uint4 *answers;
static unsigned words[512];

static void in_array(CUarray array)
{
    resource = {};
    sampling = {};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    for (CUaddress_mode &mode : sampling.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
}

static void put(CUarray array, const void *from, size_t row, size_t rows, size_t slices)
{
    CUDA_MEMCPY3D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = from;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = row;
    copy.Height = rows;
    copy.Depth = slices;
    NEED(cuMemcpy3D(&copy));
}

enum { REALS, ROWS, WORDS, LAYERS, LEVELS, LINE, FOUR };

__global__ void read_all(cudaTextureObject_t texture, int how, float x, uint4 *out)
{
    const int i = threadIdx.x;
    float4 real = {};
    if (how == REALS) real = tex2D<float4>(texture, x + i, 0.5f);
    if (how == ROWS) real = tex2D<float4>(texture, x + i, 1.5f);
    if (how == FOUR) real = tex2Dgather<float4>(texture, x + i * 0.375f, x + i * 0.625f, 0);
    if (how == LINE) real = tex1Dfetch<float4>(texture, (int)x + i);
    out[i] = make_uint4(__float_as_uint(real.x), __float_as_uint(real.y), __float_as_uint(real.z),
                        __float_as_uint(real.w));
    if (how == WORDS) out[i] = tex2D<uint4>(texture, x + i, 0.5f);
    if (how == LAYERS) out[i] = tex2DLayered<uint4>(texture, 1.5f, 1.5f, i);
    if (how == LEVELS) out[i] = tex2DLod<uint4>(texture, 0.1f, 0.1f, i);
}

static void read(const char *name, int how, float x, int count, int channels,
                 const CUDA_RESOURCE_VIEW_DESC *view = nullptr)
{
    CUtexObject texture;
    const CUresult code = cuTexObjectCreate(&texture, &resource, &sampling, view);
    say(name, code);
    if (code != CUDA_SUCCESS) return;
    read_all<<<1, count>>>(texture, how, x, answers);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < count; i++) {
        const unsigned of[] = {answers[i].x, answers[i].y, answers[i].z, answers[i].w};
        for (int k = 0; k < channels; k++) printf("%s%x", k > 0 ? "," : " ", of[k]);
    }
    printf("\n");
    NEED(cuTexObjectDestroy(texture));
}

// ---- views
// ---------------------------------------------------------------------------------------

static CUDA_RESOURCE_VIEW_DESC view_of(int format, size_t width, size_t height, size_t depth)
{
    CUDA_RESOURCE_VIEW_DESC view = {};
    view.format = (CUresourceViewFormat)format;
    view.width = width;
    view.height = height;
    view.depth = depth;
    return view;
}

static void views()
{
    const CUarray array = array_of(8, 4, 0, CU_AD_FORMAT_UNSIGNED_INT32, 2);
    put(array, words, 64, 4, 1);
    in_array(array);
    sampling.flags = CU_TRSF_READ_AS_INTEGER;
    for (int format : {0, 14, 17, 20, 23, 9, 12, 29, 13, 15, 26, 35, 99}) {
        const CUDA_RESOURCE_VIEW_DESC view = view_of(format, 8, 4, 0);
        printf("format %d, ", format);
        read("view", WORDS, 0, 3, 4, &view);
    }
    const auto refuse = [](const char *name, const CUDA_RESOURCE_VIEW_DESC &view) {
        read(name, WORDS, 0, 3, 4, &view);
    };
    refuse("narrower", view_of(14, 4, 4, 0));
    refuse("no width", view_of(14, 0, 4, 0));
    refuse("lower", view_of(14, 8, 3, 0));
    refuse("depth 1", view_of(14, 8, 4, 1));
    CUDA_RESOURCE_VIEW_DESC view = view_of(14, 8, 4, 0);
    view.lastLayer = 1;
    refuse("a layer", view);
    view.lastLayer = 0;
    view.lastMipmapLevel = 1;
    refuse("a level", view);
    NEED(cuArrayDestroy(array));
}

static void views_of_layers()
{
    const CUarray array = array_of(4, 4, 5, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_LAYERED);
    put(array, words, 16, 4, 5);
    in_array(array);
    sampling.flags = CU_TRSF_READ_AS_INTEGER;
    for (int layers : {4, 0, 13, 31}) { // the first and the last
        CUDA_RESOURCE_VIEW_DESC view = view_of(13, 4, 4, 5);
        view.firstLayer = layers / 10;
        view.lastLayer = layers % 10;
        printf("layers %d to %d, ", layers / 10, layers % 10);
        read("view", LAYERS, 0, 6, 1, &view);
    }
    CUDA_RESOURCE_VIEW_DESC view = view_of(13, 4, 4, 3);
    view.firstLayer = 1;
    view.lastLayer = 3;
    read("layers, depth 3", LAYERS, 0, 6, 1, &view);
    NEED(cuArrayDestroy(array));
}

static void views_of_levels()
{
    CUmipmappedArray array;
    const CUDA_ARRAY3D_DESCRIPTOR shape = {16, 16, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0};
    NEED(cuMipmappedArrayCreate(&array, &shape, 4));
    for (unsigned i = 0; i < 4; i++) {
        CUarray level;
        NEED(cuMipmappedArrayGetLevel(&level, array, i));
        for (unsigned &word : words) word = 256 + i;
        put(level, words, 64 >> i, 16 >> i, 1);
    }
    in_array(nullptr);
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = array;
    sampling.flags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES;
    sampling.maxMipmapLevelClamp = 99;
    for (int levels : {0, 3, 12, 21, 4}) { // the first and the last
        CUDA_RESOURCE_VIEW_DESC view = view_of(13, 16, 16, 0);
        view.firstMipmapLevel = levels / 10;
        view.lastMipmapLevel = levels % 10;
        printf("levels %d to %d, ", levels / 10, levels % 10);
        read("view", LEVELS, 0, 6, 1, &view);
    }
    CUDA_RESOURCE_VIEW_DESC view = view_of(13, 8, 8, 0);
    view.firstMipmapLevel = 1;
    view.lastMipmapLevel = 2;
    read("levels, half the size", LEVELS, 0, 6, 1, &view);
    NEED(cuMipmappedArrayDestroy(array));
}

// ---- numbers in sRGB
// -----------------------------------------------------------------------------

static void srgb_of(CUarray_format format, unsigned channels, unsigned bytes)
{
    const size_t row = format == CU_AD_FORMAT_SIGNED_INT8 ? 64 : bytes == 2 ? 128 : 256;
    static unsigned char all[256];
    for (int i = 0; i < 256; i++) all[i] = (unsigned char)i;
    const CUarray array = array_of(row / channels / bytes, 1, 0, format, channels);
    put(array, all, row, 1, 1);
    in_array(array);
    sampling.flags = CU_TRSF_SRGB;
}

static void done()
{
    NEED(cuArrayDestroy(resource.res.array.hArray));
}

static void srgb()
{
    srgb_of(CU_AD_FORMAT_UNSIGNED_INT8, 1, 1);
    read("all", REALS, 0.5f, 256, 1);
    sampling.filterMode = CU_TR_FILTER_MODE_LINEAR;
    read("between", REALS, 100.75f, 8, 1);
    sampling.filterMode = CU_TR_FILTER_MODE_POINT;
    sampling.flags = CU_TRSF_SRGB | CU_TRSF_READ_AS_INTEGER;
    read("integers", WORDS, 100.5f, 4, 1);
    sampling.flags = CU_TRSF_SRGB;
    sampling.addressMode[0] = CU_TR_ADDRESS_MODE_BORDER;
    sampling.borderColor[0] = 0.25f;
    read("the border", REALS, -1.5f, 3, 1);
    done();
    srgb_of(CU_AD_FORMAT_UNSIGNED_INT8, 2, 1);
    read("2 channels", REALS, 50.5f, 4, 4);
    done();
    srgb_of(CU_AD_FORMAT_UNSIGNED_INT8, 4, 1);
    read("4 channels", REALS, 30.5f, 4, 4);
    done();
    srgb_of(CU_AD_FORMAT_SIGNED_INT8, 1, 1);
    read("signed", REALS, 60.5f, 4, 1);
    done();
    srgb_of(CU_AD_FORMAT_FLOAT, 1, 4);
    read("floats", REALS, 60.5f, 4, 1);
    done();
}

// ---- borders, four texels at once
// ---------------------------------------------------------------------------------------

static void border_of(CUarray_format format, unsigned bytes)
{
    const CUarray array = array_of(8, 1, 0, format, 1);
    put(array, words, 8 * bytes, 1, 1);
    in_array(array);
    for (CUaddress_mode &mode : sampling.addressMode) mode = CU_TR_ADDRESS_MODE_BORDER;
    for (float color : {0.25f, 0.5f, 0.1f, 1.0f / 3, 2.5f / 255, 3.5f / 255, -0.5f, -0.3f,
                        -2.5f / 127, 1e-3f, -1e-3f, 0.123456f, 0.99f, 1.5f, -1.5f}) {
        char name[64];
        snprintf(name, sizeof name, "format 0x%x, border %g", (int)format, color);
        sampling.borderColor[0] = color;
        read(name, REALS, -1.5f, 1, 1);
    }
    done();
}

static void gather()
{
    static float places[5 * 4];
    for (int i = 0; i < 20; i++) places[i] = (float)i;
    const CUarray array = array_of(5, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_TEXTURE_GATHER);
    put(array, places, 20, 4, 1);
    for (int mode = 0; mode < 4; mode++) {
        in_array(array);
        for (CUaddress_mode &each : sampling.addressMode) each = (CUaddress_mode)mode;
        const bool normalized =
            mode == CU_TR_ADDRESS_MODE_WRAP || mode == CU_TR_ADDRESS_MODE_MIRROR;
        if (normalized) sampling.flags = CU_TRSF_NORMALIZED_COORDINATES;
        read("four texels", FOUR, normalized ? -0.5f : -1.0f, normalized ? 6 : 16, 4);
        sampling.filterMode = CU_TR_FILTER_MODE_LINEAR;
        read("four texels, linear", FOUR, normalized ? -0.25f : -0.9f, normalized ? 6 : 16, 4);
    }
    done();
}

// ---- descriptions that say nothing
// ---------------------------------------------------------------

static void memory()
{
    CUdeviceptr memory;
    float some[1024];
    for (int i = 0; i < 1024; i++) some[i] = i * 0.5f;
    NEED(cuMemAlloc(&memory, sizeof some));
    NEED(cuMemcpyHtoD(memory, some, sizeof some));
    for (size_t size : {4096, 64, 70, 0}) {
        in_array(nullptr);
        resource.resType = CU_RESOURCE_TYPE_LINEAR;
        resource.res.linear.devPtr = memory;
        resource.res.linear.format = CU_AD_FORMAT_FLOAT;
        resource.res.linear.numChannels = 1;
        resource.res.linear.sizeInBytes = size;
        printf("%zu bytes, ", size);
        read("linear", LINE, 14, 6, 1);
    }
    static const struct {
        size_t width, pitch;
    } rows[] = {{10, 128}, {33, 128}, {8, 48}, {0, 64}};
    for (const auto &of : rows) {
        in_array(nullptr);
        resource.resType = CU_RESOURCE_TYPE_PITCH2D;
        resource.res.pitch2D.devPtr = memory;
        resource.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
        resource.res.pitch2D.numChannels = 1;
        resource.res.pitch2D.width = of.width;
        resource.res.pitch2D.height = 4;
        resource.res.pitch2D.pitchInBytes = of.pitch;
        printf("%zu wide, %zu apart, ", of.width, of.pitch);
        read("rows", ROWS, 0.5f, 4, 1);
    }
    NEED(cuMemFree(memory));
}

static void nothing()
{
    CUtexObject texture;
    CUDA_RESOURCE_VIEW_DESC view;
    CUsurfObject surface;
    cudaSurfaceObject_t object;
    cudaResourceDesc what = {};
    in_array(nullptr);
    say("texture of no array", cuTexObjectCreate(&texture, &resource, &sampling, nullptr));
    say("destroy no texture", cuTexObjectDestroy(0));
    say("destroy no surface", cuSurfObjectDestroy(0));
    const CUarray plain = array_of(8, 4, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1);
    in_array(plain);
    NEED(cuTexObjectCreate(&texture, &resource, &sampling, nullptr));
    say("view of a texture without", cuTexObjectGetResourceViewDesc(&view, texture));
    say("surface without the flag", cuSurfObjectCreate(&surface, &resource));
    what.res.array.array = (cudaArray_t)plain;
    say("runtime: surface without the flag", cudaCreateSurfaceObject(&object, &what));
    NEED(cuSurfObjectDestroy(surface));
    CHECK(cudaDestroySurfaceObject(object));
    NEED(cuTexObjectDestroy(texture));
    NEED(cuArrayDestroy(plain));
}

int main()
{
    for (unsigned i = 0; i < 512; i++) words[i] = 0x3c000000u + i * 0x10203u;
    CHECK(cudaMallocManaged(&answers, 256 * sizeof *answers));
    arrays();
    views();
    views_of_layers();
    views_of_levels();
    srgb();
    border_of(CU_AD_FORMAT_UNSIGNED_INT8, 1);
    border_of(CU_AD_FORMAT_SIGNED_INT8, 1);
    border_of(CU_AD_FORMAT_UNSIGNED_INT16, 2);
    border_of(CU_AD_FORMAT_SIGNED_INT16, 2);
    gather();
    memory();
    nothing();
    CHECK(cudaFree(answers));
    return 0;
}
