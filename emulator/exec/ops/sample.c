/* Texture samples of all lanes at once, for the usual case: one texture for the whole warp, no
 * cube, no mipmaps, no sRGB, and no lane in the border. Everything else, and every fault, is left
 * to exec_sample_lanes. Both give the same results and counts. Compiled once per EXEC_LEVEL.
 *
 * Inactive lanes are computed and read as well: their coordinates are brought inside the texture
 * like all others.
 */
#include "emulator/exec/ops/extra.h"
#include "emulator/exec/ops/lane_rows.h"
#include "emulator/exec/ops/lanes.h"
#include "emulator/exec/ops/tables.h"
#include "emulator/exec/ops/texel.h"

#include <math.h>

enum { DIMENSIONS = 3, CORNERS = 4, CHANNELS = 4 };

struct sample {
    struct exec_warp *warp;
    const struct exec_inst *inst;
    const struct exec_image_access *access;
    const struct exec_texture *texture;
    bool filters;
    s32 near[DIMENSIONS][EXEC_LANES];      /* index of the texel, not yet inside the texture */
    s32 weight[DIMENSIONS][EXEC_LANES];    /* of the next texel */
    u32 places[2][DIMENSIONS][EXEC_LANES]; /* indexes of both, inside the texture */
    u64 offsets[CORNERS][EXEC_LANES];      /* byte offsets of the texels around the coordinate */
    s32 weights[CORNERS][EXEC_LANES];      /* their sum is TEXEL_WHOLE */
    u32 values[CORNERS][EXEC_LANES];       /* of one channel */
    u32 results[CHANNELS][EXEC_LANES];
};

static u32 size_of(const struct exec_texture *texture, unsigned dimension)
{
    return dimension == 0 ? texture->width : dimension == 1 ? texture->height : texture->depth;
}

static unsigned corners_of(const struct sample *s)
{
    return s->filters ? 1u << s->access->dimensions : 1;
}

/* ---- conditions -------------------------------------------------------------------------------
 */

/* Returns the texture of all active lanes; NULL: they have several, or it is not of the usual
 * kind. */
static const struct exec_texture *texture_of(const struct exec_warp *warp,
                                             const struct exec_inst *inst,
                                             const struct exec_image_access *access)
{
    const u64 *handles = exec_slot(warp, inst->a);
    const u64 handle = handles[__builtin_ctz(warp->mask)];
    u32 others = 0;
    EXEC_FOR_LANES others |= handles[l] != handle ? 1u << l : 0;
    if (others & warp->mask) return NULL;
    const struct exec_texture *texture = exec_texture_find(handle, warp->worker->launch->grid_id);
    const bool fits = texture != NULL && !texture->surface && texture->level_count == 0 &&
                      access->dimensions == texture->dimensions && !texture->cube &&
                      !texture->srgb && !access->cube && access->layered == texture->layered &&
                      !(access->real && texture->linear);
    return fits ? texture : NULL;
}

/* Clamping signed fractions to -1 and filtering half floats and integers are done lane by lane
 * only. */
static bool can_convert(const struct exec_texture *texture, bool filters)
{
    if (filters && !texel_is_real(texture)) return false;
    switch (texture->texel) {
    case EXEC_TEXEL_S8:
    case EXEC_TEXEL_S16:
        return !texture->promotes;
    case EXEC_TEXEL_F16:
        return !filters;
    default:
        return true;
    }
}

static bool can_address(const struct sample *s)
{
    const struct exec_texture *texture = s->texture;
    const unsigned dimensions = s->access->dimensions;
    if (s->filters && (dimensions > 2 || (dimensions == 1 && !s->access->layered &&
                                          texture->addressing[1] == EXEC_ADDRESS_BORDER)))
        return false;
    for (unsigned d = 0; d < dimensions; d++) {
        const enum exec_addressing mode = texel_mode(texture, d);
        const bool goes_round = mode == EXEC_ADDRESS_WRAP || mode == EXEC_ADDRESS_MIRROR;
        if (goes_round && !s->access->real) return false;
    }
    return true;
}

