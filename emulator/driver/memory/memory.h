/* memory: device, page-locked, managed and stream-ordered memory, that of graphs, virtual
 * addresses, arrays, textures. What an address is, whose it is, and when it ends.
 *
 * It orders nothing and copies nothing (work). The bytes themselves are of emulator/memory.
 *
 * An array's texels lie in device memory row behind row without gaps; the order cannot
 * be seen, since an array has no address. A texture or surface object is a number that the executor
 * knows (machine/texture.h). Not supported, and named: sparse and planar arrays, texture
 * references, views of a resource.
 *
 * Source: CUDA Driver API 13.0, "Memory Management", "Stream Ordered Memory Allocator", "Virtual
 * Memory Management", "Texture Object Management", "Surface Object Management".
 */
#ifndef OVERLAP_DRIVER_MEMORY_MEMORY_H
#define OVERLAP_DRIVER_MEMORY_MEMORY_H

#include "emulator/driver/core/core.h"
#include "emulator/exec/machine/texture.h"

/* Says to stream who gives back a context's memory. Before the first call. */
void memory_room_begin(void);

/* ---- arrays ------------------------------------------------------------------------------- */

struct array {
    struct object object;
    CUDA_ARRAY3D_DESCRIPTOR descriptor; /* as it was given: absent dimensions are 0 */
    const struct memory_region *region;
    enum exec_texel texel;
    uint32_t texel_bytes;
    size_t row_bytes, rows, slices; /* rows and slices are at least 1; layers are slices */
    /* A mipmapped array has levels and no texels of its own. */
    struct array **levels;
    unsigned level_count; /* 0: it is none */
    bool is_level;        /* and ends with the mipmapped array */
};

/* The array, or the mipmapped array, behind a handle, or NULL. */
struct array *array_find(CUarray handle);
struct array *mipmapped_find(CUmipmappedArray handle);

/* A part of an array as memory: the address of its first byte. x and width in bytes.
 * CUDA_ERROR_INVALID_HANDLE; CUDA_ERROR_INVALID_VALUE when it is not inside of the array. */
struct array_part {
    size_t x, y, z, width, height, depth;
};
CUresult array_place(CUarray handle, const struct array_part *part, uint64_t *address,
                     size_t *pitch, size_t *slice);

/* ---- memory of graphs --------------------------------------------------------------------- */

struct graph_memory {
    uint64_t address, size, id; /* of the region, which may have gone with its context */
    unsigned nodes;             /* that allocate it: the graph's and its executable graph's */
    bool allocated;             /* by the calls made so far: launched, and not freed since */
    struct graph_memory *next;
};

/* What an allocation or a free node does, as an operation; allocating also fills in the address. */
CUresult graph_memory_allocate(CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params, struct operation **operation,
                               struct timeline_work *work);
CUresult graph_memory_free(const CUDA_MEM_FREE_NODE_PARAMS *params, struct operation **operation,
                           struct timeline_work *work);
/* The memory behind an address; NULL: it is none of a graph. */
struct graph_memory *graph_memory_find(CUdeviceptr address);
/* A node allocates it, or does so no more. Any other address is passed through. */
void graph_memory_retain(CUdeviceptr address);
void graph_memory_release(CUdeviceptr address);
/* A launch takes so many bytes and gives them back: of nodes that may all have theirs at once. */
void graph_memory_used_inside(uint64_t bytes);
/* A call changes whether the submission has the memory. */
void graph_memory_set_allocated(struct graph_memory *memory, bool allocated);

#endif
