/* cuLink*, options of calls that take code, and invalid code. */
#include "tests/driver/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 7.5\n.target sm_75\n.address_size 64\n"

static char user[] = HEAD ".extern .func (.param .b32 r) value();\n"
                          ".visible .entry k(.param .u64 out) {\n"
                          ".reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
                          "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;\n"
                          "{ .param .b32 v; call.uni (v), value, (); ld.param.b32 %r1, [v]; }\n"
                          "st.global.u32 [%rd1], %r1; ret; }\n";
static char owner[] = HEAD ".visible .func (.param .b32 r) value() {\n"
                           ".reg .b32 %r<2>; mov.u32 %r1, 4711; st.param.b32 [r], %r1; ret; }\n";
static char hidden[] = HEAD ".func (.param .b32 r) value() {\n"
                            ".reg .b32 %r<2>; mov.u32 %r1, 4711; st.param.b32 [r], %r1; ret; }\n";
/* The header of a cubin. */
static char elf[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x41, 8, [16] = 2, [18] = (char)190};

static CUresult add(CUlinkState state, CUjitInputType type, char *text, size_t size)
{
    return cuLinkAddData(state, type, text, size, "input", 0, NULL, NULL);
}

START_TEST(ptx_and_a_fat_binary_are_linked)
{
    static unsigned char fat[2048];
    CUlinkState state;
    CUmodule module;
    CUfunction kernel;
    void *image;
    size_t size;
    unsigned value = 0;
    test_context(_i);
    OK(cuLinkCreate(0, NULL, NULL, &state));
    OK(add(state, CU_JIT_INPUT_PTX, user, sizeof user));
    size_t length = test_fat_binary(fat, owner);
    OK(cuLinkAddData(state, CU_JIT_INPUT_FATBINARY, fat, length, NULL, 0, NULL, NULL));
    OK(cuLinkComplete(state, &image, &size));
    ck_assert_uint_gt(size, sizeof user);
    void *again;
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuLinkComplete(state, &again, &size)); /* once only */
    OK(cuModuleLoadData(&module, image));
    OK(cuLinkDestroy(state));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuLinkDestroy(state));
    CUdeviceptr p = test_device(4);
    OK(cuModuleGetFunction(&kernel, module, "k"));
    void *parameters[] = {&p};
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    OK(cuMemcpyDtoH(&value, p, 4));
    ck_assert_uint_eq(value, 4711);
}
END_TEST

START_TEST(what_cannot_be_linked_is_named_in_the_log)
{
    char log[1024] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    CUlinkState state;
    void *image;
    test_context(LATEST);
    OK(cuLinkCreate(2, options, values, &state));
    FAILS(CUDA_ERROR_NO_BINARY_FOR_GPU, add(state, CU_JIT_INPUT_CUBIN, elf, sizeof elf));
    ck_assert_ptr_nonnull(strstr(log, "no PTX, only machine code"));
    FAILS(CUDA_ERROR_INVALID_IMAGE, add(state, CU_JIT_INPUT_CUBIN, log, 8));
    FAILS(CUDA_ERROR_NOT_SUPPORTED, add(state, CU_JIT_INPUT_LIBRARY, elf, sizeof elf));
    OK(cuLinkAddData(state, CU_JIT_INPUT_LIBRARY, elf, sizeof elf, "/lib64/libcudadevrt.a", 0, NULL,
                     NULL)); /* the device has its own */
    FAILS(CUDA_ERROR_INVALID_VALUE, add(state, (CUjitInputType)77, elf, sizeof elf));
    FAILS(CUDA_ERROR_INVALID_VALUE, add(state, CU_JIT_INPUT_PTX, user, 0));
    FAILS(CUDA_ERROR_INVALID_IMAGE, add(state, CU_JIT_INPUT_PTX, log, 8));
    OK(add(state, CU_JIT_INPUT_PTX, owner, sizeof owner));
    FAILS(CUDA_ERROR_INVALID_SOURCE, add(state, CU_JIT_INPUT_PTX, owner, sizeof owner));
    ck_assert_ptr_nonnull(strstr(log, "value is defined in two translation units"));
    /* Inputs that contradict each other make the link state unusable. */
    FAILS(CUDA_ERROR_INVALID_SOURCE, add(state, CU_JIT_INPUT_PTX, user, sizeof user));
    FAILS(CUDA_ERROR_INVALID_SOURCE, cuLinkComplete(state, &image, NULL));
    OK(cuLinkDestroy(state));

    OK(cuLinkCreate(0, NULL, NULL, &state));
    OK(cuLinkComplete(state, &image, NULL)); /* of nothing */
    OK(cuLinkDestroy(state));

    OK(cuLinkCreate(2, options, values, &state));
    OK(add(state, CU_JIT_INPUT_PTX, user, sizeof user));
    FAILS(CUDA_ERROR_INVALID_SOURCE, cuLinkComplete(state, &image, NULL));
    ck_assert_ptr_nonnull(strstr(log, "Undefined reference to 'value' in 'k'"));
    OK(cuLinkDestroy(state));

    /* What another unit keeps to itself defines nothing. */
    log[0] = '\0', values[1] = (void *)sizeof log;
    OK(cuLinkCreate(2, options, values, &state));
    OK(add(state, CU_JIT_INPUT_PTX, hidden, sizeof hidden));
    OK(add(state, CU_JIT_INPUT_PTX, user, sizeof user));
    FAILS(CUDA_ERROR_INVALID_SOURCE, cuLinkComplete(state, &image, NULL));
    ck_assert_ptr_nonnull(strstr(log, "Undefined reference to 'value' in 'k'"));
    OK(cuLinkDestroy(state));
}
END_TEST

