/* exec_extra: what a decoded instruction knows of itself beyond its operands' slots, where an
 * address and an immediate do not suffice: what `extra` points to. lower/ fills it in, the handlers
 * read it; the program's arena owns it. It computes nothing.
 */
#ifndef OVERLAP_EXEC_OPS_EXTRA_H
#define OVERLAP_EXEC_OPS_EXTRA_H

#include "emulator/exec/decoded.h"
#include "emulator/exec/machine/tensor_map.h"
#include "trace/unsupported.h"

/* ---- what cannot run: ops/control.c ---------------------------------------------------------- */

struct exec_refused {
    enum trace_unsupported why;
    const char *text;    /* of the instruction */
    const char *meaning; /* of an opcode that the device does not have; NULL: it has it */
};

/* ---- textures and surfaces: ops/texture.c ---------------------------------------------------- */

enum image_boundary { IMAGE_TRAP, IMAGE_CLAMP, IMAGE_ZERO };
enum image_question { IMAGE_WIDTH, IMAGE_HEIGHT, IMAGE_DEPTH, IMAGE_LAYERS, IMAGE_NORMALIZED };

/* `extra` of such an instruction, whose slot a holds the handle. */
struct exec_image_access {
    const char *name;   /* of the instruction, for sentences: "tex.2d" */
    uint8_t dimensions; /* that the instruction reads in; not counting layers */
    bool layered;       /* the first coordinate is a layer's index */
    bool cube;          /* a direction of three coordinates, for one of six faces */
    bool by_gradient;
    uint32_t level;          /* slot of the level of detail, or EXEC_NO_SLOT: 0 */
    bool real;               /* the other coordinates are f32, else s32 */
    uint32_t coordinates[4]; /* slots; the layer's, if there is one, is the first */
    uint32_t count;          /* of elements moved */
    uint32_t elements[4];    /* slots, EXEC_NO_SLOT: not wanted */
    uint32_t widths[4];      /* of each slot, in bytes per lane: 4 or 8 */
    uint32_t resident;       /* predicate slot that is set, or EXEC_NO_SLOT */
    uint32_t bytes;          /* of one element of a surface access */
    uint8_t component;       /* tld4 */
    enum image_boundary boundary;
    enum image_question question;
};

/* ---- bulk copies: ops/bulk.c ----------------------------------------------------------------- */

struct exec_bulk {
    bool tells;          /* slot e has a barrier object's address */
    uint32_t ranks;      /* slot of the blocks that it copies to, a bit each, or EXEC_NO_SLOT */
    exec_handler *apply; /* a reduction: the row of the atomic operation; NULL: a copy */
    uint32_t bytes;      /* of an element of a reduction */
    uint32_t address, value, before; /* slots for it */
};

/* ---- tensor copies: ops/tensor_map.c --------------------------------------------------------- */

/* Slots of the instruction: a: shared memory; b: the tensor map; e: the object. Its caches: of the
 * box, of a source, of the map. */
struct exec_tensor_copy {
    struct exec_bulk bulk; /* but for apply and bytes, which the map decides */
    bool loads;
    uint32_t rank;
    uint32_t coordinates[EXEC_TENSOR_DIMENSIONS]; /* slots */
    exec_handler *apply[EXEC_TENSOR_TYPES]; /* of a reduction: the rows of the atomic operation for
                                               each type; NULL: it does not take it */
    const char *operation;                  /* of a reduction: "add"; NULL: it is none */
};

/* tensormap.replace: slot a: the map's generic address, b: the new value, 4 or 8 bytes wide. */
struct exec_tensor_replace {
    uint32_t offset, bytes; /* of the field in struct exec_tensor_map */
    bool plus_one;          /* the field is one more than the value */
    bool wide;
};

/* ---- arrivals at barrier objects: ops/mbarrier.c, in `imm` ----------------------------------- */

enum { EXEC_ARRIVE_EXPECTS = 1, EXEC_ARRIVE_NOT_LAST = 2, EXEC_ARRIVE_DROPS = 4 };

/* ---- tensor cores: ops/tensor.c -------------------------------------------------------------- */

