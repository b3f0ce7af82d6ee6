/* Operations between the lanes of a warp: under the full mask, and in three branches that the lanes
 * take depending on the input, each with the mask of its own lanes. */
#include "tests/differential/differential.h"

#include <stdio.h>
#include <string.h>

enum { THREADS = 64, BLOCKS = 8, WORDS = 8, CLASSES = 3 };

/* One thread's input. */
struct input {
    uint64_t a;
    uint32_t b;     /* lane operand of shfl */
    uint32_t small; /* one of few values */
    uint32_t class; /* which branch */
    uint32_t mask;  /* lanes of the same warp and class, or all */
    uint32_t flag;
    uint32_t unused;
};

/* Operations on %a (32 bits), %wide, %b, %small and %flag under %mask; results in %d, %e (32 bits),
 * %q.
 */
static const struct operation {
    const char *name, *text;
} operations[] = {
    {"vote.all", "vote.sync.all.pred %q, %flag, %mask;"},
    {"vote.any", "vote.sync.any.pred %q, %flag, %mask;"},
    {"vote.uni", "vote.sync.uni.pred %q, %flag, %mask;"},
    {"vote.not", "vote.sync.all.pred %q, !%flag, %mask;"},
    {"vote.ballot", "vote.sync.ballot.b32 %d, %flag, %mask;"},
    {"match.any.b32", "match.any.sync.b32 %d, %small, %mask;"},
    {"match.any.b64",
     "mul.wide.u32 %wide, %small, 0x40000001; match.any.sync.b64 %d, %wide, %mask;"},
    {"match.all.b32", "match.all.sync.b32 %d|%q, %small, %mask;"},
    {"match.all.b64",
     "shr.u32 %e, %small, 1; mul.wide.u32 %wide, %e, 0x40000001; match.all.sync.b64 %d|%q, %wide, "
     "%mask;"},
    {"match.same", "and.b32 %e, %mask, -1; match.all.sync.b32 %d|%q, %e, %mask;"},
    {"redux.add.u32", "redux.sync.add.u32 %d, %a, %mask;"},
    {"redux.add.s32", "redux.sync.add.s32 %d, %a, %mask;"},
    {"redux.min.u32", "redux.sync.min.u32 %d, %a, %mask;"},
    {"redux.max.u32", "redux.sync.max.u32 %d, %a, %mask;"},
    {"redux.min.s32", "redux.sync.min.s32 %d, %a, %mask;"},
    {"redux.max.s32", "redux.sync.max.s32 %d, %a, %mask;"},
    {"redux.and", "or.b32 %e, %a, 0xffff0f0f; redux.sync.and.b32 %d, %e, %mask;"},
    {"redux.or", "and.b32 %e, %a, 0x80f11; redux.sync.or.b32 %d, %e, %mask;"},
    {"redux.xor", "redux.sync.xor.b32 %d, %a, %mask;"},
    {"elect", "elect.sync %d|%q, %mask;"},
    {"activemask", "activemask.b32 %d;"},
    {"bar.warp", "st.shared.b32 [%own], %a; bar.warp.sync %mask; ld.shared.b32 %d, [%first];"},
    {"shfl.chain",
     "shfl.sync.idx.b32 %d|%q, %a, %b, 31, %mask; vote.sync.ballot.b32 %e, %q, %mask;"},
};

enum { OPERATIONS = sizeof operations / sizeof *operations };

/* Shuffles: the mode, and the segment widths that the third operand encodes. */
static const char *const modes[] = {"up", "down", "bfly", "idx"};
static const unsigned widths[] = {32, 16, 8, 4, 2, 1};
enum { SHUFFLES = 4 * 6 * 2 };

/* A case's number: operation or OPERATIONS + shuffle, with or without branches. */
static bool is_branching(uint32_t number)
{
    return number >> 16;
}

/* Returns c of shfl: the segment mask in the upper bits, the limit in the lower ones. The second
 * half of the shuffles uses limits other than the segment's end. */
static uint32_t limit_of(unsigned shuffle)
{
    const unsigned width = widths[shuffle / 4 % 6];
    const uint32_t segments = (32 - width) << 8;
    if (shuffle >= SHUFFLES / 2) return segments | (shuffle * 7 & 31);
    return segments | (shuffle % 4 == 0 ? 0 : 31);
}

/* Returns the lane that `lane` reads. Source: PTX ISA 9.7.9.6. */
static unsigned source_of(unsigned shuffle, unsigned lane, uint32_t b)
{
    const uint32_t c = limit_of(shuffle), segments = c >> 8 & 31, limit = c & 31;
    const unsigned last = (lane & segments) | (limit & ~segments), first = lane & segments;
    b &= 31;
    int from;
    bool inside;
    switch (shuffle % 4) {
    case 0:
        from = (int)lane - (int)b;
        inside = from >= (int)last;
        break;
    case 1:
        from = (int)(lane + b);
        inside = from <= (int)last;
        break;
    case 2:
        from = (int)(lane ^ b);
        inside = from <= (int)last;
        break;
    default:
        from = (int)(first | (b & ~segments & 31));
        inside = from <= (int)last;
        break;
    }
    return inside ? (unsigned)from & 31 : lane;
}

