/* Declarations shared by the files of memory/. */
#ifndef OVERLAP_DRIVER_MEMORY_PARTS_H
#define OVERLAP_DRIVER_MEMORY_PARTS_H

#include "emulator/driver/memory/memory.h"

/* A format of arrays. Normalised ones are read as fractions, and formatted stores to surfaces take
 * fractions. */
struct array_format {
    CUarray_format format;
    enum exec_texel texel;
    uint8_t bytes;      /* of a channel */
    uint8_t normalised; /* the number of channels of a normalised format; 0: another format */
};
/* Returns NULL for a format that the device has not, or that has not so many channels. */
const struct array_format *array_format(CUarray_format format, unsigned channels);

/* ---- allocation --------------------------------------------------------------------------- */

/* Allocates a region for the current call, whose context, id and caller it fills in. */
CUresult region_make(struct memory_request request, const struct memory_region **region);
/* Refuses, with `code`, to free something that is not an allocation, and reports it. */
CUresult region_refuse_free(uint64_t address, CUresult code);
/* The current call frees this address. */
void region_note_free(uint64_t address);
/* The region's context; NULL: gone, or it has none. */
struct context *region_context(const struct memory_region *region);

/* The context ends: forgets whom it may access, and who may access it. */
void peers_forget(const struct context *context);

/* ---- pools -------------------------------------------------------------------------------- */

/* The region is not in use any more; and its memory has returned to its pool, if it has one. */
void pool_unused(const struct memory_region *region);
void pool_returned(const struct memory_region *region);
/* The region's pool; NULL: not from a pool, or the pool was destroyed. */
CUmemoryPool pool_handle(const struct memory_region *region);
/* Was the device given access to the region's pool? */
bool pool_is_open(const struct memory_region *region, int device);

/* ---- managed memory ----------------------------------------------------------------------- */

/* The region, if it is managed, ends: what was advised about it is forgotten. */
void managed_ends(const struct memory_region *region);

/* ---- other -------------------------------------------------------------------------------- */

/* What cuMemMap made at an address, which may be a part of a region. */
struct virtual_map {
    uint64_t range, range_size; /* the reserved addresses */
    uint64_t base, size;        /* what is mapped there at once */
    uint64_t block;             /* the same wherever the same memory is mapped */
    unsigned handle_types;      /* CUmemAllocationHandleType: how it may be shared */
};
/* Returns false, and changes nothing, if nothing is mapped at the address. */
bool virtual_find(CUdeviceptr ptr, struct virtual_map *found);
/* Finds the device's access to a region that cuMemMap made; false: another one did. */
bool virtual_access(const struct memory_region *region, int device, CUmemAccess_flags *access);
/* Returns true for memory that cuIpcGetMemHandle shares. */
bool ipc_can_share(const struct memory_region *region);
/* Frees memory of a graph outside of any graph: in `stream`, or at once if that is NULL. */
CUresult graph_memory_free_now(struct graph_memory *memory, struct stream *stream);

#endif
