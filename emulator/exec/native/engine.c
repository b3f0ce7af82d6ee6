/* From a module to machine code: LLVM's passes, the host's processor, and the engine. */
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

LLVMExecutionEngineRef native_engine(const struct llvm *llvm, LLVMModuleRef module)
{
    struct LLVMMCJITCompilerOptions options;
    LLVMExecutionEngineRef engine = NULL;
    char *message = NULL;
    llvm->InitializeMCJITCompilerOptions(&options, sizeof options);
    options.OptLevel = 2;
    if (!llvm->CreateMCJITCompilerForModule(&engine, module, &options, sizeof options, &message))
        return engine;
    llvm->DisposeMessage(message);
    return NULL;
}
