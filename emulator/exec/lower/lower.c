/* What lowering of any instruction needs: emission, guards, slots for registers, constants and
 * addresses, and the loop over a function. */
#include "emulator/exec/lower/access.h"
#include "emulator/exec/lower/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- emission -------------------------------------------------------------------------------- */

struct exec_inst *lower_emit_plain(struct lower *lower, exec_handler *run)
{
    static struct exec_inst nowhere;
    if (!array_grow(&lower->code, lower->code_count, &lower->code_room, sizeof *lower->code)) {
        lower->failed = true;
        return &nowhere;
    }
    struct exec_inst *inst = &lower->code[lower->code_count++];
    *inst = (struct exec_inst){.run = run, .guard = EXEC_NO_GUARD, .position = lower->position};
    return inst;
}

static uint32_t guard_of(const struct lower *lower)
{
    return lower->registers[lower->at->guard] << 1 | lower->at->guard_negated;
}

struct exec_inst *lower_emit(struct lower *lower, exec_handler *run)
{
    struct exec_inst *inst = lower_emit_plain(lower, run);
    if (lower->at != NULL && lower->at->guard != PTX_NO_REGISTER && !lower->guard_handled) {
        inst->run = exec_guarded;
        inst->inner = run;
        inst->guard = guard_of(lower);
    }
    return inst;
}

struct exec_inst *lower_emit_aside(struct lower *lower, exec_handler *run)
{
    struct exec_inst *inst = lower_emit_plain(lower, run);
    if (lower->at->guard != PTX_NO_REGISTER && !lower->guard_handled) inst->guard = guard_of(lower);
    return inst;
}

struct exec_inst *lower_row(struct lower *lower, const char *key)
{
    const struct exec_row *row = exec_row_find(key);
    if (row == NULL) {
        lower_unsupported(lower, UNSUPPORTED_INSTRUCTION);
        return lower_emit_plain(lower, exec_fell_off);
    }
    struct exec_inst *inst = lower_emit(lower, row->run);
    lower_note_form(lower, key);
    return inst;
}

/* A branch's imm holds the index of its target PTX instruction until resolve_branches. */
void lower_guard(struct lower *lower)
{
    if (lower->at->guard == PTX_NO_REGISTER || lower->guard_handled) return;
    struct exec_inst *inst = lower_emit_plain(lower, exec_branch_guarded);
    inst->guard = guard_of(lower) ^ 1;
    inst->imm = (uint64_t)(lower->place - lower->source->instructions) + 1;
    lower->guard_handled = true;
}

void lower_unsupported(struct lower *lower, enum trace_unsupported why)
{
    char text[201];
    if (lower->at->text != NULL)
        snprintf(text, sizeof text, "%s", lower->at->text);
    else
        ptx_print_instruction(lower->source, lower->at, text, sizeof text);
    lower_guard(lower);
    struct exec_inst *inst = lower_emit_plain(lower, exec_unsupported);
    struct exec_refused *refused = arena_take(&lower->program->arena, 1, sizeof *refused);
    if (refused == NULL) {
        lower->failed = true;
        return;
    }
    refused->why = why;
    refused->text = arena_text(&lower->program->arena, text);
    if (why == UNSUPPORTED_INSTRUCTION && !ptx_opcode_supported(lower->at->op))
        refused->meaning = ptx_opcode_meaning(lower->at->op);
    inst->extra = refused;
}

/* ---- slots ----------------------------------------------------------------------------------- */

bool lower_stands_for(struct lower *lower, uint32_t reg, uint32_t slot, uint32_t width)
{
    const bool constant = slot >= lower->scratch_begin + LOWER_SCRATCH * 8 * EXEC_LANES;
    if (!constant || reg >= lower->source->register_count || lower->written[reg] != LOWER_ONCE ||
        lower_width(lower->source->registers[reg].type) != width)
        return false;
    lower->registers[reg] = slot;
    return true;
}

