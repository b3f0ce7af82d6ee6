/* Lowers tensor core instructions: wmma, mma, ldmatrix, stmatrix, movmatrix, wgmma. PTX ISA 9.0,
 * 9.7.14, 9.7.15; their handlers are in ops/tensor.c. ops/extra.h says which lane has which
 * element.
 *
 * Matrices are loaded and stored by the rows of ordinary loads and stores, register by register, so
 * that bounds, initialised bits and races are checked in the same way. A synchronisation of the
 * whole warp precedes each instruction.
 */
#include "emulator/exec/lower/access.h"

#include <stdio.h>
#include <string.h>

enum { QUAD = 4, ROWS = 8, MOST_PARTS = 4 };

enum use { FIRST, SECOND, SUM };

/* One of the matrices of d = a * b + c, distributed over the lanes of a warp. */
struct matrix {
    enum use use;
    uint32_t m, n, k;
    uint32_t bits;      /* of an element */
    uint32_t per;       /* elements in a register */
    uint32_t registers; /* registers per lane that hold each element once */
    uint32_t named;     /* registers that the instruction names: wmma's f16 factors are repeated */
};

/* Reads m, n and k from a tile such as .m16n8k16. Returns false when it has no k. */
static bool find_tile(uint16_t tile, struct matrix *matrix)
{
    unsigned m, n, k;
    if (sscanf(ptx_modifier_name((enum ptx_modifier)tile), "m%un%uk%u", &m, &n, &k) != 3)
        return false;
    matrix->m = m;
    matrix->n = n;
    matrix->k = k;
    return true;
}

/* The layout of wmma's matrices in registers is the device's own. */
static bool is_fragment(const struct ptx_instruction *at)
{
    return at->op != PTX_OP_MMA && at->op != PTX_OP_MMA_SPARSE;
}

/* mma.m8n8k4 of halves multiplies four matrices at once. */
static bool is_quads(const struct ptx_instruction *at)
{
    return at->op == PTX_OP_MMA && at->modifiers.tile == PTX_TILE_M8N8K4 && at->type2 == PTX_F16;
}

static bool find_matrix(const struct ptx_instruction *at, enum use use, enum ptx_type type,
                        struct matrix *matrix)
{
    if (!find_tile(at->modifiers.tile, matrix)) return false;
    const uint32_t times = is_quads(at) ? QUAD : 1;
    if (at->op == PTX_OP_MMA_SPARSE && use == FIRST) matrix->k /= 2;
    const uint32_t sizes[] = {[FIRST] = times * matrix->m * matrix->k,
                              [SECOND] = times * matrix->k * matrix->n,
                              [SUM] = times * matrix->m * matrix->n};
    matrix->use = use;
    matrix->bits = ptx_type_bits(type);
    matrix->per = matrix->bits < 32 ? 32 / matrix->bits : 1;
    matrix->registers = sizes[use] / (EXEC_LANES * matrix->per);
    const bool repeats = is_fragment(at) && type == PTX_F16 && use != SUM;
    matrix->named = repeats ? EXEC_TENSOR_REGISTERS : matrix->registers;
    return matrix->registers != 0 && matrix->registers <= EXEC_TENSOR_REGISTERS &&
           (use == SECOND || matrix->m >= ROWS) &&
           times * matrix->k >= QUAD * (use == SUM ? 1 : matrix->per);
}

/* Finds the slots of `count` registers of `width` bytes. Returns false when lower_unsupported has
 * been called. */
static bool find_registers(struct lower *lower, const struct ptx_operand *operand, uint32_t count,
                           uint32_t width, uint32_t slots[EXEC_TENSOR_REGISTERS])
{
    const bool vector = operand->kind == PTX_OPERAND_VECTOR;
    const struct ptx_operand *elements = vector ? operand->elements : operand;
    bool fine = (vector ? operand->count : 1) == count;
    for (uint32_t k = 0; fine && k < count; k++) {
        fine = lower_width(lower->source->registers[elements[k].reg].type) == width;
        slots[k] = lower->registers[elements[k].reg];
    }
    if (!fine) lower_unsupported(lower, UNSUPPORTED_OPERAND);
    return fine;
}

