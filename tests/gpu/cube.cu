// Cube maps, asked of a GPU: which arrays, textures and surfaces there are, which texel a direction
// means, and what is read between texels, at edges and at corners. Each line is a case and its
// answer, which of many samples is a hash and the first of them.
// Lines that begin with ~ are of cases of which the device gets all but one or two of 4,096
// samples. cube.txt has an H200's. With a file's name, the samples go there as they are.
//
//     nvcc -std=c++17 -arch=sm_90 -o cube tests/gpu/cube.cu && ./cube > tests/gpu/cube.txt
#include "images.cuh"

// ---- directions
// ----------------------------------------------------------------------------------

// Number `i` of SAMPLES directions: first those through edges, corners and the middles of faces,
// then anywhere, with more near the edges.
static float3 direction(int i, unsigned seed)
{
    const float steps[5] = {-1.0f, -0.5f, 0.0f, 0.5f, 1.0f};
    if (i < 125) return make_float3(steps[i % 5], steps[i / 5 % 5], steps[i / 25]);
    float v[3];
    for (int k = 0; k < 3; k++) v[k] = between(-1, 1, 3 * i + k + seed);
    if (i % 4 == 1) v[i / 4 % 3] = 1.0f - 0.01f * between(-1, 1, i + 17);
    if (i % 4 == 1) v[(i / 4 + 1) % 3] = 1.0f - 0.01f * between(-1, 1, i + 18);
    if (i % 4 == 2) v[i / 4 % 3] *= 1000.0f;
    return make_float3(v[0], v[1], v[2]);
}

template <typename T>
__global__ void cube_read(cudaTextureObject_t texture, const float3 *at, T *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = texCubemap<T>(texture, at[i].x, at[i].y, at[i].z);
}

__global__ void cube_layer(cudaTextureObject_t texture, const float3 *at, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = texCubemapLayered<float>(texture, at[i].x, at[i].y, at[i].z, i % 5 - 1);
}

__global__ void cube_lod(cudaTextureObject_t texture, const float3 *at, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = texCubemapLod<float>(texture, at[i].x, at[i].y, at[i].z, i % 64 / 16.0f - 0.5f);
}

__global__ void cube_layer_lod(cudaTextureObject_t texture, const float3 *at, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = texCubemapLayeredLod<float>(texture, at[i].x, at[i].y, at[i].z, i % 2,
                                         i % 64 / 16.0f - 0.5f);
}

__global__ void surface_write(cudaSurfaceObject_t surface, int size)
{
    for (int face = 0; face < 6; face++)
        for (int y = 0; y < size; y++)
            for (int x = 0; x < size; x++)
                surfCubemapwrite((float)(100 * face + 10 * y + x), surface, x * 4, y, face);
}

__global__ void surface_read(cudaSurfaceObject_t surface, int layers, float *out)
{
    const int i = threadIdx.x;
    float v = 0;
    if (layers == 1)
        surfCubemapread(&v, surface, i % 4 * 4, i / 4 % 4, i / 16 % 6);
    else
        surfCubemapLayeredread(&v, surface, i % 4 * 4, i / 4 % 4, i / 16 % (6 * layers));
    out[i] = v;
}

// ---- what there is
// -------------------------------------------------------------------------------

static void arrays()
{
    const struct {
        int width, height, depth, flags;
    } shapes[] = {{8, 8, 6, 0},         {8, 8, 0, 0},  {8, 8, 5, 0},    {8, 8, 7, 0},
                  {8, 8, 12, 0},        {8, 4, 6, 0},  {8, 0, 6, 0},    {8, 8, 6, 1},
                  {8, 8, 12, 1},        {8, 8, 13, 1}, {8, 8, 2046, 1}, {8, 8, 2052, 1},
                  {32769, 32769, 6, 0}, {8, 8, 6, 2},  {8, 8, 6, 8},    {8, 8, 12, 3}};
    for (auto &s : shapes) {
        cudaArray_t array;
        cudaChannelFormatDesc desc = cudaCreateChannelDesc<unsigned char>(), got;
        cudaExtent extent = {};
        unsigned flags = 0;
        cudaError_t error = cudaMalloc3DArray(
            &array, &desc, make_cudaExtent(s.width, s.height, s.depth),
            cudaArrayCubemap | (s.flags & 1 ? cudaArrayLayered : 0) | (s.flags & ~1));
        printf("array %d x %d x %d, flags %d: %s", s.width, s.height, s.depth, s.flags,
               cudaGetErrorName(error));
        if (error == cudaSuccess) {
            CHECK(cudaArrayGetInfo(&got, &extent, &flags, array));
            printf(" %d %d %d, %u", (int)extent.width, (int)extent.height, (int)extent.depth,
                   flags);
            CHECK(cudaFreeArray(array));
        }
        cudaGetLastError();
        printf("\n");
    }
}

static void textures()
{
    cudaArray_t array = filled_array<float>(4, 4, 6, cudaArrayCubemap);
    for (int i = 0; i < 16; i++) {
        char name[64];
        cudaTextureObject_t texture;
        cudaTextureDesc how = {};
        how.normalizedCoords = i & 1;
        how.filterMode = i & 2 ? cudaFilterModeLinear : cudaFilterModePoint;
        how.seamlessCubemap = i >> 2 & 1;
        for (auto &mode : how.addressMode)
            mode = i & 8 ? cudaAddressModeWrap : cudaAddressModeClamp;
        snprintf(name, sizeof name, "texture %d", i);
        say(name, cudaCreateTextureObject(&texture, resource_of(array), &how, nullptr));
    }
    CHECK(cudaFreeArray(array));
}