/* Returns the host address of the first texel; NULL: not all of the texture is known to be
 * valid. */
static const unsigned char *texels_of(const struct sample *s)
{
    const struct exec_texture *texture = s->texture;
    const struct exec_region_cache *cache = exec_cache_of(s->warp->worker, s->inst);
    const u64 extent = (texture->depth - 1) * texture->slice +
                       (texture->height - 1) * texture->pitch +
                       (u64)texture->width * exec_texel_bytes(texture);
    if (cache->size < extent || cache->access != EXEC_LOAD ||
        texture->address - cache->low > cache->size - extent || texel_judged(cache))
        return NULL;
    return (const unsigned char *)(uintptr_t)(texture->address + cache->delta);
}

/* ---- coordinates ------------------------------------------------------------------------------
 */

/* The same as footprint_of in ops/texture.c. Computing what the mode or the filter does not need
 * costs less than testing for it in each lane. */
static void take_places(struct sample *s, unsigned d)
{
    const struct exec_texture *texture = s->texture;
    const enum exec_addressing mode = texel_mode(texture, d);
    const f32 *given = exec_slot(s->warp, s->access->coordinates[d + s->access->layered]);
    const f64 size = size_of(texture, d), half = s->filters ? 0.5 : 0;
    const bool clamps = s->filters && mode == EXEC_ADDRESS_CLAMP;
    const f64 least = clamps ? 0 : -2.0 * TEXEL_FAR, most = clamps ? size - 1 : 2.0 * TEXEL_FAR;
    f64 place[EXEC_LANES];
    EXEC_FOR_LANES place[l] = given[l];
    if (texture->normalized && (mode == EXEC_ADDRESS_WRAP || mode == EXEC_ADDRESS_MIRROR))
        EXEC_FOR_LANES place[l] -= 2 * trunc(place[l] / 2); /* fmod */
    if (texture->normalized && mode != EXEC_ADDRESS_BORDER)
        EXEC_FOR_LANES place[l] = floor(place[l] * TEXEL_STEPS) / TEXEL_STEPS;
    if (texture->normalized) EXEC_FOR_LANES place[l] *= size;
    EXEC_FOR_LANES
    {
        f64 value = place[l] == place[l] ? place[l] : 0; /* no number */
        value = value < -TEXEL_FAR ? -TEXEL_FAR : value;
        value = (value > TEXEL_FAR ? TEXEL_FAR : value) - half;
        value = value < least ? least : value;
        value = value > most ? most : value;
        const f64 low = floor(value);
        s->near[d][l] = (s32)low;
        s->weight[d][l] = (s32)((value - low) * TEXEL_WHOLE + 0.5);
    }
}

/* The same when there is no filter and coordinates are in texels: everything is exact in floats. */
static void take_nearest(struct sample *s, unsigned d)
{
    const f32 *given = exec_slot(s->warp, s->access->coordinates[d + s->access->layered]);
    const f32 far = TEXEL_FAR;
    EXEC_FOR_LANES
    {
        f32 value = given[l] == given[l] ? given[l] : 0;
        value = value < -far ? -far : value;
        value = value > far ? far : value;
        s->near[d][l] = (s32)floorf(value);
    }
}

/* Integer coordinates are the indexes. */
static void take_indexes(struct sample *s, unsigned d)
{
    memcpy(s->near[d], exec_slot(s->warp, s->access->coordinates[d + s->access->layered]),
           sizeof s->near[d]);
}