/* Emits a synchronisation of the whole warp, and a check that its lanes name one matrix. */
static void lower_together(struct lower *lower, uint32_t address, uint32_t stride, unsigned how)
{
    const uint32_t all = lower_value(lower, EXEC_ALL, 4);
    struct exec_inst *inst = lower_emit_plain(lower, exec_row_find("sync")->run);
    inst->inner = exec_row_find("matrix.sync")->run;
    inst->a = all;
    inst->imm = all;
    inst = lower_row(lower, "matrix.together");
    inst->a = address;
    inst->b = stride;
    inst->imm = how;
}

/* ---- mma, wmma.mma --------------------------------------------------------------------------- */

static enum ptx_type type_of(uint16_t factor)
{
    static const struct {
        uint16_t modifier;
        uint8_t type;
    } types[] = {
        {PTX_FACTOR_F16, PTX_F16},  {PTX_FACTOR_BF16, PTX_BF16}, {PTX_FACTOR_TF32, PTX_TF32},
        {PTX_FACTOR_F32, PTX_F32},  {PTX_FACTOR_F64, PTX_F64},   {PTX_FACTOR_S8, PTX_S8},
        {PTX_FACTOR_U8, PTX_U8},    {PTX_FACTOR_S32, PTX_S32},   {PTX_FACTOR_S4, PTX_S4},
        {PTX_FACTOR_U4, PTX_U4},    {PTX_FACTOR_B1, PTX_B1},     {PTX_FACTOR_E4M3, PTX_E4M3},
        {PTX_FACTOR_E5M2, PTX_E5M2}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].modifier == factor) return (enum ptx_type)types[i].type;
    return PTX_NO_TYPE;
}

static const struct exec_row *find_product(const struct ptx_instruction *at)
{
    const struct ptx_modifiers *modifiers = &at->modifiers;
    const bool rounds =
        !modifiers->rounding || (at->type == PTX_F64 && modifiers->rounding <= PTX_ROUND_RP);
    const bool by_rows =
        modifiers->layout == PTX_LAYOUT_ROW && modifiers->layout2 == PTX_LAYOUT_COL;
    const bool any_layout = (is_fragment(at) && ptx_type_bits(at->type2) >= 8) || is_quads(at);
    const bool clamps = modifiers->satfinite != PTX_ABSENT;
    char key[96];
    if (!rounds || !(by_rows || any_layout) || (clamps && at->type != PTX_S32)) return NULL;
    snprintf(key, sizeof key, "%s.%s.%s.%s%s%s%s%s%s%s%s", ptx_opcode_name(at->op),
             ptx_modifier_name((enum ptx_modifier)modifiers->tile),
             ptx_type_name((enum ptx_type)at->type), ptx_type_name((enum ptx_type)at->type2),
             modifiers->factor ? "." : "", ptx_modifier_name((enum ptx_modifier)modifiers->factor),
             modifiers->addend ? "." : "", ptx_modifier_name((enum ptx_modifier)modifiers->addend),
             modifiers->boolean ? "." : "",
             ptx_modifier_name((enum ptx_modifier)modifiers->boolean),
             modifiers->counted ? ".popc" : "");
    return exec_row_find(key);
}

static unsigned flags_of(const struct ptx_instruction *at)
{
    const struct ptx_modifiers *modifiers = &at->modifiers;
    return (modifiers->satfinite ? EXEC_TENSOR_CLAMPS : 0u) |
           (modifiers->layout == PTX_LAYOUT_COL ? EXEC_TENSOR_FIRST_BY_COLUMNS : 0u) |
           (modifiers->layout2 == PTX_LAYOUT_ROW ? EXEC_TENSOR_SECOND_BY_ROWS : 0u);
}

/* Finds the register of a sparse product's positions, and its selector. Returns false when
 * lower_unsupported has been called. */
static bool find_sparsity(struct lower *lower, struct exec_tensor *tensor, uint64_t *selector)
{
    enum {
        SELECTORS = 4,
        GROUPS = 16 /* of a row, whose positions fill the registers of a quad */
    };
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *operand = &at->operands[5];
    const uint32_t bits = ptx_type_bits((enum ptx_type)at->type2);
    struct matrix matrix;
    if (!find_tile(at->modifiers.tile, &matrix)) return false;
    const uint32_t groups = matrix.k / (bits == 32 ? 2 : bits == 4 ? 8 : 4);
    *selector = operand->bits;
    if (operand->kind != PTX_OPERAND_IMMEDIATE || groups < SELECTORS || groups > GROUPS ||
        *selector >= GROUPS / groups) {
        lower_unsupported(lower, UNSUPPORTED_OPERAND);
        return false;
    }
    tensor->e = lower_source(lower, &at->operands[4], 4);
    return tensor->e != EXEC_NO_SLOT;
}

