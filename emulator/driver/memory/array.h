/* driver_array: CUDA arrays, and the objects through which kernels read and write them: textures
 * and surfaces.
 *
 * An array's texels lie in device memory row behind row without gaps; the order is nobody's to see,
 * since an array has no address. A texture or surface object is a number that the executor knows
 * (machine/texture.h).
 *
 * Not supported, and named: mipmaps, cube maps, sparse and planar arrays, texture references.
 *
 * Source: CUDA Driver API 13.0, "Memory Management", "Texture Object Management", "Surface Object
 * Management".
 */
#ifndef OVERLAP_DRIVER_MEMORY_ARRAY_H
#define OVERLAP_DRIVER_MEMORY_ARRAY_H

#include "emulator/driver/driver.h"
#include "emulator/exec/machine/texture.h"

struct array {
    struct object object;
    CUDA_ARRAY3D_DESCRIPTOR descriptor; /* as it was given: absent dimensions are 0 */
    const struct memory_region *region;
    enum exec_texel texel;
    uint32_t texel_bytes;
    size_t row_bytes, rows, slices; /* rows and slices are at least 1; layers are slices */
};

/* The array behind a handle, or NULL. */
struct array *array_find(CUarray handle);
void array_end(struct object *object, bool implicit);
void texture_end(struct object *object, bool implicit);

/* A part of an array as memory: the address of its first byte. x and width in bytes.
 * CUDA_ERROR_INVALID_HANDLE; CUDA_ERROR_INVALID_VALUE when it is not inside of the array. */
struct array_part {
    size_t x, y, z, width, height, depth;
};
CUresult array_place(CUarray handle, const struct array_part *part, uint64_t *address,
                     size_t *pitch, size_t *slice);

/* The executor's name of a format, and its size in bytes; false: not one of the device's. */
bool array_format(CUarray_format format, enum exec_texel *texel, uint32_t *bytes);

#endif
