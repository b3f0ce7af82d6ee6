/* Which registers share a slot, and which need none.
 *
 * PTX has a register for every value, and so many would not stay in the host's cache. Two registers
 * of one kind share a slot when their lifetimes do not overlap; lifetimes are found by liveness
 * analysis over the function's basic blocks. Sharing is safe for divergent warps: whatever the
 * fragments of a warp do meanwhile, only the lane's own instructions touch a lane's part of a slot.
 * A guarded write does not end a lifetime: lanes without the guard keep the old value.
 *
 * Integers and floats do not share slots. Otherwise lanes that are inactive in a vectorised float
 * instruction could hold integers that read as subnormal floats, which are slow. Values that
 * machine/stall.c ignores do not share slots with others either: values computed from a clock, and
 * values that decide nothing.
 */
#include "emulator/exec/lower/lower.h"

#include <stdlib.h>
#include <string.h>

typedef uint64_t word;
enum { WORD_BITS = 64 };

/* A basic block with its live-in and live-out registers. */
struct block {
    uint32_t first, end; /* PTX instructions [first, end) */
    word *uses, *defines, *live_in, *live_out;
};

struct life {
    uint32_t first, last; /* half steps: 2 i reads of instruction i, 2 i + 1 its writes */
    uint32_t reg;
};

struct flow {
    struct lower *lower;
    struct block *blocks;
    uint32_t block_count;
    uint32_t *block_of; /* by instruction; one entry more for the end */
    uint32_t words;     /* per set of registers */
    word *sets;
    struct life *lives;
    bool *apart;       /* of each register: machine/stall.c ignores it */
    bool *decides;     /* of each register: its value affects what threads do */
    bool separates;    /* registers that are apart have slots of their own */
    bool reads, found; /* while marking: the instruction reads a marked one; one was marked */
};

/* ---- which registers an instruction reads and writes ----------------------------------------- */

/* Returns the shape of the instruction's row; it begins with the word of the first operand. */
static const char *shape_of(const struct ptx_instruction *inst)
{
    static const char *const shapes[] = {
        [PTX_OP_UNKNOWN] = "-",
#define PTX_OPCODE(symbol, text, shape, types, types2, fields, support, meaning)                   \
    [PTX_OP_##symbol] = shape,
#include "emulator/ptx/opcodes.def"
#undef PTX_OPCODE
    };
    return shapes[inst->op];
}

bool lower_writes_first(const struct ptx_instruction *inst)
{
    const char first = *shape_of(inst);
    return first == 'D' || first == 'P' || first == 'W';
}

static bool is_register(const struct ptx_operand *operand, uint32_t reg)
{
    for (uint32_t k = 0; operand->kind == PTX_OPERAND_VECTOR && k < operand->count; k++)
        if (is_register(&operand->elements[k], reg)) return true;
    return (operand->kind == PTX_OPERAND_REGISTER && operand->reg == reg) ||
           (operand->kind == PTX_OPERAND_PAIR && (operand->reg == reg || operand->second == reg));
}

bool lower_writes(const struct ptx_instruction *inst, uint32_t reg)
{
    for (uint32_t k = 0; inst->call != NULL && k < inst->call->result_count; k++)
        if (is_register(&inst->call->results[k], reg)) return true;
    return inst->operand_count > 0 && lower_writes_first(inst) &&
           is_register(&inst->operands[0], reg);
}

bool lower_names_address(const struct ptx_instruction *inst)
{
    return strpbrk(shape_of(inst), "ACIX") != NULL;
}

typedef void see_register(struct flow *flow, uint32_t index, uint32_t reg, bool writes);

static void see(struct flow *flow, uint32_t index, uint32_t reg, bool writes, see_register *visit)
{
    if (reg < flow->lower->source->register_count) visit(flow, index, reg, writes);
}

static void see_operand(struct flow *flow, uint32_t index, const struct ptx_operand *operand,
                        bool writes, see_register *visit)
{
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
    case PTX_OPERAND_ADDRESS:
        see(flow, index, operand->reg, writes, visit);
        break;
    case PTX_OPERAND_PAIR:
        see(flow, index, operand->reg, writes, visit);
        see(flow, index, operand->second, writes, visit);
        break;
    case PTX_OPERAND_VECTOR:
    case PTX_OPERAND_IMAGE:
        for (uint32_t k = 0; k < operand->count; k++)
            see_operand(flow, index, &operand->elements[k], writes, visit);
        see(flow, index, operand->second, writes, visit);
        break;
    default:
        break;
    }
}

