/* Runs the rows and prints the table.
 *
 * Scalar C and one worker are measured in processor time, on which a busy machine has little
 * effect; one worker against two is measured in wall time, which it does affect: the column "busy"
 * says how much of the one-worker runs' time went to other processes. The gain of a second
 * processor differs from machine to machine and, on a shared one, from minute to minute: "C on 2"
 * is how much more a C loop gets done on both processors than on one, measured beside each pair of
 * runs, and a bound of 1.8 for two workers means 0.9 of that. On a machine with one processor the
 * columns of two are nan. Every figure is the median of rounds that take turns.
 *
 * With --workers=N there are N in place of two, and bounds of two say nothing.
 */
#include "tests/bench/bench.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ROUNDS = 101, MOST_WORKERS = 64 };

enum measure { SCALAR_CPU, ONE_CPU, ONE_WALL, ALL_WALL, RATIO, SCALING, MACHINE, MEASURES };

struct result {
    double median[MEASURES];
    double spread[MEASURES]; /* half the interquartile range, divided by the median */
    size_t differing;        /* words */
};

static double seconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarise(double *values, int count, bool best, double *median, double *spread)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    *median = values[best ? 0 : count / 2];
    *spread = (values[3 * count / 4] - values[count / 4]) / 2 / *median;
}

/* Restricts the process to `count` processors: the device uses one worker for each. False: there
 * are not so many. */
static bool use_processors(int count)
{
    static cpu_set_t all;
    cpu_set_t some;
    int taken = 0;
    if (!CPU_COUNT(&all) && sched_getaffinity(0, sizeof all, &all)) return false;
    CPU_ZERO(&some);
    for (int cpu = 0; cpu < CPU_SETSIZE && taken < count; cpu++) {
        if (!CPU_ISSET(cpu, &all)) continue;
        CPU_SET(cpu, &some);
        taken++;
    }
    return taken == count && !sched_setaffinity(0, sizeof some, &some);
}

static void timed(void (*side)(struct bench_case *), struct bench_case *c, double *cpu,
                  double *wall)
{
    const double cpu_start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    const double wall_start = seconds(CLOCK_MONOTONIC);
    side(c);
    *wall = seconds(CLOCK_MONOTONIC) - wall_start;
    *cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
}

static void *burn(void *argument)
{
    (void)argument;
    scalar_burn(BENCH_BURN);
    return NULL;
}

/* Returns how many times as much that many threads get done as one. */
static double machine_scaling(int workers)
{
    pthread_t others[MOST_WORKERS];
    int count = 0;
    const double start = seconds(CLOCK_MONOTONIC);
    burn(NULL);
    const double one = seconds(CLOCK_MONOTONIC) - start;
    while (count < workers - 1 && !pthread_create(&others[count], NULL, burn, NULL)) count++;
    burn(NULL);
    for (int k = 0; k < count; k++) pthread_join(others[k], NULL);
    return count < workers - 1 ? NAN : workers * one / (seconds(CLOCK_MONOTONIC) - start - one);
}

/* Erases the last results on both sides, outside the measured time. */
static void forget(struct bench_case *c)
{
    memset(c->answer, 0xff, c->out_size);
    device_copy_in(c->answer, c->device_out, c->out_size);
    device_wait();
}

/* Copies the device's result to the host and counts the words that differ from scalar C's. */
static size_t compare(const struct bench_row *row, struct bench_case *c)
{
    if (!row->answers_on_host) device_copy_out(c->device_out, c->answer, c->out_size);
    size_t differing = 0;
    const uint32_t *answer = c->answer, *expected = c->expected;
    for (size_t i = 0; i < c->out_size / 4; i++) differing += answer[i] != expected[i];
    if ((double)differing <= row->differing * (double)(c->out_size / 4)) return differing;
    fprintf(stderr, "bench: %s: %zu of %zu words of the answer are not scalar C's\n", row->name,
            differing, c->out_size / 4);
    exit(1);
}

static bool take_memory(struct bench_case *c)
{
    c->expected = calloc(1, c->out_size);
    c->answer = calloc(1, c->out_size);
    c->device_out = device_take(c->out_size);
    for (int k = 0; k < 2; k++) {
        c->in[k] = calloc(1, c->in_size);
        c->device_in[k] = device_take(c->in_size);
        if (!c->in[k]) return false;
    }
    return c->expected && c->answer;
}

static void give_memory_back(struct bench_case *c)
{
    free(c->expected);
    free(c->answer);
    device_give_back(c->device_out);
    for (int k = 0; k < 2; k++) {
        free(c->in[k]);
        device_give_back(c->device_in[k]);
    }
}

struct options {
    bool tiny, best;
    int rounds, workers;
};

static void run_row(const struct bench_row *row, const struct options *options,
                    struct result *result)
{
    static double values[MEASURES][MOST_ROUNDS];
    struct bench_case c = {.n = options->tiny ? row->tiny : row->n};
    double wall;
    row->prepare(&c);
    if (!take_memory(&c)) {
        fprintf(stderr, "bench: no memory for %s\n", row->name);
        exit(2);
    }
    if (row->fill) row->fill(&c);
    for (int k = 0; k < 2; k++) device_copy_in(c.in[k], c.device_in[k], c.in_size);

