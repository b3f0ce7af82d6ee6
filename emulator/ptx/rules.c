/* Rules that a row of ptx/opcodes.def does not express: modifiers that an opcode requires,
 * modifiers that only some of its types have, and the conversions of cvt. Checked against what
 * ptxas 13.0 accepts. */
#include "emulator/ptx/internal.h"

#include <string.h>

#define T(symbol) (UINT64_C(1) << PTX_##symbol)
#define T_U (T(U16) | T(U32) | T(U64))
#define T_S (T(S16) | T(S32) | T(S64))
#define T_INT (T_U | T_S)
#define T_INT8 (T_INT | T(U8) | T(S8))
#define T_32UP (T(U32) | T(U64) | T(S32) | T(S64))
#define T_F (T(F32) | T(F64))
#define T_HALF (T(F16) | T(F16X2))
#define T_BF (T(BF16) | T(BF16X2))
#define T_FLOAT (T_F | T_HALF | T_BF | T(F32X2))
#define T_BITS (T(B16) | T(B32) | T(B64))
#define T_FTZ (T(F32) | T(F32X2) | T_HALF)
#define T_SAT (T(F32) | T(F32X2) | T_HALF)
#define T_ALL (~UINT64_C(0))

#define F(field) (UINT64_C(1) << PTX_FIELD_##field)

/* ---- forms that PTX has and the parser does not ---------------------------------------------- */

static const struct {
    enum ptx_opcode op;
    const char *word; /* a modifier or a type; NULL: any that the row does not have */
} beyond[] = {
    {PTX_OP_CVT, "e4m3x4"},
    {PTX_OP_CVT, "e5m2x4"},
    {PTX_OP_CVT, "e2m1x4"},
    {PTX_OP_CVT, "e2m3x4"},
    {PTX_OP_CVT, "e3m2x4"},
    {PTX_OP_CREATEPOLICY, "cvt"},
    {PTX_OP_CP_BULK, "cp_mask"},
    {PTX_OP_CP_BULK_TENSOR, "tile::gather4"},
    {PTX_OP_CP_BULK_TENSOR, "tile::scatter4"},
    {PTX_OP_CP_BULK_TENSOR, "im2col"},
    {PTX_OP_CP_BULK_TENSOR, "im2col::w"},
    {PTX_OP_CP_BULK_TENSOR, "im2col::w::128"},
    {PTX_OP_CP_BULK_TENSOR, "im2col_no_offs"},
    {PTX_OP_CP_BULK_TENSOR, "cta_group::1"},
    {PTX_OP_CP_BULK_TENSOR, "cta_group::2"},
    {PTX_OP_CP_REDUCE_BULK_TENSOR, "im2col_no_offs"},
    {PTX_OP_CP_BULK_PREFETCH_TENSOR, "tile::gather4"},
    {PTX_OP_CP_BULK_PREFETCH_TENSOR, "im2col"},
    {PTX_OP_CP_BULK_PREFETCH_TENSOR, "im2col::w"},
    {PTX_OP_CP_BULK_PREFETCH_TENSOR, "im2col::w::128"},
    {PTX_OP_FENCE, "sync_restrict::shared::cta"},
    {PTX_OP_FENCE, "sync_restrict::shared::cluster"},
    {PTX_OP_FENCE_PROXY, "async::generic"},
    {PTX_OP_MMA, NULL},
    {PTX_OP_MMA_SPARSE, NULL},
    {PTX_OP_WGMMA_MMA, NULL},
    {PTX_OP_WMMA_MMA, NULL},
    {PTX_OP_WMMA_BITS, NULL},
    {PTX_OP_WMMA_LOAD_A, NULL},
    {PTX_OP_WMMA_LOAD_B, NULL},
    {PTX_OP_WMMA_LOAD_C, NULL},
    {PTX_OP_WMMA_STORE_D, NULL},
    {PTX_OP_LDMATRIX, NULL},
    {PTX_OP_STMATRIX, NULL},
};

static bool row_has(const struct ptx_parser *p, enum ptx_opcode op, const struct ptx_token *word)
{
    const struct ptx_opcode_row *row = ptx_opcode_row(op);
    const enum ptx_type type = ptx_type_find(p->names, word->text, word->length);
    return (type != PTX_NO_TYPE && ((row->types | row->types2) >> type & 1)) ||
           ptx_modifier_find(p->names, word->text, word->length, row->fields) != PTX_ABSENT;
}

bool ptx_is_beyond(const struct ptx_parser *p, enum ptx_opcode op, const struct ptx_token *word)
{
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++)
        if (beyond[i].op == op &&
            (beyond[i].word != NULL ? ptx_token_is(word, beyond[i].word) : !row_has(p, op, word)))
            return true;
    return false;
}

/* ---- required modifiers ---------------------------------------------------------------------- */

/* Requires one of `fields` when the first type is one of `types`; with `first`, its value must be
 * from `first` to `last`. */
struct need {
    enum ptx_opcode op;
    uint64_t types;
    uint64_t fields;
    enum ptx_modifier first;
    enum ptx_modifier last;
    const char *what;
};

