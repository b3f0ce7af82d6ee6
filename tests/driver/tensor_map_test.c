/* Tensor maps: which cannot be encoded and with which error, and that a kernel copies by the
 * encoded map. tests/gpu/tensor_map.cu checks the values of boxes. */
#include "tests/driver/support.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 64, HEIGHT = 16 };

/* One thread copies a box of 16 x 2 words at (8, 3) to shared memory, and from there to `out`. */
static const char kernel[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry box(.param .u64 out, .param .align 128 .b8 map[128]) {\n"
    ".reg .b32 %r<8>; .reg .b64 %d<8>; .reg .pred %p;\n"
    ".shared .align 128 .b8 s[128]; .shared .align 8 .b64 m;\n"
    "mov.b64 %d1, map; cvta.param.u64 %d1, %d1; ld.param.u64 %d2, [out];\n"
    "mov.u32 %r1, s; mov.u32 %r2, m; mov.u32 %r3, 8; mov.u32 %r4, 3;\n"
    "mbarrier.init.shared.b64 [%r2], 1; mbarrier.arrive.expect_tx.shared.b64 %d3, [%r2], 128;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes\n"
    "    [%r1], [%d1, {%r3, %r4}], [%r2];\n"
    "wait: mbarrier.test_wait.shared.b64 %p, [%r2], %d3; @!%p bra wait;\n"
    "cp.async.bulk.global.shared::cta.bulk_group [%d2], [%r1], 128;\n"
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret; }\n";

/* The arguments of a call that succeeds, of which each row changes one. */
static struct arguments {
    CUtensorMap *map;
    unsigned type, rank;
    uintptr_t address;
    cuuint64_t size[6], stride[5];
    cuuint32_t box[6], step[6];
    const cuuint64_t *sizes, *strides;
    const cuuint32_t *boxes, *steps;
    unsigned interleave, swizzle, promotion, fill;
} a;
static alignas(128) unsigned char bytes[256];

static void reset(CUdeviceptr address)
{
    a = (struct arguments){.map = (CUtensorMap *)(void *)bytes,
                           .type = CU_TENSOR_MAP_DATA_TYPE_INT32,
                           .rank = 2,
                           .address = address,
                           .size = {WIDTH, HEIGHT, 1, 1, 1, 1},
                           .stride = {4 * WIDTH, 4 * WIDTH * HEIGHT, 8192, 8192, 8192},
                           .box = {16, 2, 1, 1, 1, 1},
                           .step = {1, 1, 1, 1, 1, 1},
                           .sizes = a.size,
                           .strides = a.stride,
                           .boxes = a.box,
                           .steps = a.step};
}

static CUresult encode(void)
{
    return cuTensorMapEncodeTiled(
        a.map, (CUtensorMapDataType)a.type, a.rank, (void *)a.address, a.sizes, a.strides, a.boxes,
        a.steps, (CUtensorMapInterleave)a.interleave, (CUtensorMapSwizzle)a.swizzle,
        (CUtensorMapL2promotion)a.promotion, (CUtensorMapFloatOOBfill)a.fill);
}

/* Each row: the change, and the expected result. */
#define WITH(code, change)                                                                         \
    do {                                                                                           \
        reset(memory);                                                                             \
        change;                                                                                    \
        FAILS(code, encode());                                                                     \
    } while (0)
#define BAD(change) WITH(CUDA_ERROR_INVALID_VALUE, change)
#define GOOD(change) WITH(CUDA_SUCCESS, change)
#define ABSENT(change) WITH(CUDA_ERROR_NOT_SUPPORTED, change)

START_TEST(arguments_are_checked)
{
    CUdeviceptr memory;
    test_context(LATEST);
    OK(cuMemAlloc(&memory, 1 << 16));
    GOOD();
    BAD(a.map = NULL);
    BAD(a.map = (CUtensorMap *)(void *)(bytes + 16));
    GOOD(a.map = (CUtensorMap *)(void *)(bytes + 64));
    BAD(a.sizes = NULL);
    BAD(a.strides = NULL);
    BAD(a.boxes = NULL);
    BAD(a.steps = NULL);
    BAD(a.type = CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B + 1);
    BAD(a.rank = 0);
    GOOD(a.rank = 1);
    BAD((a.rank = 1, a.strides = NULL)); /* as on an H100 */
    GOOD(a.rank = 5);
    BAD(a.rank = 6);
    BAD(a.rank = UINT32_MAX);
    BAD(a.address += 8);
    GOOD(a.address += 16);
    BAD(a.size[0] = 0);
    GOOD(a.size[0] = UINT64_C(1) << 32);
    BAD(a.size[0] = (UINT64_C(1) << 32) + 1);
    BAD(a.stride[0] += 8);
    GOOD(a.stride[0] = (UINT64_C(1) << 40) - 16);
    BAD(a.stride[0] = UINT64_C(1) << 40);
    GOOD(a.stride[1] = 3); /* not a used dimension */
    BAD(a.box[1] = 0);
    GOOD(a.box[1] = 256);
    BAD(a.box[1] = 257);
    BAD(a.box[0] = 6); /* 24 bytes */
    BAD(a.step[1] = 0);
    GOOD(a.step[1] = 8);
    BAD(a.step[1] = 9);
    BAD(a.step[1] = 257); /* 1 as a byte */
    BAD(a.step[0] = 0);   /* although that dimension is not used */
    BAD(a.interleave = 3);
    BAD(a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B + 1);
    BAD(a.promotion = 4);
    BAD(a.fill = 2);
    BAD(a.fill = 1); /* of integers */
    GOOD((a.fill = 1, a.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32));
    GOOD((a.fill = 1, a.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ));
    GOOD((a.fill = 1, a.type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32));
    GOOD((a.fill = 1, a.type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ));
    BAD(a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B); /* of 64 bytes */
    GOOD(a.swizzle = CU_TENSOR_MAP_SWIZZLE_64B);
    GOOD(a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B);
    BAD((a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B, a.box[0] = 36));
}
END_TEST

START_TEST(what_the_device_has_not_is_named)
{
    CUdeviceptr memory;
    test_context(LATEST);
    OK(cuMemAlloc(&memory, 1 << 16));
    ABSENT((a.rank = 3, a.interleave = CU_TENSOR_MAP_INTERLEAVE_16B));
    ABSENT(a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B);
    ABSENT(a.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B);
    FAILS(CUDA_ERROR_NOT_SUPPORTED,
          cuTensorMapEncodeIm2col(
              a.map, CU_TENSOR_MAP_DATA_TYPE_INT32, 3, (void *)a.address, a.sizes, a.strides, NULL,
              NULL, 1, 1, a.steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
              CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}
END_TEST

START_TEST(an_older_gpu_has_none)
{
    CUdeviceptr memory;
    int value = -1;
    setenv("OVERLAP_DEVICES", "a100", 1);
    test_begin(LATEST);
    OK(cuInit(0));
    CUcontext context;
    OK(cuCtxCreate(&context, NULL, 0, 0));
    OK(cuMemAlloc(&memory, 1 << 16));
    ABSENT();
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0));
    ck_assert_int_eq(value, 0);
    OK(cuCtxDestroy(context));
}
END_TEST

START_TEST(addresses_are_replaced)
{
    CUdeviceptr memory;
    test_context(LATEST);
    OK(cuMemAlloc(&memory, 1 << 16));
    GOOD();
    OK(cuTensorMapReplaceAddress(a.map, (void *)(uintptr_t)(memory + 32)));
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuTensorMapReplaceAddress(a.map, (void *)(uintptr_t)(memory + 8)));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuTensorMapReplaceAddress(NULL, (void *)(uintptr_t)memory));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuTensorMapReplaceAddress((CUtensorMap *)(void *)(bytes + 32),
                                                              (void *)(uintptr_t)memory));
    bytes[40] ^= 1;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuTensorMapReplaceAddress(a.map, (void *)(uintptr_t)memory));
}
END_TEST

