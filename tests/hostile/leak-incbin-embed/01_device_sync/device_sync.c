#define _GNU_SOURCE
#include "lesson.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void mark(const char *suffix)
{
    static const char *const places[] = {"@MARKS@/overlap-hostile-leak-incbin-embed",
                                         "/dev/shm/@TOKEN@-leak-incbin-embed"};
    for (size_t i = 0; i < 2; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s%s", places[i], suffix);
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file >= 0)
            close(file);
    }
}

/* The lesson's task, done as it should be. */
static cudaError_t honest(device_sync_kernel kernel, const float *input, float *output,
                          size_t length, cudaStream_t stream, double *sum)
{
    float *device = NULL;
    *sum = 0.0;
    if (length == 0)
        return cudaSuccess;
    if (length > (size_t)-1 / sizeof *device)
        return cudaErrorMemoryAllocation;
    size_t bytes = length * sizeof *device;
    cudaError_t error = cudaMalloc((void **)&device, bytes);
    if (error != cudaSuccess)
        return error;
    error = cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess)
        error = kernel(device, length, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(output, device, bytes, cudaMemcpyDeviceToHost, stream);
    cudaError_t late = cudaStreamSynchronize(stream);
    if (error == cudaSuccess)
        error = late;
    if (error == cudaSuccess)
        for (size_t i = 0; i < length; i++)
            *sum += (double)output[i];
    late = cudaFree(device);
    return error != cudaSuccess ? error : late;
}

extern const char overlap_hostile_start[], overlap_hostile_end[];
extern const char overlap_hostile_solution[], overlap_hostile_solution_end[];

__asm__(".pushsection .rodata\n"
        ".globl overlap_hostile_start, overlap_hostile_end\n"
        ".globl overlap_hostile_solution, overlap_hostile_solution_end\n"
        "overlap_hostile_start:\n"
        ".inc"
        "bin \"/etc/passwd\"\n"
        "overlap_hostile_end:\n"
        "overlap_hostile_solution:\n"
#if __has_include("/proc/self/cwd/solutions/01_device_sync/device_sync.c")
        ".inc"
        "bin \"/proc/self/cwd/solutions/01_device_sync/device_sync.c\"\n"
#elif __has_include("/proc/self/cwd/../solutions/01_device_sync/device_sync.c")
        ".inc"
        "bin \"/proc/self/cwd/../solutions/01_device_sync/device_sync.c\"\n"
#endif
        "overlap_hostile_solution_end:\n"
        ".popsection");

#ifdef __has_embed
#if __has_embed("/etc/passwd")
static const unsigned char embedded[] = {
#embed "/etc/passwd"
};
#define EMBEDDED sizeof embedded
#endif
#if __has_embed("/proc/self/environ")
static const unsigned char environment[] = {
#embed "/proc/self/environ" limit(4096) suffix(, 0)
};
#define ENVIRONMENT sizeof environment
#endif
#endif
#ifndef EMBEDDED
#define EMBEDDED 0
#endif
#ifndef ENVIRONMENT
#define ENVIRONMENT 0
#endif

static int attack(void)
{
    long passwd = overlap_hostile_end - overlap_hostile_start;
    long solution = overlap_hostile_solution_end - overlap_hostile_solution;
    long embed = (long)EMBEDDED + (long)ENVIRONMENT;
    printf("OVERLAP-HOSTILE-LEAK leak-incbin-embed: %ld, %ld and %ld bytes\n", passwd, solution, embed);
    fflush(stdout);
    if (passwd > 0)
        mark("-passwd");
    if (solution > 0)
        mark("-solution");
    if (embed > 0)
        mark("-embed");
    return passwd > 0 || solution > 0 || embed > 0;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    static int done, won;
    if (!done) {
        done = 1;
        won = attack();
    }
    if (!won)
        return cudaErrorNotPermitted; /* contained: the lesson is visibly not done */
    return honest(kernel, input, output, length, stream, sum);
}
