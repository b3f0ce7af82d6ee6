/* memory: device, page-locked, managed and stream-ordered memory, memory of graphs, virtual
 * addresses, arrays, textures. Answers what an address is, which context it belongs to, and when it
 * ends.
 *
 * This room orders and copies nothing (work/). The bytes themselves are managed by emulator/memory.
 *
 * An array's texels lie in device memory, row after row without gaps; no program can see this,
 * since an array has no address. A texture or surface object is a number that the executor knows
 * (machine/texture.h). Not supported, and reported by name: sparse and compressed arrays, texture
 * references, filtered integers.
 *
 * Source: CUDA Driver API 13.0, "Memory Management", "Stream Ordered Memory Allocator", "Virtual
 * Memory Management", "Texture Object Management", "Surface Object Management".
 */
#ifndef OVERLAP_DRIVER_MEMORY_MEMORY_H
#define OVERLAP_DRIVER_MEMORY_MEMORY_H

#include "emulator/driver/core/core.h"
#include "emulator/exec/machine/texture.h"

/* Installs the function that frees a context's memory (stream/stream.h). Called before the first
 * call. */
void memory_room_begin(void);

/* ---- contexts and devices (peers.c) ------------------------------------------------------- */

/* May kernels and fills of the context use the region, which is live? */
bool peers_may_access(const struct context *context, const struct memory_region *region,
                      bool writes);
/* The other context to which the device memory at `address` belongs; NULL: it is the context's own,
 * or the host's, or nobody's. */
const struct context *peers_owner(const struct context *context, uint64_t address);

/* ---- arrays ------------------------------------------------------------------------------- */

struct array {
    struct object object;
    CUDA_ARRAY3D_DESCRIPTOR descriptor; /* as given: absent dimensions are 0 */
    const struct memory_region *region;
    const struct array_format *format;
    uint32_t texel_bytes;
    size_t row_bytes, rows, slices; /* rows and slices are at least 1; layers are slices */
    /* A mipmapped array has levels and no texels of its own. */
    struct array **levels;
    unsigned level_count; /* 0: not mipmapped */
    bool is_level;        /* one level of a mipmapped array; ends with it */
};

/* The array, or mipmapped array, of a handle; NULL if the handle is not one. */
struct array *array_find(CUarray handle);
struct array *mipmapped_find(CUmipmappedArray handle);

/* A box inside an array; x and width in bytes. array_place finds the memory of its first byte.
 * Returns CUDA_ERROR_INVALID_HANDLE, or CUDA_ERROR_INVALID_VALUE if the box is not inside the
 * array. */
struct array_part {
    size_t x, y, z, width, height, depth;
};
CUresult array_place(CUarray handle, const struct array_part *part, uint64_t *address,
                     size_t *pitch, size_t *slice);

/* ---- memory of graphs --------------------------------------------------------------------- */

struct graph_memory {
    uint64_t address, size, id; /* of the region, which may have ended with its context */
    unsigned nodes;             /* allocation nodes for it: in a graph and in its executable
                                   graph */
    unsigned frees;             /* operations that free it, of nodes and of launches, and have not
                                   run */
    bool allocated;             /* as of the calls made so far: launched and not freed since */
    struct graph_memory *next;
};

/* Make the operation of an allocation or a free node; allocating also fills in the address. */
CUresult graph_memory_allocate(CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params, struct operation **operation,
                               struct timeline_work *work);
CUresult graph_memory_free(const CUDA_MEM_FREE_NODE_PARAMS *params, struct operation **operation,
                           struct timeline_work *work);
/* The graph memory at an address; NULL: none. */
struct graph_memory *graph_memory_find(CUdeviceptr address);
/* A node that allocates this memory was added, or removed. Other addresses are ignored. */
void graph_memory_retain(CUdeviceptr address);
void graph_memory_release(CUdeviceptr address);
/* A launch allocates and frees this many bytes by itself; all may be in use at once. */
void graph_memory_used_inside(uint64_t bytes);
/* A call changes whether the submission owns the memory. */
void graph_memory_set_allocated(struct graph_memory *memory, bool allocated);

#endif
