/* Texture and surface instructions, lane by lane: from coordinates to texels, and from texels to
 * values.
 *
 * Filtering follows the Programming Guide, "Texture Fetching": the weights between texels are
 * fractions of 8 bits. What the guide leaves open is done as on an H200. tests/conformance/arrays:
 * how the weights of several dimensions are rounded, that texels are added as fixed-point numbers,
 * and what integer fractions become. tests/gpu/cube.cu and mipmap.cu: how the weight of a cube
 * corner's missing texel, and the weights of two levels, are divided. A texture without mipmaps has
 * the same single level at every level of detail.
 */
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/ops/extra.h"
#include "emulator/exec/ops/half.h"
#include "emulator/exec/ops/lanes.h"
#include "emulator/exec/ops/tables.h"
#include "emulator/exec/ops/texel.h"

#include <math.h>
#include <string.h>

/* One lane's access. */
struct image_lane {
    struct exec_warp *warp;
    const struct exec_inst *inst;
    const struct exec_image_access *access;
    const struct exec_texture *texture; /* or one of its levels */
    unsigned lane;
    double place[3]; /* the sampled coordinates; for a cube, those on its face */
    uint32_t layer;  /* the slice that is read, where there are layers or faces */
};

/* The four channels of a texel, as 32 bits each. */
union image_texel {
    uint32_t bits[4];
    float real[4];
};

static int32_t coordinate_int(const struct image_lane *at, unsigned index)
{
    return ((const int32_t *)exec_slot(at->warp, at->access->coordinates[index]))[at->lane];
}

