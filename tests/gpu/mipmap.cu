// Mipmapped arrays, asked of a GPU: which there are, how large their levels, and what is read from
// them by level, between texels and between levels, with clamps and with a bias.
// Each line is a case and its answer, which of many samples is a hash and the last of them.
// A line that begins with ~ is of a case of which the device gets all but one sample.
// mipmap.txt has an H200's. With a file's name, the samples go there as they are.
//
//     nvcc -std=c++17 -arch=sm_90 -o mipmap tests/gpu/mipmap.cu && ./mipmap > tests/gpu/mipmap.txt
#include "images.cuh"

// What kernels get of the numbers of a direction: coordinates, and a third for the level or
// gradient.
static float3 place(int i, unsigned seed)
{
    return make_float3(between(-1.5f, 2.5f, 3 * i + seed), between(-1.5f, 2.5f, 3 * i + 1 + seed),
                       between(0, 1, 3 * i + 2 + seed));
}

// Levels finely, from -1 on.
__global__ void fine_levels(cudaTextureObject_t texture, float step, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2DLod<float>(texture, 0.3f, 0.6f, -1.0f + i * step);
}

enum { LOD_1D, LOD_2D, LOD_3D, LOD_1D_LAYERED, LOD_2D_LAYERED, PLAIN_2D };

__global__ void by_level(cudaTextureObject_t texture, int shape, const float3 *at, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = at[i].x, y = at[i].y, level = 8 * at[i].z - 2;
    switch (shape) {
    case LOD_1D:
        out[i] = tex1DLod<float>(texture, x, level);
        break;
    case LOD_2D:
        out[i] = tex2DLod<float>(texture, x, y, level);
        break;
    case LOD_3D:
        out[i] = tex3DLod<float>(texture, x, y, x + y, level);
        break;
    case LOD_1D_LAYERED:
        out[i] = tex1DLayeredLod<float>(texture, x, i % 3, level);
        break;
    case LOD_2D_LAYERED:
        out[i] = tex2DLayeredLod<float>(texture, x, y, i % 3, level);
        break;
    default:
        out[i] = tex2D<float>(texture, x, y);
    }
}

// ---- what there is
// -------------------------------------------------------------------------------

static void arrays()
{
    const struct {
        int width, height, depth, levels, flags;
    } shapes[] = {{16, 16, 0, 5, 0},
                  {16, 16, 0, 6, 0},
                  {16, 16, 0, 0, 0},
                  {16, 16, 0, 100, 0},
                  {17, 5, 0, 5, 0},
                  {13, 0, 0, 4, 0},
                  {8, 16, 4, 5, 0},
                  {8, 8, 3, 4, cudaArrayLayered},
                  {8, 0, 3, 4, cudaArrayLayered},
                  {8, 8, 6, 4, cudaArrayCubemap},
                  {8, 8, 12, 4, cudaArrayCubemap | cudaArrayLayered},
                  {16, 16, 0, 5, cudaArraySurfaceLoadStore},
                  {16, 16, 0, 5, cudaArrayTextureGather},
                  {16384, 1, 0, 2, 0},
                  {16385, 1, 0, 2, 0},
                  {32768, 8, 0, 2, 0},
                  {32769, 8, 0, 2, 0}};
    for (auto &s : shapes) {
        cudaMipmappedArray_t made;
        cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
        const cudaError_t error = cudaMallocMipmappedArray(
            &made, &desc, make_cudaExtent(s.width, s.height, s.depth), s.levels, s.flags);
        printf("levels %d of %d x %d x %d, flags %d: %s", s.levels, s.width, s.height, s.depth,
               s.flags, cudaGetErrorName(error));
        for (int i = 0; error == cudaSuccess && i < 8; i++) {
            cudaArray_t level;
            cudaExtent extent;
            unsigned flags;
            const cudaError_t answer = cudaGetMipmappedArrayLevel(&level, made, i);
            if (answer != cudaSuccess) {
                printf(", %d: %s", i, cudaGetErrorName(answer));
                break;
            }
            CHECK(cudaArrayGetInfo(&desc, &extent, &flags, level));
            printf(", %d %d %d %u", (int)extent.width, (int)extent.height, (int)extent.depth,
                   flags);
        }
        if (error == cudaSuccess) CHECK(cudaFreeMipmappedArray(made));
        cudaGetLastError();
        printf("\n");
    }
    cudaMipmappedArray_t made = filled_levels<float>(16, 16, 0, 5, 0);
    cudaArray_t level, again;
    CHECK(cudaGetMipmappedArrayLevel(&level, made, 1));
    CHECK(cudaGetMipmappedArrayLevel(&again, made, 1));
    printf("the same level again: %d\n", level == again);
    say("free a level", cudaFreeArray(level));
    say("free", cudaFreeMipmappedArray(made));
    say("free nothing", cudaFreeMipmappedArray(nullptr));
}

static cudaTextureDesc plain()
{
    cudaTextureDesc how = {};
    how.normalizedCoords = 1;
    how.maxMipmapLevelClamp = 100;
    for (auto &mode : how.addressMode) mode = cudaAddressModeWrap;
    return how;
}

