#include "grader/lessons/11_structs/model.h"
#include "grader/child/drive.h"

#include <string.h>

#define SPOILT (-1.0f) /* what work_floats writes to input-only arguments on the device */

const struct model_kernel model_kernels[STRUCTS_KERNELS] = {
    [STRUCTS_LOOK_GROWING] = {5,
                              -1,
                              {{MODEL_VALUE, 1, 1},
                               {MODEL_VALUE, 2, 2},
                               {MODEL_VALUE, 4, 4},
                               {MODEL_VALUE, 8, 8},
                               {MODEL_VALUE, 1, 1}}},
    [STRUCTS_LOOK_MIXED] = {6,
                            -1,
                            {{MODEL_VALUE, 2, 2},
                             {MODEL_VALUE, 1, 1},
                             {MODEL_VALUE, 8, 8},
                             {MODEL_VALUE, 1, 1},
                             {MODEL_VALUE, 4, 4},
                             {MODEL_VALUE, 2, 2}}},
    [STRUCTS_LOOK_STRUCTS] = {8,
                              -1,
                              {{MODEL_VALUE, 1, 1},
                               {MODEL_VALUE, 8, 4},
                               {MODEL_VALUE, 1, 1},
                               {MODEL_VALUE, 12, 4},
                               {MODEL_VALUE, 16, 4},
                               {MODEL_VALUE, 8, 8},
                               {MODEL_VALUE, 16, 8},
                               {MODEL_VALUE, 1, 1}}},
    [STRUCTS_LOOK_LARGE] = {5,
                            -1,
                            {{MODEL_VALUE, 1, 1},
                             {MODEL_VALUE, 16, 16},
                             {MODEL_VALUE, 2, 2},
                             {MODEL_VALUE, 16, 16},
                             {MODEL_VALUE, 4, 4}}},
    [STRUCTS_WORK_FLOATS] = {5,
                             3,
                             {{MODEL_VALUE, 1, 1},
                              {MODEL_IN, 4, 4},
                              {MODEL_INOUT, 8, 8},
                              {MODEL_VALUE, 2, 2},
                              {MODEL_OUT, 4, 4}}},
    [STRUCTS_WORK_BYTES] = {5,
                            2,
                            {{MODEL_IN, 1, 1},
                             {MODEL_OUT, 16, 16},
                             {MODEL_VALUE, 4, 4},
                             {MODEL_INOUT, 1, 1},
                             {MODEL_VALUE, 8, 8}}},
    [STRUCTS_WORK_IN_PLACE] = {3,
                               2,
                               {{MODEL_INOUT, 4, 4}, {MODEL_INOUT, 1, 1}, {MODEL_VALUE, 4, 4}}},
};

/* The same on x86-64 and AArch64, on host and device. */
const uint64_t model_layout[STRUCTS_LAYOUT_FIGURES] = {64, 16, 0, 8, 16, 32, 48, 56};

size_t model_offset(const struct model_kernel *kernel, unsigned i)
{
    size_t at = 0;
    for (unsigned k = 0;; k++) {
        const struct model_parameter *p = &kernel->parameters[k];
        const size_t alignment = p->way == MODEL_VALUE ? p->alignment : sizeof(uint64_t),
                     size = p->way == MODEL_VALUE ? p->size : sizeof(uint64_t);
        at = (at + alignment - 1) / alignment * alignment;
        if (k == i) return at;
        at += size;
    }
}

/* ---- steps 1 to 3 -------------------------------------------------------------------------- */

float model_doubled(const struct structs_case *c, const float *before, size_t at)
{
    return at % c->stride < c->columns ? 2.0f * before[at] : before[at];
}

size_t model_double_differs(const struct structs_case *c, const float *before, const float *after)
{
    const size_t count = (size_t)(c->rows - 1) * c->stride + c->columns;
    for (size_t i = 0; i < count; i++) {
        const float must = model_doubled(c, before, i);
        if (memcmp(&must, &after[i], sizeof must) != 0) return i;
    }
    return MODEL_SAME;
}