static const struct need needs[] = {
    {PTX_OP_MUL, T_INT, F(width), 0, 0, ".lo, .hi or .wide"},
    {PTX_OP_MAD, T_INT, F(width), 0, 0, ".lo, .hi or .wide"},
    {PTX_OP_MAD, T_F, F(rounding), PTX_ROUND_RN, PTX_ROUND_RP, ".rn, .rz, .rm or .rp"},
    {PTX_OP_MADC, T_ALL, F(width), PTX_WIDTH_LO, PTX_WIDTH_HI, ".lo or .hi"},
    {PTX_OP_MUL24, T_ALL, F(width), PTX_WIDTH_LO, PTX_WIDTH_HI, ".lo or .hi"},
    {PTX_OP_MAD24, T_ALL, F(width), PTX_WIDTH_LO, PTX_WIDTH_HI, ".lo or .hi"},
    {PTX_OP_DP2A, T_ALL, F(width), PTX_WIDTH_LO, PTX_WIDTH_HI, ".lo or .hi"},
    {PTX_OP_SZEXT, T_ALL, F(clamp), 0, 0, ".clamp or .wrap"},
    {PTX_OP_BMSK, T_ALL, F(clamp), 0, 0, ".clamp or .wrap"},
    {PTX_OP_DIV, T_F, F(accuracy) | F(rounding), 0, 0, "a rounding, .approx or .full"},
    {PTX_OP_RCP, T_ALL, F(accuracy) | F(rounding), 0, 0, "a rounding or .approx"},
    {PTX_OP_SQRT, T_ALL, F(accuracy) | F(rounding), 0, 0, "a rounding or .approx"},
    {PTX_OP_RSQRT, T_ALL, F(accuracy), PTX_APPROX, PTX_APPROX, ".approx"},
    {PTX_OP_SIN, T_ALL, F(accuracy), PTX_APPROX, PTX_APPROX, ".approx"},
    {PTX_OP_COS, T_ALL, F(accuracy), PTX_APPROX, PTX_APPROX, ".approx"},
    {PTX_OP_LG2, T_ALL, F(accuracy), PTX_APPROX, PTX_APPROX, ".approx"},
    {PTX_OP_EX2, T_ALL, F(accuracy), PTX_APPROX, PTX_APPROX, ".approx"},
    {PTX_OP_EX2, T_BF, F(ftz), 0, 0, ".ftz"},
    {PTX_OP_TANH, T_ALL, F(accuracy), PTX_APPROX, PTX_APPROX, ".approx"},
    {PTX_OP_FMA, T_ALL, F(rounding), PTX_ROUND_RN, PTX_ROUND_RP, ".rn, .rz, .rm or .rp"},
    {PTX_OP_SET, T_ALL, F(compare), 0, 0, "a comparison such as .lt"},
    {PTX_OP_SETP, T_ALL, F(compare), 0, 0, "a comparison such as .lt"},
    {PTX_OP_TESTP, T_ALL, F(mode), PTX_TESTP_FINITE, PTX_TESTP_SUBNORMAL,
     "a question such as .finite"},
    {PTX_OP_SHF, T_ALL, F(mode), PTX_SHF_LEFT, PTX_SHF_RIGHT, ".l or .r"},
    {PTX_OP_SHF, T_ALL, F(clamp), 0, 0, ".clamp or .wrap"},
    {PTX_OP_SHFL_SYNC, T_ALL, F(mode), PTX_SHFL_UP, PTX_SHFL_IDX, ".up, .down, .bfly or .idx"},
    {PTX_OP_VOTE_SYNC, T(PRED), F(mode), PTX_VOTE_ALL, PTX_VOTE_UNI, ".all, .any or .uni"},
    {PTX_OP_VOTE_SYNC, T(B32), F(mode), PTX_VOTE_BALLOT, PTX_VOTE_BALLOT, ".ballot"},
    {PTX_OP_CVTA, T_ALL, F(space), 0, 0, "a state space"},
    {PTX_OP_ISSPACEP, T_ALL, F(space), 0, 0, "a state space"},
    {PTX_OP_CP_ASYNC, T_ALL, F(source), 0, 0, ".shared.global"},
    {PTX_OP_MEMBAR, T_ALL, F(scope), 0, 0, ".cta, .gl or .sys"},
    {PTX_OP_FENCE, T_ALL, F(semantics), 0, 0, ".sc, .acq_rel, .acquire or .release"},
    {PTX_OP_FENCE, T_ALL, F(scope), 0, 0, "a scope such as .gpu"},
    {PTX_OP_GRIDDEPCONTROL, T_ALL, F(mode), PTX_GRID_LAUNCH, PTX_GRID_WAIT,
     ".launch_dependents or .wait"},
    {PTX_OP_CREATEPOLICY, T_ALL, F(mode), PTX_POLICY_FRACTIONAL, PTX_POLICY_RANGE,
     ".fractional or .range"},
    {PTX_OP_TEX, T_ALL, F(geometry), 0, 0, "a geometry such as .2d"},
    {PTX_OP_TEX, T(F16X2), F(vector), PTX_V2, PTX_V2, ".v2"},
    {PTX_OP_TEX, T(U32) | T(S32) | T(F32) | T(F16), F(vector), PTX_V4, PTX_V4, ".v4"},
    {PTX_OP_TLD4, T_ALL, F(gather), 0, 0, "a component such as .r"},
    {PTX_OP_TLD4, T_ALL, F(geometry), 0, 0, "a geometry such as .2d"},
    {PTX_OP_TLD4, T_ALL, F(vector), PTX_V4, PTX_V4, ".v4"},
    {PTX_OP_TXQ, T_ALL, F(query), 0, 0, "a question such as .width"},
    {PTX_OP_SULD, T_ALL, F(form), PTX_FORM_BYTES, PTX_FORM_BYTES, ".b"},
    {PTX_OP_SULD, T_ALL, F(geometry), 0, 0, "a geometry such as .2d"},
    {PTX_OP_SULD, T_ALL, F(boundary), 0, 0, ".trap, .clamp or .zero"},
    {PTX_OP_SUST, T_ALL, F(form), 0, 0, ".b or .p"},
    {PTX_OP_SUST, T_ALL, F(geometry), 0, 0, "a geometry such as .2d"},
    {PTX_OP_SUST, T_ALL, F(boundary), 0, 0, ".trap, .clamp or .zero"},
    {PTX_OP_SUQ, T_ALL, F(query), 0, 0, "a question such as .width"},
    {PTX_OP_BAR_RED, T_ALL, F(operation), 0, 0, ".and, .or or .popc"},
    {PTX_OP_BARRIER_RED, T_ALL, F(operation), 0, 0, ".and, .or or .popc"},
    {PTX_OP_ATOM, T_ALL, F(operation), PTX_ATOMIC_ADD, PTX_ATOMIC_CAS, "an operation such as .add"},
    {PTX_OP_ATOM, T_HALF | T_BF, F(noftz), 0, 0, ".noftz"},
    {PTX_OP_RED, T_ALL, F(operation), PTX_ATOMIC_ADD, PTX_ATOMIC_DEC, "an operation such as .add"},
    {PTX_OP_RED, T_HALF | T_BF, F(noftz), 0, 0, ".noftz"},
    {PTX_OP_REDUX_SYNC, T_ALL, F(operation), PTX_ATOMIC_ADD, PTX_ATOMIC_XOR,
     "an operation such as .add"},
    {PTX_OP_WMMA_LOAD_A, T_ALL, F(tile), 0, 0, "a shape such as .m16n16k16"},
    {PTX_OP_WMMA_LOAD_B, T_ALL, F(tile), 0, 0, "a shape such as .m16n16k16"},
    {PTX_OP_WMMA_LOAD_C, T_ALL, F(tile), 0, 0, "a shape such as .m16n16k16"},
    {PTX_OP_WMMA_STORE_D, T_ALL, F(tile), 0, 0, "a shape such as .m16n16k16"},
    {PTX_OP_WMMA_LOAD_A, T_ALL, F(layout), 0, 0, ".row or .col"},
    {PTX_OP_WMMA_LOAD_B, T_ALL, F(layout), 0, 0, ".row or .col"},
    {PTX_OP_WMMA_LOAD_C, T_ALL, F(layout), 0, 0, ".row or .col"},
    {PTX_OP_WMMA_STORE_D, T_ALL, F(layout), 0, 0, ".row or .col"},
    {PTX_OP_WMMA_MMA, T_ALL, F(tile), 0, 0, "a shape such as .m16n16k16"},
    {PTX_OP_WMMA_MMA, T_ALL, F(layout2), 0, 0, "two layouts such as .row.col"},
    {PTX_OP_WMMA_BITS, T_ALL, F(tile), 0, 0, "a shape such as .m8n8k128"},
    {PTX_OP_WMMA_BITS, T_ALL, F(layout2), 0, 0, "two layouts such as .row.col"},
    {PTX_OP_WMMA_BITS, T_ALL, F(addend), 0, 0, "four types"},
    {PTX_OP_WMMA_BITS, T_ALL, F(boolean), PTX_BOOL_AND, PTX_BOOL_XOR, ".xor or .and"},
    {PTX_OP_WMMA_BITS, T_ALL, F(counted), 0, 0, ".popc"},
    {PTX_OP_MMA, T_ALL, F(tile), 0, 0, "a shape such as .m16n8k16"},
    {PTX_OP_MMA, T_ALL, F(layout2), 0, 0, "two layouts such as .row.col"},
    {PTX_OP_MMA, T_ALL, F(addend), 0, 0, "four types"},
    {PTX_OP_MMA_SPARSE, T_ALL, F(tile), 0, 0, "a shape such as .m16n8k32"},
    {PTX_OP_MMA_SPARSE, T_ALL, F(layout2), 0, 0, "two layouts such as .row.col"},
    {PTX_OP_MMA_SPARSE, T_ALL, F(addend), 0, 0, "four types"},
    {PTX_OP_WGMMA_MMA, T_ALL, F(tile), 0, 0, "a shape such as .m64n8k16"},
    {PTX_OP_WGMMA_MMA, T_ALL, F(factor), 0, 0, "three types"},
    {PTX_OP_LDMATRIX, T_ALL, F(tile), 0, 0, "a shape such as .m8n8"},
    {PTX_OP_LDMATRIX, T_ALL, F(matrices), 0, 0, ".x1, .x2 or .x4"},
    {PTX_OP_STMATRIX, T_ALL, F(tile), 0, 0, "a shape such as .m8n8"},
    {PTX_OP_STMATRIX, T_ALL, F(matrices), 0, 0, ".x1, .x2 or .x4"},
    {PTX_OP_CP_BULK_TENSOR, T_ALL, F(dimensions), 0, 0, "dimensions, .1d to .5d"},
    {PTX_OP_CP_BULK_TENSOR, T_ALL, F(source), 0, 0, "two state spaces"},
    {PTX_OP_CP_REDUCE_BULK_TENSOR, T_ALL, F(dimensions), 0, 0, "dimensions, .1d to .5d"},
    {PTX_OP_CP_REDUCE_BULK_TENSOR, T_ALL, F(source), PTX_SOURCE_SHARED_CTA, PTX_SOURCE_SHARED_CTA,
     ".global.shared::cta"},
    {PTX_OP_CP_REDUCE_BULK_TENSOR, T_ALL, F(completion), PTX_BULK_GROUP, PTX_BULK_GROUP,
     ".bulk_group"},
    {PTX_OP_CP_REDUCE_BULK_TENSOR, T_ALL, F(operation), PTX_ATOMIC_ADD, PTX_ATOMIC_DEC,
     "an operation such as .add"},
    {PTX_OP_CP_BULK_PREFETCH_TENSOR, T_ALL, F(dimensions), 0, 0, "dimensions, .1d to .5d"},
    {PTX_OP_TENSORMAP_REPLACE, T_ALL, F(load), 0, 0, ".tile"},
    {PTX_OP_TENSORMAP_REPLACE, T_ALL, F(part), 0, 0, "a field such as .global_address"},
    {PTX_OP_TENSORMAP_REPLACE, T_ALL, F(object), 0, 0, ".b1024"},
    {PTX_OP_TENSORMAP_COPY, T_ALL, F(source), PTX_SOURCE_SHARED_CTA, PTX_SOURCE_SHARED_CTA,
     ".global.shared::cta"},
    {PTX_OP_TENSORMAP_COPY, T_ALL, F(proxy), PTX_PROXY_TENSORMAP, PTX_PROXY_TENSORMAP,
     ".tensormap::generic"},
    {PTX_OP_MOVMATRIX, T_ALL, F(tile), PTX_TILE_M8N8, PTX_TILE_M8N8, ".m8n8"},
    {PTX_OP_MOVMATRIX, T_ALL, F(trans), 0, 0, ".trans"},
};

