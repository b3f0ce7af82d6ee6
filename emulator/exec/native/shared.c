/* The functions that many rows call and that are not inlined, such as those that judge an access:
 * compiled when a program's code first calls them, and kept until the process ends. They are more
 * than half of the machine code of a small kernel. */
#include "emulator/base/array.h"
#include "emulator/exec/native/private.h"

#include <stdint.h>
#include <string.h>

/* Used by one thread at a time: the one that compiles (native.c). */
static struct {
    LLVMContextRef context;
    struct shared {
        char name[NATIVE_NAME];
        uint64_t address; /* 0: not compiled yet */
    } * entries;
    size_t count, room;
    LLVMExecutionEngineRef *engines; /* of what has an address; never disposed of */
    size_t engine_count, engine_room;
} shared;

static struct shared *find(const char *name)
{
    for (size_t k = 0; k < shared.count; k++)
        if (!strcmp(shared.entries[k].name, name)) return &shared.entries[k];
    return NULL;
}

/* Returns the entry of a function that is shared, a new one if need be; NULL: it is not, or memory
 * is lacking (*fine becomes false). */
static struct shared *entry_of(const struct llvm *llvm, LLVMValueRef function, bool *fine)
{
    size_t length = 0;
    const char *name = llvm->GetValueName2(function, &length);
    if (!native_rows_is_shared(name)) return NULL;
    struct shared *entry = find(name);
    if (entry != NULL) return entry;
    if (!array_grow(&shared.entries, shared.count, &shared.room, sizeof *shared.entries)) {
        *fine = false;
        return NULL;
    }
    entry = &shared.entries[shared.count++];
    *entry = (struct shared){.address = 0};
    strcpy(entry->name, name); /* native_rows_is_shared: it is short enough */
    return entry;
}

/* Returns where a function has been compiled; 0: it has not been, or is not shared. */
static uint64_t address_of(const struct llvm *llvm, LLVMValueRef function)
{
    size_t length;
    const struct shared *entry = find(llvm->GetValueName2(function, &length));
    return entry != NULL ? entry->address : 0;
}

/* A shared function becomes a declaration with the attributes of its body. The code generator finds
 * its address by native_shared_map. Returns false when LLVM refuses. */
static bool make_external(const struct llvm *llvm, LLVMModuleRef module)
{
    LLVMValueRef function = llvm->GetFirstFunction(module);
    for (; function != NULL; function = llvm->GetNextFunction(function)) {
        if (address_of(llvm, function) != 0)
            llvm->SetLinkage(function, LLVMAvailableExternallyLinkage);
    }
    return native_pass(llvm, module, "elim-avail-extern");
}

void native_shared_map(const struct llvm *llvm, LLVMModuleRef module, LLVMExecutionEngineRef engine)
{
    LLVMValueRef function = llvm->GetFirstFunction(module);
    for (; function != NULL; function = llvm->GetNextFunction(function)) {
        const uint64_t address = address_of(llvm, function);
        if (address != 0) llvm->AddGlobalMapping(engine, function, (void *)(uintptr_t)address);
    }
}

static bool is_missing(const char *name)
{
    const struct shared *entry = find(name);
    return entry != NULL && entry->address == 0;
}

/* Compiles the entries without an address. */
static bool compile_missing(const struct llvm *llvm)
{
    if (!array_grow(&shared.engines, shared.engine_count, &shared.engine_room,
                    sizeof(LLVMExecutionEngineRef)))
        return false;
    if (shared.context == NULL) shared.context = llvm->ContextCreate();
    LLVMModuleRef module = native_rows_shared(llvm, shared.context, is_missing);
    if (module == NULL) return false;
    const bool fine = native_pass(llvm, module, NATIVE_INLINE) && make_external(llvm, module) &&
                      native_pass(llvm, module, NATIVE_SIMPLIFY) &&
                      native_optimise(llvm, shared.context, module);
    LLVMExecutionEngineRef engine = fine ? native_engine(llvm, module) : NULL;
    if (engine == NULL) {
        llvm->DisposeModule(module);
        return false;
    }
    shared.engines[shared.engine_count++] = engine;
    native_shared_map(llvm, module, engine);
    for (size_t k = 0; k < shared.count; k++)
        if (shared.entries[k].address == 0)
            shared.entries[k].address = llvm->GetFunctionAddress(engine, shared.entries[k].name);
    return true;
}

bool native_shared_take(const struct llvm *llvm, LLVMModuleRef module)
{
    bool fine = true, missing = false;
    LLVMValueRef function = llvm->GetFirstFunction(module);
    for (; function != NULL && fine; function = llvm->GetNextFunction(function)) {
        if (llvm->CountBasicBlocks(function) == 0) continue;
        const struct shared *entry = entry_of(llvm, function, &fine);
        missing |= entry != NULL && entry->address == 0;
    }
    if (!fine || (missing && !compile_missing(llvm))) return false;
    return make_external(llvm, module);
}