uint32_t lower_scratch(struct lower *lower)
{
    const uint32_t slot =
        lower->scratch_begin + (lower->scratch_used % LOWER_SCRATCH) * 8 * EXEC_LANES;
    lower->scratch_used++;
    return slot;
}

uint32_t lower_constant(struct lower *lower, enum exec_constant_kind kind, int32_t index,
                        uint64_t value, uint32_t width)
{
    if (width == 4 && kind == EXEC_CONSTANT_VALUE) value = (uint32_t)value;
    for (size_t k = 0; k < lower->constant_count; k++) {
        const struct exec_constant *constant = &lower->constants[k];
        if (constant->kind == kind && constant->index == index && constant->value == value &&
            constant->width == width)
            return constant->slot;
    }
    if (!array_grow(&lower->constants, lower->constant_count, &lower->constant_room,
                    sizeof *lower->constants)) {
        lower->failed = true;
        return 0;
    }
    const uint32_t slot = lower->frame_end;
    lower->frame_end += width * EXEC_LANES;
    lower->constants[lower->constant_count++] = (struct exec_constant){
        .kind = kind, .slot = slot, .width = width, .index = index, .value = value};
    return slot;
}

uint32_t lower_value(struct lower *lower, uint64_t value, uint32_t width)
{
    return lower_constant(lower, EXEC_CONSTANT_VALUE, 0, value, width);
}

uint32_t lower_width(enum ptx_type type)
{
    if (ptx_type_kind(type) == PTX_KIND_PREDICATE) return LOWER_MASK;
    const uint32_t bits = ptx_type_bits(type);
    return bits == 0 || bits > 64 ? 0 : bits > 32 ? 8 : 4;
}

uint32_t lower_register(struct lower *lower, uint32_t reg, uint32_t width)
{
    const uint32_t slot = lower->registers[reg];
    const uint32_t own = lower_width(lower->source->registers[reg].type);
    if (own == width) return slot;
    if (own == LOWER_MASK || width == LOWER_MASK || own == 0) {
        lower_unsupported(lower,
                          own ? UNSUPPORTED_PREDICATE_AS_NUMBER : UNSUPPORTED_WIDE_REGISTERS);
        return EXEC_NO_SLOT;
    }
    struct exec_inst *inst = lower_row(lower, own == 8 ? "low.b64" : "widen.u32");
    inst->a = slot;
    return inst->d = lower_scratch(lower);
}

static uint32_t special_source(struct lower *lower, const struct ptx_operand *operand,
                               uint32_t width)
{
    const enum ptx_special special = operand->special;
    const uint32_t own = lower_width(ptx_special_type(special));
    const struct exec_row *row = exec_row_find(ptx_special_name(special));
    if (row != NULL) {
        struct exec_inst *inst = lower_emit(lower, row->run);
        uint32_t slot = inst->d = lower_scratch(lower);
        if (own != width) {
            inst = lower_row(lower, own == 8 ? "low.b64" : "widen.u32");
            inst->a = slot;
            slot = inst->d = lower_scratch(lower);
        }
        return slot;
    }
    if (!ptx_special_supported(special) && special != PTX_SPECIAL_ENVREG) {
        lower_unsupported(lower, UNSUPPORTED_SPECIAL_REGISTER);
        return EXEC_NO_SLOT;
    }
    if (exec_special_reserved(special)) lower->program->sees_reserved = true;
    if (own == LOWER_MASK) { /* predicate slots cannot be frame constants: compare a number */
        const uint32_t number =
            lower_constant(lower, EXEC_CONSTANT_SPECIAL, (int32_t)special, operand->component, 4);
        const uint32_t none = lower_value(lower, 0, 4);
        struct exec_inst *inst = lower_row(lower, "setp.ne.b32");
        inst->a = number;
        inst->b = none;
        inst->e = lower_scratch(lower);
        return inst->d = lower_scratch(lower);
    }
    return lower_constant(lower, EXEC_CONSTANT_SPECIAL, (int32_t)special, operand->component,
                          width);
}

