/* The rows' handlers as bitcode, which the build makes from the files of ops/, and the choice of
 * those that a translation can use. */
#include "emulator/base/hash.h"
#include "emulator/exec/native/private.h"
#include "emulator/exec/ops/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EMBED(name, file)                                                                          \
    __asm__(".section .rodata\n.balign 16\n" #name "_begin:\n.incbin \"" file "\"\n" #name         \
            "_end:\n.byte 0\n.previous\n");                                                        \
    extern const char name##_begin[], name##_end[];
EMBED(native_rows_int, NATIVE_ROWS "int.bc")
EMBED(native_rows_float, NATIVE_ROWS "float.bc")
EMBED(native_rows_half, NATIVE_ROWS "half_lanes.bc")
EMBED(native_rows_convert, NATIVE_ROWS "convert.bc")
EMBED(native_rows_quick, NATIVE_ROWS "quick.bc")
EMBED(native_rows_int_one, NATIVE_ROWS "int_one_lane.bc")
EMBED(native_rows_float_one, NATIVE_ROWS "float_one_lane.bc")
EMBED(native_rows_half_one, NATIVE_ROWS "half_lanes_one_lane.bc")
EMBED(native_rows_convert_one, NATIVE_ROWS "convert_one_lane.bc")
EMBED(native_rows_lone, NATIVE_ROWS "lone.bc")

enum { ROOM = 4096, NAME_ROOM = 32, TABLES = 2 };

/* What the names of a file's own functions begin with. */
#define SHARED "shared_"

static const struct {
    const char *begin, *end;
    struct {
        const char *name;
        enum native_form form;
    } tables[TABLES];
} files[] = {
    {native_rows_int_begin, native_rows_int_end, {{"exec_int_rows_native", NATIVE_WHOLE}}},
    {native_rows_float_begin, native_rows_float_end, {{"exec_float_rows_native", NATIVE_WHOLE}}},
    {native_rows_half_begin, native_rows_half_end, {{"exec_half_lanes_rows_native", NATIVE_WHOLE}}},
    {native_rows_convert_begin,
     native_rows_convert_end,
     {{"exec_convert_rows_native", NATIVE_WHOLE}}},
    {native_rows_quick_begin,
     native_rows_quick_end,
     {{"exec_quick_rows_native", NATIVE_QUICK}, {"exec_some_rows_native", NATIVE_SOME}}},
    /* The rest is for lone lanes. */
    {native_rows_int_one_begin,
     native_rows_int_one_end,
     {{"exec_int_rows_one_lane", NATIVE_WHOLE_LONE}}},
    {native_rows_float_one_begin,
     native_rows_float_one_end,
     {{"exec_float_rows_one_lane", NATIVE_WHOLE_LONE}}},
    {native_rows_half_one_begin,
     native_rows_half_one_end,
     {{"exec_half_lanes_rows_one_lane", NATIVE_WHOLE_LONE}}},
    {native_rows_convert_one_begin,
     native_rows_convert_one_end,
     {{"exec_convert_rows_one_lane", NATIVE_WHOLE_LONE}}},
    {native_rows_lone_begin, native_rows_lone_end, {{"exec_lone_rows_native", NATIVE_QUICK_LONE}}}};

static struct native_row *row_of(const struct native_rows *rows, exec_handler *run)
{
    size_t k = (size_t)(hash_spread((uint64_t)(uintptr_t)run) >> 32) % rows->room;
    while (rows->entries[k].run != NULL && rows->entries[k].run != run) k = (k + 1) % rows->room;
    return &rows->entries[k];
}

/* Writes the name that a row's function has in the module. */
static void name_row(char name[NAME_ROOM], const struct native_row *row, enum native_form form)
{
    static const char *const forms[NATIVE_FORMS] = {"row", "row_lone", "quick", "some",
                                                    "quick_lone"};
    snprintf(name, NAME_ROOM, "%s_%zu", forms[form], row->order);
}

/* A row of a bitcode table names keys and a handler. The keys lead to this host's handler, and so
 * to an entry of `rows`. If that entry is wanted, the bitcode's function gets the entry's name and
 * external linkage, so that the linker takes it along. */
