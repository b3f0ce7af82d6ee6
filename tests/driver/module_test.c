/* Modules, libraries, kernels, functions, variables, occupancy, and the device itself. */
#include "tests/driver/support.h"
#include "tests/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 256, BYTES = N * 4 };

static const char small[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .entry bounded(.param .u64 a, .param .u32 b) .maxntid 64, 1, 1 {"
    ".reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .align 4 .b8 room[256];"
    "ld.param.u64 %rd1, [a]; cvta.to.global.u64 %rd1, %rd1; ld.global.u32 %r1, [counter];"
    "st.global.u32 [%rd1], %r1; ret; }\n";

static CUresult launch_bounded(CUfunction function, CUdeviceptr p, unsigned threads)
{
    unsigned b = 0;
    void *parameters[] = {&p, &b};
    return cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL);
}

START_TEST(a_modules_functions_and_variables_are_found)
{
    CUmodule module;
    CUfunction function, again;
    CUdeviceptr counter;
    size_t size;
    unsigned count, value = 41;
    test_context(_i);
    OK(cuModuleLoadData(&module, small));
    OK(cuModuleGetFunction(&function, module, "bounded"));
    OK(cuModuleGetFunction(&again, module, "bounded"));
    ck_assert_ptr_eq(function, again);
    FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&again, module, "missing"));
    OK(cuModuleGetFunctionCount(&count, module));
    ck_assert_uint_eq(count, 1);
    OK(cuModuleGetGlobal(&counter, &size, module, "counter"));
    ck_assert_uint_eq(size, 4);
    FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&counter, &size, module, "missing"));
    OK(cuMemcpyDtoH(&value, counter, 4));
    ck_assert_uint_eq(value, 7);
    value = 41;
    OK(cuMemcpyHtoD(counter, &value, 4));
    CUdeviceptr p = test_device(4);
    OK(launch_bounded(function, p, 32));
    OK(cuMemcpyDtoH(&value, p, 4));
    ck_assert_uint_eq(value, 41);
    OK(cuModuleUnload(module));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
    FAILS(CUDA_ERROR_INVALID_HANDLE, launch_bounded(function, p, 32));
}
END_TEST

/* Makes a fat binary with machine code for `machine`, and with PTX for compute capability 12.0. */
static const void *wheel(uint32_t machine)
{
    struct entry {
        uint16_t kind, unknown;
        uint32_t header_size;
        uint64_t size;
        uint32_t compressed, options;
        uint16_t minor, major;
        uint32_t arch, name[2];
        uint64_t flags, zero, text_size;
    };
    static struct {
        uint32_t magic;
        uint16_t version, header_size;
        uint64_t size;
        struct entry machine;
        char code[64];
        struct entry ptx;
        char text[1024];
    } all;
    _Static_assert(sizeof(struct entry) == 64, "as nvcc writes it");
    all.magic = 0xba55ed50, all.version = 1, all.header_size = 16, all.size = sizeof all - 16;
    all.machine = (struct entry){.kind = 2, .header_size = 64, .size = 64, .arch = machine};
    all.ptx = (struct entry){.kind = 1, .header_size = 64, .size = sizeof all.text, .arch = 120};
    snprintf(all.text, sizeof all.text, ".version 9.0\n.target sm_120\n%s", strstr(small, ".addr"));
    return &all;
}

/* As the sorts in CuPy's wheel: a GPU runs the machine code, the software device the PTX beside
 * it. */
START_TEST(ptx_of_a_later_device_stands_for_its_own_machine_code)
{
    CUmodule module;
    CUfunction function;
    int version, value;
    test_context(_i);
    OK(cuModuleLoadData(&module, wheel(90)));
    OK(cuModuleGetFunction(&function, module, "bounded"));
    OK(cuFuncGetAttribute(&version, CU_FUNC_ATTRIBUTE_PTX_VERSION, function));
    ck_assert_int_eq(version, 120);
    OK(cuFuncGetAttribute(&version, CU_FUNC_ATTRIBUTE_BINARY_VERSION, function));
    ck_assert_int_eq(version, 90);
    CUdeviceptr p = test_device(4);
    OK(launch_bounded(function, p, 32));
    OK(cuMemcpyDtoH(&value, p, 4));
    ck_assert_int_eq(value, 7);
    FAILS(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, wheel(100)));
    const char *text = (const char *)wheel(90) + 16 + 64 + 64 + 64;
    FAILS(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, text));
}
END_TEST