/* Visits the registers that the instruction reads, then those that it writes. */
static void see_instruction(struct flow *flow, uint32_t index, see_register *visit)
{
    const struct ptx_instruction *inst = &flow->lower->source->instructions[index];
    const char *first = shape_of(inst);
    const bool writes = lower_writes_first(inst);
    const bool reads = !writes || first[strcspn(first, "r ")] == 'r';
    see(flow, index, inst->guard, false, visit);
    for (uint32_t k = !reads; k < inst->operand_count; k++)
        see_operand(flow, index, &inst->operands[k], false, visit);
    if (inst->call != NULL) {
        see(flow, index, inst->call->reg, false, visit);
        for (uint32_t k = 0; k < inst->call->argument_count; k++)
            see_operand(flow, index, &inst->call->arguments[k], false, visit);
        for (uint32_t k = 0; k < inst->call->result_count; k++)
            see_operand(flow, index, &inst->call->results[k], true, visit);
    }
    if (writes && inst->operand_count) see_operand(flow, index, &inst->operands[0], true, visit);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool ends_block(const struct ptx_instruction *inst)
{
    return inst->op == PTX_OP_BRA || inst->op == PTX_OP_BRX_IDX || inst->op == PTX_OP_RET ||
           inst->op == PTX_OP_EXIT;
}

bool lower_goes_on(const struct ptx_instruction *inst)
{
    return !ends_block(inst) || inst->guard != PTX_NO_REGISTER;
}

static bool make_blocks(struct flow *flow)
{
    const struct ptx_function *source = flow->lower->source;
    const uint32_t count = source->instruction_count;
    bool *starts = calloc(count + 1u, sizeof *starts);
    flow->block_of = calloc(count + 1u, sizeof *flow->block_of);
    if (starts == NULL || !flow->block_of) {
        free(starts);
        return false;
    }
    starts[0] = true;
    for (uint32_t k = 0; k < source->label_count; k++) starts[source->labels[k].target] = true;
    for (uint32_t k = 0; k < count; k++)
        if (ends_block(&source->instructions[k])) starts[k + 1] = true;
    for (uint32_t k = 0; k < count; k++) flow->block_count += starts[k];
    flow->blocks = calloc(flow->block_count + 1u, sizeof *flow->blocks);
    if (flow->blocks != NULL) {
        uint32_t block = UINT32_MAX;
        for (uint32_t k = 0; k < count; k++) {
            if (starts[k]) flow->blocks[++block].first = k;
            flow->blocks[block].end = k + 1;
            flow->block_of[k] = block;
        }
        flow->block_of[count] = UINT32_MAX;
    }
    free(starts);
    return flow->blocks != NULL;
}

static bool mark(bool *reached, uint32_t k)
{
    const bool fresh = !reached[k];
    reached[k] = true;
    return fresh;
}

bool lower_spread(const struct ptx_function *source, uint32_t k, bool *reached)
{
    const struct ptx_instruction *inst = &source->instructions[k];
    bool changed = false;
    if (lower_goes_on(inst)) changed |= mark(reached, k + 1);
    if (inst->op == PTX_OP_BRA) changed |= mark(reached, inst->operands[0].target);
    if (inst->op != PTX_OP_BRX_IDX) return changed;
    const struct ptx_table *table = &source->tables[inst->operands[1].target];
    for (uint32_t l = 0; l < table->count; l++) changed |= mark(reached, table->labels[l].target);
    return changed;
}

static bool has(const word *set, uint32_t reg)
{
    return set[reg / WORD_BITS] >> reg % WORD_BITS & 1;
}

static void put(word *set, uint32_t reg)
{
    set[reg / WORD_BITS] |= (word)1 << reg % WORD_BITS;
}

static void note_block(struct flow *flow, uint32_t index, uint32_t reg, bool writes)
{
    struct block *block = &flow->blocks[flow->block_of[index]];
    const bool guarded = flow->lower->source->instructions[index].guard != PTX_NO_REGISTER;
    if (!writes || guarded) {
        if (!has(block->defines, reg)) put(block->uses, reg);
    } else if (!has(block->uses, reg)) {
        put(block->defines, reg);
    }
}

/* live_out |= live_in of the block that begins at `target`. */
static bool flow_from(struct flow *flow, struct block *block, uint32_t target)
{
    const uint32_t index = flow->block_of[target];
    bool changed = false;
    if (index == UINT32_MAX) return false;
    for (uint32_t w = 0; w < flow->words; w++) {
        const word more = flow->blocks[index].live_in[w] & ~block->live_out[w];
        block->live_out[w] |= more;
        changed |= more != 0;
    }
    return changed;
}

static bool flow_block(struct flow *flow, struct block *block)
{
    const struct ptx_function *source = flow->lower->source;
    const struct ptx_instruction *last = &source->instructions[block->end - 1];
    bool changed = false;
    if (lower_goes_on(last)) changed |= flow_from(flow, block, block->end);
    if (last->op == PTX_OP_BRA) changed |= flow_from(flow, block, last->operands[0].target);
    if (last->op == PTX_OP_BRX_IDX) {
        const struct ptx_table *table = &source->tables[last->operands[1].target];
        for (uint32_t k = 0; k < table->count; k++)
            changed |= flow_from(flow, block, table->labels[k].target);
    }
    for (uint32_t w = 0; w < flow->words; w++)
        block->live_in[w] = block->uses[w] | (block->live_out[w] & ~block->defines[w]);
    return changed;
}

static bool find_live(struct flow *flow)
{
    const size_t words = (flow->lower->source->register_count + WORD_BITS) / WORD_BITS;
    flow->words = (uint32_t)words;
    flow->sets = calloc(4 * words * (flow->block_count + 1u), sizeof *flow->sets);
    if (flow->sets == NULL) return false;
    for (uint32_t k = 0; k < flow->block_count; k++) {
        word *sets = flow->sets + 4 * words * k;
        flow->blocks[k].uses = sets;
        flow->blocks[k].defines = sets + words;
        flow->blocks[k].live_in = sets + 2 * words;
        flow->blocks[k].live_out = sets + 3 * words;
    }
    for (uint32_t k = 0; k < flow->lower->source->instruction_count; k++)
        see_instruction(flow, k, note_block);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = flow->block_count; k-- > 0;)
            changed |= flow_block(flow, &flow->blocks[k]);
    }
    return true;
}

