// What the driver answers when code is linked and loaded at run time, and when memory is put
// together from addresses and pieces: error codes, which call gives them, what stays possible.
//
//     nvcc -cudart shared -gencode arch=compute_75,code=compute_75 linking.cu -o linking -lcuda
//     ./linking >linking.golden
//
// Left out is what the logs say, which is each device's own, and host objects and libraries, which
// the software device names as not supported.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *name_of(CUresult code)
{
    const char *name = "an unknown code";
    cuGetErrorName(code, &name);
    return name;
}

#define ASK(call) std::printf("%s\n    %s\n", #call, name_of(call))
#define SAY(...) std::printf("    " __VA_ARGS__)
#define NEED(call)                                                                                 \
    do {                                                                                           \
        CUresult code_ = (call);                                                                   \
        if (code_ != CUDA_SUCCESS) std::printf("    %s: %s\n", #call, name_of(code_));             \
    } while (0)

// A question that may spoil the context is asked in a process of its own.
static void apart(const char *title, void (*question)())
{
    std::printf("== %s\n", title);
    std::fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        CUdevice device;
        CUcontext context;
        NEED(cuInit(0));
        NEED(cuDeviceGet(&device, 0));
        NEED(cuDevicePrimaryCtxRetain(&context, device));
        NEED(cuCtxSetCurrent(context));
        question();
        std::fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status)) std::printf("    ended by signal %d\n", WTERMSIG(status));
}

#define HEAD ".version 7.5\n.target sm_75\n.address_size 64\n"

static char user[] = HEAD ".extern .func (.param .b32 r) value();\n"
                          ".visible .entry k(.param .u64 out) {\n"
                          ".reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
                          "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;\n"
                          "{ .param .b32 v; call.uni (v), value, (); ld.param.b32 %r1, [v]; }\n"
                          "st.global.u32 [%rd1], %r1; ret; }\n";
static char owner[] = HEAD ".visible .func (.param .b32 r) value() {\n"
                           ".reg .b32 %r<2>; mov.u32 %r1, 4711; st.param.b32 [r], %r1; ret; }\n";
static char alone[] = HEAD ".visible .entry k(.param .u64 out) { ret; }\n";
static char variable_user[] = HEAD ".extern .global .align 4 .u32 far;\n"
                                   ".visible .entry k() { .reg .b32 %r<2>;\n"
                                   "ld.global.u32 %r1, [far]; st.global.u32 [far], %r1; ret; }\n";
static char unused_extern[] = HEAD ".extern .func unused();\n.extern .global .u32 far;\n"
                                   ".visible .entry k() { ret; }\n";
static char broken[] = HEAD ".visible .entry k() { mov.u32 %r1, 1; ret; }\n";
static char unknown_opcode[] = HEAD ".visible .entry k() { fly.u32; ret; }\n";
static char new_version[] = ".version 99.0\n.target sm_75\n.address_size 64\n"
                            ".visible .entry k() { ret; }\n";
static char new_target[] = ".version 9.0\n.target sm_120\n.address_size 64\n"
                           ".visible .entry k() { ret; }\n";
static char garbage[] = "this is no code at all, only a sentence";
static char elf[] = "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0 and no more than that, just zeros follow";

