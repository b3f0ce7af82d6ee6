/* Several devices, and none: the effect of OVERLAP_DEVICES and CUDA_VISIBLE_DEVICES, the devices'
 * descriptions, and contexts on all of them. Each test is a process of its own. */
#include "emulator/timeline/model.h"
#include "tests/driver/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CUresult start(const char *there, const char *visible)
{
    ck_assert_int_eq(setenv("OVERLAP_QUIET", "all", 1), 0);
    if (there != NULL) ck_assert_int_eq(setenv("OVERLAP_DEVICES", there, 1), 0);
    if (visible != NULL) ck_assert_int_eq(setenv("CUDA_VISIBLE_DEVICES", visible, 1), 0);
    return cuInit(0);
}

static int says(CUdevice_attribute attribute, int device)
{
    int value = -1;
    OK(cuDeviceGetAttribute(&value, attribute, device));
    return value;
}

/* ---- which are there, and are seen ----------------------------------------------------------- */

static const struct {
    const char *there, *visible;
    CUresult code;
    const char *buses; /* the visible devices' numbers on the bus */
} lists[] = {
    {NULL, NULL, CUDA_SUCCESS, "1"},
    {"", NULL, CUDA_SUCCESS, "1"},
    {"3", NULL, CUDA_SUCCESS, "123"},
    {"h100,a100,t4", NULL, CUDA_SUCCESS, "123"},
    {"h100,h100", NULL, CUDA_SUCCESS, "12"},
    {"0", NULL, CUDA_ERROR_NO_DEVICE, ""},
    {"0", "0", CUDA_ERROR_NO_DEVICE, ""},
    {"17", NULL, CUDA_SUCCESS, "1"}, /* none of these is a value: one device */
    {"h100,", NULL, CUDA_SUCCESS, "1"},
    {"h300", NULL, CUDA_SUCCESS, "1"},
    {"h100:lots", NULL, CUDA_SUCCESS, "1"},
    {"-1", NULL, CUDA_SUCCESS, "1"},
    {"3", "2,0", CUDA_SUCCESS, "31"},
    {"3", "1", CUDA_SUCCESS, "2"},
    {"3", "", CUDA_ERROR_NO_DEVICE, ""},
    {"3", "-1", CUDA_ERROR_NO_DEVICE, ""},
    {"3", "3", CUDA_ERROR_NO_DEVICE, ""},
    {"3", "2,-1,0", CUDA_SUCCESS, "3"},
    {"3", "2,7,0", CUDA_SUCCESS, "3"},
    {"3", "1,none", CUDA_SUCCESS, "2"},
    {"3", "1,0,1", CUDA_ERROR_INVALID_DEVICE, ""},
    {"3", "1,7,1", CUDA_SUCCESS, "2"},
    {"3", "GPU-4f766572-6c61-7000-6465-766963652032,0", CUDA_SUCCESS, "31"},
    {"3", "GPU-4f76", CUDA_ERROR_NO_DEVICE, ""}, /* all devices' names begin so */
};

START_TEST(the_devices_are_those_that_are_seen)
{
    int count = -1;
    ck_assert_int_eq(start(lists[_i].there, lists[_i].visible), lists[_i].code);
    if (lists[_i].code != CUDA_SUCCESS) {
        FAILS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
        return;
    }
    OK(cuDeviceGetCount(&count));
    ck_assert_int_eq(count, (int)strlen(lists[_i].buses));
    for (int i = 0; i < count; i++) {
        char bus[16], wanted[16];
        CUuuid uuid;
        CUdevice device, again = -1;
        OK(cuDeviceGet(&device, i));
        ck_assert_int_eq(device, i);
        const int number = lists[_i].buses[i] - '0';
        ck_assert_int_eq(says(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device), number);
        OK(cuDeviceGetUuid(&uuid, device));
        ck_assert_int_eq(uuid.bytes[15], '0' + number - 1);
        OK(cuDeviceGetPCIBusId(bus, sizeof bus, device));
        snprintf(wanted, sizeof wanted, "0000:%02d:00.0", number);
        ck_assert_str_eq(bus, wanted);
        OK(cuDeviceGetByPCIBusId(&again, bus));
        ck_assert_int_eq(again, i);
    }
    CUdevice none;
    CUcontext context;
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&none, count));
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&none, -1));
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate(&context, NULL, 0, count));
}
END_TEST