static void textures()
{
    cudaMipmappedArray_t made = filled_levels<float>(16, 16, 0, 5, 0);
    cudaTextureObject_t texture;
    cudaTextureDesc how = plain();
    how.normalizedCoords = 0;
    say("unnormalised", cudaCreateTextureObject(&texture, resource_of(made), &how, nullptr));
    how = plain();
    how.minMipmapLevelClamp = 3;
    how.maxMipmapLevelClamp = 1;
    say("clamps crossed", cudaCreateTextureObject(&texture, resource_of(made), &how, nullptr));
    how = plain();
    how.mipmapFilterMode = (cudaTextureFilterMode)2;
    say("filter 2", cudaCreateTextureObject(&texture, resource_of(made), &how, nullptr));
    how = plain();
    how.maxAnisotropy = 17;
    say("anisotropy 17", cudaCreateTextureObject(&texture, resource_of(made), &how, nullptr));
    how = plain();
    how.mipmapLevelBias = 100;
    say("bias 100", cudaCreateTextureObject(&texture, resource_of(made), &how, nullptr));
    how = plain();
    how.minMipmapLevelClamp = -1;
    say("clamp -1", cudaCreateTextureObject(&texture, resource_of(made), &how, nullptr));
    cudaSurfaceObject_t surface;
    say("surface", cudaCreateSurfaceObject(&surface, resource_of(made)));
}

// ---- what is read
// --------------------------------------------------------------------------------

static void levels_finely()
{
    for (int i = 0; i < 12; i++) {
        char name[96];
        cudaMipmappedArray_t made = filled_levels<float>(16, 16, 0, 5, 0);
        cudaTextureDesc how = plain();
        how.mipmapFilterMode = i & 1 ? cudaFilterModeLinear : cudaFilterModePoint;
        how.filterMode = i & 2 ? cudaFilterModeLinear : cudaFilterModePoint;
        if (i >= 4 && i < 8) {
            how.mipmapLevelBias = 0.40234375f + 0.001f;
            how.minMipmapLevelClamp = 0.7f;
            how.maxMipmapLevelClamp = 2.3f;
        }
        cudaTextureObject_t texture = texture_of(resource_of(made), how);
        const float step = i < 8 ? 1.0f / 512 : 1.0f / 65536;
        fine_levels<<<SAMPLES / 64, 64>>>(texture, step, answers);
        snprintf(name, sizeof name, "fine %d", i);
        show(name);
        CHECK(cudaFreeMipmappedArray(made));
    }
}

static void levels_of_shapes()
{
    const struct {
        const char *name;
        int width, height, depth, levels, flags, shape;
    } shapes[] = {{"1D", 37, 0, 0, 6, 0, LOD_1D},
                  {"2D", 16, 16, 0, 5, 0, LOD_2D},
                  {"2D odd", 37, 21, 0, 6, 0, LOD_2D},
                  {"2D few", 37, 21, 0, 3, 0, LOD_2D},
                  {"3D", 16, 9, 12, 5, 0, LOD_3D},
                  {"1D layered", 37, 0, 3, 6, cudaArrayLayered, LOD_1D_LAYERED},
                  {"2D layered", 37, 21, 3, 6, cudaArrayLayered, LOD_2D_LAYERED},
                  {"2D plain", 37, 21, 0, 6, 0, PLAIN_2D}};
    put_directions(place, 31);
    for (auto &s : shapes)
        for (int i = 0; i < 16; i++) {
            if (s.shape == LOD_3D && (i & 3) == 3) continue; // the device has no such thing
            char name[96];
            cudaMipmappedArray_t made =
                filled_levels<float>(s.width, s.height, s.depth, s.levels, s.flags);
            cudaTextureDesc how = plain();
            how.mipmapFilterMode = i & 1 ? cudaFilterModeLinear : cudaFilterModePoint;
            how.filterMode = i & 2 ? cudaFilterModeLinear : cudaFilterModePoint;
            for (auto &mode : how.addressMode) mode = (cudaTextureAddressMode)(i & 4 ? 1 : 0);
            if (i & 8) how.mipmapLevelBias = -0.6f;
            if (i & 8) how.minMipmapLevelClamp = 0.2f, how.maxMipmapLevelClamp = 1.8f;
            cudaTextureObject_t texture = texture_of(resource_of(made), how);
            by_level<<<SAMPLES / 64, 64>>>(texture, s.shape, directions, answers);
            snprintf(name, sizeof name, "%s%s, %d", i == 11 && strcmp(s.name, "2D") == 0 ? "~" : "",
                     s.name, i);
            show(name);
            CHECK(cudaFreeMipmappedArray(made));
        }
}

static void bytes()
{
    for (int i = 0; i < 4; i++) {
        char name[64];
        cudaMipmappedArray_t made = filled_levels<unsigned char>(16, 16, 0, 5, 0);
        cudaTextureDesc how = plain();
        how.mipmapFilterMode = i & 1 ? cudaFilterModeLinear : cudaFilterModePoint;
        how.filterMode = i & 2 ? cudaFilterModeLinear : cudaFilterModePoint;
        how.readMode = cudaReadModeNormalizedFloat;
        cudaTextureObject_t texture = texture_of(resource_of(made), how);
        by_level<<<SAMPLES / 64, 64>>>(texture, LOD_2D, directions, answers);
        snprintf(name, sizeof name, "bytes, %d", i);
        show(name);
        CHECK(cudaFreeMipmappedArray(made));
    }
}

int main(int argc, char **argv)
{
    begin(argc > 1 ? argv[1] : nullptr);
    arrays();
    textures();
    levels_finely();
    levels_of_shapes();
    bytes();
    return 0;
}