/* Brings near + `step` inside the texture. Returns the lanes that are in the border. */
static u32 settle(struct sample *s, unsigned d, unsigned step)
{
    const enum exec_addressing mode = texel_mode(s->texture, d);
    const s32 size = (s32)size_of(s->texture, d), *near = s->near[d];
    u32 *places = s->places[step][d], outside = 0;
    /* A normalised coordinate is at most two sizes away, and the texels around it one more. */
    if (mode == EXEC_ADDRESS_WRAP || mode == EXEC_ADDRESS_MIRROR) {
        const s32 period = mode == EXEC_ADDRESS_WRAP ? size : 2 * size;
        EXEC_FOR_LANES
        {
            s32 index = near[l] + (s32)step;
            index += index < 0 ? 3 * period : 0;
            index -= index >= 2 * period ? 2 * period : 0;
            index -= index >= period ? period : 0;
            places[l] = (u32)(index < size ? index : 2 * size - 1 - index);
        }
        return 0;
    }
    EXEC_FOR_LANES
    {
        const s32 index = near[l] < INT32_MAX ? near[l] + (s32)step : near[l];
        const s32 low = index < 0 ? 0 : index;
        places[l] = (u32)(low < size ? low : size - 1);
        outside |= places[l] != (u32)index ? 1u << l : 0;
    }
    return mode == EXEC_ADDRESS_BORDER || s->texture->linear ? outside : 0;
}

static void settle_layers(struct sample *s)
{
    const u32 *given = exec_slot(s->warp, s->access->coordinates[0]), last = s->texture->depth - 1;
    EXEC_FOR_LANES s->places[0][2][l] = given[l] < last ? given[l] : last;
}

/* Computes the texels' offsets. Returns false when an active lane needs the border. */
static bool find_texels(struct sample *s)
{
    const unsigned dimensions = s->access->dimensions, steps = s->filters ? 2 : 1;
    const struct exec_texture *texture = s->texture;
    const u64 bytes = exec_texel_bytes(texture);
    for (unsigned d = 0; d < dimensions; d++) {
        if (!s->access->real)
            take_indexes(s, d);
        else if (s->filters || texture->normalized)
            take_places(s, d);
        else
            take_nearest(s, d);
        for (unsigned step = 0; step < steps; step++)
            if (settle(s, d, step) & s->warp->mask) return false;
    }
    if (s->access->layered) settle_layers(s);
    for (unsigned corner = 0; corner < corners_of(s); corner++) {
        const u32 *x = s->places[corner & 1][0], *y = s->places[corner >> 1][1];
        const u32 *z = s->places[0][2];
        u64 *offsets = s->offsets[corner];
        EXEC_FOR_LANES offsets[l] = x[l] * bytes;
        if (dimensions > 1) EXEC_FOR_LANES offsets[l] += y[l] * texture->pitch;
        if (dimensions > 2 || s->access->layered)
            EXEC_FOR_LANES offsets[l] += z[l] * texture->slice;
    }
    return true;
}

/* ---- values ------------------------------------------------------------------------------------
 */

static void read_channel(struct sample *s, const unsigned char *texels, unsigned channel)
{
    const struct exec_texture *texture = s->texture;
    const u32 each = exec_texel_bytes(texture) / texture->channels;
    for (unsigned corner = 0; corner < corners_of(s); corner++) {
        const u64 *offsets = s->offsets[corner];
        u32 *values = s->values[corner];
        const unsigned char *from = texels + (size_t)channel * each;
        if (each == 4)
            for (unsigned l = 0; l < EXEC_LANES; l++)
                memcpy(&values[l], from + offsets[l], sizeof values[l]);
        else if (!s->filters)
            for (unsigned l = 0; l < EXEC_LANES; l++)
                values[l] = texel_channel(texture, from + offsets[l]);
        else if (each == 1)
            for (unsigned l = 0; l < EXEC_LANES; l++) values[l] = from[offsets[l]];
        else
            for (unsigned l = 0; l < EXEC_LANES; l++) {
                u16 value;
                memcpy(&value, from + offsets[l], sizeof value);
                values[l] = value;
            }
    }
}

