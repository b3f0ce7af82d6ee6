// What arrays, textures and surfaces answer where the documentation leaves room: weights and sums
// of filters bit by bit, what lies outside, channels that are not there, queries, and errors.
//
//     nvcc -cudart shared -gencode arch=compute_75,code=compute_75 arrays.cu -o arrays
//     ./arrays >arrays.golden
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#define ASK(call) std::printf("%s\n    %s\n", #call, cudaGetErrorName(call)), cudaGetLastError()
#define NEED(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            std::printf("    %s: %s\n", #call, cudaGetErrorName(error_));                          \
            cudaGetLastError();                                                                    \
        }                                                                                          \
    } while (0)

// Each question in a process of its own: some spoil the device for what follows.
static void apart(const char *title, void (*question)())
{
    std::printf("== %s\n", title);
    std::fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        question();
        std::fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status)) std::printf("    ended by signal %d\n", WTERMSIG(status));
}

static cudaTextureDesc reading(cudaTextureAddressMode mode, cudaTextureFilterMode filter,
                               bool normalized, cudaTextureReadMode read = cudaReadModeElementType)
{
    cudaTextureDesc desc = {};
    for (cudaTextureAddressMode &m : desc.addressMode) m = mode;
    desc.filterMode = filter;
    desc.normalizedCoords = normalized;
    desc.readMode = read;
    desc.borderColor[0] = 5.0f;
    desc.borderColor[1] = 6.0f;
    desc.borderColor[2] = 7.0f;
    desc.borderColor[3] = 8.0f;
    return desc;
}

template <typename T>
static cudaArray_t array_of(const std::vector<T> &texels, int width, int height = 0, int depth = 0,
                            unsigned flags = 0)
{
    cudaArray_t array = nullptr;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
    const int rows = height ? height : 1, slices = depth ? depth : 1;
    NEED(cudaMalloc3DArray(&array, &desc, make_cudaExtent(width, height, depth), flags));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr =
        make_cudaPitchedPtr(const_cast<T *>(texels.data()), width * sizeof(T), width, rows);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(width, rows, slices);
    copy.kind = cudaMemcpyHostToDevice;
    NEED(cudaMemcpy3D(&copy));
    return array;
}

