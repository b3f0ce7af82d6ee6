/* Promises of libnvidia-ml.so.1: it lists the devices that exist, as CUDA then has them, without
 * initialising CUDA; what it cannot know it says it does not support. */
#include "emulator/nvml/nvml.h"

#include <check.h>
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OK(call) ck_assert_int_eq(call, 0)

static void setup(void)
{
    setenv("OVERLAP_DEVICES", "h100,a100:2G,t4", 1);
    setenv("CUDA_VISIBLE_DEVICES", "2,1", 1);
    OK(nvmlInit_v2());
}

static nvmlDevice_t device(unsigned index)
{
    nvmlDevice_t found = NULL;
    OK(nvmlDeviceGetHandleByIndex_v2(index, &found));
    return found;
}

START_TEST(nothing_works_before_init_and_behind_shutdown)
{
    unsigned count;
    char text[NVML_VERSION];
    const nvmlDevice_t first = device(0);
    OK(nvmlInitWithFlags(1));
    OK(nvmlShutdown());
    OK(nvmlDeviceGetCount_v2(&count));
    OK(nvmlShutdown());
    ck_assert_int_eq(nvmlDeviceGetCount_v2(&count), NVML_ERROR_UNINITIALIZED);
    ck_assert_int_eq(nvmlDeviceGetName(first, text, sizeof text), NVML_ERROR_UNINITIALIZED);
    ck_assert_int_eq(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
    OK(nvmlSystemGetNVMLVersion(text, sizeof text));
}
END_TEST

START_TEST(all_devices_are_listed_whatever_cuda_shows)
{
    static const struct {
        const char *name, *bus;
        int major, minor;
        unsigned architecture, cores, generation;
        unsigned long long memory;
    } rows[] = {
        {"Overlap software device (h100)", "00000000:01:00.0", 9, 0, 9, 132 * 128, 5, 4ull << 30},
        {"Overlap software device (a100)", "00000000:02:00.0", 8, 0, 7, 108 * 64, 4, 2ull << 30},
        {"Overlap software device (t4)", "00000000:03:00.0", 7, 5, 6, 40 * 64, 3, 4ull << 30},
    };
    unsigned count, number;
    OK(nvmlDeviceGetCount_v2(&count));
    ck_assert_uint_eq(count, 3);
    for (unsigned i = 0; i < count; i++) {
        char text[NVML_NAME];
        nvmlPciInfo_t pci;
        nvmlMemory_t memory;
        int major, minor;
        OK(nvmlDeviceGetName(device(i), text, sizeof text));
        ck_assert_str_eq(text, rows[i].name);
        OK(nvmlDeviceGetPciInfo_v3(device(i), &pci));
        ck_assert_str_eq(pci.busId, rows[i].bus);
        ck_assert_str_eq(pci.busIdLegacy, rows[i].bus + 4);
        OK(nvmlDeviceGetCudaComputeCapability(device(i), &major, &minor));
        ck_assert_int_eq(10 * major + minor, 10 * rows[i].major + rows[i].minor);
        OK(nvmlDeviceGetArchitecture(device(i), &number));
        ck_assert_uint_eq(number, rows[i].architecture);
        OK(nvmlDeviceGetNumGpuCores(device(i), &number));
        ck_assert_uint_eq(number, rows[i].cores);
        OK(nvmlDeviceGetCurrPcieLinkGeneration(device(i), &number));
        ck_assert_uint_eq(number, rows[i].generation);
        OK(nvmlDeviceGetMaxPcieLinkWidth(device(i), &number));
        ck_assert_uint_eq(number, 16);
        OK(nvmlDeviceGetMemoryInfo(device(i), &memory));
        ck_assert_uint_eq(memory.total, rows[i].memory);
        ck_assert_uint_eq(memory.used, 0);
        OK(nvmlDeviceGetIndex(device(i), &number));
        ck_assert_uint_eq(number, i);
    }
}
END_TEST

/* By the UUID and the bus, by which programs find the same device in both. */
START_TEST(devices_are_those_of_cuda)
{
    OK(cuInit(0));
    for (int i = 0; i < 2; i++) {
        CUuuid uuid;
        char bus[NVML_BUS_ID], text[NVML_UUID], wanted[NVML_UUID] = "GPU-";
        nvmlDevice_t by_bus, by_uuid;
        OK(cuDeviceGetPCIBusId(bus, sizeof bus, i));
        OK(nvmlDeviceGetHandleByPciBusId_v2(bus, &by_bus));
        ck_assert_ptr_eq(by_bus, device(i == 0 ? 2 : 1));
        OK(cuDeviceGetUuid(&uuid, i));
        for (int k = 0; k < 16; k++)
            sprintf(wanted + strlen(wanted), "%s%02x", k >= 4 && k <= 10 && k % 2 == 0 ? "-" : "",
                    (unsigned char)uuid.bytes[k]);
        OK(nvmlDeviceGetUUID(by_bus, text, sizeof text));
        ck_assert_str_eq(text, wanted);
        OK(nvmlDeviceGetHandleByUUID(text, &by_uuid));
        ck_assert_ptr_eq(by_uuid, by_bus);
    }
    nvmlDevice_t none;
    ck_assert_int_eq(nvmlDeviceGetHandleByPciBusId_v2("0000:09:00.0", &none), NVML_ERROR_NOT_FOUND);
    ck_assert_int_eq(nvmlDeviceGetHandleByUUID("GPU-0", &none), NVML_ERROR_NOT_FOUND);
}
END_TEST

/* Many programs look for a device, then choose it by CUDA_VISIBLE_DEVICES, or fork. */
START_TEST(cuda_begins_later)
{
    int count, status;
    unsigned there;
    OK(nvmlDeviceGetCount_v2(&there));
    setenv("CUDA_VISIBLE_DEVICES", "0", 1);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) _exit(cuInit(0) == CUDA_SUCCESS ? 0 : 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    ck_assert_int_eq(count, 1);
}
END_TEST

START_TEST(memory_in_use_is_this_processs)
{
    CUcontext context;
    CUdeviceptr memory;
    nvmlMemory_t info;
    nvmlMemory_v2_t more = {.version = NVML_MEMORY_V2};
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 1));
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc(&memory, 3 << 20));
    OK(nvmlDeviceGetMemoryInfo(device(1), &info));
    ck_assert_uint_ge(info.used, 3 << 20);
    ck_assert_uint_eq(info.used + info.free, info.total);
    OK(nvmlDeviceGetMemoryInfo_v2(device(1), &more));
    ck_assert_uint_eq(more.used, info.used);
    more.version = 1;
    ck_assert_int_eq(nvmlDeviceGetMemoryInfo_v2(device(1), &more),
                     NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    OK(nvmlDeviceGetMemoryInfo(device(0), &info));
    ck_assert_uint_eq(info.used, 0);
    OK(cuMemFree(memory));
    OK(cuDevicePrimaryCtxRelease(1));
}
END_TEST

