/* Factorisations by elimination, solutions and inverses. */
#include "emulator/standins/cusolver/solver.h"

#include <string.h>

typedef struct solver_given_factors given;

/* Which parameter of a routine is what, from 1 on; 0: there is none. */
static const struct numbers {
    const char *routine;
    int first, m, n, columns, lda, ldb, ldx, room; /* first: the triangle, or the operation */
    bool has_room;
} routines[] = {
    {"potrf", 1, 0, 2, 0, 4, 0, 0, 6, false}, {"potrs", 1, 0, 2, 3, 5, 7, 0, 0, false},
    {"potri", 1, 0, 2, 0, 4, 0, 0, 6, true},  {"lauum", 1, 0, 2, 0, 4, 0, 0, 6, true},
    {"getrf", 0, 1, 2, 0, 4, 0, 0, 0, false}, {"getrs", 1, 0, 2, 3, 5, 8, 0, 0, false},
    {"gesv", 0, 0, 1, 2, 4, 7, 9, 11, true},  {"trtri", 0, 0, 0, 0, 0, 0, 0, 0, true},
};

static const struct numbers *numbers_of(const char *routine)
{
    const struct numbers *at = routines;
    while (strcmp(at->routine, routine) != 0) at++;
    return at;
}

static bool are_sizes(const given *g)
{
    return g->m >= 0 && g->n >= 0 && g->columns >= 0 && g->count >= 0 && solver_is_fill(g->fill) &&
           solver_is_op(g->op) && (g->unit == BLAS_NON_UNIT || g->unit == BLAS_UNIT);
}

int64_t solver_factors_need(const given *g)
{
    if (!are_sizes(g)) return -1;
    return numbers_of(g->routine)->has_room ? g->n * g->n : 0;
}

static enum solver_status look(const struct cusolverDnContext *handle, const given *g, int64_t need)
{
    const struct numbers *at = numbers_of(g->routine);
    const struct solver_demand demands[] = {
        {solver_is_fill(g->fill) && solver_is_op(g->op), at->first},
        {g->m >= 0, at->m != 0 ? at->m : at->n},
        {g->n >= 0, at->n},
        {g->columns >= 0, at->columns},
        {solver_is_matrix(g->m, g->n, g->lda), at->lda},
        {g->b == NULL || solver_is_matrix(g->n, g->columns, g->ldb), at->ldb},
        {g->x == NULL || solver_is_matrix(g->n, g->columns, g->ldx), at->ldx},
        {need >= 0, 0},
        {g->room >= need, at->room},
    };
    return SOLVER_DEMANDS(handle, g->apart ? NULL : g->info, demands);
}

enum solver_status solver_factors(const struct cusolverDnContext *handle, const given *g)
{
    const int64_t need = solver_factors_need(g);
    const struct solver_factors p = {.m = g->m,
                                     .n = g->n,
                                     .columns = g->columns,
                                     .a = {.first = g->a, .ld = g->lda, .apart = g->apart},
                                     .b = {.first = g->b, .ld = g->ldb, .apart = g->apart},
                                     .x = {.first = g->x, .ld = g->ldx},
                                     .work = {.first = g->work, .each = need},
                                     .pivots = g->pivots,
                                     .wide_pivots = g->wide_pivots,
                                     .op = g->op,
                                     .upper = g->fill == BLAS_UPPER,
                                     .unit = g->unit == BLAS_UNIT,
                                     .info = g->info};
    const enum solver_status status = look(handle, g, need);
    if (status != SOLVER_SUCCESS) return status;
    return solver_launch(handle, g->routine, g->letter, g->count, g->m > g->n ? g->m : g->n, &p);
}

static enum solver_status room_for(const given *g, int *room)
{
    return solver_room(solver_factors_need(g), room);
}

/* Rows of A, n columns wide, change places: `first` to `last`, from 1 on. */
static enum solver_status exchange(const struct cusolverDnContext *handle,
                                   enum solver_letter letter, int64_t n, void *a, int64_t lda,
                                   int64_t first, int64_t last, const int *pivots, int64_t step)
{
    const struct solver_factors p = {.n = n,
                                     .a = {.first = a, .ld = lda},
                                     .pivots = (void *)(uintptr_t)pivots,
                                     .first_row = first - 1,
                                     .end_row = last,
                                     .pivot_step = step};
    if (n < 0 || first < 1 || last < first || lda < last || step == 0) return SOLVER_INVALID_VALUE;
    return solver_launch(handle, "laswp", letter, 1, n, &p);
}

