/* Tensor maps: their types, rules and seal. */
#include "emulator/exec/machine/tensor_map.h"
#include "emulator/base/hash.h"

#include <stddef.h>
#include <string.h>

_Static_assert(sizeof(struct exec_tensor_map) == EXEC_TENSOR_MAP_BYTES, "it is the opaque object");

enum {
    MAGIC = 0x70616d74, /* "tmap" */
    UNIT = 16,          /* bytes: of the innermost dimension, of addresses and strides */
    MOST_BOX = 256,     /* elements along a dimension */
    MOST_STEP = 8,
};
#define MOST_SIZE (UINT64_C(1) << 32)
#define MOST_STRIDE (UINT64_C(1) << 40)

static const struct exec_tensor_element elements[EXEC_TENSOR_TYPES] = {
#define TENSOR_TYPE(symbol, number, driver, bytes, is_float, rounds, reduced)                      \
    [number] = {bytes, is_float, rounds, reduced},
#include "emulator/exec/machine/tensor_map.def"
#undef TENSOR_TYPE
};

const struct exec_tensor_element *exec_tensor_element(unsigned type)
{
    static const struct exec_tensor_element none = {0, false, false, ""};
    return type < EXEC_TENSOR_TYPES ? &elements[type] : &none;
}

/* ---- the seal -------------------------------------------------------------------------------- */

static uint32_t sum_of(const struct exec_tensor_map *map)
{
    const uint64_t hash = hash_bytes(map, offsetof(struct exec_tensor_map, seal));
    return (uint32_t)(hash ^ hash >> 32);
}