static float coordinate_real(const struct image_lane *at, unsigned index)
{
    return ((const float *)exec_slot(at->warp, at->access->coordinates[index]))[at->lane];
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Returns the bytes of a texel or of part of a row; NULL: a fault is recorded. */
static unsigned char *image_bytes(const struct image_lane *at, uint64_t address, uint32_t size,
                                  enum exec_access access)
{
    struct exec_region_cache *cache = exec_cache_of(at->warp->worker, at->inst);
    struct exec_counts *counts = &at->warp->worker->counts;
    *(access == EXEC_LOAD ? &counts->bytes_loaded : &counts->bytes_stored) += size;
    counts->transactions += address % 32 == 0 || address % 32 + size > 32;
    if (cache->size >= size && cache->access == access &&
        address - cache->low <= cache->size - size && !texel_judged(cache)) {
        exec_mark(cache, address, size);
        return (unsigned char *)(uintptr_t)(address + cache->delta);
    }
    return exec_resolve(at->warp, at->inst, at->lane, address, size, access, false);
}

/* Finds the object of the lane's handle. Returns false, with the fault recorded, when the handle is
 * invalid or the instruction cannot read the object. */
static bool image_find(struct image_lane *at, bool surface)
{
    const uint64_t handle = ((const uint64_t *)exec_slot(at->warp, at->inst->a))[at->lane];
    const struct exec_image_access *access = at->access;
    at->texture = exec_texture_find(handle, at->warp->worker->launch->grid_id);
    if (at->texture == NULL || at->texture->surface != surface) {
        exec_stop(at->warp, at->inst, EXEC_OUT_OF_BOUNDS, at->lane,
                  &(struct exec_reason){.finding = at->texture == NULL ? FINDING_IMAGE_OF_NO_OBJECT
                                                   : surface           ? FINDING_TEXTURE_FOR_SURFACE
                                                             : FINDING_SURFACE_FOR_TEXTURE,
                                        .numbers = {handle},
                                        .name = access->name});
        return false;
    }
    /* By index an H200 reads 0 here. */
    const bool of_row = access->real && access->dimensions == 1 && at->texture->dimensions == 2;
    if (access->dimensions == 0 ||
        ((at->texture->dimensions == access->dimensions || of_row) &&
         at->texture->layered == access->layered && at->texture->cube == access->cube))
        return true;
    exec_stop(at->warp, at->inst, EXEC_UNSUPPORTED, at->lane,
              &(struct exec_reason){.finding = FINDING_TEXTURE_OF_OTHER_SHAPE,
                                    .numbers = {surface, at->texture->dimensions,
                                                at->texture->dimensions > 1, at->texture->layered},
                                    .name = access->name});
    return false;
}

/* ---- texels ---------------------------------------------------------------------------------- */

/* Of two channels the second, and of four the fourth, is not a colour. */
static bool is_srgb(const struct exec_texture *texture, unsigned channel)
{
    return texture->srgb && channel < (texture->channels == 4 ? 3 : 1);
}

/* A fraction of the border as an H200 has it: cut to 4 bits more than a texel has, then rounded to
 * one that a texel can have, down when two are as near. */
static float border_fraction(float border, enum exec_texel texel)
{
    const bool of_sign = texel == EXEC_TEXEL_S8 || texel == EXEC_TEXEL_S16;
    const int bits = (texel == EXEC_TEXEL_U8 || texel == EXEC_TEXEL_S8 ? 8 : 16) - of_sign;
    const double most = (1 << bits) - 1, steps = 1 << (bits + 4);
    const double size = fmin(of_sign ? fabsf(border) : fmaxf(border, 0.0f), 1.0);
    const double whole = ceil(floor(size * steps) / steps * most - 0.5) + 0.0; /* not -0 */
    return (float)((border < 0 ? 0 - whole : whole) / most);
}

/* Returns a channel of the border. For integers it is the float's bits; for fractions it is clamped
 * to their range, and rounded where they are not in sRGB. */
static uint32_t border_value(const struct exec_texture *texture, unsigned channel)
{
    const float border = texture->border[channel];
    const uint32_t bits = exec_bits32(border);
    if (texture->texel >= EXEC_TEXEL_F16) return bits;
    if (texel_is_real(texture))
        return exec_bits32(is_srgb(texture, channel) ? fminf(fmaxf(border, 0.0f), 1.0f)
                                                     : border_fraction(border, texture->texel));
    switch (texture->texel) {
    case EXEC_TEXEL_U8:
        return (uint8_t)bits;
    case EXEC_TEXEL_S8:
        return (uint32_t)(int32_t)(int8_t)bits;
    case EXEC_TEXEL_U16:
        return (uint16_t)bits;
    case EXEC_TEXEL_S16:
        return (uint32_t)(int32_t)(int16_t)bits;
    default:
        return bits;
    }
}

/* 8-bit numbers in sRGB as an H200 reads them: the first half of a float's bits; the other is 0. */
static const uint16_t srgb_numbers[256] = {
    0x0000, 0x39a0, 0x3a20, 0x3a70, 0x3aa0, 0x3ac8, 0x3af0, 0x3b0c, 0x3b20, 0x3b34, 0x3b48, 0x3b5c,
    0x3b70, 0x3b84, 0x3b90, 0x3b9c, 0x3baa, 0x3bb8, 0x3bc6, 0x3bd6, 0x3be6, 0x3bf6, 0x3c03, 0x3c0c,
    0x3c16, 0x3c1f, 0x3c29, 0x3c34, 0x3c3e, 0x3c49, 0x3c55, 0x3c60, 0x3c6c, 0x3c7a, 0x3c83, 0x3c8a,
    0x3c91, 0x3c98, 0x3c9f, 0x3ca6, 0x3cae, 0x3cb6, 0x3cbe, 0x3cc6, 0x3cce, 0x3cd7, 0x3ce0, 0x3ce9,
    0x3cf2, 0x3cfc, 0x3d03, 0x3d08, 0x3d0d, 0x3d12, 0x3d17, 0x3d1c, 0x3d22, 0x3d28, 0x3d2d, 0x3d33,
    0x3d39, 0x3d3f, 0x3d45, 0x3d4c, 0x3d52, 0x3d58, 0x3d60, 0x3d66, 0x3d6c, 0x3d74, 0x3d7a, 0x3d81,
    0x3d85, 0x3d88, 0x3d8c, 0x3d90, 0x3d94, 0x3d98, 0x3d9c, 0x3da0, 0x3da4, 0x3da9, 0x3dad, 0x3db1,
    0x3db6, 0x3dba, 0x3dbf, 0x3dc3, 0x3dc8, 0x3dcd, 0x3dd1, 0x3dd6, 0x3ddb, 0x3de0, 0x3de5, 0x3dea,
    0x3df0, 0x3df4, 0x3dfa, 0x3e00, 0x3e02, 0x3e05, 0x3e08, 0x3e0b, 0x3e0e, 0x3e11, 0x3e14, 0x3e17,
    0x3e1a, 0x3e1d, 0x3e20, 0x3e23, 0x3e26, 0x3e29, 0x3e2c, 0x3e30, 0x3e33, 0x3e36, 0x3e3a, 0x3e3d,
    0x3e40, 0x3e44, 0x3e47, 0x3e4b, 0x3e4e, 0x3e52, 0x3e56, 0x3e59, 0x3e5d, 0x3e61, 0x3e65, 0x3e68,
    0x3e6c, 0x3e70, 0x3e74, 0x3e78, 0x3e7c, 0x3e80, 0x3e82, 0x3e84, 0x3e86, 0x3e88, 0x3e8a, 0x3e8d,
    0x3e8f, 0x3e91, 0x3e93, 0x3e95, 0x3e98, 0x3e9a, 0x3e9c, 0x3e9e, 0x3ea1, 0x3ea3, 0x3ea5, 0x3ea8,
    0x3eaa, 0x3ead, 0x3eaf, 0x3eb2, 0x3eb4, 0x3eb6, 0x3eb9, 0x3ebc, 0x3ebe, 0x3ec1, 0x3ec3, 0x3ec6,
    0x3ec8, 0x3ecb, 0x3ece, 0x3ed1, 0x3ed3, 0x3ed6, 0x3ed9, 0x3edb, 0x3ede, 0x3ee1, 0x3ee4, 0x3ee7,
    0x3eea, 0x3eed, 0x3ef0, 0x3ef2, 0x3ef6, 0x3ef8, 0x3efc, 0x3efe, 0x3f01, 0x3f02, 0x3f04, 0x3f05,
    0x3f07, 0x3f09, 0x3f0a, 0x3f0c, 0x3f0d, 0x3f0f, 0x3f11, 0x3f12, 0x3f14, 0x3f16, 0x3f17, 0x3f19,
    0x3f1b, 0x3f1c, 0x3f1e, 0x3f20, 0x3f21, 0x3f23, 0x3f25, 0x3f27, 0x3f29, 0x3f2a, 0x3f2c, 0x3f2e,
    0x3f30, 0x3f32, 0x3f33, 0x3f35, 0x3f37, 0x3f39, 0x3f3b, 0x3f3d, 0x3f3f, 0x3f41, 0x3f43, 0x3f45,
    0x3f47, 0x3f49, 0x3f4b, 0x3f4d, 0x3f4f, 0x3f51, 0x3f53, 0x3f55, 0x3f57, 0x3f59, 0x3f5b, 0x3f5d,
    0x3f5f, 0x3f61, 0x3f63, 0x3f65, 0x3f68, 0x3f6a, 0x3f6c, 0x3f6e, 0x3f70, 0x3f72, 0x3f74, 0x3f76,
    0x3f7a, 0x3f7c, 0x3f7e, 0x3f80,
};

static bool read_texel(const struct image_lane *at, uint32_t x, uint32_t y, uint32_t z,
                       union image_texel *texel)
{
    const struct exec_texture *texture = at->texture;
    const uint32_t size = exec_texel_bytes(texture);
    const uint64_t address = texture->address + (uint64_t)z * texture->slice +
                             (uint64_t)y * texture->pitch + (uint64_t)x * size;
    const unsigned char *bytes = image_bytes(at, address, size, EXEC_LOAD);
    if (bytes == NULL) return false;
    *texel = (union image_texel){.bits = {0, 0, 0, 0}}; /* for channels that the texture lacks */
    for (unsigned k = 0; k < texture->channels; k++)
        texel->bits[k] = is_srgb(texture, k)
                             ? (uint32_t)srgb_numbers[bytes[k]] << 16
                             : texel_channel(texture, bytes + k * (size / texture->channels));
    return true;
}

/* ---- coordinates ----------------------------------------------------------------------------- */

/* Applies the addressing mode to an index. Returns false when the index is in the border. */
static bool settle(const struct exec_texture *texture, unsigned dimension, int64_t index,
                   uint32_t size, uint32_t *settled)
{
    const enum exec_addressing mode = texel_mode(texture, dimension);
    const int64_t length = size;
    if (mode == EXEC_ADDRESS_WRAP) {
        index %= length;
        if (index < 0) index += length;
    } else if (mode == EXEC_ADDRESS_MIRROR) {
        index %= 2 * length;
        if (index < 0) index += 2 * length;
        if (index >= length) index = 2 * length - 1 - index;
    } else if (mode == EXEC_ADDRESS_BORDER) {
        if (index < 0 || index >= length) return false;
    }
    *settled = (uint32_t)(index < 0 ? 0 : index >= length ? length - 1 : index);
    return true;
}

/* Reads the texel at indexes that may lie anywhere. */
static bool read_anywhere(const struct image_lane *at, const int64_t index[3],
                          union image_texel *texel)
{
    const struct exec_texture *texture = at->texture;
    const uint32_t sizes[3] = {texture->width, texture->height, texture->depth};
    uint32_t settled[3] = {0, 0, 0};
    bool inside = true;
    for (unsigned d = 0; d < 3; d++) /* layers are not addressed, but given */
        inside &= settle(texture, d, index[d], sizes[d], &settled[d]);
    if (texture->layered || texture->cube) settled[2] = at->layer;
    if (inside) return read_texel(at, settled[0], settled[1], settled[2], texel);
    *texel = (union image_texel){.bits = {0, 0, 0, 0}};
    for (unsigned k = 0; k < texture->channels; k++) texel->bits[k] = border_value(texture, k);
    return true;
}

/* Converts a coordinate to texels, clamped to TEXEL_FAR, which no texture reaches, so that it fits
 * an integer. Normalised coordinates have fractions of 21 bits. */
static double in_texels(const struct exec_texture *texture, unsigned dimension, double coordinate,
                        uint32_t size)
{
    const enum exec_addressing mode = texel_mode(texture, dimension);
    double value = coordinate;
    if (isnan(value)) return 0;
    if (texture->normalized || texture->cube) {
        if (mode == EXEC_ADDRESS_WRAP || mode == EXEC_ADDRESS_MIRROR)
            value = isfinite(value) ? floor(fmod(value, 2.0) * TEXEL_STEPS) / TEXEL_STEPS : 0;
        else if (mode == EXEC_ADDRESS_CLAMP && !texture->cube)
            value = floor(value * TEXEL_STEPS) / TEXEL_STEPS;
        value *= size;
    }
    return fmin(fmax(value, -TEXEL_FAR), TEXEL_FAR);
}

static uint32_t layer_of(const struct image_lane *at)
{
    const uint32_t layers = at->texture->depth;
    const uint32_t index = (uint32_t)coordinate_int(at, 0);
    return index < layers ? index : layers - 1;
}

/* ---- cubes ----------------------------------------------------------------------------------- */

/* Returns the face that a direction meets, and the place on it, from -1 to 1: Programming Guide,
 * "Cubemap Textures". Among equal components z has priority, then y, as on an H200. */
static uint32_t face_of(const float v[3], float *s, float *t)
{
    const float x = fabsf(v[0]), y = fabsf(v[1]), z = fabsf(v[2]);
    const unsigned axis = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
    const bool back = v[axis] < 0;
    const float most = axis == 2 ? z : axis == 1 ? y : x, by = most > 0 ? 1.0f / most : 0.0f;
    const float sign = back ? -1.0f : 1.0f;
    *s = (axis == 0 ? -sign * v[2] : axis == 1 ? v[0] : sign * v[0]) * by;
    *t = (axis == 1 ? sign * v[2] : -v[1]) * by;
    return 2 * axis + back;
}

/* The inverse: from a place on a face to a direction. */
static void direction_of(uint32_t face, float s, float t, float v[3])
{
    const float sign = face & 1 ? -1.0f : 1.0f;
    v[face / 2] = sign;
    if (face / 2 == 0) {
        v[1] = -t;
        v[2] = -sign * s;
    } else if (face / 2 == 1) {
        v[0] = s;
        v[2] = sign * t;
    } else {
        v[0] = sign * s;
        v[1] = -t;
    }
}

/* Moves an index that is over an edge of its face to the adjacent face. Returns false over a
 * corner, where there is no texel. */
static bool step_over(const struct exec_texture *texture, int64_t index[3], uint32_t *layer)
{
    static const float inwards = 1.0f - 1.0f / 65536; /* by less than half a texel */
    const int64_t size = texture->width;
    float place[2], v[3];
    bool inside[2];
    for (int d = 0; d < 2; d++) {
        inside[d] = index[d] >= 0 && index[d] < size;
        place[d] = inside[d] ? (float)(2 * index[d] + 1) / (float)size - 1 : index[d] < 0 ? -1 : 1;
    }
    if (inside[0] && inside[1]) return true;
    if (!inside[0] && !inside[1]) return false;
    direction_of(*layer % 6, place[0], place[1], v);
    v[*layer % 6 / 2] *= inwards;
    *layer = *layer / 6 * 6 + face_of(v, &place[0], &place[1]);
    for (int d = 0; d < 2; d++) {
        const int64_t at = (int64_t)floorf((place[d] + 1) / 2 * (float)size);
        index[d] = at < 0 ? 0 : at >= size ? size - 1 : at;
    }
    return true;
}

/* ---- texels around a coordinate -------------------------------------------------------------- */

/* The texels around a coordinate: in each dimension `near` and the next, which counts for
 * `weight`. */
struct footprint {
    int64_t near[3];
    int32_t weight[3]; /* parts of TEXEL_WHOLE */
};

/* The dimensions that are sampled: a texture of two with one coordinate is read at 0 of the other.
 */
static unsigned dimensions_of(const struct image_lane *at)
{
    const unsigned given = at->access->dimensions, there = at->texture->dimensions;
    return given == 1 && there == 2 ? there : given;
}

static struct footprint footprint_of(const struct image_lane *at, bool filters)
{
    const struct exec_texture *texture = at->texture;
    const uint32_t sizes[3] = {texture->width, texture->height, texture->depth};
    /* Coordinates outside give a single texel, except on a seamless cube, whose faces continue in
     * others. */
    const bool clamps = filters && !(texture->cube && texture->seamless);
    struct footprint footprint = {{0, 0, 0}, {0, 0, 0}};
    for (unsigned d = 0; d < dimensions_of(at); d++) {
        double place = in_texels(texture, d, at->place[d], sizes[d]) - (filters ? 0.5 : 0.0);
        if (clamps && texel_mode(texture, d) == EXEC_ADDRESS_CLAMP)
            place = fmin(fmax(place, 0), sizes[d] - 1);
        const double low = floor(place);
        footprint.near[d] = (int64_t)low;
        footprint.weight[d] = filters ? (int32_t)floor((place - low) * TEXEL_WHOLE + 0.5) : 0;
    }
    return footprint;
}

/* Computes the weight of each corner, x varying fastest; their sum is TEXEL_WHOLE. In two
 * dimensions the far corner's weight is rounded, and the others follow from the sums of rows and
 * columns. In three the weight is divided by z, x and y in turn. */
static void weigh(const struct footprint *footprint, unsigned dimensions, int32_t weights[8])
{
    const int32_t x = footprint->weight[0], y = footprint->weight[1], z = footprint->weight[2];
    const int32_t far = texel_part(x, y);
    if (dimensions == 1) {
        weights[0] = TEXEL_WHOLE - x;
        weights[1] = x;
    } else if (dimensions == 2) {
        weights[0] = TEXEL_WHOLE - x - y + far;
        weights[1] = x - far;
        weights[2] = y - far;
        weights[3] = far;
    } else {
        for (unsigned zx = 0; zx < 4; zx++) {
            const int32_t slice = zx & 2 ? z : TEXEL_WHOLE - z, high = texel_part(slice, x);
            const int32_t column = zx & 1 ? high : slice - high;
            const int32_t top =
                zx & 1 ? texel_part(column, y) : column - texel_part(column, TEXEL_WHOLE - y);
            const unsigned corner = (zx & 2) * 2 + (zx & 1);
            weights[corner] = column - top;
            weights[corner + 2] = top;
        }
    }
}

/* Sums floats: each is truncated to 27 bits behind the first bit of the largest one; halves are
 * rounded away from zero. */
static float sum_floats(const float values[8], const int32_t weights[8], unsigned count)
{
    int exponent = INT32_MIN, least = 0;
    double plain = 0;
    int64_t sum = 0;
    for (unsigned i = 0; i < count; i++) {
        if (weights[i] != 0) plain += (double)values[i] * weights[i] / TEXEL_WHOLE;
        if (values[i] == 0 || !isfinite(values[i])) continue;
        frexpf(values[i], &least);
        if (least > exponent) exponent = least;
    }
    if (exponent == INT32_MIN || !isfinite(plain)) return (float)plain;
    const int unit = exponent - 1 - 27; /* the sum's unit, as a power of two */
    for (unsigned i = 0; i < count; i++)
        if (weights[i] != 0) sum += (int64_t)ldexp((double)values[i], -unit) * weights[i];
    /* Rounds to 24 bits. */
    uint64_t size = (uint64_t)(sum < 0 ? -sum : sum);
    int lost = 0;
    while (size >> lost >= 1u << 24) lost++;
    if (lost > 0) size = ((size >> (lost - 1)) + 1) >> 1 << lost;
    const double result = ldexp((double)size, unit - 8);
    return (float)(sum < 0 ? -result : result);
}

/* Converts an integer, given as the fraction that it stands for, to a fraction of 16 bits plus
 * three more. */
static int64_t wide_fraction(enum exec_texel texel, float value)
{
    static const double most[] = {[EXEC_TEXEL_U8] = 255,
                                  [EXEC_TEXEL_S8] = 127,
                                  [EXEC_TEXEL_U16] = 65535,
                                  [EXEC_TEXEL_S16] = 32767};
    const double integer = nearbyint((double)value * most[texel]);
    const double wide = texel == EXEC_TEXEL_S8 || texel == EXEC_TEXEL_S16 ? 32767 : 65535;
    return (int64_t)floor(integer * wide * 8 / most[texel]);
}

/* Sums fractions, and rounds the sum to 16 bits. */
static float sum_fractions(enum exec_texel texel, const float values[8], const int32_t weights[8],
                           unsigned count)
{
    const double most = texel == EXEC_TEXEL_S8 || texel == EXEC_TEXEL_S16 ? 32767 : 65535;
    int64_t sum = 0;
    for (unsigned i = 0; i < count; i++) sum += wide_fraction(texel, values[i]) * weights[i];
    const double whole = floor((double)sum / (8 * TEXEL_WHOLE) + 0.5);
    return (float)(fmax(whole, -most) / most);
}

/* Sums integers as an H200 does: those of 8 and 16 bits to the nearest, a half upwards, those of 32
 * bits downwards. */
static uint32_t sum_integers(enum exec_texel texel, const uint32_t bits[8],
                             const int32_t weights[8], unsigned count)
{
    const bool is_wide = texel == EXEC_TEXEL_U32 || texel == EXEC_TEXEL_S32;
    const bool of_sign = texel >= EXEC_TEXEL_S8;
    int64_t sum = is_wide ? 0 : TEXEL_WHOLE / 2;
    for (unsigned i = 0; i < count; i++)
        sum += (of_sign ? (int64_t)(int32_t)bits[i] : (int64_t)bits[i]) * weights[i];
    return (uint32_t)(sum < 0 ? ~(~sum / TEXEL_WHOLE) : sum / TEXEL_WHOLE);
}

/* A one-dimensional texture is read like a row of a two-dimensional one, half way between that row
 * and the one below. This makes a difference where the second dimension has a border. */
static unsigned filtered_dimensions(const struct image_lane *at, struct footprint *footprint)
{
    const unsigned dimensions = dimensions_of(at);
    if (dimensions != 1 || at->access->layered || at->texture->addressing[1] != EXEC_ADDRESS_BORDER)
        return dimensions;
    footprint->near[1] = -1;
    footprint->weight[1] = TEXEL_WHOLE / 2;
    return 2;
}

/* Texels to be summed, with their weights; all weights together are TEXEL_WHOLE. */
struct texels {
    unsigned count;
    int32_t weights[8];
    union {
        float values[4][8];
        uint32_t bits[4][8]; /* of integers that stay integers */
    };
};

/* Divides the weight of a cube corner's missing texel among the other three. */
static void share(int32_t weights[4], unsigned missing)
{
    const int32_t weight = weights[missing], third = texel_part(weight, 85);
    weights[missing] = 0;
    weights[missing ^ 1] += third;
    weights[missing ^ 2] += third;
    weights[missing ^ 3] += weight - 2 * third;
}

/* Weighs the corners of one level of two: the level's weight is divided by x, then by y, where a
 * half goes to the corner that is near in both dimensions, or far in both. */
static void weigh_level(const struct footprint *footprint, unsigned dimensions, int32_t level,
                        int32_t weights[4])
{
    const int32_t high = texel_part(level, footprint->weight[0]), low = level - high;
    const int32_t y = footprint->weight[1];
    weights[0] = low;
    weights[1] = high;
    if (dimensions == 1) return;
    weights[0] = texel_part(low, TEXEL_WHOLE - y);
    weights[2] = low - weights[0];
    weights[3] = texel_part(high, y);
    weights[1] = high - weights[3];
}

/* Adds the texels around the coordinate in this level, whose weight is `level` of TEXEL_WHOLE. */
static bool surround(struct image_lane *at, int32_t level, struct texels *texels)
{
    struct footprint footprint = footprint_of(at, true);
    const unsigned dimensions = filtered_dimensions(at, &footprint), corners = 1u << dimensions;
    const bool seamless = at->texture->cube && at->texture->seamless;
    const uint32_t layer = at->layer;
    int32_t *weights = texels->weights + texels->count;
    if (level == TEXEL_WHOLE)
        weigh(&footprint, dimensions, weights);
    else
        weigh_level(&footprint, dimensions, level, weights);
    for (unsigned corner = 0; corner < corners; corner++) {
        int64_t index[3];
        union image_texel texel = {.bits = {0, 0, 0, 0}};
        for (unsigned d = 0; d < 3; d++)
            index[d] = footprint.near[d] + (d < dimensions && (corner >> d & 1));
        if (seamless && !step_over(at->texture, index, &at->layer))
            share(weights, corner);
        else if (!read_anywhere(at, index, &texel))
            return false;
        at->layer = layer;
        for (unsigned k = 0; k < 4; k++) texels->bits[k][texels->count + corner] = texel.bits[k];
    }
    texels->count += corners;
    return true;
}

static void add_up(const struct exec_texture *texture, const struct texels *texels,
                   union image_texel *result)
{
    for (unsigned k = 0; k < 4; k++)
        if (!texel_is_real(texture))
            result->bits[k] =
                sum_integers(texture->texel, texels->bits[k], texels->weights, texels->count);
        else
            result->real[k] = texture->texel >= EXEC_TEXEL_F16 || is_srgb(texture, k)
                                  ? sum_floats(texels->values[k], texels->weights, texels->count)
                                  : sum_fractions(texture->texel, texels->values[k],
                                                  texels->weights, texels->count);
}

static bool filter(struct image_lane *at, union image_texel *result)
{
    struct texels texels = {.count = 0};
    if (!surround(at, TEXEL_WHOLE, &texels)) return false;
    add_up(at->texture, &texels, result);
    return true;
}

/* The two lowest signed integers both mean -1. */
static void end_fractions(const struct exec_texture *texture, union image_texel *texel)
{
    if (!texture->promotes || (texture->texel != EXEC_TEXEL_S8 && texture->texel != EXEC_TEXEL_S16))
        return;
    for (unsigned k = 0; k < 4; k++)
        if (texel->real[k] < -1.0f) texel->real[k] = -1.0f;
}

/* Reads by index: no filter; indexes outside linear memory give 0. */
static bool fetch(struct image_lane *at, union image_texel *result)
{
    const struct exec_image_access *access = at->access;
    int64_t index[3] = {0, 0, 0};
    for (unsigned d = 0; d < access->dimensions; d++)
        index[d] = coordinate_int(at, d + access->layered);
    if (at->texture->linear && (index[0] < 0 || index[0] >= at->texture->width)) {
        *result = (union image_texel){.bits = {0, 0, 0, 0}};
        return true;
    }
    at->layer = access->layered ? layer_of(at) : 0;
    if (!read_anywhere(at, index, result)) return false;
    end_fractions(at->texture, result);
    return true;
}

/* Takes the lane's coordinates; a direction is converted to a place on a face. A face is read like
 * a square with normalised coordinates, whatever the texture says. */
static void take_place(struct image_lane *at)
{
    const struct exec_image_access *access = at->access;
    const unsigned first = access->layered;
    at->layer = 0;
    for (unsigned d = 0; d < 3u && d < (unsigned)access->dimensions + access->cube; d++)
        at->place[d] = coordinate_real(at, d + first);
    if (!access->cube) {
        if (access->layered) at->layer = layer_of(at);
        return;
    }
    float s, t, v[3] = {(float)at->place[0], (float)at->place[1], (float)at->place[2]};
    const uint32_t face = face_of(v, &s, &t), cubes = at->texture->depth / 6;
    uint32_t index = access->layered ? (uint32_t)coordinate_int(at, 0) : 0;
    if (index >= cubes) index = cubes - 1;
    at->layer = 6 * index + face;
    at->place[0] = ((double)s + 1) / 2;
    at->place[1] = ((double)t + 1) / 2;
}

/* Samples one level, or a texture without levels. */
static bool sample_level(struct image_lane *at, union image_texel *result)
{
    if (at->texture->filters) return filter(at, result);
    const struct footprint footprint = footprint_of(at, false);
    if (!read_anywhere(at, footprint.near, result)) return false;
    end_fractions(at->texture, result);
    return true;
}

/* Faults: the device does not have this use of mipmaps. */
static bool refuse_levels(const struct image_lane *at)
{
    exec_stop(
        at->warp, at->inst, EXEC_UNSUPPORTED, at->lane,
        &(struct exec_reason){.finding = FINDING_TEXTURE_OF_LEVELS, .name = at->access->name});
    return false;
}

/* Returns the level of detail, in 256ths, clamped to the texture's levels. */
static int32_t level_of(const struct image_lane *at)
{
    const struct exec_texture *texture = at->texture;
    const float given = at->access->level != EXEC_NO_SLOT
                            ? ((const float *)exec_slot(at->warp, at->access->level))[at->lane]
                            : 0.0f;
    double level = isnan(given) ? 0
                                : floor((double)given * TEXEL_WHOLE) +
                                      trunc((double)texture->bias * TEXEL_WHOLE);
    level = fmin(fmax(level, floor((double)texture->least * TEXEL_WHOLE)),
                 floor((double)texture->most * TEXEL_WHOLE));
    return (int32_t)fmin(fmax(level, 0), (texture->level_count - 1) * TEXEL_WHOLE);
}

static bool sample_levels(struct image_lane *at, union image_texel *result)
{
    const struct exec_texture *texture = at->texture;
    const bool filters = texture->filters && texel_is_real(texture);
    if (at->access->by_gradient || !at->access->real) return refuse_levels(at);
    const int32_t level = level_of(at), part_of_next = texture->mixes ? level % TEXEL_WHOLE : 0;
    const int32_t lower =
        texture->mixes ? level / TEXEL_WHOLE : (level + TEXEL_WHOLE / 2) / TEXEL_WHOLE;
    at->texture = &texture->levels[lower];
    if (part_of_next == 0) return sample_level(at, result);
    if ((texture->dimensions > 2 && filters) || !texel_is_real(texture)) return refuse_levels(at);
    struct texels texels = {.count = 0};
    for (unsigned i = 0; i < 2; i++) {
        const int32_t weight = i == 0 ? TEXEL_WHOLE - part_of_next : part_of_next;
        union image_texel texel;
        at->texture = &texture->levels[lower + (int32_t)i];
        if (filters && !surround(at, weight, &texels)) return false;
        if (filters) continue;
        const struct footprint footprint = footprint_of(at, false);
        if (!read_anywhere(at, footprint.near, &texel)) return false;
        for (unsigned k = 0; k < 4; k++) texels.values[k][i] = texel.real[k];
        texels.weights[texels.count++] = weight;
    }
    add_up(texture, &texels, result);
    return true;
}

static bool sample(struct image_lane *at, union image_texel *result)
{
    if (!at->access->real && at->texture->level_count == 0) return fetch(at, result);
    if (at->texture->linear) {
        exec_stop(at->warp, at->inst, EXEC_UNSUPPORTED, at->lane,
                  &(struct exec_reason){.finding = FINDING_TEXTURE_OF_LINEAR_MEMORY,
                                        .name = at->access->name});
        return false;
    }
    take_place(at);
    return at->texture->level_count > 0 ? sample_levels(at, result) : sample_level(at, result);
}

/* ---- tex, tld4 ------------------------------------------------------------------------------- */

static void put_elements(const struct image_lane *at, const uint64_t *values)
{
    const struct exec_image_access *access = at->access;
    for (uint32_t k = 0; k < access->count; k++) {
        if (access->elements[k] == EXEC_NO_SLOT) continue;
        void *slot = exec_slot(at->warp, access->elements[k]);
        if (access->widths[k] == 8)
            ((uint64_t *)slot)[at->lane] = values[k];
        else
            ((uint32_t *)slot)[at->lane] = (uint32_t)values[k];
    }
}

typedef bool image_lane_work(struct image_lane *at, uint64_t values[4]);

/* Calls `work` for every active lane; with `gives` its values go to the elements' slots. */
static int each_lane(struct exec_warp *warp, const struct exec_inst *inst, image_lane_work *work,
                     bool gives)
{
    struct image_lane at = {.warp = warp, .inst = inst, .access = inst->extra};
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        uint64_t values[4] = {0, 0, 0, 0};
        at.lane = (unsigned)__builtin_ctz(rest);
        if (!work(&at, values)) return EXEC_STOP;
        if (gives) put_elements(&at, values);
    }
    if (at.access->resident != EXEC_NO_SLOT)
        *(uint32_t *)exec_slot(warp, at.access->resident) |= warp->mask;
    warp->chain++;
    return EXEC_GO;
}

