// Programs that use CUDA arrays, textures and surfaces, each against the same reading done by the
// host: which texel, how addressed, how filtered, as the Programming Guide, "Texture Fetching",
// says.
#include "tests/programs/program.cuh"

#include <cmath>
#include <cstdint>
#include <vector>

// ---- the host's reading -------------------------------------------------------------------------

struct Image {
    int width, height, depth;
    std::vector<float> texels; // a float for each, whatever they are on the device
    float at(int x, int y = 0, int z = 0) const
    {
        return texels[(static_cast<size_t>(z) * height + y) * width + x];
    }
};

static Image make_image(int width, int height = 1, int depth = 1)
{
    Image image{width, height, depth, {}};
    for (int i = 0; i < width * height * depth; i++)
        image.texels.push_back(static_cast<float>(value_at(i)) / 8);
    return image;
}

// Where index i lies; -1: in the border.
static int settle(long long i, int n, cudaTextureAddressMode mode)
{
    switch (mode) {
    case cudaAddressModeWrap:
        return static_cast<int>((i % n + n) % n);
    case cudaAddressModeMirror: {
        long long m = (i % (2 * n) + 2 * n) % (2 * n);
        return static_cast<int>(m < n ? m : 2 * n - 1 - m);
    }
    case cudaAddressModeBorder:
        return i < 0 || i >= n ? -1 : static_cast<int>(i);
    default:
        return static_cast<int>(i < 0 ? 0 : i >= n ? n - 1 : i);
    }
}

struct Sampling {
    cudaTextureAddressMode mode;
    bool normalized, linear;
    float border;
};

static float texel_of(const Image &image, const long long i[3], const Sampling &s)
{
    const int sizes[3] = {image.width, image.height, image.depth};
    int at[3];
    for (int d = 0; d < 3; d++) {
        at[d] = settle(i[d], sizes[d], s.mode);
        if (at[d] < 0) return s.border;
    }
    return image.at(at[0], at[1], at[2]);
}

static double sampled(const Image &image, int dimensions, const float c[3], const Sampling &s)
{
    const int sizes[3] = {image.width, image.height, image.depth};
    long long low[3] = {0, 0, 0};
    double weight[3] = {0, 0, 0};
    for (int d = 0; d < dimensions; d++) {
        double x = s.normalized ? static_cast<double>(c[d]) * sizes[d] : c[d];
        if (s.linear) x -= 0.5;
        low[d] = static_cast<long long>(std::floor(x));
        if (s.linear) weight[d] = std::floor((x - std::floor(x)) * 256 + 0.5) / 256;
    }
    double sum = 0;
    for (int corner = 0; corner < (s.linear ? 1 << dimensions : 1); corner++) {
        long long i[3] = {0, 0, 0};
        double w = 1;
        for (int d = 0; d < dimensions; d++) {
            int next = corner >> d & 1;
            i[d] = low[d] + next;
            if (s.linear) w *= next ? weight[d] : 1 - weight[d];
        }
        if (w > 0) sum += w * texel_of(image, i, s);
    }
    return sum;
}

// Without a filter a texture gives the texel. With one, a GPU's weights may be off by a step of
// 1/256 in each dimension, and texels differ by at most 512.
static bool close(double got, double wanted, int dimensions, bool linear)
{
    return linear ? std::fabs(got - wanted) <= 2.5 * dimensions : got == wanted;
}

// ---- making textures ------------------------------------------------------------------------

static cudaArray_t array_of(const Image &image, unsigned flags = 0)
{
    cudaArray_t array;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    const bool layered = flags & cudaArrayLayered;
    const int height = image.height > 1 || (image.depth > 1 && !layered) ? image.height : 0;
    const int depth = image.depth > 1 || layered ? image.depth : 0;
    CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(image.width, height, depth), flags));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(const_cast<float *>(image.texels.data()),
                                      image.width * sizeof(float), image.width, image.height);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(image.width, image.height, image.depth);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    return array;
}

static cudaTextureDesc description_of(const Sampling &s)
{
    cudaTextureDesc desc = {};
    for (cudaTextureAddressMode &mode : desc.addressMode) mode = s.mode;
    for (float &channel : desc.borderColor) channel = s.border;
    desc.filterMode = s.linear ? cudaFilterModeLinear : cudaFilterModePoint;
    desc.normalizedCoords = s.normalized;
    desc.readMode = cudaReadModeElementType;
    return desc;
}