START_TEST(logs_end_where_their_buffers_end)
{
    char error[40], info[200];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_WALL_TIME};
    void *values[] = {error, (void *)16, info, (void *)sizeof info, NULL};
    CUmodule module;
    memset(error, 'x', sizeof error);
    test_context(LATEST);
    FAILS(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, user, 4, options, values));
    ck_assert_uint_eq(strnlen(error, sizeof error), 15);
    ck_assert_uint_eq((uintptr_t)values[1], 15);
    ck_assert_int_eq(error[16], 'x');
    values[1] = (void *)16, values[3] = (void *)sizeof info;
    OK(cuModuleLoadDataEx(&module, owner, 5, options, values));
    ck_assert_uint_eq((uintptr_t)values[1], 0);
    ck_assert_uint_eq((uintptr_t)values[3], strlen(info));
    ck_assert_str_eq(info, "");
    float milliseconds;
    memcpy(&milliseconds, &values[4], sizeof milliseconds);
    ck_assert(milliseconds > 0);
}
END_TEST

/* Writes a kernel with `count` live values. */
static void make_hungry(char *text, size_t size, int count)
{
    int used = snprintf(text, size,
                        HEAD ".visible .entry hungry(.param .u64 p) {\n"
                             ".reg .b32 %%r<%d>; .reg .b64 %%rd<2>;\n"
                             "ld.param.u64 %%rd1, [p];\nmov.u32 %%r0, 0;\n",
                        count + 1);
    for (int i = 1; i <= count; i++)
        used += snprintf(text + used, size - (size_t)used, "ld.u32 %%r%d, [%%rd1+%d];\n", i, 4 * i);
    for (int i = 1; i <= count; i++)
        used += snprintf(text + used, size - (size_t)used, "add.u32 %%r0, %%r0, %%r%d;\n", i);
    snprintf(text + used, size - (size_t)used, "st.u32 [%%rd1], %%r0; ret; }\n");
}

static int registers_of(CUmodule module, int *blocks)
{
    CUfunction kernel;
    int registers;
    OK(cuModuleGetFunction(&kernel, module, "hungry"));
    OK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, 256, 0));
    return registers;
}

START_TEST(a_limit_of_registers_is_kept)
{
    static char text[8192];
    CUjit_option options[] = {CU_JIT_MAX_REGISTERS};
    void *values[] = {(void *)32}, *image;
    CUmodule module;
    CUlibrary library;
    CUlinkState state;
    int free_blocks, blocks;
    test_context(LATEST);
    make_hungry(text, sizeof text, 100);
    OK(cuModuleLoadData(&module, text));
    ck_assert_int_ge(registers_of(module, &free_blocks), 100);
    OK(cuModuleLoadDataEx(&module, text, 1, options, values));
    ck_assert_int_eq(registers_of(module, &blocks), 32);
    ck_assert_int_gt(blocks, free_blocks);
    OK(cuLibraryLoadData(&library, text, options, values, 1, NULL, NULL, 0));
    OK(cuLibraryGetModule(&module, library));
    ck_assert_int_eq(registers_of(module, &blocks), 32);
    OK(cuLinkCreate(1, options, values, &state));
    OK(add(state, CU_JIT_INPUT_PTX, text, sizeof text));
    OK(cuLinkComplete(state, &image, NULL));
    OK(cuModuleLoadData(&module, image));
    ck_assert_int_eq(registers_of(module, &blocks), 32);
    /* A limit above what the code needs changes nothing. */
    values[0] = (void *)200;
    OK(cuModuleLoadDataEx(&module, text, 1, options, values));
    registers_of(module, &blocks);
    ck_assert_int_eq(blocks, free_blocks);
}
END_TEST

