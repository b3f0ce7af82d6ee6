/* exec_extra: what a decoded instruction's `extra` points to, or its `imm` encodes, when slots, an
 * address and an immediate do not describe it completely. lower/ fills these structures in, the
 * handlers read them, and the program's arena owns them. Nothing is computed here.
 */
#ifndef OVERLAP_EXEC_OPS_EXTRA_H
#define OVERLAP_EXEC_OPS_EXTRA_H

#include "emulator/exec/decoded.h"
#include "emulator/exec/machine/tensor_map.h"
#include "trace/unsupported.h"

/* ---- refused instructions: ops/control.c ----------------------------------------------------- */

struct exec_refused {
    enum trace_unsupported why;
    const char *text;    /* of the instruction */
    const char *meaning; /* of an opcode that the device lacks; else NULL */
};

/* ---- textures and surfaces: ops/texture.c ---------------------------------------------------- */

enum image_boundary { IMAGE_TRAP, IMAGE_CLAMP, IMAGE_ZERO };
enum image_question { IMAGE_WIDTH, IMAGE_HEIGHT, IMAGE_DEPTH, IMAGE_LAYERS, IMAGE_NORMALIZED };

/* `extra` of texture and surface instructions; their slot a holds the handle. */
struct exec_image_access {
    const char *name;   /* of the instruction, for messages: "tex.2d" */
    uint8_t dimensions; /* of the instruction's coordinates, without layers */
    bool layered;       /* the first coordinate is a layer's index */
    bool cube;          /* a direction of three coordinates selects one of six faces */
    bool by_gradient;
    uint32_t level;          /* slot of the level of detail, or EXEC_NO_SLOT: 0 */
    bool real;               /* the other coordinates are f32, else s32 */
    uint32_t coordinates[4]; /* slots; the layer's, if there is one, is the first */
    uint32_t count;          /* of elements moved: slots in `elements` */
    uint32_t elements[4];    /* slots, EXEC_NO_SLOT: not wanted */
    uint32_t widths[4];      /* of each slot, in bytes per lane: 4 or 8 */
    uint32_t resident;       /* predicate slot that is set, or EXEC_NO_SLOT */
    uint32_t bytes;          /* of one element of a surface access */
    bool formatted;          /* its values become texels, which the first coordinate counts */
    uint8_t component;       /* tld4 */
    enum image_boundary boundary;
    enum image_question question;
};

/* ---- bulk copies: ops/bulk.c ----------------------------------------------------------------- */

struct exec_bulk {
    bool tells;          /* slot e holds the address of a barrier object (mbarrier) to be told */
    uint32_t ranks;      /* slot of a mask of cluster ranks to copy to, or EXEC_NO_SLOT */
    exec_handler *apply; /* a reduction: the row of the atomic operation; NULL: a copy */
    uint32_t bytes;      /* of an element of a reduction */
    uint32_t address, value, before; /* scratch slots for it */
};

/* ---- tensor copies: ops/tensor_map.c --------------------------------------------------------- */

/* Slots of the instruction: a: shared memory; b: the tensor map; e: the barrier object. It has
 * three region caches: of the box in shared memory, of the source, of the map. */
struct exec_tensor_copy {
    struct exec_bulk bulk; /* without apply and bytes, which follow from the map */
    bool loads;
    uint32_t rank;
    uint32_t coordinates[EXEC_TENSOR_DIMENSIONS]; /* slots */
    exec_handler *apply[EXEC_TENSOR_TYPES]; /* of a reduction: the rows of the atomic operation for
                                               each type; NULL: not allowed for the type */
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

/* The elements that lane l holds of the matrices of d = a * b + c, as PTX lays them out for
 * mma.sync. PTX leaves wmma's layout open; here it is several of these side by side. With `per`
 * elements in a register, element e of register r is
 *   of a, m x k:         in row l / 4 + 8 * (r % (m / 8)),
 *                        column l % 4 * per + e + 4 * per * (r / (m / 8));
 *   of b, k x n:         in row l % 4 * per + e + 4 * per * (r % h), h = k / (4 * per),
 *                        column l / 4 + 8 * (r / h);
 *   of c and d, m x n:   with i = r * per + e in row l / 4 + 8 * (i / 2 % (m / 8)),
 *                        column l % 4 * 2 + i % 2 + 8 * (i / 2 / (m / 8)).
 * Source: PTX ISA 9.0, 9.7.14.5, "Matrix Fragments for mma". */
enum { EXEC_TENSOR_REGISTERS = 8 };

/* `imm` of a product: .satfinite, and the layouts of m8n8k4, whose lanes ops/tensor_quads.c names.
 */
enum {
    EXEC_TENSOR_CLAMPS = 1,
    EXEC_TENSOR_FIRST_BY_COLUMNS = 2,
    EXEC_TENSOR_SECOND_BY_ROWS = 4,
    EXEC_TENSOR_SELECTOR_SHIFT = 8 /* of a sparse product: which lanes have the positions */
};
/* `extra` of a product: the slots of the registers. */
struct exec_tensor {
    uint32_t a[EXEC_TENSOR_REGISTERS], b[EXEC_TENSOR_REGISTERS], c[EXEC_TENSOR_REGISTERS],
        d[EXEC_TENSOR_REGISTERS];
    uint32_t e; /* of a sparse product: the positions */
};

/* `extra` of row "matrix.element": the element whose address lane l computes. Lines (rows or
 * columns) lie `stride` elements apart. The lane's line is line[0] + line[1] * (l / 4) + line[2] *
 * (l % 4); its place inside the line is given by `inside` in the same way. */
struct exec_element {
    uint32_t line[3], inside[3];
    uint32_t bits; /* of an element */
};

/* `extra` of row "wgmma.address": the element whose address lane l computes, by the descriptor in
 * slot a. Its coordinate along m or n is across[0] + across[1] * (l / 4) + across[2] * (l % 4);
 * `depth` gives that along k in the same way. Each warp has 16 rows of the first factor. */
struct exec_group_element {
    uint32_t across[3], depth[3];
    uint32_t bytes; /* of an element */
    bool first;     /* the matrix is the first factor */
    bool by_depth;  /* neighbours along k lie together in memory */
};

/* `extra` of row "wgmma.begin": the slots of the accumulator. */
struct exec_group_sum {
    uint32_t count;
    uint32_t slots[]; /* of 32 bits */
};

/* `imm` of row "matrix.row". Bits EXEC_ROW_MATRIX: which of the matrices, whose row addresses are
 * in lanes 8 * matrix and up. Lane l reads two neighbours of row l / 4 or, transposed, element l /
 * 4 of row l % 4 * 2 + `half`. */
enum {
    EXEC_ROW_MATRIX = 3,
    EXEC_ROW_HALF = 4,
    EXEC_ROW_TRANSPOSED = 8,
    EXEC_ROW_STORE = 16,
    EXEC_ROW_GENERIC = 32
};
/* `imm` of row "matrix.together": whether all lanes must agree in slots a (a 64-bit address) and b
 * (a stride); whether the instruction stores; the stride's unit in bits; and the alignment of the
 * lines' addresses in bytes, a power of two. */
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
    struct exec_video_part target; /* of a scalar's destination; 32 bits: the whole register */
    uint8_t mask;                  /* a bit for each lane of the destination that is written */
};

#endif
