#include "grader/evidence/host_reference.h"
#include "grader/base/messages.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Repeated here instead of taken from the kernel's header: the judge's expected result must not
 * change when the kernel does. */
#define ROUNDS 50
#define PERIOD 1009u

/* Computes the result with every step rounded to float, whatever the compiler. */
static float step_by_step(float input, size_t index, unsigned marks)
{
    volatile float value = input;
    for (int round = 0; round < ROUNDS; round++) {
        value = value * 2.0f;
        value = value / 2.0f;
    }
    return value + (float)(marks * (1u + (unsigned)(index % PERIOD)));
}

/* Returns the result of a kernel that adds `marks` times the element's mark (multiply_divide_twice:
 * 2). */
static float marked(float input, size_t index, unsigned marks)
{
    /* Doubling and halving are exact between these bounds and leave the input unchanged. */
    if (!(fabsf(input) < 0x1p+126f && fabsf(input) > 0x1p-120f))
        return step_by_step(input, index, marks);
    return input + (float)(marks * (1u + (unsigned)(index % PERIOD)));
}

float host_reference_expected(float input, size_t index)
{
    return marked(input, index, 1);
}

static bool same(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* How an element is wrong. The tests are made in this order; the first that matches decides.
 */
enum wrong { WRONG_POISON, WRONG_UNCHANGED, WRONG_TWICE, WRONG_KERNEL, WRONG_VALUE, WRONG_COUNT };

static const struct {
    const char *what, *why, *hint;
} wrongs[WRONG_COUNT] = {
    [WRONG_POISON] =
        {N_("still hold what was in the memory before the call"),
         N_("Nothing has written them, or the copy out had not finished."),
         N_("Is all of it copied out, length * sizeof(float) bytes, and waited for before "
            "the function returns?")},
    [WRONG_UNCHANGED] =
        {N_("came back as they went in"),
         N_("The kernel adds a number to every element, so it has not run on these."),
         N_("Each array goes through the kernel once, with its own pointer and its "
            "own length in floats, and comes back behind it.")},
    [WRONG_TWICE] = {N_("have been through the kernel twice"),
                     N_("The kernel adds to the element, so a second launch shows."),
                     N_("Launch it once for each array; a warm-up launch counts as well.")},
    [WRONG_KERNEL] = {N_("have been through another kernel than the one that was given"),
                      N_("This call was given another kernel than the call before it. What is kept "
                         "from one call to the next (a captured graph) still has the first one."),
                      N_("Launch the kernel that this call was given. A graph that is kept is made "
                         "again, or its kernel node changed, when it is another one.")},
    [WRONG_VALUE] =
        {N_("are wrong"),
         N_("The value of another element, of another array, or of memory that was never "
            "written."),
         N_("Look at each copy: from and to its own array, in the right direction, "
            "length * sizeof(float) bytes.")},
};
#define HINT_OF_AN_END                                                                             \
    N_("The end was left out: a kernel's length counts floats, a copy's size bytes (length * "     \
       "sizeof(float)), and each array has a length of its own.")

static enum wrong classify(float input, float output, size_t index, unsigned marks)
{
    float poison;
    memset(&poison, DRIVE_POISON, sizeof poison);
    if (same(output, poison)) return WRONG_POISON;
    if (same(output, input)) return WRONG_UNCHANGED;
    if (marks != 1 && same(output, host_reference_expected(input, index))) return WRONG_KERNEL;
    if (same(output, marked(marked(input, index, marks), index, marks))) return WRONG_TWICE;
    return WRONG_VALUE;
}

static bool is_copy(const struct trace_record *operation, bool to_host)
{
    const uint32_t host = to_host ? operation->to : operation->from;
    return operation->what == TRACE_COPY && (host == TRACE_PINNED || host == TRACE_PAGEABLE);
}

/* Returns the statement that wrong elements of this kind come from, as far as the record shows. */
static const struct trace_record *suspect(const struct evidence *evidence,
                                          const struct host_reference_array *array, enum wrong kind)
{
    const bool in_kernel = kind == WRONG_UNCHANGED || kind == WRONG_TWICE || kind == WRONG_KERNEL;
    const struct query operations = {.phase = array->phase, .kind = TRACE_OPERATION};
    const struct trace_record *found = NULL, *r = NULL;
    size_t count = 0;

    if (array->at != NULL || array->phase == NULL) return array->at;
    while ((r = evidence_next(evidence, &operations, r)) != NULL) {
        if (in_kernel ? r->what != TRACE_KERNEL : !is_copy(r, true)) continue;
        found = r;
        if (kind == WRONG_TWICE && ++count == 2) break;
    }
    return found;
}

bool host_reference_say_short(struct verdict *verdict, const struct evidence *evidence,
                              const struct host_reference_array *array)
{
    const uint64_t bytes = array->length * sizeof(float);
    const struct query operations = {.phase = array->phase, .kind = TRACE_OPERATION};

    for (int to_host = 0; to_host < 2 && array->alone && array->phase != NULL; to_host++) {
        const struct trace_record *last = NULL, *r = NULL;
        uint64_t copied = 0;
        while ((r = evidence_next(evidence, &operations, r)) != NULL) {
            if (!is_copy(r, to_host != 0)) continue;
            copied += r->bytes;
            last = r;
        }
        if (last == NULL || copied >= bytes) continue;
        if (to_host != 0)
            verdict_fail(verdict, evidence, last, "%c%s: of its %llu bytes %llu are copied back.",
                         toupper((unsigned char)array->name[0]), array->name + 1,
                         (unsigned long long)bytes, (unsigned long long)copied);
        else
            verdict_fail(verdict, evidence, last,
                         "%c%s: of its %llu bytes %llu are copied to the device.",
                         toupper((unsigned char)array->name[0]), array->name + 1,
                         (unsigned long long)bytes, (unsigned long long)copied);
        verdict_why(verdict, "What is not copied is whatever was in the memory before.");
        verdict_hint(verdict, "%s", _(HINT_OF_AN_END));
        return true;
    }
    return false;
}

bool host_reference_compare(struct verdict *verdict, const struct evidence *evidence,
                            const struct host_reference_array *array)
{
    const unsigned marks = array->marks != 0 ? array->marks : 1;
    size_t wrong = 0, first = 0, last = 0;
    enum wrong kind = WRONG_VALUE;

    for (size_t i = 0; i < array->length; i++) {
        if (same(array->output[i], marked(array->input[i], i, marks))) continue;
        const enum wrong this = classify(array->input[i], array->output[i], i, marks);
        if (wrong == 0) {
            first = i;
            kind = this;
        } else if (this != kind) {
            kind = WRONG_VALUE;
        }
        last = i;
        wrong++;
    }
    if (wrong == 0) return true;
    if (host_reference_say_short(verdict, evidence, array)) return false;

    const bool end =
        wrong < array->length && last == array->length - 1 && last - first + 1 == wrong;
    const char *stretch = wrong == array->length ? _(", all of them,") : end ? _(", its end,") : "";
    const struct trace_record *at = suspect(evidence, array, kind);
    char what[400];
    snprintf(
        what, sizeof what,
        _("%c%s: %zu of its %zu elements%s %s; the first is element %zu: %.9g, must be %.9g (it "
          "was %.9g before)."),
        toupper((unsigned char)array->name[0]), array->name + 1, wrong, array->length, stretch,
        _(wrongs[kind].what), first, (double)array->output[first],
        (double)marked(array->input[first], first, marks), (double)array->input[first]);
    if (at != NULL)
        verdict_fail(verdict, evidence, at, "%s", what);
    else
        verdict_fail_in(verdict, evidence, array->function, "%s", what);
    verdict_why(verdict, "%s", _(wrongs[kind].why));
    verdict_hint(verdict, "%s", _(end ? HINT_OF_AN_END : wrongs[kind].hint));
    return false;
}

bool host_reference_same(const float *input, const float *output, size_t length)
{
    size_t i = 0;
    while (i < length && same(output[i], host_reference_expected(input[i], i))) i++;
    return i == length;
}

double host_reference_sum(const float *input, size_t length, double *scale)
{
    double sum = 0.0;
    *scale = 0.0;
    for (size_t i = 0; i < length; i++) {
        const double value = host_reference_expected(input[i], i);
        sum += value;
        *scale += fabs(value);
    }
    return sum;
}

void host_reference_draw(struct random_source *random, float *values, size_t length)
{
    for (size_t i = 0; i < length; i++) values[i] = (float)random_real(random, -1000.0, 1000.0);
}
