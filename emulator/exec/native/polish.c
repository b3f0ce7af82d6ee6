/* What LLVM does not see: that a comparison's 32 results, put together bit by bit, are a vector of
 * bits already. */
#include "emulator/exec/native/private.h"

#include <string.h>

/* Whether it is <1, 2, 4, ... 1 << 31>. */
static bool is_bits(const struct llvm *llvm, LLVMValueRef value)
{
    if (llvm->IsAConstantDataVector(value) == NULL) return false;
    for (unsigned l = 0; l < EXEC_LANES; l++)
        if (llvm->ConstIntGetZExtValue(llvm->GetElementAsConstant(value, l)) != UINT64_C(1) << l)
            return false;
    return true;
}

/* The condition of reduce.or(select(condition, bits, 0)), or NULL. */
static LLVMValueRef condition_of(const struct llvm *llvm, LLVMValueRef at)
{
    static const char reduce[] = "llvm.vector.reduce.or.v32i32";
    size_t length;
    if (llvm->GetInstructionOpcode(at) != LLVMCall) return NULL;
    const char *name = llvm->GetValueName2(llvm->GetCalledValue(at), &length);
    if (length != sizeof reduce - 1 || memcmp(name, reduce, length) != 0) return NULL;
    LLVMValueRef select = llvm->GetOperand(at, 0);
    if (llvm->IsASelectInst(select) == NULL || !is_bits(llvm, llvm->GetOperand(select, 1)) ||
        !llvm->IsNull(llvm->GetOperand(select, 2)))
        return NULL;
    return llvm->GetOperand(select, 0);
}

void native_polish(struct native_unit *unit, LLVMValueRef function)
{
    const struct llvm *llvm = unit->llvm;
    LLVMTypeRef word = llvm->Int32TypeInContext(unit->context);
    LLVMBasicBlockRef block = llvm->GetFirstBasicBlock(function);
    for (; block != NULL; block = llvm->GetNextBasicBlock(block)) {
        LLVMValueRef next, at = llvm->GetFirstInstruction(block);
        for (; at != NULL; at = next) {
            next = llvm->GetNextInstruction(at);
            LLVMValueRef condition = condition_of(llvm, at);
            if (condition == NULL) continue;
            llvm->PositionBuilderBefore(unit->builder, at);
            llvm->ReplaceAllUsesWith(at, llvm->BuildBitCast(unit->builder, condition, word, ""));
            llvm->InstructionEraseFromParent(at);
        }
    }
}
