// Which device a thread uses that has not chosen one: cudaSetValidDevices, asked of two H200s.
//
//     nvcc -std=c++17 -arch=sm_90a -o valid_devices tests/gpu/valid_devices.cu -lcuda
//     ./valid_devices > tests/gpu/valid_devices.txt
#include "gpu.cuh"

#include <cstring>
#include <cuda.h>
#include <thread>

static void where(const char *what)
{
    int device = -1;
    CUdevice current = -1;
    const cudaError_t got = cudaGetDevice(&device);
    const cudaError_t freed = cudaFree(0);
    const CUresult has = cuCtxGetDevice(&current);
    printf("%s: cudaGetDevice %d %d, cudaFree %d, context %d of %d\n", what, got, device, freed,
           has, current);
}

static void set(const char *what, int *devices, int count)
{
    printf("cudaSetValidDevices %s: %d\n", what, cudaSetValidDevices(devices, count));
}

static void choose(const char *what, int major)
{
    int device = -1;
    cudaDeviceProp prop;
    memset(&prop, 0, sizeof prop);
    prop.major = major;
    const cudaError_t error = cudaChooseDevice(&device, &prop);
    printf("cudaChooseDevice %s: %d %d\n", what, error, device);
}

// The list is a process's or a thread's: each part has a process.
int main(int count, char **arguments)
{
    static const char *const parts[] = {
        "one", "both", "late", "none", "behind a choice", "before a choice", "chosen", "wrong"};
    int first[] = {0}, second[] = {1}, both[] = {1, 0}, none[] = {2}, many[] = {0, 1, 0};
    if (count < 2) {
        for (const char *part : parts) in_process(arguments[0], part);
        return 0;
    }
    const char *part = arguments[1];
    printf("-- %s\n", part);
    if (!strcmp(part, "one")) {
        set("{1}", second, 1);
        where("then");
        std::thread(where, "another thread").join();
        printf("cudaSetDevice 0: %d\n", cudaSetDevice(0));
        where("then");
    } else if (!strcmp(part, "both")) {
        set("{1, 0}", both, 2);
        where("then");
    } else if (!strcmp(part, "late")) {
        where("first");
        set("{1}", second, 1);
        where("then");
    } else if (!strcmp(part, "none")) {
        set("{1}", second, 1);
        where("then");
        set("{2}", none, 1);
        set("{}", NULL, 0);
        where("then");
    } else if (!strcmp(part, "behind a choice")) {
        printf("cudaSetDevice 0: %d\n", cudaSetDevice(0));
        set("{1}", second, 1);
        where("then");
    } else if (!strcmp(part, "before a choice")) {
        set("{0}", first, 1);
        printf("cudaSetDevice 1: %d\n", cudaSetDevice(1));
        where("then");
    } else if (!strcmp(part, "chosen")) {
        set("{1}", second, 1);
        choose("of nothing", 0);
        choose("of 9", 9);
    } else {
        set("of 3 of 2", many, 3);
        set("of 1 of NULL", NULL, 1);
        set("of -1", second, -1);
    }
    return 0;
}