/* The same as weigh in ops/texture.c. */
static void weigh(struct sample *s)
{
    const s32 *x = s->weight[0], *y = s->weight[1];
    s32(*weights)[EXEC_LANES] = s->weights;
    if (s->access->dimensions == 1) {
        EXEC_FOR_LANES weights[0][l] = TEXEL_WHOLE - x[l];
        EXEC_FOR_LANES weights[1][l] = x[l];
        return;
    }
    EXEC_FOR_LANES
    {
        const s32 far = texel_part(x[l], y[l]);
        weights[0][l] = TEXEL_WHOLE - x[l] - y[l] + far;
        weights[1][l] = x[l] - far;
        weights[2][l] = y[l] - far;
        weights[3][l] = far;
    }
}

/* The same as sum_floats in ops/texture.c; a double holds exactly what is an integer there. Returns
 * false for infinite values and NaN. */
static bool add_floats(const struct sample *s, u32 *result)
{
    enum { BIAS = 1023, CUT = 154, FRACTION = 52 };
    const u64 lost = ((u64)1 << (FRACTION - 23)) - 1;
    const unsigned corners = corners_of(s);
    u32 most[EXEC_LANES] = {0}, odd = 0;
    f64 sum[EXEC_LANES] = {0};
    for (unsigned corner = 0; corner < corners; corner++) EXEC_FOR_LANES
        {
            const u32 size = s->values[corner][l] & 0x7fffffff;
            most[l] = size > most[l] ? size : most[l];
        }
    EXEC_FOR_LANES odd |= most[l] >= 0x7f800000 ? 1u << l : 0;
    if (odd & s->warp->mask) return false;
    /* Each value is truncated to 27 bits behind the first bit of the largest one. */
    for (unsigned corner = 0; corner < corners; corner++) {
        f32 values[EXEC_LANES];
        memcpy(values, s->values[corner], sizeof values);
        EXEC_FOR_LANES
        {
            const f64 scale = exec_f64((u64)(BIAS + CUT - (most[l] >> 23)) << FRACTION);
            sum[l] += trunc(values[l] * scale) * s->weights[corner][l];
        }
    }
    /* Rounds to 24 bits, halves away from zero. */
    EXEC_FOR_LANES
    {
        const u64 bits = exec_bits64(sum[l]), size = bits & INT64_MAX;
        const u64 rounded = ((size + lost / 2 + 1) & ~lost) | (sum[l] < 0 ? bits ^ size : 0);
        const f64 unit = exec_f64((u64)(BIAS - CUT - 8 + (most[l] >> 23)) << FRACTION);
        result[l] = exec_bits32((f32)(exec_f64(rounded) * unit));
    }
    return true;
}

/* The same as sum_fractions in ops/texture.c, for unsigned integers of 8 or 16 bits. */
static void add_fractions(const struct sample *s, u32 *result)
{
    const s32 wide = 8 * (s->texture->texel == EXEC_TEXEL_U8 ? 65535 / 255 : 1);
    s32 sum[EXEC_LANES] = {0};
    for (unsigned corner = 0; corner < corners_of(s); corner++)
        EXEC_FOR_LANES sum[l] += (s32)s->values[corner][l] * wide * s->weights[corner][l];
    EXEC_FOR_LANES
    {
        const s32 whole = (sum[l] + 4 * TEXEL_WHOLE) / (8 * TEXEL_WHOLE);
        result[l] = exec_bits32((f32)(whole / 65535.0));
    }
}

static bool take_values(struct sample *s, const unsigned char *texels)
{
    if (s->filters) weigh(s);
    for (unsigned k = 0; k < s->access->count; k++) {
        u32 *result = s->results[k];
        if (s->access->elements[k] == EXEC_NO_SLOT) continue;
        if (k >= s->texture->channels) {
            memset(result, 0, sizeof s->results[k]);
            continue;
        }
        read_channel(s, texels, k);
        if (!s->filters)
            memcpy(result, s->values[0], sizeof s->values[0]);
        else if (s->texture->texel != EXEC_TEXEL_F32)
            add_fractions(s, result);
        else if (!add_floats(s, result))
            return false;
    }
    return true;
}