#define ADD(state, kind, text)                                                                     \
    cuLinkAddData(state, CU_JIT_INPUT_##kind, text, sizeof text, "input", 0, nullptr, nullptr)

static void linking()
{
    CUlinkState state;
    CUmodule module;
    void *image = nullptr;
    size_t size = 0;
    NEED(cuLinkCreate(0, nullptr, nullptr, &state));
    ASK(cuLinkComplete(state, &image, &size)); // nothing was added
    NEED(cuLinkDestroy(state));
    NEED(cuLinkCreate(0, nullptr, nullptr, &state));
    ASK(ADD(state, PTX, owner));
    ASK(ADD(state, PTX, user));
    ASK(cuLinkComplete(state, &image, &size));
    ASK(cuLinkComplete(state, &image, &size));
    ASK(ADD(state, PTX, alone));
    ASK(cuModuleLoadData(&module, image));
    ASK(cuLinkDestroy(state));
}

static void undefined()
{
    CUlinkState state;
    void *image;
    NEED(cuLinkCreate(0, nullptr, nullptr, &state));
    ASK(ADD(state, PTX, user));
    ASK(cuLinkComplete(state, &image, nullptr));
    ASK(cuLinkDestroy(state));
    NEED(cuLinkCreate(0, nullptr, nullptr, &state));
    ASK(ADD(state, PTX, variable_user));
    ASK(cuLinkComplete(state, &image, nullptr));
    NEED(cuLinkDestroy(state));
    NEED(cuLinkCreate(0, nullptr, nullptr, &state));
    ASK(ADD(state, PTX, unused_extern));
    ASK(cuLinkComplete(state, &image, nullptr));
    NEED(cuLinkDestroy(state));
}

static void defined_twice()
{
    CUlinkState state;
    void *image;
    NEED(cuLinkCreate(0, nullptr, nullptr, &state));
    ASK(ADD(state, PTX, owner));
    ASK(ADD(state, PTX, owner));
    ASK(ADD(state, PTX, user));
    ASK(cuLinkComplete(state, &image, nullptr));
    NEED(cuLinkDestroy(state));
}

static void bad_inputs()
{
    CUlinkState state;
    NEED(cuLinkCreate(0, nullptr, nullptr, &state));
    ASK(ADD(state, PTX, broken));
    ASK(ADD(state, PTX, unknown_opcode));
    ASK(ADD(state, PTX, new_version));
    ASK(ADD(state, PTX, new_target));
    ASK(ADD(state, PTX, garbage));
    ASK(ADD(state, CUBIN, garbage));
    ASK(ADD(state, FATBINARY, garbage));
    ASK(ADD(state, CUBIN, elf));
    ASK(cuLinkAddData(state, CU_JIT_INPUT_PTX, nullptr, 10, "x", 0, nullptr, nullptr));
    ASK(cuLinkAddData(state, CU_JIT_INPUT_PTX, alone, 0, "x", 0, nullptr, nullptr));
    ASK(cuLinkAddData(state, static_cast<CUjitInputType>(77), alone, 10, "x", 0, nullptr, nullptr));
    ASK(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/nowhere", 0, nullptr, nullptr));
    NEED(cuLinkDestroy(state));
}

static void options()
{
    CUlinkState state;
    CUmodule module;
    char error[4096] = "", info[4096] = "";
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_WALL_TIME};
    void *values[] = {error, reinterpret_cast<void *>(4096), info, reinterpret_cast<void *>(4096),
                      nullptr};
    CUjit_option strange[] = {static_cast<CUjit_option>(1000)};
    ASK(cuModuleLoadDataEx(&module, alone, 1, strange, values));
    ASK(cuModuleLoadDataEx(&module, alone, 1, nullptr, values));
    ASK(cuLinkCreate(1, strange, values, &state));
    ASK(cuLinkCreate(0, nullptr, nullptr, nullptr));
    ASK(cuModuleLoadDataEx(&module, broken, 5, names, values));
    size_t told = reinterpret_cast<size_t>(values[1]);
    SAY("error log empty: %d, told %s its length\n", error[0] == 0,
        told == std::strlen(error)       ? "exactly"
        : told == std::strlen(error) + 1 ? "one more than"
                                         : "otherwise than");
    std::strcpy(error, "before");
    std::strcpy(info, "before");
    values[1] = values[3] = reinterpret_cast<void *>(4096);
    ASK(cuModuleLoadDataEx(&module, alone, 5, names, values));
    SAY("error log empty: %d, as before: %d, info log empty: %d, as before: %d, told %d\n",
        error[0] == 0, std::strcmp(error, "before") == 0, info[0] == 0,
        std::strcmp(info, "before") == 0, static_cast<int>(reinterpret_cast<size_t>(values[1])));
}

static void loading()
{
    CUmodule module;
    CUlibrary library;
    ASK(cuModuleLoadData(&module, user));
    ASK(cuModuleLoadData(&module, variable_user));
    ASK(cuModuleLoadData(&module, unused_extern));
    ASK(cuModuleLoadData(&module, broken));
    ASK(cuModuleLoadData(&module, unknown_opcode));
    ASK(cuModuleLoadData(&module, new_version));
    ASK(cuModuleLoadData(&module, new_target));
    ASK(cuModuleLoadData(&module, garbage));
    ASK(cuModuleLoadData(&module, ""));
    ASK(cuModuleLoadData(&module, elf));
    ASK(cuModuleLoadData(&module, nullptr));
    ASK(cuModuleLoad(&module, "/nowhere"));
    ASK(cuLibraryLoadData(&library, broken, nullptr, nullptr, 0, nullptr, nullptr, 0));
    ASK(cuLibraryLoadData(&library, user, nullptr, nullptr, 0, nullptr, nullptr, 0));
    ASK(cuLibraryLoadFromFile(&library, "/nowhere", nullptr, nullptr, 0, nullptr, nullptr, 0));
}

static void in_a_library()
{
    static char text[] = HEAD ".visible .global .align 4 .u32 plain = 1;\n"
                              ".visible .global .attribute(.managed) .align 4 .u32 shared = 2;\n"
                              ".visible .entry k() { ret; }\n";
    CUlibrary library;
    CUmodule module;
    CUdeviceptr address;
    CUkernel kernel;
    size_t size;
    NEED(cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
    ASK(cuLibraryGetGlobal(&address, &size, library, "plain"));
    ASK(cuLibraryGetGlobal(&address, &size, library, "shared"));
    ASK(cuLibraryGetManaged(&address, &size, library, "shared"));
    SAY("size %d\n", static_cast<int>(size));
    ASK(cuLibraryGetManaged(&address, &size, library, "plain"));
    ASK(cuLibraryGetManaged(&address, &size, library, "missing"));
    ASK(cuLibraryGetKernel(&kernel, library, "missing"));
    ASK(cuLibraryGetModule(&module, library));
    ASK(cuModuleGetGlobal(&address, &size, module, "shared"));
    ASK(cuModuleUnload(module));
}

// ---- functions by name ----------------------------------------------------------------------

static void entry(const char *name, int version, cuuint64_t flags)
{
    void *function = nullptr;
    CUdriverProcAddressQueryResult status;
    CUresult code = cuGetProcAddress(name, &function, version, flags, &status);
    std::printf("%s %d %d\n    %s", name, version, static_cast<int>(flags), name_of(code));
    if (code == CUDA_SUCCESS)
        std::printf(", status %d, %s", static_cast<int>(status), function ? "found" : "none");
    std::printf("\n");
}

static void entries()
{
    entry("cuMemAlloc", 13000, 0);
    entry("cuMemAlloc", 2000, 0);
    entry("cuMemAlloc", 3020, 0);
    entry("cuMemAlloc", 1000, 0);
    entry("cuMemAlloc_v2", 13000, 0);
    entry("cuLaunchKernel_ptsz", 13000, 0);
    entry("cuLibraryLoadData", 11000, 0);
    entry("cuNoSuchFunction", 13000, 0);
    entry("", 13000, 0);
    entry("cuLinkCreate", 5050, 0);
    entry("cuArrayCreate", 13000, 2);
    entry("cuTexRefCreate", 13000, 0);
    entry("cuMemcpyBatchAsync", 12080, 2);
    entry("cuMemAlloc", 14000, 0);
}

// ---- virtual memory -------------------------------------------------------------------------

static CUmemAllocationProp prop;
static size_t piece;
static CUdeviceptr base;
static CUmemGenericAllocationHandle handle, other;

static void begin_virtual()
{
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    NEED(cuMemGetAllocationGranularity(&piece, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    NEED(cuMemAddressReserve(&base, 2 * piece, 0, 0, 0));
    NEED(cuMemCreate(&handle, piece, &prop, 0));
    NEED(cuMemCreate(&other, piece, &prop, 0));
    std::printf("granularity %d\n", static_cast<int>(piece));
}

static void virtual_errors()
{
    CUdeviceptr address;
    CUmemGenericAllocationHandle made;
    CUmemAccessDesc access = {};
    unsigned long long flags = 99;
    unsigned attribute = 99;
    size_t size;
    begin_virtual();
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    ASK(cuMemAddressReserve(&address, 0, 0, 0, 0));
    ASK(cuMemAddressReserve(&address, 4096, 0, 0, 0));
    ASK(cuMemAddressReserve(&address, piece, 3, 0, 0));
    ASK(cuMemCreate(&made, 0, &prop, 0));
    ASK(cuMemCreate(&made, 4096, &prop, 0));
    ASK(cuMemMap(base, 4096, 0, handle, 0));
    ASK(cuMemMap(base, piece, 4096, handle, 0));
    ASK(cuMemMap(base, 2 * piece, 0, handle, 0));
    ASK(cuMemMap(base + 4096, piece, 0, handle, 0));
    ASK(cuMemMap(base, piece, 0, 0, 0));
    ASK(cuMemMap(base, piece, 0, handle, 0));
    ASK(cuMemMap(base, piece, 0, other, 0));
    ASK(cuMemGetAccess(&flags, &prop.location, base));
    SAY("access %d\n", static_cast<int>(flags));
    ASK(cuMemcpyDtoD(base, base + 64, 64)); // no access yet
    ASK(cuMemSetAccess(base, 2 * piece, &access, 1));
    ASK(cuMemSetAccess(base, 4096, &access, 1));
    ASK(cuMemSetAccess(base, piece, &access, 0));
    ASK(cuMemSetAccess(base, piece, &access, 1));
    ASK(cuMemsetD8(base, 1, piece));
    ASK(cuMemsetD8(base, 1, piece + 1));
    ASK(cuMemFree(base));
    ASK(cuMemGetAddressRange(&address, &size, base + 100));
    SAY("from %d, %d pieces\n", static_cast<int>(address - base), static_cast<int>(size / piece));
    ASK(cuPointerGetAttribute(&attribute, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, base));
    ASK(cuPointerGetAttribute(&attribute, CU_POINTER_ATTRIBUTE_MAPPED, base + piece));
    ASK(cuMemMap(base + piece, piece, 0, other, 0));
    ASK(cuMemSetAccess(base, 2 * piece, &access, 1));
    ASK(cuMemsetD8(base, 1, 2 * piece));
    ASK(cuMemGetAddressRange(&address, &size, base + piece));
    SAY("from %d, %d pieces\n", static_cast<int>(address - base), static_cast<int>(size / piece));
    ASK(cuMemAddressFree(base, 2 * piece));
    ASK(cuMemUnmap(base, 4096));
    ASK(cuMemRelease(handle));
    ASK(cuMemRelease(handle));
    ASK(cuMemUnmap(base, 2 * piece));
    ASK(cuMemUnmap(base, 2 * piece));
    ASK(cuMemsetD8(base, 1, 1));
    ASK(cuMemAddressFree(base, piece));
    ASK(cuMemAddressFree(base, 2 * piece));
    ASK(cuMemAddressFree(base, 2 * piece));
    ASK(cuMemRelease(other));
}

__global__ void store(int *p)
{
    *p = 1;
}

static void mapped_without_access()
{
    begin_virtual();
    NEED(cuMemMap(base, piece, 0, handle, 0));
    store<<<1, 1>>>(reinterpret_cast<int *>(base));
    ASK(cuCtxSynchronize());
}

static void mapped_to_read()
{
    CUmemAccessDesc access = {};
    begin_virtual();
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    NEED(cuMemMap(base, piece, 0, handle, 0));
    ASK(cuMemSetAccess(base, piece, &access, 1));
    ASK(cuMemsetD8(base, 1, 4));
    store<<<1, 1>>>(reinterpret_cast<int *>(base));
    ASK(cuCtxSynchronize());
}

// ---- batches --------------------------------------------------------------------------------

static void batches()
{
    CUstream stream;
    CUdeviceptr a, b;
    size_t sizes[2] = {16, 16}, first[2] = {0, 1}, disorder[2] = {1, 0};
    CUmemcpyAttributes attributes[2] = {};
    NEED(cuStreamCreate(&stream, 0));
    NEED(cuMemAlloc(&a, 4096));
    NEED(cuMemAlloc(&b, 4096));
    CUdeviceptr to[2] = {a, a + 64}, from[2] = {b, b + 64};
    attributes[0].srcAccessOrder = attributes[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    ASK(cuMemcpyBatchAsync(to, from, sizes, 2, attributes, first, 2, stream));
    ASK(cuMemcpyBatchAsync(to, from, sizes, 2, attributes, first, 1, stream));
    ASK(cuMemcpyBatchAsync(to, from, sizes, 2, attributes, first, 0, stream));
    ASK(cuMemcpyBatchAsync(to, from, sizes, 2, attributes, disorder, 2, stream));
    ASK(cuMemcpyBatchAsync(to, from, sizes, 0, attributes, first, 0, stream));
    ASK(cuMemcpyBatchAsync(to, from, sizes, 2, attributes, first, 1, nullptr));
    ASK(cuMemcpyBatchAsync(to, from, sizes, 2, attributes, first, 1, CU_STREAM_LEGACY));
    ASK(cuMemcpyBatchAsync(to, from, sizes, 2, attributes, first, 1, CU_STREAM_PER_THREAD));
    sizes[1] = 0;
    ASK(cuMemcpyBatchAsync(to, from, sizes, 2, attributes, first, 1, stream));
    sizes[1] = 8192;
    ASK(cuMemcpyBatchAsync(to, from, sizes, 2, attributes, first, 1, stream));
    attributes[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
    ASK(cuMemcpyBatchAsync(to, from, sizes, 1, attributes, first, 1, stream));
    CUmemLocation place = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    ASK(cuMemPrefetchBatchAsync(to, sizes, 1, &place, first, 1, 0, stream)); // not managed
    ASK(cuMemDiscardBatchAsync(to, sizes, 1, 0, stream));
    ASK(cuCtxSynchronize());
}

int main()
{
    std::setvbuf(stdout, nullptr, _IOLBF, 0); // a crash loses no line
    apart("linking", linking);
    apart("undefined", undefined);
    apart("defined twice", defined_twice);
    apart("bad inputs", bad_inputs);
    apart("options", options);
    apart("loading", loading);
    apart("in a library", in_a_library);
    apart("entries", entries);
    apart("virtual memory", virtual_errors);
    apart("mapped without access", mapped_without_access);
    apart("mapped to read", mapped_to_read);
    apart("batches", batches);
    return 0;
}
