/* Video instructions: arithmetic on bytes and halves of 32-bit registers. PTX ISA 9.0, 9.7.18.
 *
 * One handler serves them all, lane by lane, driven by the description that lower/video.c makes.
 */
#include "emulator/exec/ops/extra.h"
#include "emulator/exec/ops/tables.h"
#include "emulator/exec/warp.h"
#include "emulator/ptx/ptx.h"

static int64_t extract(uint64_t registers, struct exec_video_part part, bool is_signed)
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

static int64_t operate(const struct exec_video *video, int64_t a, int64_t b)
{
    /* Shift amounts are unsigned; 32 shifts out every part. */
    const uint64_t most = (uint64_t)b > 32 ? 32 : (uint64_t)b;
    const unsigned amount = (unsigned)(video->wraps ? (uint64_t)b & 31 : most);
    switch (video->operation) {
    case EXEC_VIDEO_ADD:
        return a + b;
    case EXEC_VIDEO_SUB:
        return a - b;
    case EXEC_VIDEO_ABSDIFF:
        return a > b ? a - b : b - a;
    case EXEC_VIDEO_MIN:
        return a < b ? a : b;
    case EXEC_VIDEO_MAX:
        return a > b ? a : b;
    case EXEC_VIDEO_AVERAGE: /* rounded away from zero */
        return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case EXEC_VIDEO_SHL:
        return (int64_t)((uint64_t)a << amount);
    case EXEC_VIDEO_SHR:
        return a >> amount;
    default:
        return compares(video->compare, a, b);
    }
}

/* A scalar instruction, combined with c or inserted into a part of c. */
static uint32_t scalar(const struct exec_video *video, uint32_t a, uint32_t b, uint32_t c)
{
    int64_t value = operate(video, extract(a, video->a[0], video->is_signed[1]),
                            extract(b, video->b[0], video->is_signed[2]));
    const bool is_signed = video->is_signed[0];
    const struct exec_video_part target = video->target;
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

/* Two or four lanes: those of the mask replace parts of c, or their sum is added to c. */
static uint32_t parallel(const struct exec_video *video, uint32_t a, uint32_t b, uint32_t c)
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

static uint32_t multiply(const struct exec_video *video, uint32_t a, uint32_t b, uint32_t c)
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
    const struct exec_video *video = inst->extra;
    const uint32_t *a = exec_slot(warp, inst->a);
    const uint32_t *b = exec_slot(warp, inst->b);
    const uint32_t *c = exec_slot(warp, inst->c);
    uint32_t *d = exec_slot(warp, inst->d);
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        d[l] = video->operation == EXEC_VIDEO_MAD ? multiply(video, a[l], b[l], c[l])
               : video->lanes == 1                ? scalar(video, a[l], b[l], c[l])
                                                  : parallel(video, a[l], b[l], c[l]);
    }
    return EXEC_GO;
}

const struct exec_row exec_video_rows[] = {{"video", op_video, ""}, {NULL, NULL, NULL}};