static cudaTextureObject_t texture_of(cudaArray_t array, const cudaTextureDesc &desc)
{
    cudaResourceDesc resource = {};
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    CHECK(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
    return texture;
}

template <typename T> static T *on_device(const std::vector<T> &values)
{
    T *device;
    CHECK(cudaMalloc(&device, values.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T> static std::vector<T> to_host(const T *device, size_t count)
{
    std::vector<T> values(count);
    CHECK(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

// ---- textures over arrays -------------------------------------------------------------------

__global__ void sample(cudaTextureObject_t texture, int dimensions, const float3 *places,
                       float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 p = places[i];
    out[i] = dimensions == 1   ? tex1D<float>(texture, p.x)
             : dimensions == 2 ? tex2D<float>(texture, p.x, p.y)
                               : tex3D<float>(texture, p.x, p.y, p.z);
}

static void check_sampling(const Image &image, int dimensions)
{
    const int n = 700;
    const int sizes[3] = {image.width, image.height, image.depth};
    cudaArray_t array = array_of(image);
    float *out;
    CHECK(cudaMalloc(&out, n * sizeof(float)));
    for (int which = 0; which < 16; which++) {
        const Sampling s = {static_cast<cudaTextureAddressMode>(which & 3), (which & 4) != 0,
                            (which & 8) != 0, 1000.0f};
        if (!s.normalized && (s.mode == cudaAddressModeWrap || s.mode == cudaAddressModeMirror))
            continue;
        std::vector<float3> places(n);
        for (int i = 0; i < n; i++) {
            float c[3];
            // From well before the first texel to well past the last, off every boundary; every
            // other warp has one lane that is outside, by half a texel.
            for (int d = 0; d < 3; d++) {
                unsigned random = static_cast<unsigned>(i * 3 + d) * 2654435761u >> 8;
                float x = (static_cast<float>(random % 40960) / 4096 - 3) * sizes[d] / 3;
                if (i / 32 % 2 != 0) x = static_cast<float>(random % 4000) / 4096 * sizes[d];
                if (i / 32 % 2 != 0 && i % 32 == 5) x = -0.5f;
                if (std::fabs(x - std::round(x)) < 0.02f) x += 0.05f;
                c[d] = s.normalized ? x / sizes[d] : x;
            }
            places[i] = make_float3(c[0], c[1], c[2]);
        }
        float3 *device = on_device(places);
        cudaTextureDesc desc = description_of(s);
        // A GPU filters a row as one half in the border below, if it is told of a border there.
        if (dimensions == 1) desc.addressMode[1] = cudaAddressModeClamp;
        cudaTextureObject_t texture = texture_of(array, desc);
        sample<<<(n + 127) / 128, 128>>>(texture, dimensions, device, out, n);
        CHECK(cudaGetLastError());
        std::vector<float> got = to_host(out, n);
        for (int i = 0; i < n; i++) {
            const float c[3] = {places[i].x, places[i].y, places[i].z};
            EXPECT(close(got[i], sampled(image, dimensions, c, s), dimensions, s.linear));
        }
        CHECK(cudaDestroyTextureObject(texture));
        CHECK(cudaFree(device));
    }
    CHECK(cudaFree(out));
    CHECK(cudaFreeArray(array));
}

static void sample_1d()
{
    check_sampling(make_image(37), 1);
}

static void sample_2d()
{
    check_sampling(make_image(29, 13), 2);
}

static void sample_3d()
{
    check_sampling(make_image(11, 7, 5), 3);
}

// Exactly at a texel's centre a filter gives the texel, halfway between two their mean.
static void filter_exactly()
{
    const Image image = make_image(8);
    cudaArray_t array = array_of(image);
    cudaTextureObject_t texture =
        texture_of(array, description_of({cudaAddressModeClamp, false, true, 0}));
    std::vector<float3> places;
    for (int i = 0; i < 8; i++) places.push_back(make_float3(i + 0.5f, 0, 0));
    for (int i = 0; i < 7; i++) places.push_back(make_float3(i + 1.0f, 0, 0));
    for (int i = 0; i < 7; i++) places.push_back(make_float3(i + 0.75f, 0, 0));
    float3 *device = on_device(places);
    float *out;
    CHECK(cudaMalloc(&out, places.size() * sizeof(float)));
    sample<<<1, 32>>>(texture, 1, device, out, static_cast<int>(places.size()));
    std::vector<float> got = to_host(out, places.size());
    for (int i = 0; i < 8; i++) EXPECT(got[i] == image.at(i));
    for (int i = 0; i < 7; i++) EXPECT(got[8 + i] == (image.at(i) + image.at(i + 1)) / 2);
    for (int i = 0; i < 7; i++)
        EXPECT(got[15 + i] == image.at(i) * 0.75f + image.at(i + 1) * 0.25f);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(device));
    CHECK(cudaFree(out));
}

__global__ void sample_layers(cudaTextureObject_t texture, bool rows, float *out, int width,
                              int height, int layers)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height * layers) return;
    int x = i % width, y = i / width % height, layer = i / width / height;
    out[i] = rows ? tex2DLayered<float>(texture, x + 0.5f, y + 0.5f, layer)
                  : tex1DLayered<float>(texture, x + 0.5f, layer);
}

static void layers()
{
    for (int rows = 0; rows < 2; rows++) {
        const Image image = make_image(19, rows ? 6 : 1, 5);
        cudaArray_t array = array_of(image, cudaArrayLayered);
        cudaTextureObject_t texture =
            texture_of(array, description_of({cudaAddressModeClamp, false, true, 0}));
        const int n = static_cast<int>(image.texels.size());
        float *out;
        CHECK(cudaMalloc(&out, n * sizeof(float)));
        sample_layers<<<(n + 63) / 64, 64>>>(texture, rows, out, image.width, image.height,
                                             image.depth);
        std::vector<float> got = to_host(out, n);
        for (int i = 0; i < n; i++) EXPECT(got[i] == image.texels[i]);
        CHECK(cudaDestroyTextureObject(texture));
        CHECK(cudaFreeArray(array));
        CHECK(cudaFree(out));
    }
}

__global__ void gather(cudaTextureObject_t texture, float4 *out)
{
    int x = threadIdx.x, y = threadIdx.y;
    out[y * blockDim.x + x] = tex2Dgather<float4>(texture, x + 1.0f, y + 1.0f, 0);
}

static void gather_2d()
{
    const Image image = make_image(9, 9);
    cudaArray_t array = array_of(image, cudaArrayTextureGather);
    cudaTextureObject_t texture =
        texture_of(array, description_of({cudaAddressModeClamp, false, false, 0}));
    float4 *out;
    CHECK(cudaMalloc(&out, 64 * sizeof(float4)));
    gather<<<1, dim3(8, 8)>>>(texture, out);
    std::vector<float4> got = to_host(out, 64);
    for (int i = 0; i < 64; i++) {
        const int x = i % 8, y = i / 8;
        EXPECT(got[i].x == image.at(x, y + 1));
        EXPECT(got[i].y == image.at(x + 1, y + 1));
        EXPECT(got[i].z == image.at(x + 1, y));
        EXPECT(got[i].w == image.at(x, y));
    }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(out));
}

// ---- linear memory --------------------------------------------------------------------------

template <typename T> __global__ void fetch(cudaTextureObject_t texture, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<T>(texture, i);
}

template <typename T> static void check_fetch(const std::vector<T> &values)
{
    const int n = static_cast<int>(values.size());
    T *device = on_device(values), *out;
    cudaResourceDesc resource = {};
    cudaTextureDesc desc = {};
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = device;
    resource.res.linear.desc = cudaCreateChannelDesc<T>();
    resource.res.linear.sizeInBytes = n * sizeof(T);
    CHECK(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
    CHECK(cudaMalloc(&out, n * sizeof(T)));
    fetch<T><<<(n + 127) / 128, 128>>>(texture, out, n);
    std::vector<T> got = to_host(out, n);
    EXPECT(std::memcmp(got.data(), values.data(), n * sizeof(T)) == 0);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFree(device));
    CHECK(cudaFree(out));
}

static void fetch_linear()
{
    std::vector<float> floats;
    std::vector<unsigned char> bytes;
    std::vector<short2> pairs;
    std::vector<uint4> quads;
    std::vector<int> numbers;
    std::vector<char4> chars;
    for (int i = 0; i < 300; i++) {
        const int v = value_at(i);
        floats.push_back(static_cast<float>(v));
        bytes.push_back(static_cast<unsigned char>(v));
        pairs.push_back(make_short2(static_cast<short>(v), static_cast<short>(-v)));
        quads.push_back(make_uint4(v, v + 1, v * 3, ~v));
        numbers.push_back(v * 1001);
        chars.push_back(make_char4(static_cast<signed char>(v), static_cast<signed char>(-v),
                                   static_cast<signed char>(v / 8), 7));
    }
    check_fetch(floats);
    check_fetch(bytes);
    check_fetch(pairs);
    check_fetch(quads);
    check_fetch(numbers);
    check_fetch(chars);
}

// A convolution through a texture over pitched memory, edges clamped.
__global__ void blur(cudaTextureObject_t texture, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) sum += tex2D<float>(texture, x + dx, y + dy);
    out[y * width + x] = sum;
}

static void blur_pitched()
{
    const Image image = make_image(70, 45);
    const Sampling s = {cudaAddressModeClamp, false, false, 0};
    float *device, *out;
    size_t pitch;
    CHECK(cudaMallocPitch(&device, &pitch, image.width * sizeof(float), image.height));
    CHECK(cudaMemcpy2D(device, pitch, image.texels.data(), image.width * sizeof(float),
                       image.width * sizeof(float), image.height, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    cudaTextureDesc desc = description_of(s);
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = device;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = image.width;
    resource.res.pitch2D.height = image.height;
    resource.res.pitch2D.pitchInBytes = pitch;
    CHECK(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
    CHECK(cudaMalloc(&out, image.texels.size() * sizeof(float)));
    blur<<<dim3(5, 6), dim3(16, 8)>>>(texture, out, image.width, image.height);
    std::vector<float> got = to_host(out, image.texels.size());
    for (int y = 0; y < image.height; y++) {
        for (int x = 0; x < image.width; x++) {
            float sum = 0;
            for (int dy = -1; dy <= 1; dy++) {
                for (int dx = -1; dx <= 1; dx++) {
                    const long long i[3] = {x + dx, y + dy, 0};
                    sum += texel_of(image, i, s);
                }
            }
            EXPECT(got[y * image.width + x] == sum);
        }
    }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFree(device));
    CHECK(cudaFree(out));
}

// ---- formats --------------------------------------------------------------------------------

__global__ void read_fractions(cudaTextureObject_t texture, float4 *out)
{
    out[threadIdx.x] = tex1D<float4>(texture, threadIdx.x + 0.5f);
}

template <typename Channel, typename Vector>
static void check_fractions(float most, const std::vector<Channel> &values)
{
    const int n = static_cast<int>(values.size()) / 4;
    cudaArray_t array;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<Vector>();
    CHECK(cudaMallocArray(&array, &desc, n));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, values.data(), n * sizeof(Vector), n * sizeof(Vector), 1,
                              cudaMemcpyHostToDevice));
    cudaTextureDesc reading = description_of({cudaAddressModeClamp, false, false, 0});
    reading.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t texture = texture_of(array, reading);
    float4 *out;
    CHECK(cudaMalloc(&out, n * sizeof(float4)));
    read_fractions<<<1, n>>>(texture, out);
    std::vector<float4> got = to_host(out, n);
    for (int i = 0; i < n; i++) {
        const float channels[4] = {got[i].x, got[i].y, got[i].z, got[i].w};
        for (int k = 0; k < 4; k++) {
            float wanted = static_cast<float>(values[i * 4 + k]) / most;
            if (wanted < -1) wanted = -1;
            EXPECT(std::fabs(channels[k] - wanted) < 1e-6f);
        }
    }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(out));
}

