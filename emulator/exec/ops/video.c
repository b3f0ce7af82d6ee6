/* Video instructions: arithmetic on bytes and halves of 32-bit registers. PTX ISA 9.0, 9.7.18.
 *
 * One handler serves them all, lane by lane, from a description that the compile step makes: nvcc
 * writes only absolute differences of bytes and halves, for sums over images.
 */
#include "emulator/exec/lower/lower.h"

#define NO_SLOT UINT32_MAX

enum video_operation {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_ABSDIFF,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_AVERAGE,
    VIDEO_SHL,
    VIDEO_SHR,
    VIDEO_COMPARE,
    VIDEO_MAD,
};

/* A part of a register pair b:a: `bits` bits at bit `shift`. */
struct part {
    uint8_t shift, bits;
};

struct video {
    enum video_operation operation;
    uint8_t lanes;     /* 1, 2, 4 */
    bool is_signed[3]; /* destination, a, b */
    bool saturate, wraps, sums;
    bool negated[3]; /* vmad: a, b, c */
    bool plus_one;
    uint8_t scale;     /* vmad: bits */
    uint8_t compare;   /* enum ptx_modifier */
    uint8_t secondary; /* enum ptx_modifier: of a scalar's result and c; PTX_ABSENT: none */
    struct part a[4], b[4];
    struct part target; /* of a scalar's destination; 32 bits: all of it */
    uint8_t mask;       /* of the lanes that are written */
};

/* ---- execution --------------------------------------------------------------------------------
 */

static int64_t extract(uint64_t registers, struct part part, bool is_signed)
{
    const uint64_t bits = registers >> part.shift & ((UINT64_C(1) << part.bits) - 1);
    const uint64_t sign = UINT64_C(1) << (part.bits - 1);
    return is_signed ? (int64_t)((bits ^ sign) - sign) : (int64_t)bits;
}

static int64_t saturate(int64_t value, unsigned bits, bool is_signed)
{
    const int64_t high = (INT64_C(1) << (bits - is_signed)) - 1;
    const int64_t low = is_signed ? -high - 1 : 0;
    return value < low ? low : value > high ? high : value;
}

static bool compares(uint8_t how, int64_t a, int64_t b)
{
    return how == PTX_CMP_EQ   ? a == b
           : how == PTX_CMP_NE ? a != b
           : how == PTX_CMP_LT ? a < b
           : how == PTX_CMP_LE ? a <= b
           : how == PTX_CMP_GT ? a > b
                               : a >= b;
}

static int64_t operate(const struct video *video, int64_t a, int64_t b)
{
    /* Amounts are unsigned; 32 empties any part. */
    const uint64_t most = (uint64_t)b > 32 ? 32 : (uint64_t)b;
    const unsigned amount = (unsigned)(video->wraps ? (uint64_t)b & 31 : most);
    switch (video->operation) {
    case VIDEO_ADD:
        return a + b;
    case VIDEO_SUB:
        return a - b;
    case VIDEO_ABSDIFF:
        return a > b ? a - b : b - a;
    case VIDEO_MIN:
        return a < b ? a : b;
    case VIDEO_MAX:
        return a > b ? a : b;
    case VIDEO_AVERAGE: /* rounded away from zero */
        return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case VIDEO_SHL:
        return (int64_t)((uint64_t)a << amount);
    case VIDEO_SHR:
        return a >> amount;
    default:
        return compares(video->compare, a, b);
    }
}

/* A scalar instruction: with c, or into a part of c. */
static uint32_t scalar(const struct video *video, uint32_t a, uint32_t b, uint32_t c)
{
    int64_t value = operate(video, extract(a, video->a[0], video->is_signed[1]),
                            extract(b, video->b[0], video->is_signed[2]));
    const bool is_signed = video->is_signed[0];
    const struct part target = video->target;
    if (video->saturate) value = saturate(value, target.bits, is_signed);
    const uint32_t result = (uint32_t)value;
    const int64_t one = is_signed ? (int32_t)result : (int64_t)result;
    const int64_t other = is_signed ? (int32_t)c : (int64_t)c;
    switch (video->secondary) {
    case PTX_ATOMIC_ADD:
        return result + c;
    case PTX_ATOMIC_MIN:
        return one < other ? result : c;
    case PTX_ATOMIC_MAX:
        return one > other ? result : c;
    default:
        break;
    }
    if (target.bits == 32) return result;
    const uint32_t field = ((1u << target.bits) - 1) << target.shift;
    return (c & ~field) | (result << target.shift & field);
}