#define NOTHING(pointer) (void *)(uintptr_t)(pointer)
#define A_OF_ORDER_N .m = n, .n = n, .a = NOTHING(a), .lda = lda
#define TRIANGLE(L, name) .letter = SOLVER_##L, .routine = name, .fill = fill, A_OF_ORDER_N

#define WITH_ROOM(L, name)                                                                         \
    SOLVER_ROUTINE(L##name##_bufferSize, room_for(&(given){TRIANGLE(L, #name), .count = 1}, room), \
                   int fill, int n, const void *a, int lda, int *room)                             \
    SOLVER_ROUTINE(L##name,                                                                        \
                   solver_factors(handle, &(given){TRIANGLE(L, #name), .work = work, .room = room, \
                                                   .info = info, .count = 1}),                     \
                   int fill, int n, void *a, int lda, void *work, int room, int *info)

#define CHOLESKY(L)                                                                                \
    WITH_ROOM(L, potrf)                                                                            \
    WITH_ROOM(L, potri)                                                                            \
    WITH_ROOM(L, lauum)                                                                            \
    SOLVER_ROUTINE(L##potrs,                                                                       \
                   solver_factors(handle, &(given){TRIANGLE(L, "potrs"), .columns = columns,       \
                                                   .b = b, .ldb = ldb, .info = info, .count = 1}), \
                   int fill, int n, int columns, const void *a, int lda, void *b, int ldb,         \
                   int *info)                                                                      \
    SOLVER_ROUTINE(L##potrfBatched,                                                                \
                   solver_factors(handle, &(given){TRIANGLE(L, "potrf"), .info = info,             \
                                                   .apart = true, .count = count}),                \
                   int fill, int n, void **a, int lda, int *info, int count)                       \
    SOLVER_ROUTINE(                                                                                \
        L##potrsBatched,                                                                           \
        solver_factors(handle, &(given){TRIANGLE(L, "potrs"), .columns = columns, .b = b,          \
                                        .ldb = ldb, .info = info, .apart = true, .count = count}), \
        int fill, int n, int columns, void **a, int lda, void **b, int ldb, int *info, int count)

#define ELIMINATION(L)                                                                             \
    SOLVER_ROUTINE(L##getrf_bufferSize,                                                            \
                   room_for(&(given){.letter = SOLVER_##L,                                         \
                                     .routine = "getrf",                                           \
                                     .m = m,                                                       \
                                     .n = n,                                                       \
                                     .a = NOTHING(a),                                              \
                                     .lda = lda,                                                   \
                                     .count = 1},                                                  \
                            room),                                                                 \
                   int m, int n, const void *a, int lda, int *room)                                \
    SOLVER_ROUTINE(L##getrf,                                                                       \
                   ((void)work, solver_factors(handle, &(given){.letter = SOLVER_##L,              \
                                                                .routine = "getrf",                \
                                                                .m = m,                            \
                                                                .n = n,                            \
                                                                .a = a,                            \
                                                                .lda = lda,                        \
                                                                .pivots = pivots,                  \
                                                                .info = info,                      \
                                                                .count = 1})),                     \
                   int m, int n, void *a, int lda, void *work, int *pivots, int *info)             \
    SOLVER_ROUTINE(L##getrs,                                                                       \
                   solver_factors(handle, &(given){.letter = SOLVER_##L,                           \
                                                   .routine = "getrs",                             \
                                                   .op = op,                                       \
                                                   .columns = columns,                             \
                                                   A_OF_ORDER_N,                                   \
                                                   .b = b,                                         \
                                                   .ldb = ldb,                                     \
                                                   .pivots = NOTHING(pivots),                      \
                                                   .info = info,                                   \
                                                   .count = 1}),                                   \
                   int op, int n, int columns, const void *a, int lda, const int *pivots, void *b, \
                   int ldb, int *info)                                                             \
    SOLVER_ROUTINE(L##laswp, exchange(handle, SOLVER_##L, n, a, lda, first, last, pivots, step),   \
                   int n, void *a, int lda, int first, int last, const int *pivots, int step)

#define OF_TYPE(L) CHOLESKY(L) ELIMINATION(L)
OF_TYPE(S)
OF_TYPE(D)
OF_TYPE(C)
OF_TYPE(Z)