size_t model_layout_differs(const uint64_t figures[STRUCTS_LAYOUT_FIGURES])
{
    for (size_t i = 0; i < STRUCTS_LAYOUT_FIGURES; i++)
        if (figures[i] != model_layout[i]) return i;
    return MODEL_SAME;
}

/* The inputs have so few digits that no product is rounded, in whatever order the products are
 * computed. */
float model_multiplied(const struct structs_case *c, const struct structs_list *list, unsigned i,
                       float before)
{
    const float factor = (float)list->factor;
    return i < c->first ? before * factor : before * factor * factor;
}

size_t model_list_differs(const struct structs_case *c, const struct structs_list *list, unsigned i,
                          const float *before, const float *after)
{
    for (size_t k = 0; k < list->length; k++)
        if (!(after[k] == model_multiplied(c, list, i, before[k]))) return k;
    return MODEL_SAME;
}

/* ---- step 4 -------------------------------------------------------------------------------- */

size_t model_seen_differs(const struct structs_case *c, const unsigned char *bytes,
                          const unsigned char *seen)
{
    size_t at = 0;
    for (uint32_t i = 0; i < c->arguments; at += c->given[i++].size)
        if (memcmp(seen + at, bytes + c->given[i].at, c->given[i].size) != 0) return i;
    return MODEL_SAME;
}

bool model_seen_without_gaps(const struct structs_case *c, const unsigned char *bytes,
                             const unsigned char *seen)
{
    const struct model_kernel *kernel = &model_kernels[c->kernel];
    unsigned char tight[2 * STRUCTS_SEEN] = {0};
    size_t end = 0, at = 0;
    for (uint32_t i = 0; i < c->arguments; end += c->given[i++].size)
        memcpy(tight + end, bytes + c->given[i].at, c->given[i].size);
    for (uint32_t i = 0; i < c->arguments; at += c->given[i++].size) {
        const size_t offset = model_offset(kernel, i);
        /* Bytes beyond its end are undefined. */
        const size_t known = offset >= end                     ? 0
                             : end - offset < c->given[i].size ? end - offset
                                                               : c->given[i].size;
        if (memcmp(seen + at, tight + offset, known) != 0) return false;
    }
    return true;
}

/* Returns element `k` of an argument as a number. */
static double number(const unsigned char *bytes, const struct structs_given *given, size_t k,
                     size_t size)
{
    double wide;
    float narrow;
    memcpy(size == sizeof wide ? (void *)&wide : (void *)&narrow, bytes + given->at + k * size,
           size);
    return size == sizeof wide ? wide : (double)narrow;
}

/* Computes element `k` of argument `i` as work_floats must leave it. */
static void floats_expected(const struct structs_case *c, unsigned i, size_t k,
                            const unsigned char *before, unsigned char *to)
{
    const struct structs_given *given = c->given;
    const double in = number(before, &given[1], k, sizeof(float));
    const float made = (float)(in + before[given[0].at]);
    const double both = number(before, &given[2], k, sizeof(double)) + 2.0 * in;
    if (i == 4)
        memcpy(to, &made, sizeof made);
    else
        memcpy(to, &both, sizeof both);
}

/* The same for work_bytes. */
static void bytes_expected(const struct structs_case *c, unsigned i, size_t k,
                           const unsigned char *before, unsigned char *to)
{
    const struct structs_given *given = c->given;
    const unsigned char in = before[given[0].at + k], both = before[given[3].at + k];
    uint64_t key;
    memcpy(&key, before + given[4].at, sizeof key);
    const uint32_t made[] = {in, both, (uint32_t)key + (uint32_t)k, (uint32_t)(key >> 32)};
    if (i == 1)
        memcpy(to, made, sizeof made);
    else
        *to = in ^ both;
}