static void lower_product(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const struct exec_row *row = find_product(at);
    struct exec_tensor *tensor = arena_take(&lower->program->arena, 1, sizeof *tensor);
    if (tensor == NULL) {
        lower->failed = true;
        return;
    }
    if (row == NULL) {
        lower_unsupported(lower, UNSUPPORTED_COMBINATION);
        return;
    }
    const enum ptx_type second = (enum ptx_type)at->type2;
    const bool names_factors = at->modifiers.factor != PTX_ABSENT;
    const struct {
        enum use use;
        enum ptx_type type;
        uint32_t *slots;
    } operands[] = {
        {SUM, (enum ptx_type)at->type, tensor->d},
        {FIRST, names_factors ? second : PTX_F16, tensor->a},
        {SECOND, names_factors ? type_of(at->modifiers.factor) : PTX_F16, tensor->b},
        {SUM, names_factors ? type_of(at->modifiers.addend) : second, tensor->c},
    };
    for (uint32_t k = 0; k < sizeof operands / sizeof operands[0]; k++) {
        struct matrix matrix;
        if (!find_matrix(at, operands[k].use, operands[k].type, &matrix)) {
            lower_unsupported(lower, UNSUPPORTED_COMBINATION);
            return;
        }
        if (!find_registers(lower, &at->operands[k], matrix.named, matrix.bits == 64 ? 8 : 4,
                            operands[k].slots))
            return;
    }
    uint64_t selector = 0;
    if (at->op == PTX_OP_MMA_SPARSE && !find_sparsity(lower, tensor, &selector)) return;
    lower_guard(lower);
    lower_together(lower, 0, 0, 0);
    struct exec_inst *inst = lower_emit(lower, row->run);
    inst->extra = tensor;
    inst->imm = flags_of(at) | selector << EXEC_TENSOR_SELECTOR_SHIFT;
    if (lower_rounding(at) < 0) return;
    inst->inner = inst->run;
    inst->run = exec_rounded;
    inst->imm = (uint64_t)lower_rounding(at);
}

/* ---- loads and stores ------------------------------------------------------------------------ */

/* State while one instruction loads or stores. Scratch slots are used because result registers may
 * share their slots with the address. */
struct transfer {
    struct lower_place place; /* of the current element */
    uint32_t base, stride;    /* slots: of the matrix, or of what each lane names */
    uint32_t parts[MOST_PARTS], joined[2];
    bool store;
    bool begun; /* a load has been emitted */
};

static uint32_t keep(struct lower *lower, uint32_t slot, uint32_t width)
{
    struct exec_inst *inst = lower_row(lower, width == 8 ? "mov.b64" : "mov.b32");
    inst->a = inst->b = slot;
    return inst->d = lower_scratch(lower);
}

static void begin_parts(struct lower *lower, struct transfer *transfer)
{
    transfer->place.slot = lower_scratch(lower);
    transfer->place.offset = 0;
    for (uint32_t k = 0; k < MOST_PARTS; k++) transfer->parts[k] = lower_scratch(lower);
    for (uint32_t k = 0; k < 2; k++) transfer->joined[k] = lower_scratch(lower);
}

/* Computes the 64-bit address into a slot of its own. Returns false when lower_unsupported has been
 * called. */
static bool begin_transfer(struct lower *lower, const struct ptx_operand *address,
                           struct transfer *transfer)
{
    struct lower_place *place = &transfer->place;
    const uint16_t space = lower->at->modifiers.space;
    if (!lower_find_place(lower, address, space, place)) return false;
    if (place->where == NULL || !strcmp(place->where, "local")) {
        lower_unsupported(lower, UNSUPPORTED_NOT_GLOBAL_OR_SHARED);
        return false;
    }
    uint32_t slot = place->slot;
    if (!strcmp(place->where, "shared")) {
        struct exec_inst *inst = lower_row(lower, "widen.u32");
        inst->a = slot;
        slot = inst->d = lower_scratch(lower);
        place->offset = (uint32_t)place->offset;
        place->where = "shared64";
    }
    transfer->base = place->offset ? lower_add64(lower, slot, place->offset) : keep(lower, slot, 8);
    begin_parts(lower, transfer);
    return true;
}

