// Formatted surface stores (sust.p), asked of a GPU: values of 32 bits become texels of the array's
// format, and the first coordinate counts texels. Each line is a case and the texels, or a hash of
// many. Where fewer values are stored than a texel has, PTX leaves the rest open: an H200 stores 0.
// surface_formats.txt has an H200's answers.
//
//     nvcc -std=c++17 -arch=sm_90 -o surface_formats tests/gpu/surface_formats.cu
//     ./surface_formats > tests/gpu/surface_formats.txt
#include "gpu.cuh"

#include <cstdint>
#include <cstring>

constexpr int WIDTH = 64, ROOM = 4096;

#define STORE(name, geometry, boundary, vector, coordinates, values)                               \
    __global__ void name(cudaSurfaceObject_t s, const int *at, const uint32_t *v)                  \
    {                                                                                              \
        const int l = threadIdx.x;                                                                 \
        asm volatile("sust.p." geometry vector ".b32." boundary " [%0, " coordinates "], " values  \
                     ";" ::"l"(s),                                                                 \
                     "r"(at[4 * l]), "r"(at[4 * l + 1]), "r"(at[4 * l + 2]), "r"(at[4 * l + 3]),   \
                     "r"(v[4 * l]), "r"(v[4 * l + 1]), "r"(v[4 * l + 2]), "r"(v[4 * l + 3])        \
                     : "memory");                                                                  \
    }
STORE(one, "1d", "trap", "", "{%1}", "%5")
STORE(two, "1d", "trap", ".v2", "{%1}", "{%5, %6}")
STORE(four, "1d", "trap", ".v4", "{%1}", "{%5, %6, %7, %8}")
STORE(plane_zero, "2d", "zero", ".v2", "{%1, %2}", "{%5, %6}")
STORE(plane_clamp, "2d", "clamp", ".v2", "{%1, %2}", "{%5, %6}")
STORE(space_zero, "3d", "zero", ".v4", "{%1, %2, %3, %4}", "{%5, %6, %7, %8}")
STORE(space_clamp, "3d", "clamp", ".v4", "{%1, %2, %3, %4}", "{%5, %6, %7, %8}")
STORE(layers_zero, "a1d", "zero", "", "{%1, %2}", "%5")
STORE(layers_clamp, "a2d", "clamp", "", "{%1, %2, %3, %4}", "%5")
using Store = void(cudaSurfaceObject_t, const int *, const uint32_t *);

static int *at;
static uint32_t *values;
static unsigned char bytes[ROOM];

static const uint32_t edges[] = {
    0x00000000, 0x00000001, 0x0000007f, 0x00000080, 0x000000ff, 0x00000100, 0x00007fff, 0x00008000,
    0x0000ffff, 0x00010000, 0x7fffffff, 0x80000000, 0xffffffff, 0xffffff80, 0xffffff7f, 0xffff8000,
    0xffff7fff, 0x3f800000, 0x3f801000, 0x3f801001, 0x3f803000, 0x3f802fff, 0xbf801000, 0x3f000000,
    0x3f008081, 0x3eaaaaab, 0xbf000000, 0xbf7fffff, 0x477fe000, 0x477fefff, 0x477ff000, 0x47800000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345, 0x38800000,
    0x387fc000, 0x33800000, 0x33000000, 0x33000001, 0x32ffffff, 0x38000fff, 0xb3000001, 0x007fffff,
    0x3b808081, 0x3b008081, 0x3b008080, 0x3b008082, 0x3f7f8000, 0x3f7f7fff, 0x37800080, 0x3c010204};
constexpr int EDGES = sizeof edges / sizeof *edges;

static void fill()
{
    uint32_t x = 12345;
    for (int i = 0; i < 4 * WIDTH; i++) {
        x = x * 1664525 + 1013904223;
        values[i] = i < EDGES ? edges[i] : i % 3 ? x : 0x38000000u + x % 0x10000000u;
        at[i] = i / 4;
    }
}

static uint64_t hash(const void *from, size_t count)
{
    uint64_t all = 14695981039346656037u;
    for (size_t i = 0; i < count; i++)
        all = (all ^ ((const unsigned char *)from)[i]) * 1099511628211u;
    return all;
}

struct Surface {
    cudaArray_t array;
    cudaSurfaceObject_t object;
    cudaExtent extent;
    size_t texel;
};

static bool make(Surface *s, cudaChannelFormatDesc format, cudaExtent extent, unsigned flags)
{
    cudaResourceDesc resource = {};
    s->extent = extent;
    s->texel = (size_t)(format.x + format.y + format.z + format.w) / 8;
    if (cudaMalloc3DArray(&s->array, &format, extent, flags | cudaArraySurfaceLoadStore) !=
        cudaSuccess)
        return false;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = s->array;
    return cudaCreateSurfaceObject(&s->object, &resource) == cudaSuccess;
}

static size_t move(const Surface &s, bool back)
{
    const cudaExtent all = {s.extent.width, s.extent.height ? s.extent.height : 1,
                            s.extent.depth ? s.extent.depth : 1};
    const cudaPitchedPtr host =
        make_cudaPitchedPtr(bytes, all.width * s.texel, all.width, all.height);
    cudaMemcpy3DParms copy = {};
    copy.extent = all;
    copy.kind = back ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    if (back) {
        copy.srcArray = s.array;
        copy.dstPtr = host;
    } else {
        copy.srcPtr = host;
        copy.dstArray = s.array;
    }
    CHECK(cudaMemcpy3D(&copy));
    return all.width * all.height * all.depth * s.texel;
}