static void add_row(const struct llvm *llvm, const struct native_rows *rows, LLVMValueRef row,
                    enum native_form form)
{
    if (llvm->IsNull(row)) return; /* the row that ends a table */
    LLVMValueRef text = llvm->GetOperand(row, 0);
    char key[128], name[NAME_ROOM];
    size_t length = 0;
    while (llvm->IsAGlobalVariable(text) == NULL) text = llvm->GetOperand(text, 0);
    const char *keys = llvm->GetAsString(llvm->GetInitializer(text), &length);
    const size_t first = strcspn(keys, " ");
    if (first >= sizeof key) return;
    memcpy(key, keys, first);
    key[first] = '\0';
    const struct exec_row *here = exec_row_find(key);
    if (here == NULL) return;
    const struct native_row *entry = row_of(rows, here->run);
    if (entry->run == NULL) return;
    LLVMValueRef function = llvm->GetOperand(row, 1);
    name_row(name, entry, form);
    llvm->SetValueName2(function, name, strlen(name));
    llvm->SetLinkage(function, LLVMExternalLinkage);
}

static void add_table(const struct llvm *llvm, const struct native_rows *rows, LLVMModuleRef module,
                      const char *name, enum native_form form)
{
    if (name == NULL) return;
    LLVMValueRef table = llvm->GetNamedGlobal(module, name);
    if (table == NULL) return;
    LLVMValueRef list = llvm->GetInitializer(table);
    for (int k = 0; k < llvm->GetNumOperands(list); k++)
        add_row(llvm, rows, llvm->GetOperand(list, (unsigned)k), form);
    llvm->DeleteGlobal(table);
}

static bool is_of_lone(enum native_form form)
{
    return form == NATIVE_WHOLE_LONE || form == NATIVE_QUICK_LONE;
}

/* Names the functions that only a file's own ones call after the file, so that a name says which
 * function it is, whatever is linked with it. */
static void name_own(const struct llvm *llvm, LLVMModuleRef module, size_t k)
{
    LLVMValueRef function = llvm->GetFirstFunction(module);
    for (size_t length; function != NULL; function = llvm->GetNextFunction(function)) {
        char name[NATIVE_NAME];
        if (llvm->IsDeclaration(function) || llvm->GetLinkage(function) != LLVMInternalLinkage)
            continue;
        const int room =
            snprintf(name, sizeof name, SHARED "%zu_%s", k, llvm->GetValueName2(function, &length));
        if (room < NATIVE_NAME) llvm->SetValueName2(function, name, (size_t)room);
    }
}

/* Opens a file. The bitcode is read lazily: reading all bodies takes longer than compiling a small
 * function. NULL: it cannot be read. */
static LLVMModuleRef open_file(const struct llvm *llvm, LLVMContextRef context, size_t k)
{
    LLVMMemoryBufferRef buffer = llvm->CreateMemoryBufferWithMemoryRange(
        files[k].begin, (size_t)(files[k].end - files[k].begin), files[k].tables[0].name, false);
    LLVMModuleRef module = NULL;
    if (llvm->GetBitcodeModuleInContext2(context, buffer, &module)) {
        llvm->DisposeMemoryBuffer(buffer);
        return NULL;
    }
    name_own(llvm, module, k);
    return module;
}

/* Links the wanted functions of a file, and what they call, into `to`. */
static bool add_file(const struct llvm *llvm, const struct native_rows *rows, LLVMModuleRef to,
                     size_t k)
{
    LLVMModuleRef module = open_file(llvm, rows->context, k);
    if (module == NULL) return false;
    for (unsigned t = 0; t < TABLES; t++)
        add_table(llvm, rows, module, files[k].tables[t].name, files[k].tables[t].form);
    return !llvm->LinkModules2(to, module);
}

static LLVMValueRef find_row(const struct llvm *llvm, LLVMModuleRef module,
                             const struct native_row *row, enum native_form form)
{
    char name[NAME_ROOM];
    name_row(name, row, form);
    LLVMValueRef function = llvm->GetNamedFunction(module, name);
    if (function != NULL) llvm->SetLinkage(function, LLVMInternalLinkage);
    return function;
}

LLVMModuleRef native_rows_read(const struct llvm *llvm, LLVMContextRef context,
                               const struct exec_function *function, bool lone,
                               struct native_rows *rows)
{
    LLVMModuleRef module = llvm->ModuleCreateWithNameInContext("rows", context);
    bool fine = true;
    *rows = (struct native_rows){
        .context = context, .entries = calloc(ROOM, sizeof *rows->entries), .room = ROOM};
    if (rows->entries == NULL) goto fail;
    size_t order = 0;
    for (size_t k = 0; k < function->code_count; k++) {
        exec_handler *run = native_row_handler(&function->code[k]);
        struct native_row *row = row_of(rows, run);
        if (row->run != NULL) continue;
        row->run = run;
        row->order = order++;
    }
    for (size_t k = 0; k < sizeof files / sizeof *files && fine; k++)
        if (lone || !is_of_lone(files[k].tables[0].form)) fine = add_file(llvm, rows, module, k);
    if (!fine) goto fail;
    for (struct native_row *row = rows->entries; row < rows->entries + rows->room; row++) {
        if (row->run == NULL) continue;
        for (enum native_form form = 0; form < NATIVE_FORMS; form++)
            row->forms[form] = find_row(llvm, module, row, form);
    }
    return module;
fail:
    llvm->DisposeModule(module);
    native_rows_end(rows);
    return NULL;
}