static void fractions()
{
    std::vector<unsigned char> u8;
    std::vector<signed char> s8;
    std::vector<unsigned short> u16;
    std::vector<short> s16;
    for (int i = 0; i < 128; i++) {
        u8.push_back(static_cast<unsigned char>(i * 37));
        s8.push_back(static_cast<signed char>(i * 37));
        u16.push_back(static_cast<unsigned short>(i * 9377));
        s16.push_back(static_cast<short>(i * 9377));
    }
    u8[0] = 255, s8[0] = -128, s8[1] = 127, u16[0] = 65535, s16[0] = -32768, s16[1] = 32767;
    check_fractions<unsigned char, uchar4>(255, u8);
    check_fractions<signed char, char4>(127, s8);
    check_fractions<unsigned short, ushort4>(65535, u16);
    check_fractions<short, short4>(32767, s16);
}

// ---- copies ---------------------------------------------------------------------------------

static void copies_2d()
{
    const int width = 23, height = 17;
    cudaArray_t a, b;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>(), found;
    cudaExtent extent;
    unsigned flags;
    std::vector<int> in(width * height), out(width * height, -1);
    for (int i = 0; i < width * height; i++) in[i] = value_at(i);
    CHECK(cudaMallocArray(&a, &desc, width, height, cudaArraySurfaceLoadStore));
    CHECK(cudaMallocArray(&b, &desc, width, height));
    CHECK(cudaArrayGetInfo(&found, &extent, &flags, a));
    EXPECT(found.x == 32 && found.y == 0 && found.f == cudaChannelFormatKindSigned);
    EXPECT(extent.width == width && extent.height == height && extent.depth == 0);
    EXPECT(flags == cudaArraySurfaceLoadStore);

    CHECK(cudaMemcpy2DToArray(a, 0, 0, in.data(), width * 4, width * 4, height,
                              cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, width * 4, height));
    // A part: columns 3 to 12 of rows 5 to 9, moved to column 10, row 2.
    CHECK(cudaMemcpy2DArrayToArray(b, 10 * 4, 2, a, 3 * 4, 5, 10 * 4, 5));
    CHECK(cudaMemcpy2DFromArray(out.data(), width * 4, b, 0, 0, width * 4, height,
                                cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const bool moved = x >= 10 && x < 20 && y >= 2 && y < 7;
            EXPECT(out[y * width + x] == (moved ? in[(y + 3) * width + x - 7] : in[y * width + x]));
        }
    }
    // Through device memory, asynchronously, in a stream.
    int *device;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&device, width * height * 4));
    CHECK(cudaMemcpy2DFromArrayAsync(device, width * 4, a, 0, 0, width * 4, height,
                                     cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaMemcpy2DToArrayAsync(b, 0, 0, device, width * 4, width * 4, height,
                                   cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaMemcpy2DFromArrayAsync(out.data(), width * 4, b, 0, 0, width * 4, height,
                                     cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(out == in);
    EXPECT_ERROR(cudaMemcpy2DToArray(a, 4, 0, in.data(), width * 4, width * 4, height,
                                     cudaMemcpyHostToDevice),
                 cudaErrorInvalidValue);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(device));
    CHECK(cudaFreeArray(a));
    CHECK(cudaFreeArray(b));
}

static void copies_3d()
{
    const Image image = make_image(10, 6, 4);
    cudaArray_t array = array_of(image), again = array_of(make_image(10, 6, 4));
    std::vector<float> out(3 * 2 * 2, -1.0f);
    cudaMemcpy3DParms copy = {};
    copy.srcArray = array;
    copy.srcPos = make_cudaPos(4, 3, 1);
    copy.dstPtr = make_cudaPitchedPtr(out.data(), 3 * sizeof(float), 3, 2);
    copy.extent = make_cudaExtent(3, 2, 2);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 2; y++)
            for (int x = 0; x < 3; x++)
                EXPECT(out[(z * 2 + y) * 3 + x] == image.at(4 + x, 3 + y, 1 + z));

    cudaMemcpy3DParms between = {};
    between.srcArray = array;
    between.srcPos = make_cudaPos(0, 0, 3);
    between.dstArray = again;
    between.dstPos = make_cudaPos(1, 1, 0);
    between.extent = make_cudaExtent(9, 5, 1);
    between.kind = cudaMemcpyDeviceToDevice;
    CHECK(cudaMemcpy3D(&between));
    std::vector<float> whole(10 * 6 * 4);
    copy.srcArray = again;
    copy.srcPos = make_cudaPos(0, 0, 0);
    copy.dstPtr = make_cudaPitchedPtr(whole.data(), 10 * sizeof(float), 10, 6);
    copy.extent = make_cudaExtent(10, 6, 4);
    CHECK(cudaMemcpy3D(&copy));
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 10; x++)
            EXPECT(whole[y * 10 + x] ==
                   (x >= 1 && y >= 1 ? image.at(x - 1, y - 1, 3) : image.at(x, y, 0)));
    for (int i = 60; i < 240; i++) EXPECT(whole[i] == image.texels[i]);
    CHECK(cudaFreeArray(array));
    CHECK(cudaFreeArray(again));
}

