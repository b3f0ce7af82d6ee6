/* exec_tensor_map: the content of the 128 opaque bytes of a tensor map (CUtensorMap): a tensor in
 * global memory, of one to five dimensions, and the box that one copy moves. The encoder fills in a
 * map and seals it; kernels may change a copy field by field (tensormap.replace); the executor
 * opens it when a tensor copy runs (ops/tensor_map.c).
 *
 * The layout is this device's own, not a GPU's. A map lies where the program puts it and may
 * contain anything: a map that is not sealed, or was changed after sealing, is not opened, and a
 * map that breaks a rule is reported with that rule's sentence before any of it is used.
 * Some programs (what NVIDIA's CuTe DSL compiles) encode maps by themselves, as a GPU has them:
 * such bytes are opened as well if they break no rule. Their layout is that of an H200's driver
 * (tests/exec/tensor_map_test.c has its answers).
 *
 * Source: CUDA Driver API 13.0, "Tensor Map Object Management" (cuTensorMapEncodeTiled); PTX ISA
 * 9.0, 5.5 (tensors) and 9.7.9.28 (tensormap.replace).
 */
#ifndef OVERLAP_EXEC_MACHINE_TENSOR_MAP_H
#define OVERLAP_EXEC_MACHINE_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    EXEC_TENSOR_DIMENSIONS = 5, /* at most */
    EXEC_TENSOR_MAP_BYTES = 128,
    EXEC_TENSOR_MAP_ALIGNMENT = 64,
    EXEC_TENSOR_ALIGNMENT = 128, /* of a box in shared memory: CUDA Programming Guide, "Alignment
                                    requirements for multi-dimensional bulk tensor ... copies" */
};

enum exec_tensor_type {
#define TENSOR_TYPE(symbol, number, driver, bytes, is_float, rounds, reduced)                      \
    EXEC_TENSOR_##symbol = number,
#include "emulator/exec/machine/tensor_map.def"
#undef TENSOR_TYPE
    EXEC_TENSOR_TYPES = 16, /* numbers are below this */
};

/* Chunks of 16 bytes are permuted within rows of this size. The values are those of
 * tensormap.replace and cuTensorMapEncodeTiled. */
enum exec_tensor_swizzle {
    EXEC_SWIZZLE_NONE,
    EXEC_SWIZZLE_32B,
    EXEC_SWIZZLE_64B,
    EXEC_SWIZZLE_128B,
    EXEC_SWIZZLES
};

/* Dimension 0 is the innermost, whose elements are adjacent. */
struct exec_tensor_map {
    uint64_t address;                            /* of the tensor, in global memory */
    uint64_t size[EXEC_TENSOR_DIMENSIONS];       /* elements */
    uint64_t stride[EXEC_TENSOR_DIMENSIONS - 1]; /* bytes, of dimension 1 on */
    uint32_t box[EXEC_TENSOR_DIMENSIONS];        /* elements covered, moved or not */
    uint8_t step[EXEC_TENSOR_DIMENSIONS];        /* every step-th of them is moved */
    uint8_t rank;
    uint8_t type;       /* enum exec_tensor_type */
    uint8_t interleave; /* 0: none; no other is supported */
    uint8_t swizzle;    /* enum exec_tensor_swizzle */
    uint8_t atom;       /* 0: chunks of 16 bytes; no others are supported */
    uint8_t fill;       /* 0: zeros, 1: NaN */
    uint8_t spare[9];
    uint32_t seal[2]; /* a magic number, and a checksum of the rest */
};

struct exec_tensor_element {
    uint8_t bytes; /* 0: there is no such type */
    bool is_float;
    bool rounds;         /* a load rounds to tf32 */
    const char *reduced; /* "f16": the type in the names of the atomic rows that reduce into it */
};
const struct exec_tensor_element *exec_tensor_element(unsigned type);

/* Returns the rule that the map breaks, as the end of a sentence; NULL: the map is valid. */
const char *exec_tensor_map_wrong(const struct exec_tensor_map *map);

/* _seal writes a map, sealed, to 128 bytes. _open reads one, or a GPU's; false: there is none, or
 * it was changed. */
void exec_tensor_map_seal(struct exec_tensor_map *map, void *bytes);
bool exec_tensor_map_open(struct exec_tensor_map *map, const void *bytes);

/* _count: elements of a box along `dimension`. _pitch: bytes of one row of a box in shared memory,
 * which is at least as long as a row of the swizzle mode. */
uint32_t exec_tensor_count(const struct exec_tensor_map *map, unsigned dimension);
uint32_t exec_tensor_pitch(const struct exec_tensor_map *map);

/* Returns where byte `offset` of the block's shared memory goes when swizzled. PTX ISA 9.0,
 * 5.5.7. */
uint64_t exec_tensor_swizzled(const struct exec_tensor_map *map, uint64_t offset);

#endif
