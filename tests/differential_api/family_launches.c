/* Launch configurations, right and wrong; attributes of kernels; occupancy. */
#include "tests/differential_api/kernels.h"
#include "tests/differential_api/program.h"

#include <string.h>

struct launches {
    uint32_t *data; /* 4096 words */
};

static enum kernel any_kernel(struct program *p)
{
    return (enum kernel)draw(p, KERNEL_TRAP); /* kernels that do not fail */
}

static void show(struct program *p, struct launches *l)
{
    static uint32_t words[4096];
    cudaMemcpy(words, l->data, sizeof words, cudaMemcpyDeviceToHost);
    note(p, "data: %08x", digest(words, sizeof words));
}

static void launch(struct program *p, void *self)
{
    struct launches *l = self;
    enum kernel k = any_kernel(p);
    dim3 grid = {PICK(p, unsigned, 0, 1, 1, 1, 2, 7),
                 PICK(p, unsigned, 0, 1, 1, 1, 2, 65535, 65536),
                 PICK(p, unsigned, 1, 1, 1, 0, 65536)};
    dim3 block = {PICK(p, unsigned, 0, 1, 32, 64, 65, 256, 1024, 1025),
                  PICK(p, unsigned, 0, 1, 1, 1, 2), PICK(p, unsigned, 1, 1, 1, 1, 0, 64, 65)};
    size_t shared = PICK(p, size_t, 0, 0, 0, 1024, 49152, 49153, 300000);
    if ((uint64_t)grid.x * grid.y * grid.z > 64 && grid.y <= 65535 && grid.z <= 65535 &&
        grid.x > 0 && grid.z > 0)
        grid.y = 1;
    /* Kernels that rely on one block would race with several blocks, or with too wide a block. */
    bool races =
        k == KERNEL_BOUNDED || k == KERNEL_SHARED || k == KERNEL_DYNAMIC || k == KERNEL_SYMBOLS;
    if (races && grid.x > 0 && grid.y > 0 && grid.z > 0 && grid.y <= 65535 && grid.z <= 65535)
        grid = (dim3){1, 1, 1};
    if (block.y != 0 && block.z != 0 && block.y * block.z > 1 && block.z <= 64)
        block.y = block.z = 1;
    uint32_t *half = l->data + 2048;
    unsigned n = 2048, factor = 5, words = 64;
    void *scale[] = {&l->data, &n, &factor}, *mix[] = {&l->data, &half, &n},
         *dynamic[] = {&l->data, &words};
    void **arguments = k == KERNEL_SCALE ? scale : k == KERNEL_MIX ? mix : dynamic;
    if (k == KERNEL_DYNAMIC && shared < 1024) shared = 1024;
    bool cooperative = chance(p, 10);
    rt(p,
       cooperative
           ? cudaLaunchCooperativeKernel(kernel_address(k), grid, block, arguments, shared, NULL)
           : cudaLaunchKernel(kernel_address(k), grid, block, arguments, shared, NULL),
       "%s%s<<<(%u, %u, %u), (%u, %u, %u), %zu>>>", cooperative ? "cooperative " : "",
       kernel_names[k], grid.x, grid.y, grid.z, block.x, block.y, block.z, shared);
    rt(p, cudaDeviceSynchronize(), "cudaDeviceSynchronize()");
    show(p, l);
}

static void attributes(struct program *p, void *self)
{
    enum kernel k = any_kernel(p);
    struct cudaFuncAttributes a;
    (void)self;
    memset(&a, 0, sizeof a);
    rt(p, cudaFuncGetAttributes(&a, kernel_address(k)), "cudaFuncGetAttributes(%s)",
       kernel_names[k]);
    /* Register counts, and threads limited by them, depend on the compiler and are not logged. */
    note(p, "shared %zu constant? local %zu threads %d dynamic %d carve-out %d", a.sharedSizeBytes,
         a.localSizeBytes, a.maxThreadsPerBlock, a.maxDynamicSharedSizeBytes,
         a.preferredShmemCarveout);
}

static void set_attribute(struct program *p, void *self)
{
    enum kernel k = any_kernel(p);
    int which = PICK(p, int, 8, 8, 8, 9, 9, 0, 99);
    int value =
        PICK(p, int, 0, 1024, 49152, 65536, 100000, 232448, 232449, 1 << 20, -1, -2, 50, 101);
    (void)self;
    rt(p, cudaFuncSetAttribute(kernel_address(k), (enum cudaFuncAttribute)which, value),
       "cudaFuncSetAttribute(%s, %d, %d)", kernel_names[k], which, value);
}

static void occupancy(struct program *p, void *self)
{
    enum kernel k = any_kernel(p);
    int threads = PICK(p, int, 0, 1, 31, 32, 64, 65, 128, 256, 512, 1000, 1024, 1025, 2048, -1);
    size_t shared = PICK(p, size_t, 0, 0, 1024, 16384, 49152, 49153, 100000);
    int blocks = 77;
    size_t room = 77;
    (void)self;
    switch (draw(p, 3)) {
    case 0:
        rt(p,
           cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_address(k), threads,
                                                         shared),
           "cudaOccupancyMaxActiveBlocksPerMultiprocessor(%s, %d, %zu)", kernel_names[k], threads,
           shared);
        note(p, "%d", blocks);
        break;
    case 1:
        rt(p,
           cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
               &blocks, kernel_address(k), threads, shared, PICK(p, unsigned, 0, 1)),
           "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(%s, %d, %zu)", kernel_names[k],
           threads, shared);
        note(p, "%d", blocks);
        break;
    default:
        blocks = PICK(p, int, 0, 1, 2, 4, 32, 33);
        rt(p, cudaOccupancyAvailableDynamicSMemPerBlock(&room, kernel_address(k), blocks, threads),
           "cudaOccupancyAvailableDynamicSMemPerBlock(%s, %d, %d)", kernel_names[k], blocks,
           threads);
        note(p, "%zu", room);
        break;
    }
}

