/* Module variables: names, sizes, initial contents. */
#include "emulator/exec/lower/program.h"

#include <string.h>

/* Largest initial value of one variable, in bytes; its PTX text would be at least as large. */
#define MOST_INITIAL ((uint64_t)256 << 20)

/* An address inside an initial value; lower/program.h's counterpart of struct ptx_relocation. */
struct exec_relocation {
    uint64_t offset;
    uint32_t bytes, shift;
    int64_t addend;
    int32_t variable; /* index, or -1 */
    int32_t function;
};

struct exec_initial {
    unsigned char *bytes; /* NULL: zeros */
    struct exec_relocation *relocations;
    size_t relocation_count;
};

static bool is_placed(const struct ptx_variable *variable)
{
    return variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST;
}

/* Only variables that need a place in memory have an index in the program. */
static int32_t index_in(const struct ptx_module *module, const struct ptx_variable *variable)
{
    int32_t index = 0;
    for (uint32_t k = 0; k < module->variable_count; k++) {
        if (module->variables[k] == variable) return index;
        index += is_placed(module->variables[k]);
    }
    return -1;
}

int32_t lower_variable_index(const struct lower *lower, const struct ptx_variable *variable)
{
    return index_in(lower->module, variable);
}

static bool copy_initial(struct exec_program *program, const struct ptx_module *module,
                         const struct ptx_variable *source, struct exec_initial *initial)
{
    if (!source->initialised) return true;
    if (!exec_program_fits(program, source->size, MOST_INITIAL, "initialised memory", source->name))
        return true;
    initial->bytes = arena_take(&program->arena, source->size, 1);
    initial->relocations =
        arena_take(&program->arena, source->relocation_count, sizeof *initial->relocations);
    if (initial->bytes == NULL || initial->relocations == NULL) return false;
    ptx_variable_contents(source, initial->bytes);
    initial->relocation_count = source->relocation_count;
    for (uint32_t k = 0; k < source->relocation_count; k++) {
        const struct ptx_relocation *from = &source->relocations[k];
        const struct ptx_function *function = from->function;
        while (function != NULL && function->alias_of != NULL) function = function->alias_of;
        initial->relocations[k] = (struct exec_relocation){
            .offset = from->offset,
            .bytes = from->bytes,
            .shift = from->shift,
            .addend = from->addend,
            .variable = from->variable != NULL ? index_in(module, from->variable) : -1,
            .function = function != NULL ? (int32_t)function->index : -1};
    }
    return true;
}

bool exec_variables_create(struct exec_program *program, const struct ptx_module *module)
{
    const uint32_t most = module->variable_count;
    uint64_t constant = 0;
    program->variables = arena_take(&program->arena, most, sizeof *program->variables);
    program->initials = arena_take(&program->arena, most, sizeof *program->initials);
    if (program->variables == NULL || program->initials == NULL) return false;
    for (uint32_t k = 0; k < most; k++) {
        const struct ptx_variable *source = module->variables[k];
        if (!is_placed(source)) continue;
        const size_t index = program->variable_count++;
        program->variables[index] =
            (struct exec_variable){.name = arena_text(&program->arena, source->name),
                                   .size = source->size,
                                   .alignment = source->alignment ? source->alignment : 1,
                                   .constant = source->space == PTX_SPACE_CONST,
                                   .external = source->linkage == PTX_EXTERN,
                                   .managed = source->managed};
        if (!copy_initial(program, module, source, &program->initials[index])) return false;
        if (source->space != PTX_SPACE_CONST) continue;
        const uint64_t alignment = program->variables[index].alignment;
        constant = (constant + alignment - 1) / alignment * alignment + source->size;
        if (!exec_program_fits(program, constant, EXEC_MOST_CONSTANT, "constant memory, up to",
                               source->name))
            return true;
    }
    program->constant_bytes = constant;
    return true;
}

size_t exec_variable_count(const struct exec_program *program)
{
    return program->variable_count;
}

const struct exec_variable *exec_variable_at(const struct exec_program *program, size_t index)
{
    return index < program->variable_count ? &program->variables[index] : NULL;
}

void exec_variable_place(struct exec_program *program, size_t index, uint64_t address)
{
    if (index < program->variable_count) program->variables[index].address = address;
}

void exec_variable_initialise(const struct exec_program *program, size_t index,
                              unsigned char *bytes)
{
    const struct exec_initial *initial = &program->initials[index];
    const size_t size = program->variables[index].size;
    if (initial->bytes == NULL) {
        memset(bytes, 0, size);
        return;
    }
    memcpy(bytes, initial->bytes, size);
    for (size_t k = 0; k < initial->relocation_count; k++) {
        const struct exec_relocation *relocation = &initial->relocations[k];
        uint64_t value = (uint64_t)relocation->addend;
        if (relocation->variable >= 0)
            value += program->variables[relocation->variable].address;
        else if (relocation->function >= 0)
            value += EXEC_WINDOW_CODE + 16u * (uint32_t)relocation->function;
        value >>= relocation->shift;
        memcpy(bytes + relocation->offset, &value, relocation->bytes);
    }
}
