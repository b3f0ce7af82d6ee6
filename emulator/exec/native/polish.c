/* Two patterns that LLVM does not recognise. First, a comparison's 32 results that are combined bit
 * by bit into a word: they are a vector of bits already. Second, a word whose bits are tested lane
 * by lane: the word is such a vector. Where the second follows the first, both vanish. */
#include "emulator/exec/native/private.h"

#include <stdlib.h>
#include <string.h>

/* Returns true for the vector <1, 2, 4, ...> shifted left by `*first`, which is set. */
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

/* Returns the word whose bits are the lanes of select(condition, bits, 0), of select(condition, 0,
 * bits), or of an OR of these; NULL: the value is something else. */
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

/* Returns the lanes of the vector of words that `at` reduces by OR; 0: it is no such reduction. */
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

/* Returns the word that all elements of the vector equal; NULL: the vector is no such splat. */
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

/* Returns a word as a vector of bits, for a comparison that tests bit l of that word in lane l;
 * NULL: the comparison does something else. */
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

/* Returns the word that an OR reduction combines from the lanes' bits; NULL: it does something
 * else. */
static LLVMValueRef word_made(struct native_unit *unit, LLVMValueRef at)
{
    const unsigned lanes = lanes_reduced(unit->llvm, at);
    if (lanes == 0) return NULL;
    unit->llvm->PositionBuilderBefore(unit->builder, at);
    return word_of(unit, unit->llvm->GetOperand(at, 0), lanes);
}

/* Returns true when this processor has mask registers for vectors of bits. Elsewhere LLVM would
 * take a word apart bit by bit. */
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