// ---- what is read
// --------------------------------------------------------------------------------

template <typename T> static void reads(const char *what, int size, unsigned seed)
{
    cudaArray_t array = filled_array<T>(size, size, 6, cudaArrayCubemap);
    for (int i = 0; i < 16; i++) {
        char name[96];
        cudaTextureDesc how = {};
        how.normalizedCoords = 1;
        how.filterMode = i & 1 ? cudaFilterModeLinear : cudaFilterModePoint;
        how.readMode = sizeof(T) == 1 ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
        how.seamlessCubemap = i >> 1 & 1;
        for (auto &mode : how.addressMode) mode = (cudaTextureAddressMode)(i >> 2);
        how.borderColor[0] = 0.25f;
        // The device differs in a sample or two.
        const bool rough = (size == 64 && i & 1) || (size == 5 && (i & 3) == 3);
        snprintf(name, sizeof name, "%s%s, %d wide, %s%s, addressing %d", rough ? "~" : "", what,
                 size, i & 1 ? "linear" : "point", i & 2 ? ", seamless" : "", i >> 2);
        cudaTextureObject_t texture;
        cudaError_t error = cudaCreateTextureObject(&texture, resource_of(array), &how, nullptr);
        if (error != cudaSuccess) {
            say(name, error);
            continue;
        }
        put_directions(direction, seed);
        cube_read<float><<<SAMPLES / 64, 64>>>(texture, directions, answers);
        show(name);
        CHECK(cudaDestroyTextureObject(texture));
    }
    CHECK(cudaFreeArray(array));
}

static void layers()
{
    cudaArray_t array = filled_array<float>(
        4, 4, 18, cudaArrayCubemap | cudaArrayLayered | cudaArraySurfaceLoadStore);
    for (int i = 0; i < 4; i++) {
        char name[64];
        cudaTextureDesc how = {};
        how.normalizedCoords = 1;
        how.filterMode = i & 1 ? cudaFilterModeLinear : cudaFilterModePoint;
        how.seamlessCubemap = i >> 1 & 1;
        for (auto &mode : how.addressMode) mode = cudaAddressModeClamp;
        snprintf(name, sizeof name, "layers%s%s", i & 1 ? ", linear" : "",
                 i & 2 ? ", seamless" : "");
        cudaTextureObject_t texture = texture_of(resource_of(array), how);
        put_directions(direction, 5);
        cube_layer<<<SAMPLES / 64, 64>>>(texture, directions, answers);
        show(name);
    }
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, resource_of(array)));
    CHECK(cudaMemset(answers, 0, SAMPLES * 4));
    surface_read<<<1, 288>>>(surface, 3, answers);
    show("surface, layers");
}

static void surfaces()
{
    cudaArray_t array = filled_array<float>(4, 4, 6, cudaArrayCubemap | cudaArraySurfaceLoadStore);
    cudaSurfaceObject_t surface;
    say("surface", cudaCreateSurfaceObject(&surface, resource_of(array)));
    CHECK(cudaMemset(answers, 0, SAMPLES * 4));
    surface_read<<<1, 96>>>(surface, 1, answers);
    show("surface read");
    surface_write<<<1, 1>>>(surface, 4);
    CHECK(cudaMemset(answers, 0, SAMPLES * 4));
    surface_read<<<1, 96>>>(surface, 1, answers);
    show("surface written");
}

static void levels()
{
    for (int i = 0; i < 16; i++) {
        char name[64];
        const bool layered = i & 8;
        cudaMipmappedArray_t array = filled_levels<float>(
            8, 8, layered ? 12 : 6, 4, cudaArrayCubemap | (layered ? cudaArrayLayered : 0));
        cudaTextureDesc how = {};
        how.normalizedCoords = 1;
        how.filterMode = i & 1 ? cudaFilterModeLinear : cudaFilterModePoint;
        how.mipmapFilterMode = i & 2 ? cudaFilterModeLinear : cudaFilterModePoint;
        how.seamlessCubemap = i >> 2 & 1;
        how.maxMipmapLevelClamp = 3;
        for (auto &mode : how.addressMode) mode = cudaAddressModeClamp;
        snprintf(name, sizeof name, "levels %d", i);
        cudaTextureObject_t texture = texture_of(resource_of(array), how);
        put_directions(direction, 9);
        if (layered)
            cube_layer_lod<<<SAMPLES / 64, 64>>>(texture, directions, answers);
        else
            cube_lod<<<SAMPLES / 64, 64>>>(texture, directions, answers);
        show(name);
        CHECK(cudaFreeMipmappedArray(array));
    }
}

int main(int argc, char **argv)
{
    begin(argc > 1 ? argv[1] : nullptr);
    arrays();
    textures();
    reads<float>("floats", 4, 1);
    reads<float>("floats", 5, 2);
    reads<float>("floats", 64, 3);
    reads<float>("floats", 1, 3);
    reads<unsigned char>("bytes", 8, 4);
    layers();
    surfaces();
    levels();
    return 0;
}