/* ---- what they are like ---------------------------------------------------------------------- */

static const struct {
    const char *name;
    int capability, multiprocessors;
    size_t memory;
} described[] = {
    {"Overlap software device (t4)", 75, 40, 300u << 20},
    {"Overlap software device (h100)", 90, 132, (size_t)4 << 30},
    {"Overlap software device (rtx4060)", 89, 24, (size_t)4 << 30},
    {"Overlap software device (a100)", 80, 108, (size_t)2 << 30},
    {"Overlap software device (h200)", 90, 132, (size_t)4 << 30},
};

START_TEST(each_describes_itself_as_its_gpu)
{
    OK(start("t4:300M,h100,rtx4060,a100:2G,h200", NULL));
    for (int i = 0; i < (int)(sizeof described / sizeof *described); i++) {
        char name[100];
        size_t memory = 0;
        OK(cuDeviceGetName(name, sizeof name, i));
        ck_assert_str_eq(name, described[i].name);
        OK(cuDeviceTotalMem(&memory, i));
        ck_assert_uint_eq(memory, described[i].memory);
        ck_assert_int_eq(10 * says(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, i) +
                             says(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, i),
                         described[i].capability);
        ck_assert_int_eq(says(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, i),
                         described[i].multiprocessors);
    }
}
END_TEST

/* The devices' attributes and the virtual clock's parameters are two tables, which must agree. */
START_TEST(the_clock_and_the_descriptions_agree)
{
    static const char *const gpus[] = {"h100", "h200", "a100", "rtx4060", "t4"};
    OK(start("h100,h200,a100,rtx4060,t4", NULL));
    for (int i = 0; i < 5; i++) {
        const struct timeline_model *model = timeline_model_at((size_t)i);
        ck_assert_str_eq(model->name, gpus[i]);
        ck_assert_int_eq(says(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, i), model->multiprocessors);
        ck_assert_int_eq(says(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, i),
                         32 * model->resident_warps);
        ck_assert_int_eq(says(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, i),
                         model->resident_blocks);
        ck_assert_int_eq(says(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, i),
                         model->shared_bytes);
        ck_assert_int_eq(says(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, i),
                         model->shared_reserved);
    }
}
END_TEST

START_TEST(a_number_of_devices_takes_the_gpu_that_is_asked_for)
{
    char name[100];
    setenv("OVERLAP_GPU", "a100", 1);
    OK(start("2", NULL));
    OK(cuDeviceGetName(name, sizeof name, 1));
    ck_assert_str_eq(name, "Overlap software device");
    ck_assert_int_eq(says(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 1), 108);
    ck_assert_int_eq(says(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1), 9);
}
END_TEST

/* ---- contexts on each ------------------------------------------------------------------------ */

START_TEST(work_is_done_on_every_device)
{
    setenv("OVERLAP_DEVICES", "h100:64M,h200:128M", 1);
    test_begin(_i);
    OK(cuInit(0));
    for (int i = 0; i < 2; i++) {
        CUcontext context, popped;
        CUdevice device = -1;
        CUstream stream;
        CUdeviceptr p;
        int ordinal = -1;
        size_t before, free_bytes, total;
        uint32_t values[64];
        OK(cuCtxCreate(&context, NULL, 0, i));
        OK(cuCtxGetDevice(&device));
        ck_assert_int_eq(device, i);
        test_load();
        OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        OK(cuStreamGetDevice(stream, &device));
        ck_assert_int_eq(device, i);
        OK(cuMemGetInfo(&before, &total));
        p = test_device(sizeof values);
        OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
        ck_assert_int_eq(ordinal, i);
        OK(test_launch("set", stream, p, 7 + (uint64_t)i, 64));
        OK(cuStreamSynchronize(stream));
        OK(cuMemcpyDtoH(values, p, sizeof values));
        for (int k = 0; k < 64; k++) ck_assert_uint_eq(values[k], 7u + (unsigned)i);
        OK(cuMemGetInfo(&free_bytes, &total));
        ck_assert_uint_eq(total, (64u << 20) << i);
        ck_assert_uint_eq(free_bytes, before - sizeof values);
        ck_assert(before > total - 4096 && before <= total);
        FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, total));
        OK(cuCtxPopCurrent(&popped));
        OK(cuCtxDestroy(context));
    }
}
END_TEST

