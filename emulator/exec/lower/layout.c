/* The layout of memory: parameters, local and shared variables; refuses what no device could
 * hold. */
#include "emulator/exec/lower/program.h"

#include <stdio.h>

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
    return alignment > 1 ? (value + alignment - 1) / alignment * alignment : value;
}

static bool is_dynamic(const struct ptx_variable *variable)
{
    return variable->is_unsized && variable->linkage == PTX_EXTERN;
}

uint32_t lower_shared_offset(const struct lower *lower, const struct ptx_variable *variable,
                             bool *dynamic)
{
    *dynamic = is_dynamic(variable);
    if (*dynamic) return 0;
    if (variable->function == NULL) return lower->program->module_shared[variable->index];
    return lower->offsets[variable->index];
}

uint32_t lower_local_offset(const struct lower *lower, const struct ptx_variable *variable)
{
    const struct ptx_prototype *prototype = &lower->source->prototype;
    for (uint32_t k = 0; k < prototype->parameter_count && !lower->source->is_entry; k++)
        if (prototype->parameters[k] == variable) return lower->function->formals[k].offset;
    for (uint32_t k = 0; k < prototype->return_count; k++)
        if (prototype->returns[k] == variable) return lower->function->returns[k].offset;
    return lower->offsets[variable->index];
}

bool exec_program_fits(struct exec_program *program, uint64_t bytes, uint64_t most,
                       const char *what, const char *name)
{
    if (bytes <= most) return true;
    if (!program->refusal[0])
        snprintf(program->refusal, sizeof program->refusal,
                 "%.80s: %llu bytes of %s; a device has at most %llu", name,
                 (unsigned long long)bytes, what, (unsigned long long)most);
    return false;
}

static bool fits_local(struct exec_program *program, const struct ptx_function *source,
                       uint64_t bytes)
{
    return exec_program_fits(program, bytes, EXEC_MOST_LOCAL, "local memory for a thread",
                             source->name);
}

static bool fits_shared(struct exec_program *program, const char *name, uint64_t bytes)
{
    return exec_program_fits(program, bytes, EXEC_MOST_SHARED,
                             "static shared memory for a block (dynamic may be more)", name);
}

/* Formal parameters and results come first in a device function's local memory. */
bool lower_formals_layout(struct exec_program *program, struct exec_function *function,
                          const struct ptx_function *source)
{
    const struct ptx_prototype *prototype = &source->prototype;
    uint64_t end = 0;
    function->formal_count = prototype->parameter_count;
    function->return_count = prototype->return_count;
    function->formals =
        arena_take(&program->arena, function->formal_count, sizeof *function->formals);
    function->returns =
        arena_take(&program->arena, function->return_count, sizeof *function->returns);
    if (function->formals == NULL || function->returns == NULL) return false;
    for (uint32_t k = 0; k < prototype->parameter_count + prototype->return_count; k++) {
        const bool result = k >= prototype->parameter_count;
        const struct ptx_variable *variable =
            result ? prototype->returns[k - prototype->parameter_count] : prototype->parameters[k];
        end = align_up(end, variable->alignment);
        *(result ? &function->returns[k - prototype->parameter_count] : &function->formals[k]) =
            (struct exec_formal){.offset = (uint32_t)end, .size = (uint32_t)variable->size};
        end += variable->size;
        if (!fits_local(program, source, end)) return false;
    }
    function->local_bytes = (uint32_t)align_up(end, 16);
    return true;
}

/* Dynamic shared memory begins at a multiple of what its variables ask for, at least of 16. */
static void note_dynamic(struct exec_program *program, const struct ptx_variable *variable)
{
    enum { LEAST = 16 };
    const uint32_t wanted = variable->alignment > LEAST ? (uint32_t)variable->alignment : LEAST;
    if (variable->space == PTX_SPACE_SHARED && wanted > program->dynamic_alignment)
        program->dynamic_alignment = wanted;
}

/* .local variables, then .param variables of call sequences, which share memory with those whose
 * scopes have ended. .shared variables of an entry lie in its own area, those of device functions
 * in the module's. What an entry's area lacks to where dynamic shared memory begins counts as a
 * part of it, as ptxas has it. */