START_TEST(a_modules_variables_are_its_contexts_own)
{
    CUcontext other;
    CUmodule mine, theirs;
    CUdeviceptr a, b;
    unsigned value = 99;
    test_context(_i);
    OK(cuModuleLoadData(&mine, small));
    OK(cuModuleGetGlobal(&a, NULL, mine, "counter"));
    OK(cuMemcpyHtoD(a, &value, 4));
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuModuleLoadData(&theirs, small));
    OK(cuModuleGetGlobal(&b, NULL, theirs, "counter"));
    ck_assert_uint_ne(a, b);
    OK(cuMemcpyDtoH(&value, b, 4));
    ck_assert_uint_eq(value, 7);
}
END_TEST

/* A module loaded in one context and launched in another. */
START_TEST(a_function_of_another_context_is_refused_and_named)
{
    CUcontext other;
    test_context(_i);
    CUdeviceptr p = test_device(BYTES);
    CUfunction set = test_kernel("set");
    unsigned value = 1;
    int n = N;
    void *parameters[] = {&p, &value, &n};
    OK(cuCtxCreate(&other, NULL, 0, 0));
    FAILS(CUDA_ERROR_INVALID_HANDLE,
          cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "wrong context"), 1);
}
END_TEST

START_TEST(what_is_no_module_is_refused_with_a_sentence)
{
    CUmodule module;
    char log[200] = "";
    test_context(_i);
    FAILS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, "hello"));
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    FAILS(CUDA_ERROR_INVALID_PTX,
          cuModuleLoadDataEx(&module,
                             ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k() "
                             "{ add.s32 %r1, %r2; }\n",
                             2, options, values));
    ck_assert_uint_gt(strlen(log), 5);
    ck_assert_ptr_nonnull(strstr(log, "line 4"));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&module, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(NULL, small));
    const size_t before = test_count(TRACE_FINDING, 0, "invalid module");
    ck_assert_uint_ge(before, 2);
    /* A program may look for a module that is not there yet, and make it. */
    FAILS(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nowhere/at.all"));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "invalid module"), before);
    FAILS(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/dev/null/at.all"));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "invalid module"), before + 1);
}
END_TEST

#define KERNEL(body)                                                                               \
    ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k() {\n" body "\nret; }\n"

/* A GPU's driver refuses an instruction that PTX does not have; one that PTX has and the device has
 * not is reported when a thread reaches it. */
START_TEST(an_instruction_that_does_not_exist_refuses_the_module)
{
    static const struct {
        const char *text, *line, *name;
    } rows[] = {
        {KERNEL("frobnicate.u32 1;"), "line 5", "frobnicate"},
        {KERNEL("bra over;\nwgmma.fly;\nover: barrier.frob 1;"), "line 7", "barrier"},
        {KERNEL(".reg .b32 r;\nadd.frob.u32 r, r, r;"), "line 6", ".frob"},
        {KERNEL(".reg .b32 r;\nadd.u32.u32.u32 r, r, r;"), "line 6", "two types"},
    };
    CUmodule module;
    CUfunction function;
    char log[300];
    test_context(_i);
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *values[] = {log, (void *)sizeof log};
        FAILS(CUDA_ERROR_INVALID_PTX,
              cuModuleLoadDataEx(&module, rows[i].text, 2, options, values));
        ck_assert_msg(strstr(log, rows[i].line) && strstr(log, rows[i].name), "%s", log);
    }
    OK(cuModuleLoadData(&module, KERNEL(".reg .pred p;\nsetp.ne.u32 p, %tid.x, 3;\n"
                                        "@p bra done;\ntcgen05.wait::ld.sync.aligned;\ndone:")));
    OK(cuModuleGetFunction(&function, module, "k"));
    OK(cuLaunchKernel(function, 1, 1, 1, 3, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    OK(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, NULL, NULL, NULL));
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuCtxSynchronize());
    const struct trace_record *found = test_find(TRACE_FINDING, 0, "not supported");
    ck_assert_ptr_nonnull(strstr(test_sentence(found), "tcgen05.wait::ld.sync.aligned"));
}
END_TEST

