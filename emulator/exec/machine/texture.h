/* exec_texture: what the handle of a texture or surface object means to a kernel: texels in device
 * memory, and how coordinates become texels. The driver adds the objects here; the executor looks
 * them up by handle when tex, tld4, suld, sust, txq or suq runs.
 *
 * It never owns the texels: they are bytes of a memory region, looked up by address at each access,
 * so that freed or too small memory is reported as for any other access.
 *
 * Source: CUDA Programming Guide, "Texture Fetching"; PTX ISA 9.0, 9.7.10 and 9.7.11.
 */
#ifndef OVERLAP_EXEC_MACHINE_TEXTURE_H
#define OVERLAP_EXEC_MACHINE_TEXTURE_H

#include <stdbool.h>
#include <stdint.h>

/* The type of a texel's channels in memory. */
enum exec_texel {
    EXEC_TEXEL_U8,
    EXEC_TEXEL_U16,
    EXEC_TEXEL_U32,
    EXEC_TEXEL_S8,
    EXEC_TEXEL_S16,
    EXEC_TEXEL_S32,
    EXEC_TEXEL_F16,
    EXEC_TEXEL_F32,
};

struct memory_region;

enum exec_addressing {
    EXEC_ADDRESS_WRAP,
    EXEC_ADDRESS_CLAMP,
    EXEC_ADDRESS_MIRROR,
    EXEC_ADDRESS_BORDER,
};

struct exec_texture {
    /* The texels: rows of `width`, `pitch` bytes apart, in slices `slice` bytes apart. */
    uint64_t address;
    uint64_t pitch, slice;
    uint32_t width, height, depth; /* in texels; at least 1, but for the width of linear memory.
                                      Layers count as depth */
    uint8_t dimensions;            /* 1, 2 or 3; not counting layers */
    bool layered;
    bool cube;   /* two dimensions, with six faces per layer, or in all */
    bool linear; /* linear memory: one dimension, read by index only */
    enum exec_texel texel;
    uint8_t channels; /* 1, 2 or 4 */

    bool fractions; /* the texels' integers stand for fractions: formatted stores take floats */

    bool surface; /* a surface object: the fields below are not used */
    enum exec_addressing addressing[3];
    bool filters;    /* linear filtering; false: the nearest texel */
    bool normalized; /* coordinates range from 0 to 1 */
    bool promotes;   /* integers of 8 and 16 bits read as fractions */
    bool srgb;       /* fractions of 8 bits are in sRGB, and read as linear ones */
    bool seamless;   /* filtering crosses the edges of a cube's faces, whatever the addressing */
    float border[4];

    /* For a mipmapped array: its levels, the first of which is the texture itself, and how a level
     * is chosen. */
    uint32_t level_count; /* 0: not mipmapped */
    const struct exec_texture *levels;
    bool mixes; /* interpolates between two levels; false: the nearest */
    float bias, least, most;
};

/* Registers `texture`, which must stay in place until it is removed. Returns its handle, which is
 * never 0 and never reused, or 0 without memory. No kernel may be running. */
uint64_t exec_texture_add(const struct exec_texture *texture);
void exec_texture_remove(uint64_t handle);

/* The object ends for all grids whose `grid_id` is `from` or more: those before were launched while
 * it was there. It must stay in place until it is removed. */
void exec_texture_end(uint64_t handle, uint64_t from);

/* Returns the handle's object as the grid of that `grid_id` finds it; NULL: there is none, it has
 * ended or was removed. No grid has EXEC_NO_GRID, which finds what has not ended. */
#define EXEC_NO_GRID UINT64_MAX
const struct exec_texture *exec_texture_find(uint64_t handle, uint64_t grid);

/* Returns the region that the object's texels are in, though it may have ended; NULL: there is no
 * such object, or no region.
 * *several: it has several levels, which may be in other regions, too. */
const struct memory_region *exec_texture_region(uint64_t handle, bool *several);

/* Returns the bytes of one texel. */
uint32_t exec_texel_bytes(const struct exec_texture *texture);

#endif
