// Programs that link device code at run time: PTX from several places joined by cuLink*, the logs
// that say what is wrong, and functions of the driver found by name.
#include "tests/programs/driver_program.cuh"
#include "tests/temporary.h"

#define HEAD ".version 7.5\n.target sm_75\n.address_size 64\n"

// kernel(out): out[i] = twice(i) + bias, where twice and bias are another unit's.
static const char user[] =
    HEAD ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
         ".extern .global .align 4 .u32 bias;\n"
         ".extern .const .align 4 .b8 table[16];\n"
         ".visible .entry kernel(.param .u64 out) {\n"
         ".reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
         "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x;\n"
         "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), twice, (a);\n"
         "ld.param.b32 %r2, [b]; }\n"
         "ld.global.u32 %r3, [bias]; add.u32 %r2, %r2, %r3; ld.const.u32 %r4, [table+8];\n"
         "add.u32 %r2, %r2, %r4; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n"
         "st.global.u32 [%rd1], %r2; ret; }\n";

// A private function and a private variable of names that the other unit has as well.
static const char definer[] =
    HEAD ".visible .global .align 4 .u32 bias = 100;\n"
         ".visible .const .align 4 .b8 table[16] = {0,0,0,0, 0,0,0,0, 16,39,0,0};\n"
         ".global .align 4 .u32 hidden = 3;\n"
         ".visible .func (.param .b32 r) twice(.param .b32 x) {\n"
         ".reg .b32 %r<4>; ld.param.u32 %r1, [x]; shl.b32 %r1, %r1, 1; \n"
         "ld.global.u32 %r2, [hidden]; add.u32 %r1, %r1, %r2;\n"
         "st.param.b32 [r], %r1; ret; }\n";

static const char weak_definer[] =
    HEAD ".weak .global .align 4 .u32 bias = 5;\n"
         ".weak .func (.param .b32 r) twice(.param .b32 x) {\n"
         ".reg .b32 %r<4>; mov.u32 %r1, 0; st.param.b32 [r], %r1; ret; }\n";

// A register that nobody declares.
static const char broken[] = HEAD ".visible .entry k() { mov.u32 %r1, 1; ret; }\n";

// What the logs of a link say.
struct Logs {
    char info[2048] = "", error[2048] = "";
    CUjit_option options[4] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                               CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[4] = {info, reinterpret_cast<void *>(sizeof info), error,
                       reinterpret_cast<void *>(sizeof error)};
};

static CUresult add_text(CUlinkState state, const char *text, const char *name)
{
    return cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char *>(text), std::strlen(text) + 1,
                         name, 0, nullptr, nullptr);
}

// Runs kernel(out) of a module and checks out[i] = 2 * i + more.
static void check_kernel(CUmodule module, unsigned more)
{
    const unsigned n = 64;
    unsigned out[n];
    CUfunction kernel;
    CUdeviceptr device;
    CHECK_DRIVER(cuModuleGetFunction(&kernel, module, "kernel"));
    CHECK_DRIVER(cuMemAlloc(&device, sizeof out));
    void *parameters[] = {&device};
    CHECK_DRIVER(cuLaunchKernel(kernel, 1, 1, 1, n, 1, 1, 0, nullptr, parameters, nullptr));
    CHECK_DRIVER(cuMemcpyDtoH(out, device, sizeof out));
    for (unsigned i = 0; i < n; i++) EXPECT(out[i] == 2 * i + more);
    CHECK_DRIVER(cuMemFree(device));
}

static void units_by_name()
{
    use_primary_context();
    CUlinkState state;
    CUmodule module;
    void *image;
    size_t size = 0;
    Logs logs;
    CHECK_DRIVER(cuLinkCreate(4, logs.options, logs.values, &state));
    CHECK_DRIVER(add_text(state, user, "user.ptx"));
    CHECK_DRIVER(add_text(state, definer, "definer.ptx"));
    CHECK_DRIVER(cuLinkComplete(state, &image, &size));
    EXPECT(size > 0);
    CHECK_DRIVER(cuModuleLoadData(&module, image));
    CHECK_DRIVER(cuLinkDestroy(state));
    check_kernel(module, 103 + 10000);

    // The linked variable is one variable.
    CUdeviceptr bias;
    unsigned value = 7;
    CHECK_DRIVER(cuModuleGetGlobal(&bias, &size, module, "bias"));
    EXPECT(size == 4);
    CHECK_DRIVER(cuMemcpyHtoD(bias, &value, 4));
    check_kernel(module, 7 + 3 + 10000);
    CHECK_DRIVER(cuModuleUnload(module));
    EXPECT(std::strlen(logs.error) == 0);
}