/* ---- results and counts -----------------------------------------------------------------------
 */

static void put_results(const struct sample *s)
{
    const struct exec_image_access *access = s->access;
    const u32 mask = s->warp->mask;
    for (unsigned k = 0; k < access->count; k++) {
        if (access->elements[k] == EXEC_NO_SLOT) continue;
        void *slot = exec_slot(s->warp, access->elements[k]);
        const u32 *result = s->results[k];
        u32 *words = slot;
        u64 *wides = slot;
        if (access->widths[k] == 8)
            EXEC_FOR_LANES wides[l] = EXEC_IN(mask) ? result[l] : wides[l];
        else
            EXEC_FOR_LANES words[l] = EXEC_IN(mask) ? result[l] : words[l];
    }
    if (access->resident != EXEC_NO_SLOT) *(u32 *)exec_slot(s->warp, access->resident) |= mask;
}

/* Returns true when in every lane the next corner's texel follows the one at `corner` in memory. */
static bool is_pair(const struct sample *s, unsigned corner, u32 bytes)
{
    u64 apart = 0;
    if (corner + 1 >= corners_of(s)) return false;
    EXEC_FOR_LANES apart |= (s->offsets[corner][l] + bytes) ^ s->offsets[corner + 1][l];
    return !apart;
}

static void mark(const struct sample *s, u32 bytes)
{
    struct exec_region_cache *cache = exec_cache_of(s->warp->worker, s->inst);
    u64 address[EXEC_LANES];
    if (cache->marks == NULL) return;
    for (unsigned corner = 0, each = 1; corner < corners_of(s); corner += each) {
        each = is_pair(s, corner, bytes) ? 2 : 1;
        EXEC_FOR_LANES address[l] = s->texture->address + s->offsets[corner][l];
        const struct exec_span span = exec_span_of(address, s->warp->mask, each * bytes);
        exec_mark_lanes(cache, address, s->warp->mask, each * bytes, &span);
    }
}

static void count(const struct sample *s)
{
    struct exec_counts *counts = &s->warp->worker->counts;
    const u32 mask = s->warp->mask, bytes = exec_texel_bytes(s->texture);
    const u32 lanes = (u32)__builtin_popcount(mask);
    for (unsigned corner = 0; corner < corners_of(s); corner++) {
        u32 sectors = 0;
        EXEC_FOR_LANES
        {
            const u32 at = (u32)(s->texture->address + s->offsets[corner][l]) % 32;
            sectors += EXEC_IN(mask) ? (u32)(at == 0) | (u32)(at + bytes > 32) : 0;
        }
        counts->bytes_loaded += (u64)lanes * bytes;
        counts->transactions += sectors;
    }
    mark(s, bytes);
}

/* Returns false, without effect, when exec_sample_lanes must do it. */
static bool sample_row(struct exec_warp *warp, const struct exec_inst *inst)
{
    struct sample s; /* not cleared for every instruction, because it is large */
    s.warp = warp;
    s.inst = inst;
    s.access = inst->extra;
    s.texture = texture_of(warp, inst, s.access);
    if (s.texture == NULL) return false;
    s.filters = s.access->real && s.texture->filters;
    const unsigned char *texels = texels_of(&s);
    if (texels == NULL || !can_convert(s.texture, s.filters) || !can_address(&s) ||
        !find_texels(&s) || !take_values(&s, texels))
        return false;
    count(&s);
    put_results(&s);
    warp->chain++;
    return true;
}

EXEC_HANDLER(tex)
{
    return sample_row(warp, inst) ? EXEC_GO : exec_sample_lanes(warp, inst);
}

const struct exec_row EXEC_TABLE(exec_sample_rows)[] = {{"tex", op_tex, ""}, {NULL, NULL, NULL}};
