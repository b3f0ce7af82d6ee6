/* exec_llvm: LLVM's C API, loaded on first use. Private to emulator/exec/native/. */
#ifndef OVERLAP_EXEC_NATIVE_LLVM_H
#define OVERLAP_EXEC_NATIVE_LLVM_H

/* LLVM's headers are C89 with extensions. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#pragma GCC diagnostic pop

/* X(name): function LLVMname, called as llvm->name. */
#define LLVM_FUNCTIONS(X)                                                                          \
    X(AddAttributeAtIndex)                                                                         \
    X(AddCallSiteAttribute)                                                                        \
    X(AddFunction)                                                                                 \
    X(AddGlobal)                                                                                   \
    X(AppendBasicBlockInContext)                                                                   \
    X(ArrayType)                                                                                   \
    X(BuildAdd)                                                                                    \
    X(BuildAlloca)                                                                                 \
    X(BuildAnd)                                                                                    \
    X(BuildBitCast)                                                                                \
    X(BuildBr)                                                                                     \
    X(BuildCall2)                                                                                  \
    X(BuildCondBr)                                                                                 \
    X(BuildExtractElement)                                                                         \
    X(BuildGEP2)                                                                                   \
    X(BuildICmp)                                                                                   \
    X(BuildInsertElement)                                                                          \
    X(BuildLShr)                                                                                   \
    X(BuildLoad2)                                                                                  \
    X(BuildMul)                                                                                    \
    X(BuildNot)                                                                                    \
    X(BuildOr)                                                                                     \
    X(BuildRet)                                                                                    \
    X(BuildSExt)                                                                                   \
    X(BuildSelect)                                                                                 \
    X(BuildShl)                                                                                    \
    X(BuildShuffleVector)                                                                          \
    X(BuildStore)                                                                                  \
    X(BuildSub)                                                                                    \
    X(BuildTrunc)                                                                                  \
    X(BuildXor)                                                                                    \
    X(BuildZExt)                                                                                   \
    X(ConstArray)                                                                                  \
    X(ConstInt)                                                                                    \
    X(ConstIntGetZExtValue)                                                                        \
    X(ConstNull)                                                                                   \
    X(ConstPtrToInt)                                                                               \
    X(ConstVector)                                                                                 \
    X(ContextCreate)                                                                               \
    X(ContextDispose)                                                                              \
    X(CountBasicBlocks)                                                                            \
    X(CreateBuilderInContext)                                                                      \
    X(CreateEnumAttribute)                                                                         \
    X(CreateMemoryBufferWithMemoryRange)                                                           \
    X(CreateMemoryBufferWithMemoryRangeCopy)                                                       \
    X(CreatePassBuilderOptions)                                                                    \
    X(CreateStringAttribute)                                                                       \
    X(CreateTargetMachine)                                                                         \
    X(DeleteGlobal)                                                                                \
    X(DisposeBuilder)                                                                              \
    X(DisposeErrorMessage)                                                                         \
    X(DisposeMemoryBuffer)                                                                         \
    X(DisposeMessage)                                                                              \
    X(DisposeModule)                                                                               \
    X(DisposePassBuilderOptions)                                                                   \
    X(DisposeTargetMachine)                                                                        \
    X(FunctionType)                                                                                \
    X(GetAsString)                                                                                 \
    X(GetBitcodeModuleInContext2)                                                                  \
    X(GetBufferSize)                                                                               \
    X(GetBufferStart)                                                                              \
    X(GetCalledValue)                                                                              \
    X(GetDefaultTargetTriple)                                                                      \
    X(GetElementAsConstant)                                                                        \
    X(GetEnumAttributeKindForName)                                                                 \
    X(GetErrorMessage)                                                                             \
    X(GetFirstBasicBlock)                                                                          \
    X(GetFirstFunction)                                                                            \
    X(GetFirstInstruction)                                                                         \
    X(GetHostCPUFeatures)                                                                          \
    X(GetHostCPUName)                                                                              \
    X(GetICmpPredicate)                                                                            \
    X(GetInitializer)                                                                              \
    X(GetInstructionOpcode)                                                                        \
    X(GetLinkage)                                                                                  \
    X(GetMDKindIDInContext)                                                                        \
    X(GetMaskValue)                                                                                \
    X(GetNamedFunction)                                                                            \
    X(GetNamedGlobal)                                                                              \
    X(GetNextBasicBlock)                                                                           \
    X(GetNextFunction)                                                                             \
    X(GetNextInstruction)                                                                          \
    X(GetNumMaskElements)                                                                          \
    X(GetNumOperands)                                                                              \
    X(GetOperand)                                                                                  \
    X(GetParam)                                                                                    \
    X(GetTargetFromTriple)                                                                         \
    X(GetUndef)                                                                                    \
    X(GetValueName2)                                                                               \
    X(GetVectorSize)                                                                               \
    X(GlobalGetValueType)                                                                          \
    X(InstructionEraseFromParent)                                                                  \
    X(Int32TypeInContext)                                                                          \
    X(Int64TypeInContext)                                                                          \
    X(Int8TypeInContext)                                                                           \
    X(IntTypeInContext)                                                                            \
    X(IsAConstantDataVector)                                                                       \
    X(IsAGlobalVariable)                                                                           \
    X(IsAICmpInst)                                                                                 \
    X(IsAInsertElementInst)                                                                        \
    X(IsAInstruction)                                                                              \
    X(IsASelectInst)                                                                               \
    X(IsAShuffleVectorInst)                                                                        \
    X(IsDeclaration)                                                                               \
    X(IsNull)                                                                                      \
    X(LinkModules2)                                                                                \
    X(MDNodeInContext)                                                                             \
    X(MDStringInContext)                                                                           \
    X(ModuleCreateWithNameInContext)                                                               \
    X(PointerType)                                                                                 \
    X(PositionBuilderAtEnd)                                                                        \
    X(PositionBuilderBefore)                                                                       \
    X(ReplaceAllUsesWith)                                                                          \
    X(RunPasses)                                                                                   \
    X(SetAlignment)                                                                                \
    X(SetGlobalConstant)                                                                           \
    X(SetInitializer)                                                                              \
    X(SetLinkage)                                                                                  \
    X(SetMetadata)                                                                                 \
    X(SetValueName2)                                                                               \
    X(TargetMachineEmitToMemoryBuffer)                                                             \
    X(TypeOf)                                                                                      \
    X(VectorType)                                                                                  \
    X(VoidTypeInContext)                                                                           \
    X(WriteBitcodeToMemoryBuffer)

struct llvm {
#define LLVM_FIELD(name) __typeof__(LLVM##name) *name;
    LLVM_FUNCTIONS(LLVM_FIELD)
#undef LLVM_FIELD
};

/* Returns the library's functions, initialised for this machine; NULL: the library is missing, or
 * lacks a function. */
const struct llvm *exec_llvm(void);

#endif
