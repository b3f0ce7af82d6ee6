/* A library that is called as the runtime of NVIDIA's CuTe DSL (LIBRARY), whose functions answer as
 * its own, and a program that does with it what a compiled function of the DSL does:
 *   front_cutedsl LIBRARY once     launches in both ways
 *   front_cutedsl LIBRARY tvm      as what is compiled for TVM's interface
 *   front_cutedsl LIBRARY damaged  the same with an image that does not load
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#ifdef LIBRARY
__attribute__((visibility("default"))) int _cudaGetDevice(int *device);
__attribute__((visibility("default"))) int CuteDSLRT_Own(void);

int _cudaGetDevice(int *device)
{
    *device = -1;
    return 999;
}

int CuteDSLRT_Own(void)
{
    return 7;
}
#else
static const char ptx[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry add(.param .u64 p, .param .u32 n)\n{\n"
                          "    .reg .b64 %rd<2>;\n    .reg .b32 %r<6>;\n"
                          "    ld.param.u64 %rd1, [p];\n    ld.param.u32 %r1, [n];\n"
                          "    mov.u32 %r2, %nctaid.x;\n    mov.u32 %r3, %ntid.y;\n"
                          "    mad.lo.u32 %r4, %r2, %r3, %r1;\n"
                          "    atom.global.add.u32 %r5, [%rd1], %r4;\n    ret;\n}\n";

static void *library;
static cudaKernel_t kernel;

static void *find(const char *name)
{
    void *function = dlsym(library, name);
    if (function == NULL) printf("no %s\n", name);
    return function;
}

#define FIND(type, name, parameters)                                                               \
    type(*name) parameters;                                                                        \
    *(void **)&name = find("_" #name)

static int load_text(cudaLibrary_t *loaded, const char *text)
{
    FIND(int, cudaLibraryLoadData,
         (cudaLibrary_t *, const void *, void *, void *, unsigned, void *, void *, unsigned));
    return cudaLibraryLoadData(loaded, text, NULL, NULL, 0, NULL, NULL, 0);
}

static int load(cudaLibrary_t *loaded)
{
    return load_text(loaded, ptx);
}

static int load_damaged(cudaLibrary_t *loaded)
{
    return load_text(loaded, ".version 9.0\n.nonsense\n");
}

static int prepare(cudaLibrary_t *loaded, int device)
{
    int value = -1;
    FIND(int, cudaLibraryGetKernel, (cudaKernel_t *, cudaLibrary_t, const char *));
    FIND(int, cudaKernelSetAttributeForDevice, (cudaKernel_t, int, int, int));
    FIND(int, cudaFuncSetAttribute, (cudaKernel_t, int, int));
    FIND(int, cuKernelGetAttribute, (int *, int, cudaKernel_t, int));
    int error = cudaLibraryGetKernel(&kernel, *loaded, "add");
    if (error != 0) return error;
    error = cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            100000, device);
    if (error != 0) return error;
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 90000);
    if (error != 0) return error;
    error = cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel,
                                 device);
    printf("shared: %d\n", value);
    return error;
}

static void launch(void)
{
    int *sum = NULL, number = 1, blocks = 0, device = -1;
    void *arguments[] = {&sum, &number};
    FIND(int, cudaGetDevice, (int *));
    FIND(int, cudaLaunchKernel,
         (cudaKernel_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void **, size_t,
          cudaStream_t));
    FIND(int, cudaLaunchKernelEx, (const cudaLaunchConfig_t *, cudaKernel_t, void **));
    FIND(int, cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int *, cudaKernel_t, int, size_t));
    const cudaLaunchConfig_t config = {.gridDim = {2, 1, 1}, .blockDim = {1, 3, 1}};
    printf("device: %d", cudaGetDevice(&device));
    printf(" %d\n", device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 1024, 0);
    printf("blocks: %d\n", blocks);
    cudaMalloc((void **)&sum, sizeof *sum);
    cudaMemset(sum, 0, sizeof *sum);
    /* 5 blocks of 4 * 3 threads add 5 * 3 + 1, and 2 blocks of 3 add 2 * 3 + 1. */
    printf("launches: %d", cudaLaunchKernel(kernel, 5, 1, 1, 4, 3, 1, arguments, 0, NULL));
    printf(" %d\n", cudaLaunchKernelEx(&config, kernel, arguments));
    cudaMemcpy(&number, sum, sizeof number, cudaMemcpyDeviceToHost);
    printf("sum: %d\n", number - 5 * 12 * 16 - 2 * 3 * 7);
    cudaFree(sum);
}

static void say(const char *kind, const char *message)
{
    printf("%s: %s\n", kind, message);
}

static void once(void)
{
    cudaLibrary_t loaded = NULL;
    FIND(int, cudaLibraryUnload, (cudaLibrary_t));
    if (load(&loaded) != 0 || prepare(&loaded, 0) != 0) return;
    launch();
    printf("unload: %d\n", cudaLibraryUnload(loaded));
}

static void tvm(bool damaged)
{
    typedef int init_function(cudaLibrary_t *, int (*)(cudaLibrary_t *),
                              int (*)(cudaLibrary_t *, int), void (*)(const char *, const char *));
    cudaLibrary_t loaded = NULL;
    init_function *init;
    void (*end)(cudaLibrary_t *);
    *(void **)&init = find("cuda_dialect_init_library_once");
    *(void **)&end = find("cuda_dialect_unload_library_once");
    for (int i = 0; i < 2; i++) {
        const int error = init(&loaded, damaged ? load_damaged : load, prepare, say);
        printf("error: %d, %s\n", error, loaded != NULL ? "loaded" : "nothing loaded");
    }
    if (loaded != NULL) launch();
    end(&loaded);
    printf("%s\n", loaded != NULL ? "loaded" : "nothing loaded");
}

int main(int count, char **words)
{
    library = count == 3 ? dlopen(words[1], RTLD_NOW) : NULL;
    if (library == NULL) return 1;
    int (*own)(void);
    *(void **)&own = find("CuteDSLRT_Own");
    printf("own: %d\n", own());
    if (strcmp(words[2], "once") == 0) once();
    if (strcmp(words[2], "once") != 0) tvm(strcmp(words[2], "damaged") == 0);
    return 0;
}
#endif