static size_t store(const Surface &s, Store *kernel, const char *name)
{
    memset(bytes, 0x5a, sizeof bytes);
    move(s, false);
    kernel<<<1, WIDTH>>>(s.object, at, values);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("%s: %s\n", name, cudaGetErrorName(error));
        exit(1);
    }
    return move(s, true);
}

static void each_format()
{
    static const struct {
        const char *name;
        cudaChannelFormatKind kind;
        int bits;
    } formats[] = {
        {"u8", cudaChannelFormatKindUnsigned, 8},   {"s8", cudaChannelFormatKindSigned, 8},
        {"u16", cudaChannelFormatKindUnsigned, 16}, {"s16", cudaChannelFormatKindSigned, 16},
        {"u32", cudaChannelFormatKindUnsigned, 32}, {"s32", cudaChannelFormatKindSigned, 32},
        {"f16", cudaChannelFormatKindFloat, 16},    {"f32", cudaChannelFormatKindFloat, 32}};
    for (const auto &format : formats)
        for (int channels = 1; channels <= 4; channels *= 2)
            for (int count = 1; count <= 4; count *= 2) {
                Surface s;
                const int b = format.bits, more = channels > 1 ? b : 0, most = channels > 2 ? b : 0;
                char name[60];
                snprintf(name, sizeof name, "%sx%d of %d", format.name, channels, count);
                if (!make(&s, cudaCreateChannelDesc(b, more, most, most, format.kind),
                          {WIDTH, 0, 0}, 0)) {
                    printf("%s: none\n", name);
                    continue;
                }
                const size_t size = store(s, count == 1 ? one : count == 2 ? two : four, name);
                printf("%s: %016llx", name, (unsigned long long)hash(bytes, size));
                for (size_t i = 0; channels == 4 && i < EDGES * s.texel / 4; i++)
                    printf("%s%02x", i % s.texel ? "" : " ", bytes[i]);
                printf("\n");
                CHECK(cudaDestroySurfaceObject(s.object));
                CHECK(cudaFreeArray(s.array));
            }
}

// Some of the coordinates are outside.
static void each_shape()
{
    static const struct {
        const char *name;
        Store *store;
        cudaExtent extent;
        unsigned flags;
        int order[4], channels; /* which of x, y, z, layer a coordinate is */
    } shapes[] = {{"2d zero", plane_zero, {7, 5, 0}, 0, {0, 1, 2, 3}, 2},
                  {"2d clamp", plane_clamp, {7, 5, 0}, 0, {0, 1, 2, 3}, 2},
                  {"3d zero", space_zero, {5, 4, 3}, 0, {0, 1, 2, 3}, 4},
                  {"3d clamp", space_clamp, {5, 4, 3}, 0, {0, 1, 2, 3}, 4},
                  {"1d layers zero", layers_zero, {6, 0, 4}, cudaArrayLayered, {2, 0, 1, 3}, 1},
                  {"2d layers clamp", layers_clamp, {5, 4, 3}, cudaArrayLayered, {2, 0, 1, 3}, 1}};
    for (const auto &shape : shapes) {
        Surface s;
        const int more = shape.channels > 1 ? 16 : 0, most = shape.channels > 2 ? 16 : 0;
        const bool layered = shape.flags == cudaArrayLayered;
        const int width = (int)shape.extent.width + 2;
        const int height = shape.extent.height ? (int)shape.extent.height + 2 : 1;
        const int depth = shape.extent.depth ? (int)shape.extent.depth + (layered ? 0 : 2) : 1;
        const int all = width * height * depth;
        if (!make(&s, cudaCreateChannelDesc(16, more, most, most, cudaChannelFormatKindFloat),
                  shape.extent, shape.flags))
            exit(1);
        for (int l = 0; l < WIDTH; l++) {
            const int i = l * 37 % all,
                      place[4] = {i % width - 1, i / width % height - (height > 1),
                                  i / width / height - (depth > 1 && !layered), 0};
            for (int k = 0; k < 4; k++) at[4 * l + k] = place[shape.order[k]];
            for (int k = 0; k < 4; k++) { /* of the place, for lanes that store to the same */
                int inside[3];
                const int sizes[3] = {(int)shape.extent.width, (int)shape.extent.height,
                                      (int)shape.extent.depth};
                for (int d = 0; d < 3; d++)
                    inside[d] = place[d] < 0                       ? 0
                                : sizes[d] && place[d] >= sizes[d] ? sizes[d] - 1
                                                                   : place[d];
                values[4 * l + k] =
                    0x3f800000u +
                    (uint32_t)(inside[0] + 8 * inside[1] + 64 * inside[2] + 512 * k) * 0x2468u;
            }
        }
        const size_t size = store(s, shape.store, shape.name);
        printf("%s: %016llx\n", shape.name, (unsigned long long)hash(bytes, size));
        CHECK(cudaDestroySurfaceObject(s.object));
        CHECK(cudaFreeArray(s.array));
    }
}

int main()
{
    CHECK(cudaMallocManaged(&at, 4 * WIDTH * sizeof *at));
    CHECK(cudaMallocManaged(&values, 4 * WIDTH * sizeof *values));
    fill();
    each_format();
    each_shape();
    CHECK(cudaFree(at));
    CHECK(cudaFree(values));
    return 0;
}