static void fill(const struct diff_case *one, unsigned char *in)
{
    struct diff_random random = diff_case_random(one, "in");
    const unsigned operation = one->number & 0xffff;
    const bool shuffles =
        operation >= OPERATIONS || !strcmp(operations[operation].name, "shfl.chain");
    const unsigned shuffle = operation >= OPERATIONS ? operation - OPERATIONS : 3;
    for (unsigned warp = 0; warp < BLOCKS * THREADS / 32; warp++) {
        struct input lanes[32];
        uint32_t masks[CLASSES] = {0, 0, 0};
        /* From equal values in all lanes to all different. */
        const unsigned spread = warp % 5;
        for (unsigned lane = 0; lane < 32; lane++) {
            lanes[lane] = (struct input){.a = diff_value(DIFF_INT64, &random),
                                         .b = (uint32_t)diff_bits(&random) >>
                                              (diff_below(&random, 2) ? 27 : 0),
                                         .small = spread ? diff_below(&random, spread) : 3,
                                         .class = diff_below(&random, spread < 2 ? 2 : CLASSES),
                                         .flag = spread == 0   ? 1
                                                 : spread == 1 ? 0
                                                               : diff_below(&random, 2)};
            masks[lanes[lane].class] |= 1u << lane;
        }
        for (unsigned lane = 0; lane < 32; lane++) {
            struct input *at = &lanes[lane];
            at->mask = is_branching(one->number) ? masks[at->class] : UINT32_MAX;
            /* A value from a lane that does not participate is undefined, so another lane is
             * chosen. */
            while (shuffles && !(at->mask >> source_of(shuffle, lane, at->b) & 1))
                at->b = diff_below(&random, 32);
        }
        memcpy(in + warp * sizeof lanes, lanes, sizeof lanes);
    }
}

static void operation_text(uint32_t number, char *text, size_t size)
{
    const unsigned operation = number & 0xffff;
    if (operation < OPERATIONS)
        snprintf(text, size, "%s", operations[operation].text);
    else
        snprintf(text, size, "shfl.sync.%s.b32 %%d|%%q, %%a, %%b, %u, %%mask;",
                 modes[(operation - OPERATIONS) % 4], (unsigned)limit_of(operation - OPERATIONS));
}

static void write(const struct diff_case *one, const char *kernel, struct diff_text *text)
{
    char operation[256];
    operation_text(one->number, operation, sizeof operation);
    diff_add(
        text,
        ".visible .entry %s(.param .u64 p_in, .param .u64 p_out) {\n"
        ".shared .align 4 .b8 %s_shared[%d];\n"
        ".reg .b64 %%in, %%out, %%at, %%wide;\n"
        ".reg .b32 %%i, %%t, %%n, %%a, %%b, %%small, %%class, %%mask, %%d, %%e, %%own, %%first, "
        "%%x;\n"
        ".reg .pred %%flag, %%q, %%p;\n"
        "ld.param.u64 %%in, [p_in];\nld.param.u64 %%out, [p_out];\nmov.u32 %%i, %%ctaid.x;\n"
        "mov.u32 %%n, %%ntid.x;\nmov.u32 %%t, %%tid.x;\nmad.lo.u32 %%i, %%i, %%n, %%t;\n"
        "mad.wide.u32 %%at, %%i, %d, %%in;\nmad.wide.u32 %%out, %%i, 12, %%out;\n"
        "ld.global.u32 %%a, [%%at];\nld.global.u32 %%b, [%%at+8];\n"
        "ld.global.u32 %%small, [%%at+12];\nld.global.u32 %%class, [%%at+16];\n"
        "ld.global.u32 %%mask, [%%at+20];\nld.global.u32 %%x, [%%at+24];\n"
        "setp.ne.u32 %%flag, %%x, 0;\nmov.u32 %%d, 0x11111111;\nmov.u32 %%e, 0x22222222;\n"
        "setp.ne.u32 %%q, %%x, %%x;\n",
        kernel, kernel, 4 * THREADS, (int)sizeof(struct input));
    /* Uses shared words: this lane's, and that of the mask's first lane. */
    diff_add(text,
             "mov.u32 %%own, %s_shared;\nbrev.b32 %%first, %%mask;\nclz.b32 %%first, "
             "%%first;\nand.b32 %%x, %%t, 32;\nadd.u32 %%first, %%first, %%x;\n"
             "mad.lo.u32 %%first, %%first, 4, %%own;\nmad.lo.u32 %%own, %%t, 4, %%own;\n",
             kernel);
    if (is_branching(one->number)) {
        for (unsigned class = 0; class < CLASSES; class ++) {
            diff_add(text, "setp.ne.u32 %%p, %%class, %u;\n@%%p bra N%u;\n", class, class);
            /* Makes the branches different code. */
            diff_add(text, "xor.b32 %%a, %%a, %u;\n%s\nadd.u32 %%e, %%e, %u;\nbra DONE;\nN%u:\n",
                     class * 12345, operation, class, class);
        }
        diff_add(text, "DONE:\n");
    } else {
        diff_add(text, "%s\n", operation);
    }
    diff_add(text, "selp.u32 %%x, 1, 0, %%q;\nst.global.u32 [%%out], %%d;\n"
                   "st.global.u32 [%%out+4], %%e;\nst.global.u32 [%%out+8], %%x;\nret;\n}\n");
}

