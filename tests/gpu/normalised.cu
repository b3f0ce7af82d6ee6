// Arrays of normalised formats (cudaChannelFormatKindUnsignedNormalized8X1 and its kin), asked of a
// GPU: what describes them, what textures give of them in each mode of reading, with filters, at
// borders and through views, what surfaces store, and what is refused. normalised.txt has an H200's
// answers.
//
//     nvcc -std=c++17 -arch=sm_90 -o normalised tests/gpu/normalised.cu -lcuda
//     ./normalised > tests/gpu/normalised.txt
#include "ask.cuh"

constexpr int WIDTH = 16, HEIGHT = 2;

static const struct Format {
    const char *name;
    cudaChannelFormatKind kind;
    CUarray_format format;
    int bits, channels;
} formats[] = {
    {"u8x1", cudaChannelFormatKindUnsignedNormalized8X1, CU_AD_FORMAT_UNORM_INT8X1, 8, 1},
    {"u8x2", cudaChannelFormatKindUnsignedNormalized8X2, CU_AD_FORMAT_UNORM_INT8X2, 8, 2},
    {"u8x4", cudaChannelFormatKindUnsignedNormalized8X4, CU_AD_FORMAT_UNORM_INT8X4, 8, 4},
    {"u16x1", cudaChannelFormatKindUnsignedNormalized16X1, CU_AD_FORMAT_UNORM_INT16X1, 16, 1},
    {"u16x2", cudaChannelFormatKindUnsignedNormalized16X2, CU_AD_FORMAT_UNORM_INT16X2, 16, 2},
    {"u16x4", cudaChannelFormatKindUnsignedNormalized16X4, CU_AD_FORMAT_UNORM_INT16X4, 16, 4},
    {"s8x1", cudaChannelFormatKindSignedNormalized8X1, CU_AD_FORMAT_SNORM_INT8X1, 8, 1},
    {"s8x2", cudaChannelFormatKindSignedNormalized8X2, CU_AD_FORMAT_SNORM_INT8X2, 8, 2},
    {"s8x4", cudaChannelFormatKindSignedNormalized8X4, CU_AD_FORMAT_SNORM_INT8X4, 8, 4},
    {"s16x1", cudaChannelFormatKindSignedNormalized16X1, CU_AD_FORMAT_SNORM_INT16X1, 16, 1},
    {"s16x2", cudaChannelFormatKindSignedNormalized16X2, CU_AD_FORMAT_SNORM_INT16X2, 16, 2},
    {"s16x4", cudaChannelFormatKindSignedNormalized16X4, CU_AD_FORMAT_SNORM_INT16X4, 16, 4},
};

static cudaChannelFormatDesc described(const Format &f)
{
    cudaChannelFormatDesc desc = {f.bits, 0, 0, 0, f.kind};
    if (f.channels > 1) desc.y = f.bits;
    if (f.channels > 2) desc.z = desc.w = f.bits;
    return desc;
}

