/* Programs: the functions and variables of a module, where their memory lies, and what is known of
 * each kernel before it runs. */
#include "emulator/exec/lower/lower.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- source positions
 * ---------------------------------------------------------------------------- */

const char *exec_program_file(const struct exec_program *program, uint32_t number)
{
    return number < program->file_count ? program->files[number] : NULL;
}

uint32_t exec_program_position(struct exec_program *program, struct exec_position position)
{
    if (program->position_count) {
        const struct exec_position *last = &program->positions[program->position_count - 1];
        if (last->file == position.file && last->line == position.line)
            return (uint32_t)program->position_count - 1;
    }
    if (!array_grow(&program->positions, program->position_count, &program->position_room,
                    sizeof *program->positions)) {
        program->failed = true;
        return 0;
    }
    program->positions[program->position_count] = position;
    return (uint32_t)program->position_count++;
}

static bool copy_files(struct exec_program *program, const struct ptx_module *module)
{
    program->files = arena_take(&program->arena, module->file_count, sizeof *program->files);
    if (!program->files) return false;
    program->file_count = module->file_count;
    for (uint32_t k = 0; k < module->file_count; k++)
        if (module->files[k]) program->files[k] = arena_text(&program->arena, module->files[k]);
    return true;
}

/* ---- layout of variables
 * -------------------------------------------------------------------------- */

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
    if (!variable->function) return lower->program->module_shared[variable->index];
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

/* Formal parameters and results first in a device function's local memory. */
static bool place_formals(struct exec_program *program, struct exec_function *function,
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
    if (!function->formals || !function->returns) return false;
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

/* .local variables, then .param variables of call sequences, which share their place with those
 * whose scopes are over. .shared variables of an entry in its own area, of other functions in the
 * module's. */
static bool place_body(struct exec_program *program, struct exec_function *function,
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
        if (is_dynamic(variable)) continue;
        *end = align_up(*end, variable->alignment);
        offsets[k] = (uint32_t)*end;
        *end += variable->size;
        if (!fits_local(program, source, local) || !fits_shared(program, source->name, shared))
            return false;
    }
    if (source->is_entry)
        function->info.static_shared = (uint32_t)shared;
    else
        program->module_shared_bytes = (uint32_t)shared;
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

static bool place_parameters(struct exec_program *program, struct exec_function *function,
                             const struct ptx_function *source, uint64_t most)
{
    const struct ptx_prototype *prototype = &source->prototype;
    struct exec_parameter *parameters =
        arena_take(&program->arena, prototype->parameter_count, sizeof *parameters);
    uint64_t end = 0;
    if (!parameters) return false;
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

/* ---- which functions see which shared memory
 * -------------------------------------------------------- */

static bool names_module_shared(const struct ptx_operand *operand)
{
    const struct ptx_variable *variable = operand->variable;
    if (operand->kind == PTX_OPERAND_VECTOR) {
        for (uint32_t k = 0; k < operand->count; k++)
            if (names_module_shared(&operand->elements[k])) return true;
        return false;
    }
    return (operand->kind == PTX_OPERAND_ADDRESS || operand->kind == PTX_OPERAND_SYMBOL) &&
           variable && variable->space == PTX_SPACE_SHARED && !is_dynamic(variable) &&
           (!variable->function || !variable->function->is_entry);
}

static bool sees_module_shared(const struct exec_program *program,
                               const struct ptx_function *source)
{
    for (uint32_t k = 0; k < source->instruction_count; k++) {
        const struct ptx_instruction *inst = &source->instructions[k];
        if (inst->op == PTX_OP_CALL) {
            const struct ptx_function *callee = inst->call->function;
            while (callee && callee->alias_of) callee = callee->alias_of;
            if (!callee || program->functions[callee->index]->uses_module_shared) return true;
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
            function->uses_module_shared = sees_module_shared(program, module->functions[k]);
            changed |= function->uses_module_shared;
        }
    }
}

static bool place_module_shared(struct exec_program *program, const struct ptx_module *module)
{
    uint64_t end = 0;
    program->module_shared =
        arena_take(&program->arena, module->variable_count, sizeof *program->module_shared);
    if (!program->module_shared) return false;
    for (uint32_t k = 0; k < module->variable_count; k++) {
        const struct ptx_variable *variable = module->variables[k];
        if (variable->space != PTX_SPACE_SHARED || is_dynamic(variable)) continue;
        end = align_up(end, variable->alignment);
        program->module_shared[k] = (uint32_t)end;
        end += variable->size;
        if (!fits_shared(program, variable->name, end)) return false;
    }
    program->module_shared_bytes = (uint32_t)end;
    return true;
}

/* ---- what calls imply
 * -------------------------------------------------------------------------------- */

/* A caller's blocks do the atomics of what it calls too. True when that changes the caller. */
static bool commute_together(struct exec_function *caller, exec_handler *commutes)
{
    if (caller->talks || !commutes || commutes == caller->commutes) return false;
    if (!caller->commutes)
        caller->commutes = commutes;
    else
        caller->talks = true;
    return true;
}

/* Direct callees' properties flow up until nothing changes; whoever is still not settled then is
 * part of a cycle. */
static void settle_calls(struct exec_program *program)
{
    exec_handler *direct = exec_row_find("call")->run;
    exec_handler *indirect = exec_row_find("call.indirect")->run;
    bool any_talks = false, any_converses = false, any_fences = false;
    exec_handler *any_commutes = NULL;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = 0; k < program->function_count; k++) {
            struct exec_function *function = program->functions[k];
            bool settled = !function->allocates;
            uint64_t deepest = 0;
            any_talks |= function->talks;
            /* Of several kinds, none stands for all: whoever calls through a pointer talks. */
            any_talks |= any_commutes && function->commutes && any_commutes != function->commutes;
            if (function->commutes) any_commutes = function->commutes;
            any_converses |= function->info.converses;
            any_fences |= function->fences;
            for (size_t j = 0; j < function->code_count; j++) {
                const struct exec_inst *inst = &function->code[j];
                const bool through_pointer = inst->run == indirect;
                if (inst->run != direct && !through_pointer) continue;
                const struct exec_call *call = inst->extra;
                if (through_pointer || call->callee->talks) {
                    const bool talks = through_pointer ? any_talks : true;
                    changed |= talks && !function->talks;
                    function->talks |= talks;
                }
                if ((through_pointer ? any_fences : call->callee->fences) && !function->fences)
                    changed = function->fences = true;
                if (through_pointer ? any_converses : call->callee->info.converses) {
                    changed |= !function->info.converses;
                    function->info.converses = true;
                }
                changed |= commute_together(function, through_pointer ? any_commutes
                                                                      : call->callee->commutes);
                if (through_pointer || (call->callee->defined && !call->callee->settled)) {
                    settled = false;
                    continue;
                }
                if (call->callee->stack_bytes > deepest) deepest = call->callee->stack_bytes;
            }
            if (function->settled || !settled) continue;
            deepest += function->local_bytes;
            if (!exec_program_fits(program, deepest, EXEC_MOST_LOCAL,
                                   "local memory for a thread with what it calls",
                                   function->info.name))
                return;
            function->stack_bytes = (uint32_t)deepest + EXEC_CALL_BYTES;
            function->settled = changed = true;
        }
    }
    for (size_t k = 0; k < program->function_count; k++) {
        struct exec_function *function = program->functions[k];
        if (function->settled) continue;
        function->recursive = true;
        function->stack_bytes = function->local_bytes + EXEC_CALL_BYTES;
    }
}

