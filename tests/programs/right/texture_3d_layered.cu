// Right: 3D texture with trilinear filtering, 3D surface writes, layered 2D texture and surface,
// cudaMemcpy3D to and from arrays.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

static void must(cudaError_t e, const char *expr, int line)
{
    if (e == cudaSuccess) return;
    fprintf(stderr, "%d: %s failed: %s\n", line, expr, cudaGetErrorString(e));
    exit(2);
}
#define MUST(x) must((x), #x, __LINE__)

constexpr int NX = 20, NY = 14, NZ = 10;
constexpr int LW = 24, LH = 16, LAYERS = 5;

__global__ void resample(cudaTextureObject_t vol, float *out, int ox, int oy, int oz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ox * oy * oz) return;
    int x = i % ox, y = i / ox % oy, z = i / (ox * oy);
    // voxel centres are at +0.5; the field is linear so any weights that interpolate reproduce it
    float fx = 0.5f + (NX - 1) * (x / (float)(ox - 1));
    float fy = 0.5f + (NY - 1) * (y / (float)(oy - 1));
    float fz = 0.5f + (NZ - 1) * (z / (float)(oz - 1));
    out[i] = tex3D<float>(vol, fx, fy, fz);
}

__global__ void stamp(cudaSurfaceObject_t s, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z;
    if (x < nx && y < ny && z < nz)
        surf3Dwrite(make_int2(x + 100 * y, z), s, x * (int)sizeof(int2), y, z);
}

__global__ void shiftLayers(cudaTextureObject_t in, cudaSurfaceObject_t out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= LW || y >= LH) return;
    for (int l = 0; l < LAYERS; ++l) {
        float a = tex2DLayered<float>(in, x + 0.5f, y + 0.5f, l);
        float b = tex2DLayered<float>(in, x + 1.5f, y + 0.5f, (l + 1) % LAYERS);
        surf2DLayeredwrite(a - 2.0f * b, out, x * (int)sizeof(float), y, l);
    }
}

