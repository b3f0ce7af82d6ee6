/* Arbitrary bytes as PTX text: what parses is compiled, its variables are placed, and every entry
 * is run with a small launch. Whatever the program does, it stops: at its end, at a fault with a
 * sentence, or at the instruction limit. */
#include "emulator/exec/exec.h"
#include "emulator/memory/memory.h"
#include "emulator/ptx/ptx.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER = 4096, HEAP = 4096, PARAMETERS = 1 << 15, LIMIT = 4000, MOST_ENTRIES = 16 };
enum { MOST_LOCAL = 512 << 10, MOST_SHARED = 48 << 10 };

static const struct memory_region *region_of(enum memory_kind kind, uint64_t size,
                                             uint64_t alignment, bool constant)
{
    return memory_allocate(&(struct memory_request){
        .kind = kind, .size = size, .alignment = alignment, .constant = constant});
}

/* Places variables as the driver does; false when the device lacks the memory. */
static bool place_variables(struct exec_program *program)
{
    for (size_t k = 0; k < exec_variable_count(program); k++) {
        const struct exec_variable *variable = exec_variable_at(program, k);
        const struct memory_region *region =
            region_of(variable->managed ? MEMORY_MANAGED : MEMORY_VARIABLE,
                      variable->size ? variable->size : 1, variable->alignment, variable->constant);
        if (!region) return false;
        exec_variable_place(program, k, region->address);
    }
    for (size_t k = 0; k < exec_variable_count(program); k++)
        exec_variable_initialise(program, k,
                                 memory_find(exec_variable_at(program, k)->address)->bytes);
    return true;
}

static void ignore(void *user, const char *text, size_t length, const size_t *arguments)
{
    (void)user;
    (void)text;
    (void)length;
    (void)arguments;
}

/* Parameters of 8 bytes are pointers to the buffer, others small numbers. */
static void run_entry(const struct exec_function *function, const struct memory_region *buffer,
                      const struct memory_region *heap)
{
    static _Alignas(16) unsigned char parameters[PARAMETERS];
    const struct exec_function_info *info = exec_function_info(function);
    struct exec_counts counts;
    struct exec_fault fault;
    if (info->local_bytes > MOST_LOCAL || info->static_shared > MOST_SHARED)
        return;                                             /* the driver */
    if (info->parameter_bytes > sizeof parameters) abort(); /* more than any launch can carry */
    memset(parameters, 0, sizeof parameters);
    for (size_t k = 0; k < info->parameter_count; k++) {
        const struct exec_parameter *at = &info->parameters[k];
        if (at->size == 8)
            memcpy(parameters + at->offset, &buffer->address, 8);
        else if (at->size > 0)
            parameters[at->offset] = 100;
    }
    const struct exec_launch launch = {.function = function,
                                       .grid = {2, 1, 1},
                                       .block = {40, 1, 1},
                                       .dynamic_shared = 256,
                                       .parameters = parameters,
                                       .workers = 1,
                                       .instruction_limit = LIMIT,
                                       .heap_address = heap->address,
                                       .heap_bytes = heap->size,
                                       .stack_bytes = 1024,
                                       .print = ignore};
    if (exec_run(&launch, &counts, &fault) != EXEC_DONE && !fault.finding.id) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct ptx_diagnostics diagnostics;
    char log[1024];
    if (!memory_start(16 << 20)) abort();
    struct ptx_module *module = ptx_parse((const char *)bytes, size, &diagnostics);
    if (!module) return 0;
    struct exec_program *program = exec_program_create(module, log, sizeof log);
    ptx_module_destroy(module);
    if (!program) {
        if (!log[0]) abort(); /* refused without a word */
        return 0;
    }
    const struct memory_region *buffer = region_of(MEMORY_DEVICE, BUFFER, 0, false);
    const struct memory_region *heap =
        memory_allocate(&(struct memory_request){.size = HEAP, .internal = true});
    if (!buffer || !heap) abort();
    if (place_variables(program))
        for (size_t k = 0; k < exec_function_count(program) && k < MOST_ENTRIES; k++)
            run_entry(exec_function_at(program, k), buffer, heap);
    exec_program_destroy(program);
    while (memory_count() > 0) memory_release(memory_at(0), 0);
    return 0;
}
