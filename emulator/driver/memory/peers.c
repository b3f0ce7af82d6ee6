/* Which contexts may use which memory. Contexts of one device may use each other's, as on an H200
 * (tests/gpu/context_memory.cu). That of another device (tests/gpu/peers.cu) needs, by its kind:
 * cuCtxEnablePeerAccess towards the owner, for cuMemAlloc; access to the pool; access to the mapped
 * addresses. A module's variables are never another device's. */
#include "emulator/driver/memory/parts.h"

#include "emulator/base/array.h"
#include "emulator/driver/stream/stream.h"

#include <stdlib.h>

/* `from` may use the memory of `to`. */
struct peering {
    const struct context *from, *to;
};

static struct {
    struct peering *list;
    size_t count, room;
} peers;

static size_t peering_find(const struct context *from, const struct context *to)
{
    size_t i = 0;
    while (i < peers.count && (peers.list[i].from != from || peers.list[i].to != to)) i++;
    return i;
}

CUresult driver_cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    const struct context *context = thread_context();
    struct context *peer;
    if (Flags != 0) return CUDA_ERROR_INVALID_VALUE;
    TRY(context_find(peerContext, &peer));
    if (device_link(context->device, peer->device) == DEVICE_UNLINKED)
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    if (peering_find(context, peer) < peers.count) return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    if (!array_grow(&peers.list, peers.count, &peers.room, sizeof *peers.list))
        return CUDA_ERROR_OUT_OF_MEMORY;
    peers.list[peers.count++] = (struct peering){context, peer};
    return CUDA_SUCCESS;
}

CUresult driver_cuCtxDisablePeerAccess(CUcontext peerContext)
{
    struct context *peer;
    TRY(context_find(peerContext, &peer));
    const size_t found = peering_find(thread_context(), peer);
    if (found == peers.count) return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    peers.list[found] = peers.list[--peers.count];
    return CUDA_SUCCESS;
}

void peers_forget(const struct context *context)
{
    for (size_t i = peers.count; i-- > 0;)
        if (peers.list[i].from == context || peers.list[i].to == context)
            peers.list[i] = peers.list[--peers.count];
}

bool peers_may_access(const struct context *context, const struct memory_region *region,
                      bool writes)
{
    const unsigned device = (unsigned)context->device;
    CUmemAccess_flags flags;
    if (region->kind == MEMORY_PINNED || region->kind == MEMORY_MANAGED || region->on_host)
        return true;
    if (virtual_access(region, context->device, &flags))
        return flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ||
               (flags == CU_MEM_ACCESS_FLAGS_PROT_READ && !writes);
    if (region->device == device) return true;
    if (region->kind == MEMORY_VARIABLE) return false;
    if (region->pool != 0) return pool_is_open(region, context->device);
    return peering_find(context, region_context(region)) < peers.count;
}

const struct context *peers_owner(const struct context *context, uint64_t address)
{
    const struct memory_region *region = memory_find(address);
    if (region == NULL || region->context == context->object.id ||
        (region->kind != MEMORY_DEVICE && region->kind != MEMORY_VARIABLE))
        return NULL;
    /* A pool's memory belongs to the device, mapped memory to the process. */
    return region->pool == 0 && !region->mapped          ? region_context(region)
           : region->device == (unsigned)context->device ? NULL
                                                         : driver.primary[region->device].context;
}