/* ---- lifetimes ------------------------------------------------------------------------------- */

static void extend(struct life *life, uint32_t moment)
{
    if (moment < life->first) life->first = moment;
    if (moment > life->last) life->last = moment;
}

static void note_life(struct flow *flow, uint32_t index, uint32_t reg, bool writes)
{
    extend(&flow->lives[reg], 2 * index + writes);
}

static bool find_lives(struct flow *flow)
{
    const uint32_t registers = flow->lower->source->register_count;
    flow->lives = calloc(registers + 1u, sizeof *flow->lives);
    if (flow->lives == NULL) return false;
    for (uint32_t r = 0; r < registers; r++)
        flow->lives[r] = (struct life){.first = UINT32_MAX, .last = 0, .reg = r};
    for (uint32_t k = 0; k < flow->lower->source->instruction_count; k++)
        see_instruction(flow, k, note_life);
    for (uint32_t k = 0; k < flow->block_count; k++) {
        const struct block *block = &flow->blocks[k];
        for (uint32_t r = 0; r < registers; r++) {
            if (has(block->live_in, r)) extend(&flow->lives[r], 2 * block->first);
            if (has(block->live_out, r)) extend(&flow->lives[r], 2 * (block->end - 1) + 1);
        }
    }
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct life *one = a, *other = b;
    if (one->first != other->first) return one->first < other->first ? -1 : 1;
    return one->reg < other->reg ? -1 : 1;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static bool reads_clock(const struct ptx_instruction *at)
{
    for (uint32_t k = 0; k < at->operand_count; k++)
        if (at->operands[k].kind == PTX_OPERAND_SPECIAL &&
            exec_row_find(ptx_special_name(at->operands[k].special)) != NULL)
            return true;
    return false;
}

static void note_timed(struct flow *flow, uint32_t index, uint32_t reg, bool writes)
{
    const uint32_t guard = flow->lower->source->instructions[index].guard;
    if (!writes) {
        flow->reads |= reg != guard && flow->apart[reg];
    } else if (flow->reads && !flow->apart[reg]) {
        flow->apart[reg] = flow->found = true;
    }
}

/* Marks values that are computed from a clock, directly or not. Few functions read a clock. */
static void find_timed(struct flow *flow)
{
    const struct ptx_function *source = flow->lower->source;
    bool any = false;
    for (uint32_t k = 0; k < source->instruction_count; k++)
        any |= reads_clock(&source->instructions[k]);
    for (flow->found = any; flow->found;) {
        flow->found = false;
        for (uint32_t k = 0; k < source->instruction_count; k++) {
            flow->reads = reads_clock(&source->instructions[k]);
            see_instruction(flow, k, note_timed);
        }
    }
    flow->lower->apart |= any;
}

/* ---- registers that decide nothing -----------------------------------------------------------
 *
 * Guards decide where lanes go, and so does what the opcodes below read. Every other instruction
 * computes values from values, or changes memory; machine/stall.c sees what may be changed while
 * threads wait. A value that is only counted for later, in a loop that waits, decides nothing
 * there. (A load may fault, whatever becomes of its value.) */

static const bool is_deciding[PTX_OPCODE_COUNT] = {
    [PTX_OP_LD] = true,         [PTX_OP_CALL] = true,          [PTX_OP_BRX_IDX] = true,
    [PTX_OP_SHFL_SYNC] = true,  [PTX_OP_VOTE_SYNC] = true,     [PTX_OP_BAR_WARP_SYNC] = true,
    [PTX_OP_ELECT_SYNC] = true, [PTX_OP_MBARRIER_TEST] = true, [PTX_OP_MBARRIER_TRY] = true,
};

static void note_result(struct flow *flow, uint32_t index, uint32_t reg, bool writes)
{
    (void)index;
    flow->reads |= writes && flow->decides[reg];
}

static void note_deciding(struct flow *flow, uint32_t index, uint32_t reg, bool writes)
{
    const bool guard = flow->lower->source->instructions[index].guard == reg;
    if (writes || flow->decides[reg] || !(flow->reads || guard)) return;
    flow->decides[reg] = flow->found = true;
}

/* Only in functions that test barrier objects. */
static void find_deciding(struct flow *flow)
{
    const struct ptx_function *source = flow->lower->source;
    bool asks = false;
    for (uint32_t k = 0; k < source->instruction_count; k++)
        asks |= source->instructions[k].op == PTX_OP_MBARRIER_TEST ||
                source->instructions[k].op == PTX_OP_MBARRIER_TRY;
    if (!asks) return;
    for (flow->found = true; flow->found;) {
        flow->found = false;
        for (uint32_t k = source->instruction_count; k-- > 0;) {
            flow->reads = is_deciding[source->instructions[k].op];
            see_instruction(flow, k, note_result);
            see_instruction(flow, k, note_deciding);
        }
    }
    for (uint32_t r = 0; r < source->register_count; r++) flow->apart[r] |= !flow->decides[r];
    flow->lower->apart = true;
}

static bool find_apart(struct flow *flow)
{
    const uint32_t registers = flow->lower->source->register_count;
    flow->apart = calloc(registers + 1u, sizeof *flow->apart);
    flow->decides = calloc(registers + 1u, sizeof *flow->decides);
    if (flow->apart == NULL || flow->decides == NULL) return false;
    find_timed(flow);
    find_deciding(flow);
    return true;
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* Kinds of registers that share slots among themselves, in the order of their slots in the frame:
 * wide ones first, so that each slot is aligned to its size. */
enum kind { QUAD, WIDE_FLOAT, WIDE, FLOAT, NARROW, MASK, KINDS };
/* In each kind, registers that are apart have a class of their own, behind the others. */
enum { CLASSES = 2 * KINDS };
static const uint32_t kind_bytes[KINDS] = {16 * EXEC_LANES, 8 * EXEC_LANES, 8 * EXEC_LANES,
                                           4 * EXEC_LANES,  4 * EXEC_LANES, 4};

static enum kind kind_of(enum ptx_type type)
{
    const bool is_float = ptx_type_kind(type) == PTX_KIND_FLOAT;
    if (type == PTX_B128) return QUAD;
    switch (lower_width(type)) {
    case 8:
        return is_float ? WIDE_FLOAT : WIDE;
    case LOWER_MASK:
        return MASK;
    default:
        return is_float && ptx_type_bits(type) == 32 ? FLOAT : NARROW;
    }
}

static unsigned class_of(const struct flow *flow, uint32_t reg)
{
    return 2 * kind_of(flow->lower->source->registers[reg].type) +
           (flow->separates && flow->apart[reg]);
}

/* Estimates what a compiler would need: a register per 4 bytes of a slot; predicates need none. */
static uint32_t estimate(const struct ptx_function *source, const uint32_t count[CLASSES])
{
    uint32_t words = 0;
    for (int k = 0; k < CLASSES; k++)
        if (k / 2 != MASK) words += count[k] * (kind_bytes[k / 2] / (4 * EXEC_LANES));
    if (source->max_registers && words > source->max_registers) words = source->max_registers;
    return words < 16 ? 16 : words > 255 ? 255 : words;
}

/* Gives each register the first slot of its class that is free when its lifetime begins, in the
 * order of these beginnings. registers[] receives slot numbers. */
static void number_slots(struct flow *flow, uint32_t *busy[CLASSES], uint32_t count[CLASSES])
{
    const uint32_t registers = flow->lower->source->register_count;
    for (int k = 0; k < CLASSES; k++) {
        memset(busy[k], 0, registers * sizeof *busy[k]);
        count[k] = 0;
    }
    qsort(flow->lives, registers, sizeof *flow->lives, by_start);
    for (uint32_t r = 0; r < registers; r++) {
        const struct life *life = &flow->lives[r];
        const unsigned class = class_of(flow, life->reg);
        uint32_t slot = 0;
        while (slot < count[class] && busy[class][slot] >= life->first) slot++;
        if (slot == count[class]) count[class]++;
        busy[class][slot] = life->last;
        flow->lower->registers[life->reg] = slot;
    }
}

/* Turns slot numbers into frame offsets, once the number of slots of each class is known. */
static bool place_slots(struct flow *flow, const uint32_t count[CLASSES], uint32_t *offset)
{
    struct exec_function *function = flow->lower->function;
    uint32_t first[CLASSES];
    function->apart = arena_take(&flow->lower->program->arena, KINDS + 1, sizeof *function->apart);
    if (function->apart == NULL) return false;
    for (int k = 0; k < CLASSES; k++) {
        const uint32_t bytes = count[k] * kind_bytes[k / 2];
        first[k] = *offset;
        *offset += bytes;
        if (k % 2 && bytes)
            function->apart[function->apart_count++] =
                (struct exec_formal){.offset = first[k], .size = bytes};
    }
    for (uint32_t r = 0; r < flow->lower->source->register_count; r++) {
        const unsigned class = class_of(flow, r);
        flow->lower->registers[r] =
            first[class] + flow->lower->registers[r] * kind_bytes[class / 2];
    }
    return true;
}

static bool share_slots(struct flow *flow, uint32_t *offset)
{
    const struct ptx_function *source = flow->lower->source;
    uint32_t *busy[CLASSES] = {NULL}; /* the moment until which each slot is in use */
    uint32_t count[CLASSES] = {0};
    bool fine = true;
    for (int k = 0; k < CLASSES; k++) {
        busy[k] = calloc(source->register_count + 1u, sizeof *busy[k]);
        fine = fine && busy[k] != NULL;
    }
    if (fine) {
        number_slots(flow, busy, count);
        flow->lower->function->info.registers = estimate(source, count);
        flow->separates = flow->lower->apart;
        if (flow->separates) number_slots(flow, busy, count);
        fine = place_slots(flow, count, offset);
    }
    for (int k = 0; k < CLASSES; k++) free(busy[k]);
    return fine;
}

/* Registers that may be read before they are written. Their slots are poisoned in every block, so
 * that such a program does the same whatever ran before. */
static bool list_poisoned(struct flow *flow)
{
    const struct ptx_function *source = flow->lower->source;
    struct exec_function *function = flow->lower->function;
    uint32_t count = 0;
    for (uint32_t r = 0; flow->block_count && r < source->register_count; r++)
        count += has(flow->blocks[0].live_in, r);
    function->poisoned =
        arena_take(&flow->lower->program->arena, count, sizeof *function->poisoned);
    if (function->poisoned == NULL) return false;
    for (uint32_t r = 0; count && r < source->register_count; r++)
        if (has(flow->blocks[0].live_in, r))
            function->poisoned[function->poisoned_count++] =
                (struct exec_formal){.offset = flow->lower->registers[r],
                                     .size = kind_bytes[kind_of(source->registers[r].type)]};
    return true;
}

/* ---- registers that hold constants ----------------------------------------------------------- */

static void note_writes(struct flow *flow, uint32_t index, uint32_t reg, bool writes)
{
    uint8_t *state = &flow->lower->written[reg];
    const bool guarded = flow->lower->source->instructions[index].guard != PTX_NO_REGISTER;
    if (!writes) {
        flow->lower->read[reg] = true;
        if (*state == LOWER_UNSEEN) *state = LOWER_MANY;
    } else {
        *state = *state == LOWER_UNSEEN && !guarded ? LOWER_ONCE : LOWER_MANY;
    }
}

bool lower_registers(struct lower *lower, uint32_t *end)
{
    struct flow flow = {.lower = lower};
    const uint32_t registers = lower->source->register_count;
    lower->registers = calloc(registers + 1u, sizeof *lower->registers);
    lower->written = calloc(registers + 1u, sizeof *lower->written);
    lower->read = calloc(registers + 1u, sizeof *lower->read);
    bool fine = lower->registers != NULL && lower->written != NULL && lower->read != NULL &&
                make_blocks(&flow) && find_live(&flow) && find_lives(&flow) && find_apart(&flow) &&
                share_slots(&flow, end) && list_poisoned(&flow);
    for (uint32_t k = 0; fine && k < lower->source->instruction_count; k++)
        see_instruction(&flow, k, note_writes);
    free(flow.blocks);
    free(flow.block_of);
    free(flow.sets);
    free(flow.lives);
    free(flow.apart);
    free(flow.decides);
    return fine;
}