uint32_t lower_symbol(struct lower *lower, const struct ptx_operand *operand, uint32_t width)
{
    const struct ptx_variable *variable = operand->variable;
    const uint64_t offset = (uint64_t)operand->offset;
    const struct ptx_function *function = operand->function;
    while (function != NULL && function->alias_of != NULL) function = function->alias_of;
    if (function != NULL)
        return lower_constant(lower, EXEC_CONSTANT_CODE, (int32_t)function->index, offset, width);
    bool dynamic;
    switch (variable->space) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        return lower_constant(lower, EXEC_CONSTANT_VARIABLE, lower_variable_index(lower, variable),
                              offset, width);
    case PTX_SPACE_SHARED: {
        const uint64_t at = lower_shared_offset(lower, variable, &dynamic) + offset;
        return lower_constant(lower, dynamic ? EXEC_CONSTANT_DYNAMIC_SHARED : EXEC_CONSTANT_VALUE,
                              0, at, width);
    }
    case PTX_SPACE_PARAM:
    case PTX_SPACE_LOCAL:
        if (lower_parameter_index(lower, variable) >= 0)
            return lower_value(
                lower,
                lower->function->info.parameters[lower_parameter_index(lower, variable)].offset +
                    offset,
                width);
        /* A device function's parameters lie in its local memory. */
        return lower_constant(lower, EXEC_CONSTANT_LOCAL, 0,
                              lower_local_offset(lower, variable) + offset, width);
    default:
        lower_unsupported(lower, UNSUPPORTED_ADDRESS_OF_VARIABLE);
        return EXEC_NO_SLOT;
    }
}

uint32_t lower_source(struct lower *lower, const struct ptx_operand *operand, uint32_t width)
{
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER: {
        const uint32_t slot = lower_register(lower, operand->reg, width);
        if (!operand->negated || slot == EXEC_NO_SLOT) return slot;
        struct exec_inst *inst = lower_row(lower, "not.pred");
        inst->a = inst->b = slot;
        return inst->d = lower_scratch(lower);
    }
    case PTX_OPERAND_IMMEDIATE:
        if (width == LOWER_MASK)
            return lower_value(lower, (operand->bits != 0) != operand->negated ? EXEC_ALL : 0, 4);
        return lower_value(lower, operand->bits, width);
    case PTX_OPERAND_SPECIAL:
        return special_source(lower, operand, width);
    case PTX_OPERAND_SYMBOL:
        return lower_symbol(lower, operand, width);
    case PTX_OPERAND_SINK:
        return lower_scratch(lower);
    default:
        lower_unsupported(lower, UNSUPPORTED_OPERAND);
    }
    return EXEC_NO_SLOT;
}

uint32_t lower_destination(struct lower *lower, uint32_t reg, uint32_t width, bool is_signed)
{
    if (reg == PTX_SINK || reg == PTX_NO_REGISTER) return lower_scratch(lower);
    const uint32_t slot = lower->registers[reg];
    const uint32_t own = lower_width(lower->source->registers[reg].type);
    if (own == width || own == LOWER_MASK) return slot;
    lower->widen_to = slot;
    lower->widen_from = lower_scratch(lower);
    lower->widen_key = own == 4 ? "low.b64" : is_signed ? "widen.s32" : "widen.u32";
    return lower->widen_from;
}

void lower_finish(struct lower *lower)
{
    if (lower->widen_key == NULL) return;
    struct exec_inst *inst = lower_row(lower, lower->widen_key);
    inst->a = lower->widen_from;
    inst->d = lower->widen_to;
    lower->widen_key = NULL;
}

uint32_t lower_add64(struct lower *lower, uint32_t slot, uint64_t value)
{
    const uint32_t constant = lower_value(lower, value, 8);
    struct exec_inst *inst = lower_row(lower, "add.u64");
    inst->a = slot;
    inst->b = constant;
    return inst->d = lower_scratch(lower);
}

