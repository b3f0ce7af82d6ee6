/* What LLVM does not see: that a comparison's 32 results, put together bit by bit, are a vector of
 * bits already. */
#include "emulator/exec/native/private.h"

#include <stdlib.h>
#include <string.h>

/* N bits of which the first has the value `*first`: <1, 2, 4, ...> shifted. */
static bool is_bits(const struct llvm *llvm, LLVMValueRef value, unsigned lanes, unsigned *first)
{
    if (llvm->IsAConstantDataVector(value) == NULL) return false;
    const uint64_t least = llvm->ConstIntGetZExtValue(llvm->GetElementAsConstant(value, 0));
    if (least == 0 || least >> EXEC_LANES) return false;
    *first = (unsigned)__builtin_ctzll(least);
    for (unsigned l = 0; l < lanes; l++)
        if (llvm->ConstIntGetZExtValue(llvm->GetElementAsConstant(value, l)) != UINT64_C(1)
                                                                                    << (*first + l))
            return false;
    return true;
}

/* Of select(condition, bits, 0), of select(condition, 0, bits), or of such put together, the word
 * that the lanes' bits are; NULL: it is something else. */
static LLVMValueRef word_of(struct native_unit *unit, LLVMValueRef value, unsigned lanes)
{
    const struct llvm *llvm = unit->llvm;
    LLVMTypeRef word = llvm->Int32TypeInContext(unit->context);
    unsigned first;
    if (llvm->IsASelectInst(value) != NULL) {
        const bool otherwise = llvm->IsNull(llvm->GetOperand(value, 1));
        if (!is_bits(llvm, llvm->GetOperand(value, otherwise ? 2 : 1), lanes, &first) ||
            !llvm->IsNull(llvm->GetOperand(value, otherwise ? 1 : 2)))
            return NULL;
        LLVMValueRef bits = llvm->BuildBitCast(unit->builder, llvm->GetOperand(value, 0),
                                               llvm->IntTypeInContext(unit->context, lanes), "");
        if (otherwise) bits = llvm->BuildNot(unit->builder, bits, "");
        if (lanes == EXEC_LANES) return bits;
        return llvm->BuildShl(unit->builder, llvm->BuildZExt(unit->builder, bits, word, ""),
                              llvm->ConstInt(word, first, false), "");
    }
    if (llvm->IsAInstruction(value) == NULL || llvm->GetInstructionOpcode(value) != LLVMOr)
        return NULL;
    LLVMValueRef one = word_of(unit, llvm->GetOperand(value, 0), lanes);
    LLVMValueRef other = one == NULL ? NULL : word_of(unit, llvm->GetOperand(value, 1), lanes);
    return other == NULL ? NULL : llvm->BuildOr(unit->builder, one, other, "");
}

/* The lanes of the vector of words whose bits `at` puts together; 0: it does not. */
static unsigned lanes_reduced(const struct llvm *llvm, LLVMValueRef at)
{
    static const char reduce[] = "llvm.vector.reduce.or.v";
    size_t length;
    if (llvm->GetInstructionOpcode(at) != LLVMCall) return 0;
    const char *name = llvm->GetValueName2(llvm->GetCalledValue(at), &length);
    if (strncmp(name, reduce, sizeof reduce - 1) != 0) return 0;
    char *end;
    const unsigned long lanes = strtoul(name + sizeof reduce - 1, &end, 10);
    return !strcmp(end, "i32") && lanes <= EXEC_LANES ? (unsigned)lanes : 0;
}

void native_polish(struct native_unit *unit, LLVMValueRef function)
{
    const struct llvm *llvm = unit->llvm;
    LLVMBasicBlockRef block = llvm->GetFirstBasicBlock(function);
    for (; block != NULL; block = llvm->GetNextBasicBlock(block)) {
        LLVMValueRef next, at = llvm->GetFirstInstruction(block);
        for (; at != NULL; at = next) {
            next = llvm->GetNextInstruction(at);
            const unsigned lanes = lanes_reduced(llvm, at);
            if (lanes == 0) continue;
            llvm->PositionBuilderBefore(unit->builder, at);
            LLVMValueRef word = word_of(unit, llvm->GetOperand(at, 0), lanes);
            if (word == NULL) continue;
            llvm->ReplaceAllUsesWith(at, word);
            llvm->InstructionEraseFromParent(at);
        }
    }
}
