/* Branches, calls, returns, barriers and warp-wide operations. */
#include "emulator/exec/lower/access.h"
#include "emulator/exec/lower/lower.h"

#include <stdio.h>

exec_handler *lower_branch_handler(void)
{
    return exec_row_find("bra")->run;
}

exec_handler *lower_table_handler(void)
{
    return exec_row_find("brx.idx")->run;
}

static struct exec_inst *emit_control(struct lower *lower, const char *key)
{
    lower_guard(lower);
    return lower_emit_plain(lower, exec_row_find(key)->run);
}

static void lower_branch(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    struct exec_inst *inst;
    if (at->guard == PTX_NO_REGISTER) {
        inst = lower_emit_plain(lower, lower_branch_handler());
    } else {
        inst = lower_emit_plain(lower, exec_branch_guarded);
        inst->guard = lower->registers[at->guard] << 1 | at->guard_negated;
    }
    inst->imm = at->operands[0].target;
}

static void lower_table(struct lower *lower)
{
    const struct ptx_table *table = &lower->source->tables[lower->at->operands[1].target];
    struct arena *arena = &lower->program->arena;
    struct exec_targets *targets = arena_take(arena, 1, sizeof *targets);
    const struct exec_inst **pointers = arena_take(arena, table->count, sizeof *pointers);
    uint32_t *indexes = arena_take(arena, table->count, sizeof *indexes);
    if (targets == NULL || pointers == NULL || indexes == NULL) {
        lower->failed = true;
        return;
    }
    for (uint32_t k = 0; k < table->count; k++) indexes[k] = table->labels[k].target;
    *targets =
        (struct exec_targets){.count = table->count, .targets = pointers, .indexes = indexes};
    lower_guard(lower);
    const uint32_t a = lower_source(lower, &lower->at->operands[0], 4);
    if (a == EXEC_NO_SLOT) return;
    struct exec_inst *inst = emit_control(lower, "brx.idx");
    inst->a = a;
    inst->extra = targets;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static struct exec_formal *call_places(struct lower *lower, const struct ptx_operand *operands,
                                       uint32_t count)
{
    struct exec_formal *places = arena_take(&lower->program->arena, count, sizeof *places);
    if (places == NULL) {
        lower->failed = true;
        return NULL;
    }
    for (uint32_t k = 0; k < count; k++) {
        const struct ptx_variable *variable = operands[k].variable;
        if (operands[k].kind == PTX_OPERAND_SINK) continue; /* size 0: nothing is copied */
        if (operands[k].kind != PTX_OPERAND_SYMBOL || variable == NULL ||
            variable->space != PTX_SPACE_PARAM) {
            lower_unsupported(lower, UNSUPPORTED_ARGUMENT);
            return NULL;
        }
        places[k] = (struct exec_formal){.offset = lower_local_offset(lower, variable),
                                         .size = (uint32_t)variable->size};
    }
    return places;
}

static void lower_call(struct lower *lower)
{
    const struct ptx_call *source = lower->at->call;
    struct exec_call *call = arena_take(&lower->program->arena, 1, sizeof *call);
    if (call == NULL) {
        lower->failed = true;
        return;
    }
    lower_guard(lower);
    call->argument_count = source->argument_count;
    call->result_count = source->result_count;
    call->arguments = call_places(lower, source->arguments, source->argument_count);
    if (call->arguments == NULL) return;
    call->results = call_places(lower, source->results, source->result_count);
    if (call->results == NULL) return;
    const struct ptx_function *callee = source->function;
    while (callee != NULL && callee->alias_of != NULL) callee = callee->alias_of;
    if (callee != NULL) {
        call->callee = lower->program->functions[callee->index];
        emit_control(lower, "call")->extra = call;
        return;
    }
    const uint32_t a = lower_register(lower, source->reg, 8);
    if (a == EXEC_NO_SLOT) return;
    struct exec_inst *inst = emit_control(lower, "call.indirect");
    inst->a = a;
    inst->extra = call;
}

/* ---- barriers -------------------------------------------------------------------------------- */

static void lower_barrier(struct lower *lower, exec_handler *run, const char *result_key)
{
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *operands = at->operands + (result_key != NULL);
    uint32_t count = at->operand_count - (result_key != NULL);
    uint32_t predicate = 0;
    lower_guard(lower);
    if (result_key != NULL) {
        predicate = lower_source(lower, &operands[count - 1], LOWER_MASK);
        if (predicate == EXEC_NO_SLOT) return;
        count--;
    }
    const uint32_t a = lower_source(lower, &operands[0], 4);
    const uint32_t b = count > 1 ? lower_source(lower, &operands[1], 4) : 0;
    if (a == EXEC_NO_SLOT || b == EXEC_NO_SLOT) return;
    struct exec_inst *inst = lower_emit_plain(lower, run);
    inst->a = a;
    inst->b = b;
    inst->c = predicate;
    inst->imm = count > 1;
    if (operands[0].kind == PTX_OPERAND_IMMEDIATE && !inst->imm)
        inst->e = 1 + (uint32_t)operands[0].bits;
    if (result_key == NULL) return;
    const struct exec_row *row = exec_row_find(result_key);
    if (row == NULL) {
        lower_unsupported(lower, UNSUPPORTED_REDUCTION);
        return;
    }
    inst->inner = row->run;
    const struct ptx_operand *d = &at->operands[0];
    inst->d = d->kind == PTX_OPERAND_SINK ? lower_scratch(lower) : lower->registers[d->reg];
}

static void lower_barrier_reduction(struct lower *lower)
{
    struct ptx_instruction plain = *lower->at;
    char key[48];
    plain.op = PTX_OP_BAR_RED;
    lower_key(&plain, key, sizeof key);
    lower_barrier(lower, exec_barrier_reduce, key);
}

/* ---- warp-wide ------------------------------------------------------------------------------- */

/* d{|p}, value, {b, c,} members. A vote's value is 1 or 0. */
static void lower_together(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *operands = at->operands;
    const bool result = at->op != PTX_OP_BAR_WARP_SYNC;
    const bool vote = at->op == PTX_OP_VOTE_SYNC;
    const bool shuffle = at->op == PTX_OP_SHFL_SYNC;
    const uint32_t last = at->operand_count - 1u;
    char key[64];
    struct ptx_instruction plain = *at;
    if (shuffle) plain.type = PTX_B32;
    if (at->op == PTX_OP_REDUX_SYNC &&
        (at->modifiers.operation == PTX_ATOMIC_ADD && at->type == PTX_S32))
        plain.type = PTX_U32;
    lower_key(&plain, key, sizeof key);
    const struct exec_row *row = exec_row_find(key);
    if (row == NULL) {
        lower_unsupported(lower, UNSUPPORTED_COMBINATION);
        return;
    }
    lower_guard(lower);
    const bool wide = lower_width(at->type) == 8;
    uint32_t value = lower_value(lower, 0, 4);
    if (vote) {
        const uint32_t p = lower_source(lower, &operands[1], LOWER_MASK);
        const uint32_t one = lower_value(lower, 1, 4);
        if (p == EXEC_NO_SLOT) return;
        struct exec_inst *select = lower_row(lower, "selp.b32");
        select->a = one;
        select->b = value;
        select->c = p;
        value = select->d = lower_scratch(lower);
    } else if (result && last >= 2) {
        value = lower_source(lower, &operands[1], wide ? 8 : 4);
    }
    const uint32_t members = lower_source(lower, &operands[last], 4);
    uint32_t b = 0, c = 0;
    if (shuffle) {
        b = lower_source(lower, &operands[2], 4);
        c = lower_source(lower, &operands[3], 4);
    }
    if (value == EXEC_NO_SLOT || members == EXEC_NO_SLOT || b == EXEC_NO_SLOT || c == EXEC_NO_SLOT)
        return;
    uint32_t d = lower_scratch(lower);
    uint32_t e = lower_scratch(lower);
    if (result && operands[0].kind != PTX_OPERAND_SINK && operands[0].reg != PTX_SINK)
        d = lower->registers[operands[0].reg];
    if (operands[0].kind == PTX_OPERAND_PAIR && operands[0].second != PTX_SINK)
        e = lower->registers[operands[0].second];
    struct exec_inst *inst = lower_emit_plain(lower, exec_row_find("sync")->run);
    inst->inner = row->run;
    inst->a = value;
    inst->b = b;
    inst->c = c;
    inst->d = d;
    inst->e = e;
    inst->imm = members;
    inst->cache = wide;
}

/* alloca d, size{, alignment}; stacksave d; stackrestore a. */
static void lower_stack(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *operands = at->operands;
    const bool allocates = at->op == PTX_OP_ALLOCA;
    uint32_t a = 0, d = 0;
    if (at->type != PTX_U64) {
        lower_unsupported(lower, UNSUPPORTED_ADDRESS);
        return;
    }
    if (at->op != PTX_OP_STACKSAVE) a = lower_source(lower, &operands[allocates], 8);
    if (a == EXEC_NO_SLOT) return;
    if (at->op != PTX_OP_STACKRESTORE) d = lower_destination(lower, operands[0].reg, 8, false);
    struct exec_inst *inst = lower_row(lower, allocates                    ? "alloca.u64"
                                              : at->op == PTX_OP_STACKSAVE ? "stacksave.u64"
                                                                           : "stackrestore.u64");
    inst->a = a;
    inst->d = d;
    inst->imm = allocates && at->operand_count > 2 ? operands[2].bits : 8;
    if (inst->imm == 0) inst->imm = 1;
    lower->function->allocates = true;
}

static void lower_plain(struct lower *lower)
{
    emit_control(lower, ptx_opcode_name(lower->at->op));
}

static void lower_group_wait(struct lower *lower)
{
    lower_racecheck_groups(lower);
    lower_plain(lower);
}

static void lower_barrier_sync(struct lower *lower)
{
    lower_barrier(lower, exec_barrier_sync, NULL);
}

static void lower_barrier_arrive(struct lower *lower)
{
    lower_barrier(lower, exec_barrier_arrive, NULL);
}

static void lower_nanosleep(struct lower *lower)
{
    lower_guard(lower);
    const uint32_t a = lower_source(lower, &lower->at->operands[0], 4);
    if (a != EXEC_NO_SLOT) emit_control(lower, "nanosleep.u32")->a = a;
}

static void lower_cluster_arrive(struct lower *lower)
{
    const bool relaxed = lower->at->modifiers.semantics == PTX_SEM_RELAXED;
    emit_control(lower, "barrier.cluster.arrive")->imm = relaxed;
}

static void lower_cluster_wait(struct lower *lower)
{
    emit_control(lower, "barrier.cluster.wait");
}

bool lower_control(struct lower *lower)
{
    static void (*const families[PTX_OPCODE_COUNT])(struct lower * lower) = {
        [PTX_OP_BRA] = lower_branch,
        [PTX_OP_BRX_IDX] = lower_table,
        [PTX_OP_CALL] = lower_call,
        [PTX_OP_RET] = lower_plain,
        [PTX_OP_EXIT] = lower_plain,
        [PTX_OP_TRAP] = lower_plain,
        [PTX_OP_BRKPT] = lower_plain,
        [PTX_OP_BAR_SYNC] = lower_barrier_sync,
        [PTX_OP_BARRIER_SYNC] = lower_barrier_sync,
        [PTX_OP_BAR_ARRIVE] = lower_barrier_arrive,
        [PTX_OP_BARRIER_ARRIVE] = lower_barrier_arrive,
        [PTX_OP_BAR_RED] = lower_barrier_reduction,
        [PTX_OP_BARRIER_RED] = lower_barrier_reduction,
        [PTX_OP_BAR_WARP_SYNC] = lower_together,
        [PTX_OP_SHFL_SYNC] = lower_together,
        [PTX_OP_VOTE_SYNC] = lower_together,
        [PTX_OP_MATCH_ANY] = lower_together,
        [PTX_OP_MATCH_ALL] = lower_together,
        [PTX_OP_ELECT_SYNC] = lower_together,
        [PTX_OP_REDUX_SYNC] = lower_together,
        [PTX_OP_ALLOCA] = lower_stack,
        [PTX_OP_STACKSAVE] = lower_stack,
        [PTX_OP_STACKRESTORE] = lower_stack,
        [PTX_OP_NANOSLEEP] = lower_nanosleep,
        [PTX_OP_WGMMA_WAIT] = lower_group_wait,
        [PTX_OP_CLUSTER_ARRIVE] = lower_cluster_arrive,
        [PTX_OP_CLUSTER_WAIT] = lower_cluster_wait,
    };
    void (*const family)(struct lower * lower) = families[lower->at->op];
    if (family != NULL) family(lower);
    return family != NULL;
}