START_TEST(a_module_is_loaded_from_a_file)
{
    CUmodule module;
    CUfunction function;
    test_context(_i);
    const char *path = temporary_file();
    FILE *file = fopen(path, "w");
    ck_assert_int_ge(fputs(small, file), 0);
    fclose(file);
    OK(cuModuleLoad(&module, path));
    OK(cuModuleGetFunction(&function, module, "bounded"));
}
END_TEST

START_TEST(a_librarys_kernels_run_in_any_context)
{
    CUlibrary library;
    CUkernel kernel, listed;
    CUfunction function;
    CUcontext other;
    CUdeviceptr counter;
    const char *name;
    unsigned count, value;
    test_context(_i);
    OK(cuLibraryLoadData(&library, small, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "bounded"));
    FAILS(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&listed, library, "missing"));
    OK(cuLibraryGetKernelCount(&count, library));
    ck_assert_uint_eq(count, 1);
    OK(cuLibraryEnumerateKernels(&listed, 1, library));
    ck_assert_ptr_eq(listed, kernel);
    OK(cuKernelGetName(&name, kernel));
    ck_assert_str_eq(name, "bounded");
    for (int i = 0; i < 2; i++) {
        CUdeviceptr p = test_device(4);
        OK(launch_bounded((CUfunction)kernel, p, 32));
        OK(cuMemcpyDtoH(&value, p, 4));
        ck_assert_uint_eq(value, 7);
        OK(cuKernelGetFunction(&function, kernel));
        OK(launch_bounded(function, p, 32));
        OK(cuLibraryGetGlobal(&counter, NULL, library, "counter"));
        OK(cuCtxSynchronize());
        OK(cuCtxCreate(&other, NULL, 0, 0));
    }
    OK(cuLibraryUnload(library));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuLibraryUnload(library));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuKernelGetName(&name, kernel));
}
END_TEST

/* As on an H200, for the work of every context that has the library's code. */
START_TEST(unloading_a_library_waits_for_its_kernels)
{
    enum { CONTEXTS = 2 };
    CUlibrary library;
    CUkernel kernel;
    CUcontext other;
    CUgraph graph;
    CUstream streams[CONTEXTS];
    unsigned *out[CONTEXTS];
    test_context(_i);
    OK(cuLibraryLoadData(&library, small, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "bounded"));
    for (int i = 0; i < CONTEXTS; i++) {
        unsigned b = 0;
        if (i > 0) OK(cuCtxCreate(&other, NULL, 0, 0));
        streams[i] = test_stream(CU_STREAM_NON_BLOCKING);
        out[i] = test_pinned(sizeof **out);
        void *parameters[] = {&out[i], &b};
        OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, streams[i], parameters, NULL));
    }
    OK(cuLibraryUnload(library));
    for (int i = 0; i < CONTEXTS; i++) {
        ck_assert_uint_eq(*out[i], 7);
        OK(cuStreamQuery(streams[i]));
    }
    OK(cuLibraryLoadData(&library, small, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuStreamBeginCapture(streams[1], CU_STREAM_CAPTURE_MODE_GLOBAL));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuLibraryUnload(library));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(streams[1], &graph));
    OK(cuLibraryUnload(library));
}
END_TEST

/* What cuFuncSetAttribute said of a function holds, whatever its kernel is told; else the kernel's
 * latest value does. */
START_TEST(a_functions_own_attributes_come_before_its_kernels)
{
    static const CUfunction_attribute room = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      wide = CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
    CUlibrary library;
    CUkernel kernel;
    CUfunction function, same;
    int value;
    test_context(_i);
    OK(cuLibraryLoadData(&library, small, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "bounded"));
    OK(cuKernelGetFunction(&function, kernel));
    for (int bytes = 60000; bytes <= 70000; bytes += 10000) {
        OK(cuKernelSetAttribute(room, bytes, kernel, 0));
        OK(cuFuncGetAttribute(&value, room, function));
        ck_assert_int_eq(value, bytes);
    }
    OK(cuFuncSetAttribute(function, room, 90000));
    OK(cuFuncSetAttribute(function, wide, 1));
    OK(cuKernelSetAttribute(room, 80000, kernel, 0));
    OK(cuKernelGetFunction(&same, kernel));
    ck_assert_ptr_eq(same, function);
    OK(cuFuncGetAttribute(&value, room, function));
    ck_assert_int_eq(value, 90000);
    OK(cuFuncGetAttribute(&value, wide, function));
    ck_assert_int_eq(value, 1);
    OK(cuKernelGetAttribute(&value, room, kernel, 0));
    ck_assert_int_eq(value, 80000);
}
END_TEST

