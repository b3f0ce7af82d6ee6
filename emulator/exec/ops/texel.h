/* exec_texel: texel formats and addressing modes, for both ways to sample: all lanes at once
 * (ops/sample.c) and lane by lane (ops/texture.c). Reads no device memory by itself. Private to the
 * files that hold handlers.
 */
#ifndef OVERLAP_EXEC_OPS_TEXEL_H
#define OVERLAP_EXEC_OPS_TEXEL_H

#include "emulator/exec/check/block_shadow.h"
#include "emulator/exec/check/grid_shadow.h"
#include "emulator/exec/decoded.h"
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/machine/texture.h"
#include "emulator/exec/ops/half.h"

#include <string.h>

enum {
    TEXEL_WHOLE = 256,     /* the sum of the weights of the texels around a place */
    TEXEL_STEPS = 1 << 21, /* a normalised coordinate's fraction has 21 bits */
    TEXEL_FAR = 1 << 24,   /* in texels: larger than any texture */
};

/* Row `tex` lane by lane, for what ops/sample.c does not handle. */
exec_handler exec_sample_lanes;

/* Returns true when every access through `cache` must be race-checked, which exec_resolve does. */
static inline bool texel_judged(const struct exec_region_cache *cache)
{
    return exec_grid_shadow_wanted(cache) || exec_block_shadow_wanted(cache);
}

/* Returns true when reads give floats. */
static inline bool texel_is_real(const struct exec_texture *texture)
{
    return texture->texel >= EXEC_TEXEL_F16 ||
           (texture->promotes && texture->texel != EXEC_TEXEL_U32 &&
            texture->texel != EXEC_TEXEL_S32);
}

/* Returns one channel as a texture read gives it: a float's bits, or an integer. The lowest signed
 * fraction is not clamped to -1 here. */
static inline uint32_t texel_channel(const struct exec_texture *texture, const unsigned char *bytes)
{
    uint16_t half;
    uint32_t word;
    memcpy(&half, bytes,
           sizeof half * (texture->texel != EXEC_TEXEL_U8 && texture->texel != EXEC_TEXEL_S8));
    switch (texture->texel) {
    case EXEC_TEXEL_U8:
        return texture->promotes ? exec_bits32((float)bytes[0] / 255.0f) : bytes[0];
    case EXEC_TEXEL_S8:
        return texture->promotes ? exec_bits32((float)(int8_t)bytes[0] / 127.0f)
                                 : (uint32_t)(int32_t)(int8_t)bytes[0];
    case EXEC_TEXEL_U16:
        return texture->promotes ? exec_bits32((float)half / 65535.0f) : half;
    case EXEC_TEXEL_S16:
        return texture->promotes ? exec_bits32((float)(int16_t)half / 32767.0f)
                                 : (uint32_t)(int32_t)(int16_t)half;
    case EXEC_TEXEL_F16:
        if ((half & 0x7c00) == 0x7c00) /* NaN keeps its payload, quiet or signalling */
            return (uint32_t)(half & 0x8000) << 16 | 0x7f800000u | (uint32_t)(half & 0x3ff) << 13;
        return exec_bits32((float)half_widen(half, HALF_F16));
    case EXEC_TEXEL_U32:
    case EXEC_TEXEL_S32:
    case EXEC_TEXEL_F32:
        memcpy(&word, bytes, sizeof word);
        return word;
    }
    return 0;
}

/* Returns `of` * `weight` / TEXEL_WHOLE, rounded. */
static inline int32_t texel_part(int32_t of, int32_t weight)
{
    return (of * weight + TEXEL_WHOLE / 2) / TEXEL_WHOLE;
}

/* Returns the addressing mode in effect. Wrapping and mirroring need normalised coordinates; others
 * are clamped. A seamless cube uses none of these modes. */
static inline enum exec_addressing texel_mode(const struct exec_texture *texture,
                                              unsigned dimension)
{
    const enum exec_addressing mode = texture->addressing[dimension];
    if (texture->cube && texture->seamless) return EXEC_ADDRESS_CLAMP;
    return texture->normalized || texture->cube || mode == EXEC_ADDRESS_BORDER ? mode
                                                                               : EXEC_ADDRESS_CLAMP;
}

#endif