static bool tex_lane(struct image_lane *at, uint64_t values[4])
{
    union image_texel texel;
    if (!image_find(at, false) || !sample(at, &texel)) return false;
    for (unsigned k = 0; k < 4; k++) values[k] = texel.bits[k];
    return true;
}

int exec_sample_lanes(struct exec_warp *warp, const struct exec_inst *inst)
{
    return each_lane(warp, inst, tex_lane, true);
}

/* The four texels that filtering would use, counter-clockwise from the lower left. */
static bool gather_lane(struct image_lane *at, uint64_t values[4])
{
    static const uint8_t order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    if (!image_find(at, false)) return false;
    if (at->texture->level_count > 0) return refuse_levels(at);
    take_place(at);
    const uint32_t sizes[2] = {at->texture->width, at->texture->height};
    int64_t near[2]; /* not a footprint's, which is moved inside: here each texel is */
    for (unsigned d = 0; d < 2; d++)
        near[d] = (int64_t)floor(in_texels(at->texture, d, at->place[d], sizes[d]) - 0.5);
    for (unsigned k = 0; k < 4; k++) {
        const int64_t index[3] = {near[0] + order[k][0], near[1] + order[k][1], 0};
        union image_texel texel;
        if (!read_anywhere(at, index, &texel)) return false;
        end_fractions(at->texture, &texel);
        values[k] = texel.bits[at->access->component];
    }
    return true;
}