/* Lane l's share of the matrices of d = a * b + c, the way PTX lays out those of mma.sync; wmma's,
 * which PTX leaves open, are several of them side by side. With `per` elements in a register,
 * element e of register r is
 *   of a, m x k:         in row l / 4 + 8 * (r % (m / 8)),
 *                        column l % 4 * per + e + 4 * per * (r / (m / 8));
 *   of b, k x n:         in row l % 4 * per + e + 4 * per * (r % h), h = k / (4 * per),
 *                        column l / 4 + 8 * (r / h);
 *   of c and d, m x n:   with i = r * per + e in row l / 4 + 8 * (i / 2 % (m / 8)),
 *                        column l % 4 * 2 + i % 2 + 8 * (i / 2 / (m / 8)).
 * Source: PTX ISA 9.0, 9.7.14.5, "Matrix Fragments for mma". */
enum { EXEC_TENSOR_REGISTERS = 8 };

/* `extra` of a product: the slots of the registers. `imm`: .satfinite. */
struct exec_tensor {
    uint32_t a[EXEC_TENSOR_REGISTERS], b[EXEC_TENSOR_REGISTERS], c[EXEC_TENSOR_REGISTERS],
        d[EXEC_TENSOR_REGISTERS];
};

/* `extra` of row "matrix.element": which element's address lane l computes. Of lines, rows or
 * columns, that lie `stride` elements apart: line[0] + line[1] * (l / 4) + line[2] * (l % 4), and
 * the element inside of it. */
struct exec_element {
    uint32_t line[3], inside[3];
    uint32_t bytes; /* of an element */
};

/* `extra` of row "wgmma.address": which element's address lane l computes, by the descriptor in
 * slot a. Along m or n, and along k: across[0] + across[1] * (l / 4) + across[2] * (l % 4), and the
 * same of depth; the first factor's warps have 16 rows each. */
struct exec_group_element {
    uint32_t across[3], depth[3];
    uint32_t bytes; /* of an element */
    bool first;     /* of the first factor */
    bool by_depth;  /* neighbours along k lie together in memory */
};

/* `extra` of row "wgmma.begin": the slots of the sum. */
struct exec_group_sum {
    uint32_t count;
    uint32_t slots[]; /* of 32 bits */
};

/* `imm` of row "matrix.row": which of the rows that lanes name, 8 * matrix.., and whether lane l
 * reads two neighbours of row l / 4 or element l / 4 of row l % 4 * 2 + `half`. */
enum {
    EXEC_ROW_MATRIX = 3,
    EXEC_ROW_HALF = 4,
    EXEC_ROW_TRANSPOSED = 8,
    EXEC_ROW_STORE = 16,
    EXEC_ROW_GENERIC = 32
};
/* `imm` of row "matrix.together": whether all lanes must agree in slots a, an address of 64 bits,
 * and b, a stride; whether it is a store's; the bytes of what the stride counts; and of what number
 * of bytes, a power of two, the addresses of lines must be multiples. */
enum {
    EXEC_SAME_ARGUMENTS = 1,
    EXEC_MATRIX_STORE = 2,
    EXEC_UNIT_SHIFT = 8,
    EXEC_ALIGNMENT_SHIFT = 16
};

/* ---- video instructions: ops/video.c --------------------------------------------------------- */

enum exec_video_operation {
    EXEC_VIDEO_ADD,
    EXEC_VIDEO_SUB,
    EXEC_VIDEO_ABSDIFF,
    EXEC_VIDEO_MIN,
    EXEC_VIDEO_MAX,
    EXEC_VIDEO_AVERAGE,
    EXEC_VIDEO_SHL,
    EXEC_VIDEO_SHR,
    EXEC_VIDEO_COMPARE,
    EXEC_VIDEO_MAD,
};

/* A part of a register pair b:a: `bits` bits at bit `shift`. */
struct exec_video_part {
    uint8_t shift, bits;
};

struct exec_video {
    enum exec_video_operation operation;
    uint8_t lanes;     /* 1, 2, 4 */
    bool is_signed[3]; /* destination, a, b */
    bool saturate, wraps, sums;
    bool negated[3]; /* vmad: a, b, c */
    bool plus_one;
    uint8_t scale;      /* vmad: bits */
    uint16_t compare;   /* enum ptx_modifier */
    uint16_t secondary; /* enum ptx_modifier: of a scalar's result and c; PTX_ABSENT: none */
    struct exec_video_part a[4], b[4];
    struct exec_video_part target; /* of a scalar's destination; 32 bits: all of it */
    uint8_t mask;                  /* of the lanes that are written */
};

#endif
