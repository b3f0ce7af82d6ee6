/* Loads, stores, atomics, fences and asynchronous copies: the row and the address of each. */
#include "emulator/exec/check/check.h"
#include "emulator/exec/check/proxy.h"
#include "emulator/exec/lower/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_shared(uint16_t space)
{
    return space == PTX_SPACE_SHARED || space == PTX_SPACE_SHARED_CTA ||
           space == PTX_SPACE_SHARED_CLUSTER;
}

static bool is_param(uint16_t space)
{
    return space == PTX_SPACE_PARAM || space == PTX_SPACE_PARAM_ENTRY ||
           space == PTX_SPACE_PARAM_FUNC;
}

/* Returns whether a .param address means an entry's parameters, by name or through a register. */
static bool entry_parameter(const struct lower *lower, const struct ptx_operand *address)
{
    if (!lower->source->is_entry) return false;
    return address->variable == NULL || lower_parameter_index(lower, address->variable) >= 0;
}

/* ---- parameters behind registers ------------------------------------------------------------- */

enum { NOT_A_PARAMETER = -1 };

/* Returns the offset among the entry's parameters that the operand is the address of, or
 * NOT_A_PARAMETER if that is unknown. */
static int64_t parameter_offset(const struct lower *lower, const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_REGISTER) return lower->parameters[operand->reg];
    if (operand->kind != PTX_OPERAND_SYMBOL || operand->variable == NULL) return NOT_A_PARAMETER;
    const int32_t index = lower_parameter_index(lower, operand->variable);
    return index < 0 ? NOT_A_PARAMETER
                     : (int64_t)lower->function->info.parameters[index].offset + operand->offset;
}

/* Finds the registers, written once, that hold the address of a parameter, or a constant number of
 * bytes behind one: nvcc passes a structure by such a register to what it inlines. */
static bool find_parameters(struct lower *lower)
{
    const struct ptx_function *source = lower->source;
    lower->parameters = malloc((source->register_count + (size_t)1) * sizeof *lower->parameters);
    if (lower->parameters == NULL) {
        lower->failed = true;
        return false;
    }
    for (uint32_t k = 0; k <= source->register_count; k++) lower->parameters[k] = NOT_A_PARAMETER;
    for (uint32_t k = 0; k < source->instruction_count; k++) {
        const struct ptx_instruction *inst = &source->instructions[k];
        const struct ptx_operand *operands = inst->operands;
        const bool adds = inst->op == PTX_OP_ADD && ptx_type_bytes(inst->type) == 8 &&
                          operands[2].kind == PTX_OPERAND_IMMEDIATE;
        if ((inst->op != PTX_OP_MOV && !adds) || operands[0].kind != PTX_OPERAND_REGISTER ||
            lower->written[operands[0].reg] != LOWER_ONCE)
            continue;
        const int64_t offset = parameter_offset(lower, &operands[1]);
        if (offset == NOT_A_PARAMETER) continue;
        lower->parameters[operands[0].reg] = offset + (adds ? (int64_t)operands[2].bits : 0);
    }
    return true;
}

/* Finds where among the entry's parameters a load reads, if its address is constant. */
static bool find_parameter(struct lower *lower, const struct ptx_operand *address, uint64_t *offset)
{
    int64_t first;
    if (address->reg == PTX_NO_REGISTER && address->variable == NULL) return false;
    if (address->reg == PTX_NO_REGISTER) {
        const int32_t index = lower_parameter_index(lower, address->variable);
        first = (int64_t)lower->function->info.parameters[index].offset;
    } else {
        if (lower->parameters == NULL && !find_parameters(lower)) return false;
        first = lower->parameters[address->reg];
        if (first == NOT_A_PARAMETER) return false;
    }
    first += address->offset;
    *offset = (uint64_t)first;
    return first >= 0;
}