/* Without its table a file's functions are linked only where they are called. */
static void drop_table(const struct llvm *llvm, LLVMModuleRef module, const char *name)
{
    LLVMValueRef table = name != NULL ? llvm->GetNamedGlobal(module, name) : NULL;
    if (table != NULL) llvm->DeleteGlobal(table);
}

bool native_rows_is_shared(const char *name)
{
    return !strncmp(name, SHARED, sizeof SHARED - 1) && strlen(name) < NATIVE_NAME;
}

LLVMModuleRef native_rows_shared(const struct llvm *llvm, LLVMContextRef context,
                                 bool (*wanted)(const char *name))
{
    LLVMModuleRef module = llvm->ModuleCreateWithNameInContext("shared", context);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        LLVMModuleRef file = open_file(llvm, context, k);
        LLVMValueRef function = file != NULL ? llvm->GetFirstFunction(file) : NULL;
        for (size_t length; function != NULL; function = llvm->GetNextFunction(function))
            if (wanted(llvm->GetValueName2(function, &length)))
                llvm->SetLinkage(function, LLVMExternalLinkage);
        for (unsigned t = 0; file != NULL && t < TABLES; t++)
            drop_table(llvm, file, files[k].tables[t].name);
        if (file == NULL || llvm->LinkModules2(module, file)) {
            llvm->DisposeModule(module);
            return NULL;
        }
    }
    return module;
}

void native_rows_end(struct native_rows *rows)
{
    free(rows->entries);
    rows->entries = NULL;
}

/* Returns true for calls that make inlining useless: functions that are no intrinsics; and
 * intrinsics that a code generator expands lane by lane, or that must give the results of the
 * mathematical library that the rows use. */
static bool is_slow(const char *name)
{
    static const char *const slow[] = {"llvm.sin.",  "llvm.cos.",   "llvm.exp",
                                       "llvm.log",   "llvm.pow",    "llvm.memcpy",
                                       "llvm.umul.", "llvm.memset", "llvm.masked.gather"};
    if (strncmp(name, "llvm.", 5) != 0) return true;
    for (size_t k = 0; k < sizeof slow / sizeof *slow; k++)
        if (!strncmp(name, slow[k], strlen(slow[k]))) return true;
    return false;
}

/* Returns true for a short function and, with `lanes`, only if it is one basic block of vector
 * instructions: then 32 lanes cost little more than one. */
static bool is_inlinable(const struct llvm *llvm, LLVMValueRef function, bool lanes)
{
    enum { MOST = 120 };
    size_t length, count = 0;
    if (lanes && llvm->CountBasicBlocks(function) != 1) return false;
    LLVMBasicBlockRef block = llvm->GetFirstBasicBlock(function);
    for (; block != NULL; block = llvm->GetNextBasicBlock(block)) {
        LLVMValueRef at = llvm->GetFirstInstruction(block);
        for (; at != NULL; at = llvm->GetNextInstruction(at), count++)
            if (llvm->GetInstructionOpcode(at) == LLVMCall &&
                is_slow(llvm->GetValueName2(llvm->GetCalledValue(at), &length)))
                return false;
    }
    return count <= MOST;
}

static void always_inline(const struct llvm *llvm, const struct native_rows *rows,
                          LLVMValueRef function)
{
    static const char name[] = "alwaysinline";
    const unsigned kind = llvm->GetEnumAttributeKindForName(name, sizeof name - 1);
    llvm->AddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                              llvm->CreateEnumAttribute(rows->context, kind, 0));
}

LLVMValueRef native_row_function(const struct llvm *llvm, const struct native_rows *rows,
                                 exec_handler *run, enum native_form form)
{
    struct native_row *row = row_of(rows, run);
    LLVMValueRef *function = &row->forms[form];
    const bool whole = form == NATIVE_WHOLE || form == NATIVE_WHOLE_LONE;
    if (*function == NULL || row->seen[form]) return *function;
    row->seen[form] = true;
    if (whole && !is_inlinable(llvm, *function, form == NATIVE_WHOLE)) *function = NULL;
    if (*function != NULL) always_inline(llvm, rows, *function);
    return *function;
}
