/* What the files of memory use of each other. */
#ifndef OVERLAP_DRIVER_MEMORY_PARTS_H
#define OVERLAP_DRIVER_MEMORY_PARTS_H

#include "emulator/driver/memory/memory.h"

/* The executor's name of a format, and its size in bytes; false: not one of the device's. */
bool array_format(CUarray_format format, enum exec_texel *texel, uint32_t *bytes);

/* What cuMemMap put behind an address, which may be a part of a region; false: it did not. */
bool virtual_range(CUdeviceptr ptr, uint64_t *base, size_t *size);
/* Freeing memory of a graph outside of it, in a stream or (NULL) at once. */
CUresult graph_memory_free_now(struct graph_memory *memory, struct stream *stream);

#endif