/* Two or four lanes: those of the mask into c, or their sum added to it. */
static uint32_t parallel(const struct video *video, uint32_t a, uint32_t b, uint32_t c)
{
    const unsigned bits = 32u / video->lanes;
    const uint64_t both = (uint64_t)b << 32 | a;
    uint32_t result = c;
    for (unsigned k = 0; k < video->lanes; k++) {
        if (!(video->mask >> k & 1)) continue;
        int64_t value = operate(video, extract(both, video->a[k], video->is_signed[1]),
                                extract(both, video->b[k], video->is_signed[2]));
        if (video->sums) {
            result += (uint32_t)value;
            continue;
        }
        if (video->saturate) value = saturate(value, bits, video->is_signed[0]);
        const uint32_t field = (uint32_t)((UINT64_C(1) << bits) - 1) << bits * k;
        result = (result & ~field) | ((uint32_t)value << bits * k & field);
    }
    return result;
}

__extension__ typedef __int128 wide;

static uint32_t multiply(const struct video *video, uint32_t a, uint32_t b, uint32_t c)
{
    const bool negative = video->negated[0] != video->negated[1];
    const bool is_signed =
        video->is_signed[1] || video->is_signed[2] || negative || video->negated[2];
    wide value = (wide)extract(a, video->a[0], video->is_signed[1]) *
                 extract(b, video->b[0], video->is_signed[2]);
    wide addend = is_signed ? (int32_t)c : (int64_t)c;
    if (negative) value = -value;
    if (video->negated[2]) addend = -addend;
    value += addend + video->plus_one;
    value >>= video->scale;
    if (video->saturate) {
        const wide high = is_signed ? INT32_MAX : UINT32_MAX;
        const wide low = is_signed ? INT32_MIN : 0;
        value = value < low ? low : value > high ? high : value;
    }
    return (uint32_t)value;
}

static int op_video(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct video *video = inst->extra;
    const uint32_t *a = exec_slot(warp, inst->a);
    const uint32_t *b = exec_slot(warp, inst->b);
    const uint32_t *c = exec_slot(warp, inst->c);
    uint32_t *d = exec_slot(warp, inst->d);
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        d[l] = video->operation == VIDEO_MAD ? multiply(video, a[l], b[l], c[l])
               : video->lanes == 1           ? scalar(video, a[l], b[l], c[l])
                                             : parallel(video, a[l], b[l], c[l]);
    }
    return EXEC_GO;
}

const struct exec_row exec_video_rows[] = {{"video", op_video, ""}, {NULL, NULL, NULL}};

/* ---- compilation -------------------------------------------------------------------------------
 */

struct video_row {
    enum ptx_opcode op;
    enum video_operation operation;
    uint8_t lanes;
};

