#include "emulator/driver/work/occupancy.h"

#include "emulator/driver/findings/finding.h"

/* ---- limits ------- */

static unsigned registers_for_occupancy(const struct exec_function_info *info)
{
    /* The executor counts virtual registers. A compiler would fit them to the block size, in units
     * of 8 registers per thread of a warp. */
    unsigned warps = ((info->max_threads > 0 ? info->max_threads : 1024u) + 31) / 32;
    unsigned most = 65536u / 32 / warps / 8 * 8;
    return info->registers < most ? info->registers : most;
}

/* Bytes of a multiprocessor's memory that are shared memory while the function runs: its
 * preference, but at least what one block needs, rounded up to a supported size (Programming Guide,
 * "Compute Capability 9.x", and what an H200 returns). */
static uint64_t shared_carveout(int device, const struct function *function, uint64_t of_block)
{
    static const unsigned sizes[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}; /* KiB */
    enum { SIZES = sizeof sizes / sizeof *sizes };
    unsigned percent = 100, k = 0;
    if (function->carveout >= 0)
        percent = (unsigned)function->carveout;
    else if (function->cache == CU_FUNC_CACHE_PREFER_L1)
        percent = 0;
    else if (function->cache == CU_FUNC_CACHE_PREFER_EQUAL)
        percent = 50;
    while (k < SIZES - 1 &&
           (sizes[k] * 100 < percent * sizes[SIZES - 1] || (uint64_t)sizes[k] << 10 < of_block))
        k++;
    const int there = device_says(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    return sizes[k] << 10 < (unsigned)there ? (uint64_t)sizes[k] << 10 : (uint64_t)there;
}

unsigned occupancy_blocks(int device, const struct function *function, uint64_t threads,
                          uint64_t dynamic_shared)
{
    const struct exec_function_info *info = exec_function_info(function->code);
    const int64_t always = SHARED_DEFAULT - (int64_t)info->static_shared;
    const int64_t allowed =
        function->max_dynamic_shared > always ? function->max_dynamic_shared : always;
    const uint64_t shared =
        info->static_shared + dynamic_shared + (uint64_t)device_model(device)->shared_reserved;
    if (threads == 0 || threads > 1024 || allowed < 0 || dynamic_shared > (uint64_t)allowed)
        return 0;
    const unsigned blocks = timeline_resident_blocks(device_model(device), (uint32_t)threads, 0,
                                                     registers_for_occupancy(info));
    if (shared == 0) return blocks; /* a T4 keeps none for itself */
    const uint64_t by_shared = shared_carveout(device, function, shared) / shared;
    return by_shared < blocks ? (unsigned)by_shared : blocks;
}

/* Of the current context's device. */
int64_t occupancy_shared_most(void)
{
    return device_says(device_current(), CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
}

/* Multiprocessors in each GPC of the chip; all blocks of a cluster run in one GPC. 132 of 144
 * multiprocessors are enabled, and which ones differs from chip to chip. These numbers reproduce an
 * H200's answers (tests/gpu/cluster.chip.txt) to within 5 %. */
static const unsigned gpcs[] = {18, 18, 18, 16, 16, 16, 16, 14};
enum { CLUSTER_BLOCKS = 8 }; /* of clusters, per multiprocessor: the same GPU */

uint64_t occupancy_clusters(int device, const struct function *function, uint64_t blocks,
                            uint64_t threads, uint64_t dynamic_shared)
{
    const uint64_t fit = occupancy_blocks(device, function, threads, dynamic_shared),
                   each = fit < CLUSTER_BLOCKS ? fit : CLUSTER_BLOCKS;
    uint64_t clusters = 0;
    if (!device_says(device, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) || blocks == 0) return 0;
    for (size_t i = 0; i < sizeof gpcs / sizeof *gpcs; i++) clusters += gpcs[i] / blocks * each;
    return clusters;
}

/* ---- occupancy --------------------------------------------------------------------------- */

CUresult driver_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks,
                                                                     CUfunction func, int blockSize,
                                                                     size_t dynamicSMemSize,
                                                                     unsigned int flags)
{
    struct function *function;
    NEED_POINTER(numBlocks);
    if (blockSize <= 0 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CUDA_ERROR_INVALID_VALUE;
    TRY(function_find(func, &function));
    *numBlocks =
        (int)occupancy_blocks(device_current(), function, (uint64_t)blockSize, dynamicSMemSize);
    return CUDA_SUCCESS;
}

CUresult driver_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func,
                                                            int blockSize, size_t dynamicSMemSize)
{
    return driver_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize,
                                                                       dynamicSMemSize, 0);
}

/* Calls a function of the submission, which may call CUDA itself: without the driver's lock. */
static size_t shared_for(CUoccupancyB2DSize of_block, int size)
{
    const CUresult owed = thread.owed;
    driver_unlock();
    const size_t bytes = of_block(size);
    driver_lock();
    thread.owed = owed;
    return bytes;
}