static CUfunction asked_about;

static size_t room_by_block(int threads)
{
    int value;
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, asked_about));
    return threads > value / 2 ? 1 << 20 : 0;
}

START_TEST(a_function_that_an_occupancy_asks_may_call_cuda)
{
    CUmodule module;
    int grid, block;
    test_context(_i);
    alarm(60); /* in place of a deadlock */
    OK(cuModuleLoadData(&module, small));
    OK(cuModuleGetFunction(&asked_about, module, "bounded"));
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, asked_about, room_by_block, 0, 0));
    ck_assert_int_eq(block, 32);
}
END_TEST

START_TEST(what_is_known_of_a_function)
{
    CUmodule module;
    CUfunction function;
    const char *name;
    size_t offset, size;
    int value, blocks, grid;
    test_context(_i);
    OK(cuModuleLoadData(&module, small));
    OK(cuModuleGetFunction(&function, module, "bounded"));
    OK(cuFuncGetName(&name, function));
    ck_assert_str_eq(name, "bounded");
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    ck_assert_int_eq(value, 64);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
    ck_assert_int_eq(value, 256);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
    ck_assert_int_eq(value, 49152 - 256);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, function));
    ck_assert_int_eq(value, 75);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncGetAttribute(&value, (CUfunction_attribute)99, function));
    OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
    ck_assert_int_eq(value, 65536);
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20));
    OK(cuFuncGetParamInfo(function, 1, &offset, &size));
    ck_assert_uint_eq(offset, 8);
    ck_assert_uint_eq(size, 4);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(function, 2, &offset, &size));
    /* More threads than __launch_bounds__ allows. */
    FAILS(CUDA_ERROR_INVALID_VALUE, launch_bounded(function, test_device(4), 65));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 64, 0));
    ck_assert_int_eq(blocks, 32);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &value, function, NULL, 0, 0));
    ck_assert_int_eq(value, 64);
    ck_assert_int_eq(grid, 32 * 132);
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 0, 0));
    /* Shared memory, by the function's preferred carve-out and limit: values of an H200. */
    static const struct {
        int carveout;
        CUfunc_cache cache;
        int most;       /* of dynamic shared memory */
        size_t dynamic; /* of one block */
        int blocks;
    } rows[] = {
        {-1, CU_FUNC_CACHE_PREFER_NONE, 0, 16384 - 256, 13},
        {-1, CU_FUNC_CACHE_PREFER_EQUAL, 0, 16384 - 256, 7},
        {-1, CU_FUNC_CACHE_PREFER_L1, 0, 16384 - 256, 1},
        {0, CU_FUNC_CACHE_PREFER_SHARED, 0, 16384 - 256, 1},
        {50, CU_FUNC_CACHE_PREFER_L1, 0, 16384 - 256, 7},
        {-1, CU_FUNC_CACHE_PREFER_NONE, 0, 49152 - 256, 4},
        {-1, CU_FUNC_CACHE_PREFER_NONE, 0, 49152 - 255, 0},
        {-1, CU_FUNC_CACHE_PREFER_NONE, 65536, 49152 - 255, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                              rows[i].carveout));
        OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                              rows[i].most));
        OK(cuFuncSetCacheConfig(function, rows[i].cache));
        OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 64, rows[i].dynamic));
        ck_assert_msg(blocks == rows[i].blocks, "row %zu: %d blocks", i, blocks);
    }
}
END_TEST

