/* When a function is hot, and what its machine code lives in. */
#include "emulator/exec/native/native.h"

#include "emulator/exec/native/private.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Warp instructions of a function that make it worth compiling: at least so many, and so many
     * for each of its instructions. They take a third of the time that compiling does, since who
     * has run for long mostly goes on for long. */
    ENOUGH = 16 << 20,
    ENOUGH_EACH = 256 << 10,
    MOST_CODE = 4000, /* instructions that a function may have */
    NAME_ROOM = 32,
};

static struct {
    enum exec_native_use use;
    pthread_mutex_t lock; /* one function is compiled at a time */
} native = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Machine code of one function. */
struct exec_native {
    struct exec_native *next;
    LLVMExecutionEngineRef engine;
    LLVMContextRef context;
    size_t stretches;
};

/* ---- a function ------------------------------------------------------------------------------ */

static void name_region(char name[NAME_ROOM], const struct native_region *region)
{
    snprintf(name, NAME_ROOM, "native_%u", (unsigned)region->first);
}

static bool pass(const struct native_unit *unit, const char *passes)
{
    LLVMPassBuilderOptionsRef options = unit->llvm->CreatePassBuilderOptions();
    LLVMErrorRef error = unit->llvm->RunPasses(unit->module, passes, NULL, options);
    unit->llvm->DisposePassBuilderOptions(options);
    if (error != NULL) unit->llvm->DisposeErrorMessage(unit->llvm->GetErrorMessage(error));
    return error == NULL;
}

/* Code for this very processor, with its widest vectors. What does not fit into registers is on the
 * stack: two lines of the cache for each vector, unless functions align theirs. */
static void attribute(const struct native_unit *unit, LLVMValueRef function)
{
    const struct llvm *llvm = unit->llvm;
    char *cpu = llvm->GetHostCPUName(), *features = llvm->GetHostCPUFeatures();
    const char *const texts[][2] = {{"target-cpu", cpu},
                                    {"target-features", features},
                                    {"prefer-vector-width", "512"},
                                    {"min-legal-vector-width", "512"},
                                    {"stackrealign", ""}};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        llvm->AddAttributeAtIndex(
            function, LLVMAttributeFunctionIndex,
            llvm->CreateStringAttribute(unit->context, texts[k][0], (unsigned)strlen(texts[k][0]),
                                        texts[k][1], (unsigned)strlen(texts[k][1])));
    llvm->DisposeMessage(cpu);
    llvm->DisposeMessage(features);
}

static bool optimise(struct native_unit *unit, const struct native_region *regions, size_t count)
{
    char name[NAME_ROOM];
    if (!pass(unit, "globaldce,always-inline,globaldce,function(sroa,early-cse,instcombine)"))
        return false;
    for (size_t k = 0; k < count; k++) {
        name_region(name, &regions[k]);
        LLVMValueRef function = unit->llvm->GetNamedFunction(unit->module, name);
        native_polish(unit, function);
    }
    LLVMValueRef function = unit->llvm->GetFirstFunction(unit->module);
    for (; function != NULL; function = unit->llvm->GetNextFunction(function))
        if (unit->llvm->CountBasicBlocks(function) > 0) attribute(unit, function);
    return pass(unit, "function(instcombine,simplifycfg,early-cse<memssa>,loop-simplify,lcssa,"
                      "loop-mssa(licm),gvn,dse,instcombine,simplifycfg,adce)");
}

/* The module's machine code; on success the engine owns the module. */
static LLVMExecutionEngineRef make_code(struct native_unit *unit, struct native_region *regions,
                                        size_t count)
{
    const struct llvm *llvm = unit->llvm;
    struct LLVMMCJITCompilerOptions options;
    LLVMExecutionEngineRef engine = NULL;
    char name[NAME_ROOM], *message = NULL;
    llvm->InitializeMCJITCompilerOptions(&options, sizeof options);
    options.OptLevel = 2;
    if (llvm->CreateMCJITCompilerForModule(&engine, unit->module, &options, sizeof options,
                                           &message)) {
        llvm->DisposeMessage(message);
        return NULL;
    }
    unit->module = NULL;
    for (size_t k = 0; k < count; k++) {
        name_region(name, &regions[k]);
        regions[k].address = llvm->GetFunctionAddress(engine, name);
    }
    return engine;
}