/* Emits a load or store of `bytes` bytes at the place, to or from the slot. */
static void move_bytes(struct lower *lower, struct transfer *transfer, uint32_t bytes,
                       uint32_t slot)
{
    const uint32_t slots[4] = {slot, 0, 0, 0};
    char key[32];
    lower_racecheck(lower, &transfer->place, bytes, 1, transfer->store ? EXEC_STORE : EXEC_LOAD,
                    transfer->store ? slots : NULL);
    snprintf(key, sizeof key, "%s.%s.u%u", transfer->store ? "st" : "ld", transfer->place.where,
             8 * bytes);
    struct exec_inst *inst = lower_row(lower, key);
    inst->a = transfer->place.slot;
    inst->d = slot;
    if (!transfer->place.global) return;
    inst->cache = (uint32_t)lower->program->cache_count++;
    if (transfer->store) return;
    inst->extra = !transfer->begun && lower_waits(lower) ? "" : NULL;
    transfer->begun = true;
}

static void join(struct lower *lower, const char *key, uint32_t a, uint32_t b, uint32_t d)
{
    struct exec_inst *inst = lower_row(lower, key);
    inst->a = a;
    inst->b = b;
    inst->d = d;
}

/* Packs a register from its parts. */
static void join_parts(struct lower *lower, const struct transfer *transfer, uint32_t count,
                       uint32_t to)
{
    const uint32_t *parts = transfer->parts;
    if (count == 2) {
        join(lower, "pack.b32", parts[0], parts[1], to);
        return;
    }
    for (uint32_t k = 0; k < 2; k++)
        join(lower, "pack.b16", parts[2 * k], parts[2 * k + 1], transfer->joined[k]);
    join(lower, "pack.b32", transfer->joined[0], transfer->joined[1], to);
}

/* Extracts half `part` of a register of two halves, for a store. */
static void take_part(struct lower *lower, const struct transfer *transfer, uint32_t from,
                      uint32_t part)
{
    struct exec_inst *inst = lower_row(lower, part ? "high.b32" : "low.b32");
    inst->a = from;
    inst->d = transfer->parts[part];
}

/* ---- wmma.load, wmma.store ------------------------------------------------------------------- */

/* Computes row and column of element `e` of register `r`: see ops/extra.h. */
static void find_element(const struct matrix *matrix, uint32_t r, uint32_t e, uint32_t row[3],
                         uint32_t column[3])
{
    const uint32_t blocks = matrix->m / ROWS, step = QUAD * matrix->per;
    const uint32_t high = matrix->k / step, i = r * matrix->per + e;
    switch (matrix->use) {
    case FIRST:
        memcpy(row, (uint32_t[]){ROWS * (r % blocks), 1, 0}, 3 * sizeof *row);
        memcpy(column, (uint32_t[]){e + step * (r / blocks), 0, matrix->per}, 3 * sizeof *row);
        break;
    case SECOND:
        memcpy(row, (uint32_t[]){e + step * (r % high), 0, matrix->per}, 3 * sizeof *row);
        memcpy(column, (uint32_t[]){ROWS * (r / high), 1, 0}, 3 * sizeof *row);
        break;
    case SUM:
        memcpy(row, (uint32_t[]){ROWS * (i / 2 % blocks), 1, 0}, 3 * sizeof *row);
        memcpy(column, (uint32_t[]){i % 2 + ROWS * (i / 2 / blocks), 0, 2}, 3 * sizeof *row);
        break;
    }
}

static void address_element(struct lower *lower, const struct transfer *transfer,
                            const struct matrix *matrix, bool by_rows, uint32_t r, uint32_t e)
{
    struct exec_element *element = arena_take(&lower->program->arena, 1, sizeof *element);
    if (element == NULL) {
        lower->failed = true;
        return;
    }
    find_element(matrix, r, e, by_rows ? element->line : element->inside,
                 by_rows ? element->inside : element->line);
    element->bits = matrix->bits;
    struct exec_inst *inst = lower_row(lower, "matrix.element");
    inst->a = transfer->base;
    inst->b = transfer->stride;
    inst->d = transfer->place.slot;
    inst->extra = element;
}