void exec_tensor_map_seal(struct exec_tensor_map *map, void *bytes)
{
    map->seal[0] = MAGIC;
    map->seal[1] = sum_of(map);
    memmove(bytes, map, sizeof *map); /* `bytes` may be the map itself */
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* In the order of the table below: each rule may rely on those before it. CUDA Driver API,
 * cuTensorMapEncodeTiled. */

static bool has_rank(const struct exec_tensor_map *map)
{
    return map->rank >= 1 && map->rank <= EXEC_TENSOR_DIMENSIONS;
}

static bool has_type(const struct exec_tensor_map *map)
{
    return exec_tensor_element(map->type)->bytes != 0;
}

static bool is_plain(const struct exec_tensor_map *map)
{
    return map->interleave == 0 && map->atom == 0 && map->swizzle < EXEC_SWIZZLES;
}

static bool address_fits(const struct exec_tensor_map *map)
{
    return map->address % UNIT == 0;
}

static bool sizes_fit(const struct exec_tensor_map *map)
{
    for (unsigned k = 0; k < map->rank; k++)
        if (map->size[k] == 0 || map->size[k] > MOST_SIZE) return false;
    return true;
}

static bool strides_fit(const struct exec_tensor_map *map)
{
    for (unsigned k = 0; k + 1 < map->rank; k++)
        if (map->stride[k] % UNIT != 0 || map->stride[k] >= MOST_STRIDE) return false;
    return true;
}

static bool boxes_fit(const struct exec_tensor_map *map)
{
    for (unsigned k = 0; k < map->rank; k++)
        if (map->box[k] == 0 || map->box[k] > MOST_BOX) return false;
    return true;
}

static uint32_t inner_bytes(const struct exec_tensor_map *map)
{
    return map->box[0] * exec_tensor_element(map->type)->bytes;
}

static bool inner_is_whole(const struct exec_tensor_map *map)
{
    return inner_bytes(map) % UNIT == 0;
}

static bool steps_fit(const struct exec_tensor_map *map)
{
    for (unsigned k = 0; k < map->rank; k++)
        if (map->step[k] == 0 || map->step[k] > MOST_STEP) return false;
    return true;
}

/* Returns the bytes of the rows in which chunks are permuted; 0: no swizzle. */
static uint32_t swizzle_bytes(const struct exec_tensor_map *map)
{
    return map->swizzle == EXEC_SWIZZLE_NONE ? 0 : UNIT << map->swizzle;
}

static bool inner_fits_swizzle(const struct exec_tensor_map *map)
{
    return map->swizzle == EXEC_SWIZZLE_NONE || inner_bytes(map) <= swizzle_bytes(map);
}

static bool fill_fits(const struct exec_tensor_map *map)
{
    return map->fill == 0 || (map->fill == 1 && exec_tensor_element(map->type)->is_float);
}

const char *exec_tensor_map_wrong(const struct exec_tensor_map *map)
{
    static const struct {
        bool (*holds)(const struct exec_tensor_map *map);
        const char *broken;
    } rules[] = {
        {has_rank, "a tensor has 1 to 5 dimensions"},
        {has_type, "there is no such type of elements"},
        {is_plain, "there is no such interleaved layout or swizzle mode"},
        {address_fits, "the tensor's address must be a multiple of 16"},
        {sizes_fit, "the tensor's sizes must be 1 to 2^32 elements"},
        {strides_fit, "strides must be multiples of 16 bytes, and less than 2^40"},
        {boxes_fit, "a box has 1 to 256 elements along each dimension"},
        {inner_is_whole, "the innermost dimension of a box must be a multiple of 16 bytes"},
        {steps_fit, "element strides must be 1 to 8"},
        {inner_fits_swizzle, "the innermost dimension of a box must be no longer than the swizzle "
                             "mode's 32, 64 or 128 bytes"},
        {fill_fits, "NaN fills tensors of floating-point elements only"},
    };
    for (unsigned k = 0; k < sizeof rules / sizeof *rules; k++)
        if (!rules[k].holds(map)) return rules[k].broken;
    return NULL;
}

/* ---- a GPU's bytes ----------------------------------------------------------------------------
 */

/* Words 0 to 7 of 64 bits; the other eight say nothing to a copy. Bits are counted from the lowest
 * of word 0. */
enum {
    VARIANT = 64, /* 0 of the driver, 2 of the CuTe DSL */
    RANK = 68,
    TYPE = 71,
    INTERLEAVE = 75,
    SWIZZLE = 77,
    FILL = 79,
    TF32 = 80,
    STRIDES = 96,        /* in units of 16 bytes, 32 bits each */
    STRIDES_ABOVE = 224, /* the four bits above those */
    SIZES = 256,         /* less one, 32 bits each */
    STEPS = 416,         /* less one, 3 bits each */
    BOXES = 440,         /* less one, 8 bits each */
};

/* What no bit of a map stands for: 57 bits are an address; of word 1 two bits choose what is kept
 * in the L2 cache, and one is set for large tensors. */
static const uint64_t unused[8] = {[0] = UINT64_C(0xfe0000000000000f),
                                   [1] = UINT64_C(0xffd8000d),
                                   [3] = UINT64_C(0xffff000000000000),
                                   [6] = UINT64_C(0x00ff800000000000),
                                   [7] = UINT64_C(0xffffffff00000000)};

static uint64_t bits(const uint64_t *words, unsigned first, unsigned count)
{
    const unsigned shift = first % 64;
    uint64_t value = words[first / 64] >> shift;
    if (shift + count > 64) value |= words[first / 64 + 1] << (64 - shift);
    return count == 64 ? value : value & ((UINT64_C(1) << count) - 1);
}

/* The numbers are tensormap.replace's, but that TF32 is F32 with a bit of its own. */
static uint8_t coded_type(const uint64_t *words)
{
    const uint64_t code = bits(words, TYPE, 4);
    if (bits(words, TF32, 1) == 0) return (uint8_t)code;
    return code == EXEC_TENSOR_F32       ? EXEC_TENSOR_TF32
           : code == EXEC_TENSOR_F32_FTZ ? EXEC_TENSOR_TF32_FTZ
                                         : EXEC_TENSOR_TYPES;
}

/* Fills in the dimensions of the map's rank. Returns false if others are not empty. */
static bool read_dimensions(struct exec_tensor_map *map, const uint64_t *words)
{
    for (unsigned k = 0; k < EXEC_TENSOR_DIMENSIONS; k++) {
        const uint64_t size = bits(words, SIZES + 32 * k, 32), box = bits(words, BOXES + 8 * k, 8);
        const uint64_t step = bits(words, STEPS + 3 * k, 3);
        const uint64_t stride = k == 0 ? 0
                                       : bits(words, STRIDES + 32 * (k - 1), 32) |
                                             bits(words, STRIDES_ABOVE + 4 * (k - 1), 4) << 32;
        if (k >= map->rank && (size | box | step | stride) != 0) return false;
        if (k >= map->rank) continue;
        map->size[k] = size + 1;
        map->box[k] = (uint32_t)box + 1;
        map->step[k] = (uint8_t)(step + 1);
        if (k > 0) map->stride[k - 1] = stride * UNIT;
    }
    return true;
}

/* Reads a map that the program has encoded by itself. */
static bool read_coded(struct exec_tensor_map *map, const void *bytes)
{
    uint64_t words[8];
    memcpy(words, bytes, sizeof words);
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if ((words[i] & unused[i]) != 0) return false;
    *map = (struct exec_tensor_map){
        .address = words[0],
        .rank = (uint8_t)(bits(words, RANK, 3) + 1),
        .type = coded_type(words),
        .interleave = (uint8_t)bits(words, INTERLEAVE, 2),
        .swizzle = (uint8_t)bits(words, SWIZZLE, 2),
        .fill = (uint8_t)bits(words, FILL, 1),
    };
    return map->address != 0 && map->rank <= EXEC_TENSOR_DIMENSIONS &&
           read_dimensions(map, words) && exec_tensor_map_wrong(map) == NULL;
}

bool exec_tensor_map_open(struct exec_tensor_map *map, const void *bytes)
{
    memcpy(map, bytes, sizeof *map);
    if (map->seal[0] == MAGIC) return map->seal[1] == sum_of(map);
    return read_coded(map, bytes);
}

/* ---- boxes in shared memory ------------------------------------------------------------------ */

uint32_t exec_tensor_count(const struct exec_tensor_map *map, unsigned dimension)
{
    /* "the first element of this array is ignored": no stride for dimension zero. */
    const uint32_t step = dimension == 0 ? 1 : map->step[dimension];
    return (map->box[dimension] + step - 1) / step;
}

uint32_t exec_tensor_pitch(const struct exec_tensor_map *map)
{
    /* CUDA Programming Guide, "Shared-memory bank swizzling": "if the swizzle width exceeds the
     * inner dimension, ensure that the shared memory is allocated to accommodate the full swizzle
     * width". */
    const uint32_t inner = inner_bytes(map), row = swizzle_bytes(map);
    return inner > row ? inner : row;
}

uint64_t exec_tensor_swizzled(const struct exec_tensor_map *map, uint64_t offset)
{
    /* The number of the 128-byte line, modulo the chunks of a row, is XORed with the chunk's
     * index. */
    const uint64_t chunks = swizzle_bytes(map) / UNIT;
    return chunks == 0 ? offset : offset ^ (offset / 128 % chunks) * UNIT;
}
