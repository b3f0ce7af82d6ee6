// Right: 2D convolution compiled at run time by NVRTC (template instances by name expression,
// defines, a constant symbol, an error log).
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvrtc.h>
#include <string>
#include <vector>

#define NVRTC_SAFE_CALL(x)                                                                         \
    do {                                                                                           \
        nvrtcResult result = x;                                                                    \
        if (result != NVRTC_SUCCESS) {                                                             \
            fprintf(stderr, "error: %s failed with %s\n", #x, nvrtcGetErrorString(result));        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define CU_SAFE_CALL(x)                                                                            \
    do {                                                                                           \
        CUresult result = x;                                                                       \
        if (result != CUDA_SUCCESS) {                                                              \
            const char *msg = "?";                                                                 \
            cuGetErrorName(result, &msg);                                                          \
            fprintf(stderr, "error: %s failed with %s\n", #x, msg);                                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define RT(x)                                                                                      \
    do {                                                                                           \
        cudaError_t e = x;                                                                         \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "error: %s: %s\n", #x, cudaGetErrorString(e));                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const char *kSource = R"(
#ifndef BX
#error BX must be defined
#endif
__constant__ float weights[MAXR * 2 + 1][MAXR * 2 + 1];

template <typename T, int R>
__global__ void conv2d(const T *in, T *out, int w, int h) {
    __shared__ T tile[BY + 2 * R][BX + 2 * R];
    const int x0 = blockIdx.x * BX - R, y0 = blockIdx.y * BY - R;
    for (int i = threadIdx.y * BX + threadIdx.x; i < (BX + 2 * R) * (BY + 2 * R); i += BX * BY) {
        int tx = i % (BX + 2 * R), ty = i / (BX + 2 * R);
        int x = x0 + tx, y = y0 + ty;
        tile[ty][tx] = x >= 0 && y >= 0 && x < w && y < h ? in[y * w + x] : T(0);
    }
    __syncthreads();
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x >= w || y >= h) return;
    T s = 0;
    #pragma unroll
    for (int j = 0; j <= 2 * R; ++j)
        #pragma unroll
        for (int i = 0; i <= 2 * R; ++i) s += T(weights[j][i]) * tile[threadIdx.y + j][threadIdx.x + i];
    out[y * w + x] = s;
}
)";

constexpr int BX = 16, BY = 8, MAXR = 3, D = 2 * MAXR + 1;

template <class T> static int check(CUfunction f, CUdeviceptr dW, int r, int w, int h)
{
    float wt[D][D] = {};
    for (int j = 0; j <= 2 * r; ++j)
        for (int i = 0; i <= 2 * r; ++i) wt[j][i] = (float)((j * 3 + i * 5) % 7) / 7.0f - 0.3f;
    std::vector<T> in(w * h), out(w * h);
    for (int i = 0; i < w * h; ++i) in[i] = (T)((i * 13) % 29) - (T)14;
    T *din, *dout;
    RT(cudaMalloc(&din, in.size() * sizeof(T)));
    RT(cudaMalloc(&dout, in.size() * sizeof(T)));
    RT(cudaMemcpy(din, in.data(), in.size() * sizeof(T), cudaMemcpyHostToDevice));
    CU_SAFE_CALL(cuMemcpyHtoD(dW, wt, sizeof(wt)));
    void *args[] = {&din, &dout, &w, &h};
    CU_SAFE_CALL(
        cuLaunchKernel(f, (w + BX - 1) / BX, (h + BY - 1) / BY, 1, BX, BY, 1, 0, 0, args, 0));
    RT(cudaMemcpy(out.data(), dout, out.size() * sizeof(T), cudaMemcpyDeviceToHost));
    RT(cudaFree(din));
    RT(cudaFree(dout));
    int bad = 0;
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
            double s = 0;
            for (int j = -r; j <= r; ++j)
                for (int i = -r; i <= r; ++i)
                    if (x + i >= 0 && y + j >= 0 && x + i < w && y + j < h)
                        s += (double)wt[j + r][i + r] * in[(y + j) * w + x + i];
            if (!(std::fabs(out[y * w + x] - s) < 1e-3) && bad++ < 3)
                printf("radius %d, (%d,%d): %f, expected %f\n", r, x, y, (double)out[y * w + x], s);
        }
    return bad;
}

int main()
{
    // a program that does not compile leaves a log
    nvrtcProgram broken;
    NVRTC_SAFE_CALL(nvrtcCreateProgram(&broken,
                                       "__global__ void k(int *p) { *p = undeclared_name; }",
                                       "broken.cu", 0, nullptr, nullptr));
    if (nvrtcCompileProgram(broken, 0, nullptr) != NVRTC_ERROR_COMPILATION) {
        printf("nonsense was compiled\n");
        return 1;
    }
    size_t logSize = 0;
    NVRTC_SAFE_CALL(nvrtcGetProgramLogSize(broken, &logSize));
    std::string log(logSize, '\0');
    NVRTC_SAFE_CALL(nvrtcGetProgramLog(broken, &log[0]));
    NVRTC_SAFE_CALL(nvrtcDestroyProgram(&broken));
    if (log.find("undeclared_name") == std::string::npos) {
        printf("unexpected log: %s\n", log.c_str());
        return 1;
    }

    // the real one
    nvrtcProgram prog;
    NVRTC_SAFE_CALL(nvrtcCreateProgram(&prog, kSource, "conv2d.cu", 0, nullptr, nullptr));
    const char *names[] = {"conv2d<float, 1>", "conv2d<float, 3>", "conv2d<double, 2>"};
    for (const char *n : names) NVRTC_SAFE_CALL(nvrtcAddNameExpression(prog, n));
    NVRTC_SAFE_CALL(nvrtcAddNameExpression(prog, "&weights"));
    const char *options[] = {"--gpu-architecture=compute_75",
                             "-DBX=16",
                             "-DBY=8",
                             "-DMAXR=3",
                             "--std=c++17",
                             "-lineinfo"};
    nvrtcResult res = nvrtcCompileProgram(prog, 6, options);
    if (res != NVRTC_SUCCESS) {
        NVRTC_SAFE_CALL(nvrtcGetProgramLogSize(prog, &logSize));
        log.assign(logSize, '\0');
        NVRTC_SAFE_CALL(nvrtcGetProgramLog(prog, &log[0]));
        printf("%s\n", log.c_str());
        return 1;
    }
    size_t ptxSize = 0;
    NVRTC_SAFE_CALL(nvrtcGetPTXSize(prog, &ptxSize));
    std::vector<char> ptx(ptxSize);
    NVRTC_SAFE_CALL(nvrtcGetPTX(prog, ptx.data()));

    RT(cudaFree(0)); // the runtime makes its context current
    CUmodule mod;
    CU_SAFE_CALL(cuModuleLoadData(&mod, ptx.data()));
    CUfunction f[3];
    const char *lowered;
    for (int i = 0; i < 3; ++i) {
        NVRTC_SAFE_CALL(nvrtcGetLoweredName(prog, names[i], &lowered));
        CU_SAFE_CALL(cuModuleGetFunction(&f[i], mod, lowered));
    }
    CUdeviceptr dW;
    size_t wBytes = 0;
    NVRTC_SAFE_CALL(nvrtcGetLoweredName(prog, "&weights", &lowered));
    CU_SAFE_CALL(cuModuleGetGlobal(&dW, &wBytes, mod, lowered));
    if (wBytes != sizeof(float) * D * D) {
        printf("weights has %zu bytes\n", wBytes);
        return 1;
    }
    NVRTC_SAFE_CALL(nvrtcDestroyProgram(&prog)); // the lowered names go with it

    int bad = check<float>(f[0], dW, 1, 61, 37);
    bad += check<float>(f[1], dW, 3, 50, 33);
    bad += check<double>(f[2], dW, 2, 40, 20);
    CU_SAFE_CALL(cuModuleUnload(mod));
    if (bad) {
        printf("%d wrong pixels\n", bad);
        return 1;
    }
    printf("PASS\n");
    return 0;
}