__global__ void sample(cudaTextureObject_t texture, const float *at, uint32_t *out)
{
    const float x = at[threadIdx.x];
    float4 v;
    asm volatile("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(texture), "f"(x), "f"(0.5f));
    uint32_t *o = out + 4 * threadIdx.x;
    o[0] = __float_as_uint(v.x), o[1] = __float_as_uint(v.y);
    o[2] = __float_as_uint(v.z), o[3] = __float_as_uint(v.w);
}

__global__ void store_formatted(cudaSurfaceObject_t surface, const uint32_t *v)
{
    const int l = threadIdx.x;
    asm volatile("sust.p.2d.v4.b32.trap [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(surface), "r"(l),
                 "r"(1), "r"(v[l]), "r"(v[l + 1]), "r"(v[l + 2]), "r"(v[l + 3])
                 : "memory");
}

__global__ void load_bytes(cudaSurfaceObject_t surface, unsigned char *out)
{
    surf2Dread(&out[threadIdx.x], surface, (int)threadIdx.x, 0, cudaBoundaryModeZero);
}

static float *at;
static uint32_t *out;
static unsigned char texels[WIDTH * HEIGHT * 8];

static cudaArray_t made(const Format &f, unsigned flags = cudaArrayDefault)
{
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc desc = described(f);
    const size_t row = WIDTH * f.channels * f.bits / 8;
    Q(cudaMallocArray(&array, &desc, WIDTH, HEIGHT, flags));
    for (size_t i = 0; i < sizeof texels; i++) texels[i] = (unsigned char)(i * 37 + (i >> 3) * 11);
    const unsigned char edges[] = {0, 0, 0xff, 0xff, 0x80, 0x80, 0x7f, 0x7f,
                                   1, 0, 0x00, 0x80, 0x01, 0x80, 0xff, 0x7f};
    memcpy(texels, edges, sizeof edges);
    Q(cudaMemcpy2DToArray(array, 0, 0, texels, row, row, HEIGHT, cudaMemcpyHostToDevice));
    return array;
}

static cudaResourceDesc of_array(cudaArray_t array)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

// Makes a texture, samples it, and prints the bits.
static void show(const char *name, const cudaResourceDesc &resource, cudaTextureReadMode mode,
                 cudaTextureFilterMode filter, const cudaResourceViewDesc *view = nullptr,
                 bool srgb = false)
{
    cudaTextureDesc sampling = {};
    cudaTextureObject_t texture = 0;
    char line[1024] = "";
    sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeBorder;
    sampling.borderColor[0] = 0.25f, sampling.borderColor[1] = -0.5f;
    sampling.borderColor[2] = 2.0f, sampling.borderColor[3] = 100.0f;
    sampling.readMode = mode;
    sampling.filterMode = filter;
    sampling.sRGB = srgb;
    const cudaError_t error = cudaCreateTextureObject(&texture, &resource, &sampling, view);
    if (error != cudaSuccess) return answer(name, error);
    sample<<<1, WIDTH + 1>>>(texture, at, out);
    Q(cudaDeviceSynchronize());
    for (int i = 0; i < WIDTH + 1; i++)
        sprintf(line + strlen(line), " %x,%x,%x,%x", out[4 * i], out[4 * i + 1], out[4 * i + 2],
                out[4 * i + 3]);
    say("%s:%s", name, line);
    Q(cudaDestroyTextureObject(texture));
}

static void begin()
{
    Q(cudaMallocManaged(&at, (WIDTH + 1) * sizeof *at));
    Q(cudaMallocManaged(&out, 4 * (WIDTH + 1) * sizeof *out));
    for (int i = 0; i <= WIDTH; i++) at[i] = (float)i + 0.5f - (i % 3 == 2 ? 0.25f : 0);
}

SECTION(describe)
{
    for (const Format &f : formats) {
        cudaChannelFormatDesc desc = described(f);
        cudaArray_t array = nullptr;
        cudaExtent extent;
        unsigned flags;
        CUDA_ARRAY3D_DESCRIPTOR d = {};
        AL(f.name, cudaMallocArray(&array, &desc, WIDTH, HEIGHT));
        if (array == nullptr) continue;
        Q(cudaArrayGetInfo(&desc, &extent, &flags, array));
        say("%s: %d %d %d %d kind %d, %zu x %zu", f.name, desc.x, desc.y, desc.z, desc.w,
            (int)desc.f, extent.width, extent.height);
        Q(cuArray3DGetDescriptor(&d, (CUarray)array));
        say("%s: format %x, %u channels", f.name, (unsigned)d.Format, d.NumChannels);
        Q(cudaFreeArray(array));
    }
}

SECTION(refuse)
{
    cudaArray_t array = nullptr;
    CUarray made = nullptr;
    for (const Format &f : formats) {
        cudaChannelFormatDesc desc = described(f);
        desc.x = f.bits == 8 ? 16 : 8;
        AL("other bits", cudaMallocArray(&array, &desc, WIDTH, HEIGHT));
        desc = described(f);
        desc.y = f.channels == 1 ? f.bits : 0;
        AL("other channels", cudaMallocArray(&array, &desc, WIDTH, HEIGHT));
        desc = {0, 0, 0, 0, f.kind};
        AL("no bits", cudaMallocArray(&array, &desc, WIDTH, HEIGHT));
        CUDA_ARRAY_DESCRIPTOR d = {WIDTH, HEIGHT, f.format, (unsigned)f.channels};
        DL("driver", cuArrayCreate(&made, &d));
        d.NumChannels = f.channels == 4 ? 2 : 4;
        DL("driver, other channels", cuArrayCreate(&made, &d));
        CUDA_ARRAY3D_DESCRIPTOR c = {WIDTH,
                                     WIDTH,
                                     6,
                                     f.format,
                                     (unsigned)f.channels,
                                     CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_SURFACE_LDST};
        DL("cube map", cuArray3DCreate(&made, &c));
        CUmipmappedArray mipmapped;
        c.Flags = 0;
        DL("mipmaps", cuMipmappedArrayCreate(&mipmapped, &c, 3));
    }
}

SECTION(read)
{
    begin();
    for (const Format &f : formats) {
        char name[64];
        const cudaResourceDesc resource = of_array(made(f));
        static const struct {
            const char *name;
            cudaTextureReadMode mode;
            cudaTextureFilterMode filter;
        } ways[] = {{"element", cudaReadModeElementType, cudaFilterModePoint},
                    {"normalised", cudaReadModeNormalizedFloat, cudaFilterModePoint},
                    {"element, linear", cudaReadModeElementType, cudaFilterModeLinear},
                    {"normalised, linear", cudaReadModeNormalizedFloat, cudaFilterModeLinear}};
        for (const auto &way : ways) {
            snprintf(name, sizeof name, "%s %s", f.name, way.name);
            /* Between signed bytes of both signs the device may be off by one of 32767. */
            const bool linear = way.filter == cudaFilterModeLinear;
            section = linear && f.name[0] == 's' && f.bits == 8 ? "~ read" : "read";
            show(name, resource, way.mode, way.filter);
        }
        section = "read";
        snprintf(name, sizeof name, "%s sRGB", f.name);
        show(name, resource, cudaReadModeNormalizedFloat, cudaFilterModePoint, nullptr, true);
        snprintf(name, sizeof name, "%s element, sRGB", f.name);
        show(name, resource, cudaReadModeElementType, cudaFilterModePoint, nullptr, true);
    }
}

SECTION(view)
{
    begin();
    const cudaResourceDesc bytes = of_array(made(formats[2])), halves = of_array(made(formats[9]));
    static const cudaResourceViewFormat views[] = {
        cudaResViewFormatUnsignedChar4,  cudaResViewFormatSignedChar4,
        cudaResViewFormatUnsignedShort2, cudaResViewFormatUnsignedInt1,
        cudaResViewFormatFloat1,         cudaResViewFormatHalf2,
        cudaResViewFormatUnsignedShort1, cudaResViewFormatHalf1};
    for (const cudaResourceViewFormat format : views) {
        char name[64];
        cudaResourceViewDesc view = {};
        view.format = format;
        view.width = WIDTH;
        view.height = HEIGHT;
        for (const cudaTextureReadMode mode :
             {cudaReadModeElementType, cudaReadModeNormalizedFloat}) {
            snprintf(name, sizeof name, "u8x4 as %d, mode %d", (int)format, (int)mode);
            show(name, bytes, mode, cudaFilterModePoint, &view);
            snprintf(name, sizeof name, "s16x1 as %d, mode %d", (int)format, (int)mode);
            show(name, halves, mode, cudaFilterModePoint, &view);
        }
    }
}

SECTION(memory)
{
    begin();
    unsigned char *linear;
    Q(cudaMalloc(&linear, 4096));
    for (size_t i = 0; i < sizeof texels; i++) texels[i] = (unsigned char)(i * 37 + (i >> 3) * 11);
    Q(cudaMemset(linear, 0, 4096));
    Q(cudaMemcpy(linear, texels, sizeof texels, cudaMemcpyHostToDevice));
    for (const Format &f : formats) {
        char name[64];
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypePitch2D;
        resource.res.pitch2D.devPtr = linear;
        resource.res.pitch2D.desc = described(f);
        resource.res.pitch2D.width = WIDTH;
        resource.res.pitch2D.height = HEIGHT;
        resource.res.pitch2D.pitchInBytes = 512;
        for (const cudaTextureReadMode mode :
             {cudaReadModeElementType, cudaReadModeNormalizedFloat}) {
            snprintf(name, sizeof name, "%s rows, mode %d", f.name, (int)mode);
            show(name, resource, mode, cudaFilterModePoint);
        }
        resource = {};
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = linear;
        resource.res.linear.desc = described(f);
        resource.res.linear.sizeInBytes = 128;
        cudaTextureDesc sampling = {};
        cudaTextureObject_t texture;
        snprintf(name, sizeof name, "%s linear", f.name);
        AL(name, cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    }
}

SECTION(surface)
{
    begin();
    uint32_t *values;
    unsigned char *read, back[WIDTH * 8];
    static const uint32_t edges[] = {0,          0x3f800000, 0x3f000000, 0xbf800000, 0x40000000,
                                     0xc0000000, 0x3eaaaaab, 0x7fc00000, 0x7f800000, 0xff800000,
                                     0x3b808081, 0x3b008081, 0x3c010204, 0xbf000000, 0x00000001,
                                     0x000000ff, 0x0000ffff, 0x7fffffff, 0x80000000};
    Q(cudaMallocManaged(&values, sizeof edges));
    Q(cudaMallocManaged(&read, WIDTH));
    memcpy(values, edges, sizeof edges);
    for (const Format &f : formats) {
        char line[512] = "";
        cudaSurfaceObject_t surface = 0;
        cudaArray_t array = made(f, cudaArraySurfaceLoadStore);
        const cudaResourceDesc resource = of_array(array);
        const size_t row = WIDTH * f.channels * f.bits / 8;
        AL(f.name, cudaCreateSurfaceObject(&surface, &resource));
        if (surface == 0) continue;
        store_formatted<<<1, WIDTH>>>(surface, values);
        AL(f.name, cudaDeviceSynchronize());
        Q(cudaMemcpy2DFromArray(back, row, array, 0, 1, row, 1, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < row; i++) sprintf(line + strlen(line), " %02x", back[i]);
        say("%s stored:%s", f.name, line);
        load_bytes<<<1, WIDTH>>>(surface, read);
        Q(cudaDeviceSynchronize());
        line[0] = '\0';
        for (int i = 0; i < WIDTH; i++) sprintf(line + strlen(line), " %02x", read[i]);
        say("%s read:%s", f.name, line);
        Q(cudaDestroySurfaceObject(surface));
    }
}

SECTION(copy)
{
    const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<uchar4>(),
                                words = cudaCreateChannelDesc<unsigned>();
    cudaArray_t from = made(formats[2]), plain, wide;
    Q(cudaMallocArray(&plain, &bytes, WIDTH, HEIGHT));
    Q(cudaMallocArray(&wide, &words, WIDTH, HEIGHT));
    A(cudaMemcpy2DArrayToArray(plain, 0, 0, from, 0, 0, WIDTH * 4, HEIGHT));
    A(cudaMemcpy2DArrayToArray(wide, 0, 0, from, 0, 0, WIDTH * 4, HEIGHT));
    A(cudaMemcpy2DArrayToArray(from, 0, 0, wide, 0, 0, WIDTH * 4, HEIGHT));
    cudaMemcpy3DParms boxes = {};
    boxes.srcArray = from;
    boxes.dstArray = plain;
    boxes.extent = make_cudaExtent(WIDTH, HEIGHT, 1);
    boxes.kind = cudaMemcpyDeviceToDevice;
    A(cudaMemcpy3D(&boxes));
    boxes.dstArray = wide;
    A(cudaMemcpy3D(&boxes));
}