bool lower_body_layout(struct exec_program *program, struct exec_function *function,
                       const struct ptx_function *source, uint32_t *offsets)
{
    uint64_t local = function->local_bytes;
    uint64_t shared = source->is_entry && !function->uses_module_shared
                          ? 0
                          : align_up(program->module_shared_bytes, 16);
    for (uint32_t k = 0; k < source->variable_count; k++) {
        const struct ptx_variable *variable = source->variables[k];
        uint64_t *end = variable->space == PTX_SPACE_LOCAL ? &local : &shared;
        if (variable->space != PTX_SPACE_LOCAL && variable->space != PTX_SPACE_SHARED) continue;
        if (is_dynamic(variable)) {
            note_dynamic(program, variable);
            continue;
        }
        *end = align_up(*end, variable->alignment);
        offsets[k] = (uint32_t)*end;
        *end += variable->size;
        if (!fits_local(program, source, local) || !fits_shared(program, source->name, shared))
            return false;
    }
    if (source->is_entry) {
        shared = align_up(shared, program->dynamic_alignment);
        if (!fits_shared(program, source->name, shared)) return false;
        function->info.static_shared = (uint32_t)shared;
    } else {
        program->module_shared_bytes = (uint32_t)shared;
    }
    const uint64_t base = align_up(local, 16);
    for (uint32_t k = 0; k < source->variable_count; k++) {
        const struct ptx_variable *variable = source->variables[k];
        if (variable->space != PTX_SPACE_PARAM) continue;
        uint64_t at = base;
        for (uint32_t j = 0; j < k; j++) {
            const struct ptx_variable *other = source->variables[j];
            if (other->space == PTX_SPACE_PARAM && other->first < variable->end &&
                variable->first < other->end && offsets[j] + other->size > at)
                at = offsets[j] + other->size;
        }
        at = align_up(at, variable->alignment);
        offsets[k] = (uint32_t)at;
        if (at + variable->size > local) local = at + variable->size;
        if (!fits_local(program, source, local)) return false;
    }
    function->local_bytes = (uint32_t)align_up(local, 16);
    return true;
}

bool lower_parameters_layout(struct exec_program *program, struct exec_function *function,
                             const struct ptx_function *source, uint64_t most)
{
    const struct ptx_prototype *prototype = &source->prototype;
    struct exec_parameter *parameters =
        arena_take(&program->arena, prototype->parameter_count, sizeof *parameters);
    uint64_t end = 0;
    if (parameters == NULL) return false;
    for (uint32_t k = 0; k < prototype->parameter_count; k++) {
        end = align_up(end, prototype->parameters[k]->alignment);
        parameters[k] = (struct exec_parameter){.offset = (uint32_t)end,
                                                .size = (uint32_t)prototype->parameters[k]->size};
        end += prototype->parameters[k]->size;
        if (!exec_program_fits(program, end, most, "parameters", source->name)) return false;
    }
    function->info.parameters = parameters;
    function->info.parameter_count = prototype->parameter_count;
    function->info.parameter_bytes = (uint32_t)end;
    return true;
}

/* ---- which functions use shared variables of the module -------------------------------------- */

static bool names_module_shared(const struct ptx_operand *operand)
{
    const struct ptx_variable *variable = operand->variable;
    if (operand->kind == PTX_OPERAND_VECTOR) {
        for (uint32_t k = 0; k < operand->count; k++)
            if (names_module_shared(&operand->elements[k])) return true;
        return false;
    }
    return (operand->kind == PTX_OPERAND_ADDRESS || operand->kind == PTX_OPERAND_SYMBOL) &&
           variable != NULL && variable->space == PTX_SPACE_SHARED && !is_dynamic(variable) &&
           (!variable->function || !variable->function->is_entry);
}

bool lower_sees_module_shared(const struct exec_program *program, const struct ptx_function *source)
{
    for (uint32_t k = 0; k < source->instruction_count; k++) {
        const struct ptx_instruction *inst = &source->instructions[k];
        if (inst->op == PTX_OP_CALL) {
            const struct ptx_function *callee = inst->call->function;
            while (callee != NULL && callee->alias_of != NULL) callee = callee->alias_of;
            if (callee == NULL || program->functions[callee->index]->uses_module_shared)
                return true;
        }
        for (uint32_t j = 0; j < inst->operand_count; j++)
            if (names_module_shared(&inst->operands[j])) return true;
    }
    return false;
}

static void find_module_shared(struct exec_program *program, const struct ptx_module *module)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < module->function_count; k++) {
            struct exec_function *function = program->functions[k];
            if (function->uses_module_shared || !function->defined) continue;
            function->uses_module_shared = lower_sees_module_shared(program, module->functions[k]);
            changed |= function->uses_module_shared;
        }
    }
}

bool lower_shared_layout(struct exec_program *program, const struct ptx_module *module)
{
    uint64_t end = 0;
    program->module_shared =
        arena_take(&program->arena, module->variable_count, sizeof *program->module_shared);
    if (program->module_shared == NULL) return false;
    for (uint32_t k = 0; k < module->variable_count; k++) {
        const struct ptx_variable *variable = module->variables[k];
        if (is_dynamic(variable)) note_dynamic(program, variable);
        if (variable->space != PTX_SPACE_SHARED || is_dynamic(variable)) continue;
        end = align_up(end, variable->alignment);
        program->module_shared[k] = (uint32_t)end;
        end += variable->size;
        if (!fits_shared(program, variable->name, end)) return false;
    }
    program->module_shared_bytes = (uint32_t)end;
    find_module_shared(program, module);
    return true;
}