/* Makes a device's primary context current. */
static CUcontext use(int device)
{
    CUcontext context;
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    return context;
}

enum { WORDS = 64, BYTES = 4 * WORDS };

/* Fills memory of both devices in streams of such flags, copies it from the first one to the second
 * in the default stream of either, and writes to both again. */
static void copy_between(int way, unsigned flags, uint32_t values[WORDS])
{
    CUcontext contexts[2];
    CUdeviceptr p[2];
    CUstream streams[2];
    OK(cuInit(0));
    for (int i = 0; i < 2; i++) {
        contexts[i] = use(i);
        p[i] = test_device(BYTES);
        OK(cuStreamCreate(&streams[i], flags));
        OK(cuMemsetD32Async(p[i], 7u + (unsigned)i, WORDS, streams[i]));
    }
    OK(cuCtxSetCurrent(contexts[way & 1])); /* of the source or of the destination */
    OK(way & 2 ? cuMemcpy(p[1], p[0], BYTES)
               : cuMemcpyPeer(p[1], contexts[1], p[0], contexts[0], BYTES));
    for (int i = 0; i < 2; i++) {
        OK(cuCtxSetCurrent(contexts[i]));
        OK(cuMemsetD32Async(p[i], 1, 8, streams[i]));
    }
    OK(cuMemcpyDtoH(values, p[1], BYTES));
    for (int i = 0; i < 2; i++) {
        OK(cuCtxSetCurrent(contexts[i]));
        OK(cuCtxSynchronize());
    }
}

/* The copy takes part in the default streams of both devices. */
START_TEST(a_copy_between_devices_stands_between_the_work_of_both)
{
    uint32_t values[WORDS];
    setenv("OVERLAP_DEVICES", "2", 1);
    test_begin(_i % ORDERS);
    copy_between(_i / ORDERS, CU_STREAM_DEFAULT, values);
    for (int k = 0; k < WORDS; k++) ck_assert_uint_eq(values[k], k < 8 ? 1u : 7u);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "race"), 0);
}
END_TEST

/* Streams that do not wait for a default stream do not wait for such a copy either. */
START_TEST(a_copy_between_devices_leaves_non_blocking_streams_alone)
{
    uint32_t values[WORDS];
    setenv("OVERLAP_DEVICES", "2", 1);
    setenv("OVERLAP_QUIET", "all", 1);
    test_begin(_i % ORDERS);
    copy_between(_i / ORDERS, CU_STREAM_NON_BLOCKING, values);
    ck_assert_uint_ge(test_count(TRACE_FINDING, 0, "race"), 2);
}
END_TEST

/* So does a copy of another context's memory, also on the same device. */
START_TEST(a_copy_of_another_contexts_memory_stands_in_its_default_stream)
{
    CUcontext contexts[2];
    CUstream stream;
    CUdeviceptr p;
    uint32_t values[WORDS];
    test_begin(_i);
    OK(cuInit(0));
    for (int i = 0; i < 2; i++) OK(cuCtxCreate(&contexts[i], NULL, 0, 0));
    p = test_device(BYTES);
    OK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    OK(cuMemsetD32Async(p, 7, WORDS, stream));
    OK(cuCtxSetCurrent(contexts[0]));
    OK(cuMemcpyDtoH(values, p, BYTES));
    for (int k = 0; k < WORDS; k++) ck_assert_uint_eq(values[k], 7);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "race"), 0);
}
END_TEST

static int is_alive(int device)
{
    unsigned flags;
    int active = -1;
    OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    return active;
}