/* ---- functions
 * ------------------------------------------------------------------------------------- */

static enum exec_builtin builtin_named(const char *name)
{
    static const struct {
        const char *name;
        enum exec_builtin builtin;
    } names[] = {{"vprintf", EXEC_BUILTIN_VPRINTF},
                 {"__assertfail", EXEC_BUILTIN_ASSERTFAIL},
                 {"malloc", EXEC_BUILTIN_MALLOC},
                 {"free", EXEC_BUILTIN_FREE}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!strcmp(names[k].name, name)) return names[k].builtin;
    return EXEC_BUILTIN_NONE;
}

bool exec_provides(const char *name)
{
    return builtin_named(name) != EXEC_BUILTIN_NONE;
}

static bool declare_functions(struct exec_program *program, const struct ptx_module *module)
{
    const size_t count = module->function_count;
    const bool is_late =
        module->version_major > 8 || (module->version_major == 8 && module->version_minor > 0);
    const uint64_t most_parameters =
        is_late ? EXEC_MOST_PARAMETERS : EXEC_MOST_PARAMETERS_BEFORE_8_1;
    program->functions = arena_take(&program->arena, count, sizeof *program->functions);
    program->entries = arena_take(&program->arena, count, sizeof *program->entries);
    if (!program->functions || !program->entries) return false;
    program->function_count = count;
    for (uint32_t k = 0; k < count; k++) {
        const struct ptx_function *source = module->functions[k];
        struct exec_function *function = arena_take(&program->arena, 1, sizeof *function);
        if (!function) return false;
        program->functions[k] = function;
        function->program = program;
        function->index = k;
        function->entry = source->is_entry;
        function->defined = source->is_defined;
        if (!source->is_defined) function->builtin = builtin_named(source->name);
        function->talks =
            function->builtin != EXEC_BUILTIN_NONE && function->builtin != EXEC_BUILTIN_ASSERTFAIL;
        function->info.name = arena_text(&program->arena, source->name);
        function->info.constant_bytes = (uint32_t)program->constant_bytes;
        const uint32_t *most = source->max_threads;
        const uint64_t product =
            (uint64_t)most[0] * (most[1] ? most[1] : 1) * (most[2] ? most[2] : 1);
        function->info.max_threads = product && product < 1024 ? (uint32_t)product : 1024;
        memcpy(function->info.required_threads, source->required_threads,
               sizeof function->info.required_threads);
        memcpy(function->info.cluster, source->cluster, sizeof function->info.cluster);
        if (source->is_entry ? !place_parameters(program, function, source, most_parameters)
                             : !place_formals(program, function, source))
            return false;
        if (source->is_entry && source->is_defined)
            program->entries[program->entry_count++] = function;
    }
    return true;
}