static cudaTextureObject_t texture_of(cudaArray_t array, const cudaTextureDesc &desc)
{
    cudaResourceDesc resource = {};
    cudaTextureObject_t texture = 0;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    NEED(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
    return texture;
}

static cudaSurfaceObject_t surface_of(cudaArray_t array)
{
    cudaResourceDesc resource = {};
    cudaSurfaceObject_t surface = 0;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    NEED(cudaCreateSurfaceObject(&surface, &resource));
    return surface;
}

// ---- reading at many places -----------------------------------------------------------------

__global__ void sample(cudaTextureObject_t t, int dimensions, const float *places, uint4 *out,
                       int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = places[3 * i], y = places[3 * i + 1], z = places[3 * i + 2];
    uint4 r;
    if (dimensions == 1)
        asm volatile("tex.1d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5}];"
                     : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
                     : "l"(t), "f"(x));
    else if (dimensions == 2)
        asm volatile("tex.2d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
                     : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
                     : "l"(t), "f"(x), "f"(y));
    else
        asm volatile("tex.3d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"
                     : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
                     : "l"(t), "f"(x), "f"(y), "f"(z));
    out[i] = r;
}

// Prints the first channel's bits, all four, or the first one roughly.
enum how { FIRST, ALL, ROUGHLY };
static void read_at(cudaTextureObject_t texture, int dimensions, const std::vector<float> &places,
                    how print = FIRST)
{
    const int n = static_cast<int>(places.size()) / 3;
    float *device = nullptr;
    uint4 *out = nullptr;
    std::vector<uint4> got(n);
    NEED(cudaMalloc(&device, places.size() * sizeof(float)));
    NEED(cudaMalloc(&out, n * sizeof(uint4)));
    NEED(cudaMemcpy(device, places.data(), places.size() * sizeof(float), cudaMemcpyHostToDevice));
    sample<<<(n + 63) / 64, 64>>>(texture, dimensions, device, out, n);
    cudaError_t error = cudaMemcpy(got.data(), out, n * sizeof(uint4), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        std::printf("    %s\n", cudaGetErrorName(error));
        return;
    }
    for (int i = 0; i < n; i++) {
        float first;
        std::memcpy(&first, &got[i].x, sizeof first);
        if (print == ROUGHLY)
            std::printf("%s%ld%s", i % 8 ? " " : "    ", std::lround(first / 64),
                        i % 8 == 7 || i == n - 1 ? "\n" : "");
        else if (print == ALL)
            std::printf("    %08x %08x %08x %08x\n", got[i].x, got[i].y, got[i].z, got[i].w);
        else
            std::printf("%s%08x%s", i % 8 ? " " : "    ", got[i].x,
                        i % 8 == 7 || i == n - 1 ? "\n" : "");
    }
    cudaFree(device);
    cudaFree(out);
}

static std::vector<float> along_x(float from, float step, int n, float y = 0, float z = 0)
{
    std::vector<float> places;
    for (int i = 0; i < n; i++) {
        places.push_back(from + step * i);
        places.push_back(y);
        places.push_back(z);
    }
    return places;
}

// The weight itself: between texels 0 and 1, in steps far smaller than its own.
static void weights()
{
    cudaArray_t array = array_of(std::vector<float>{0, 1, 0, 1}, 4);
    cudaTextureObject_t plain =
        texture_of(array, reading(cudaAddressModeClamp, cudaFilterModeLinear, false));
    std::printf("in steps of 1/2048 from a texel's centre\n");
    read_at(plain, 1, along_x(0.5f, 1.0f / 2048, 48));
    std::printf("up to the next one's\n");
    read_at(plain, 1, along_x(1.5f - 16.0f / 2048, 1.0f / 2048, 17));
    std::printf("normalised, the same\n");
    cudaTextureObject_t normalized =
        texture_of(array, reading(cudaAddressModeClamp, cudaFilterModeLinear, true));
    read_at(normalized, 1, along_x(0.5f / 4, 1.0f / 8192, 48));
}

static float odd(int i)
{
    return static_cast<float>(static_cast<int>(i * 2654435761u >> 7) - (1 << 24)) / 12345.0f;
}

static std::vector<float> odd_places(int n, const float size[3])
{
    std::vector<float> places;
    for (int i = 0; i < 3 * n; i++)
        places.push_back(static_cast<float>((i * 2246822519u >> 8) % 65536) / 65536 * size[i % 3]);
    return places;
}

static void sums()
{
    std::vector<float> texels;
    for (int i = 0; i < 8 * 8 * 8; i++) texels.push_back(odd(i));
    const float size[3] = {8, 8, 8};
    const cudaTextureDesc desc = reading(cudaAddressModeClamp, cudaFilterModeLinear, false);
    std::printf("one dimension\n");
    read_at(texture_of(array_of(texels, 512), desc), 1, along_x(0.1f, 0.37f, 64));
    std::printf("two\n");
    read_at(texture_of(array_of(texels, 64, 8), desc), 2, odd_places(64, size));
    // Which of eight weights is rounded up is known of 62 of these 64 places only.
    std::printf("three, roughly\n");
    read_at(texture_of(array_of(texels, 8, 8, 8), desc), 3, odd_places(64, size), ROUGHLY);
}

static void addressing()
{
    static const char *const names[] = {"wrap", "clamp", "mirror", "border"};
    std::vector<float> texels;
    for (int i = 0; i < 5; i++) texels.push_back(static_cast<float>(i + 1));
    cudaArray_t array = array_of(texels, 5);
    for (int mode = 0; mode < 4; mode++) {
        for (int which = 0; which < 4; which++) {
            const bool normalized = which & 1, linear = which & 2;
            std::printf("%s%s%s\n", names[mode], normalized ? ", normalised" : "",
                        linear ? ", linear" : "");
            const float scale = normalized ? 5.0f : 1.0f;
            read_at(texture_of(array, reading(static_cast<cudaTextureAddressMode>(mode),
                                              linear ? cudaFilterModeLinear : cudaFilterModePoint,
                                              normalized)),
                    1, along_x(-7.3f / scale, 0.7f / scale, 29));
        }
    }
    std::printf("numbers that no texture reaches: NaN, infinities, 1e30, -1e30, 3e9, 1.7e7\n");
    std::vector<float> places;
    for (float x : {NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 3e9f, 1.7e7f}) {
        places.push_back(x);
        places.push_back(0);
        places.push_back(0);
    }
    for (int mode = 0; mode < 4; mode++)
        for (int normalized = 0; normalized < 2; normalized++)
            read_at(texture_of(array, reading(static_cast<cudaTextureAddressMode>(mode),
                                              cudaFilterModePoint, normalized)),
                    1, places);
}

// ---- channels and formats -------------------------------------------------------------------

static void channels()
{
    const std::vector<float> middle = {0.5f, 0, 0, 1.5f, 0, 0, -2.0f, 0, 0};
    const cudaTextureDesc point = reading(cudaAddressModeBorder, cudaFilterModePoint, false);
    const cudaTextureDesc part =
        reading(cudaAddressModeBorder, cudaFilterModePoint, false, cudaReadModeNormalizedFloat);
    std::printf("one float\n");
    read_at(texture_of(array_of(std::vector<float>{2, 3}, 2), point), 1, middle, ALL);
    std::printf("two floats\n");
    read_at(texture_of(array_of(std::vector<float2>{{2, 4}, {3, 5}}, 2), point), 1, middle, ALL);
    std::printf("four floats\n");
    read_at(texture_of(array_of(std::vector<float4>{{2, 4, 6, 8}, {3, 5, 7, 9}}, 2), point), 1,
            middle, ALL);
    std::printf("one int\n");
    read_at(texture_of(array_of(std::vector<int>{-2, 3}, 2), point), 1, middle, ALL);
    std::printf("one unsigned char, as it is and as a fraction\n");
    cudaArray_t bytes = array_of(std::vector<unsigned char>{200, 3}, 2);
    read_at(texture_of(bytes, point), 1, middle, ALL);
    read_at(texture_of(bytes, part), 1, middle, ALL);
    std::printf("one short, as it is and as a fraction\n");
    cudaArray_t shorts = array_of(std::vector<short>{-32768, 3}, 2);
    read_at(texture_of(shorts, point), 1, middle, ALL);
    read_at(texture_of(shorts, part), 1, middle, ALL);
}

template <typename T> static void fractions_of(int from, int step, int n)
{
    std::vector<T> texels;
    for (int i = 0; i < n; i++) texels.push_back(static_cast<T>(from + i * step));
    read_at(texture_of(array_of(texels, n), reading(cudaAddressModeClamp, cudaFilterModePoint,
                                                    false, cudaReadModeNormalizedFloat)),
            1, along_x(0.5f, 1, n));
    std::printf("filtered\n");
    read_at(texture_of(array_of(texels, n), reading(cudaAddressModeClamp, cudaFilterModeLinear,
                                                    false, cudaReadModeNormalizedFloat)),
            1, along_x(0.8f, 1.03f, n / 2));
}

static void fractions()
{
    std::printf("unsigned char\n");
    fractions_of<unsigned char>(0, 1, 256);
    std::printf("signed char\n");
    fractions_of<signed char>(-128, 1, 256);
    std::printf("unsigned short\n");
    fractions_of<unsigned short>(0, 655, 101);
    std::printf("short\n");
    fractions_of<short>(-32768, 655, 101);
}

static void halves()
{
    std::vector<unsigned short> bits;
    for (unsigned i = 0; i < 64; i++) bits.push_back(static_cast<unsigned short>(i * 1031));
    cudaArray_t array = nullptr;
    cudaChannelFormatDesc desc = cudaCreateChannelDescHalf();
    NEED(cudaMallocArray(&array, &desc, 64));
    NEED(cudaMemcpy2DToArray(array, 0, 0, bits.data(), 128, 128, 1, cudaMemcpyHostToDevice));
    read_at(texture_of(array, reading(cudaAddressModeClamp, cudaFilterModePoint, false)), 1,
            along_x(0.5f, 1, 64));
}

// ---- layers, indexes, queries ---------------------------------------------------------------

__global__ void layer(cudaTextureObject_t t, const int *layers, float *out)
{
    out[threadIdx.x] = tex1DLayered<float>(t, 0.5f, layers[threadIdx.x]);
}

__global__ void fetch(cudaTextureObject_t t, const int *indexes, uint4 *out)
{
    uint4 r;
    asm volatile("tex.1d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
                 : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
                 : "l"(t), "r"(indexes[threadIdx.x]));
    out[threadIdx.x] = r;
}

static void indexes()
{
    const int wanted[8] = {0, 2, 3, 5, -1, -7, 1 << 30, -2147483647 - 1};
    int *device;
    float *out, got[8];
    uint4 *fetched, fours[8];
    NEED(cudaMalloc(&device, sizeof wanted));
    NEED(cudaMalloc(&out, sizeof got));
    NEED(cudaMalloc(&fetched, sizeof fours));
    NEED(cudaMemcpy(device, wanted, sizeof wanted, cudaMemcpyHostToDevice));
    cudaArray_t layers = array_of(std::vector<float>{1, 2, 3}, 1, 0, 3, cudaArrayLayered);
    layer<<<1, 8>>>(texture_of(layers, reading(cudaAddressModeClamp, cudaFilterModePoint, false)),
                    device, out);
    NEED(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    std::printf("layers\n   ");
    for (float g : got) std::printf(" %g", g);
    std::printf("\nlinear memory of three floats\n");
    float *memory;
    const float three[3] = {1, 2, 3};
    NEED(cudaMalloc(&memory, sizeof three));
    NEED(cudaMemcpy(memory, three, sizeof three, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    cudaTextureDesc desc = reading(cudaAddressModeClamp, cudaFilterModePoint, false);
    cudaTextureObject_t texture = 0;
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = sizeof three;
    NEED(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
    fetch<<<1, 8>>>(texture, device, fetched);
    NEED(cudaMemcpy(fours, fetched, sizeof fours, cudaMemcpyDeviceToHost));
    for (uint4 f : fours) std::printf("    %08x %08x %08x %08x\n", f.x, f.y, f.z, f.w);
}

// Not txq.array_size, txq.normalized_coords and suq.array_size: an H200's driver loads no kernel of
// a module that asks one of them of an object (cudaErrorSymbolNotFound, cudaErrorNotSupported).
__global__ void sizes(cudaTextureObject_t t, cudaSurfaceObject_t s, int *out)
{
    asm volatile("txq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(t));
    asm volatile("txq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(t));
    asm volatile("txq.depth.b32 %0, [%1];" : "=r"(out[2]) : "l"(t));
    asm volatile("suq.width.b32 %0, [%1];" : "=r"(out[3]) : "l"(s));
    asm volatile("suq.height.b32 %0, [%1];" : "=r"(out[4]) : "l"(s));
    asm volatile("suq.depth.b32 %0, [%1];" : "=r"(out[5]) : "l"(s));
}

static void queries()
{
    static const struct {
        int width, height, depth;
        unsigned flags;
        bool normalized;
    } cases[] = {{7, 0, 0, 0, false},
                 {7, 5, 0, 0, true},
                 {7, 5, 3, 0, false},
                 {7, 0, 4, cudaArrayLayered, false},
                 {7, 5, 4, cudaArrayLayered, true}};
    for (const auto &c : cases) {
        const int n = c.width * (c.height ? c.height : 1) * (c.depth ? c.depth : 1);
        cudaArray_t array = array_of(std::vector<float>(n), c.width, c.height, c.depth,
                                     c.flags | cudaArraySurfaceLoadStore);
        int *device, got[6];
        NEED(cudaMalloc(&device, sizeof got));
        NEED(cudaMemset(device, 0, sizeof got));
        sizes<<<1, 1>>>(
            texture_of(array, reading(cudaAddressModeClamp, cudaFilterModePoint, c.normalized)),
            surface_of(array), device);
        NEED(cudaMemcpy(got, device, sizeof got, cudaMemcpyDeviceToHost));
        std::printf("%d %d %d %u\n   ", c.width, c.height, c.depth, c.flags);
        for (int g : got) std::printf(" %d", g);
        std::printf("\n");
    }
}

// Not of cube maps, mipmaps and the other shape of 3-D arrays, of which the software device has
// none: it answers 0 there.
static void attributes()
{
    for (int a = cudaDevAttrMaxTexture1DWidth; a <= cudaDevAttrMaxTexture2DLinearPitch; a++) {
        const bool texture = (a >= 21 && a <= 30) || (a >= 42 && a <= 46) || a == 51 ||
                             (a >= 55 && a <= 65) || a >= 69;
        int value = -1;
        if (!texture) continue;
        NEED(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(a), 0));
        std::printf("attribute %d: %d\n", a, value);
    }
    const cudaChannelFormatDesc one = cudaCreateChannelDesc<char>(),
                                four = cudaCreateChannelDesc<float>(),
                                sixteen = cudaCreateChannelDesc<float4>();
    for (const cudaChannelFormatDesc *desc : {&one, &four, &sixteen}) {
        size_t most = 0;
        NEED(cudaDeviceGetTexture1DLinearMaxWidth(&most, desc, 0));
        std::printf("linear width %zu\n", most);
    }
}

// ---- errors of calls ------------------------------------------------------------------------

static void array_errors()
{
    cudaArray_t array = nullptr;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    cudaChannelFormatDesc three = cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat);
    cudaChannelFormatDesc uneven = cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindSigned);
    cudaChannelFormatDesc wide = cudaCreateChannelDesc(64, 0, 0, 0, cudaChannelFormatKindUnsigned);
    cudaChannelFormatDesc small = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindFloat);
    cudaChannelFormatDesc none = cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
    float host[64] = {};
    ASK(cudaMallocArray(&array, &three, 4, 4));
    ASK(cudaMallocArray(&array, &uneven, 4, 4));
    ASK(cudaMallocArray(&array, &wide, 4, 4));
    ASK(cudaMallocArray(&array, &small, 4, 4));
    ASK(cudaMallocArray(&array, &none, 4, 4));
    ASK(cudaMallocArray(&array, &f, 0, 4));
    ASK(cudaMallocArray(&array, &f, 1 << 18, 0));
    ASK(cudaMallocArray(&array, &f, 4, 1 << 17));
    ASK(cudaMallocArray(nullptr, &f, 4, 4));
    ASK(cudaMallocArray(&array, nullptr, 4, 4));
    ASK(cudaMallocArray(&array, &f, 4, 4, cudaArrayLayered));
    ASK(cudaMallocArray(&array, &f, 4, 4, 0x8000));
    ASK(cudaMalloc3DArray(&array, &f, make_cudaExtent(4, 0, 4), 0));
    ASK(cudaMalloc3DArray(&array, &f, make_cudaExtent(4, 4, 0), cudaArrayLayered));
    ASK(cudaFreeArray(nullptr));
    ASK(cudaMallocArray(&array, &f, 8, 4));
    ASK(cudaMemcpy2DToArray(array, 0, 0, host, 32, 32, 4, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DToArray(array, 4, 0, host, 32, 32, 4, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DToArray(array, 0, 1, host, 32, 32, 4, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DToArray(array, 1, 0, host, 32, 4, 1, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DToArray(array, 0, 0, host, 16, 32, 4, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DToArray(array, 0, 0, host, 32, 32, 4, cudaMemcpyDeviceToHost));
    ASK(cudaMemcpy2DToArray(array, 0, 0, host, 32, 32, 4, cudaMemcpyDefault));
    ASK(cudaMemcpy2DToArray(array, 0, 0, host, 32, 0, 4, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DToArray(array, 0, 0, host, 32, 32, 0, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DToArray(nullptr, 0, 0, host, 32, 32, 4, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DToArray(array, 0, 0, nullptr, 32, 32, 4, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DFromArray(host, 32, array, 0, 0, 36, 1, cudaMemcpyDeviceToHost));
    ASK(cudaMemcpy2DFromArray(host, 32, array, 0, 0, 32, 4, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DArrayToArray(array, 0, 0, array, 0, 0, 16, 1, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DArrayToArray(array, 0, 0, array, 0, 0, 16, 1, cudaMemcpyDeviceToDevice));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host, 32, 8, 4);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(8, 4, 1);
    copy.kind = cudaMemcpyHostToDevice;
    ASK(cudaMemcpy3D(&copy));
    copy.extent = make_cudaExtent(8, 4, 2);
    ASK(cudaMemcpy3D(&copy));
    copy.extent = make_cudaExtent(8, 4, 0);
    ASK(cudaMemcpy3D(&copy));
    copy.extent = make_cudaExtent(8, 4, 1);
    copy.kind = cudaMemcpyDeviceToHost;
    ASK(cudaMemcpy3D(&copy));
    copy.kind = cudaMemcpyHostToDevice;
    copy.dstPtr = make_cudaPitchedPtr(host, 32, 8, 4);
    ASK(cudaMemcpy3D(&copy));
    cudaChannelFormatDesc found;
    ASK(cudaGetChannelDesc(&found, nullptr));
    ASK(cudaArrayGetInfo(nullptr, nullptr, nullptr, array));
}

// Not asked is what a GPU's driver takes and the software device refuses, since it can come to no
// good: a surface of an array that was made without cudaArraySurfaceLoadStore, a texture of more
// memory than there is, of none, of rows that overlap.
static void object_errors()
{
    cudaTextureObject_t t = 0;
    cudaSurfaceObject_t s = 0;
    char *memory = nullptr;
    cudaResourceDesc r = {};
    cudaTextureDesc d = reading(cudaAddressModeClamp, cudaFilterModePoint, false);
    NEED(cudaMalloc(&memory, 1 << 16));
    cudaArray_t ints = array_of(std::vector<int>(16), 16),
                floats = array_of(std::vector<float>(16), 16);
    r.resType = cudaResourceTypeArray;
    r.res.array.array = floats;
    ASK(cudaCreateTextureObject(&t, &r, nullptr, nullptr));
    ASK(cudaCreateTextureObject(&t, nullptr, &d, nullptr));
    ASK(cudaCreateTextureObject(nullptr, &r, &d, nullptr));
    d.readMode = cudaReadModeNormalizedFloat;
    ASK(cudaCreateTextureObject(&t, &r, &d, nullptr)); // fractions of floats
    r.res.array.array = ints;
    ASK(cudaCreateTextureObject(&t, &r, &d, nullptr)); // fractions of 32-bit integers
    d.readMode = cudaReadModeElementType;
    d.filterMode = cudaFilterModeLinear;
    ASK(cudaCreateTextureObject(&t, &r, &d, nullptr)); // integers filtered
    d.filterMode = cudaFilterModePoint;
    d.addressMode[0] = static_cast<cudaTextureAddressMode>(9);
    ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    d.addressMode[0] = cudaAddressModeClamp;
    r.res.array.array = nullptr;
    ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = memory;
    r.res.linear.desc = cudaCreateChannelDesc<float>();
    r.res.linear.sizeInBytes = 1 << 16;
    ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    ASK(cudaCreateSurfaceObject(&s, &r));
    d.filterMode = cudaFilterModeLinear;
    ASK(cudaCreateTextureObject(&t, &r, &d, nullptr)); // linear memory filtered
    d.filterMode = cudaFilterModePoint;
    d.normalizedCoords = 1;
    ASK(cudaCreateTextureObject(&t, &r, &d, nullptr)); // linear memory, normalised
    d.normalizedCoords = 0;
    r.res.linear.devPtr = memory + 16;
    r.res.linear.sizeInBytes = 1024;
    ASK(cudaCreateTextureObject(&t, &r, &d, nullptr)); // off its alignment
    r.res.linear.devPtr = memory;
    r.res.linear.sizeInBytes = 6;
    ASK(cudaCreateTextureObject(&t, &r, &d, nullptr)); // one and a half texels
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = memory;
    r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    r.res.pitch2D.width = 16;
    r.res.pitch2D.height = 16;
    r.res.pitch2D.pitchInBytes = 64;
    ASK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    r.res.pitch2D.pitchInBytes = 80;
    ASK(cudaCreateTextureObject(&t, &r, &d, nullptr)); // a pitch that is no multiple of 32
    ASK(cudaDestroyTextureObject(0));
    ASK(cudaDestroySurfaceObject(0));
    ASK(cudaGetTextureObjectTextureDesc(&d, 123456789));
    ASK(cudaGetSurfaceObjectResourceDesc(&r, 123456789));
}

// ---- mistakes of kernels --------------------------------------------------------------------

__global__ void read_2d(cudaSurfaceObject_t s, int x, int y, int *out)
{
    *out = surf2Dread<int>(s, x, y);
}

__global__ void write_2d(cudaSurfaceObject_t s, int x, int y)
{
    surf2Dwrite(7, s, x, y);
}

static cudaSurfaceObject_t surface()
{
    return surface_of(array_of(std::vector<int>(64), 8, 8, 0, cudaArraySurfaceLoadStore));
}

#define AFTER(launch)                                                                              \
    do {                                                                                           \
        int *out;                                                                                  \
        NEED(cudaMalloc(&out, 64));                                                                \
        launch;                                                                                    \
        cudaError_t now_ = cudaGetLastError(), later_ = cudaDeviceSynchronize();                   \
        std::printf("%s\n    %s, %s\n", #launch, cudaGetErrorName(now_),                           \
                    cudaGetErrorName(later_));                                                     \
    } while (0)

static void read_outside()
{
    AFTER((read_2d<<<1, 1>>>(surface(), 32, 0, out)));
}

static void read_below()
{
    AFTER((read_2d<<<1, 1>>>(surface(), 0, 8, out)));
}

static void write_outside()
{
    AFTER((write_2d<<<1, 1>>>(surface(), -4, 0)));
}

static void read_odd()
{
    AFTER((read_2d<<<1, 1>>>(surface(), 2, 0, out)));
}

__global__ void read_one(cudaTextureObject_t t, float *out)
{
    *out = tex2D<float>(t, 0.5f, 0.5f);
}

static void texture_of_nothing()
{
    AFTER((read_one<<<1, 1>>>(123456, reinterpret_cast<float *>(out))));
}

// Not what CUDA leaves undefined and an H200 reads zeros or old texels from: an array by an integer
// index, linear memory by a real one, a texture of fewer dimensions, one that has been destroyed.
int main()
{
    std::setvbuf(stdout, nullptr, _IOLBF, 0); // a crash loses no line
    apart("weights", weights);
    apart("sums", sums);
    apart("addressing", addressing);
    apart("channels", channels);
    apart("fractions", fractions);
    apart("halves", halves);
    apart("indexes", indexes);
    apart("queries", queries);
    apart("attributes", attributes);
    apart("array errors", array_errors);
    apart("object errors", object_errors);
    apart("read outside", read_outside);
    apart("read below", read_below);
    apart("write outside", write_outside);
    apart("read odd", read_odd);
    apart("texture of nothing", texture_of_nothing);
    return 0;
}