/* ---- modifiers that only some types have ----------------------------------------------------- */

/* Allows the values first to last of a field (`first` PTX_ABSENT: any value) only with one of
 * `types` as the first type. */
struct limit {
    enum ptx_opcode op;
    enum ptx_field field;
    enum ptx_modifier first;
    enum ptx_modifier last;
    uint64_t types;
};

#define ANY_VALUE PTX_ABSENT, PTX_ABSENT
#define ATOMIC(op)                                                                                 \
    {op, PTX_FIELD_operation, PTX_ATOMIC_ADD, PTX_ATOMIC_ADD,                                      \
     T(U32) | T(S32) | T(U64) | T_F | T_HALF | T_BF},                                              \
        {op, PTX_FIELD_operation, PTX_ATOMIC_MIN, PTX_ATOMIC_MAX, T_32UP | T_HALF | T_BF},         \
        {op, PTX_FIELD_operation, PTX_ATOMIC_AND, PTX_ATOMIC_XOR, T(B32) | T(B64)},                \
        {op, PTX_FIELD_operation, PTX_ATOMIC_INC, PTX_ATOMIC_DEC, T(U32)},                         \
        {op, PTX_FIELD_operation, PTX_ATOMIC_EXCH, PTX_ATOMIC_EXCH, T(B32) | T(B64) | T(B128)},    \
        {op, PTX_FIELD_operation, PTX_ATOMIC_CAS, PTX_ATOMIC_CAS,                                  \
         T(B16) | T(B32) | T(B64) | T(B128)},                                                      \
    {                                                                                              \
        op, PTX_FIELD_noftz, ANY_VALUE, T_HALF | T_BF                                              \
    }