static LLVMExecutionEngineRef translate(struct native_unit *unit, struct native_region *regions,
                                        size_t count)
{
    char name[NAME_ROOM];
    unit->module = native_rows_read(unit->llvm, unit->context, unit->function, &unit->rows);
    if (unit->module == NULL) return NULL;
    unit->builder = unit->llvm->CreateBuilderInContext(unit->context);
    bool fine = true;
    for (size_t k = 0; k < count && fine; k++) {
        name_region(name, &regions[k]);
        fine = native_translate(unit, &regions[k], name);
    }
    fine = fine && optimise(unit, regions, count);
    LLVMExecutionEngineRef engine = fine ? make_code(unit, regions, count) : NULL;
    unit->llvm->DisposeBuilder(unit->builder);
    if (unit->module != NULL) unit->llvm->DisposeModule(unit->module);
    native_rows_end(&unit->rows);
    return engine;
}

/* From now on the regions' first instructions run them. Other threads may be running the function:
 * each sees one handler or the other, which do the same. */
static void install(const struct exec_function *function, const struct native_region *regions,
                    size_t count)
{
    for (size_t k = 0; k < count; k++) {
        struct exec_inst *inst = (struct exec_inst *)(uintptr_t)&function->code[regions[k].first];
        exec_handler *run;
        if (regions[k].address == 0) continue;
        memcpy(&run, &regions[k].address, sizeof run);
        __atomic_store_n(&inst->run, run, __ATOMIC_RELEASE);
    }
}

static void compile(const struct exec_function *function, const struct llvm *llvm)
{
    const bool always = function->heat->enough == 0;
    struct native_region *regions = NULL;
    size_t count = 0;
    bool *leads = NULL;
    struct native_unit unit = {.llvm = llvm, .function = function};
    struct exec_native *made = calloc(1, sizeof *made);
    if (made != NULL && native_regions(function, always, &regions, &count, &leads) && count != 0 &&
        native_live_find(function, &unit.live)) {
        unit.leads = leads;
        made->stretches = count;
        made->context = unit.context = llvm->ContextCreate();
        made->engine = translate(&unit, regions, count);
    }
    if (made != NULL && made->engine != NULL) {
        made->next = function->program->native;
        function->program->native = made;
        install(function, regions, count);
    } else {
        if (unit.context != NULL) llvm->ContextDispose(unit.context);
        free(made);
    }
    native_live_end(&unit.live);
    free(regions);
    free(leads);
}

static void hot(const struct exec_function *function)
{
    struct exec_heat *heat = function->heat;
    if (pthread_mutex_trylock(&native.lock)) return; /* another is being made: later */
    if (__atomic_load_n(&heat->enough, __ATOMIC_RELAXED) != UINT64_MAX) {
        const struct llvm *llvm = exec_llvm();
        if (llvm != NULL) compile(function, llvm);
        __atomic_store_n(&heat->enough, UINT64_MAX, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&native.lock);
}

/* ---- the interface --------------------------------------------------------------------------- */

void exec_native_use(enum exec_native_use use)
{
    native.use = use;
}

size_t exec_native_stretches(const struct exec_program *program)
{
    size_t count = 0;
    for (const struct exec_native *at = program->native; at != NULL; at = at->next)
        count += at->stretches;
    return count;
}

void exec_native_watch(struct exec_program *program, struct exec_function *function)
{
    if (native.use == EXEC_NATIVE_OFF || function->code_count > MOST_CODE) return;
    struct exec_heat *heat = arena_take(&program->arena, 1, sizeof *heat);
    if (heat == NULL) return;
    const uint64_t each = (uint64_t)function->code_count * ENOUGH_EACH;
    const uint64_t enough = native.use == EXEC_NATIVE_ALWAYS ? 0 : each > ENOUGH ? each : ENOUGH;
    *heat = (struct exec_heat){.enough = enough, .hot = hot};
    function->heat = heat;
}

void exec_native_end(struct exec_program *program)
{
    while (program->native != NULL) {
        struct exec_native *first = program->native;
        program->native = first->next;
        exec_llvm()->DisposeExecutionEngine(first->engine);
        exec_llvm()->ContextDispose(first->context);
        free(first);
    }
}