static int op_tld4(struct exec_warp *warp, const struct exec_inst *inst)
{
    return each_lane(warp, inst, gather_lane, true);
}

/* ---- suld, sust ------------------------------------------------------------------------------ */

enum image_found { IMAGE_INSIDE, IMAGE_OUTSIDE, IMAGE_FAULT };

/* Clamps one coordinate, at which `size` units are accessed, into [0, length). Returns whether it
 * was inside. */
static bool bring_inside(int64_t *value, int64_t size, int64_t length)
{
    const bool inside = *value >= 0 && *value <= length - size;
    *value = *value < 0 ? 0 : *value > length - size ? length - size : *value;
    return inside;
}

static uint32_t surface_access_bytes(const struct image_lane *at)
{
    return at->access->formatted ? exec_texel_bytes(at->texture)
                                 : at->access->bytes * at->access->count;
}

/* Computes the address of the coordinates, of which the first counts bytes, or texels. */
static enum image_found surface_address(const struct image_lane *at, uint64_t *address)
{
    const struct exec_image_access *access = at->access;
    const struct exec_texture *surface = at->texture;
    const uint32_t size = surface_access_bytes(at);
    const int64_t row = (int64_t)surface->width * exec_texel_bytes(surface);
    int64_t c[3] = {0, 0, 0};
    for (unsigned d = 0; d < access->dimensions; d++)
        c[d] = coordinate_int(at, d + access->layered);
    if (access->layered) c[2] = coordinate_int(at, 0);
    if (access->formatted) c[0] *= size;
    if (c[0] % size != 0) {
        exec_stop(at->warp, at->inst, EXEC_MISALIGNED, at->lane,
                  &(struct exec_reason){.finding = FINDING_SURFACE_MISALIGNED,
                                        .numbers = {size, (uint64_t)c[0]},
                                        .name = access->name});
        return IMAGE_FAULT;
    }
    const int64_t asked[3] = {c[0], c[1], c[2]};
    bool inside = bring_inside(&c[0], size, row);
    inside &= bring_inside(&c[1], 1, surface->height);
    inside &= bring_inside(&c[2], 1, surface->depth);
    *address = surface->address + (uint64_t)c[2] * surface->slice +
               (uint64_t)c[1] * surface->pitch + (uint64_t)c[0];
    if (inside || access->boundary == IMAGE_CLAMP) return IMAGE_INSIDE;
    if (access->boundary == IMAGE_ZERO) return IMAGE_OUTSIDE;
    exec_stop(at->warp, at->inst, EXEC_OUT_OF_BOUNDS, at->lane,
              &(struct exec_reason){.finding = FINDING_SURFACE_OUT_OF_BOUNDS,
                                    .numbers = {size, (uint64_t)asked[0], (uint64_t)asked[1],
                                                (uint64_t)asked[2], (uint64_t)row, surface->height,
                                                surface->depth},
                                    .name = access->name});
    return IMAGE_FAULT;
}