/* Returns the distance of lines, in elements, when the instruction does not give one. */
static uint32_t natural_stride(const struct matrix *matrix, bool by_rows)
{
    const uint32_t rows = matrix->use == SECOND ? matrix->k : matrix->m;
    const uint32_t columns = matrix->use == FIRST ? matrix->k : matrix->n;
    return by_rows ? columns : rows;
}

/* Returns the required alignment of a matrix's lines, in bytes. CUDA requires 16 for strides and 32
 * for the first line; a GPU, which moves several elements at once, may fault at less than 16.
 * Shorter lines, and elements of 8 bytes, need only their own size. */
static uint32_t line_alignment(const struct matrix *matrix, bool by_rows)
{
    enum { MOST = 16 };
    const uint32_t bytes = natural_stride(matrix, by_rows) * matrix->bits / 8;
    return matrix->bits == 64 ? 8 : bytes < MOST ? bytes : MOST;
}

static void lower_transfer(struct lower *lower, enum use use, bool store)
{
    const struct ptx_instruction *at = lower->at;
    const bool by_rows = at->modifiers.layout == PTX_LAYOUT_ROW;
    struct transfer transfer = {.store = store};
    struct matrix matrix;
    uint32_t slots[EXEC_TENSOR_REGISTERS];
    const bool found = find_matrix(at, use, (enum ptx_type)at->type, &matrix);
    /* True when the elements of a register are neighbours in memory. */
    const bool together = found && (matrix.per == 1 || (use == SECOND) != by_rows);
    if (!found || (matrix.bits < 8 && !together)) {
        lower_unsupported(lower, UNSUPPORTED_COMBINATION);
        return;
    }
    if (!find_registers(lower, &at->operands[store], matrix.named, matrix.bits == 64 ? 8 : 4,
                        slots))
        return;
    lower_guard(lower);
    if (!begin_transfer(lower, &at->operands[!store], &transfer)) return;
    const uint32_t stride = at->operand_count > 2
                                ? lower_source(lower, &at->operands[2], 4)
                                : lower_value(lower, natural_stride(&matrix, by_rows), 4);
    if (stride == EXEC_NO_SLOT) return;
    transfer.stride = keep(lower, stride, 4);
    lower_together(lower, transfer.base, transfer.stride,
                   EXEC_SAME_ARGUMENTS | (store ? EXEC_MATRIX_STORE : 0u) |
                       matrix.bits << EXEC_UNIT_SHIFT |
                       line_alignment(&matrix, by_rows) << EXEC_ALIGNMENT_SHIFT);
    for (uint32_t r = 0; r < matrix.registers; r++) {
        for (uint32_t e = 0; e < (together ? 1 : matrix.per); e++) {
            address_element(lower, &transfer, &matrix, by_rows, r, e);
            if (store && !together) take_part(lower, &transfer, slots[r], e);
            move_bytes(lower, &transfer, matrix.bits * (together ? matrix.per : 1) / 8,
                       together ? slots[r] : transfer.parts[e]);
        }
        if (!store && !together) join_parts(lower, &transfer, matrix.per, slots[r]);
    }
    for (uint32_t r = matrix.registers; !store && r < matrix.named; r++)
        join(lower, "mov.b32", slots[r % matrix.registers], slots[r % matrix.registers], slots[r]);
}

/* ---- ldmatrix, stmatrix, movmatrix ----------------------------------------------------------- */