START_TEST(the_device_describes_itself)
{
    CUdevice device;
    char name[64], bus[32];
    size_t total;
    int value, major, minor;
    CUuuid uuid;
    test_context(_i);
    OK(cuDeviceGet(&device, 0));
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 1));
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
    OK(cuDeviceGetName(name, sizeof name, 0));
    ck_assert_str_eq(name, "Overlap software device");
    OK(cuDeviceGetName(name, 8, 0));
    ck_assert_str_eq(name, "Overlap");
    OK(cuDeviceTotalMem(&total, 0));
    ck_assert_uint_eq(total, 4ull << 30);
    OK(cuDeviceComputeCapability(&major, &minor, 0));
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    ck_assert_int_eq(value, major);
    for (int attribute = 1; attribute < CU_DEVICE_ATTRIBUTE_MAX; attribute++)
        OK(cuDeviceGetAttribute(&value, (CUdevice_attribute)attribute, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0));
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    ck_assert_int_eq(value, 32);
    OK(cuDeviceGetUuid(&uuid, 0));
    OK(cuDeviceGetPCIBusId(bus, sizeof bus, 0));
    OK(cuDeviceGetByPCIBusId(&device, bus));
    ck_assert_int_eq(device, 0);
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId(&device, "0000:09:00.0"));
}
END_TEST

/* Calls are recorded once, by their plain names, with the caller's address. */
START_TEST(calls_are_recorded)
{
    test_context(_i);
    CUstream stream = test_stream(0);
    CUdeviceptr p = test_device(BYTES);
    OK(test_launch("set", stream, p, 1, N));
    OK(cuStreamSynchronize(stream));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p + 1));
    ck_assert_uint_eq(test_count(TRACE_CALL, 0, "cuCtxCreate"), 1);
    ck_assert_uint_eq(test_count(TRACE_CALL, 0, "cuLaunchKernel"), 1);
    const struct trace_record launch = *test_find(TRACE_CALL, 0, "cuLaunchKernel");
    const struct trace_record kernel = *test_find(TRACE_OPERATION, TRACE_KERNEL, "set");
    const struct trace_record sync = *test_find(TRACE_CALL, 0, "cuStreamSynchronize");
    ck_assert_uint_eq(launch.flags, TRACE_DRIVER | TRACE_ASYNC | TRACE_CAN_FAIL);
    ck_assert_uint_eq(launch.request, kernel.request);
    ck_assert_uint_eq(launch.stream, kernel.stream);
    ck_assert_uint_eq(launch.context, kernel.context);
    ck_assert_uint_ne(launch.caller, 0);
    ck_assert_uint_eq(kernel.count, N);
    ck_assert_uint_ge(kernel.start_ns, launch.end_ns);
    ck_assert_uint_eq(sync.stream, launch.stream);
    ck_assert_uint_ge(sync.end_ns, kernel.end_ns);
    ck_assert_int_eq(test_find(TRACE_CALL, 0, "cuMemFree")->code, CUDA_ERROR_INVALID_VALUE);
}
END_TEST

/* An entry of a library made by a compiler is read at its first use, and its errors are reported
 * then, each time; the other entries are not affected. */
START_TEST(an_entry_of_a_library_is_read_when_it_is_used)
{
    static unsigned char fat[4096];
    char text[2048];
    CUlibrary library;
    CUkernel good, wrong;
    CUfunction function;
    unsigned value;
    snprintf(text, sizeof text, "%s.visible .entry wrong() { mov.b32 %%r1, 1; ret; }\n", small);
    test_fat_binary(fat, text);
    if (_i % 2 == 1) setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    test_context(_i);
    OK(cuLibraryLoadData(&library, fat, NULL, NULL, 0, NULL, NULL, 0));
    if (_i % 2 == 1) {
        FAILS(CUDA_ERROR_INVALID_PTX, cuLibraryGetKernel(&good, library, "bounded"));
        return;
    }
    OK(cuLibraryGetKernel(&good, library, "bounded"));
    OK(cuLibraryGetKernel(&wrong, library, "wrong"));
    FAILS(CUDA_ERROR_INVALID_PTX, cuKernelGetFunction(&function, wrong));
    FAILS(CUDA_ERROR_INVALID_PTX, cuKernelGetFunction(&function, wrong));
    OK(cuKernelGetFunction(&function, good));
    CUdeviceptr p = test_device(4);
    OK(launch_bounded(function, p, 32));
    OK(cuMemcpyDtoH(&value, p, 4));
    ck_assert_uint_eq(value, 7);
    const struct trace_record *found = test_find(TRACE_FINDING, 0, NULL);
    ck_assert_ptr_nonnull(strstr(test_sentence(found), "neither a declared register"));
}
END_TEST

