/* Limits, flags, devices, resets: each program in a process of its own, with some calls before CUDA
 * is initialised. */
#include "tests/differential_api/program.h"

static void limit(struct program *p, void *self)
{
    int which = PICK(p, int, 0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 99);
    size_t value = PICK(p, size_t, 0, 1, 1000, 1024, 4096, 65536, 524288, 1 << 20, (size_t)1 << 40),
           got = 77;
    (void)self;
    if (which >= 5) value = 64;
    if (chance(p, 50) && !(which > 2 && which < 5)) {
        bool huge = value > 1 << 20;
        if (huge && which == 2) return; /* the amount depends on the device */
        rt(p, cudaDeviceSetLimit((enum cudaLimit)which, value), "cudaDeviceSetLimit(%d, %zu)",
           which, value);
    }
    rt(p, cudaDeviceGetLimit(&got, (enum cudaLimit)which), "cudaDeviceGetLimit(%d)", which);
    if (which < 3) note(p, "%zu", got);
}

static void flags(struct program *p, void *self)
{
    unsigned value = PICK(p, unsigned, 0, 1, 2, 3, 4, 8, 16, 24, 32, 0x4000), got = 77;
    (void)self;
    if (chance(p, 60)) rt(p, cudaSetDeviceFlags(value), "cudaSetDeviceFlags(%u)", value);
    rt(p, cudaGetDeviceFlags(&got), "cudaGetDeviceFlags()");
    note(p, "%u", got);
}

static void device(struct program *p, void *self)
{
    int value = 77, count = 0;
    CUdevice handle = 77;
    (void)self;
    cudaGetDeviceCount(&count);
    switch (draw(p, 9)) {
    case 0:
        value = PICK(p, int, 0, 0, 99, -1);
        rt(p, cudaSetDevice(value), "cudaSetDevice(%d)", value);
        break;
    case 1:
        rt(p, cudaGetDevice(&value), "cudaGetDevice()");
        note(p, "%d", value);
        break;
    case 2:
        rt(p, cudaGetDevice(NULL), "cudaGetDevice(NULL)");
        break;
    case 3:
        rt(p, cudaGetDeviceCount(NULL), "cudaGetDeviceCount(NULL)");
        break;
    case 4:
        dr(p, cuDeviceGet(&handle, 0), "cuDeviceGet(0)");
        note(p, "%d", handle);
        break;
    case 5:
        dr(p, cuDeviceGet(&handle, 99), "cuDeviceGet(99)");
        break;
    case 6:
        value = PICK(p, int, 1, 10, 13, 39, 0, 9999, -1);
        handle = 77;
        rt(p, cudaDeviceGetAttribute(&handle, (enum cudaDeviceAttr)value, 0),
           "cudaDeviceGetAttribute(%d)", value);
        if (value == 1 || value == 10) note(p, "%d", handle); /* threads of a block, of a warp */
        break;
    case 7:
        rt(p, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99),
           "cudaDeviceGetAttribute(warp, 99)");
        break;
    default:
        rt(p, cudaInitDevice(0, 0, PICK(p, unsigned, 0, 1, 99)), "cudaInitDevice(0)");
        break;
    }
}

static void reset(struct program *p, void *self)
{
    void *memory = NULL;
    (void)self;
    rt(p, cudaMalloc(&memory, 64), "cudaMalloc(&a, 64)");
    if (chance(p, 50)) rt(p, cudaDeviceSynchronize(), "cudaDeviceSynchronize()");
    rt(p, cudaDeviceReset(), "cudaDeviceReset()");
    rt(p, cudaFree(memory), "cudaFree(a)");
    rt(p, cudaGetLastError(), "cudaGetLastError()");
}

static void configurations(struct program *p, void *self)
{
    enum cudaFuncCache cache = 77;
    int value = PICK(p, int, 0, 1, 2, 3, 4, -1);
    (void)self;
    switch (draw(p, 3)) {
    case 0:
        rt(p, cudaDeviceSetCacheConfig((enum cudaFuncCache)value), "cudaDeviceSetCacheConfig(%d)",
           value);
        break;
    case 1:
        rt(p, cudaDeviceGetCacheConfig(&cache), "cudaDeviceGetCacheConfig()");
        note(p, "%d", (int)cache);
        break;
    default:
        rt(p, cudaFuncSetCacheConfig(NULL, cudaFuncCachePreferL1), "cudaFuncSetCacheConfig(NULL)");
        break;
    }
}

static void driver(struct program *p, void *self)
{
    int value = 77;
    CUcontext context = NULL;
    (void)self;
    switch (draw(p, 7)) {
    case 0:
        value = PICK(p, int, 0, 0, 1);
        dr(p, cuInit((unsigned)value), "cuInit(%d)", value);
        break;
    case 1:
        dr(p, cuDeviceGetCount(&value), "cuDeviceGetCount()");
        break;
    case 2:
        dr(p, cuCtxGetCurrent(&context), "cuCtxGetCurrent()");
        note(p, "none: %d", context == NULL);
        break;
    case 3:
        dr(p, cuCtxSynchronize(), "cuCtxSynchronize()");
        break;
    case 4:
        dr(p, cuDriverGetVersion(NULL), "cuDriverGetVersion(NULL)");
        break;
    case 5:
        rt(p, cudaDriverGetVersion(NULL), "cudaDriverGetVersion(NULL)");
        break;
    default:
        value = PICK(p, int, 0, 1, 4, 8, 16, 0x4000);
        dr(p, cuDevicePrimaryCtxSetFlags(0, (unsigned)value), "cuDevicePrimaryCtxSetFlags(%d)",
           value);
        break;
    }
}

static void errors(struct program *p, void *self)
{
    const char *text = NULL;
    int code = PICK(p, int, 0, 1, 2, 3, 4, 11, 12, 13, 21, 98, 100, 101, 201, 209, 400, 401, 600,
                    700, 709, 710, 716, 718, 719, 720, 800, 801, 900, 999, 1234, -1);
    (void)self;
    switch (draw(p, 5)) {
    case 0:
        note(p, "cudaGetErrorName(%d): %s", code, cudaGetErrorName((cudaError_t)code));
        break;
    case 1:
        note(p, "cudaGetErrorString(%d): %s", code, cudaGetErrorString((cudaError_t)code));
        break;
    case 2:
        dr(p, cuGetErrorName((CUresult)code, &text), "cuGetErrorName(%d)", code);
        note(p, "%s", text != NULL ? text : "null");
        break;
    case 3:
        dr(p, cuGetErrorString((CUresult)code, &text), "cuGetErrorString(%d)", code);
        note(p, "%s", text != NULL ? text : "null");
        break;
    default:
        rt(p, chance(p, 50) ? cudaPeekAtLastError() : cudaGetLastError(), "the last error");
        break;
    }
}

static const struct action actions[] = {
    {"limit", 14, limit},   {"flags", 8, flags},    {"device", 14, device},
    {"reset", 4, reset},    {"driver", 10, driver}, {"configurations", 6, configurations},
    {"errors", 14, errors},
};

void family_settings(struct program *p)
{
    for (unsigned left = 20 + draw(p, 20); left > 0; left--) ACT(p, actions, NULL);
}
