/* What an address is: attributes of pointers. */
#include "emulator/driver/memory/parts.h"

#include <string.h>

/* Bytes of the attributes' types; 0: not supported, or no attribute. */
static const uint8_t sizes[] = {
    [CU_POINTER_ATTRIBUTE_CONTEXT] = 8,
    [CU_POINTER_ATTRIBUTE_MEMORY_TYPE] = 4,
    [CU_POINTER_ATTRIBUTE_DEVICE_POINTER] = 8,
    [CU_POINTER_ATTRIBUTE_HOST_POINTER] = 8,
    [CU_POINTER_ATTRIBUTE_SYNC_MEMOPS] = 4,
    [CU_POINTER_ATTRIBUTE_BUFFER_ID] = 8,
    [CU_POINTER_ATTRIBUTE_IS_MANAGED] = 4,
    [CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL] = 4,
    [CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE] = 4,
    [CU_POINTER_ATTRIBUTE_RANGE_START_ADDR] = 8,
    [CU_POINTER_ATTRIBUTE_RANGE_SIZE] = 8,
    [CU_POINTER_ATTRIBUTE_MAPPED] = 4,
    [CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES] = 8,
    [CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE] = 4,
    [CU_POINTER_ATTRIBUTE_ACCESS_FLAGS] = 4,
    [CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE] = 8,
    [CU_POINTER_ATTRIBUTE_MAPPING_SIZE] = 8,
    [CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR] = 8,
    [CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID] = 8,
    [CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE] = 4,
};

static bool is_host_memory(const struct memory_region *region)
{
    return region->kind == MEMORY_PINNED || region->kind == MEMORY_MANAGED;
}

/* May the current context's kernels use it? */
static bool is_within_reach(const struct memory_region *region)
{
    const struct context *context = thread_context();
    return context == NULL || peers_may_access(context, region, false);
}

/* An attribute of an address inside `region`. */
static uint64_t answer(CUpointer_attribute attribute, CUdeviceptr ptr,
                       const struct memory_region *region)
{
    struct virtual_map map = {.range = region->address,
                              .range_size = region->size,
                              .base = region->address,
                              .size = region->size,
                              .block = region->id};
    virtual_find(ptr, &map);
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        /* a pool's memory belongs to the device, mapped memory to the process */
        return region->pool == 0 ? (uint64_t)(uintptr_t)region_context(region) : 0;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return region->kind == MEMORY_PINNED || region->on_host ? CU_MEMORYTYPE_HOST
                                                                : CU_MEMORYTYPE_DEVICE;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return is_within_reach(region) ? ptr : 0;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        return is_host_memory(region) ? ptr : 0;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return region->syncs;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        return region->id;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return region->kind == MEMORY_MANAGED;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return region->device;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        return ipc_can_share(region);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return map.range;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return map.range_size;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        return 1;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return map.handle_types;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return region->read_only ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ
                                 : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return (uint64_t)(uintptr_t)pool_handle(region);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        return map.size;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        return map.base;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return map.block;
    default:
        return 0;
    }
}

/* What is unknown is ordinary host memory: its host pointer is the address, the rest nothing. */
static uint64_t answer_of_none(CUpointer_attribute attribute, CUdeviceptr ptr)
{
    return attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER     ? ptr
           : attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL ? (uint64_t)CU_DEVICE_INVALID
                                                              : 0;
}

CUresult driver_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    NEED_POINTER(data);
    const struct memory_region *region = memory_find(ptr);
    if (region == NULL || (size_t)attribute >= sizeof sizes || sizes[attribute] == 0 ||
        (attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER && !is_host_memory(region)) ||
        (attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER && !is_within_reach(region)))
        return CUDA_ERROR_INVALID_VALUE;
    const uint64_t value = answer(attribute, ptr, region);
    memcpy(data, &value, sizes[attribute]); /* little-endian: the low bytes come first */
    return CUDA_SUCCESS;
}

CUresult driver_cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes,
                                       void **data, CUdeviceptr ptr)
{
    NEED_POINTER(attributes);
    NEED_POINTER(data);
    if (numAttributes == 0) return CUDA_ERROR_INVALID_VALUE;
    const struct memory_region *region = memory_find(ptr);
    for (unsigned i = 0; i < numAttributes; i++) {
        if (attributes[i] < CU_POINTER_ATTRIBUTE_CONTEXT ||
            attributes[i] > CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE)
            return CUDA_ERROR_INVALID_VALUE;
        NEED_POINTER(data[i]);
        const uint64_t value = region != NULL ? answer(attributes[i], ptr, region)
                                              : answer_of_none(attributes[i], ptr);
        memcpy(data[i], &value, sizes[attributes[i]]);
    }
    return CUDA_SUCCESS;
}

CUresult driver_cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                                      CUdeviceptr ptr)
{
    NEED_POINTER(value);
    const struct memory_region *region = memory_find(ptr);
    if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || region == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memory_set_syncs(region, *(const unsigned char *)value != 0);
    return CUDA_SUCCESS;
}