/* Gets the bytes of the access, NULL outside the surface. Returns false when a fault is
 * recorded. */
static bool surface_bytes(struct image_lane *at, enum exec_access access, unsigned char **bytes)
{
    uint64_t address = 0;
    *bytes = NULL;
    if (!image_find(at, true)) return false;
    const enum image_found found = surface_address(at, &address);
    if (found != IMAGE_INSIDE) return found == IMAGE_OUTSIDE;
    *bytes = image_bytes(at, address, surface_access_bytes(at), access);
    return *bytes != NULL;
}

static bool suld_lane(struct image_lane *at, uint64_t values[4])
{
    unsigned char *bytes;
    if (!surface_bytes(at, EXEC_LOAD, &bytes)) return false;
    for (uint32_t k = 0; k < at->access->count && bytes != NULL; k++)
        memcpy(&values[k], bytes + (size_t)k * at->access->bytes, at->access->bytes);
    return true;
}

static int op_suld(struct exec_warp *warp, const struct exec_inst *inst)
{
    return each_lane(warp, inst, suld_lane, true);
}

/* A value of a formatted store as a half: cut off, and past the largest one that. A NaN keeps the
 * upper bits of its payload, and stays one. */
static uint16_t half_of_value(uint32_t value)
{
    const uint32_t payload = value >> 13 & 0x3ff;
    if ((value & 0x7fffffff) <= 0x7f800000)
        return half_round((double)exec_f32(value), HALF_F16, HALF_ZERO);
    return (uint16_t)((value >> 16 & 0x8000) | 0x7c00 | (payload ? payload : 1));
}

