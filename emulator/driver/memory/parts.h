/* Declarations shared by the files of memory/. */
#ifndef OVERLAP_DRIVER_MEMORY_PARTS_H
#define OVERLAP_DRIVER_MEMORY_PARTS_H

#include "emulator/driver/memory/memory.h"

/* The executor's texel type of a format, and its size in bytes. Returns false for an unsupported
 * format. */
bool array_format(CUarray_format format, enum exec_texel *texel, uint32_t *bytes);

/* The mapping made by cuMemMap at an address, which may be a part of a region. Returns false if
 * there is none. */
bool virtual_range(CUdeviceptr ptr, uint64_t *base, size_t *size);
/* Returns true for memory that cuIpcGetMemHandle shares. */
bool ipc_can_share(const struct memory_region *region);
/* Frees memory of a graph outside of any graph: in `stream`, or at once if that is NULL. */
CUresult graph_memory_free_now(struct graph_memory *memory, struct stream *stream);

#endif