static void lower_matrices(struct lower *lower, bool store)
{
    static const uint32_t counts[] = {1, 2, 4};
    const struct ptx_instruction *at = lower->at;
    const uint32_t count = counts[at->modifiers.matrices - PTX_MATRICES_1];
    const bool transposed = at->modifiers.trans != PTX_ABSENT;
    struct transfer transfer = {.store = store};
    uint32_t slots[EXEC_TENSOR_REGISTERS];
    if (at->modifiers.tile != PTX_TILE_M8N8 || at->type != PTX_B16) {
        lower_unsupported(lower, UNSUPPORTED_COMBINATION);
        return;
    }
    if (!find_registers(lower, &at->operands[store], count, 4, slots)) return;
    lower_guard(lower);
    if (!begin_transfer(lower, &at->operands[!store], &transfer)) return;
    const bool generic = !strcmp(transfer.place.where, "generic");
    const unsigned how = (generic ? EXEC_ROW_GENERIC : 0u) |
                         (transposed ? EXEC_ROW_TRANSPOSED : 0u) | (store ? EXEC_ROW_STORE : 0u);
    transfer.place.where = "shared64";
    transfer.place.global = false;
    lower_together(lower, 0, 0, 0);
    for (uint32_t k = 0; k < count; k++) {
        for (uint32_t half = 0; half < (transposed ? 2 : 1); half++) {
            struct exec_inst *inst = lower_row(lower, "matrix.row");
            inst->a = transfer.base;
            inst->d = transfer.place.slot;
            inst->imm = k | (half ? EXEC_ROW_HALF : 0u) | how;
            if (store && transposed) take_part(lower, &transfer, slots[k], half);
            move_bytes(lower, &transfer, transposed ? 2 : 4,
                       transposed ? transfer.parts[half] : slots[k]);
        }
        if (!store && transposed) join_parts(lower, &transfer, 2, slots[k]);
    }
}

static void lower_transpose(struct lower *lower)
{
    const struct ptx_operand *operands = lower->at->operands;
    const uint32_t a = lower_source(lower, &operands[1], 4);
    if (a == EXEC_NO_SLOT) return;
    lower_guard(lower);
    lower_together(lower, 0, 0, 0);
    struct exec_inst *inst = lower_row(lower, "movmatrix.sync.m8n8.b16");
    inst->a = a;
    inst->d = lower->registers[operands[0].reg];
}

/* ---- wgmma ----------------------------------------------------------------------------------- */

/* One warp's part of d = a * b + d of four warps: 16 rows of d, computed by products of m16n8. All
 * of it is executed when it is issued, which is one of the moments that PTX allows; a wait waits
 * for the other warps' parts only. */
struct group {
    const struct exec_row *row;       /* of m16n8 */
    struct matrix first, second, sum; /* of m16n8 */
    uint32_t products;                /* products in a row of d */
    bool by_depth[2];                 /* of a and b: neighbours along k are neighbours in memory */
    bool negative;
    bool in_memory; /* a is in shared memory */
};

static bool is_one(const struct ptx_operand *operand, int64_t value)
{
    return operand->kind == PTX_OPERAND_IMMEDIATE && (int32_t)operand->bits == value;
}

/* Reads the immediate operands: the signs, then whether neighbours along m or n are neighbours in
 * memory. Returns false when PTX has no such instruction. */
static bool read_flags(const struct ptx_instruction *at, struct group *group)
{
    const struct ptx_operand *flags = &at->operands[4];
    const uint32_t count = at->operand_count - 4u;
    const bool halves = at->type2 == PTX_F16 || at->type2 == PTX_BF16;
    const uint32_t signs = at->type == PTX_S32 ? 0 : 2;
    const uint32_t turns = !halves ? 0 : group->in_memory ? 2 : 1;
    bool fine = count == signs + turns;
    for (uint32_t k = 0; fine && k < signs; k++) {
        fine = is_one(&flags[k], 1) || is_one(&flags[k], -1);
        group->negative ^= is_one(&flags[k], -1);
    }
    group->by_depth[0] = group->by_depth[1] = true;
    for (uint32_t k = 0; fine && k < turns; k++) {
        fine = is_one(&flags[signs + k], 0) || is_one(&flags[signs + k], 1);
        group->by_depth[2 - turns + k] = is_one(&flags[signs + k], 0);
    }
    return fine;
}