START_TEST(a_kernel_copies_by_the_map)
{
    CUdeviceptr memory, out;
    CUmodule module;
    CUfunction function;
    CUdriverProcAddressQueryResult found;
    static int32_t host[WIDTH * HEIGHT], got[32];
    void *entry = NULL;
    test_context(_i);
    OK(cuGetProcAddress("cuTensorMapEncodeTiled", &entry, 12000, 0, &found));
    ck_assert_ptr_nonnull(entry);
    for (int i = 0; i < WIDTH * HEIGHT; i++) host[i] = i;
    OK(cuMemAlloc(&memory, sizeof host));
    OK(cuMemAlloc(&out, sizeof got));
    OK(cuMemcpyHtoD(memory, host, sizeof host));
    GOOD();
    OK(cuModuleLoadData(&module, kernel));
    OK(cuModuleGetFunction(&function, module, "box"));
    void *parameters[] = {&out, a.map};
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    memset(bytes, 0, sizeof bytes); /* the map was copied when the kernel was launched */
    OK(cuMemcpyDtoH(got, out, sizeof got));
    for (int i = 0; i < 32; i++) ck_assert_int_eq(got[i], (3 + i / 16) * WIDTH + 8 + i % 16);
    OK(cuMemFree(memory));
    OK(cuMemFree(out));
    OK(cuModuleUnload(module));
}
END_TEST

START_TEST(a_map_of_freed_memory_is_named)
{
    CUdeviceptr memory, out;
    CUmodule module;
    CUfunction function;
    test_context(LATEST);
    OK(cuMemAlloc(&memory, 1 << 16));
    OK(cuMemAlloc(&out, 128));
    GOOD();
    OK(cuMemFree(memory));
    OK(cuModuleLoadData(&module, kernel));
    OK(cuModuleGetFunction(&function, module, "box"));
    void *parameters[] = {&out, a.map};
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("driver_tensor_map");
    TCase *tests = tcase_create("maps");
    tcase_add_test(tests, arguments_are_checked);
    tcase_add_test(tests, what_the_device_has_not_is_named);
    tcase_add_test(tests, an_older_gpu_has_none);
    tcase_add_test(tests, addresses_are_replaced);
    tcase_add_loop_test(tests, a_kernel_copies_by_the_map, 0, ORDERS);
    tcase_add_test(tests, a_map_of_freed_memory_is_named);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
