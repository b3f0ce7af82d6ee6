#include "grader/evidence/host_reference.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Said again here, and not taken from the kernel's header: the judge's idea of the right answer
 * must not move when the kernel does. */
#define ROUNDS 50
#define PERIOD 1009u

/* Every step rounded to float, on every compiler. */
static float step_by_step(float input, size_t index, unsigned marks)
{
    volatile float value = input;
    for (int round = 0; round < ROUNDS; round++) {
        value = value * 2.0f;
        value = value / 2.0f;
    }
    return value + (float)(marks * (1u + (unsigned)(index % PERIOD)));
}

float host_reference_marked(float input, size_t index, unsigned marks)
{
    /* Doubling and halving are exact between these bounds: what is left of them is the input. */
    if (!(fabsf(input) < 0x1p+126f && fabsf(input) > 0x1p-120f))
        return step_by_step(input, index, marks);
    return input + (float)(marks * (1u + (unsigned)(index % PERIOD)));
}

float host_reference_expected(float input, size_t index)
{
    return host_reference_marked(input, index, 1);
}

static bool same(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* What a wrong element is. The order is that of the questions: the first that fits is the answer.
 */
enum wrong { WRONG_POISON, WRONG_UNCHANGED, WRONG_TWICE, WRONG_KERNEL, WRONG_VALUE, WRONG_COUNT };

static const struct {
    const char *what, *why;
} wrongs[WRONG_COUNT] = {
    [WRONG_POISON] = {"still hold what was in the memory before the call",
                      "Nothing has written them, or the copy out had not finished."},
    [WRONG_UNCHANGED] = {"came back as they went in",
                         "The kernel adds a number to every element, so it has not run on these."},
    [WRONG_TWICE] = {"have been through the kernel twice",
                     "The kernel adds to the element, so a second launch shows."},
    [WRONG_KERNEL] = {"have been through another kernel than the one that was given",
                      "This call was given another kernel than the call before it. What is kept "
                      "from one call to the next (a captured graph) still has the first one."},
    [WRONG_VALUE] =
        {"are wrong",
         "The value of another element, of another array, or of memory that was never written."},
};

static enum wrong classify(float input, float output, size_t index, unsigned marks)
{
    float poison;
    memset(&poison, DRIVE_POISON, sizeof poison);
    if (same(output, poison)) return WRONG_POISON;
    if (same(output, input)) return WRONG_UNCHANGED;
    if (marks != 1 && same(output, host_reference_expected(input, index))) return WRONG_KERNEL;
    if (same(output,
             host_reference_marked(host_reference_marked(input, index, marks), index, marks)))
        return WRONG_TWICE;
    return WRONG_VALUE;
}

bool host_reference_compare(struct verdict *verdict, const struct evidence *evidence,
                            const struct host_reference_array *array)
{
    const unsigned marks = array->marks != 0 ? array->marks : 1;
    size_t wrong = 0, first = 0, last = 0;
    enum wrong kind = WRONG_VALUE;

    for (size_t i = 0; i < array->length; i++) {
        if (same(array->output[i], host_reference_marked(array->input[i], i, marks))) continue;
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

    const char *stretch = "";
    if (wrong == array->length)
        stretch = ", all of them,";
    else if (last == array->length - 1 && last - first + 1 == wrong)
        stretch = ", its end,";
    char what[400];
    snprintf(what, sizeof what,
             "%c%s: %zu of its %zu elements%s %s; the first is element %zu: %.9g, must be %.9g (it "
             "was %.9g before).",
             toupper((unsigned char)array->name[0]), array->name + 1, wrong, array->length, stretch,
             wrongs[kind].what, first, (double)array->output[first],
             (double)host_reference_marked(array->input[first], first, marks),
             (double)array->input[first]);
    if (array->at != NULL)
        verdict_fail(verdict, evidence, array->at, "%s", what);
    else
        verdict_fail_in(verdict, evidence, array->function, "%s", what);
    verdict_why(verdict, "%s", wrongs[kind].why);
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