// ---- surfaces -------------------------------------------------------------------------------

static cudaSurfaceObject_t surface_of(cudaArray_t array)
{
    cudaResourceDesc resource = {};
    cudaSurfaceObject_t surface;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    return surface;
}

__global__ void rotate(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float2 value = surf2Dread<float2>(from, x * sizeof(float2), y);
    surf2Dwrite(make_float2(value.y, -value.x), to, (width - 1 - x) * sizeof(float2),
                height - 1 - y);
}

// A copy node gives back the array, with positions and widths in elements.
static void copy_nodes()
{
    const int width = 8, height = 4;
    cudaArray_t array;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float2>();
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    std::vector<float2> in(width * height), out(width * height);
    for (int i = 0; i < width * height; i++) in[i] = make_float2(float(i), 0);
    CHECK(cudaMallocArray(&array, &desc, width, height));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, in.data(), width * 8, width * 8, height,
                              cudaMemcpyHostToDevice));
    cudaMemcpy3DParms part = {}, back = {};
    part.srcArray = array;
    part.srcPos = make_cudaPos(3, 1, 0);
    part.dstPtr = make_cudaPitchedPtr(out.data(), width * 8, width, height);
    part.extent = make_cudaExtent(4, 2, 1);
    part.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &part));
    CHECK(cudaGraphMemcpyNodeGetParams(node, &back));
    EXPECT(back.srcArray == array && back.srcPtr.ptr == nullptr && back.dstArray == nullptr);
    EXPECT(back.srcPos.x == 3 && back.srcPos.y == 1 && back.srcPos.z == 0);
    EXPECT(back.dstPtr.ptr == out.data() && back.dstPtr.pitch == width * 8);
    EXPECT(back.extent.width == 4 && back.extent.height == 2 && back.extent.depth == 1);
    EXPECT(back.kind == cudaMemcpyDeviceToHost);
    CHECK(cudaGraphMemcpyNodeSetParams(node, &back));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++) EXPECT(out[width + i].x == float(2 * width + 3 + i));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFreeArray(array));
}