    result->differing = 0;
    for (int round = -1; round < options->rounds; round++) {
        /* Round -1 warms up caches and pages; its figures are overwritten. */
        const int at = round < 0 ? 0 : round;
        double cpu;
        use_processors(1);
        timed(row->scalar, &c, &values[SCALAR_CPU][at], &wall);
        forget(&c);
        timed(row->device, &c, &values[ONE_CPU][at], &values[ONE_WALL][at]);
        result->differing = compare(row, &c);
        values[ALL_WALL][at] = values[MACHINE][at] = NAN;
        forget(&c);
        if (use_processors(options->workers)) {
            timed(row->device, &c, &cpu, &values[ALL_WALL][at]);
            compare(row, &c);
            values[MACHINE][at] =
                options->tiny ? options->workers : machine_scaling(options->workers);
        }
        values[RATIO][at] = values[SCALAR_CPU][at] / values[ONE_CPU][at];
        values[SCALING][at] = values[ONE_WALL][at] / values[ALL_WALL][at];
    }
    for (int k = 0; k < MEASURES; k++)
        summarise(values[k], options->rounds, options->best, &result->median[k],
                  &result->spread[k]);
    if (options->best) {
        result->median[RATIO] = result->median[SCALAR_CPU] / result->median[ONE_CPU];
        result->median[SCALING] = result->median[ONE_WALL] / result->median[ALL_WALL];
    }
    give_memory_back(&c);
}

static void print_head(const struct options *options)
{
    char workers[24], machine[24];
    snprintf(workers, sizeof workers, "%d work. ms", options->workers);
    snprintf(machine, sizeof machine, "C on %d", options->workers);
    printf("%s of %d interleaved rounds; +- is half the distance between the quartiles\n\n",
           options->best ? "shortest" : "medians", options->rounds);
    printf("%-21s %10s %10s %8s %5s %7s %11s %8s %5s %7s %7s %5s  %s\n", "kernel", "C -O2 ms",
           "device ms", "C/device", "+-", "at least", workers, "scaling", "+-", "at least", machine,
           "busy", "what");
}

/* What is checked for races may take twice as long. */
static double required_of(const struct bench_row *row)
{
    const char *races = getenv("OVERLAP_RACES");
    return races != NULL && !strcmp(races, "off") ? row->required : row->required / 2;
}

static bool print_row(const struct bench_row *row, const struct options *options,
                      const struct result *result)
{
    const double least = required_of(row),
                 least_two = options->workers == 2 ? row->required_two : 0;
    const double *median = result->median, *spread = result->spread;
    const double busy = 1 - median[ONE_CPU] / median[ONE_WALL];
    char required[16] = "", required_two[16] = "", note[48] = "";
    if (least > 0) snprintf(required, sizeof required, "%.2f", least);
    if (least_two > 0) snprintf(required_two, sizeof required_two, "%.2f", least_two);
    if (result->differing) snprintf(note, sizeof note, " (%zu differ)", result->differing);
    const bool met = median[RATIO] >= least && !(median[SCALING] < least_two * median[MACHINE] / 2);
    printf("%-21s %10.3f %10.3f %8.3f %4.0f%% %8s %11.3f %8.2f %4.0f%% %8s %7.2f %4.0f%%  %s%s%s\n",
           row->name, 1e3 * median[SCALAR_CPU], 1e3 * median[ONE_CPU], median[RATIO],
           100 * spread[RATIO], required, 1e3 * median[ALL_WALL], median[SCALING],
           100 * spread[SCALING], required_two, median[MACHINE], 100 * fmax(busy, 0), row->work,
           note, met ? "" : "  NOT MET");
    fflush(stdout);
    return met;
}

static void usage(void)
{
    fprintf(stderr,
            "bench [--tiny] [--rounds=N] [--best] [--workers=N] [WORD ...]\n"
            "  --tiny      small sizes, one round: are the answers right? No times count.\n"
            "  --rounds=N  measurements per figure (default 9)\n"
            "  --best      the shortest time of each instead of the median: to compare two\n"
            "              builds while the machine is busy\n"
            "  --workers=N how many are compared with one (default 2)\n"
            "  WORD        only the rows whose name contains one of the words\n"
            "Exit status: 0 all is right, 1 an answer is wrong or a bound is not met, 2 "
            "it could not run.\n");
    exit(2);
}

static bool wanted(const struct bench_row *row, char **words, int count)
{
    for (int k = 0; k < count; k++)
        if (strstr(row->name, words[k])) return true;
    return count == 0;
}

int main(int argc, char **argv)
{
    struct options options = {.rounds = 9, .workers = 2};
    int words = 0;
    for (int k = 1; k < argc; k++) {
        if (!strcmp(argv[k], "--tiny"))
            options.tiny = true;
        else if (!strcmp(argv[k], "--best"))
            options.best = true;
        else if (!strncmp(argv[k], "--rounds=", 9))
            options.rounds = atoi(argv[k] + 9);
        else if (!strncmp(argv[k], "--workers=", 10))
            options.workers = atoi(argv[k] + 10);
        else if (argv[k][0] == '-')
            usage();
        else
            argv[1 + words++] = argv[k];
    }
    if (options.rounds < 1 || options.rounds > MOST_ROUNDS) usage();
    if (options.workers < 2 || options.workers > MOST_WORKERS) usage();
    if (options.tiny) options.rounds = 1;
    bool met = true;
    unsetenv("OVERLAP_WORKERS");
    if (!options.tiny) print_head(&options);
    for (size_t k = 0; k < bench_row_count; k++) {
        struct result result;
        if (!wanted(&bench_rows[k], argv + 1, words)) continue;
        run_row(&bench_rows[k], &options, &result);
        if (!options.tiny) met = print_row(&bench_rows[k], &options, &result) && met;
    }
    return met ? 0 : 1;
}
