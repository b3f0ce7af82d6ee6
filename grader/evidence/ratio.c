#include "grader/evidence/ratio.h"

#include <math.h>
#include <stdlib.h>

/* Student's t, two-sided 5 % and 1 %, for 2 to 8 pairs. */
static const struct {
    double most_95, most_99;
} student[] = {
    [2] = {12.706, 63.657}, [3] = {4.303, 9.925}, [4] = {3.182, 5.841}, [5] = {2.776, 4.604},
    [6] = {2.571, 4.032},   [7] = {2.447, 3.707}, [8] = {2.365, 3.499}};

#define FEW (sizeof student / sizeof *student - 1)

/* With fewer pairs even a clear answer is not believed. */
#define FEWEST_PAIRS 3
#define ENOUGH_PAIRS 16
#define LONG_ENOUGH_S 0.5

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double middle_of(const double *sorted, size_t count)
{
    return count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static double median(const struct ratio_pair *pairs, size_t count, bool reference)
{
    double numbers[RATIO_MOST_PAIRS];

    for (size_t i = 0; i < count; i++)
        numbers[i] = reference ? pairs[i].reference : pairs[i].submission;
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    return middle_of(numbers, count);
}

/* Returns how many of the sorted ratios may lie outside at each end so that the median is between
 * the others with an error probability of at most `error` (tail of the binomial distribution). -1:
 * too few pairs. */
static int outside(size_t count, double error)
{
    double probability = pow(0.5, (double)count), tail = 0;
    int most = -1;

    for (size_t k = 0; k < count / 2; k++) {
        tail += probability;
        if (2 * tail > error) break;
        most = (int)k;
        probability *= (double)(count - k) / (double)(k + 1);
    }
    return most;
}

static void interval(const double *sorted, size_t count, double error, double *low, double *high)
{
    const int k = outside(count, error);

    if (count == 1 || k >= 0) {
        *low = sorted[k > 0 ? k : 0];
        *high = sorted[count - 1 - (size_t)(k > 0 ? k : 0)];
        return;
    }
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) sum += log(sorted[i]);
    const double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) squares += (log(sorted[i]) - mean) * (log(sorted[i]) - mean);
    const size_t row = count < FEW ? count : FEW;
    const double t = error < 0.03 ? student[row].most_99 : student[row].most_95;
    const double wide = t * sqrt(squares / (double)(count - 1) / (double)count);
    *low = exp(mean - wide);
    *high = exp(mean + wide);
}

struct ratio ratio_of(const struct ratio_pair *pairs, size_t count,
                      const struct threshold *threshold)
{
    struct ratio ratio = {.pairs = count};
    double sorted[RATIO_MOST_PAIRS], low, high;

    for (size_t i = 0; i < count; i++) sorted[i] = pairs[i].submission / pairs[i].reference;
    qsort(sorted, count, sizeof *sorted, compare_numbers);
    ratio.submission_s = median(pairs, count, false);
    ratio.reference_s = median(pairs, count, true);
    ratio.middle = middle_of(sorted, count);
    ratio.limit = threshold_at(threshold, ratio.reference_s);
    interval(sorted, count, 0.05, &ratio.low, &ratio.high);
    interval(sorted, count, 0.01, &low, &high);
    ratio.answer = ratio.high <= ratio.limit ? RATIO_MET
                   : low > ratio.limit       ? RATIO_NOT_MET
                                             : RATIO_UNCLEAR;
    return ratio;
}

struct ratio ratio_of_few(const struct ratio_pair *pairs, size_t count,
                          const struct threshold *threshold)
{
    struct ratio ratio = ratio_of(pairs, count, threshold);

    if (count == 1 && ratio.middle > ratio.limit / RATIO_CLEARLY &&
        ratio.middle < ratio.limit * RATIO_CLEARLY)
        ratio.answer = RATIO_UNCLEAR;
    return ratio;
}

bool ratio_is_settled(const struct ratio *ratio, double spent_s)
{
    if (ratio->answer == RATIO_UNCLEAR || ratio->pairs < FEWEST_PAIRS) return false;
    return ratio->pairs >= ENOUGH_PAIRS || spent_s >= LONG_ENOUGH_S;
}