static void surfaces_2d()
{
    const int width = 33, height = 18;
    cudaArray_t a, b;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float2>();
    std::vector<float2> in(width * height), out(width * height);
    for (int i = 0; i < width * height; i++)
        in[i] = make_float2(static_cast<float>(value_at(i)), static_cast<float>(i));
    CHECK(cudaMallocArray(&a, &desc, width, height, cudaArraySurfaceLoadStore));
    CHECK(cudaMallocArray(&b, &desc, width, height, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(a, 0, 0, in.data(), width * sizeof(float2), width * sizeof(float2),
                              height, cudaMemcpyHostToDevice));
    cudaSurfaceObject_t from = surface_of(a), to = surface_of(b);
    rotate<<<dim3(3, 5), dim3(16, 4)>>>(from, to, width, height);
    CHECK(cudaMemcpy2DFromArray(out.data(), width * sizeof(float2), b, 0, 0, width * sizeof(float2),
                                height, cudaMemcpyDeviceToHost));
    for (int i = 0; i < width * height; i++) {
        EXPECT(out[i].x == in[width * height - 1 - i].y);
        EXPECT(out[i].y == -in[width * height - 1 - i].x);
    }
    CHECK(cudaDestroySurfaceObject(from));
    CHECK(cudaDestroySurfaceObject(to));
    CHECK(cudaFreeArray(a));
    CHECK(cudaFreeArray(b));
}

// Boundary modes: zero reads 0 and drops writes, clamp goes to the edge.
__global__ void at_the_edges(cudaSurfaceObject_t surface, unsigned char *out)
{
    int i = static_cast<int>(threadIdx.x) - 4;
    out[threadIdx.x] = surf1Dread<unsigned char>(surface, i, cudaBoundaryModeZero);
    out[32 + threadIdx.x] = surf1Dread<unsigned char>(surface, i, cudaBoundaryModeClamp);
    __syncthreads();
    surf1Dwrite(static_cast<unsigned char>(100 + threadIdx.x), surface, i, cudaBoundaryModeZero);
}

static void surface_boundaries()
{
    const int n = 24;
    cudaArray_t array;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<unsigned char>();
    unsigned char in[n], now[n], *device;
    for (int i = 0; i < n; i++) in[i] = static_cast<unsigned char>(7 + i * 5);
    CHECK(cudaMallocArray(&array, &desc, n, 0, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, in, n, n, 1, cudaMemcpyHostToDevice));
    cudaSurfaceObject_t surface = surface_of(array);
    CHECK(cudaMalloc(&device, 64));
    at_the_edges<<<1, 32>>>(surface, device);
    std::vector<unsigned char> got = to_host(device, 64);
    CHECK(cudaMemcpy2DFromArray(now, n, array, 0, 0, n, 1, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 32; t++) {
        const int i = t - 4;
        EXPECT(got[t] == (i < 0 || i >= n ? 0 : in[i]));
        EXPECT(got[32 + t] == in[i < 0 ? 0 : i >= n ? n - 1 : i]);
        if (i >= 0 && i < n) EXPECT(now[i] == 100 + t);
    }
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(device));
}

// A kernel writes a volume through a surface, the next one reads it through a texture.
__global__ void fill_volume(cudaSurfaceObject_t surface)
{
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    surf3Dwrite(x + 10 * y + 100 * z, surface, x * 4, y, z);
}

__global__ void read_volume(cudaTextureObject_t texture, int *out)
{
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    out[(z * blockDim.y + y) * blockDim.x + x] = tex3D<int>(texture, x + 0.5f, y + 0.5f, z + 0.5f);
}

static void surface_then_texture()
{
    cudaArray_t array;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>();
    int *device;
    CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(9, 8, 7), cudaArraySurfaceLoadStore));
    cudaSurfaceObject_t surface = surface_of(array);
    cudaTextureObject_t texture =
        texture_of(array, description_of({cudaAddressModeClamp, false, false, 0}));
    CHECK(cudaMalloc(&device, 9 * 8 * 7 * sizeof(int)));
    fill_volume<<<7, dim3(9, 8)>>>(surface);
    read_volume<<<7, dim3(9, 8)>>>(texture, device);
    std::vector<int> got = to_host(device, 9 * 8 * 7);
    for (int i = 0; i < 9 * 8 * 7; i++) EXPECT(got[i] == i % 9 + 10 * (i / 9 % 8) + 100 * (i / 72));
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(device));
}