static void tell(const struct diff_case *one, const unsigned char *in, const unsigned char *out,
                 unsigned index, struct diff_text *text)
{
    struct input lane;
    uint32_t results[3];
    (void)one;
    memcpy(&lane, in + index * sizeof lane, sizeof lane);
    memcpy(results, out + (size_t)index * sizeof results, sizeof results);
    diff_add(text,
             "lane %u: a 0x%x, b %u, small %u, flag %u, mask 0x%08x: d 0x%08x, e 0x%08x, q %u",
             index % 32, (unsigned)lane.a, lane.b, lane.small, lane.flag, lane.mask, results[0],
             results[1], results[2]);
}

/* ---- special registers -------------------------------------------------------------------------
 */

static const char *const specials[] = {"%tid.x",
                                       "%tid.y",
                                       "%tid.z",
                                       "%ntid.x",
                                       "%ntid.y",
                                       "%ntid.z",
                                       "%ctaid.x",
                                       "%ctaid.y",
                                       "%ctaid.z",
                                       "%nctaid.x",
                                       "%nctaid.y",
                                       "%nctaid.z",
                                       "%laneid",
                                       "%lanemask_eq",
                                       "%lanemask_le",
                                       "%lanemask_lt",
                                       "%lanemask_ge",
                                       "%lanemask_gt",
                                       "%clusterid.x",
                                       "%nclusterid.x",
                                       "%cluster_ctaid.x",
                                       "%cluster_nctaid.x",
                                       "%cluster_ctarank",
                                       "%cluster_nctarank",
                                       "%dynamic_smem_size"};

static void write_special(const struct diff_case *one, const char *kernel, struct diff_text *text)
{
    diff_add(text,
             ".visible .entry %s(.param .u64 p_in, .param .u64 p_out) {\n"
             ".reg .b64 %%out;\n.reg .b32 %%i, %%t, %%n, %%x;\nld.param.u64 %%out, [p_out];\n"
             "mov.u32 %%i, %%ctaid.x;\nmov.u32 %%n, %%ntid.x;\nmov.u32 %%t, %%tid.x;\n"
             "mad.lo.u32 %%i, %%i, %%n, %%t;\nmad.wide.u32 %%out, %%i, 4, %%out;\n"
             "mov.u32 %%x, %s;\nst.global.u32 [%%out], %%x;\nret;\n}\n",
             kernel, specials[one->number]);
}

void diff_warp_cases(struct diff_cases *cases)
{
    for (unsigned k = 0; k < OPERATIONS + SHUFFLES; k++) {
        for (unsigned branching = 0; branching < 2; branching++) {
            const unsigned shuffle = k - OPERATIONS;
            struct diff_case *one;
            if (k < OPERATIONS)
                one = diff_new(cases, "%s/%s", operations[k].name, branching ? "some" : "all");
            else
                one =
                    diff_new(cases, "shfl.%s/%u%s-%s", modes[shuffle % 4], widths[shuffle / 4 % 6],
                             shuffle >= SHUFFLES / 2 ? "limit" : "", branching ? "some" : "all");
            one->write = write;
            one->fill = fill;
            one->tell = tell;
            one->number = k | branching << 16;
            one->blocks = BLOCKS;
            one->threads = THREADS;
            one->in_bytes = BLOCKS * THREADS * sizeof(struct input);
            one->stride = 12;
            one->out_bytes = BLOCKS * THREADS * 12;
        }
    }
    for (unsigned k = 0; k < sizeof specials / sizeof *specials; k++) {
        struct diff_case *one = diff_new(cases, "special/%s", specials[k] + 1);
        one->write = write_special;
        one->fill = diff_fill_random;
        one->number = k;
        one->blocks = 3;
        one->threads = 50;
        one->in_bytes = 8;
        one->out_bytes = 4 * 150;
    }
}
