/* Lowers video instructions to descriptions. nvcc uses only absolute differences of bytes and
 * halves, for sums over images. PTX ISA 9.0, 9.7.18; their handler is in ops/video.c.
 */
#include "emulator/exec/lower/lower.h"

struct video_row {
    enum ptx_opcode op;
    enum exec_video_operation operation;
    uint8_t lanes;
};

static const struct video_row *find_row(enum ptx_opcode op)
{
    static const struct video_row rows[] = {
        {PTX_OP_VADD, EXEC_VIDEO_ADD, 1},          {PTX_OP_VSUB, EXEC_VIDEO_SUB, 1},
        {PTX_OP_VABSDIFF, EXEC_VIDEO_ABSDIFF, 1},  {PTX_OP_VMIN, EXEC_VIDEO_MIN, 1},
        {PTX_OP_VMAX, EXEC_VIDEO_MAX, 1},          {PTX_OP_VSHL, EXEC_VIDEO_SHL, 1},
        {PTX_OP_VSHR, EXEC_VIDEO_SHR, 1},          {PTX_OP_VMAD, EXEC_VIDEO_MAD, 1},
        {PTX_OP_VSET, EXEC_VIDEO_COMPARE, 1},      {PTX_OP_VADD2, EXEC_VIDEO_ADD, 2},
        {PTX_OP_VSUB2, EXEC_VIDEO_SUB, 2},         {PTX_OP_VAVRG2, EXEC_VIDEO_AVERAGE, 2},
        {PTX_OP_VABSDIFF2, EXEC_VIDEO_ABSDIFF, 2}, {PTX_OP_VMIN2, EXEC_VIDEO_MIN, 2},
        {PTX_OP_VMAX2, EXEC_VIDEO_MAX, 2},         {PTX_OP_VSET2, EXEC_VIDEO_COMPARE, 2},
        {PTX_OP_VADD4, EXEC_VIDEO_ADD, 4},         {PTX_OP_VSUB4, EXEC_VIDEO_SUB, 4},
        {PTX_OP_VAVRG4, EXEC_VIDEO_AVERAGE, 4},    {PTX_OP_VABSDIFF4, EXEC_VIDEO_ABSDIFF, 4},
        {PTX_OP_VMIN4, EXEC_VIDEO_MIN, 4},         {PTX_OP_VMAX4, EXEC_VIDEO_MAX, 4},
        {PTX_OP_VSET4, EXEC_VIDEO_COMPARE, 4},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (rows[k].op == op) return &rows[k];
    return NULL;
}

/* Finds the parts that an operand names. Without names these are all of a scalar's register, or the
 * parts in order from `first` on. */
static void read_parts(const struct ptx_operand *operand, unsigned lanes, unsigned first,
                       struct exec_video_part *parts)
{
    const bool named = ptx_parts_count(operand->parts) != 0;
    const unsigned bits = lanes > 1                          ? 32 / lanes
                          : !named                           ? 32
                          : ptx_parts_halves(operand->parts) ? 16
                                                             : 8;
    for (unsigned k = 0; k < lanes; k++) {
        const unsigned digit = named ? ptx_parts_digit(operand->parts, k) : first + k;
        parts[k] =
            (struct exec_video_part){.shift = (uint8_t)(bits * digit), .bits = (uint8_t)bits};
    }
}

static void describe(const struct ptx_instruction *at, const struct video_row *row,
                     struct exec_video *video)
{
    const struct ptx_modifiers *modifiers = &at->modifiers;
    const struct ptx_operand *operands = at->operands;
    const bool set = row->operation == EXEC_VIDEO_COMPARE;
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
    if (row == NULL) return false;
    struct exec_video *video = arena_take(&lower->program->arena, 1, sizeof *video);
    uint32_t sources[3];
    if (video == NULL) {
        lower->failed = true;
        return true;
    }
    describe(at, row, video);
    for (unsigned k = 0; k < 3; k++) {
        /* the description contains the sign of a negated register */
        struct ptx_operand operand = {.kind = PTX_OPERAND_IMMEDIATE};
        if (k + 1 < at->operand_count) operand = at->operands[k + 1];
        operand.negated = false;
        sources[k] = lower_source(lower, &operand, 4);
        if (sources[k] == EXEC_NO_SLOT) return true;
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