/* The same text is parsed once, but an option that changes the code affects its own call only. */
START_TEST(a_text_that_is_loaded_again_is_the_same_code)
{
    CUmodule module, limited;
    CUfunction function, other;
    CUjit_option options[] = {CU_JIT_MAX_REGISTERS};
    void *values[] = {(void *)16};
    char text[1024];
    test_context(_i);
    for (int again = 0; again < 3; again++) {
        OK(cuModuleLoadData(&module, small));
        OK(cuModuleLoadDataEx(&limited, small, 1, options, values));
        OK(cuModuleGetFunction(&function, module, "bounded"));
        OK(cuModuleGetFunction(&other, limited, "bounded"));
        ck_assert_ptr_ne(function, other);
        OK(cuModuleUnload(module));
        OK(launch_bounded(other, test_device(4), 32));
        OK(cuModuleUnload(limited));
    }
    snprintf(text, sizeof text, "%s", small);
    *strstr(text, "bounded") = 'B';
    OK(cuModuleLoadData(&module, text));
    FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&function, module, "bounded"));
    OK(cuModuleGetFunction(&function, module, "Bounded"));
}
END_TEST

/* As an H100 lets it; what was stored stays for later launches. */
START_TEST(a_kernel_may_store_to_constant_memory)
{
    static const char text[] =
        ".version 7.5\n.target sm_75\n.address_size 64\n"
        ".visible .const .align 4 .u32 fixed = 7;\n"
        ".visible .entry put(.param .u64 a) { .reg .b64 %a; .reg .b32 %r;\n"
        "ld.param.u64 %a, [a]; mov.u32 %r, 11; st.u32 [%a], %r; ret; }\n"
        ".visible .entry get(.param .u64 a) { .reg .b64 %a; .reg .b32 %r, %c; .reg .pred %p;\n"
        "ld.param.u64 %a, [a]; ld.const.u32 %r, [fixed]; st.global.u32 [%a], %r;\n"
        "mov.u64 %a, fixed; cvta.const.u64 %a, %a; isspacep.const %p, %a;\n"
        "selp.u32 %c, 1, 0, %p; ld.param.u64 %a, [a]; st.global.u32 [%a+4], %c; ret; }\n";
    CUmodule module;
    CUfunction put, get;
    CUdeviceptr fixed, out;
    size_t size;
    uint32_t seen[2];
    test_context(_i);
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetGlobal(&fixed, &size, module, "fixed"));
    OK(cuModuleGetFunction(&put, module, "put"));
    OK(cuModuleGetFunction(&get, module, "get"));
    out = test_device(sizeof seen);
    void *of_put[] = {&fixed}, *of_get[] = {&out};
    for (uint32_t wanted = 7; wanted <= 11; wanted += 4) {
        OK(cuLaunchKernel(get, 1, 1, 1, 1, 1, 1, 0, NULL, of_get, NULL));
        OK(cuMemcpyDtoH(seen, out, sizeof seen));
        ck_assert_uint_eq(seen[0], wanted);
        ck_assert_uint_eq(seen[1], 1); /* it still is of constant memory */
        OK(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, NULL, of_put, NULL));
    }
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH(seen, fixed, 4));
    ck_assert_uint_eq(seen[0], 11);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("DriverModule");
    TCase *tcase = tcase_create("modules");
    tcase_set_timeout(tcase, 300);
    const TTest *const all_orders[] = {
        a_modules_functions_and_variables_are_found,
        ptx_of_a_later_device_stands_for_its_own_machine_code,
        a_modules_variables_are_its_contexts_own,
        a_kernel_may_store_to_constant_memory,
        a_function_of_another_context_is_refused_and_named,
        what_is_no_module_is_refused_with_a_sentence,
        a_module_is_loaded_from_a_file,
        an_instruction_that_does_not_exist_refuses_the_module,
        a_librarys_kernels_run_in_any_context,
        unloading_a_library_waits_for_its_kernels,
        a_functions_own_attributes_come_before_its_kernels,
        a_function_that_an_occupancy_asks_may_call_cuda,
        what_is_known_of_a_function,
        an_entry_of_a_library_is_read_when_it_is_used,
        a_text_that_is_loaded_again_is_the_same_code,
        the_device_describes_itself,
        calls_are_recorded,
    };
    for (size_t i = 0; i < sizeof all_orders / sizeof *all_orders; i++)
        tcase_add_loop_test(tcase, all_orders[i], 0, ORDERS);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