// ---- errors ---------------------------------------------------------------------------------

// ---- a texture for all lanes, or several

// One sample of `Texel` by each thread: of the first texture for all, or of the two in turn.
template <typename Texel>
__global__ void sample_either(cudaTextureObject_t first, cudaTextureObject_t second, bool both,
                              int dimensions, const float3 *places, Texel *out, int count)
{
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    const cudaTextureObject_t texture = both && i % 2 == 1 ? second : first;
    const float3 at = places[i];
    out[i] = dimensions == 1   ? tex1D<Texel>(texture, at.x)
             : dimensions == 2 ? tex2D<Texel>(texture, at.x, at.y)
                               : tex3D<Texel>(texture, at.x, at.y, at.z);
}

// Coordinates about the texture, and some that no texture reaches or that are no numbers.
static std::vector<float3> places_about(const cudaExtent &size, bool normalized, int count)
{
    static const float odd[] = {0,     -0.0f,  1e-30f, -1e-30f,  1e9f,      -1e9f,
                                3e38f, -3e38f, NAN,    INFINITY, -INFINITY, 0.99999994f};
    const float sizes[] = {static_cast<float>(size.width), static_cast<float>(size.height),
                           static_cast<float>(size.depth)};
    std::vector<float3> places(count);
    unsigned random = 12345;
    for (int i = 0; i < count; i++) {
        float c[3];
        for (int d = 0; d < 3; d++) {
            random = random * 1664525u + 1013904223u;
            c[d] = static_cast<float>(random >> 8) / (1 << 24) * 5 - 2;
            if (!normalized) c[d] *= sizes[d];
            if (i % 41 == d) c[d] = odd[i / 41 % 12];
        }
        places[i] = make_float3(c[0], c[1], c[2]);
    }
    return places;
}