int32_t lower_parameter_index(const struct lower *lower, const struct ptx_variable *variable)
{
    const struct ptx_prototype *prototype = &lower->source->prototype;
    for (uint32_t k = 0; k < prototype->parameter_count && lower->source->is_entry; k++)
        if (prototype->parameters[k] == variable) return (int32_t)k;
    return -1;
}

/* ---- loads that wait for each other ---------------------------------------------------------- */

static bool reads_batch(const struct lower *lower, const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_VECTOR || operand->kind == PTX_OPERAND_IMAGE) {
        for (uint32_t k = 0; k < operand->count; k++)
            if (reads_batch(lower, &operand->elements[k])) return true;
        return false;
    }
    const bool has_register = operand->kind == PTX_OPERAND_REGISTER ||
                              operand->kind == PTX_OPERAND_ADDRESS ||
                              operand->kind == PTX_OPERAND_PAIR;
    return has_register && operand->reg < lower->source->register_count &&
           lower->batch_of[operand->reg] == lower->batch;
}

/* Called before an instruction is lowered: ends the batch when the instruction uses what a load of
 * the batch reads, or when the basic block ends. */
static void follow_batch(struct lower *lower, const struct ptx_instruction *inst, uint32_t index)
{
    if (lower->labelled[index] || inst->op == PTX_OP_BRA || inst->op == PTX_OP_CALL)
        lower->batch_over = true;
    for (uint32_t k = 0; k < inst->operand_count && !lower->batch_over; k++)
        lower->batch_over = reads_batch(lower, &inst->operands[k]);
}

bool lower_waits(struct lower *lower)
{
    const struct ptx_operand *d = &lower->at->operands[0];
    const bool waits = lower->batch_over;
    const bool vector = d->kind == PTX_OPERAND_VECTOR;
    if (waits) lower->batch++;
    lower->batch_over = false;
    for (uint32_t k = 0; k < (vector ? d->count : 1); k++) {
        const uint32_t reg = vector ? d->elements[k].reg : d->reg;
        if (reg < lower->source->register_count) lower->batch_of[reg] = lower->batch;
    }
    return waits;
}

/* ---- keys ------------------------------------------------------------------------------------ */

void lower_key(const struct ptx_instruction *inst, char *key, size_t size)
{
    /* Fields that select where and when, or are hints; they never change what is computed. */
    static const uint64_t silent =
        UINT64_C(1) << PTX_FIELD_proxy | UINT64_C(1) << PTX_FIELD_semantics |
        UINT64_C(1) << PTX_FIELD_scope | UINT64_C(1) << PTX_FIELD_to |
        UINT64_C(1) << PTX_FIELD_space | UINT64_C(1) << PTX_FIELD_source |
        UINT64_C(1) << PTX_FIELD_nc | UINT64_C(1) << PTX_FIELD_cache |
        UINT64_C(1) << PTX_FIELD_boolean | UINT64_C(1) << PTX_FIELD_noftz |
        UINT64_C(1) << PTX_FIELD_uniform | UINT64_C(1) << PTX_FIELD_aligned |
        UINT64_C(1) << PTX_FIELD_unified | UINT64_C(1) << PTX_FIELD_third;
    size_t used = (size_t)snprintf(key, size, "%s", ptx_opcode_name(inst->op));
    for (unsigned field = 0; field < PTX_FIELD_COUNT && used < size; field++) {
        const uint16_t value = ptx_modifiers_get(&inst->modifiers, (enum ptx_field)field);
        if (value != PTX_ABSENT && !(silent >> field & 1))
            used += (size_t)snprintf(key + used, size - used, ".%s",
                                     ptx_modifier_name((enum ptx_modifier)value));
    }
    if (inst->type != PTX_NO_TYPE && used < size)
        used += (size_t)snprintf(key + used, size - used, ".%s", ptx_type_name(inst->type));
    if (inst->type2 != PTX_NO_TYPE && used < size)
        snprintf(key + used, size - used, ".%s", ptx_type_name(inst->type2));
}

/* ---- a function ------------------------------------------------------------------------------ */