static const struct video_row *find_row(enum ptx_opcode op)
{
    static const struct video_row rows[] = {
        {PTX_OP_VADD, VIDEO_ADD, 1},          {PTX_OP_VSUB, VIDEO_SUB, 1},
        {PTX_OP_VABSDIFF, VIDEO_ABSDIFF, 1},  {PTX_OP_VMIN, VIDEO_MIN, 1},
        {PTX_OP_VMAX, VIDEO_MAX, 1},          {PTX_OP_VSHL, VIDEO_SHL, 1},
        {PTX_OP_VSHR, VIDEO_SHR, 1},          {PTX_OP_VMAD, VIDEO_MAD, 1},
        {PTX_OP_VSET, VIDEO_COMPARE, 1},      {PTX_OP_VADD2, VIDEO_ADD, 2},
        {PTX_OP_VSUB2, VIDEO_SUB, 2},         {PTX_OP_VAVRG2, VIDEO_AVERAGE, 2},
        {PTX_OP_VABSDIFF2, VIDEO_ABSDIFF, 2}, {PTX_OP_VMIN2, VIDEO_MIN, 2},
        {PTX_OP_VMAX2, VIDEO_MAX, 2},         {PTX_OP_VSET2, VIDEO_COMPARE, 2},
        {PTX_OP_VADD4, VIDEO_ADD, 4},         {PTX_OP_VSUB4, VIDEO_SUB, 4},
        {PTX_OP_VAVRG4, VIDEO_AVERAGE, 4},    {PTX_OP_VABSDIFF4, VIDEO_ABSDIFF, 4},
        {PTX_OP_VMIN4, VIDEO_MIN, 4},         {PTX_OP_VMAX4, VIDEO_MAX, 4},
        {PTX_OP_VSET4, VIDEO_COMPARE, 4},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (rows[k].op == op) return &rows[k];
    return NULL;
}

/* The parts that an operand names; without any: all of a scalar, the parts in order from `first`
 * on of the others. */
static void read_parts(const struct ptx_operand *operand, unsigned lanes, unsigned first,
                       struct part *parts)
{
    const bool named = ptx_parts_count(operand->parts) != 0;
    const unsigned bits = lanes > 1                          ? 32 / lanes
                          : !named                           ? 32
                          : ptx_parts_halves(operand->parts) ? 16
                                                             : 8;
    for (unsigned k = 0; k < lanes; k++) {
        const unsigned digit = named ? ptx_parts_digit(operand->parts, k) : first + k;
        parts[k] = (struct part){.shift = (uint8_t)(bits * digit), .bits = (uint8_t)bits};
    }
}

static void describe(const struct ptx_instruction *at, const struct video_row *row,
                     struct video *video)
{
    const struct ptx_modifiers *modifiers = &at->modifiers;
    const struct ptx_operand *operands = at->operands;
    const bool set = row->operation == VIDEO_COMPARE;
    video->operation = row->operation;
    video->lanes = row->lanes;
    video->is_signed[0] = !set && at->type == PTX_S32;
    video->is_signed[1] = (set ? at->type : at->type2) == PTX_S32;
    video->is_signed[2] = set ? at->type2 == PTX_S32 : modifiers->third == PTX_THIRD_S32;
    video->saturate = modifiers->sat;
    video->wraps = modifiers->clamp == PTX_SHF_WRAP;
    video->compare = modifiers->compare;
    video->secondary = modifiers->operation;
    video->sums = modifiers->operation != PTX_ABSENT;
    video->plus_one = modifiers->plus_one;
    video->scale = modifiers->scale == PTX_SCALE_7 ? 7 : modifiers->scale == PTX_SCALE_15 ? 15 : 0;
    read_parts(&operands[1], row->lanes, 0, video->a);
    read_parts(&operands[2], row->lanes, row->lanes > 1 ? row->lanes : 0, video->b);
    for (unsigned k = 1; k < at->operand_count; k++) video->negated[k - 1] = operands[k].negated;
    const uint16_t target = operands[0].parts;
    const unsigned count = ptx_parts_count(target);
    read_parts(&operands[0], 1, 0, &video->target);
    video->mask = (uint8_t)((1u << row->lanes) - 1);
    if (count) video->mask = 0;
    for (unsigned k = 0; k < count; k++) video->mask |= (uint8_t)(1u << ptx_parts_digit(target, k));
}

bool lower_video(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const struct video_row *row = find_row(at->op);
    if (!row) return false;
    struct video *video = exec_arena_take(lower->program->arena, 1, sizeof *video);
    uint32_t sources[3];
    if (!video) {
        lower->failed = true;
        return true;
    }
    describe(at, row, video);
    for (unsigned k = 0; k < 3; k++) {
        /* The sign of a negated register is the description's. */
        struct ptx_operand operand = {.kind = PTX_OPERAND_IMMEDIATE};
        if (k + 1 < at->operand_count) operand = at->operands[k + 1];
        operand.negated = false;
        sources[k] = lower_source(lower, &operand, 4);
        if (sources[k] == NO_SLOT) return true;
    }
    const struct ptx_operand *d = &at->operands[0];
    const uint32_t to = lower_destination(lower, d->kind == PTX_OPERAND_SINK ? PTX_SINK : d->reg, 4,
                                          video->is_signed[0]);
    struct exec_inst *inst = lower_row(lower, "video");
    inst->d = to;
    inst->a = sources[0];
    inst->b = sources[1];
    inst->c = sources[2];
    inst->extra = video;
    return true;
}
