/* Programs: the functions of a module, and their source positions. */
#include "emulator/exec/lower/program.h"

#include "emulator/exec/lower/access.h"
#include "emulator/exec/native/native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- source positions ------------------------------------------------------------------------ */

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
    if (program->files == NULL) return false;
    program->file_count = module->file_count;
    for (uint32_t k = 0; k < module->file_count; k++)
        if (module->files[k] != NULL)
            program->files[k] = arena_text(&program->arena, module->files[k]);
    return true;
}

/* ---- functions ------------------------------------------------------------------------------- */

static enum exec_builtin builtin_named(const char *name)
{
    static const struct {
        const char *name;
        enum exec_builtin builtin;
    } names[] = {{"vprintf", EXEC_BUILTIN_VPRINTF},
                 {"__assertfail", EXEC_BUILTIN_ASSERTFAIL},
                 {"malloc", EXEC_BUILTIN_MALLOC},
                 {"__cuda_syscall_aligned_malloc", EXEC_BUILTIN_ALIGNED_MALLOC},
                 {"free", EXEC_BUILTIN_FREE},
                 {"__cudaCDP2Malloc", EXEC_BUILTIN_CUDA_MALLOC},
                 {"__cudaCDP2Free", EXEC_BUILTIN_FREE}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!strcmp(names[k].name, name)) return names[k].builtin;
    if (!strncmp(name, "__cudaCDP2", sizeof "__cudaCDP2" - 1)) return EXEC_BUILTIN_DEVICE_RUNTIME;
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
    if (program->functions == NULL || program->entries == NULL) return false;
    program->function_count = count;
    for (uint32_t k = 0; k < count; k++) {
        const struct ptx_function *source = module->functions[k];
        struct exec_function *function = arena_take(&program->arena, 1, sizeof *function);
        if (function == NULL) return false;
        program->functions[k] = function;
        function->program = program;
        function->index = k;
        function->entry = source->is_entry;
        function->defined = source->is_defined;
        if (!source->is_defined) function->builtin = builtin_named(source->name);
        function->talks =
            function->builtin != EXEC_BUILTIN_NONE && function->builtin != EXEC_BUILTIN_ASSERTFAIL;
        function->info.launches = function->builtin == EXEC_BUILTIN_DEVICE_RUNTIME;
        function->info.prints = function->builtin == EXEC_BUILTIN_VPRINTF;
        function->info.takes = function->builtin == EXEC_BUILTIN_MALLOC ||
                               function->builtin == EXEC_BUILTIN_ALIGNED_MALLOC ||
                               function->builtin == EXEC_BUILTIN_FREE;
        function->info.name = arena_text(&program->arena, source->name);
        function->info.constant_bytes = (uint32_t)program->constant_bytes;
        if (module->target != NULL) sscanf(module->target, "sm_%u", &function->info.ptx_version);
        const uint32_t *most = source->max_threads;
        const uint64_t product =
            (uint64_t)most[0] * (most[1] ? most[1] : 1) * (most[2] ? most[2] : 1);
        function->info.max_threads = product && product < 1024 ? (uint32_t)product : 1024;
        memcpy(function->info.required_threads, source->required_threads,
               sizeof function->info.required_threads);
        memcpy(function->info.cluster, source->cluster, sizeof function->info.cluster);
        function->info.explicit_cluster = source->explicit_cluster;
        function->info.blocks_are_clusters = source->blocks_are_clusters;
        if (source->is_entry ? !lower_parameters_layout(program, function, source, most_parameters)
                             : !lower_formals_layout(program, function, source))
            return false;
        if (source->is_entry && source->is_defined)
            program->entries[program->entry_count++] = function;
    }
    return true;
}

static bool calls_any(const struct ptx_function *source)
{
    for (uint32_t k = 0; k < source->instruction_count; k++)
        if (source->instructions[k].op == PTX_OP_CALL) return true;
    return false;
}