static bool is_header(const char *file)
{
    return file != NULL && strstr(file, "/include/") != NULL;
}

/* Returns whether the position of `inst` is that of its caller. That is so for code inlined from
 * the toolkit's headers (__syncthreads, cooperative groups) into code that is no header's: where
 * the kernel is a header's too, its outermost line is the same for all that it does. It is also so
 * for a wait for a barrier object, which stands in a function that all such waits call. */
static bool is_callers(const struct ptx_instruction *inst, const char *file, const char *outer)
{
    if (is_header(outer)) return false;
    return is_header(file) || inst->op == PTX_OP_MBARRIER_TEST || inst->op == PTX_OP_MBARRIER_TRY;
}

static uint32_t add_position(struct lower *lower, const struct ptx_instruction *inst)
{
    struct exec_program *program = lower->program;
    struct exec_position position = {.file = NULL, .line = inst->line};
    if (inst->location && inst->location < lower->source->location_count) {
        const struct ptx_location *location = &lower->source->locations[inst->location];
        const char *file = exec_program_file(program, location->file);
        const char *outer = exec_program_file(program, location->outer_file);
        position = (struct exec_position){.file = file, .line = location->line};
        if (is_callers(inst, file, outer))
            position = (struct exec_position){.file = outer, .line = location->outer_line};
    }
    return exec_program_position(program, position);
}

/* Replaces the index of the PTX target in imm by the address of its code. */
static void resolve_branches(struct lower *lower, struct exec_inst *code)
{
    for (size_t k = 0; k < lower->code_count; k++) {
        struct exec_inst *inst = &code[k];
        if (inst->run == exec_branch_guarded || inst->run == lower_branch_handler())
            inst->extra = &code[lower->starts[inst->imm]];
        if (inst->run == lower_table_handler()) {
            struct exec_targets *targets = (struct exec_targets *)(uintptr_t)inst->extra;
            for (size_t t = 0; t < targets->count; t++)
                targets->targets[t] = &code[lower->starts[targets->indexes[t]]];
        }
    }
}

static bool has_barrier(const struct exec_inst *begin, const struct exec_inst *end)
{
    for (; begin < end; begin++)
        if (begin->run == exec_barrier_sync || begin->inner == exec_barrier_sync) return true;
    return false;
}

/* Marks branches back past a barrier in a loop: a lane that takes one has not been to that barrier
 * in the new round. See machine/barrier.c. */
static void mark_rounds(const struct lower *lower, struct exec_inst *code)
{
    for (size_t k = 0; k < lower->code_count && lower->program->watched; k++) {
        struct exec_inst *inst = &code[k];
        const bool guarded = inst->run == exec_branch_guarded;
        if (!guarded && inst->run != lower_branch_handler()) continue;
        if (has_barrier(inst->extra, inst))
            inst->run = guarded ? exec_branch_round_guarded : exec_branch_round;
    }
}

static bool lower_begin(struct lower *lower)
{
    const struct ptx_function *source = lower->source;
    uint32_t end = 0;
    lower_note_system(lower);
    lower->starts = calloc(source->instruction_count + 1u, sizeof *lower->starts);
    lower->cache_of = calloc(source->instruction_count + 1u, sizeof *lower->cache_of);
    lower->batch_of = calloc(source->register_count + 1u, sizeof *lower->batch_of);
    lower->labelled = calloc(source->instruction_count + 1u, sizeof *lower->labelled);
    if (lower->starts == NULL || lower->cache_of == NULL || lower->batch_of == NULL ||
        lower->labelled == NULL || !lower_registers(lower, &end) || !lower_dependent(lower))
        return false;
    for (uint32_t k = 0; k < source->label_count; k++)
        lower->labelled[source->labels[k].target] = true;
    lower->batch_over = true;
    lower->carry = end;
    lower->scratch_begin = (end + 4 + 63) / 64 * 64;
    lower->frame_end = lower->scratch_begin + LOWER_SCRATCH * 8 * EXEC_LANES;
    return true;
}

