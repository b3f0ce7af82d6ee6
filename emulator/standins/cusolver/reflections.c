/* Factorisations by reflections, and their products with matrices. */
#include "emulator/standins/cusolver/solver.h"

#include <string.h>

typedef struct solver_given_reflections given;

static bool is_real(enum solver_letter letter)
{
    return letter == SOLVER_S || letter == SOLVER_D;
}

/* Q has as many rows as B, or, on the right, as B has columns. */
static int64_t order_of(const given *g)
{
    return g->side == BLAS_LEFT ? g->m : g->n;
}

static bool is_product(const given *g)
{
    return (g->side == BLAS_LEFT || g->side == BLAS_RIGHT) &&
           (g->op == BLAS_OP_N || g->op == (is_real(g->letter) ? BLAS_OP_T : BLAS_OP_C)) &&
           g->k >= 0 && g->k <= order_of(g);
}

int64_t solver_reflections_need(const given *g)
{
    if (g->m < 0 || g->n < 0 || g->columns < 0) return -1;
    if (strcmp(g->routine, "ormqr") == 0) return is_product(g) ? 0 : -1;
    if (strcmp(g->routine, "geqrf") == 0) return 0;
    if (g->n > g->m) return -1;
    if (strcmp(g->routine, "orgqr") == 0) return g->k >= 0 && g->k <= g->n ? g->m * g->k : -1;
    return g->m * (g->n + g->columns) + g->n;
}

/* The parameters' numbers are those of each routine, in the order in which they are looked at. */
static enum solver_status look(const struct cusolverDnContext *handle, const given *g, int64_t need)
{
    const bool fits = g->room >= need, is_a = solver_is_matrix(g->m, g->n, g->lda);
    if (strcmp(g->routine, "ormqr") == 0) {
        const struct solver_demand demands[] = {
            {g->side == BLAS_LEFT || g->side == BLAS_RIGHT, 1},
            {g->op == BLAS_OP_N || g->op == (is_real(g->letter) ? BLAS_OP_T : BLAS_OP_C), 2},
            {g->m >= 0, 3},
            {g->n >= 0, 4},
            {g->k >= 0 && g->k <= order_of(g), 5},
            {solver_is_matrix(order_of(g), g->k, g->lda), 7},
            {solver_is_matrix(g->m, g->n, g->ldb), 10},
            {fits, 12},
        };
        return SOLVER_DEMANDS(handle, g->info, demands);
    }
    if (strcmp(g->routine, "gels") == 0) {
        const struct solver_demand demands[] = {
            {g->m >= 0, 1},
            {g->n >= 0 && g->n <= g->m, 2},
            {g->columns >= 0, 3},
            {is_a, 5},
            {solver_is_matrix(g->m, g->columns, g->ldb), 7},
            {solver_is_matrix(g->n, g->columns, g->ldx), 9},
            {fits, 11},
        };
        return SOLVER_DEMANDS(handle, g->info, demands);
    }
    const bool is_q = strcmp(g->routine, "orgqr") == 0;
    const struct solver_demand demands[] = {
        {g->m >= 0, 1},
        {g->n >= 0 && (!is_q || g->n <= g->m), 2},
        {!is_q || (g->k >= 0 && g->k <= g->n), 3},
        {is_a, is_q ? 5 : 4},
        {fits, is_q ? 8 : 7},
    };
    return SOLVER_DEMANDS(handle, g->info, demands);
}

enum solver_status solver_reflections(const struct cusolverDnContext *handle, const given *g)
{
    const int64_t need = solver_reflections_need(g);
    const struct solver_reflections p = {.m = g->m,
                                         .n = g->n,
                                         .k = g->k,
                                         .columns = g->columns,
                                         .a = {.first = g->a, .ld = g->lda},
                                         .b = {.first = g->b, .ld = g->ldb},
                                         .x = {.first = g->x, .ld = g->ldx},
                                         .tau = g->tau,
                                         .work = {.first = g->work, .each = need},
                                         .right = g->side == BLAS_RIGHT,
                                         .op = g->op,
                                         .info = g->info};
    const enum solver_status status = look(handle, g, need);
    if (status != SOLVER_SUCCESS) return status;
    return solver_launch(handle, g->routine, g->letter, 1, g->m > g->n ? g->m : g->n, &p);
}

static enum solver_status room_for(const given *g, int *room)
{
    return solver_room(solver_reflections_need(g), room);
}

#define PLACE(pointer) (void *)(uintptr_t)(pointer)
#define ROUTINE(L, name) .letter = SOLVER_##L, .routine = name
#define A_M_BY_N .m = m, .n = n, .a = PLACE(a), .lda = lda
#define PRODUCT(L)                                                                                 \
    ROUTINE(L, "ormqr"), A_M_BY_N, .side = side, .op = op, .k = k, .tau = PLACE(tau),              \
                                   .b = PLACE(b), .ldb = ldb

/* O: what the names of its Q begin with. */
#define OF_TYPE(L, O)                                                                              \
    SOLVER_ROUTINE(L##geqrf_bufferSize, room_for(&(given){ROUTINE(L, "geqrf"), A_M_BY_N}, room),   \
                   int m, int n, void *a, int lda, int *room)                                      \
    SOLVER_ROUTINE(L##geqrf,                                                                       \
                   solver_reflections(handle, &(given){ROUTINE(L, "geqrf"), A_M_BY_N, .tau = tau,  \
                                                       .work = work, .room = room, .info = info}), \
                   int m, int n, void *a, int lda, void *tau, void *work, int room, int *info)     \
    SOLVER_ROUTINE(O##gqr_bufferSize,                                                              \
                   ((void)tau, room_for(&(given){ROUTINE(L, "orgqr"), A_M_BY_N, .k = k}, room)),   \
                   int m, int n, int k, const void *a, int lda, const void *tau, int *room)        \
    SOLVER_ROUTINE(O##gqr,                                                                         \
                   solver_reflections(handle, &(given){ROUTINE(L, "orgqr"), A_M_BY_N, .k = k,      \
                                                       .tau = PLACE(tau), .work = work,            \
                                                       .room = room, .info = info}),               \
                   int m, int n, int k, void *a, int lda, const void *tau, void *work, int room,   \
                   int *info)                                                                      \
    SOLVER_ROUTINE(O##mqr_bufferSize, room_for(&(given){PRODUCT(L)}, room), int side, int op,      \
                   int m, int n, int k, const void *a, int lda, const void *tau, const void *b,    \
                   int ldb, int *room)                                                             \
    SOLVER_ROUTINE(O##mqr,                                                                         \
                   solver_reflections(                                                             \
                       handle, &(given){PRODUCT(L), .work = work, .room = room, .info = info}),    \
                   int side, int op, int m, int n, int k, const void *a, int lda, const void *tau, \
                   void *b, int ldb, void *work, int room, int *info)
OF_TYPE(S, Sor)
OF_TYPE(D, Dor)
OF_TYPE(C, Cun)
OF_TYPE(Z, Zun)