template <typename Texel>
static void check_either(cudaChannelFormatKind kind, int dimensions, bool fractions,
                         const std::vector<Texel> &texels)
{
    const cudaExtent size = {7, dimensions > 1 ? 5u : 1u, dimensions > 2 ? 3u : 1u};
    const int count = 1000;
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<Texel>();
    EXPECT(channels.f == kind);
    cudaArray_t array;
    const cudaExtent shape = {7, dimensions > 1 ? 5u : 0u, dimensions > 2 ? 3u : 0u};
    CHECK(cudaMalloc3DArray(&array, &channels, shape, 0));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(const_cast<Texel *>(texels.data()),
                                      size.width * sizeof(Texel), size.width, size.height);
    copy.dstArray = array;
    copy.extent = size;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    for (int which = 0; which < 16; which++) {
        cudaResourceDesc resource = {};
        cudaTextureDesc how = {};
        cudaTextureObject_t first, second;
        how.normalizedCoords = (which & 4) != 0;
        how.filterMode = which & 8 && (kind == cudaChannelFormatKindFloat || fractions)
                             ? cudaFilterModeLinear
                             : cudaFilterModePoint;
        how.readMode = fractions ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
        for (auto &mode : how.addressMode) mode = static_cast<cudaTextureAddressMode>(which & 3);
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        CHECK(cudaCreateTextureObject(&first, &resource, &how, nullptr));
        CHECK(cudaCreateTextureObject(&second, &resource, &how, nullptr));
        const std::vector<float3> places = places_about(size, how.normalizedCoords, count);
        float3 *device = on_device(places);
        using Read = float4;
        void *out;
        CHECK(cudaMalloc(&out, 2 * count * sizeof(Read)));
        CHECK(cudaMemset(out, 0, 2 * count * sizeof(Read)));
        for (int both = 0; both < 2; both++) {
            void *to = static_cast<Read *>(out) + both * count;
            if (fractions || kind == cudaChannelFormatKindFloat)
                sample_either<<<8, 128>>>(first, second, both, dimensions, device,
                                          static_cast<float4 *>(to), count);
            else if (kind == cudaChannelFormatKindUnsigned)
                sample_either<<<8, 128>>>(first, second, both, dimensions, device,
                                          static_cast<uint4 *>(to), count);
            else
                sample_either<<<8, 128>>>(first, second, both, dimensions, device,
                                          static_cast<int4 *>(to), count);
            CHECK(cudaGetLastError());
        }
        CHECK(cudaDeviceSynchronize());
        const std::vector<Read> read = to_host(static_cast<Read *>(out), 2 * count);
        EXPECT(std::memcmp(&read[0], &read[count], count * sizeof(Read)) == 0);
        CHECK(cudaFree(out));
        CHECK(cudaFree(device));
        CHECK(cudaDestroyTextureObject(first));
        CHECK(cudaDestroyTextureObject(second));
    }
    CHECK(cudaFreeArray(array));
}

