/* Calls whose arguments and results are registers or immediates, and functions whose parameters are
 * registers: they are rewritten, before they are lowered, into calls and functions with .param
 * variables. A function's copy begins with loads of its parameters, stores its results before each
 * `ret`, and has stores before a call and loads behind it.
 *
 * What has no such form (predicates, vectors) stays, and lowering names the call.
 */
#include "emulator/exec/lower/program.h"

#include <string.h>

struct rewriting {
    struct arena *arena;
    const struct ptx_function *source;
    struct ptx_function *to;
    struct ptx_instruction *instructions;
    const struct ptx_variable **variables;
    uint32_t *starts; /* where the source's instructions have come to */
    bool failed;
};

static bool has_form(const struct ptx_variable *formal)
{
    return formal->vector == 1 && !formal->is_array && formal->type != PTX_PRED &&
           formal->size <= 8;
}

static bool is_register(const struct ptx_variable *formal)
{
    return formal->space == PTX_SPACE_REG && has_form(formal);
}

static bool is_value(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_REGISTER || operand->kind == PTX_OPERAND_IMMEDIATE ||
           operand->kind == PTX_OPERAND_SPECIAL;
}

/* Counts the values among operands. Returns false when one of them has no form. */
static bool count_values(const struct ptx_function *source, const struct ptx_operand *operands,
                         uint32_t count, const struct ptx_variable *const *formals,
                         uint32_t formal_count, uint32_t *values)
{
    for (uint32_t k = 0; k < count; k++) {
        if (!is_value(&operands[k])) continue;
        if (k >= formal_count || !has_form(formals[k]) ||
            (operands[k].kind == PTX_OPERAND_REGISTER &&
             source->registers[operands[k].reg].type == PTX_PRED))
            return false;
        ++*values;
    }
    return true;
}

/* Counts what is stored before a call and loaded behind it: both 0 when the call stays as it is. */
static void count_call(const struct ptx_function *source, const struct ptx_call *call,
                       uint32_t counts[2])
{
    const struct ptx_prototype *prototype = call->prototype;
    counts[0] = counts[1] = 0;
    if (prototype == NULL) return;
    if (!count_values(source, call->arguments, call->argument_count, prototype->parameters,
                      prototype->parameter_count, &counts[0]) ||
        !count_values(source, call->results, call->result_count, prototype->returns,
                      prototype->return_count, &counts[1]))
        counts[0] = counts[1] = 0;
}

static uint32_t count_registers(const struct ptx_variable *const *formals, uint32_t count)
{
    uint32_t registers = 0;
    for (uint32_t k = 0; k < count; k++) registers += is_register(formals[k]);
    return registers;
}

static void *take(struct rewriting *rewriting, size_t count, size_t size)
{
    void *taken = arena_take(rewriting->arena, count, size);
    if (taken == NULL) rewriting->failed = true;
    return taken;
}

/* Adds a load of `value` from the variable, or a store, that stands for a part of `like`. */
static void add_move(struct rewriting *rewriting, const struct ptx_instruction *like,
                     const struct ptx_operand *value, const struct ptx_variable *variable,
                     bool loads)
{
    static const uint8_t types[] = {[1] = PTX_B8, [2] = PTX_B16, [4] = PTX_B32, [8] = PTX_B64};
    const enum ptx_type_kind kind = ptx_type_kind(variable->type);
    const bool whole = kind == PTX_KIND_SIGNED || kind == PTX_KIND_UNSIGNED;
    struct ptx_operand *operands = take(rewriting, 2, sizeof *operands);
    if (rewriting->failed) return;
    operands[!loads] = *value;
    operands[loads] = (struct ptx_operand){
        .kind = PTX_OPERAND_ADDRESS, .reg = PTX_NO_REGISTER, .variable = variable};
    rewriting->instructions[rewriting->to->instruction_count++] =
        (struct ptx_instruction){.op = loads ? PTX_OP_LD : PTX_OP_ST,
                                 .type = whole ? (uint8_t)variable->type : types[variable->size],
                                 .operand_count = 2,
                                 .modifiers = {.space = PTX_SPACE_PARAM},
                                 .guard = like != NULL ? like->guard : PTX_NO_REGISTER,
                                 .guard_negated = like != NULL && like->guard_negated,
                                 .line = like != NULL ? like->line : rewriting->source->line,
                                 .location = like != NULL ? like->location : 0,
                                 .operands = operands};
}