static uint32_t clamped(int64_t value, int64_t least, int64_t most)
{
    return (uint32_t)(value < least ? least : value > most ? most : value);
}

/* Returns what a channel of the surface has of a value: PTX ISA 9.0, 9.7.11.2, "sust". */
static uint32_t channel_of_value(enum exec_texel texel, uint32_t value)
{
    switch (texel) {
    case EXEC_TEXEL_U8:
        return clamped(value, 0, UINT8_MAX);
    case EXEC_TEXEL_U16:
        return clamped(value, 0, UINT16_MAX);
    case EXEC_TEXEL_S8:
        return clamped((int32_t)value, INT8_MIN, INT8_MAX);
    case EXEC_TEXEL_S16:
        return clamped((int32_t)value, INT16_MIN, INT16_MAX);
    case EXEC_TEXEL_F16:
        return half_of_value(value);
    default:
        return value;
    }
}

/* The integer that stands for a fraction: cut off, not rounded, and 0 for what is no number, as on
 * an H200. */
static uint32_t channel_of_fraction(enum exec_texel texel, uint32_t value)
{
    static const float most[] = {[EXEC_TEXEL_U8] = UINT8_MAX,
                                 [EXEC_TEXEL_U16] = UINT16_MAX,
                                 [EXEC_TEXEL_S8] = INT8_MAX,
                                 [EXEC_TEXEL_S16] = INT16_MAX};
    const bool is_signed = texel == EXEC_TEXEL_S8 || texel == EXEC_TEXEL_S16;
    const float least = is_signed ? -1.0f : 0.0f, fraction = exec_f32(value);
    if (isnan(fraction)) return 0;
    return (uint32_t)(int32_t)(fminf(fmaxf(fraction, least), 1.0f) * most[texel]);
}