static void strong_over_weak()
{
    use_primary_context();
    CUmodule module;
    void *image;
    for (int turn = 0; turn < 2; turn++) { // in both orders
        CUlinkState state;
        CHECK_DRIVER(cuLinkCreate(0, nullptr, nullptr, &state));
        CHECK_DRIVER(add_text(state, turn ? definer : weak_definer, "first"));
        CHECK_DRIVER(add_text(state, user, "user"));
        CHECK_DRIVER(add_text(state, turn ? weak_definer : definer, "second"));
        CHECK_DRIVER(cuLinkComplete(state, &image, nullptr));
        CHECK_DRIVER(cuModuleLoadData(&module, image));
        check_kernel(module, 103 + 10000);
        CHECK_DRIVER(cuModuleUnload(module));
        CHECK_DRIVER(cuLinkDestroy(state));
    }
}

static void linked_library()
{
    use_primary_context();
    CUlinkState state;
    CUlibrary library;
    CUkernel kernel;
    void *image;
    const unsigned n = 32;
    unsigned out[n];
    CUdeviceptr device;
    CHECK_DRIVER(cuLinkCreate(0, nullptr, nullptr, &state));
    CHECK_DRIVER(add_text(state, definer, nullptr));
    CHECK_DRIVER(add_text(state, user, nullptr));
    CHECK_DRIVER(cuLinkComplete(state, &image, nullptr));
    CHECK_DRIVER(cuLibraryLoadData(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CHECK_DRIVER(cuLinkDestroy(state));
    CHECK_DRIVER(cuLibraryGetKernel(&kernel, library, "kernel"));
    CHECK_DRIVER(cuMemAlloc(&device, sizeof out));
    void *parameters[] = {&device};
    CHECK_DRIVER(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, n, 1, 1, 0, nullptr,
                                parameters, nullptr));
    CHECK_DRIVER(cuMemcpyDtoH(out, device, sizeof out));
    for (unsigned i = 0; i < n; i++) EXPECT(out[i] == 2 * i + 103 + 10000);
    CHECK_DRIVER(cuMemFree(device));
    CHECK_DRIVER(cuLibraryUnload(library));
}

static void from_files()
{
    use_primary_context();
    const char *texts[] = {user, definer};
    CUlinkState state;
    CUmodule module;
    void *image;
    CHECK_DRIVER(cuLinkCreate(0, nullptr, nullptr, &state));
    for (int i = 0; i < 2; i++) {
        const char *name = temporary_file();
        std::FILE *stream = std::fopen(name, "w");
        EXPECT(std::fputs(texts[i], stream) >= 0);
        EXPECT(std::fclose(stream) == 0);
        CHECK_DRIVER(cuLinkAddFile(state, CU_JIT_INPUT_PTX, name, 0, nullptr, nullptr));
    }
    EXPECT_RESULT(
        cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/nowhere/at/all.ptx", 0, nullptr, nullptr),
        CUDA_ERROR_FILE_NOT_FOUND);
    CHECK_DRIVER(cuLinkComplete(state, &image, nullptr));
    CHECK_DRIVER(cuModuleLoadData(&module, image));
    CHECK_DRIVER(cuLinkDestroy(state));
    check_kernel(module, 103 + 10000);
}

// What cannot be linked is an error, and the log names it.
static void logs_name_what_is_wrong()
{
    use_primary_context();
    CUlinkState state;
    void *image;
    {
        Logs logs;
        CHECK_DRIVER(cuLinkCreate(4, logs.options, logs.values, &state));
        CHECK_DRIVER(add_text(state, user, "user.ptx"));
        EXPECT(cuLinkComplete(state, &image, nullptr) != CUDA_SUCCESS);
        EXPECT(std::strstr(logs.error, "twice") || std::strstr(logs.error, "bias") ||
               std::strstr(logs.error, "table"));
        EXPECT(reinterpret_cast<size_t>(logs.values[3]) >= std::strlen(logs.error));
        CHECK_DRIVER(cuLinkDestroy(state));
    }
    {
        Logs logs;
        CHECK_DRIVER(cuLinkCreate(4, logs.options, logs.values, &state));
        CHECK_DRIVER(add_text(state, definer, "definer.ptx"));
        CUresult second = add_text(state, definer, "again.ptx");
        if (second == CUDA_SUCCESS) second = cuLinkComplete(state, &image, nullptr);
        EXPECT(second != CUDA_SUCCESS);
        EXPECT(std::strstr(logs.error, "twice") || std::strstr(logs.error, "bias") ||
               std::strstr(logs.error, "table"));
        CHECK_DRIVER(cuLinkDestroy(state));
    }
    {
        Logs logs;
        CUmodule module;
        EXPECT_RESULT(cuModuleLoadDataEx(&module, broken, 4, logs.options, logs.values),
                      CUDA_ERROR_INVALID_PTX);
        EXPECT(std::strstr(logs.error, "%r1") != nullptr);
        EXPECT_RESULT(cuModuleLoadDataEx(&module, user, 4, logs.options, logs.values),
                      CUDA_ERROR_INVALID_PTX);
    }
    EXPECT_RESULT(cuLinkDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

// A log of few bytes ends within them.
static void a_short_log()
{
    use_primary_context();
    char room[64];
    std::memset(room, 'x', sizeof room);
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {room, reinterpret_cast<void *>(static_cast<size_t>(16))};
    CUmodule module;
    EXPECT(cuModuleLoadDataEx(&module, broken, 2, options, values) != CUDA_SUCCESS);
    EXPECT(std::memchr(room, 0, 16) != nullptr);
    for (size_t i = 16; i < sizeof room; i++) EXPECT(room[i] == 'x');
}

__global__ void put(int *to, int value)
{
    *to = value;
}

// The driver's functions, found by the runtime and by the driver.
static void entry_points()
{
    void *function = nullptr, *same = nullptr;
    cudaDriverEntryPointQueryResult found;
    CUdriverProcAddressQueryResult status;
    CHECK(cudaFree(nullptr));
    CHECK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, cudaEnableDefault,
                                           &found));
    EXPECT(found == cudaDriverEntryPointSuccess && function != nullptr);
    CHECK_DRIVER(
        cuGetProcAddress("cuMemAlloc", &same, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    EXPECT(status == CU_GET_PROC_ADDRESS_SUCCESS && same == function);
    CUdeviceptr memory;
    CHECK_DRIVER(reinterpret_cast<CUresult (*)(CUdeviceptr *, size_t)>(function)(&memory, 4));
    put<<<1, 1>>>(reinterpret_cast<int *>(memory), 77);

    CHECK(cudaGetDriverEntryPointByVersion("cuMemcpyDtoHAsync", &function, 12000,
                                           cudaEnablePerThreadDefaultStream, &found));
    EXPECT(found == cudaDriverEntryPointSuccess);
    CHECK_DRIVER(cuGetProcAddress("cuMemcpyDtoHAsync", &same, 12000,
                                  CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status));
    EXPECT(function != same);
    CHECK(cudaDeviceSynchronize());
    int value = 0;
    CHECK_DRIVER(reinterpret_cast<CUresult (*)(void *, CUdeviceptr, size_t, CUstream)>(function)(
        &value, memory, 4, nullptr));
    CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    EXPECT(value == 77);

    function = same = nullptr;
    CHECK(cudaGetDriverEntryPointByVersion("cuLinkCreate", &function, 12000, cudaEnableDefault,
                                           &found));
    CHECK(cudaGetDriverEntryPointByVersion("cuLinkCreate", &same, 5050, cudaEnableDefault, &found));
    EXPECT(function != nullptr && same != nullptr);
    cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, 13000, cudaEnableDefault,
                                     &found);
    EXPECT(found == cudaDriverEntryPointSymbolNotFound && function == nullptr);
    cudaGetLastError();
    cudaGetDriverEntryPointByVersion("cuLibraryLoadData", &function, 5000, cudaEnableDefault,
                                     &found);
    EXPECT(found == cudaDriverEntryPointVersionNotSufficent && function == nullptr);
    cudaGetLastError();
    CHECK_DRIVER(cuMemFree(memory));
}

int main(int argc, char **argv)
{
    static const Program programs[] = {
        {"units_by_name", units_by_name},
        {"strong_over_weak", strong_over_weak},
        {"linked_library", linked_library},
        {"from_files", from_files},
        {"logs_name_what_is_wrong", logs_name_what_is_wrong},
        {"a_short_log", a_short_log},
        {"entry_points", entry_points},
    };
    return run_programs(argc, argv, programs);
}