#define SUM(op)                                                                                    \
    {op, PTX_FIELD_cc, ANY_VALUE, T_32UP}, {op, PTX_FIELD_sat, ANY_VALUE, T(S32) | T_SAT},         \
        {op, PTX_FIELD_ftz, ANY_VALUE, T_FTZ}, {op, PTX_FIELD_rounding, ANY_VALUE, T_FLOAT},       \
    {                                                                                              \
        op, PTX_FIELD_rounding, PTX_ROUND_RZ, PTX_ROUND_RPI, T_F | T(F32X2)                        \
    }
#define EXTREME(op)                                                                                \
    {op, PTX_FIELD_ftz, ANY_VALUE, T_FTZ}, {op, PTX_FIELD_relu, ANY_VALUE, T(S32) | T(S16X2)},     \
        {op, PTX_FIELD_nan, ANY_VALUE, T(F32) | T_HALF | T_BF},                                    \
        {op, PTX_FIELD_xorsign, ANY_VALUE, T(F32) | T_HALF | T_BF},                                \
    {                                                                                              \
        op, PTX_FIELD_absolute, ANY_VALUE, T(F32) | T_HALF | T_BF                                  \
    }

static const struct limit limits[] = {
    SUM(PTX_OP_ADD),
    SUM(PTX_OP_SUB),
    {PTX_OP_MUL, PTX_FIELD_width, ANY_VALUE, T_INT},
    {PTX_OP_MUL, PTX_FIELD_width, PTX_WIDTH_WIDE, PTX_WIDTH_WIDE,
     T(U16) | T(S16) | T(U32) | T(S32)},
    {PTX_OP_MUL, PTX_FIELD_sat, ANY_VALUE, T_SAT},
    {PTX_OP_MUL, PTX_FIELD_ftz, ANY_VALUE, T_FTZ},
    {PTX_OP_MUL, PTX_FIELD_rounding, ANY_VALUE, T_FLOAT},
    {PTX_OP_MUL, PTX_FIELD_rounding, PTX_ROUND_RZ, PTX_ROUND_RPI, T_F | T(F32X2)},
    {PTX_OP_MAD, PTX_FIELD_width, ANY_VALUE, T_INT},
    {PTX_OP_MAD, PTX_FIELD_width, PTX_WIDTH_WIDE, PTX_WIDTH_WIDE,
     T(U16) | T(S16) | T(U32) | T(S32)},
    {PTX_OP_MAD, PTX_FIELD_cc, ANY_VALUE, T_32UP},
    {PTX_OP_MAD, PTX_FIELD_sat, ANY_VALUE, T(S32) | T(F32)},
    {PTX_OP_MAD, PTX_FIELD_ftz, ANY_VALUE, T(F32)},
    {PTX_OP_MAD, PTX_FIELD_rounding, ANY_VALUE, T_F},
    {PTX_OP_MAD24, PTX_FIELD_sat, ANY_VALUE, T(S32)},
    {PTX_OP_DIV, PTX_FIELD_accuracy, ANY_VALUE, T(F32)},
    {PTX_OP_DIV, PTX_FIELD_rounding, ANY_VALUE, T_F},
    {PTX_OP_DIV, PTX_FIELD_ftz, ANY_VALUE, T(F32)},
    {PTX_OP_SQRT, PTX_FIELD_accuracy, ANY_VALUE, T(F32)},
    {PTX_OP_SQRT, PTX_FIELD_ftz, ANY_VALUE, T(F32)},
    {PTX_OP_ABS, PTX_FIELD_ftz, ANY_VALUE, T_FTZ},
    {PTX_OP_NEG, PTX_FIELD_ftz, ANY_VALUE, T_FTZ},
    {PTX_OP_EX2, PTX_FIELD_ftz, ANY_VALUE, T(F32) | T_BF},
    EXTREME(PTX_OP_MIN),
    EXTREME(PTX_OP_MAX),
    {PTX_OP_FMA, PTX_FIELD_sat, ANY_VALUE, T_SAT},
    {PTX_OP_FMA, PTX_FIELD_ftz, ANY_VALUE, T_FTZ},
    {PTX_OP_FMA, PTX_FIELD_relu, ANY_VALUE, T_HALF | T_BF},
    {PTX_OP_FMA, PTX_FIELD_oob, ANY_VALUE, T_HALF | T_BF},
    {PTX_OP_FMA, PTX_FIELD_rounding, PTX_ROUND_RZ, PTX_ROUND_RPI, T_F | T(F32X2)},
    {PTX_OP_SETP, PTX_FIELD_ftz, ANY_VALUE, T_FTZ},
    {PTX_OP_SETP, PTX_FIELD_compare, PTX_CMP_LT, PTX_CMP_GE, T_INT | T_FLOAT},
    {PTX_OP_SETP, PTX_FIELD_compare, PTX_CMP_LO, PTX_CMP_HS, T_U},
    {PTX_OP_SETP, PTX_FIELD_compare, PTX_CMP_EQU, PTX_CMP_NAN, T_FLOAT},
    ATOMIC(PTX_OP_ATOM),
    ATOMIC(PTX_OP_RED),
    {PTX_OP_BAR_RED, PTX_FIELD_operation, PTX_ATOMIC_AND, PTX_ATOMIC_OR, T(PRED)},
    {PTX_OP_BAR_RED, PTX_FIELD_operation, PTX_ATOMIC_POPC, PTX_ATOMIC_POPC, T(U32)},
    {PTX_OP_BARRIER_RED, PTX_FIELD_operation, PTX_ATOMIC_AND, PTX_ATOMIC_OR, T(PRED)},
    {PTX_OP_BARRIER_RED, PTX_FIELD_operation, PTX_ATOMIC_POPC, PTX_ATOMIC_POPC, T(U32)},
    {PTX_OP_MBARRIER_ARRIVE, PTX_FIELD_arrival, PTX_ARRIVE_NOINC, PTX_WAIT_PARITY, 0},
    {PTX_OP_MBARRIER_DROP, PTX_FIELD_arrival, PTX_ARRIVE_NOINC, PTX_WAIT_PARITY, 0},
    {PTX_OP_MBARRIER_TEST, PTX_FIELD_arrival, PTX_ARRIVE_EXPECT_TX, PTX_ARRIVE_NOINC, 0},
    {PTX_OP_MBARRIER_TRY, PTX_FIELD_arrival, PTX_ARRIVE_EXPECT_TX, PTX_ARRIVE_NOINC, 0},
    {PTX_OP_CP_ASYNC_MBARRIER, PTX_FIELD_arrival, PTX_ARRIVE_EXPECT_TX, PTX_ARRIVE_NO_COMPLETE, 0},
    {PTX_OP_CP_ASYNC_MBARRIER, PTX_FIELD_arrival, PTX_WAIT_PARITY, PTX_WAIT_PARITY, 0},
    {PTX_OP_CVT_PACK, PTX_FIELD_third, PTX_THIRD_U32, PTX_THIRD_S32, 0},
    {PTX_OP_REDUX_SYNC, PTX_FIELD_operation, PTX_ATOMIC_ADD, PTX_ATOMIC_ADD, T(U32) | T(S32)},
    {PTX_OP_REDUX_SYNC, PTX_FIELD_operation, PTX_ATOMIC_MIN, PTX_ATOMIC_MAX,
     T(U32) | T(S32) | T(F32)},
    {PTX_OP_REDUX_SYNC, PTX_FIELD_operation, PTX_ATOMIC_AND, PTX_ATOMIC_XOR, T(B32)},
};

