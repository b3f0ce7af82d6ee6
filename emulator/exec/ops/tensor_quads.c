/* mma.sync.m8n8k4 of halves: four products at once, each of eight lanes. PTX ISA 9.0, 9.7.14.5.1.
 *
 * From sm_80 on no tensor core has it: ptxas makes it of ordinary arithmetic, whose order is
 * followed here and which an H200 gave the answers of (tests/gpu/tensor_quads.cu).
 */
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/ops/extra.h"
#include "emulator/exec/ops/half.h"
#include "emulator/exec/ops/tables.h"

enum { PRODUCTS = 4, SIDE = 8, DEPTH = 4, QUAD = 4 };

/* The lane of the warp that is number `index` of the eight of a product. */
static unsigned lane_of(unsigned product, unsigned index)
{
    return product * QUAD + index % QUAD + (index < QUAD ? 0 : EXEC_LANES / 2);
}

/* Element i of a lane's registers of halves. */
static f32 half_at(const struct exec_warp *warp, const u32 *slots, unsigned lane, unsigned i)
{
    const u32 word = ((const u32 *)exec_slot(warp, slots[i / 2]))[lane];
    return (f32)half_widen((u16)(word >> (16 * (i % 2))), HALF_F16);
}

/* Reads a factor as eight vectors of four. A lane has a vector, or one element of four vectors. */
static void read_factor(const struct exec_warp *warp, const u32 *slots, unsigned product,
                        bool across, f32 to[SIDE][DEPTH])
{
    for (unsigned v = 0; v < SIDE; v++)
        for (unsigned k = 0; k < DEPTH; k++)
            to[v][k] = across
                           ? half_at(warp, slots, lane_of(product, k + v / QUAD * QUAD), v % QUAD)
                           : half_at(warp, slots, lane_of(product, v), k);
}

/* Element i of number `index` of the eight lanes: its row and column in a matrix of f32. In one of
 * halves a lane has a row. */
static unsigned row_of(unsigned index, unsigned i)
{
    return (index & 1) + (i & 2) + index / QUAD * QUAD;
}

static unsigned column_of(unsigned index, unsigned i)
{
    return (i & 4) + (index & 2) + (i & 1);
}

static void read_sum(const struct exec_warp *warp, const u32 *slots, unsigned product, bool halves,
                     f32 to[SIDE][SIDE])
{
    for (unsigned index = 0; index < SIDE; index++)
        for (unsigned i = 0; i < SIDE; i++) {
            const unsigned lane = lane_of(product, index);
            if (halves)
                to[index][i] = half_at(warp, slots, lane, i);
            else
                to[row_of(index, i)][column_of(index, i)] =
                    ((const f32 *)exec_slot(warp, slots[i]))[lane];
        }
}

static void write_sum(const struct exec_warp *warp, const u32 *slots, unsigned product, bool halves,
                      f32 from[SIDE][SIDE])
{
    for (unsigned index = 0; index < SIDE; index++)
        for (unsigned i = 0; i < SIDE; i++) {
            u32 *to = &((u32 *)exec_slot(warp, slots[halves ? i / 2 : i]))[lane_of(product, index)];
            const f32 value = halves ? from[index][i] : from[row_of(index, i)][column_of(index, i)];
            const u32 half = half_round((f64)value, HALF_F16, HALF_NEAREST);
            if (!halves)
                *to = exec_bits32(exec_canonical(value));
            else
                *to = i % 2 ? (*to & 0xffffu) | half << 16 : half;
        }
}

/* A sum of f32: c is added to the sum of the products. One of halves: to c that of the first two is
 * added, then that of the others. */
static f32 add_products(const f32 *a, const f32 *b, f32 c, bool halves)
{
    if (halves) return (c + fmaf(a[1], b[1], a[0] * b[0])) + fmaf(a[3], b[3], a[2] * b[2]);
    f32 sum = 0;
    for (unsigned k = 0; k < DEPTH; k++) sum = fmaf(a[k], b[k], sum);
    return c + sum;
}

static int multiply(struct exec_warp *warp, const struct exec_inst *inst, bool halves_d,
                    bool halves_c)
{
    const struct exec_tensor *tensor = inst->extra;
    f32 a[SIDE][DEPTH], b[SIDE][DEPTH], c[SIDE][SIDE];
    for (unsigned product = 0; product < PRODUCTS; product++) {
        read_factor(warp, tensor->a, product, inst->imm & EXEC_TENSOR_FIRST_BY_COLUMNS, a);
        read_factor(warp, tensor->b, product, inst->imm & EXEC_TENSOR_SECOND_BY_ROWS, b);
        read_sum(warp, tensor->c, product, halves_c, c);
        for (unsigned i = 0; i < SIDE; i++)
            for (unsigned j = 0; j < SIDE; j++)
                c[i][j] = add_products(a[i], b[j], c[i][j], halves_d);
        write_sum(warp, tensor->d, product, halves_d, c);
    }
    return EXEC_GO;
}

static int op_halves(struct exec_warp *warp, const struct exec_inst *inst)
{
    return multiply(warp, inst, true, true);
}

static int op_mixed(struct exec_warp *warp, const struct exec_inst *inst)
{
    return multiply(warp, inst, false, true);
}

static int op_floats(struct exec_warp *warp, const struct exec_inst *inst)
{
    return multiply(warp, inst, false, false);
}

const struct exec_row exec_tensor_quad_rows[] = {
    {"mma.sync.m8n8k4.f16.f16.f16.f16", op_halves, ""},
    {"mma.sync.m8n8k4.f32.f16.f16.f16", op_mixed, ""},
    {"mma.sync.m8n8k4.f32.f16.f16.f32", op_floats, ""},
    {NULL, NULL, NULL},
};