static bool read_group(const struct ptx_instruction *at, struct group *group)
{
    enum { M = 64, N = 8, BYTES = 32 /* of k */ };
    const enum ptx_type sum = (enum ptx_type)at->type, first = (enum ptx_type)at->type2;
    const struct ptx_modifiers *modifiers = &at->modifiers;
    uint32_t bits = ptx_type_bits(first);
    struct matrix whole;
    char key[96];
    *group = (struct group){.in_memory = at->operands[1].kind == PTX_OPERAND_REGISTER};
    if (!find_tile(at->modifiers.tile, &whole) || whole.m != M || whole.k * bits != 8 * BYTES ||
        (at->modifiers.satfinite && sum != PTX_S32) || !read_flags(at, group))
        return false;
    snprintf(key, sizeof key, "%s.sync.m16n8k%u.%s.%s.%s.%s%s%s%s",
             first == PTX_E4M3 || first == PTX_E5M2 ? "wgmma" : "mma", whole.k, ptx_type_name(sum),
             ptx_type_name(first), ptx_modifier_name((enum ptx_modifier)modifiers->factor),
             ptx_type_name(sum), modifiers->boolean ? "." : "",
             ptx_modifier_name((enum ptx_modifier)modifiers->boolean),
             modifiers->counted ? ".popc" : "");
    group->row = modifiers->boolean == PTX_BOOL_XOR ? NULL : exec_row_find(key);
    if (first == PTX_B1) { /* its words are laid out as those of tf32 */
        whole.k /= 32;
        bits = 32;
    }
    group->products = whole.n / N;
    const struct matrix part = {.m = 16, .n = N, .k = whole.k, .bits = bits, .per = 32 / bits};
    group->first = group->second = group->sum = part;
    group->first.use = FIRST;
    group->first.registers = part.m * part.k / (EXEC_LANES * part.per);
    group->second.use = SECOND;
    group->second.registers = part.k * part.n / (EXEC_LANES * part.per);
    group->sum.registers = part.m * part.n / (EXEC_LANES * (sum == PTX_F16 ? 2 : 1));
    return group->row != NULL;
}

/* Finds the slots of the operand's registers, which must be `count` registers of 32 bits. */
static bool find_all(struct lower *lower, const struct ptx_operand *operand, uint32_t count,
                     uint32_t *slots)
{
    bool fine = operand->kind == PTX_OPERAND_VECTOR && operand->count == count;
    for (uint32_t k = 0; fine && k < count; k++) {
        const uint32_t reg = operand->elements[k].reg;
        fine = lower_width(lower->source->registers[reg].type) == 4;
        slots[k] = lower->registers[reg];
    }
    if (!fine) lower_unsupported(lower, UNSUPPORTED_OPERAND);
    return fine;
}

/* Loads register r of a factor in shared memory into `slot`. `across`: rows or columns before
 * it. */
static void load_group(struct lower *lower, struct transfer *transfer, const struct matrix *matrix,
                       bool by_depth, uint32_t across, uint32_t r, uint32_t slot)
{
    for (uint32_t e = 0; e < (by_depth ? 1 : matrix->per); e++) {
        struct exec_group_element *element = arena_take(&lower->program->arena, 1, sizeof *element);
        if (element == NULL) {
            lower->failed = true;
            return;
        }
        const bool first = matrix->use == FIRST;
        find_element(matrix, r, e, first ? element->across : element->depth,
                     first ? element->depth : element->across);
        element->across[0] += across;
        element->bytes = matrix->bits / 8;
        element->first = first;
        element->by_depth = by_depth;
        struct exec_inst *inst = lower_row(lower, "wgmma.address");
        inst->a = transfer->base;
        inst->d = transfer->place.slot;
        inst->extra = element;
        move_bytes(lower, transfer, by_depth ? 4 : matrix->bits / 8,
                   by_depth ? slot : transfer->parts[e]);
    }
    if (!by_depth) join_parts(lower, transfer, matrix->per, slot);
}

/* Finds the slots of the first factor's registers, negated when the product's sign is negative. */
static bool first_of_group(struct lower *lower, const struct group *group,
                           struct transfer *transfer, uint32_t slots[EXEC_TENSOR_REGISTERS])
{
    const struct ptx_operand *a = &lower->at->operands[1];
    const struct matrix *first = &group->first;
    if (group->in_memory) {
        if ((transfer->base = lower_source(lower, a, 8)) == EXEC_NO_SLOT) return false;
        for (uint32_t r = 0; r < first->registers; r++)
            load_group(lower, transfer, first, group->by_depth[0], 0, r,
                       slots[r] = lower_scratch(lower));
    } else if (!find_all(lower, a, first->registers, slots)) {
        return false;
    }
    if (!group->negative) return true;
    const uint32_t sign = lower_value(lower,
                                      first->bits == 8    ? 0x80808080u
                                      : first->bits == 16 ? 0x80008000u
                                                          : 0x80000000u,
                                      4);
    for (uint32_t r = 0; r < first->registers; r++) {
        const uint32_t from = slots[r];
        join(lower, "xor.b32", from, sign, slots[r] = lower_scratch(lower));
    }
    return true;
}