/* The same for the second type, the type that is compared. */
static const struct limit second_limits[] = {
    {PTX_OP_SET, PTX_FIELD_ftz, ANY_VALUE, T_FTZ},
    {PTX_OP_SET, PTX_FIELD_compare, PTX_CMP_LT, PTX_CMP_GE, T_INT | T_FLOAT},
    {PTX_OP_SET, PTX_FIELD_compare, PTX_CMP_LO, PTX_CMP_HS, T_U},
    {PTX_OP_SET, PTX_FIELD_compare, PTX_CMP_EQU, PTX_CMP_NAN, T_FLOAT},
    {PTX_OP_SLCT, PTX_FIELD_ftz, ANY_VALUE, T(F32)},
};

/* ---- conversions ----------------------------------------------------------------------------- */

enum conversion_rounding { NO_ROUNDING, TO_INTEGER, MAY_INTEGER, TO_FLOAT, MAY_FLOAT };

/* cvt follows the first row that contains both types. */
struct conversion {
    uint64_t to;
    uint64_t from;
    enum conversion_rounding rounding;
    uint32_t sources; /* source registers */
};

static const struct conversion conversions[] = {
    {T_INT8, T_INT8, NO_ROUNDING, 1},
    {T_INT8, T(F16) | T_F, TO_INTEGER, 1},
    {T_INT8, T(BF16), TO_INTEGER, 1},
    {T(F16) | T_F, T_INT8, TO_FLOAT, 1},
    {T(BF16), T_INT8, TO_FLOAT, 1},
    {T(F16), T(F16), MAY_INTEGER, 1},
    {T(BF16), T(BF16), MAY_INTEGER, 1},
    {T(F32), T(F32), MAY_INTEGER, 1},
    {T(F64), T(F64), MAY_INTEGER, 1},
    {T(F16) | T(BF16), T_F, TO_FLOAT, 1},
    {T(F16), T(BF16), MAY_FLOAT, 1},
    {T(BF16), T(F16), MAY_FLOAT, 1},
    {T(F32), T(F64), TO_FLOAT, 1},
    {T_F, T(BF16), MAY_FLOAT, 1},
    {T_F, T(F16) | T(F32), NO_ROUNDING, 1},
    {T(TF32), T(F32), TO_FLOAT, 1},
    {T(F16X2) | T(BF16X2) | T(E4M3X2) | T(E5M2X2) | T(E2M1X2) | T(E2M3X2) | T(E3M2X2) | T(UE8M0X2),
     T(F32), TO_FLOAT, 2},
    {T(E4M3X2) | T(E5M2X2) | T(UE8M0X2), T(F16X2) | T(BF16X2), TO_FLOAT, 1},
    {T(F16X2) | T(BF16X2), T(E4M3X2) | T(E5M2X2) | T(E2M1X2) | T(E2M3X2) | T(E3M2X2) | T(UE8M0X2),
     TO_FLOAT, 1},
};

