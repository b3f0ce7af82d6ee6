// Right: driver API: PTX from a string and from a file, module globals, both ways of passing
// arguments, streams and events.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <unistd.h>
#include <vector>

#define CU(x)                                                                                      \
    do {                                                                                           \
        CUresult r_ = (x);                                                                         \
        if (r_ != CUDA_SUCCESS) {                                                                  \
            fprintf(stderr, "%s -> %d (line %d)\n", #x, (int)r_, __LINE__);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const char *kPtx = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .global .align 4 .u32 launches = 7;
.visible .const .align 4 .f32 gain = 0f40000000;      // 2.0
.visible .entry saxpy(.param .u64 px, .param .u64 py, .param .f32 pa, .param .u32 pn)
{
    .reg .pred  %p<3>;
    .reg .b32   %r<8>;
    .reg .f32   %f<6>;
    .reg .b64   %d<8>;

    ld.param.u64    %d1, [px];
    ld.param.u64    %d2, [py];
    ld.param.f32    %f1, [pa];
    ld.param.u32    %r1, [pn];
    mov.u32         %r2, %ctaid.x;
    mov.u32         %r3, %ntid.x;
    mov.u32         %r4, %tid.x;
    mad.lo.s32      %r5, %r2, %r3, %r4;
    setp.ne.u32     %p2, %r5, 0;
    @%p2 bra        WORK;
    mov.u64         %d6, launches;
    red.global.add.u32 [%d6], 1;
WORK:
    setp.ge.u32     %p1, %r5, %r1;
    @%p1 bra        DONE;
    cvta.to.global.u64 %d1, %d1;
    cvta.to.global.u64 %d2, %d2;
    mul.wide.u32    %d3, %r5, 4;
    add.s64         %d4, %d1, %d3;
    add.s64         %d5, %d2, %d3;
    ld.global.f32   %f2, [%d4];
    ld.global.f32   %f3, [%d5];
    ld.const.f32    %f4, [gain];
    mul.rn.f32      %f1, %f1, %f4;
    fma.rn.f32      %f3, %f2, %f1, %f3;
    st.global.f32   [%d5], %f3;
DONE:
    ret;
}
)";

static const char *kPtxFile = R"(
.version 6.4
.target sm_75
.address_size 64
// every block of 64 reverses its own 64 words
.visible .entry reverse64(.param .u64 pv)
{
    .shared .align 4 .b8 buf[256];
    .reg .b32   %r<12>;
    .reg .b64   %d<6>;

    ld.param.u64    %d1, [pv];
    cvta.to.global.u64 %d1, %d1;
    mov.u32         %r1, %ctaid.x;
    mov.u32         %r2, %tid.x;
    shl.b32         %r3, %r1, 6;
    add.u32         %r3, %r3, %r2;
    mul.wide.u32    %d2, %r3, 4;
    add.s64         %d3, %d1, %d2;
    ld.global.u32   %r4, [%d3];
    mov.u32         %r5, buf;
    shl.b32         %r6, %r2, 2;
    add.u32         %r7, %r5, %r6;
    st.shared.u32   [%r7], %r4;
    bar.sync        0;
    sub.u32         %r8, 252, %r6;
    add.u32         %r9, %r5, %r8;
    ld.shared.u32   %r10, [%r9];
    st.global.u32   [%d3], %r10;
    ret;
}
)";

int main()
{
    CU(cuInit(0));
    int count = 0;
    CU(cuDeviceGetCount(&count));
    if (count == 0) {
        printf("no device\n");
        return 1;
    }
    CUdevice dev;
    CU(cuDeviceGet(&dev, 0));
    CUcontext ctx;
    CU(cuDevicePrimaryCtxRetain(&ctx, dev));
    CU(cuCtxSetCurrent(ctx));

    // the string, with the compiler's log at hand
    char info[2048] = "", error[2048] = "";
    CUjit_option opts[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                           CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *vals[] = {info, (void *)sizeof(info), error, (void *)sizeof(error)};
    CUmodule mod, fileMod;
    CUresult rc = cuModuleLoadDataEx(&mod, kPtx, 4, opts, vals);
    if (rc != CUDA_SUCCESS) {
        fprintf(stderr, "load failed (%d): %s\n", (int)rc, error);
        return 1;
    }
    CUfunction saxpy, none;
    CU(cuModuleGetFunction(&saxpy, mod, "saxpy"));
    if (cuModuleGetFunction(&none, mod, "no_such_kernel") != CUDA_ERROR_NOT_FOUND) {
        printf("found a kernel that is not there\n");
        return 1;
    }

    // the file
    char path[] = "reverse64_XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) {
        perror("mkstemp");
        return 1;
    }
    size_t len = strlen(kPtxFile);
    if (write(fd, kPtxFile, len) != (ssize_t)len) {
        perror("write");
        return 1;
    }
    close(fd);
    rc = cuModuleLoad(&fileMod, path);
    unlink(path);
    CU(rc);
    CUfunction reverse;
    CU(cuModuleGetFunction(&reverse, fileMod, "reverse64"));
    int maxThreads = 0, smem = 0;
    CU(cuFuncGetAttribute(&maxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, reverse));
    CU(cuFuncGetAttribute(&smem, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, reverse));
    if (maxThreads < 64 || smem < 256) {
        printf("attributes: %d threads, %d bytes\n", maxThreads, smem);
        return 1;
    }

    const unsigned n = 3000, words = 64 * 20;
    std::vector<float> x(n), y(n), got(n);
    for (unsigned i = 0; i < n; ++i) {
        x[i] = (float)(i % 50);
        y[i] = 1.0f + i % 3;
    }
    CUdeviceptr dx, dy, dv, dCount, dGain;
    size_t bytes = 0;
    CU(cuMemAlloc(&dx, n * sizeof(float)));
    CU(cuMemAlloc(&dy, n * sizeof(float)));
    CU(cuMemAlloc(&dv, words * sizeof(unsigned)));
    CU(cuMemcpyHtoD(dx, x.data(), n * sizeof(float)));
    CU(cuMemcpyHtoD(dy, y.data(), n * sizeof(float)));
    CU(cuModuleGetGlobal(&dCount, &bytes, mod, "launches"));
    if (bytes != 4) {
        printf("launches has %zu bytes\n", bytes);
        return 1;
    }
    CU(cuModuleGetGlobal(&dGain, &bytes, mod, "gain"));

    CUstream st;
    CUevent ev;
    CU(cuStreamCreate(&st, CU_STREAM_DEFAULT)); // waits for the plain copies in the null stream
    CU(cuEventCreate(&ev, CU_EVENT_DISABLE_TIMING));

    // three launches: gain 2, gain 2 (packed arguments), gain 3
    float a = 0.5f;
    unsigned nn = n;
    void *params[] = {&dx, &dy, &a, &nn};
    CU(cuLaunchKernel(saxpy, (n + 127) / 128, 1, 1, 128, 1, 1, 0, st, params, nullptr));
    struct {
        CUdeviceptr x, y;
        float a;
        unsigned n;
    } packed = {dx, dy, 1.5f, n};
    size_t packedSize = sizeof(packed);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &packedSize, CU_LAUNCH_PARAM_END};
    CU(cuLaunchKernel(saxpy, (n + 255) / 256, 1, 1, 256, 1, 1, 0, st, nullptr, extra));
    CU(cuStreamSynchronize(st));
    float gain = 3.0f;
    CU(cuMemcpyHtoD(dGain, &gain, sizeof(gain)));
    a = 1.0f;
    CU(cuLaunchKernel(saxpy, (n + 63) / 64, 1, 1, 64, 1, 1, 0, st, params, nullptr));
    CU(cuEventRecord(ev, st));
    CU(cuEventSynchronize(ev));
    unsigned launches = 0;
    CU(cuMemcpyDtoH(got.data(), dy, n * sizeof(float)));
    CU(cuMemcpyDtoH(&launches, dCount, sizeof(launches)));
    int bad = 0;
    if (launches != 10) {
        printf("launches = %u, expected 10\n", launches);
        ++bad;
    }
    for (unsigned i = 0; i < n; ++i) {
        float want = y[i] + x[i] * (1.0f + 3.0f + 3.0f);
        if (std::fabs(got[i] - want) > 1e-3f && bad++ < 5)
            printf("y[%u] = %f, expected %f\n", i, got[i], want);
    }

    std::vector<unsigned> v(words), w(words);
    for (unsigned i = 0; i < words; ++i) v[i] = i * 2654435761u;
    CU(cuMemcpyHtoDAsync(dv, v.data(), words * sizeof(unsigned), st));
    CU(cuMemsetD32Async(dv, 0xabcd1234u, 64, st)); // the first block gets a constant
    void *rp[] = {&dv};
    CU(cuLaunchKernel(reverse, words / 64, 1, 1, 64, 1, 1, 0, st, rp, nullptr));
    CU(cuMemcpyDtoHAsync(w.data(), dv, words * sizeof(unsigned), st));
    CU(cuStreamSynchronize(st));
    for (unsigned i = 0; i < words; ++i) {
        unsigned want = i < 64 ? 0xabcd1234u : v[i / 64 * 64 + 63 - i % 64];
        if (w[i] != want && bad++ < 9) printf("word %u is %08x, expected %08x\n", i, w[i], want);
    }

    CU(cuEventDestroy(ev));
    CU(cuStreamDestroy(st));
    for (CUdeviceptr p : {dx, dy, dv}) CU(cuMemFree(p));
    for (CUmodule m : {mod, fileMod}) CU(cuModuleUnload(m));
    CU(cuDevicePrimaryCtxRelease(dev));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