/* Emits product `index` of a row with the slots of a, b and of c, which is also d. */
static void multiply_group(struct lower *lower, const struct group *group, uint32_t index,
                           const uint32_t *first, const uint32_t *second, const uint32_t *sum)
{
    struct exec_tensor *tensor = arena_take(&lower->program->arena, 1, sizeof *tensor);
    if (tensor == NULL) {
        lower->failed = true;
        return;
    }
    const uint32_t *part = sum + index * group->sum.registers;
    memcpy(tensor->a, first, group->first.registers * sizeof *first);
    memcpy(tensor->b, second, group->second.registers * sizeof *second);
    memcpy(tensor->c, part, group->sum.registers * sizeof *part);
    memcpy(tensor->d, part, group->sum.registers * sizeof *part);
    struct exec_inst *inst = lower_emit(lower, group->row->run);
    inst->extra = tensor;
    inst->imm = flags_of(lower->at);
}

static void lower_group(struct lower *lower)
{
    const struct ptx_operand *operands = lower->at->operands;
    struct transfer transfer = {.place = {.where = "shared64"}};
    uint32_t first[EXEC_TENSOR_REGISTERS], second[EXEC_TENSOR_REGISTERS];
    struct group group;
    if (!read_group(lower->at, &group)) {
        lower_unsupported(lower, UNSUPPORTED_COMBINATION);
        return;
    }
    const uint32_t count = group.products * group.sum.registers;
    struct exec_group_sum *sum =
        arena_take(&lower->program->arena, 1, sizeof *sum + count * sizeof *sum->slots);
    if (sum == NULL) {
        lower->failed = true;
        return;
    }
    sum->count = count;
    if (!find_all(lower, &operands[0], count, sum->slots)) return;
    lower_guard(lower);
    const uint32_t keeps = lower_source(lower, &operands[3], LOWER_MASK);
    const uint32_t descriptor = lower_source(lower, &operands[2], 8);
    if (keeps == EXEC_NO_SLOT || descriptor == EXEC_NO_SLOT) return;
    begin_parts(lower, &transfer);
    lower_together(lower, 0, 0, 0);
    struct exec_inst *inst = lower_row(lower, "wgmma.begin");
    lower->program->proxies = true;
    inst->a = keeps;
    inst->extra = sum;
    if (!first_of_group(lower, &group, &transfer, first)) return;
    transfer.base = descriptor;
    for (uint32_t r = 0; r < group.second.registers; r++) second[r] = lower_scratch(lower);
    for (uint32_t k = 0; k < group.products; k++) {
        for (uint32_t r = 0; r < group.second.registers; r++)
            load_group(lower, &transfer, &group.second, group.by_depth[1], k * group.second.n, r,
                       second[r]);
        multiply_group(lower, &group, k, first, second, sum->slots);
    }
}

bool lower_tensor(struct lower *lower)
{
    switch (lower->at->op) {
    case PTX_OP_WMMA_LOAD_A:
        lower_transfer(lower, FIRST, false);
        return true;
    case PTX_OP_WMMA_LOAD_B:
        lower_transfer(lower, SECOND, false);
        return true;
    case PTX_OP_WMMA_LOAD_C:
        lower_transfer(lower, SUM, false);
        return true;
    case PTX_OP_WMMA_STORE_D:
        lower_transfer(lower, SUM, true);
        return true;
    case PTX_OP_WMMA_MMA:
    case PTX_OP_WMMA_BITS:
    case PTX_OP_MMA:
    case PTX_OP_MMA_SPARSE:
        lower_product(lower);
        return true;
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
        lower_matrices(lower, lower->at->op == PTX_OP_STMATRIX);
        return true;
    case PTX_OP_MOVMATRIX:
        lower_transpose(lower);
        return true;
    case PTX_OP_WGMMA_MMA:
        lower_group(lower);
        return true;
    case PTX_OP_WGMMA_COMMIT:
        lower_racecheck_groups(lower);
        lower_row(lower, "nop");
        return true;
    case PTX_OP_WGMMA_FENCE:
        lower_row(lower, "nop");
        return true;
    default:
        return false;
    }
}