START_TEST(options_that_nobody_knows_are_refused)
{
    CUjit_option options[] = {CU_JIT_MAX_REGISTERS};
    void *values[] = {(void *)32};
    CUmodule module;
    CUlinkState state;
    test_context(LATEST);
    OK(cuModuleLoadDataEx(&module, owner, 1, options, values));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuModuleLoadDataEx(&module, owner, 1, NULL, values));
    options[0] = (CUjit_option)1000;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuModuleLoadDataEx(&module, owner, 1, options, values));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLinkCreate(1, options, values, &state));
    options[0] = CU_JIT_GLOBAL_SYMBOL_COUNT;
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuLinkCreate(1, options, values, &state));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLinkCreate(0, NULL, NULL, NULL));
}
END_TEST

START_TEST(what_is_undefined_refuses_the_load)
{
    CUmodule module;
    CUlibrary library;
    CUkernel kernel;
    CUdeviceptr p;
    size_t size;
    unsigned value = 77, count = 77;
    test_context(LATEST);
    FAILS(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, user));
    /* For a library the error is reported when it is used. */
    OK(cuLibraryLoadData(&library, user, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernelCount(&count, library));
    FAILS(CUDA_ERROR_INVALID_PTX, cuLibraryGetKernel(&kernel, library, "k"));
    FAILS(CUDA_ERROR_INVALID_PTX, cuLibraryGetModule(&module, library));
    FAILS(CUDA_ERROR_INVALID_PTX, cuLibraryGetGlobal(&p, &size, library, "v"));
    OK(cuLibraryUnload(library));
    /* The undefined variable gets memory of its own. */
    OK(cuModuleLoadData(&module, HEAD ".extern .global .u32 nowhere;\n"));
    OK(cuModuleGetGlobal(&p, &size, module, "nowhere"));
    OK(cuMemcpyDtoH(&value, p, sizeof value));
    ck_assert_uint_eq(value, 0);
    ck_assert_ptr_nonnull(test_find(TRACE_FINDING, 0, "undefined variable"));
    OK(cuModuleUnload(module));
    /* An unused declaration is not an error, and printf is the device's own. */
    OK(cuModuleLoadData(&module, HEAD ".extern .func unused();\n"
                                      ".extern .func (.param .b32 r) vprintf(.param .b64 f, "
                                      ".param .b64 a);\n.visible .entry k() { ret; }\n"));
    FAILS(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, elf));
    FAILS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, "\177ELF\2\1 and no more"));
    FAILS(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
          cuModuleLoadData(&module, ".version 99.0\n.target sm_75\n.address_size 64\n"));
    FAILS(CUDA_ERROR_INVALID_PTX,
          cuModuleLoadData(&module, ".version 9.0\n.target sm_100\n.address_size 64\n"));
    OK(cuModuleLoadData(&module, ".version 9.3\n.target sm_75\n.address_size 64\n"));
    OK(cuModuleLoadData(&module, ".version 9.0\n.target sm_90a\n.address_size 64\n"));
    ck_assert_ptr_nonnull(test_find(TRACE_FINDING, 0, "invalid module"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("driver_link");
    TCase *tcase = tcase_create("link");
    tcase_add_loop_test(tcase, ptx_and_a_fat_binary_are_linked, 0, ORDERS);
    tcase_add_test(tcase, what_cannot_be_linked_is_named_in_the_log);
    tcase_add_test(tcase, logs_end_where_their_buffers_end);
    tcase_add_test(tcase, a_limit_of_registers_is_kept);
    tcase_add_test(tcase, options_that_nobody_knows_are_refused);
    tcase_add_test(tcase, what_is_undefined_refuses_the_load);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