// `of` makes the texel of a number.
template <typename Texel>
static void check_all(cudaChannelFormatKind kind, bool fractions, Texel (*of)(int))
{
    std::vector<Texel> texels;
    for (int i = 0; i < 7 * 5 * 3; i++) texels.push_back(of(value_at(i) * 37 + i));
    for (int dimensions = 1; dimensions <= 3; dimensions++)
        check_either(kind, dimensions, fractions, texels);
}

// What is wide in its exponents, with both zeros and numbers that are too small for others.
static float any_float(int i)
{
    return i % 11 == 0 ? (i % 2 ? -0.0f : 0.0f)
                       : std::ldexp(static_cast<float>(i % 1000 - 500) / 7, i % 60 - 30);
}

static float tiny_float(int i)
{
    return i % 5 == 0 ? INFINITY : std::ldexp(static_cast<float>(i % 64 - 32), -149 + i % 24);
}

static void one_or_several()
{
    const cudaChannelFormatKind real = cudaChannelFormatKindFloat;
    const cudaChannelFormatKind plain = cudaChannelFormatKindUnsigned;
    const cudaChannelFormatKind sign = cudaChannelFormatKindSigned;
    check_all<float>(real, false, any_float);
    check_all<float>(real, false, tiny_float);
    check_all<float4>(real, false, [](int i) {
        return make_float4(any_float(i), any_float(i + 1), any_float(i * 3), any_float(-i));
    });
    check_all<float2>(real, false,
                      [](int i) { return make_float2(any_float(i), any_float(7 * i)); });
    for (int fractions = 0; fractions < 2; fractions++) {
        check_all<unsigned char>(plain, fractions,
                                 [](int i) { return static_cast<unsigned char>(i); });
        check_all<uchar4>(plain, fractions, [](int i) {
            return make_uchar4(static_cast<unsigned char>(i), static_cast<unsigned char>(i * 3),
                               static_cast<unsigned char>(i * 5), 255);
        });
        check_all<signed char>(sign, fractions, [](int i) { return static_cast<signed char>(i); });
        check_all<unsigned short>(plain, fractions,
                                  [](int i) { return static_cast<unsigned short>(i * 977); });
        check_all<short>(sign, fractions, [](int i) { return static_cast<short>(i * 977); });
    }
    check_all<int>(sign, false, [](int i) { return i * 1000003; });
}

static void errors()
{
    cudaArray_t array;
    cudaChannelFormatDesc three = cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat);
    cudaChannelFormatDesc one = cudaCreateChannelDesc<int>();
    cudaTextureObject_t texture;
    cudaResourceDesc resource = {}, back;
    EXPECT_ERROR(cudaMallocArray(&array, &three, 8, 8), cudaErrorInvalidChannelDescriptor);
    EXPECT_ERROR(cudaMallocArray(&array, &one, 0, 0), cudaErrorInvalidValue);
    CHECK(cudaFreeArray(nullptr));
    CHECK(cudaDestroyTextureObject(0));
    CHECK(cudaMallocArray(&array, &one, 16, 16));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    // Integers are not filtered.
    cudaTextureDesc desc = description_of({cudaAddressModeClamp, false, true, 0});
    EXPECT_ERROR(cudaCreateTextureObject(&texture, &resource, &desc, nullptr),
                 cudaErrorInvalidFilterSetting);
    desc.filterMode = cudaFilterModePoint;
    CHECK(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
    CHECK(cudaGetTextureObjectResourceDesc(&back, texture));
    EXPECT(back.resType == cudaResourceTypeArray && back.res.array.array == array);
    cudaTextureDesc again;
    CHECK(cudaGetTextureObjectTextureDesc(&again, texture));
    EXPECT(again.addressMode[0] == cudaAddressModeClamp && again.normalizedCoords == 0);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
}

int main(int argc, char **argv)
{
    static const Program programs[] = {
        {"sample_1d", sample_1d},
        {"sample_2d", sample_2d},
        {"sample_3d", sample_3d},
        {"filter_exactly", filter_exactly},
        {"layers", layers},
        {"gather_2d", gather_2d},
        {"fetch_linear", fetch_linear},
        {"blur_pitched", blur_pitched},
        {"fractions", fractions},
        {"copies_2d", copies_2d},
        {"copies_3d", copies_3d},
        {"copy_nodes", copy_nodes},
        {"surfaces_2d", surfaces_2d},
        {"surface_boundaries", surface_boundaries},
        {"surface_then_texture", surface_then_texture},
        {"one_or_several", one_or_several},
        {"errors", errors},
    };
    return run_programs(argc, argv, programs);
}
