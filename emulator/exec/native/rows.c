/* The rows' handlers as bitcode, which the build makes of the same files, and which of them a
 * translator can use. */
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
EMBED(native_rows_convert, NATIVE_ROWS "convert.bc")
EMBED(native_rows_quick, NATIVE_ROWS "quick.bc")

enum { ROOM = 4096 };

static const struct {
    const char *table;
    const char *begin, *end;
    bool quick; /* the handlers are ops/quick.h's */
} files[] = {
    {"exec_int_rows_native", native_rows_int_begin, native_rows_int_end, false},
    {"exec_float_rows_native", native_rows_float_begin, native_rows_float_end, false},
    {"exec_convert_rows_native", native_rows_convert_begin, native_rows_convert_end, false},
    {"exec_quick_rows_native", native_rows_quick_begin, native_rows_quick_end, true}};

static struct native_row *row_of(const struct native_rows *rows, exec_handler *run)
{
    size_t k = (size_t)(hash_spread((uint64_t)(uintptr_t)run) >> 32) % rows->room;
    while (rows->entries[k].run != NULL && rows->entries[k].run != run) k = (k + 1) % rows->room;
    return &rows->entries[k];
}

/* A table's row names the keys and the handler: the same keys name this host's handler. */
static void add_row(const struct llvm *llvm, struct native_rows *rows, LLVMValueRef row, bool quick)
{
    if (llvm->IsNull(row)) return; /* the end */
    LLVMValueRef text = llvm->GetOperand(row, 0);
    char key[128];
    size_t length = 0;
    while (llvm->IsAGlobalVariable(text) == NULL) text = llvm->GetOperand(text, 0);
    const char *keys = llvm->GetAsString(llvm->GetInitializer(text), &length);
    const size_t first = strcspn(keys, " ");
    if (first >= sizeof key) return;
    memcpy(key, keys, first);
    key[first] = '\0';
    const struct exec_row *here = exec_row_find(key);
    if (here == NULL) return;
    struct native_row *entry = row_of(rows, here->run);
    entry->run = here->run;
    *(quick ? &entry->quick : &entry->function) = llvm->GetOperand(row, 1);
}

static void add_table(const struct llvm *llvm, struct native_rows *rows, LLVMModuleRef module,
                      const char *name, bool quick)
{
    LLVMValueRef table = llvm->GetNamedGlobal(module, name);
    if (table == NULL) return;
    LLVMValueRef list = llvm->GetInitializer(table);
    for (int k = 0; k < llvm->GetNumOperands(list); k++)
        add_row(llvm, rows, llvm->GetOperand(list, (unsigned)k), quick);
    llvm->DeleteGlobal(table);
}

LLVMModuleRef native_rows_read(const struct llvm *llvm, LLVMContextRef context,
                               struct native_rows *rows)
{
    LLVMModuleRef all = NULL;
    *rows = (struct native_rows){
        .context = context, .entries = calloc(ROOM, sizeof *rows->entries), .room = ROOM};
    if (rows->entries == NULL) return NULL;
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        LLVMMemoryBufferRef buffer = llvm->CreateMemoryBufferWithMemoryRange(
            files[k].begin, (size_t)(files[k].end - files[k].begin), files[k].table, false);
        LLVMModuleRef module = NULL;
        const bool failed = llvm->ParseBitcodeInContext2(context, buffer, &module);
        llvm->DisposeMemoryBuffer(buffer);
        if (failed || (all != NULL && llvm->LinkModules2(all, module))) {
            if (all != NULL) llvm->DisposeModule(all);
            native_rows_end(rows);
            return NULL;
        }
        if (all == NULL) all = module;
    }
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        add_table(llvm, rows, all, files[k].table, files[k].quick);
    return all;
}

void native_rows_end(struct native_rows *rows)
{
    free(rows->entries);
    rows->entries = NULL;
}

/* Calls that code generators make of intrinsics, lane by lane, or of which a mathematical library's
 * answers are the rows'. */
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

/* One block, short, of vector instructions: then 32 lanes cost little more than one. */
static bool is_inlinable(const struct llvm *llvm, LLVMValueRef function)
{
    enum { MOST = 120 };
    size_t length, count = 0;
    if (llvm->CountBasicBlocks(function) != 1) return false;
    LLVMValueRef at = llvm->GetFirstInstruction(llvm->GetFirstBasicBlock(function));
    for (; at != NULL; at = llvm->GetNextInstruction(at), count++)
        if (llvm->GetInstructionOpcode(at) == LLVMCall &&
            is_slow(llvm->GetValueName2(llvm->GetCalledValue(at), &length)))
            return false;
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

LLVMValueRef native_row_quick(const struct llvm *llvm, const struct native_rows *rows,
                              exec_handler *run)
{
    LLVMValueRef function = row_of(rows, run)->quick;
    if (function != NULL) always_inline(llvm, rows, function);
    return function;
}

LLVMValueRef native_row_function(const struct llvm *llvm, const struct native_rows *rows,
                                 exec_handler *run)
{
    struct native_row *row = row_of(rows, run);
    if (row->function == NULL || row->seen) return row->function;
    row->seen = true;
    if (!is_inlinable(llvm, row->function)) row->function = NULL;
    if (row->function != NULL) always_inline(llvm, rows, row->function);
    return row->function;
}