int main()
{
    int bad = 0;

    // ---- volume -----------------------------------------------------------
    std::vector<float> vol(NX * NY * NZ);
    auto field = [](float x, float y, float z) { return 3.0f * x - 2.0f * y + 5.0f * z + 1.0f; };
    for (int z = 0; z < NZ; ++z)
        for (int y = 0; y < NY; ++y)
            for (int x = 0; x < NX; ++x) vol[(z * NY + y) * NX + x] = field(x, y, z);

    cudaChannelFormatDesc fd = cudaCreateChannelDesc<float>();
    cudaArray_t a3;
    MUST(cudaMalloc3DArray(&a3, &fd, make_cudaExtent(NX, NY, NZ), 0));
    cudaMemcpy3DParms up = {};
    up.srcPtr = make_cudaPitchedPtr(vol.data(), NX * sizeof(float), NX, NY);
    up.dstArray = a3;
    up.extent = make_cudaExtent(NX, NY, NZ);
    up.kind = cudaMemcpyHostToDevice;
    MUST(cudaMemcpy3D(&up));

    cudaResourceDesc rd = {};
    rd.resType = cudaResourceTypeArray;
    rd.res.array.array = a3;
    cudaTextureDesc td = {};
    td.addressMode[0] = td.addressMode[1] = td.addressMode[2] = cudaAddressModeClamp;
    td.filterMode = cudaFilterModeLinear;
    td.readMode = cudaReadModeElementType;
    cudaTextureObject_t tex;
    MUST(cudaCreateTextureObject(&tex, &rd, &td, nullptr));

    const int ox = 33, oy = 17, oz = 11, on = ox * oy * oz;
    float *dOut;
    MUST(cudaMalloc(&dOut, on * sizeof(float)));
    resample<<<(on + 127) / 128, 128>>>(tex, dOut, ox, oy, oz);
    MUST(cudaGetLastError());
    std::vector<float> out(on);
    MUST(cudaMemcpy(out.data(), dOut, on * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < on; ++i) {
        int x = i % ox, y = i / ox % oy, z = i / (ox * oy);
        float want = field((NX - 1) * (x / (float)(ox - 1)), (NY - 1) * (y / (float)(oy - 1)),
                           (NZ - 1) * (z / (float)(oz - 1)));
        // the fraction is rounded to 1/256 in each direction: at most (3 + 2 + 5) / 256 and a bit
        if (std::fabs(out[i] - want) > 0.06f && bad++ < 5)
            printf("volume %d %d %d: %f, expected %f\n", x, y, z, out[i], want);
    }

    // ---- 3D surface -------------------------------------------------------
    cudaChannelFormatDesc id = cudaCreateChannelDesc<int2>();
    cudaArray_t as;
    MUST(cudaMalloc3DArray(&as, &id, make_cudaExtent(NX, NY, NZ), cudaArraySurfaceLoadStore));
    cudaResourceDesc rs = {};
    rs.resType = cudaResourceTypeArray;
    rs.res.array.array = as;
    cudaSurfaceObject_t surf;
    MUST(cudaCreateSurfaceObject(&surf, &rs));
    stamp<<<dim3((NX + 7) / 8, (NY + 7) / 8, NZ), dim3(8, 8)>>>(surf, NX, NY, NZ);
    MUST(cudaGetLastError());
    std::vector<int2> cells(NX * NY * NZ);
    cudaMemcpy3DParms down = {};
    down.srcArray = as;
    down.dstPtr = make_cudaPitchedPtr(cells.data(), NX * sizeof(int2), NX, NY);
    down.extent = make_cudaExtent(NX, NY, NZ);
    down.kind = cudaMemcpyDeviceToHost;
    MUST(cudaMemcpy3D(&down));
    for (int i = 0; i < NX * NY * NZ; ++i) {
        int x = i % NX, y = i / NX % NY, z = i / (NX * NY);
        if ((cells[i].x != x + 100 * y || cells[i].y != z) && bad++ < 10)
            printf("surface %d %d %d: %d %d\n", x, y, z, cells[i].x, cells[i].y);
    }

    // ---- layers -----------------------------------------------------------
    std::vector<float> lay(LW * LH * LAYERS), lgot(LW * LH * LAYERS);
    for (size_t i = 0; i < lay.size(); ++i) lay[i] = (float)((i * 29) % 113);
    cudaArray_t al, ao;
    MUST(cudaMalloc3DArray(&al, &fd, make_cudaExtent(LW, LH, LAYERS), cudaArrayLayered));
    MUST(cudaMalloc3DArray(&ao, &fd, make_cudaExtent(LW, LH, LAYERS),
                           cudaArrayLayered | cudaArraySurfaceLoadStore));
    cudaMemcpy3DParms lu = {};
    lu.srcPtr = make_cudaPitchedPtr(lay.data(), LW * sizeof(float), LW, LH);
    lu.dstArray = al;
    lu.extent = make_cudaExtent(LW, LH, LAYERS);
    lu.kind = cudaMemcpyHostToDevice;
    MUST(cudaMemcpy3D(&lu));
    cudaResourceDesc rl = {}, ro = {};
    rl.resType = ro.resType = cudaResourceTypeArray;
    rl.res.array.array = al;
    ro.res.array.array = ao;
    cudaTextureDesc ld = {};
    ld.addressMode[0] = ld.addressMode[1] = cudaAddressModeClamp;
    ld.filterMode = cudaFilterModePoint;
    cudaTextureObject_t tl;
    cudaSurfaceObject_t so;
    MUST(cudaCreateTextureObject(&tl, &rl, &ld, nullptr));
    MUST(cudaCreateSurfaceObject(&so, &ro));
    shiftLayers<<<dim3((LW + 7) / 8, (LH + 7) / 8), dim3(8, 8)>>>(tl, so);
    MUST(cudaGetLastError());
    cudaMemcpy3DParms ldn = {};
    ldn.srcArray = ao;
    ldn.dstPtr = make_cudaPitchedPtr(lgot.data(), LW * sizeof(float), LW, LH);
    ldn.extent = make_cudaExtent(LW, LH, LAYERS);
    ldn.kind = cudaMemcpyDeviceToHost;
    MUST(cudaMemcpy3D(&ldn));
    for (int l = 0; l < LAYERS; ++l)
        for (int y = 0; y < LH; ++y)
            for (int x = 0; x < LW; ++x) {
                int xr = x + 1 < LW ? x + 1 : LW - 1;
                float want = lay[(l * LH + y) * LW + x] -
                             2.0f * lay[(((l + 1) % LAYERS) * LH + y) * LW + xr];
                float got = lgot[(l * LH + y) * LW + x];
                if (got != want && bad++ < 15)
                    printf("layer %d (%d,%d): %f, expected %f\n", l, x, y, got, want);
            }

    MUST(cudaDestroyTextureObject(tex));
    MUST(cudaDestroyTextureObject(tl));
    MUST(cudaDestroySurfaceObject(surf));
    MUST(cudaDestroySurfaceObject(so));
    MUST(cudaFreeArray(a3));
    MUST(cudaFreeArray(as));
    MUST(cudaFreeArray(al));
    MUST(cudaFreeArray(ao));
    MUST(cudaFree(dOut));
    if (bad) {
        printf("%d differences\n", bad);
        return 1;
    }
    printf("PASS\n");
    return 0;
}
