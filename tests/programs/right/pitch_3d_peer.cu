// Right: pitched and 3D memory, sub-rectangle copies of all kinds, 2D memset, peer queries and a
// peer copy to the device itself.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

#define CK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t result = (call);                                                               \
        if (result != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cudaGetErrorString(result));                                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void addToRows(float *base, size_t pitch, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        float *row = (float *)((char *)base + y * pitch);
        row[x] += 100.0f * y;
    }
}

__global__ void scaleVolume(cudaPitchedPtr p, int w, int h, int d)
{
    size_t slice = p.pitch * h;
    for (int z = blockIdx.z; z < d; z += gridDim.z) {
        char *s = (char *)p.ptr + z * slice;
        for (int y = threadIdx.y; y < h; y += blockDim.y) {
            short *row = (short *)(s + y * p.pitch);
            for (int x = threadIdx.x; x < w; x += blockDim.x) row[x] = row[x] * 3 + z;
        }
    }
}

int main()
{
    int bad = 0;

    // ---- 2D ---------------------------------------------------------------------
    const int w = 77, h = 41;
    float *d;
    size_t pitch;
    CK(cudaMallocPitch(&d, &pitch, w * sizeof(float), h));
    if (pitch < w * sizeof(float)) {
        printf("pitch %zu\n", pitch);
        return 1;
    }
    float *hp;
    CK(cudaMallocHost(&hp, w * h * sizeof(float)));
    for (int i = 0; i < w * h; ++i) hp[i] = (float)(i % 90);
    cudaStream_t st;
    CK(cudaStreamCreate(&st));
    CK(cudaMemset2DAsync(d, pitch, 0, w * sizeof(float), h, st));
    // the middle of the picture only: 50 x 30 at (10, 5)
    const int rx = 10, ry = 5, rw = 50, rh = 30;
    CK(cudaMemcpy2DAsync((char *)d + ry * pitch + rx * sizeof(float), pitch, hp + ry * w + rx,
                         w * sizeof(float), rw * sizeof(float), rh, cudaMemcpyHostToDevice, st));
    addToRows<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8), 0, st>>>(d, pitch, w, h);
    CK(cudaGetLastError());
    std::vector<float> out(w * h, -1.0f);
    float *compact;
    CK(cudaMalloc(&compact, w * h * sizeof(float)));
    CK(cudaMemcpy2DAsync(compact, w * sizeof(float), d, pitch, w * sizeof(float), h,
                         cudaMemcpyDeviceToDevice, st));
    CK(cudaStreamSynchronize(st));
    CK(cudaMemcpy(out.data(), compact, w * h * sizeof(float), cudaMemcpyDeviceToHost));
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
            bool inside = x >= rx && x < rx + rw && y >= ry && y < ry + rh;
            float want = (inside ? hp[y * w + x] : 0.0f) + 100.0f * y;
            if (out[y * w + x] != want && bad++ < 5)
                printf("(%d,%d): %f, expected %f\n", x, y, out[y * w + x], want);
        }
    // a column as a strided copy
    std::vector<float> column(h);
    CK(cudaMemcpy2D(column.data(), sizeof(float), d + 33, pitch, sizeof(float), h,
                    cudaMemcpyDeviceToHost));
    for (int y = 0; y < h; ++y)
        if (column[y] != out[y * w + 33] && bad++ < 8) printf("column %d: %f\n", y, column[y]);

    // ---- 3D ---------------------------------------------------------------------
    const int X = 30, Y = 11, Z = 9;
    std::vector<short> vol(X * Y * Z), back(X * Y * Z, -7);
    for (size_t i = 0; i < vol.size(); ++i) vol[i] = (short)((i * 7) % 1000);
    cudaPitchedPtr a, b;
    CK(cudaMalloc3D(&a, make_cudaExtent(X * sizeof(short), Y, Z)));
    CK(cudaMalloc3D(&b, make_cudaExtent(X * sizeof(short), Y, Z)));
    CK(cudaMemset3D(b, 0xff, make_cudaExtent(X * sizeof(short), Y, Z)));
    cudaMemcpy3DParms up = {};
    up.srcPtr = make_cudaPitchedPtr(vol.data(), X * sizeof(short), X, Y);
    up.dstPtr = a;
    up.extent = make_cudaExtent(X * sizeof(short), Y, Z);
    up.kind = cudaMemcpyHostToDevice;
    CK(cudaMemcpy3D(&up));
    scaleVolume<<<dim3(1, 1, 4), dim3(16, 8)>>>(a, X, Y, Z);
    CK(cudaGetLastError());
    // a box of 12 x 5 x 4 from (3,2,1) to (8,4,5)
    cudaMemcpy3DParms box = {};
    box.srcPtr = a;
    box.srcPos = make_cudaPos(3 * sizeof(short), 2, 1);
    box.dstPtr = b;
    box.dstPos = make_cudaPos(8 * sizeof(short), 4, 5);
    box.extent = make_cudaExtent(12 * sizeof(short), 5, 4);
    box.kind = cudaMemcpyDeviceToDevice;
    CK(cudaMemcpy3DAsync(&box, st));
    cudaMemcpy3DParms down = {};
    down.srcPtr = b;
    down.dstPtr = make_cudaPitchedPtr(back.data(), X * sizeof(short), X, Y);
    down.extent = make_cudaExtent(X * sizeof(short), Y, Z);
    down.kind = cudaMemcpyDeviceToHost;
    CK(cudaMemcpy3DAsync(&down, st));
    CK(cudaStreamSynchronize(st));
    for (int z = 0; z < Z; ++z)
        for (int y = 0; y < Y; ++y)
            for (int x = 0; x < X; ++x) {
                short want = -1;
                int sx = x - 5, sy = y - 2, sz = z - 4;
                if (x >= 8 && x < 20 && y >= 4 && y < 9 && z >= 5 && z < 9)
                    want = (short)(vol[(sz * Y + sy) * X + sx] * 3 + sz);
                short got = back[(z * Y + y) * X + x];
                if (got != want && bad++ < 12)
                    printf("(%d,%d,%d): %d, expected %d\n", x, y, z, got, want);
            }

    // ---- peers --------------------------------------------------------------------
    int devices = 0, cur = 0;
    CK(cudaGetDeviceCount(&devices));
    CK(cudaGetDevice(&cur));
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            int can = -1;
            CK(cudaDeviceCanAccessPeer(&can, i, j));
            if (can != 0 && can != 1) {
                printf("peer access %d -> %d: %d\n", i, j, can);
                ++bad;
            }
            if (i != j) {
                int rank = 0, atomics = 0;
                CK(cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrPerformanceRank, i, j));
                CK(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, i, j));
            }
        }
    cudaError_t self = cudaDeviceEnablePeerAccess(cur, 0);
    if (self == cudaSuccess) {
        printf("the device became its own peer\n");
        ++bad;
    }
    (void)cudaGetLastError();
    char bus[32];
    CK(cudaDeviceGetPCIBusId(bus, sizeof(bus), cur));
    int again = -1;
    CK(cudaDeviceGetByPCIBusId(&again, bus));
    if (again != cur) {
        printf("bus id %s is device %d\n", bus, again);
        ++bad;
    }

    // a peer copy works without peer access, and within one device too
    CK(cudaMemset(d, 0, pitch * h));
    CK(cudaMemcpyPeerAsync(d, cur, compact, cur, w * sizeof(float), st));
    CK(cudaStreamSynchronize(st));
    std::vector<float> first(w);
    CK(cudaMemcpy(first.data(), d, w * sizeof(float), cudaMemcpyDeviceToHost));
    if (memcmp(first.data(), out.data(), w * sizeof(float)) != 0) {
        printf("the peer copy differs\n");
        ++bad;
    }

    CK(cudaStreamDestroy(st));
    CK(cudaFree(d));
    CK(cudaFree(compact));
    CK(cudaFree(a.ptr));
    CK(cudaFree(b.ptr));
    CK(cudaFreeHost(hp));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