static bool compile_function(struct exec_program *program, const struct ptx_module *module,
                             uint32_t index)
{
    const struct ptx_function *source = module->functions[index];
    struct exec_function *function = program->functions[index];
    uint32_t *offsets = calloc(source->variable_count + 1u, sizeof *offsets);
    if (!offsets) return false;
    if (!place_body(program, function, source, offsets)) {
        free(offsets);
        return false;
    }
    struct lower lower = {.program = program,
                          .module = module,
                          .source = source,
                          .function = function,
                          .offsets = offsets};
    lower_function(&lower);
    free(offsets);
    return !lower.failed;
}

static struct exec_program *create(const struct ptx_module *module, bool watched, char *log,
                                   size_t log_size)
{
    struct exec_program *program = calloc(1, sizeof *program);
    if (log_size) log[0] = 0;
    if (!program) goto fail;
    program->watched = watched;
    if (module->address_size != 64) {
        snprintf(log, log_size, "the module's addresses have %u bits; the device's have 64\n",
                 module->address_size);
        exec_program_destroy(program);
        return NULL;
    }
    if (!copy_files(program, module) || !exec_variables_create(program, module) ||
        !declare_functions(program, module) || !place_module_shared(program, module))
        goto fail;
    find_module_shared(program, module);
    /* Device functions first: their .shared variables come before those of the entries. */
    for (int entries = 0; entries < 2; entries++)
        for (uint32_t k = 0; k < module->function_count; k++)
            if (module->functions[k]->is_defined &&
                module->functions[k]->is_entry == (entries == 1) &&
                !compile_function(program, module, k))
                goto fail;
    settle_calls(program);
    for (size_t k = 0; k < program->entry_count; k++)
        program->entries[k]->info.local_bytes = program->entries[k]->stack_bytes - EXEC_CALL_BYTES;
    if (program->failed || program->refusal[0] || program->arena.failed) goto fail;
    return program;
fail:
    snprintf(log, log_size, "%s\n",
             program && program->refusal[0] ? program->refusal
                                            : "the host has no memory to compile the module");
    exec_program_destroy(program);
    return NULL;
}

struct exec_program *exec_program_create(const struct ptx_module *module, char *log,
                                         size_t log_size)
{
    return create(module, false, log, log_size);
}

struct exec_program *exec_program_create_checked(const struct ptx_module *module, char *log,
                                                 size_t log_size)
{
    return create(module, true, log, log_size);
}

void exec_program_destroy(struct exec_program *program)
{
    if (!program) return;
    free(program->looks);
    free(program->positions);
    arena_free(&program->arena);
    free(program);
}

/* ---- the interface
 * ----------------------------------------------------------------------------------- */

const struct exec_function *exec_function_find(const struct exec_program *program, const char *name)
{
    for (size_t k = 0; k < program->entry_count; k++)
        if (!strcmp(program->entries[k]->info.name, name)) return program->entries[k];
    return NULL;
}

size_t exec_function_count(const struct exec_program *program)
{
    return program->entry_count;
}

const struct exec_function *exec_function_at(const struct exec_program *program, size_t index)
{
    return index < program->entry_count ? program->entries[index] : NULL;
}

const struct exec_function_info *exec_function_info(const struct exec_function *function)
{
    return &function->info;
}