CUresult
driver_cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
                                                 CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                 size_t dynamicSMemSize, int blockSizeLimit,
                                                 unsigned int flags)
{
    struct function *function;
    NEED_POINTER(minGridSize);
    NEED_POINTER(blockSize);
    if (flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE || blockSizeLimit < 0)
        return CUDA_ERROR_INVALID_VALUE;
    TRY(function_find(func, &function));
    const struct exec_function_info *info = exec_function_info(function->code);
    int most = info->max_threads > 0 ? (int)info->max_threads : 1024;
    if (blockSizeLimit > 0 && blockSizeLimit < most) most = blockSizeLimit;
    int best_size = 0, best_blocks = 0;
    /* The largest block size among those that keep the most threads resident. */
    for (int size = most; size > 0; size -= size % 32 != 0 ? size % 32 : 32) {
        size_t shared = dynamicSMemSize;
        if (blockSizeToDynamicSMemSize != NULL) {
            shared = shared_for(blockSizeToDynamicSMemSize, size);
            TRY(function_find(func, &function)); /* it may have been unloaded meanwhile */
        }
        int blocks = (int)occupancy_blocks(device_current(), function, (uint64_t)size, shared);
        if (blocks * size <= best_blocks * best_size) continue;
        best_size = size;
        best_blocks = blocks;
    }
    *blockSize = best_size;
    *minGridSize = best_blocks * (int)device_model(device_current())->multiprocessors;
    return CUDA_SUCCESS;
}

CUresult driver_cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                                 CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                 size_t dynamicSMemSize, int blockSizeLimit)
{
    return driver_cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func,
                                                            blockSizeToDynamicSMemSize,
                                                            dynamicSMemSize, blockSizeLimit, 0);
}

CUresult driver_cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func,
                                                        int numBlocks, int blockSize)
{
    struct function *function;
    NEED_POINTER(dynamicSmemSize);
    if (numBlocks <= 0 || blockSize <= 0 || blockSize > 1024) return CUDA_ERROR_INVALID_VALUE;
    TRY(function_find(func, &function));
    const struct exec_function_info *info = exec_function_info(function->code);
    if (occupancy_blocks(device_current(), function, (uint64_t)blockSize, 0) < (unsigned)numBlocks)
        return CUDA_ERROR_INVALID_VALUE;
    /* An H200 does not count what CUDA keeps of each block's shared memory here. */
    int64_t each = (int64_t)device_model(device_current())->shared_bytes / numBlocks -
                   (int64_t)info->static_shared;
    int64_t most = occupancy_shared_most() - (int64_t)info->static_shared;
    if (each > most) each = most;
    if (each > function->max_dynamic_shared) each = function->max_dynamic_shared;
    *dynamicSmemSize = each > 0 ? (size_t)each : 0;
    return CUDA_SUCCESS;
}

/* ---- clusters ---------------------------------------------------------------------------- */

static uint64_t threads_of(const CUlaunchConfig *config)
{
    return (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
}

/* The number of blocks per cluster of such a launch. */
static CUresult cluster_of(const struct function *function, const CUlaunchConfig *config,
                           uint64_t *blocks)
{
    const uint32_t *made = exec_function_info(function->code)->cluster;
    if (config->numAttrs > 0 && config->attrs == NULL) return CUDA_ERROR_INVALID_VALUE;
    *blocks = (uint64_t)made[0] * made[1] * made[2];
    for (unsigned i = 0; i < config->numAttrs && *blocks == 0; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            *blocks = (uint64_t)config->attrs[i].value.clusterDim.x *
                      config->attrs[i].value.clusterDim.y * config->attrs[i].value.clusterDim.z;
    if (*blocks == 0) *blocks = 1;
    return *blocks > (function->cluster.non_portable ? CLUSTER_MOST : CLUSTER_PORTABLE)
               ? CUDA_ERROR_INVALID_CLUSTER_SIZE
               : CUDA_SUCCESS;
}

CUresult driver_cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func,
                                                   const CUlaunchConfig *config)
{
    struct function *function;
    uint64_t blocks;
    NEED_POINTER(clusterSize);
    NEED_POINTER(config);
    TRY(function_find(func, &function));
    TRY(cluster_of(function, config, &blocks));
    unsigned size = function->cluster.non_portable ? CLUSTER_MOST : CLUSTER_PORTABLE;
    while (size > 0 && occupancy_clusters(device_current(), function, size, threads_of(config),
                                          config->sharedMemBytes) == 0)
        size /= 2;
    *clusterSize = (int)size;
    return CUDA_SUCCESS;
}

CUresult driver_cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func,
                                             const CUlaunchConfig *config)
{
    struct function *function;
    uint64_t blocks;
    NEED_POINTER(numClusters);
    NEED_POINTER(config);
    TRY(function_find(func, &function));
    TRY(cluster_of(function, config, &blocks));
    const uint64_t grid = (uint64_t)config->gridDimX * config->gridDimY * config->gridDimZ;
    if (grid % blocks != 0) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    *numClusters = (int)occupancy_clusters(device_current(), function, blocks, threads_of(config),
                                           config->sharedMemBytes);
    return CUDA_SUCCESS;
}