/* The same for work_in_place. */
static void in_place_expected(const struct structs_case *c, unsigned i, size_t k,
                              const unsigned char *before, unsigned char *to)
{
    const unsigned char byte = before[c->given[1].at + k];
    uint32_t number;
    memcpy(&number, before + c->given[0].at + k * sizeof number, sizeof number);
    const uint32_t sum = number + byte;
    if (i == 0)
        memcpy(to, &sum, sizeof sum);
    else
        *to = (unsigned char)(byte ^ number);
}

static void (*const expected[STRUCTS_KERNELS])(const struct structs_case *c, unsigned i, size_t k,
                                               const unsigned char *before, unsigned char *to) = {
    [STRUCTS_WORK_FLOATS] = floats_expected,
    [STRUCTS_WORK_BYTES] = bytes_expected,
    [STRUCTS_WORK_IN_PLACE] = in_place_expected,
};

size_t model_argument_differs(const struct structs_case *c, unsigned i, const unsigned char *before,
                              const unsigned char *after)
{
    const struct model_parameter *parameter = &model_kernels[c->kernel].parameters[i];
    const struct structs_given *given = &c->given[i];
    const bool kept = parameter->way == MODEL_VALUE || parameter->way == MODEL_IN;
    for (size_t at = 0; at < given->size; at += parameter->size) {
        unsigned char must[16];
        if (kept)
            memcpy(must, before + given->at + at, parameter->size);
        else
            expected[c->kernel](c, i, at / parameter->size, before, must);
        if (memcmp(must, after + given->at + at, parameter->size) != 0) return at;
    }
    return MODEL_SAME;
}

bool model_came_back(const struct structs_case *c, unsigned i, const unsigned char *after)
{
    const struct structs_given *given = &c->given[i];
    if (given->way != MODEL_IN) return false;
    if (c->kernel == STRUCTS_WORK_BYTES) return after[given->at] == DRIVE_POISON;
    return number(after, given, 0, sizeof(float)) == (double)SPOILT;
}

/* ---- all of a case ------------------------------------------------------------------------- */

static bool call_right(const struct structs_case *c, const struct structs_input *in,
                       const struct structs_output *out)
{
    if (c->kernel <= STRUCTS_LOOK_LARGE)
        return model_seen_differs(c, in->bytes, out->bytes + c->at) == MODEL_SAME;
    for (uint32_t i = 0; i < c->arguments; i++)
        if (model_argument_differs(c, i, in->bytes, out->bytes) != MODEL_SAME) return false;
    return true;
}

bool model_right(const struct structs_input *in, const struct structs_output *out, uint32_t index,
                 bool without_context)
{
    const struct structs_case *c = &in->cases[index];
    const struct structs_answer *answer = &out->answers[index];
    const struct structs_list *lists = (const void *)(in->bytes + c->at);
    const bool looks = c->step == STRUCTS_STEP_CALL && c->kernel <= STRUCTS_LOOK_LARGE;
    if (answer->lost != 0 || answer->status != 0) return false;
    if (answer->later != 0 && (!without_context || c->step == STRUCTS_STEP_DOUBLE)) return false;
    if (answer->later != 0 && looks) return true; /* nobody can tell any more */
    switch (c->step) {
    case STRUCTS_STEP_DOUBLE:
        return model_double_differs(c, (const void *)(in->bytes + c->at),
                                    (const void *)(out->bytes + c->at)) == MODEL_SAME;
    case STRUCTS_STEP_LAYOUT:
        return model_layout_differs(answer->host) == MODEL_SAME &&
               model_layout_differs(answer->device) == MODEL_SAME;
    case STRUCTS_STEP_MULTIPLY:
        for (uint32_t i = 0; i < c->count; i++)
            if (model_list_differs(c, &lists[i], i, (const void *)(in->bytes + lists[i].at),
                                   (const void *)(out->bytes + lists[i].at)) != MODEL_SAME)
                return false;
        return answer->spoilt == 0;
    default:
        return call_right(c, in, out);
    }
}