START_TEST(every_device_has_a_primary_context)
{
    CUcontext first, second, again;
    CUmemoryPool pools[2];
    OK(start("2", NULL));
    OK(cuDevicePrimaryCtxRetain(&second, 1));
    ck_assert(!is_alive(0) && is_alive(1));
    OK(cuDevicePrimaryCtxRetain(&first, 0));
    ck_assert_ptr_ne(first, second);
    OK(cuDevicePrimaryCtxRetain(&again, 1));
    ck_assert_ptr_eq(again, second);
    OK(cuDevicePrimaryCtxRelease(0));
    ck_assert(!is_alive(0) && is_alive(1));
    OK(cuDevicePrimaryCtxRelease(1));
    ck_assert(is_alive(1));
    OK(cuDevicePrimaryCtxRelease(1));
    ck_assert(!is_alive(1));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(1));
    for (int i = 0; i < 2; i++) OK(cuDeviceGetDefaultMemPool(&pools[i], i));
    ck_assert_ptr_ne(pools[0], pools[1]);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceSetMemPool(0, pools[1]));
}
END_TEST

static int device_of(CUdeviceptr p)
{
    int device = -1;
    OK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
    return device;
}

/* It comes from the stream's device or from the pool's, whatever is current. */
START_TEST(stream_ordered_memory_is_its_pools)
{
    CUcontext contexts[2];
    CUstream streams[2];
    CUmemoryPool pool, of;
    CUdeviceptr p;
    OK(start("2", NULL));
    for (int i = 0; i < 2; i++) {
        contexts[i] = use(i);
        OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    }
    for (int current = 0; current < 2; current++) {
        OK(cuCtxSetCurrent(contexts[current]));
        for (int i = 0; i < 2; i++) {
            OK(cuDeviceGetDefaultMemPool(&pool, i));
            OK(cuMemAllocAsync(&p, 64, streams[i]));
            ck_assert_int_eq(device_of(p), i);
            OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
            ck_assert_ptr_eq(of, pool);
            OK(cuMemFreeAsync(p, streams[i]));
            OK(cuMemAllocFromPoolAsync(&p, 64, pool, streams[current]));
            ck_assert_int_eq(device_of(p), i);
            OK(cuMemFreeAsync(p, streams[current]));
        }
    }
}
END_TEST

static size_t free_memory(CUcontext context)
{
    size_t free, total;
    OK(cuCtxSetCurrent(context));
    OK(cuMemGetInfo(&free, &total));
    return free;
}

START_TEST(virtual_memory_is_of_the_device_that_it_was_made_on)
{
    const size_t size = 2 << 20;
    CUmemAllocationProp on = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                              .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1}};
    CUmemAccessDesc access = {.location = on.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUcontext contexts[2];
    unsigned long long flags = 77;
    CUdeviceptr p;
    unsigned seen = 0;
    OK(start("h100,a100,a100", NULL));
    for (int i = 0; i < 2; i++) contexts[i] = use(i);
    const size_t first = free_memory(contexts[0]), second = free_memory(contexts[1]);
    OK(cuMemAddressReserve(&p, size, 0, 0, 0));
    OK(cuMemCreate(&handle, size, &on, 0));
    ck_assert_uint_eq(free_memory(contexts[0]), first);
    ck_assert_uint_eq(free_memory(contexts[1]), second - size);
    OK(cuMemMap(p, size, 0, handle, 0));
    OK(cuMemSetAccess(p, size, &access, 1));
    ck_assert_int_eq(device_of(p), 1);
    OK(cuMemsetD32(p, 5, 1));
    OK(cuMemcpyDtoH(&seen, p, sizeof seen));
    ck_assert_uint_eq(seen, 5);
    OK(cuMemGetAccess(&flags, &access.location, p));
    ck_assert_uint_eq(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    access.location.id = 0; /* no peer */
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuMemSetAccess(p, size, &access, 1));
    OK(cuMemGetAccess(&flags, &access.location, p));
    ck_assert_uint_eq(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    access.location.id = 2; /* a peer */
    OK(cuMemSetAccess(p, size, &access, 1));
    OK(cuMemGetAccess(&flags, &access.location, p));
    ck_assert_uint_eq(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    on.location.id = 3;
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuMemCreate(&handle, size, &on, 0));
}
END_TEST

static const struct {
    const char *there;
    int access, atomics;
} links[] = {
    {"2", 1, 1},     {"h200,h200", 1, 1},       {"h100,h200", 0, 0},
    {"t4,t4", 1, 0}, {"rtx4060,rtx4060", 0, 0},
};

START_TEST(gpus_of_one_kind_are_peers_if_they_have_a_link)
{
    int value = -1;
    CUcontext contexts[2];
    OK(start(links[_i].there, NULL));
    OK(cuDeviceCanAccessPeer(&value, 0, 1));
    ck_assert_int_eq(value, links[_i].access);
    value = -1;
    OK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
    ck_assert_int_eq(value, links[_i].access);
    OK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, 1, 0));
    ck_assert_int_eq(value, links[_i].atomics);
    FAILS(CUDA_ERROR_INVALID_DEVICE,
          cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 1, 1));
    for (int i = 0; i < 2; i++) contexts[i] = use(i);
    ck_assert_int_eq(cuCtxEnablePeerAccess(contexts[0], 0) == CUDA_SUCCESS, links[_i].access);
}
END_TEST

