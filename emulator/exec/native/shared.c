/* The functions that many rows call and that are not inlined, such as those that judge an access:
 * compiled when a program's code first calls them, and kept until the process ends. They are more
 * than half of the machine code of a small kernel. */
#include "emulator/base/array.h"
#include "emulator/exec/native/private.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Used by one thread at a time: the one that compiles (native.c). */
static struct {
    LLVMContextRef context;
    struct shared {
        char name[NATIVE_NAME];
        uint64_t address; /* 0: not compiled yet */
    } * entries;
    size_t count, room;
    struct native_code **codes; /* of what has an address; never disposed of */
    size_t code_count, code_room;
} shared;

static struct shared *find(const char *name)
{
    for (size_t k = 0; k < shared.count; k++)
        if (!strcmp(shared.entries[k].name, name)) return &shared.entries[k];
    return NULL;
}

/* Returns the entry of a function that is shared, a new one if need be; NULL: it is not, or memory
 * is lacking (*fine becomes false). */
static struct shared *entry_of(const char *name, bool *fine)
{
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

/* Adds the names of the module's functions that have been compiled. Returns false when memory is
 * lacking. */
static bool add_compiled(const struct llvm *llvm, LLVMModuleRef module, struct native_names *names)
{
    bool fine = true;
    LLVMValueRef function = llvm->GetFirstFunction(module);
    for (size_t length; function != NULL && fine; function = llvm->GetNextFunction(function))
        if (address_of(llvm, function) != 0)
            fine = native_name_add(names, llvm->GetValueName2(function, &length));
    return fine;
}

/* A shared function becomes a declaration with the attributes of its body; native_shared_find knows
 * its address. Returns false when LLVM refuses. */
static bool make_external(const struct llvm *llvm, LLVMModuleRef module)
{
    LLVMValueRef function = llvm->GetFirstFunction(module);
    for (; function != NULL; function = llvm->GetNextFunction(function)) {
        if (address_of(llvm, function) != 0)
            llvm->SetLinkage(function, LLVMAvailableExternallyLinkage);
    }
    return native_pass(llvm, module, "elim-avail-extern");
}

static bool is_missing(const char *name)
{
    const struct shared *entry = find(name);
    return entry != NULL && entry->address == 0;
}

/* Compiles the module of what is missing. */
static bool compile_module(const struct llvm *llvm, LLVMModuleRef module,
                           struct native_object *object)
{
    if (!native_pass(llvm, module, NATIVE_INLINE) || !make_external(llvm, module) ||
        !native_pass(llvm, module, NATIVE_SIMPLIFY) ||
        !native_optimise(llvm, shared.context, module) ||
        !add_compiled(llvm, module, &object->called))
        return false;
    object->code = native_emit(llvm, module);
    return object->code != NULL;
}

/* The same, unless it is kept. */
static bool make_object(const struct llvm *llvm, LLVMModuleRef module, struct native_object *object)
{
    struct native_names compiled = {.list = NULL};
    struct native_key key;
    if (!native_store_is_used()) return compile_module(llvm, module, object);
    const bool known =
        add_compiled(llvm, module, &compiled) && native_key_of(llvm, module, &compiled, &key);
    free(compiled.list);
    if (known && native_store_find(llvm, &key, object)) return true;
    if (!compile_module(llvm, module, object)) return false;
    if (known) native_store_keep(llvm, &key, object);
    return true;
}

/* Adds the addresses of names that are all compiled; false: one is not. */
static bool add_symbols(const struct native_names *names, struct native_symbols *symbols)
{
    for (size_t k = 0; k < names->count; k++) {
        const struct shared *entry = find(names->list[k]);
        if (entry == NULL || entry->address == 0 ||
            !native_symbol_add(symbols, names->list[k], entry->address))
            return false;
    }
    return true;
}

/* Compiles the entries without an address. */
static bool compile_missing(const struct llvm *llvm)
{
    struct native_object object = {.code = NULL};
    struct native_symbols symbols = {.list = NULL};
    struct native_code *code = NULL;
    if (!array_grow(&shared.codes, shared.code_count, &shared.code_room, sizeof *shared.codes))
        return false;
    if (shared.context == NULL) shared.context = llvm->ContextCreate();
    LLVMModuleRef module = native_rows_shared(llvm, shared.context, is_missing);
    if (module == NULL) return false;
    if (make_object(llvm, module, &object) && add_symbols(&object.called, &symbols))
        code = native_link(llvm->GetBufferStart(object.code), llvm->GetBufferSize(object.code),
                           &symbols);
    if (code != NULL) shared.codes[shared.code_count++] = code;
    for (size_t k = 0; k < shared.count && code != NULL; k++)
        if (shared.entries[k].address == 0)
            shared.entries[k].address = native_address(code, shared.entries[k].name);
    llvm->DisposeModule(module);
    native_symbols_end(&symbols);
    native_object_end(llvm, &object);
    return code != NULL;
}

bool native_shared_take(const struct llvm *llvm, LLVMModuleRef module, struct native_names *called)
{
    bool fine = true, missing = false;
    LLVMValueRef function = llvm->GetFirstFunction(module);
    for (size_t length; function != NULL && fine; function = llvm->GetNextFunction(function)) {
        if (llvm->CountBasicBlocks(function) == 0) continue;
        const struct shared *entry = entry_of(llvm->GetValueName2(function, &length), &fine);
        missing |= entry != NULL && entry->address == 0;
    }
    return fine && (!missing || compile_missing(llvm)) && make_external(llvm, module) &&
           add_compiled(llvm, module, called);
}

bool native_shared_find(const struct llvm *llvm, const struct native_names *names,
                        struct native_symbols *symbols)
{
    bool fine = true, missing = false;
    for (size_t k = 0; k < names->count && fine; k++) {
        const struct shared *entry = entry_of(names->list[k], &fine);
        fine &= entry != NULL;
        missing |= entry != NULL && entry->address == 0;
    }
    return fine && (!missing || compile_missing(llvm)) && add_symbols(names, symbols);
}