/* Stores a texel. Channels without a value become 0, as on an H200; PTX leaves them open. */
static void store_texel(const struct image_lane *at, unsigned char *bytes)
{
    const struct exec_image_access *access = at->access;
    const uint32_t size = exec_texel_bytes(at->texture) / at->texture->channels;
    for (uint32_t k = 0; k < at->texture->channels; k++) {
        uint32_t value = 0;
        if (k < access->count)
            memcpy(&value,
                   (const unsigned char *)exec_slot(at->warp, access->elements[k]) +
                       (size_t)at->lane * access->widths[k],
                   sizeof value);
        value = at->texture->fractions ? channel_of_fraction(at->texture->texel, value)
                                       : channel_of_value(at->texture->texel, value);
        memcpy(bytes + (size_t)k * size, &value, size); /* the low bytes are first */
    }
}

static bool sust_lane(struct image_lane *at, uint64_t values[4])
{
    const struct exec_image_access *access = at->access;
    unsigned char *bytes;
    (void)values;
    if (!surface_bytes(at, EXEC_STORE, &bytes)) return false;
    if (access->formatted && bytes != NULL) store_texel(at, bytes);
    for (uint32_t k = 0; k < access->count && bytes != NULL && !access->formatted; k++) {
        const unsigned char *slot = exec_slot(at->warp, access->elements[k]);
        memcpy(bytes + (size_t)k * access->bytes, slot + (size_t)at->lane * access->widths[k],
               access->bytes);
    }
    return true;
}