nvmlReturn_t nvmlDeviceGetUtilizationRates(void);
nvmlReturn_t nvmlDeviceGetTemperature(void);

START_TEST(bad_arguments_and_what_no_device_measures)
{
    char text[8];
    unsigned number;
    nvmlDevice_t none;
    int any = 0;
    ck_assert_int_eq(nvmlDeviceGetHandleByIndex_v2(3, &none), NVML_ERROR_INVALID_ARGUMENT);
    ck_assert_int_eq(nvmlDeviceGetHandleByIndex_v2(0, NULL), NVML_ERROR_INVALID_ARGUMENT);
    ck_assert_int_eq(nvmlDeviceGetIndex((nvmlDevice_t)(void *)&any, &number),
                     NVML_ERROR_INVALID_ARGUMENT);
    ck_assert_int_eq(nvmlDeviceGetIndex(NULL, &number), NVML_ERROR_INVALID_ARGUMENT);
    ck_assert_int_eq(nvmlDeviceGetCudaComputeCapability(device(0), &any, NULL),
                     NVML_ERROR_INVALID_ARGUMENT);
    ck_assert_int_eq(nvmlDeviceGetName(device(0), text, sizeof text), NVML_ERROR_INSUFFICIENT_SIZE);
    ck_assert_int_eq(nvmlDeviceGetMaxClockInfo(device(0), 9, &number), NVML_ERROR_NOT_SUPPORTED);
    ck_assert_int_eq(nvmlDeviceGetUtilizationRates(), NVML_ERROR_NOT_SUPPORTED);
    ck_assert_int_eq(nvmlDeviceGetTemperature(), NVML_ERROR_NOT_SUPPORTED);
    ck_assert_ptr_nonnull(strstr(nvmlErrorString(NVML_ERROR_NOT_SUPPORTED), "not support"));
    ck_assert_ptr_nonnull(nvmlErrorString((nvmlReturn_t)999));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nvml");
    TCase *tests = tcase_create("nvml");
    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_test(tests, nothing_works_before_init_and_behind_shutdown);
    tcase_add_test(tests, all_devices_are_listed_whatever_cuda_shows);
    tcase_add_test(tests, devices_are_those_of_cuda);
    tcase_add_test(tests, cuda_begins_later);
    tcase_add_test(tests, memory_in_use_is_this_processs);
    tcase_add_test(tests, bad_arguments_and_what_no_device_measures);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