/* The types that set compares, and the types of the result. */
static const struct {
    uint64_t to;
    uint64_t from;
} comparisons[] = {
    {T(U16) | T(S16), T(F16) | T(BF16)},
    {T(U32) | T(S32), T_INT | T_BITS | T_FLOAT},
    {T(F16), T_INT | T_BITS | T(F16) | T_F},
    {T(BF16), T_INT | T_BITS | T(F16) | T(BF16) | T_F},
    {T(F32), T_INT | T_BITS | T_F},
    {T(F16X2), T(F16X2)},
    {T(BF16X2), T(BF16X2)},
};

static bool in_set(uint64_t set, uint8_t type)
{
    return type != PTX_NO_TYPE && (set >> type & 1);
}

static bool rounds_to_integer(uint16_t rounding)
{
    return rounding >= PTX_ROUND_RNI && rounding <= PTX_ROUND_RPI;
}

static void check_conversion(struct ptx_parser *p, const struct ptx_instruction *instruction,
                             const struct ptx_token *at)
{
    const char *to = ptx_type_name((enum ptx_type)instruction->type);
    const char *from = ptx_type_name((enum ptx_type)instruction->type2);
    const struct conversion *row = conversions;
    const struct conversion *end = row + sizeof conversions / sizeof conversions[0];
    while (row < end &&
           !(in_set(row->to, instruction->type) && in_set(row->from, instruction->type2)))
        row++;
    if (row == end) {
        ptx_complain(p, at->line, at->column, "cvt does not convert .%s to .%s.", from, to);
        return;
    }
    uint16_t rounding = instruction->modifiers.rounding;
    bool integral = rounds_to_integer(rounding), directed = rounding && !integral;
    const char *needed = NULL;
    if (row->rounding == NO_ROUNDING && rounding) needed = "no rounding";
    if (row->rounding == TO_INTEGER && !integral) needed = ".rni, .rzi, .rmi or .rpi";
    if (row->rounding == MAY_INTEGER && directed) needed = ".rni, .rzi, .rmi, .rpi or none";
    if (row->rounding == TO_FLOAT && !directed) needed = "a rounding such as .rn";
    if (row->rounding == MAY_FLOAT && integral) needed = "a rounding such as .rn or none";
    if (rounding == PTX_ROUND_RNA && instruction->type != PTX_TF32) needed = "another rounding";
    if (needed != NULL)
        ptx_complain(p, at->line, at->column, "cvt from .%s to .%s takes %s.", from, to, needed);

    uint32_t operands = row->sources + 1 + (rounding == PTX_ROUND_RS);
    if (instruction->operand_count != operands)
        ptx_complain(p, at->line, at->column,
                     "cvt from .%s to .%s takes %u operands, and %u are given.", from, to, operands,
                     instruction->operand_count);
    bool single = instruction->type == PTX_F32 || instruction->type2 == PTX_F32;
    if (instruction->modifiers.ftz && !single)
        ptx_complain(p, at->line, at->column, "cvt from .%s to .%s has no .ftz.", from, to);
    bool plain = in_set(T_INT8 | T(F16) | T(BF16) | T(F64), instruction->type2) ||
                 in_set(T_INT8 | T_F, instruction->type);
    if (plain && (instruction->modifiers.satfinite || instruction->modifiers.relu))
        ptx_complain(p, at->line, at->column, "cvt from .%s to .%s has no .%s.", from, to,
                     instruction->modifiers.satfinite ? "satfinite" : "relu");
    bool brain = instruction->type == PTX_BF16 || instruction->type2 == PTX_BF16;
    if (brain && instruction->modifiers.sat)
        ptx_complain(p, at->line, at->column, "cvt from .%s to .%s has no .sat.", from, to);
}

