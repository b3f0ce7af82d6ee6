/* From a module to an object file: LLVM's passes, and the host's processor. */
#include "emulator/exec/native/private.h"

#include <string.h>

bool native_pass(const struct llvm *llvm, LLVMModuleRef module, const char *passes)
{
    LLVMPassBuilderOptionsRef options = llvm->CreatePassBuilderOptions();
    LLVMErrorRef error = llvm->RunPasses(module, passes, NULL, options);
    llvm->DisposePassBuilderOptions(options);
    if (error != NULL) llvm->DisposeErrorMessage(llvm->GetErrorMessage(error));
    return error == NULL;
}

/* Compiles for the host's processor and its widest vectors. Functions align their stack, since a
 * spilled vector would otherwise straddle two cache lines. */
static void attribute(const struct llvm *llvm, LLVMContextRef context, LLVMValueRef function)
{
    char *cpu = llvm->GetHostCPUName(), *features = llvm->GetHostCPUFeatures();
    const char *const texts[][2] = {{"target-cpu", cpu},
                                    {"target-features", features},
                                    {"prefer-vector-width", "512"},
                                    {"min-legal-vector-width", "512"},
                                    {"stackrealign", ""}};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        llvm->AddAttributeAtIndex(
            function, LLVMAttributeFunctionIndex,
            llvm->CreateStringAttribute(context, texts[k][0], (unsigned)strlen(texts[k][0]),
                                        texts[k][1], (unsigned)strlen(texts[k][1])));
    llvm->DisposeMessage(cpu);
    llvm->DisposeMessage(features);
}

bool native_optimise(const struct llvm *llvm, LLVMContextRef context, LLVMModuleRef module)
{
    LLVMValueRef function = llvm->GetFirstFunction(module);
    for (; function != NULL; function = llvm->GetNextFunction(function))
        if (llvm->CountBasicBlocks(function) > 0) attribute(llvm, context, function);
    return native_pass(
        llvm, module,
        "function(instcombine,simplifycfg,jump-threading,early-cse<memssa>,loop-simplify,lcssa,"
        "loop-mssa(licm),gvn,dse,instcombine,simplifycfg,adce)");
}

/* ---- objects --------------------------------------------------------------------------------- */

LLVMMemoryBufferRef native_emit(const struct llvm *llvm, LLVMModuleRef module)
{
    char *triple = llvm->GetDefaultTargetTriple(), *message = NULL;
    char *cpu = llvm->GetHostCPUName(), *features = llvm->GetHostCPUFeatures();
    LLVMTargetRef target = NULL;
    LLVMTargetMachineRef machine = NULL;
    LLVMMemoryBufferRef object = NULL;
    if (!llvm->GetTargetFromTriple(triple, &target, &message))
        machine = llvm->CreateTargetMachine(target, triple, cpu, features, LLVMCodeGenLevelDefault,
                                            LLVMRelocPIC, LLVMCodeModelSmall);
    if (machine != NULL &&
        llvm->TargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &object))
        object = NULL;
    if (machine != NULL) llvm->DisposeTargetMachine(machine);
    llvm->DisposeMessage(message);
    llvm->DisposeMessage(features);
    llvm->DisposeMessage(cpu);
    llvm->DisposeMessage(triple);
    return object;
}