static void wrong(struct program *p, void *self)
{
    struct launches *l = self;
    void *arguments[] = {&l->data};
    struct cudaFuncAttributes a;
    int blocks = 0;
    const char *name = NULL;
    size_t offset = 77, size = 77, index = draw(p, 5);
    enum kernel k = any_kernel(p);
    switch (draw(p, 9)) {
    case 0:
        rt(p, cudaLaunchKernel(NULL, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, NULL),
           "cudaLaunchKernel(NULL)");
        break;
    case 1:
        rt(p, cudaLaunchKernel(l, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, NULL),
           "cudaLaunchKernel(no kernel)");
        break;
    case 2:
        rt(p, cudaFuncGetAttributes(&a, NULL), "cudaFuncGetAttributes(NULL)");
        break;
    case 3:
        rt(p, cudaFuncGetAttributes(NULL, kernel_address(k)), "cudaFuncGetAttributes(, %s)",
           kernel_names[k]);
        break;
    case 4:
        rt(p, cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, kernel_address(k), 32, 0),
           "cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL)");
        break;
    case 5:
        rt(p, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, NULL, 32, 0),
           "cudaOccupancyMaxActiveBlocksPerMultiprocessor(, NULL)");
        break;
    case 6:
        rt(p,
           cudaFuncSetCacheConfig(kernel_address(k),
                                  (enum cudaFuncCache)PICK(p, int, 0, 1, 2, 3, 4)),
           "cudaFuncSetCacheConfig(%s)", kernel_names[k]);
        break;
    case 7:
        rt(p, cudaFuncGetName(&name, kernel_address(k)), "cudaFuncGetName(%s)", kernel_names[k]);
        note(p, "%s", name != NULL ? name : "none");
        break;
    default:
        rt(p, cudaFuncGetParamInfo(kernel_address(k), index, &offset, &size),
           "cudaFuncGetParamInfo(%s, %zu)", kernel_names[k], index);
        note(p, "%zu %zu", offset, size);
        break;
    }
}

static void extended(struct program *p, void *self)
{
    struct launches *l = self;
    unsigned n = 2048, factor = 3;
    void *arguments[] = {&l->data, &n, &factor};
    cudaLaunchAttribute attribute = {
        .id = PICK(p, cudaLaunchAttributeID, cudaLaunchAttributePriority,
                   cudaLaunchAttributeCooperative, cudaLaunchAttributeIgnore)};
    cudaLaunchConfig_t config = {
        .gridDim = {PICK(p, unsigned, 0, 1, 2), 1, 1},
        .blockDim = {PICK(p, unsigned, 0, 32, 64, 2000), 1, 1},
        .attrs = &attribute,
        .numAttrs = draw(p, 2),
    };
    if (attribute.id == cudaLaunchAttributeCooperative) attribute.val.cooperative = 1;
    rt(p, cudaLaunchKernelExC(&config, kernel_address(KERNEL_SCALE), arguments),
       "cudaLaunchKernelExC(scale, %u, %u, attributes %u: %d)", config.gridDim.x, config.blockDim.x,
       config.numAttrs, (int)attribute.id);
    show(p, l);
}

static void last_error(struct program *p, void *self)
{
    (void)self;
    if (chance(p, 50))
        rt(p, cudaPeekAtLastError(), "cudaPeekAtLastError()");
    else
        rt(p, cudaGetLastError(), "cudaGetLastError()");
}

static const struct action actions[] = {
    {"launch", 24, launch},         {"attributes", 8, attributes}, {"set", 8, set_attribute},
    {"occupancy", 16, occupancy},   {"wrong", 10, wrong},          {"extended", 5, extended},
    {"last error", 10, last_error},
};

void family_launches(struct program *p)
{
    struct launches l;
    void *memory;
    uint32_t zero[16] = {0};
    cudaMalloc(&memory, 4096 * 4);
    cudaMemset(memory, 1, 4096 * 4);
    l.data = memory;
    cudaMemcpyToSymbol(symbol_variable(), zero, 64, 0, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(symbol_constant(), zero, 64, 0, cudaMemcpyHostToDevice);
    for (unsigned left = 15 + draw(p, 20); left > 0; left--) ACT(p, actions, &l);
    cudaFree(memory);
    for (int k = 0; k < KERNEL_TRAP; k++) { /* restored for the next program */
        cudaFuncSetAttribute(kernel_address((enum kernel)k),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, 0);
        cudaFuncSetAttribute(kernel_address((enum kernel)k),
                             cudaFuncAttributePreferredSharedMemoryCarveout, -1);
        cudaFuncSetCacheConfig(kernel_address((enum kernel)k), cudaFuncCachePreferNone);
    }
    cudaDeviceSynchronize();
    cudaGetLastError();
}