static void check_set(struct ptx_parser *p, const struct ptx_instruction *instruction,
                      const struct ptx_token *at)
{
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
        if (in_set(comparisons[i].to, instruction->type) &&
            in_set(comparisons[i].from, instruction->type2))
            return;
    }
    ptx_complain(p, at->line, at->column, "set does not compare .%s into .%s.",
                 ptx_type_name((enum ptx_type)instruction->type2),
                 ptx_type_name((enum ptx_type)instruction->type));
}

/* ---- all rules ------------------------------------------------------------------------------- */

static bool has_any(const struct ptx_modifiers *modifiers, uint64_t fields)
{
    for (unsigned field = 0; field < PTX_FIELD_COUNT; field++) {
        if ((fields >> field & 1) && ptx_modifiers_get(modifiers, (enum ptx_field)field))
            return true;
    }
    return false;
}

static void check_needs(struct ptx_parser *p, const struct ptx_instruction *instruction,
                        const struct ptx_token *at)
{
    const struct ptx_modifiers *modifiers = &instruction->modifiers;
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        const struct need *need = &needs[i];
        if (need->op != instruction->op ||
            (need->types != T_ALL && !in_set(need->types, instruction->type)))
            continue;
        bool there = has_any(modifiers, need->fields);
        if (there && need->first != PTX_ABSENT) {
            uint16_t value = ptx_modifiers_get(modifiers, ptx_modifier_field(need->first));
            there = value >= need->first && value <= need->last;
        }
        if (!there)
            ptx_complain(p, at->line, at->column, "%s needs %s.", ptx_opcode_name(instruction->op),
                         need->what);
    }
}

static void check_limits(struct ptx_parser *p, const struct ptx_instruction *instruction,
                         const struct ptx_token *at, const struct limit *rows, size_t count,
                         uint8_t type)
{
    for (size_t i = 0; i < count; i++) {
        const struct limit *limit = &rows[i];
        uint16_t value = ptx_modifiers_get(&instruction->modifiers, limit->field);
        bool concerns =
            limit->op == instruction->op && value != PTX_ABSENT &&
            (limit->first == PTX_ABSENT || (value >= limit->first && value <= limit->last));
        if (!concerns || in_set(limit->types, type)) continue;
        ptx_complain(p, at->line, at->column, "%s.%s has no type .%s.",
                     ptx_opcode_name(instruction->op), ptx_modifier_name((enum ptx_modifier)value),
                     ptx_type_name((enum ptx_type)type));
        return;
    }
}

/* Returns what is wrong with an atomic on a vector (element type, number of elements, operation,
 * state space), or NULL. */