bool lower_find_parameter(struct lower *lower, const struct ptx_operand *address, uint16_t space,
                          uint64_t *offset)
{
    return is_param(space) && entry_parameter(lower, address) &&
           find_parameter(lower, address, offset);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Shared memory that may belong to another block is accessed by its generic address. */
static bool find_place_in_cluster(struct lower *lower, const struct ptx_operand *address,
                                  struct lower_place *place)
{
    if (!lower_find_place(lower, address, PTX_SPACE_SHARED, place)) return false;
    if (!strcmp(place->where, "shared")) {
        struct exec_inst *inst = lower_row(lower, "widen.u32");
        inst->a = place->slot;
        place->slot = inst->d = lower_scratch(lower);
    }
    place->where = "generic";
    place->global = true;
    place->offset += EXEC_WINDOW_SHARED;
    return true;
}

/* A register of 64 bits may hold the generic address of shared memory, not its offset there: a
 * GPU's instructions take the low half, the same in both. What is neither remains what it is. */
static uint32_t without_window(struct lower *lower, uint32_t slot)
{
    const uint32_t rest = lower_value(lower, ~EXEC_WINDOW_SHARED, 8);
    struct exec_inst *inst = lower_row(lower, "and.b64");
    inst->a = slot;
    inst->b = rest;
    return inst->d = lower_scratch(lower);
}

bool lower_find_place(struct lower *lower, const struct ptx_operand *address, uint16_t space,
                      struct lower_place *place)
{
    place->offset = (uint64_t)address->offset;
    place->global = false;
    uint32_t width = 8;
    uint64_t window = 0;
    if (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST) {
        place->where = "global";
        place->global = true;
    } else if (space == PTX_ABSENT) {
        place->where = "generic";
        place->global = true;
    } else if (space == PTX_SPACE_SHARED_CLUSTER) {
        return find_place_in_cluster(lower, address, place);
    } else if (is_shared(space)) {
        const bool wide = address->reg != PTX_NO_REGISTER &&
                          lower_width(lower->source->registers[address->reg].type) == 8;
        place->where = wide ? "shared64" : "shared";
        width = wide ? 8 : 4;
    } else if (space == PTX_SPACE_LOCAL) {
        place->where = "local";
    } else if (is_param(space)) {
        if (!entry_parameter(lower, address)) {
            place->where = "local";
        } else if (find_parameter(lower, address, &place->offset)) {
            place->where = NULL;
            return true;
        } else {
            place->where = "generic";
            window = EXEC_WINDOW_PARAM;
        }
    } else {
        lower_unsupported(lower, UNSUPPORTED_STATE_SPACE);
        return false;
    }
    if (address->reg != PTX_NO_REGISTER) {
        place->slot = lower_register(lower, address->reg, width);
        if (width == 8 && is_shared(space) && place->slot != EXEC_NO_SLOT)
            place->slot = without_window(lower, place->slot);
    } else if (address->variable != NULL || address->function != NULL) {
        struct ptx_operand symbol = *address;
        symbol.offset = 0;
        place->slot = lower_symbol(lower, &symbol, width);
        if (space == PTX_ABSENT && address->variable != NULL &&
            address->variable->space == PTX_SPACE_SHARED)
            window = EXEC_WINDOW_SHARED;
        if (space == PTX_ABSENT && address->variable != NULL &&
            address->variable->space == PTX_SPACE_LOCAL)
            window = EXEC_WINDOW_LOCAL;
    } else {
        place->slot = lower_value(lower, 0, width);
    }
    if (place->slot == EXEC_NO_SLOT) return false;
    place->offset += window;
    return true;
}

uint32_t lower_generic(struct lower *lower, const struct ptx_operand *address, uint16_t space)
{
    struct lower_place place;
    if (!lower_find_place(lower, address, space, &place)) return EXEC_NO_SLOT;
    if (place.where == NULL || !strcmp(place.where, "local")) {
        lower_unsupported(lower, UNSUPPORTED_NOT_GLOBAL_OR_SHARED);
        return EXEC_NO_SLOT;
    }
    uint32_t slot = place.slot;
    uint64_t offset = place.offset;
    if (!strcmp(place.where, "shared")) {
        struct exec_inst *inst = lower_row(lower, "widen.u32");
        inst->a = slot;
        slot = inst->d = lower_scratch(lower);
        offset = (uint32_t)offset;
    }
    if (!strncmp(place.where, "shared", 6)) offset += EXEC_WINDOW_SHARED;
    return offset ? lower_add64(lower, slot, offset) : slot;
}

/* ---- ld, st ---------------------------------------------------------------------------------- */

/* Returns the memory type in the row's key. The size matters, and the sign where the register is
 * wider. */
static const char *element(enum ptx_type type, bool signs)
{
    const bool is_signed = signs && ptx_type_kind(type) == PTX_KIND_SIGNED;
    switch (ptx_type_bytes(type)) {
    case 1:
        return is_signed ? "s8" : "u8";
    case 2:
        return is_signed ? "s16" : "u16";
    case 4:
        return "u32";
    case 8:
        return "u64";
    default:
        return NULL;
    }
}

uint32_t lower_elements(const struct ptx_operand *operand, const struct ptx_operand **first)
{
    const bool vector = operand->kind == PTX_OPERAND_VECTOR;
    if (first != NULL) *first = vector ? operand->elements : operand;
    return vector ? operand->count : 1;
}

bool lower_may_be_global(uint16_t space)
{
    return space == PTX_SPACE_GLOBAL || space == PTX_ABSENT;
}

/* Returns the enum exec_look bits that check/causality.h needs of a strong access or an atomic. */
static unsigned strength(const struct lower *lower, const struct ptx_instruction *at)
{
    unsigned as = 0;
    if (at->modifiers.scope == PTX_SCOPE_CTA) return EXEC_LOOK_BLOCK_SCOPE;
    if (lower_is_strong(lower, at)) as |= EXEC_LOOK_STRONG;
    if (lower_releases(at)) as |= EXEC_LOOK_RELEASES;
    if (lower_acquires(at)) as |= EXEC_LOOK_ACQUIRES;
    return as;
}

/* A 128-bit element becomes one access of two 64-bit parts, eight 32-bit elements become two
 * accesses of four. The address is copied to a scratch slot, because a load may overwrite its
 * register. */
static void lower_wide_access(struct lower *lower, bool store)
{
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *address = &at->operands[store ? 0 : 1];
    const struct ptx_operand *value = &at->operands[store ? 1 : 0];
    const bool whole = at->type == PTX_B128;
    const uint32_t parts = whole ? 2 : 4;
    if ((whole && value->kind == PTX_OPERAND_VECTOR) ||
        (!whole && (value->count != 8 || ptx_type_bytes(at->type) != 4))) {
        lower_unsupported(lower, UNSUPPORTED_WIDE_ACCESS);
        return;
    }
    lower_guard(lower);
    const uint32_t base = lower_generic(lower, address, at->modifiers.space);
    if (base == EXEC_NO_SLOT) return;
    struct exec_inst *inst = lower_row(lower, "mov.b64");
    inst->a = inst->b = base;
    const uint32_t kept = inst->d = lower_scratch(lower);
    inst = lower_row(lower, "aligned");
    inst->a = kept;
    inst->imm = whole ? 16 : 32;
    inst->cache = (uint32_t)lower->program->cache_count++;
    for (uint32_t k = 0; k < (whole ? 1u : 2u); k++) {
        uint32_t slots[4] = {0, 0, 0, 0};
        for (uint32_t j = 0; j < parts; j++) {
            if (whole) {
                slots[j] = value->kind == PTX_OPERAND_SINK
                               ? lower_scratch(lower)
                               : lower->registers[value->reg] + j * 8 * EXEC_LANES;
                continue;
            }
            const struct ptx_operand *element = &value->elements[4 * k + j];
            const bool sink = element->kind == PTX_OPERAND_SINK;
            slots[j] = store  ? lower_source(lower, element, 4)
                       : sink ? lower_scratch(lower)
                              : lower->registers[element->reg];
            if (slots[j] == EXEC_NO_SLOT) return;
        }
        const struct lower_place place = {"generic", kept, 16 * k, true};
        if (!lower_is_strong(lower, at))
            lower_racecheck(lower, &place, whole ? 8 : 4, parts, store ? EXEC_STORE : EXEC_LOAD,
                            store ? slots : NULL);
        lower_order(lower, &place, 16, store ? EXEC_STORE : EXEC_LOAD, slots[0]);
        const char *key = store   ? whole ? "st.generic.v2.u64" : "st.generic.v4.u32"
                          : whole ? "ld.generic.v2.u64"
                                  : "ld.generic.v4.u32";
        inst = lower_row(lower, key);
        inst->a = kept;
        inst->imm = 16 * k;
        inst->d = slots[0];
        inst->b = slots[1];
        inst->c = slots[2];
        inst->e = slots[3];
        inst->cache = (uint32_t)lower->program->cache_count++;
        if (lower_is_strong(lower, at))
            lower_note_look(lower, inst->cache, EXEC_LOOK_ALL | strength(lower, at));
    }
    if (lower_is_strong(lower, at)) lower->function->talks = lower->function->info.converses = true;
}

static void load_parameter(struct lower *lower, uint64_t offset)
{
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *d;
    const uint32_t count = lower_elements(&at->operands[0], &d);
    const uint32_t size = ptx_type_bytes(at->type);
    const bool is_signed = ptx_type_kind(at->type) == PTX_KIND_SIGNED;
    if (size > 8 || offset + (uint64_t)count * size > lower->function->info.parameter_bytes) {
        lower_unsupported(lower, UNSUPPORTED_PAST_PARAMETERS);
        return;
    }
    for (uint32_t k = 0; k < count; k++) {
        if (d[k].kind == PTX_OPERAND_SINK) continue;
        const uint32_t width = lower_width(lower->source->registers[d[k].reg].type);
        const uint32_t from =
            lower_constant(lower, EXEC_CONSTANT_PARAMETER,
                           is_signed ? -(int32_t)size : (int32_t)size, offset + k * size, width);
        if (lower_stands_for(lower, d[k].reg, from, width)) continue;
        struct exec_inst *inst = lower_row(lower, width == 8 ? "mov.b64" : "mov.b32");
        inst->a = inst->b = from;
        inst->d = lower->registers[d[k].reg];
    }
}

static void note_looks(struct lower *lower, uint32_t cache, const struct ptx_operand *address)
{
    const uint16_t from = lower->at->modifiers.cache;
    unsigned as =
        lower_is_strong(lower, lower->at) ? EXEC_LOOK_ALL | strength(lower, lower->at) : 0u;
    if (from == PTX_CACHE_CG || from == PTX_CACHE_CV) as |= EXEC_LOOK_PAST_L1;
    if (lower_brings_data(lower->deciding, lower->at)) as |= EXEC_LOOK_DATA;
    if (lower_looks(lower, address, LOWER_ACTS_OF_BLOCKS)) as |= EXEC_LOOK_BLOCKS;
    if (lower_looks(lower, address, LOWER_ACTS_OF_THREADS)) as |= EXEC_LOOK_THREADS;
    lower_note_look(lower, cache, as);
}

/* Emitted after a strong load: another thread may be about to store what it waits for. */
static void lower_poll(struct lower *lower, const struct lower_place *place, uint32_t slot,
                       uint32_t width)
{
    if (place->global) lower->function->talks = lower->function->info.converses = true;
    if (!place->global && !is_shared(lower->at->modifiers.space)) return;
    struct exec_inst *inst = lower_row(lower, width == 8 ? "poll.b64" : "poll.b32");
    inst->d = slot;
    inst->a = place->slot;
    inst->imm = place->global;
}

/* Emits the race check of a load of `count` elements. */
static void watch_load(struct lower *lower, const struct lower_place *place, uint32_t count)
{
    const struct ptx_instruction *at = lower->at;
    if (lower_is_strong(lower, at)) return;
    if (lower_looks(lower, &at->operands[1], LOWER_ACTS_OF_SHARED))
        lower_racecheck_look(lower, place, ptx_type_bytes(at->type), count);
    else
        lower_racecheck(lower, place, ptx_type_bytes(at->type), count, EXEC_LOAD, NULL);
}

static void lower_load(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *d;
    const uint32_t count = lower_elements(&at->operands[0], &d);
    const char *type = element(at->type, true);
    const bool is_signed = ptx_type_kind(at->type) == PTX_KIND_SIGNED;
    struct lower_place place;
    char key[64];
    if (at->type == PTX_B128 || count > 4) {
        lower_wide_access(lower, false);
        return;
    }
    if (type == NULL) {
        lower_unsupported(lower, UNSUPPORTED_LOAD_TYPE);
        return;
    }
    if (!lower_find_place(lower, &at->operands[1], at->modifiers.space, &place)) return;
    if (place.where == NULL) {
        load_parameter(lower, place.offset);
        return;
    }
    snprintf(key, sizeof key, count > 1 ? "ld.%s.v%u.%s" : "ld.%s%.0u.%s", place.where,
             count > 1 ? count : 0, type);
    uint32_t to[4] = {0, 0, 0, 0};
    uint32_t final[4] = {0, 0, 0, 0};
    const uint32_t natural = ptx_type_bytes(at->type) == 8 ? 8 : 4;
    for (uint32_t k = 0; k < count; k++) {
        lower->widen_key = NULL;
        to[k] = lower_destination(lower, d[k].kind == PTX_OPERAND_SINK ? PTX_SINK : d[k].reg,
                                  natural, is_signed);
        final[k] = lower->widen_key != NULL ? lower->widen_to : to[k];
    }
    lower->widen_key = NULL;
    watch_load(lower, &place, count);
    lower_order(lower, &place, ptx_type_bytes(at->type) * count, EXEC_LOAD, 0);
    struct exec_inst *inst = lower_row(lower, key);
    inst->a = place.slot;
    inst->imm = place.offset;
    inst->d = to[0];
    inst->b = to[1];
    inst->c = to[2];
    inst->e = to[3];
    if (place.global) {
        inst->cache = (uint32_t)lower->program->cache_count++;
        note_looks(lower, inst->cache, &at->operands[1]);
        inst->extra = lower_waits(lower) ? "" : NULL;
    }
    for (uint32_t k = 0; k < count; k++) {
        if (final[k] == to[k]) continue;
        inst = lower_row(lower, is_signed ? "widen.s32" : "widen.u32");
        inst->a = to[k];
        inst->d = final[k];
    }
    if (lower_is_strong(lower, at)) lower_poll(lower, &place, to[0], natural);
}

static void lower_store(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *s;
    const uint32_t count = lower_elements(&at->operands[1], &s);
    const char *type = element(at->type, false);
    struct lower_place place;
    char key[64];
    if (at->type == PTX_B128 || count > 4) {
        lower_wide_access(lower, true);
        return;
    }
    if (type == NULL) {
        lower_unsupported(lower, UNSUPPORTED_STORE_TYPE);
        return;
    }
    if (!lower_find_place(lower, &at->operands[0], at->modifiers.space, &place)) return;
    if (place.where == NULL) {
        lower_unsupported(lower, UNSUPPORTED_PARAMETERS_CONSTANT);
        return;
    }
    uint32_t from[4] = {0, 0, 0, 0};
    for (uint32_t k = 0; k < count; k++) {
        from[k] = lower_source(lower, &s[k], ptx_type_bytes(at->type) == 8 ? 8 : 4);
        if (from[k] == EXEC_NO_SLOT) return;
    }
    snprintf(key, sizeof key, count > 1 ? "st.%s.v%u.%s" : "st.%s%.0u.%s", place.where,
             count > 1 ? count : 0, type);
    if (!lower_is_strong(lower, at))
        lower_racecheck(lower, &place, ptx_type_bytes(at->type), count, EXEC_STORE, from);
    lower_order(lower, &place, ptx_type_bytes(at->type) * count, EXEC_STORE, from[0]);
    struct exec_inst *inst = lower_row(lower, key);
    inst->a = place.slot;
    inst->imm = place.offset;
    inst->d = from[0];
    inst->b = from[1];
    inst->c = from[2];
    inst->e = from[3];
    if (place.global) {
        const unsigned stored = (unsigned)__builtin_ctz(count) + 1;
        inst->cache = (uint32_t)lower->program->cache_count++;
        if (lower_is_strong(lower, at)) {
            lower->function->talks = lower->function->info.converses = true;
            lower_note_look(
                lower, inst->cache,
                EXEC_LOOK_ALL | strength(lower, at) | stored << EXEC_LOOK_STORED_BIT |
                    (lower_modifies(lower, &at->operands[0]) ? EXEC_LOOK_MODIFIES : 0u));
        } else {
            lower_note_look(lower, inst->cache,
                            lower_updates(lower) | stored << EXEC_LOOK_STORED_BIT);
        }
    }
}

/* ---- atomics --------------------------------------------------------------------------------- */

/* Whether the instruction gives a result that is used. nvcc writes atom for every atomic. */
static bool brings_news(const struct lower *lower)
{
    const struct ptx_operand *d = &lower->at->operands[0];
    if (lower->at->op != PTX_OP_ATOM || d->kind == PTX_OPERAND_SINK) return false;
    return d->kind != PTX_OPERAND_REGISTER || d->reg >= lower->source->register_count ||
           lower->read[d->reg];
}

/* Whether the instruction is none of a loop that only waits. */
static bool does_more(enum ptx_opcode op)
{
    return op == PTX_OP_ST || op == PTX_OP_RED || op == PTX_OP_BAR_SYNC ||
           op == PTX_OP_BARRIER_SYNC || op == PTX_OP_CALL;
}

/* Whether the instruction lies in a loop that neither stores nor meets a barrier of the block: it
 * may be a wait. */
static bool may_wait_at(const struct lower *lower)
{
    const struct ptx_instruction *first = lower->source->instructions;
    const uint32_t at = (uint32_t)(lower->place - first);
    uint32_t begin = at;
    while (begin > 0 && !does_more(first[begin - 1].op)) begin--;
    for (uint32_t k = at; k < lower->source->instruction_count && !does_more(first[k].op); k++) {
        if (first[k].op != PTX_OP_BRA) continue;
        const uint32_t target = first[k].operands[0].target;
        if (target >= begin && target <= at) return true;
    }
    return false;
}

/* Whether the instruction is an atomic in a wait, by which a program means a strong load: it leaves
 * the memory as it is. In a function that is called the value, and the wait, may be the caller's,
 * as they are in builds for debuggers. */
static bool may_await(const struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *value = &at->operands[2];
    const uint16_t operation = at->modifiers.operation;
    if (!brings_news(lower) ||
        (operation != PTX_ATOMIC_ADD && operation != PTX_ATOMIC_OR && operation != PTX_ATOMIC_XOR))
        return false;
    if (value->kind != PTX_OPERAND_IMMEDIATE) return !lower->source->is_entry;
    return value->bits == 0 && (!lower->source->is_entry || may_wait_at(lower));
}

/* Records an atomic on global memory. Blocks may execute it at once if the order cannot be
 * observed: its result is not used, and the function has no other kind of atomic that blocks
 * execute at once. */
static void note_atomic(struct lower *lower, const struct exec_row *row)
{
    struct exec_function *function = lower->function;
    const struct ptx_instruction *at = lower->at;
    const bool ordered = lower_is_strong(lower, at) && at->modifiers.semantics != PTX_SEM_RELAXED;
    if (!brings_news(lower) && !ordered && exec_atomic_commutes(row) &&
        (function->commutes == NULL || function->commutes == row->run))
        function->commutes = row->run;
    else
        function->talks = true;
    if (at->modifiers.operation == PTX_ATOMIC_CAS || at->modifiers.operation == PTX_ATOMIC_EXCH ||
        at->modifiers.scope == PTX_SCOPE_SYS || (ordered && at->modifiers.scope != PTX_SCOPE_CTA) ||
        may_await(lower))
        function->info.converses = true;
}

/* The row of an atom or red, of one element if it has several. */
static const struct exec_row *atomic_row(const struct ptx_instruction *at)
{
    struct ptx_instruction plain = *at;
    char key[64];
    plain.op = PTX_OP_ATOM;
    plain.modifiers.vector = plain.modifiers.hint = plain.modifiers.hint2 = PTX_ABSENT;
    lower_key(&plain, key, sizeof key);
    return exec_row_find(key);
}

static uint32_t atomic_where(const struct lower_place *place)
{
    return !strcmp(place->where, "shared")     ? EXEC_ATOMIC_SHARED
           : !strcmp(place->where, "shared64") ? EXEC_ATOMIC_SHARED64
           : !strcmp(place->where, "generic")  ? EXEC_ATOMIC_GENERIC
                                               : EXEC_ATOMIC_GLOBAL;
}

/* .v2, .v4, .v8: one atomic per element, as PTX defines it. The address and the results are in
 * scratch slots, apart from the registers that the elements' instructions read and write. */
static void lower_vector_atomic(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const bool returns = at->op == PTX_OP_ATOM;
    const struct ptx_operand *address = &at->operands[returns];
    const struct ptx_operand *results = returns ? &at->operands[0] : NULL;
    const struct ptx_operand *values = address + 1;
    const struct exec_row *row = atomic_row(at);
    const uint32_t bytes = ptx_type_bytes(at->type);
    struct exec_inst *inst;
    uint32_t from[8], to[8];
    if (row == NULL) {
        lower_unsupported(lower, UNSUPPORTED_ATOMIC_TYPE);
        return;
    }
    lower_guard(lower);
    const uint32_t base = lower_generic(lower, address, at->modifiers.space);
    if (base == EXEC_NO_SLOT) return;
    for (uint32_t k = 0; k < values->count; k++) {
        from[k] = lower_source(lower, &values->elements[k], 4);
        if (from[k] == EXEC_NO_SLOT) return;
    }
    inst = lower_row(lower, "aligned");
    inst->a = base;
    inst->imm = bytes * values->count;
    inst->cache = (uint32_t)lower->program->cache_count++;
    lower_racecheck(lower, &(struct lower_place){"generic", base, 0, true}, bytes, values->count,
                    EXEC_ATOMIC, NULL);
    for (uint32_t k = 0; k < values->count; k++) {
        inst = lower_emit(lower, row->run);
        inst->d = to[k] = lower_scratch(lower);
        inst->a = base;
        inst->b = from[k];
        inst->imm = bytes * k;
        inst->e = EXEC_ATOMIC_GENERIC;
        inst->cache = (uint32_t)lower->program->cache_count++;
    }
    for (uint32_t k = 0;
         results != NULL && results->kind == PTX_OPERAND_VECTOR && k < values->count; k++) {
        const struct ptx_operand *element = &results->elements[k];
        if (element->kind == PTX_OPERAND_SINK || element->reg == PTX_SINK) continue;
        inst = lower_row(lower, "mov.b32");
        inst->a = inst->b = to[k];
        inst->d = lower->registers[element->reg];
    }
    lower->function->talks = true;
}

/* exch and cas of 128 bits; registers and scratch slots hold the low halves of all lanes, then the
 * high halves. */
static void lower_wide_atomic(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const bool cas = at->modifiers.operation == PTX_ATOMIC_CAS;
    const struct ptx_operand *d = &at->operands[0];
    if (at->operands[2].kind != PTX_OPERAND_REGISTER ||
        (cas && at->operands[3].kind != PTX_OPERAND_REGISTER)) {
        lower_unsupported(lower, UNSUPPORTED_ATOMIC_TYPE);
        return;
    }
    lower_guard(lower);
    const uint32_t base = lower_generic(lower, &at->operands[1], at->modifiers.space);
    if (base == EXEC_NO_SLOT) return;
    const struct lower_place place = {"generic", base, 0, true};
    lower_racecheck(lower, &place, 16, 1, EXEC_ATOMIC, NULL);
    lower_order(lower, &place, 16, EXEC_ATOMIC, 0);
    struct exec_inst *inst = lower_row(lower, cas ? "atom.cas.b128" : "atom.exch.b128");
    inst->a = base;
    inst->d = d->kind == PTX_OPERAND_SINK ? EXEC_NO_GUARD : lower->registers[d->reg];
    inst->b = lower->registers[at->operands[2].reg];
    if (cas) inst->c = lower->registers[at->operands[3].reg];
    inst->cache = (uint32_t)lower->program->cache_count++;
    lower->function->talks = lower->function->info.converses = true;
}

static void lower_atomic(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const bool returns = at->op == PTX_OP_ATOM;
    const struct ptx_operand *address = &at->operands[returns];
    const struct ptx_operand *values = address + 1;
    const uint32_t count = at->modifiers.operation == PTX_ATOMIC_CAS ? 2 : 1;
    const bool swaps = count == 2 || at->modifiers.operation == PTX_ATOMIC_EXCH;
    const bool is_data = !swaps && (!brings_news(lower) || lower_brings_data(lower->deciding, at));
    const uint32_t width = lower_width(at->type);
    struct lower_place place;
    const struct exec_row *row = atomic_row(at);
    if (at->type == PTX_B128) {
        lower_wide_atomic(lower);
        return;
    }
    if (row == NULL || !width) {
        lower_unsupported(lower, UNSUPPORTED_ATOMIC_TYPE);
        return;
    }
    if (!lower_find_place(lower, address, at->modifiers.space, &place)) return;
    if (place.where == NULL || !strcmp(place.where, "local")) {
        lower_unsupported(lower, UNSUPPORTED_ATOMIC_PLACE);
        return;
    }
    uint32_t from[4] = {0};
    for (uint32_t k = 0; k < count; k++) {
        from[k] = lower_source(lower, &values[k], width);
        if (from[k] == EXEC_NO_SLOT) return;
    }
    uint32_t d = lower_scratch(lower);
    if (returns && at->operands[0].kind != PTX_OPERAND_SINK)
        d = lower_destination(lower, at->operands[0].reg, width, false);
    /* Others may do what they like with the rest of the word: the race check leaves it alone. */
    const bool part = lower_swaps_part(lower);
    if (!part)
        lower_racecheck(lower, &place, ptx_type_bytes(at->type), 1, EXEC_ATOMIC,
                        count == 2 ? from : NULL);
    lower_order(lower, &place, ptx_type_bytes(at->type), EXEC_ATOMIC, 0);
    struct exec_inst *inst = lower_emit(lower, row->run);
    inst->d = d;
    inst->a = place.slot;
    inst->b = from[0];
    inst->c = from[1];
    inst->imm = place.offset;
    inst->e = atomic_where(&place);
    inst->cache = (uint32_t)lower->program->cache_count++;
    if (place.global) {
        note_atomic(lower, row);
        lower_note_look(lower, inst->cache,
                        strength(lower, at) | (part ? EXEC_LOOK_ALL : 0u) |
                            (brings_news(lower) ? EXEC_LOOK_HEARS : 0u) |
                            (is_data ? EXEC_LOOK_DATA : 0u) |
                            (count == 2 && width == 4 ? EXEC_LOOK_SWAPS : 0u));
    }
    if (brings_news(lower)) {
        inst = lower_row(lower, width == 8 ? "poll.b64" : "poll.b32");
        inst->d = d;
    }
}

/* st.async, red.async: executed when they are issued, then completed at their barrier object. */
static void lower_asynchronous(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *value = &at->operands[1];
    const bool stores = at->op == PTX_OP_ST_ASYNC;
    struct ptx_instruction plain = *at;
    if (at->operand_count < 3 || at->modifiers.completion != PTX_COMPLETE_TX) {
        lower_unsupported(lower, UNSUPPORTED_NO_BARRIER_OBJECT);
        return;
    }
    lower_guard(lower);
    plain.op = stores ? PTX_OP_ST : PTX_OP_RED;
    plain.operand_count = 2;
    plain.modifiers.semantics = plain.modifiers.scope = plain.modifiers.completion = PTX_ABSENT;
    plain.modifiers.space = PTX_SPACE_SHARED_CLUSTER;
    lower->at = &plain;
    if (stores)
        lower_store(lower);
    else
        lower_atomic(lower);
    lower->at = at;
    const uint32_t object = lower_generic(lower, &at->operands[2], PTX_SPACE_SHARED_CLUSTER);
    const uint32_t count = value->kind == PTX_OPERAND_VECTOR ? value->count : 1;
    const uint32_t bytes = lower_value(lower, count * ptx_type_bytes(at->type), 4);
    if (object == EXEC_NO_SLOT) return;
    struct exec_inst *inst = lower_row(lower, "mbarrier.complete_tx");
    inst->a = object;
    inst->b = bytes;
    inst->cache = (uint32_t)lower->program->cache_count++;
}

/* ---- asynchronous copies, fences ------------------------------------------------------------- */

/* cp.async copies when it is issued: PTX allows any moment between the issue and the wait. With a
 * source size (or an "ignore" predicate) the rest of the destination is zeroed. */
static void lower_copy(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    struct lower_place to, from;
    const uint64_t size = at->operands[2].bits;
    const bool has_policy =
        at->modifiers.hint == PTX_HINT_POLICY || at->modifiers.hint2 == PTX_HINT_POLICY;
    const uint32_t count = at->operand_count - has_policy; /* the policy stands last */
    if (count > 3 && at->operands[3].kind != PTX_OPERAND_IMMEDIATE &&
        at->operands[3].kind != PTX_OPERAND_REGISTER) {
        lower_unsupported(lower, UNSUPPORTED_PART_OF_ELEMENT);
        return;
    }
    if (at->operands[2].kind != PTX_OPERAND_IMMEDIATE || (size != 4 && size != 8 && size != 16)) {
        lower_unsupported(lower, UNSUPPORTED_COPY_SIZE);
        return;
    }
    if (!lower_find_place(lower, &at->operands[0], PTX_SPACE_SHARED, &to) ||
        !lower_find_place(lower, &at->operands[1], PTX_SPACE_GLOBAL, &from))
        return;
    const uint32_t all = lower_value(lower, size, 4);
    uint32_t kept = all;
    const struct ptx_operand *fourth = count > 3 ? &at->operands[3] : NULL;
    const bool ignores = fourth != NULL && fourth->kind == PTX_OPERAND_REGISTER &&
                         lower->source->registers[fourth->reg].type == PTX_PRED;
    if (fourth != NULL) kept = lower_source(lower, fourth, ignores ? LOWER_MASK : 4);
    if (kept == EXEC_NO_SLOT) return;
    if (ignores) { /* where the predicate is true, nothing is read from the source */
        const uint32_t none = lower_value(lower, 0, 4);
        struct exec_inst *select = lower_row(lower, "selp.b32");
        select->a = none;
        select->b = all;
        select->c = kept;
        kept = select->d = lower_scratch(lower);
    }
    char key[48];
    snprintf(key, sizeof key, "cp.async.%s.%u", to.where, (unsigned)size);
    lower_racecheck_copy(lower, &to, (uint32_t)size);
    struct exec_inst *inst = lower_row(lower, key);
    inst->a = from.slot;
    inst->imm = from.offset;
    inst->d = to.slot;
    inst->b = kept;
    inst->c = (uint32_t)to.offset;
    inst->cache = (uint32_t)lower->program->cache_count++;
}

void lower_fence(struct lower *lower)
{
    const uint16_t scope = lower->at->modifiers.scope;
    /* A warp instruction is complete before the next one starts, so a fence has nothing to wait
     * for. A fence of a scope beyond the block shows that blocks communicate. */
    if (scope != PTX_SCOPE_CTA) {
        lower->function->talks = lower->function->info.fences = true;
        if (lower->program->watched) lower_emit_aside(lower, exec_causality_fence);
    }
    lower_order_fence(lower);
    lower_row(lower, "nop");
}

static void lower_proxy_fence(struct lower *lower)
{
    const struct ptx_modifiers *modifiers = &lower->at->modifiers;
    if (lower->program->watched && modifiers->proxy == PTX_PROXY_ASYNC &&
        modifiers->space != PTX_SPACE_GLOBAL)
        lower_emit_aside(lower, exec_proxy_fence);
    if (lower->program->watched && modifiers->proxy == PTX_PROXY_TENSORMAP &&
        modifiers->semantics == PTX_SEM_ACQUIRE)
        lower_emit_aside(lower, exec_proxy_map_fence);
    if (modifiers->proxy == PTX_PROXY_TENSORMAP)
        lower_fence(lower);
    else
        lower_row(lower, "nop");
}

bool lower_memory(struct lower *lower)
{
    switch (lower->at->op) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
        lower_load(lower);
        return true;
    case PTX_OP_ST:
        lower_store(lower);
        return true;
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        if (lower->at->modifiers.vector)
            lower_vector_atomic(lower);
        else
            lower_atomic(lower);
        return true;
    case PTX_OP_ST_ASYNC:
    case PTX_OP_RED_ASYNC:
        lower_asynchronous(lower);
        return true;
    case PTX_OP_CP_ASYNC:
        lower_copy(lower);
        return true;
    case PTX_OP_FENCE:
    case PTX_OP_MEMBAR:
        lower_fence(lower);
        return true;
    case PTX_OP_FENCE_PROXY:
        lower_proxy_fence(lower);
        return true;
    case PTX_OP_CP_ASYNC_COMMIT:
    case PTX_OP_CP_ASYNC_WAIT:
    case PTX_OP_CP_ASYNC_WAIT_ALL:
        lower_racecheck_groups(lower);
        lower_row(lower, "nop");
        return true;
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU:
    case PTX_OP_APPLYPRIORITY:
    case PTX_OP_DISCARD:
    case PTX_OP_FENCE_MBARRIER_INIT:
    case PTX_OP_PMEVENT:
        lower_row(lower, "nop");
        return true;
    case PTX_OP_GRIDDEPCONTROL:
        if (lower->at->modifiers.mode == PTX_GRID_LAUNCH) lower->function->info.triggers = true;
        lower_row(lower, "nop");
        return true;
    default:
        return false;
    }
}