static bool compile_function(struct exec_program *program, const struct ptx_module *module,
                             uint32_t index)
{
    const struct ptx_function *source = lower_arguments(program, module->functions[index]);
    if (source == NULL) return false;
    struct exec_function *function = program->functions[index];
    const size_t shared_bytes = module->variable_count * sizeof *program->module_shared;
    uint32_t *offsets = calloc(source->variable_count + 1u, sizeof *offsets);
    uint32_t *shared = malloc(shared_bytes + 1);
    if (offsets == NULL || shared == NULL) goto failed;
    memcpy(shared, program->module_shared, shared_bytes);
    if (!lower_body_layout(program, function, source, offsets, shared)) goto failed;
    struct lower lower = {
        .program = program,
        .module = module,
        .source = source,
        .function = function,
        .volatile_is_plain = lower_volatile_is_plain(source),
        .deciding = program->watched && program->converses ? lower_deciding(source) : NULL,
        .offsets = offsets,
        .shared = shared};
    const size_t first = program->cache_count;
    lower_function(&lower);
    free(lower.deciding);
    free(offsets);
    free(shared);
    function->first_cache = calls_any(source) ? 0 : first;
    function->cache_count = program->cache_count - function->first_cache;
    exec_native_watch(program, function);
    return !lower.failed;
failed:
    free(offsets);
    free(shared);
    return false;
}

static bool is_to_compile(const struct ptx_function *source)
{
    return source->is_defined && source->unread == NULL;
}

/* Computes what depends on all functions. Returns false when the program cannot be used. */
static bool settle(struct exec_program *program)
{
    lower_settle_calls(program);
    for (size_t k = 0; k < program->entry_count; k++)
        if (program->entries[k]->code != NULL)
            program->entries[k]->info.local_bytes =
                program->entries[k]->stack_bytes - EXEC_CALL_BYTES;
    return !program->failed && !program->refusal[0] && !program->arena.failed;
}

static void say_why(const struct exec_program *program, char *log, size_t log_size)
{
    snprintf(log, log_size, "%s\n",
             program != NULL && program->refusal[0]
                 ? program->refusal
                 : "the host has no memory to compile the module");
}

static struct exec_program *create(const struct ptx_module *module, bool watched, char *log,
                                   size_t log_size)
{
    struct exec_program *program = calloc(1, sizeof *program);
    if (log_size) log[0] = 0;
    if (program == NULL) goto fail;
    program->watched = watched;
    for (uint32_t k = 0; watched && k < module->function_count; k++)
        program->converses = program->converses || lower_converses(module->functions[k]);
    if (module->address_size != 64) {
        snprintf(log, log_size, "the module's addresses have %u bits; the device's have 64\n",
                 module->address_size);
        exec_program_destroy(program);
        return NULL;
    }
    if (!copy_files(program, module) || !exec_variables_create(program, module) ||
        !declare_functions(program, module) || !lower_shared_layout(program, module))
        goto fail;
    /* Device functions come first: their .shared variables and their cache indices precede those of
     * the entries. */
    for (int entries = 0; entries < 2; entries++) {
        if (entries == 1) lower_shared_settle(program, module);
        for (uint32_t k = 0; k < module->function_count; k++)
            if (is_to_compile(module->functions[k]) &&
                module->functions[k]->is_entry == (entries == 1) &&
                !compile_function(program, module, k))
                goto fail;
    }
    if (!settle(program)) goto fail;
    program->module = module;
    return program;
fail:
    say_why(program, log, log_size);
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

bool exec_program_add(struct exec_program *program, const struct ptx_function *source, char *log,
                      size_t log_size)
{
    struct exec_function *function = program->functions[source->index];
    if (function->code != NULL) return true;
    program->converses = program->converses || (program->watched && lower_converses(source));
    if (compile_function(program, program->module, source->index) && settle(program)) return true;
    say_why(program, log, log_size);
    function->code = NULL;
    program->refusal[0] = '\0'; /* the refusal concerned this entry only; the others stay valid */
    return false;
}

void exec_program_destroy(struct exec_program *program)
{
    if (program == NULL) return;
    exec_grids_forget(program);
    exec_native_end(program);
    free(program->looks);
    free(program->groups);
    free(program->positions);
    arena_free(&program->arena);
    free(program);
}

/* ---- the interface --------------------------------------------------------------------------- */

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

bool exec_function_talks(const struct exec_function *function)
{
    return function->talks;
}