/* Replaces the formals that are registers by variables, and adds their loads or stores. */
static void add_formals(struct rewriting *rewriting, const struct ptx_instruction *like,
                        const struct ptx_variable *const *from,
                        const struct ptx_variable *const *formals, uint32_t count, bool loads)
{
    for (uint32_t k = 0; k < count && !rewriting->failed; k++) {
        const struct ptx_operand value = {.kind = PTX_OPERAND_REGISTER, .reg = from[k]->reg};
        if (is_register(from[k])) add_move(rewriting, like, &value, formals[k], loads);
    }
}

static const struct ptx_variable *const *
copy_formals(struct rewriting *rewriting, const struct ptx_variable *const *formals, uint32_t count)
{
    const struct ptx_variable **copies = take(rewriting, count + 1u, sizeof *copies);
    for (uint32_t k = 0; k < count && !rewriting->failed; k++) {
        struct ptx_variable *copy = take(rewriting, 1, sizeof *copy);
        if (rewriting->failed) break;
        *copy = *formals[k];
        if (is_register(formals[k])) copy->space = PTX_SPACE_PARAM;
        copies[k] = is_register(formals[k]) ? copy : formals[k];
    }
    return copies;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Makes variables for the values among a call's operands, visible in instructions `first` to
 * `end`. */
static const struct ptx_operand *make_variables(struct rewriting *rewriting,
                                                const struct ptx_operand *operands, uint32_t count,
                                                const struct ptx_variable *const *formals,
                                                uint32_t first, uint32_t end)
{
    struct ptx_operand *copies = take(rewriting, count + 1u, sizeof *copies);
    for (uint32_t k = 0; k < count && !rewriting->failed; k++) {
        copies[k] = operands[k];
        if (!is_value(&operands[k])) continue;
        struct ptx_variable *variable = take(rewriting, 1, sizeof *variable);
        if (rewriting->failed) break;
        *variable = *formals[k];
        variable->space = PTX_SPACE_PARAM;
        variable->function = rewriting->source;
        variable->index = rewriting->to->variable_count;
        variable->first = first;
        variable->end = end;
        rewriting->variables[rewriting->to->variable_count++] = variable;
        copies[k] = (struct ptx_operand){.kind = PTX_OPERAND_SYMBOL, .variable = variable};
    }
    return copies;
}

static void add_call(struct rewriting *rewriting, const struct ptx_instruction *at)
{
    const struct ptx_prototype *prototype = at->call->prototype;
    uint32_t counts[2];
    struct ptx_call *call = take(rewriting, 1, sizeof *call);
    count_call(rewriting->source, at->call, counts);
    const uint32_t first = rewriting->to->instruction_count;
    const uint32_t end = first + counts[0] + counts[1] + 1;
    if (rewriting->failed) return;
    *call = *at->call;
    if (counts[0] + counts[1]) {
        call->arguments = make_variables(rewriting, at->call->arguments, call->argument_count,
                                         prototype->parameters, first, end);
        call->results = make_variables(rewriting, at->call->results, call->result_count,
                                       prototype->returns, first, end);
    }
    for (uint32_t k = 0; k < call->argument_count && counts[0] && !rewriting->failed; k++)
        if (is_value(&at->call->arguments[k]))
            add_move(rewriting, at, &at->call->arguments[k], call->arguments[k].variable, false);
    struct ptx_instruction *copy = &rewriting->instructions[rewriting->to->instruction_count++];
    *copy = *at;
    copy->call = call;
    for (uint32_t k = 0; k < call->result_count && counts[1] && !rewriting->failed; k++)
        if (is_value(&at->call->results[k]))
            add_move(rewriting, at, &at->call->results[k], call->results[k].variable, true);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Counts the instructions and variables that are added. */
static void count_added(const struct ptx_function *source, uint32_t *instructions,
                        uint32_t *variables)
{
    const struct ptx_prototype *prototype = &source->prototype;
    const uint32_t returns = count_registers(prototype->returns, prototype->return_count);
    *instructions = count_registers(prototype->parameters, prototype->parameter_count);
    *variables = 0;
    for (uint32_t k = 0; k < source->instruction_count; k++) {
        const struct ptx_instruction *at = &source->instructions[k];
        uint32_t counts[2] = {0, 0};
        if (at->op == PTX_OP_CALL && at->call != NULL) count_call(source, at->call, counts);
        *variables += counts[0] + counts[1];
        *instructions += counts[0] + counts[1] + (at->op == PTX_OP_RET ? returns : 0);
    }
}

static void add_instructions(struct rewriting *rewriting)
{
    const struct ptx_function *source = rewriting->source;
    const struct ptx_prototype *from = &source->prototype, *to = &rewriting->to->prototype;
    add_formals(rewriting, NULL, from->parameters, to->parameters, from->parameter_count, true);
    for (uint32_t k = 0; k < source->instruction_count && !rewriting->failed; k++) {
        const struct ptx_instruction *at = &source->instructions[k];
        rewriting->starts[k] = rewriting->to->instruction_count;
        if (at->op == PTX_OP_RET)
            add_formals(rewriting, at, from->returns, to->returns, from->return_count, false);
        if (at->op == PTX_OP_CALL && at->call != NULL)
            add_call(rewriting, at);
        else
            rewriting->instructions[rewriting->to->instruction_count++] = *at;
    }
    rewriting->starts[source->instruction_count] = rewriting->to->instruction_count;
}

static const struct ptx_label *move_labels(struct rewriting *rewriting,
                                           const struct ptx_label *labels, uint32_t count)
{
    struct ptx_label *copies = take(rewriting, count + 1u, sizeof *copies);
    for (uint32_t k = 0; k < count && !rewriting->failed; k++)
        copies[k] = (struct ptx_label){.name = labels[k].name,
                                       .target = rewriting->starts[labels[k].target]};
    return copies;
}

/* Moves what names instructions by their index: labels, branches, tables, scopes of variables. */
static void move_targets(struct rewriting *rewriting)
{
    const struct ptx_function *source = rewriting->source;
    struct ptx_function *to = rewriting->to;
    struct ptx_table *tables = take(rewriting, source->table_count + 1u, sizeof *tables);
    to->labels = move_labels(rewriting, source->labels, source->label_count);
    for (uint32_t k = 0; k < source->table_count && !rewriting->failed; k++) {
        tables[k] = source->tables[k];
        tables[k].labels = move_labels(rewriting, tables[k].labels, tables[k].count);
    }
    to->tables = tables;
    for (uint32_t k = 0; k < to->instruction_count && !rewriting->failed; k++) {
        struct ptx_instruction *at = &rewriting->instructions[k];
        if (at->op != PTX_OP_BRA || at->operand_count == 0) continue;
        struct ptx_operand *operand = take(rewriting, 1, sizeof *operand);
        if (rewriting->failed) return;
        *operand = at->operands[0];
        operand->target = rewriting->starts[operand->target];
        at->operands = operand;
    }
    for (uint32_t k = 0; k < source->variable_count && !rewriting->failed; k++) {
        struct ptx_variable *copy = take(rewriting, 1, sizeof *copy);
        if (rewriting->failed) return;
        *copy = *source->variables[k];
        copy->first = rewriting->starts[copy->first];
        copy->end = rewriting->starts[copy->end];
        rewriting->variables[k] = copy;
    }
}

const struct ptx_function *lower_arguments(struct exec_program *program,
                                           const struct ptx_function *source)
{
    uint32_t instructions, variables;
    count_added(source, &instructions, &variables);
    if (instructions == 0) return source;
    struct rewriting rewriting = {.arena = &program->arena, .source = source};
    struct ptx_function *to = rewriting.to = take(&rewriting, 1, sizeof *to);
    rewriting.instructions =
        take(&rewriting, source->instruction_count + instructions, sizeof *rewriting.instructions);
    rewriting.variables =
        take(&rewriting, source->variable_count + variables + 1u, sizeof *rewriting.variables);
    rewriting.starts = take(&rewriting, source->instruction_count + 1u, sizeof *rewriting.starts);
    if (rewriting.failed) return NULL;
    *to = *source;
    to->instruction_count = 0;
    to->instructions = rewriting.instructions;
    to->variables = rewriting.variables;
    to->prototype.parameters =
        copy_formals(&rewriting, source->prototype.parameters, source->prototype.parameter_count);
    to->prototype.returns =
        copy_formals(&rewriting, source->prototype.returns, source->prototype.return_count);
    if (!rewriting.failed) add_instructions(&rewriting);
    if (!rewriting.failed) move_targets(&rewriting);
    return rewriting.failed ? NULL : to;
}