static const char *vector_needs(const struct ptx_instruction *instruction)
{
    static const struct {
        uint8_t type, most;
    } shapes[] = {{PTX_F32, PTX_V4},
                  {PTX_F16, PTX_V8},
                  {PTX_BF16, PTX_V8},
                  {PTX_F16X2, PTX_V4},
                  {PTX_BF16X2, PTX_V4}};
    const struct ptx_modifiers *modifiers = &instruction->modifiers;
    const uint16_t operation = modifiers->operation;
    const bool extreme = operation == PTX_ATOMIC_MIN || operation == PTX_ATOMIC_MAX;
    const bool halves = in_set(T_HALF | T_BF, instruction->type);
    if (modifiers->space && modifiers->space != PTX_SPACE_GLOBAL) return ".global";
    if (operation != PTX_ATOMIC_ADD && !(extreme && halves))
        return ".add, or .min or .max of halves";
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (shapes[i].type == instruction->type && modifiers->vector <= shapes[i].most) return NULL;
    return "as many elements as 16 bytes have, of .f32 or of 16-bit floats";
}

/* Returns what is wrong with a tensor copy, or NULL. The tensor map stands where global memory is
 * meant. Behind the two sides follow the barrier object of a load, the mask of .multicast::cluster
 * and the policy of .L2::cache_hint. */
static const char *tensor_copy_needs(const struct ptx_instruction *instruction)
{
    const struct ptx_modifiers *modifiers = &instruction->modifiers;
    const struct ptx_operand *operands = instruction->operands;
    const bool copies = instruction->op == PTX_OP_CP_BULK_TENSOR;
    const bool loads = copies && modifiers->source == PTX_SOURCE_GLOBAL;
    const bool prefetches = instruction->op == PTX_OP_CP_BULK_PREFETCH_TENSOR;
    const uint32_t hints =
        modifiers->hint == PTX_HINT_POLICY || modifiers->hint2 == PTX_HINT_POLICY;
    const uint32_t least = loads ? 3 : prefetches ? 1 : 2;
    if (operands[loads].kind != PTX_OPERAND_IMAGE)
        return "a tensor map and coordinates in brackets, [a, {b}], where it has global memory";
    if (!prefetches && operands[!loads].kind != PTX_OPERAND_ADDRESS)
        return "an address in brackets where it has shared memory";
    if (copies && modifiers->completion != (loads ? PTX_COMPLETE_TX : PTX_BULK_GROUP))
        return loads ? ".mbarrier::complete_tx::bytes" : ".bulk_group";
    if ((modifiers->space == PTX_SPACE_GLOBAL) == loads) return "global memory on one side";
    if (loads && (instruction->operand_count < least || operands[2].kind != PTX_OPERAND_ADDRESS))
        return "a barrier object's address in brackets";
    if (instruction->operand_count != least + hints + (modifiers->multicast != PTX_ABSENT))
        return "a mask with .multicast::cluster and a policy with .L2::cache_hint, and nothing "
               "more";
    return NULL;
}

/* Rules of single opcodes that no table above expresses. */
static void check_singular(struct ptx_parser *p, const struct ptx_instruction *instruction,
                           const struct ptx_token *at)
{
    const struct ptx_modifiers *modifiers = &instruction->modifiers;
    const char *name = ptx_opcode_name(instruction->op);
    bool extreme = instruction->op == PTX_OP_MIN || instruction->op == PTX_OP_MAX;
    if (extreme && instruction->operand_count == 4 && instruction->type != PTX_F32)
        ptx_complain(p, at->line, at->column, "%s of three values has the type .f32 only.", name);
    if ((instruction->op == PTX_OP_ATOM || instruction->op == PTX_OP_RED) && modifiers->vector &&
        vector_needs(instruction) != NULL)
        ptx_complain(p, at->line, at->column, "%s of a vector takes %s.", name,
                     vector_needs(instruction));
    const bool is_tensor_copy = instruction->op == PTX_OP_CP_BULK_TENSOR ||
                                instruction->op == PTX_OP_CP_REDUCE_BULK_TENSOR ||
                                instruction->op == PTX_OP_CP_BULK_PREFETCH_TENSOR;
    if (is_tensor_copy && tensor_copy_needs(instruction) != NULL)
        ptx_complain(p, at->line, at->column, "%s takes %s.", name, tensor_copy_needs(instruction));
    if (modifiers->cc && modifiers->width == PTX_WIDTH_WIDE)
        ptx_complain(p, at->line, at->column, "%s.wide has no .cc.", name);
    bool ordered =
        modifiers->semantics >= PTX_SEM_RELAXED && modifiers->semantics <= PTX_SEM_ACQ_REL;
    if ((instruction->op == PTX_OP_LD || instruction->op == PTX_OP_ST) && ordered &&
        !modifiers->scope)
        ptx_complain(p, at->line, at->column, "%s.%s needs a scope such as .gpu.", name,
                     ptx_modifier_name((enum ptx_modifier)modifiers->semantics));
}

void ptx_rules_check(struct ptx_parser *p, const struct ptx_instruction *instruction,
                     const struct ptx_token *at)
{
    check_needs(p, instruction, at);
    check_limits(p, instruction, at, limits, sizeof limits / sizeof limits[0], instruction->type);
    check_limits(p, instruction, at, second_limits, sizeof second_limits / sizeof second_limits[0],
                 instruction->type2);
    check_singular(p, instruction, at);
    ptx_video_check(p, instruction, at);
    if (instruction->op == PTX_OP_SET) check_set(p, instruction, at);
    if (instruction->op == PTX_OP_CVT) check_conversion(p, instruction, at);
}
