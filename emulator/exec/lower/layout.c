/* The layout of memory: parameters, local and shared variables; refuses what no device could
 * hold. */
#include "emulator/exec/lower/program.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { OF_ENTRIES = UINT32_MAX }; /* the place of a variable that no device function names */

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
    if (variable->function != NULL) return lower->offsets[variable->index];
    /* Without a place the address would be wrong unnoticed. */
    assert(lower->shared[variable->index] != OF_ENTRIES);
    return lower->shared[variable->index];
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

/* ---- shared memory ---------------------------------------------------------------------------
 *
 * Variables that device functions name have one place in all kernels, for such a function is
 * lowered once: they come first, and a kernel has as much of them as it can reach. Behind them each
 * kernel has its own, and the variables of the module that only kernels name, of which it takes
 * those that it names: separately compiled kernels (nvcc -rdc=true) have all their variables there.
 */

/* Calls `visit` for each .shared variable, other than dynamic ones, that the operand names. */
static void visit_operand(const struct ptx_operand *operand,
                          void (*visit)(const struct ptx_variable *variable, void *user),
                          void *user)
{
    const struct ptx_variable *variable = operand->variable;
    if (operand->kind == PTX_OPERAND_VECTOR || operand->kind == PTX_OPERAND_IMAGE) {
        for (uint32_t k = 0; k < operand->count; k++)
            visit_operand(&operand->elements[k], visit, user);
        return;
    }
    if ((operand->kind == PTX_OPERAND_ADDRESS || operand->kind == PTX_OPERAND_SYMBOL) &&
        variable != NULL && variable->space == PTX_SPACE_SHARED && !is_dynamic(variable))
        visit(variable, user);
}

static void visit_shared(const struct ptx_function *source,
                         void (*visit)(const struct ptx_variable *variable, void *user), void *user)
{
    for (uint32_t k = 0; k < source->instruction_count; k++)
        for (uint32_t j = 0; j < source->instructions[k].operand_count; j++)
            visit_operand(&source->instructions[k].operands[j], visit, user);
}

static void name_common(const struct ptx_variable *variable, void *user)
{
    bool *common = user;
    if (variable->function == NULL) common[variable->index] = true;
}

bool lower_shared_layout(struct exec_program *program, const struct ptx_module *module)
{
    uint64_t end = 0;
    bool fits = true;
    bool *common = calloc(module->variable_count + 1u, sizeof *common);
    program->module_shared =
        arena_take(&program->arena, module->variable_count, sizeof *program->module_shared);
    if (program->module_shared == NULL || common == NULL) goto failed;
    for (uint32_t k = 0; k < module->function_count; k++)
        if (!module->functions[k]->is_entry)
            visit_shared(module->functions[k], name_common, common);
    for (uint32_t k = 0; k < module->variable_count; k++) {
        const struct ptx_variable *variable = module->variables[k];
        if (is_dynamic(variable)) note_dynamic(program, variable);
        program->module_shared[k] = OF_ENTRIES;
        if (!common[k]) continue;
        end = align_up(end, variable->alignment);
        program->module_shared[k] = (uint32_t)end;
        end += variable->size;
        fits = fits && fits_shared(program, variable->name, end);
    }
    program->module_shared_bytes = (uint32_t)end;
    free(common);
    return fits;
failed:
    free(common);
    return false;
}

struct reached {
    const struct exec_program *program;
    uint32_t end;
};

static void reach(const struct ptx_variable *variable, void *user)
{
    struct reached *reached = user;
    const uint32_t at =
        variable->function == NULL ? reached->program->module_shared[variable->index] : OF_ENTRIES;
    if (at != OF_ENTRIES && at + variable->size > reached->end)
        reached->end = at + (uint32_t)variable->size;
}

/* Returns how many bytes of the common variables the function and its callees can reach, beside its
 * own. */
static uint32_t common_of(const struct exec_program *program, const struct ptx_function *source)
{
    struct reached reached = {.program = program};
    visit_shared(source, reach, &reached);
    for (uint32_t k = 0; k < source->instruction_count; k++) {
        if (source->instructions[k].op != PTX_OP_CALL) continue;
        const struct ptx_function *callee = source->instructions[k].call->function;
        while (callee != NULL && callee->alias_of != NULL) callee = callee->alias_of;
        const uint32_t end = callee == NULL ? program->module_shared_bytes
                                            : program->functions[callee->index]->common_shared;
        if (end > reached.end) reached.end = end;
    }
    return reached.end;
}

void lower_shared_settle(struct exec_program *program, const struct ptx_module *module)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < module->function_count; k++) {
            struct exec_function *function = program->functions[k];
            if (module->functions[k]->is_entry || !function->defined) continue;
            const uint32_t end = common_of(program, module->functions[k]);
            if (end <= function->common_shared) continue;
            function->common_shared = end;
            changed = true;
        }
    }
}

struct placing {
    uint32_t *shared;
    uint64_t end;
};

static void place(const struct ptx_variable *variable, void *user)
{
    struct placing *placing = user;
    if (variable->function != NULL || placing->shared[variable->index] != OF_ENTRIES) return;
    placing->end = align_up(placing->end, variable->alignment);
    placing->shared[variable->index] =
        placing->end < OF_ENTRIES ? (uint32_t)placing->end : OF_ENTRIES - 1;
    placing->end += variable->size;
}

/* Places the module's variables that only kernels name, and this one does. Returns where its own
 * begin. */
static uint64_t place_named(struct exec_program *program, const struct ptx_function *source,
                            uint32_t *shared)
{
    struct placing placing = {shared, common_of(program, source)};
    visit_shared(source, place, &placing);
    return placing.end;
}

/* .local variables, then .param variables of call sequences, which share memory with those whose
 * scopes have ended. What a kernel's shared memory lacks to where dynamic shared memory begins
 * counts as a part of it, as ptxas has it. */
bool lower_body_layout(struct exec_program *program, struct exec_function *function,
                       const struct ptx_function *source, uint32_t *offsets, uint32_t *shared_at)
{
    uint64_t local = function->local_bytes;
    uint64_t shared =
        source->is_entry ? place_named(program, source, shared_at) : program->module_shared_bytes;
    if (!fits_shared(program, source->name, shared)) return false;
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
    } else if (shared > program->module_shared_bytes) {
        program->module_shared_bytes = function->common_shared = (uint32_t)shared;
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