static void lower_instruction(struct lower *lower, const struct ptx_instruction *inst)
{
    lower->at = lower->place = inst;
    lower->position = add_position(lower, inst);
    lower->guard_handled = false;
    lower->scratch_used = 0;
    lower->widen_key = NULL;
    if (inst->op == PTX_OP_UNKNOWN || !ptx_opcode_supported(inst->op)) {
        lower_unsupported(lower,
                          inst->op == PTX_OP_UNKNOWN ? UNSUPPORTED_FORM : UNSUPPORTED_INSTRUCTION);
        return;
    }
    if (!lower_memory(lower) && !lower_control(lower) && !lower_images(lower) &&
        !lower_video(lower) && !lower_mbarrier(lower) && !lower_bulk(lower) &&
        !lower_tensor_map(lower) && !lower_tensor(lower))
        lower_compute(lower);
    lower_finish(lower);
}

/* Copies constants that change from block to block first: a block's start updates only those. */
static void copy_constants(struct lower *lower, struct exec_constant *to)
{
    size_t count = 0;
    for (int changing = 1; changing >= 0; changing--) {
        for (size_t k = 0; k < lower->constant_count; k++) {
            const struct exec_constant *constant = &lower->constants[k];
            const bool changes = constant->kind == EXEC_CONSTANT_SPECIAL &&
                                 exec_special_changes((unsigned)constant->index);
            if (changes == (changing == 1)) to[count++] = *constant;
        }
        if (changing) lower->function->changing_count = count;
    }
}

static bool waited(const struct lower *lower, uint32_t k)
{
    return lower->waited != NULL && lower->waited[k];
}

void lower_function(struct lower *lower)
{
    const struct ptx_function *source = lower->source;
    struct exec_function *function = lower->function;
    if (!lower_begin(lower)) goto fail;
    for (uint32_t k = 0; k < source->instruction_count; k++) {
        lower->starts[k] = (uint32_t)lower->code_count;
        follow_batch(lower, &source->instructions[k], k);
        const size_t before = lower->program->cache_count;
        lower_instruction(lower, &source->instructions[k]);
        lower->cache_of[k] =
            lower->program->cache_count == before + 1 ? (uint32_t)before : LOWER_NO_CACHE;
        for (size_t c = before; waited(lower, k) && c < lower->program->cache_count; c++)
            lower_note_look(lower, (uint32_t)c, EXEC_LOOK_AFTER_WAIT);
    }
    lower->starts[source->instruction_count] = (uint32_t)lower->code_count;
    lower_emit_plain(lower, exec_fell_off);
    if (lower->failed) goto fail;

    struct exec_inst *code = arena_take(&lower->program->arena, lower->code_count, sizeof *code);
    struct exec_constant *constants =
        arena_take(&lower->program->arena, lower->constant_count, sizeof *constants);
    if (code == NULL || constants == NULL) goto fail;
    memcpy(code, lower->code, lower->code_count * sizeof *code);
    copy_constants(lower, constants);
    resolve_branches(lower, code);
    mark_rounds(lower, code);
    function->code = code;
    function->code_count = lower->code_count;
    function->constants = constants;
    function->constant_count = lower->constant_count;
    function->frame_bytes = lower->frame_end;
    if (lower->apart)
        function->apart[function->apart_count++] = (struct exec_formal){
            .offset = lower->scratch_begin, .size = LOWER_SCRATCH * 8 * EXEC_LANES};
    function->proof = lower_proof(lower);
    lower_groups(lower);
    lower_flow(lower);
    lower_forms(lower);
    goto out;
fail:
    lower->failed = true;
out:
    free(lower->code);
    free(lower->forms);
    free(lower->constants);
    free(lower->registers);
    free(lower->written);
    free(lower->read);
    free(lower->symbols);
    free(lower->parameters);
    free(lower->next_act);
    free(lower->starts);
    free(lower->cache_of);
    free(lower->batch_of);
    free(lower->labelled);
    free(lower->waited);
    free(lower->reached);
    free(lower->grid_barriers);
}
