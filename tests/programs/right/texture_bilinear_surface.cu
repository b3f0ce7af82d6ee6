// Right: 2D textures with bilinear filtering and address modes, surface writes, linear-memory and
// pitched textures.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

#define CK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t e = (x);                                                                       \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #x, cudaGetErrorString(e));             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int W = 64, H = 40;

__host__ __device__ inline float pattern(int x, int y)
{
    return (float)((x * 7 + y * 13) % 32);
}

__global__ void paint(cudaSurfaceObject_t surf)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H) surf2Dwrite(pattern(x, y), surf, x * (int)sizeof(float), y);
}

// in place: every thread reads and writes only its own element
__global__ void invert(cudaSurfaceObject_t surf, float top)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H) {
        float v;
        surf2Dread(&v, surf, x * (int)sizeof(float), y);
        surf2Dwrite(top - v, surf, x * (int)sizeof(float), y);
    }
}

__global__ void sample(cudaTextureObject_t tex, float *out, int w, int h, float du, float dv)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = tex2D<float>(tex, (x + 0.5f) / w * 1.5f + du, (y + 0.5f) / h * 1.5f + dv);
}

__global__ void grey(cudaTextureObject_t tex, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        float4 c = tex2D<float4>(tex, x - 1, y - 1); // border around the image
        out[y * w + x] = 0.25f * c.x + 0.5f * c.y + 0.125f * c.z + 0.125f * c.w;
    }
}

__global__ void gather(cudaTextureObject_t lin, cudaTextureObject_t pitched, int *out, int n, int w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex1Dfetch<int>(lin, n - 1 - i) +
                 1000 * tex2D<int>(pitched, i % w + 0.5f, i / w + 0.5f);
}

