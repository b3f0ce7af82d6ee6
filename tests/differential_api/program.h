/* program: one random API program of the differential test, which draws its calls and makes them.
 *
 * A program is named family/number, and that name alone determines every draw; results of calls do
 * not: the same calls are made on every device. Every call is logged with its code, and so is every
 * result that CUDA specifies (data after a synchronisation, a query of finished or of held-up
 * work); handles and addresses are logged as symbols. Results that CUDA leaves open are not logged.
 * main.c compares the logs.
 *
 * Source: CUDA Runtime API and Driver API 13.0.
 */
#ifndef DIFFERENTIAL_PROGRAM_H
#define DIFFERENTIAL_PROGRAM_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct program {
    const char *family;
    unsigned number;
    uint64_t state; /* of the random draws */
    uint32_t text;  /* hash of the program's calls, whatever they return */
    int log;        /* file descriptor: one write per line, so that a crash loses no line */
    bool runtime_error_seen;
};

/* ---- draws ---- */
uint64_t draw64(struct program *p);
unsigned draw(struct program *p, unsigned below);
bool chance(struct program *p, unsigned percent);
/* Draws one of several values of one type. */
#define PICK(p, type, ...)                                                                         \
    (((type const[]){__VA_ARGS__})[draw(p, sizeof((type const[]){__VA_ARGS__}) / sizeof(type))])

/* ---- the log: a line each, without its newline ---- */
void note(struct program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Logs the call as it was written, and its result. Pass the call itself as `code`. */
cudaError_t rt(struct program *p, cudaError_t code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
CUresult dr(struct program *p, CUresult code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Returns a hash of contents, to compare them without logging all of them. */
uint32_t digest(const void *bytes, size_t size);

/* ---- families ---- */

/* One kind of call, drawn by weight. `self` is the family's own state. */
struct action {
    const char *name;
    unsigned weight;
    void (*act)(struct program *p, void *self);
};
/* Draws one action and carries it out. */
void act(struct program *p, const struct action *actions, size_t count, void *self);
#define ACT(p, actions, self) act(p, actions, sizeof(actions) / sizeof *(actions), self)

struct family {
    const char *name;
    unsigned programs;    /* how many there are */
    unsigned per_process; /* how many share a process; 1: one program cannot affect another */
    void (*run)(struct program *p);
};

/* All of them, in families.def. */
extern const struct family families[];
extern const size_t family_count;

#endif
