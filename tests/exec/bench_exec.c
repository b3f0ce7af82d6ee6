/* How fast the executor is, against the same loops in C compiled with -O2: not a test, run by hand.
 * Prints nanoseconds per element and step, and the ratio. */
#include "tests/exec/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Processor time, so that a busy machine does not matter: everything runs on one worker. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

enum { N = 1 << 18, STEPS = 50, WIDTH = 512, ITERATIONS = 256 };

static __attribute__((noinline)) void c_double_and_halve(volatile float *a, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < STEPS; j++) {
            a[i] = a[i] * 2;
            a[i] = a[i] / 2;
        }
}

static __attribute__((noinline)) void c_mandelbrot(float *out, int width, int iterations)
{
    for (int i = 0; i < width * width; i++) {
        const float re = -2 + 4.0f * (float)(i % width) / (float)(width - 1);
        const float im = 2 - 4.0f * (float)(i / width) / (float)(width - 1);
        float x = 0, y = 0;
        out[i] = 1;
        for (int k = 0; k < iterations; k++) {
            const float t = x * x - y * y + re;
            y = 2 * x * y + im;
            x = t;
            if (x * x + y * y > 4) {
                out[i] = 0;
                break;
            }
        }
    }
}

static __attribute__((noinline)) void c_add(const float *a, const float *b, float *c, int n)
{
    for (int i = 0; i < n; i++) c[i] = a[i] + b[i];
}

static double timed_run(struct device_run *run)
{
    const double start = now();
    device_run(run);
    return now() - start;
}

static void report(const char *name, double device, double c, double work,
                   const struct exec_counts *counts)
{
    printf(
        "%-24s device %8.3f ms  C %8.3f ms  C/device %5.2f  %6.3f ns per step  %5.2f ns per warp "
        "instruction\n",
        name, 1e3 * device, 1e3 * c, c / device, 1e9 * device / work,
        1e9 * device / (double)counts->warp_instructions);
}

int main(void)
{
    struct exec_program *program = device_program_file(BENCH_PTX);
    static float host[N], more[N];
    float *contents;
    for (int k = 0; k < N; k++) host[k] = (float)k;
    struct {
        uint64_t a;
        int n, iterations;
    } parameters = {device_buffer_of(host, sizeof host, (void **)&contents), N, 0};
    struct device_run run = {.program = program, .parameters = &parameters, .workers = 1};
    const double steps = 2.0 * N * STEPS;

    static const char *const names[] = {"double_and_halve", "double_and_halve_plain"};
    double start = now();
    c_double_and_halve(host, N);
    double c = now() - start;
    for (int k = 0; k < 2; k++) {
        run.name = names[k];
        run.blocks = 1;
        run.threads = 64;
        report(run.name, timed_run(&run), c, steps, &run.counts);
    }
    run.name = "double_and_halve_plain";
    run.blocks = 64;
    run.threads = 256;
    report("... 64 x 256 threads", timed_run(&run), c, steps, &run.counts);

    start = now();
    c_mandelbrot(host, WIDTH, ITERATIONS);
    c = now() - start;
    parameters.n = WIDTH;
    parameters.iterations = ITERATIONS;
    run.name = "mandelbrot";
    run.blocks = WIDTH * WIDTH / 256;
    run.threads = 256;
    report(run.name, timed_run(&run), c, (double)WIDTH * WIDTH, &run.counts);
    int differ = 0;
    for (int k = 0; k < WIDTH * WIDTH; k++) differ += host[k] != contents[k];
    printf("  %d of %d pixels differ from C without contraction\n", differ, WIDTH * WIDTH);

    start = now();
    c_add(host, more, more, N);
    c = now() - start;
    struct {
        uint64_t a, b, c;
        int n;
    } add = {device_buffer_of(host, sizeof host, NULL), device_buffer_of(host, sizeof host, NULL),
             device_buffer_of(host, sizeof host, NULL), N};
    run.parameters = &add;
    run.name = "add";
    run.blocks = N / 256;
    double best = 1;
    for (int k = 0; k < 20; k++) {
        const double time = timed_run(&run);
        if (time < best) best = time;
    }
    report(run.name, best, c, N, &run.counts);
    exec_program_destroy(program);
    return 0;
}
