/* What LLVM does not see: that a comparison's 32 results, put together bit by bit, are a vector of
 * bits already, and that a word whose bits are asked for lane by lane is one. Where one follows the
 * other nothing is left of both. */
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

/* The word that all elements are; NULL: there is none. */
static LLVMValueRef splat_of(const struct llvm *llvm, LLVMValueRef value)
{
    if (llvm->IsAShuffleVectorInst(value) == NULL) return NULL;
    LLVMValueRef from = llvm->GetOperand(value, 0);
    if (llvm->IsAInsertElementInst(from) == NULL || !llvm->IsNull(llvm->GetOperand(from, 2)))
        return NULL;
    for (unsigned k = 0; k < llvm->GetNumMaskElements(value); k++)
        if (llvm->GetMaskValue(value, k) != 0) return NULL;
    return llvm->GetOperand(from, 1);
}

/* Of a comparison that asks each lane's bit of a word: the bits as they are; NULL: it does not. */
static LLVMValueRef bits_asked(struct native_unit *unit, LLVMValueRef at)
{
    const struct llvm *llvm = unit->llvm;
    unsigned first;
    if (llvm->IsAICmpInst(at) == NULL || !llvm->IsNull(llvm->GetOperand(at, 1))) return NULL;
    const LLVMIntPredicate predicate = llvm->GetICmpPredicate(at);
    LLVMValueRef both = llvm->GetOperand(at, 0);
    if ((predicate != LLVMIntEQ && predicate != LLVMIntNE) || llvm->IsAInstruction(both) == NULL ||
        llvm->GetInstructionOpcode(both) != LLVMAnd)
        return NULL;
    LLVMValueRef word = splat_of(llvm, llvm->GetOperand(both, 0));
    LLVMTypeRef type = llvm->Int32TypeInContext(unit->context);
    if (word == NULL || llvm->TypeOf(word) != type ||
        llvm->GetVectorSize(llvm->TypeOf(both)) != EXEC_LANES ||
        !is_bits(llvm, llvm->GetOperand(both, 1), EXEC_LANES, &first))
        return NULL;
    llvm->PositionBuilderBefore(unit->builder, at);
    if (predicate == LLVMIntEQ) word = llvm->BuildNot(unit->builder, word, "");
    return llvm->BuildBitCast(unit->builder, word, llvm->TypeOf(at), "");
}

/* The same for a reduction that puts bits together. */
static LLVMValueRef word_made(struct native_unit *unit, LLVMValueRef at)
{
    const unsigned lanes = lanes_reduced(unit->llvm, at);
    if (lanes == 0) return NULL;
    unit->llvm->PositionBuilderBefore(unit->builder, at);
    return word_of(unit, unit->llvm->GetOperand(at, 0), lanes);
}

/* Whether this processor has registers for vectors of bits: elsewhere LLVM takes a word apart bit
 * by bit. */
static bool has_bits(const struct llvm *llvm)
{
    char *features = llvm->GetHostCPUFeatures();
    const bool has = strstr(features, "+avx512bw") != NULL;
    llvm->DisposeMessage(features);
    return has;
}

void native_polish(struct native_unit *unit, LLVMValueRef function)
{
    const struct llvm *llvm = unit->llvm;
    const bool asks = has_bits(llvm);
    LLVMBasicBlockRef block = llvm->GetFirstBasicBlock(function);
    for (; block != NULL; block = llvm->GetNextBasicBlock(block)) {
        LLVMValueRef next, at = llvm->GetFirstInstruction(block);
        for (; at != NULL; at = next) {
            next = llvm->GetNextInstruction(at);
            LLVMValueRef better = word_made(unit, at);
            if (better == NULL && asks) better = bits_asked(unit, at);
            if (better == NULL) continue;
            llvm->ReplaceAllUsesWith(at, better);
            llvm->InstructionEraseFromParent(at);
        }
    }
}
