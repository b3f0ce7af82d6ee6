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

bool exec_tensor_map_open(struct exec_tensor_map *map, const void *bytes)
{
    memcpy(map, bytes, sizeof *map);
    return map->seal[0] == MAGIC && map->seal[1] == sum_of(map);
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