static int address(int i, int n, cudaTextureAddressMode m)
{
    if (m == cudaAddressModeWrap) return ((i % n) + n) % n;
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static float bilinear(const std::vector<float> &img, float u, float v, cudaTextureAddressMode m)
{
    float x = u * W - 0.5f, y = v * H - 0.5f;
    int i = (int)std::floor(x), j = (int)std::floor(y);
    float a = x - i, b = y - j;
    auto at = [&](int xx, int yy) { return img[address(yy, H, m) * W + address(xx, W, m)]; };
    return (1 - a) * (1 - b) * at(i, j) + a * (1 - b) * at(i + 1, j) + (1 - a) * b * at(i, j + 1) +
           a * b * at(i + 1, j + 1);
}

int main()
{
    int bad = 0;
    dim3 blk(16, 8), grd((W + 15) / 16, (H + 7) / 8);

    // an array that is written as a surface and read as a texture
    cudaChannelFormatDesc fd = cudaCreateChannelDesc<float>();
    cudaArray_t arr;
    CK(cudaMallocArray(&arr, &fd, W, H, cudaArraySurfaceLoadStore));
    cudaResourceDesc res = {};
    res.resType = cudaResourceTypeArray;
    res.res.array.array = arr;
    cudaSurfaceObject_t surf;
    CK(cudaCreateSurfaceObject(&surf, &res));
    paint<<<grd, blk>>>(surf);
    invert<<<grd, blk>>>(surf, 31.0f);
    CK(cudaGetLastError());
    std::vector<float> img(W * H), back(W * H);
    for (int i = 0; i < W * H; ++i) img[i] = 31.0f - pattern(i % W, i / W);
    CK(cudaMemcpy2DFromArray(back.data(), W * sizeof(float), arr, 0, 0, W * sizeof(float), H,
                             cudaMemcpyDeviceToHost));
    if (back != img) {
        printf("surface contents differ\n");
        ++bad;
    }

    const int ow = 50, oh = 30;
    float *dout;
    CK(cudaMalloc(&dout, ow * oh * sizeof(float)));
    std::vector<float> out(ow * oh);
    for (cudaTextureAddressMode mode : {cudaAddressModeClamp, cudaAddressModeWrap}) {
        cudaTextureDesc td = {};
        td.addressMode[0] = td.addressMode[1] = mode;
        td.filterMode = cudaFilterModeLinear;
        td.readMode = cudaReadModeElementType;
        td.normalizedCoords = 1;
        cudaTextureObject_t tex;
        CK(cudaCreateTextureObject(&tex, &res, &td, nullptr));
        sample<<<dim3((ow + 15) / 16, (oh + 7) / 8), blk>>>(tex, dout, ow, oh, -0.23f, -0.17f);
        CK(cudaGetLastError());
        CK(cudaMemcpy(out.data(), dout, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
        for (int i = 0; i < ow * oh; ++i) {
            float u = (i % ow + 0.5f) / ow * 1.5f - 0.23f, v = (i / ow + 0.5f) / oh * 1.5f - 0.17f;
            float want = bilinear(img, u, v, mode);
            // weights have eight fractional bits; the values span 31
            if (std::fabs(out[i] - want) > 31.0f * 2.5f / 256.0f && bad++ < 5)
                printf("mode %d pixel %d: %f, expected %f\n", (int)mode, i, out[i], want);
        }
        CK(cudaDestroyTextureObject(tex));
    }
    CK(cudaFree(dout));

    // uchar4 read as normalised floats with a black border
    std::vector<uchar4> rgba(20 * 10);
    for (int i = 0; i < 200; ++i) rgba[i] = make_uchar4(i, 255 - i, (i * 3) & 255, 255);
    cudaChannelFormatDesc cd = cudaCreateChannelDesc<uchar4>();
    cudaArray_t arr4;
    CK(cudaMallocArray(&arr4, &cd, 20, 10));
    CK(cudaMemcpy2DToArray(arr4, 0, 0, rgba.data(), 20 * 4, 20 * 4, 10, cudaMemcpyHostToDevice));
    res.res.array.array = arr4;
    cudaTextureDesc bd = {};
    bd.addressMode[0] = bd.addressMode[1] = cudaAddressModeBorder;
    bd.filterMode = cudaFilterModePoint;
    bd.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t t4;
    CK(cudaCreateTextureObject(&t4, &res, &bd, nullptr));
    const int gw = 22, gh = 12;
    std::vector<float> g(gw * gh);
    CK(cudaMalloc(&dout, g.size() * sizeof(float)));
    grey<<<dim3(2, 2), blk>>>(t4, dout, gw, gh);
    CK(cudaGetLastError());
    CK(cudaMemcpy(g.data(), dout, g.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (int y = 0; y < gh; ++y)
        for (int x = 0; x < gw; ++x) {
            float want = 0;
            if (x >= 1 && y >= 1 && x <= 20 && y <= 10) {
                uchar4 c = rgba[(y - 1) * 20 + x - 1];
                want = (0.25f * c.x + 0.5f * c.y + 0.125f * c.z + 0.125f * c.w) / 255.0f;
            }
            if (std::fabs(g[y * gw + x] - want) > 1e-5f && bad++ < 9)
                printf("grey(%d,%d): %f, expected %f\n", x, y, g[y * gw + x], want);
        }

    // textures over linear and pitched memory
    const int pw = 30, ph = 9, n = pw * ph;
    std::vector<int> lin(n), pit(n), got(n);
    for (int i = 0; i < n; ++i) {
        lin[i] = i * 3 - 50;
        pit[i] = (i * 11) % 97;
    }
    int *dLin, *dPit, *dOutI;
    size_t pitch;
    CK(cudaMalloc(&dLin, n * sizeof(int)));
    CK(cudaMallocPitch(&dPit, &pitch, pw * sizeof(int), ph));
    CK(cudaMalloc(&dOutI, n * sizeof(int)));
    CK(cudaMemcpy(dLin, lin.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CK(cudaMemcpy2D(dPit, pitch, pit.data(), pw * sizeof(int), pw * sizeof(int), ph,
                    cudaMemcpyHostToDevice));
    cudaResourceDesc rl = {}, rp = {};
    rl.resType = cudaResourceTypeLinear;
    rl.res.linear.devPtr = dLin;
    rl.res.linear.desc = cudaCreateChannelDesc<int>();
    rl.res.linear.sizeInBytes = n * sizeof(int);
    rp.resType = cudaResourceTypePitch2D;
    rp.res.pitch2D.devPtr = dPit;
    rp.res.pitch2D.desc = cudaCreateChannelDesc<int>();
    rp.res.pitch2D.width = pw;
    rp.res.pitch2D.height = ph;
    rp.res.pitch2D.pitchInBytes = pitch;
    cudaTextureDesc pd = {};
    pd.addressMode[0] = pd.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t tl, tp;
    CK(cudaCreateTextureObject(&tl, &rl, &pd, nullptr));
    CK(cudaCreateTextureObject(&tp, &rp, &pd, nullptr));
    gather<<<(n + 63) / 64, 64>>>(tl, tp, dOutI, n, pw);
    CK(cudaGetLastError());
    CK(cudaMemcpy(got.data(), dOutI, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
        if (got[i] != lin[n - 1 - i] + 1000 * pit[i] && bad++ < 12)
            printf("gather[%d] = %d\n", i, got[i]);

    CK(cudaDestroyTextureObject(t4));
    CK(cudaDestroyTextureObject(tl));
    CK(cudaDestroyTextureObject(tp));
    CK(cudaDestroySurfaceObject(surf));
    CK(cudaFreeArray(arr));
    CK(cudaFreeArray(arr4));
    cudaFree(dout);
    cudaFree(dLin);
    cudaFree(dPit);
    cudaFree(dOutI);
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