static int op_sust(struct exec_warp *warp, const struct exec_inst *inst)
{
    return each_lane(warp, inst, sust_lane, false);
}

/* ---- txq, suq -------------------------------------------------------------------------------- */

static void answer(const struct image_lane *at, uint64_t values[4])
{
    const struct exec_texture *texture = at->texture;
    switch (at->access->question) {
    case IMAGE_WIDTH:
        values[0] = texture->width;
        break;
    case IMAGE_HEIGHT: /* a dimension that is not used may count layers */
        values[0] = texture->dimensions > 1 ? texture->height
                    : texture->layered      ? texture->depth
                                            : !texture->surface;
        break;
    case IMAGE_DEPTH:
        values[0] = texture->dimensions + texture->layered > 2 ? texture->depth : 0;
        break;
    case IMAGE_LAYERS:
        values[0] = texture->layered ? texture->depth : 1;
        break;
    case IMAGE_NORMALIZED:
        values[0] = texture->normalized;
        break;
    }
}

static bool txq_lane(struct image_lane *at, uint64_t values[4])
{
    if (!image_find(at, false)) return false;
    answer(at, values);
    return true;
}

static int op_txq(struct exec_warp *warp, const struct exec_inst *inst)
{
    return each_lane(warp, inst, txq_lane, true);
}

static bool suq_lane(struct image_lane *at, uint64_t values[4])
{
    if (!image_find(at, true)) return false;
    answer(at, values);
    return true;
}

static int op_suq(struct exec_warp *warp, const struct exec_inst *inst)
{
    return each_lane(warp, inst, suq_lane, true);
}

const struct exec_row exec_texture_rows[] = {
    {"tld4", op_tld4, ""}, {"suld", op_suld, ""}, {"sust", op_sust, ""},
    {"txq", op_txq, ""},   {"suq", op_suq, ""},   {NULL, NULL, NULL},
};