/* PTX for a newer GPU is refused, and so is more shared memory than the GPU has. */
START_TEST(the_limits_are_the_gpus)
{
    static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                              ".visible .entry k() { ret; }";
    OK(start("a100,t4", NULL));
    for (int i = 0; i < 2; i++) {
        const int most = i == 0 ? 163 << 10 : 64 << 10;
        CUcontext context;
        CUmodule module;
        CUfunction function;
        OK(cuCtxCreate(&context, NULL, 0, i));
        if (i == 1) {
            FAILS(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, ptx));
            break;
        }
        OK(cuModuleLoadData(&module, ptx));
        OK(cuModuleGetFunction(&function, module, "k"));
        OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most));
        FAILS(CUDA_ERROR_INVALID_VALUE,
              cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 most + 1));
    }
}
END_TEST

/* Of a kernel with no shared memory, of which some GPUs keep 1 KiB a block for themselves, and some
 * none. */
START_TEST(every_gpu_has_room_for_blocks)
{
    static const char ptx[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                              ".visible .entry k() { ret; }";
    static const int blocks[] = {2, 2, 2, 1, 1};
    OK(start("h100,h200,a100,rtx4060,t4", NULL));
    for (int i = 0; i < 5; i++) {
        CUcontext context;
        CUmodule module;
        CUfunction function;
        int most = -1;
        OK(cuCtxCreate(&context, NULL, 0, i));
        OK(cuModuleLoadData(&module, ptx));
        OK(cuModuleGetFunction(&function, module, "k"));
        OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&most, function, 1024, 0));
        ck_assert_int_eq(most, blocks[i]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("driver_devices");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, the_devices_are_those_that_are_seen, 0,
                        sizeof lists / sizeof *lists);
    tcase_add_test(tests, each_describes_itself_as_its_gpu);
    tcase_add_test(tests, the_clock_and_the_descriptions_agree);
    tcase_add_test(tests, a_number_of_devices_takes_the_gpu_that_is_asked_for);
    tcase_add_loop_test(tests, work_is_done_on_every_device, 0, ORDERS);
    tcase_add_loop_test(tests, a_copy_between_devices_stands_between_the_work_of_both, 0,
                        4 * ORDERS);
    tcase_add_loop_test(tests, a_copy_between_devices_leaves_non_blocking_streams_alone, 0,
                        4 * ORDERS);
    tcase_add_loop_test(tests, a_copy_of_another_contexts_memory_stands_in_its_default_stream, 0,
                        ORDERS);
    tcase_add_test(tests, every_device_has_a_primary_context);
    tcase_add_test(tests, stream_ordered_memory_is_its_pools);
    tcase_add_test(tests, virtual_memory_is_of_the_device_that_it_was_made_on);
    tcase_add_loop_test(tests, gpus_of_one_kind_are_peers_if_they_have_a_link, 0,
                        sizeof links / sizeof *links);
    tcase_add_test(tests, the_limits_are_the_gpus);
    tcase_add_test(tests, every_gpu_has_room_for_blocks);
    suite_add_tcase(suite, tests);
    return test_main(suite);
}
