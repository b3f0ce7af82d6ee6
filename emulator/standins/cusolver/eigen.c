/* Eigenvalues and eigenvectors of symmetric and hermitian matrices. */
#include "emulator/standins/cusolver/solver.h"

typedef struct solver_given_eigen given;

int64_t solver_eigen_need(const given *g)
{
    const int64_t even = g->n + g->n % 2;
    const bool vectors = g->mode == SOLVER_VECTORS;
    if (g->n < 0 || g->count < 0 || !solver_is_fill(g->fill) ||
        (g->mode != SOLVER_VALUES && g->mode != SOLVER_VECTORS) || g->problem < 0 ||
        g->problem > SOLVER_PROBLEM_3)
        return -1;
    return even * even * (vectors ? 2 : 1) + 3 * even + (g->problem != 0 ? g->n * g->n : 0);
}

/* The numbers are those of syevd, and of sygvd, which is told the problem first. */
static enum solver_status look(const struct cusolverDnContext *handle, const given *g, int64_t need)
{
    const int behind = (g->problem != 0) + g->parameters_before;
    const struct solver_demand demands[] = {
        {g->problem >= 0 && g->problem <= SOLVER_PROBLEM_3, behind},
        {g->mode == SOLVER_VALUES || g->mode == SOLVER_VECTORS, 1 + behind},
        {solver_is_fill(g->fill), 2 + behind},
        {g->n >= 0, 3 + behind},
        {g->count >= 0, 0},
        {solver_is_matrix(g->n, g->n, g->lda), (g->parameters_before != 0 ? 6 : 5) + behind},
        {g->problem == 0 || solver_is_matrix(g->n, g->n, g->ldb), 7 + behind},
        {g->count <= 0 || g->room / g->count >= need, 0},
    };
    return SOLVER_DEMANDS(handle, g->count == 1 ? g->info : NULL, demands);
}

enum solver_status solver_eigen(const struct cusolverDnContext *handle, const given *g)
{
    const int64_t need = solver_eigen_need(g);
    struct solver_eigen p = {.n = g->n,
                             .a = {.first = g->a, .ld = g->lda, .next = g->lda * g->n},
                             .b = {.first = g->problem != 0 ? g->b : NULL, .ld = g->ldb},
                             .values = g->values,
                             .work = {.first = g->work, .each = need},
                             .upper = g->fill == BLAS_UPPER,
                             .vectors = g->mode == SOLVER_VECTORS,
                             .problem = g->problem,
                             .info = g->info};
    enum solver_status status = look(handle, g, need);
    if (status == SOLVER_SUCCESS) status = solver_sweeps_of(g->settings, g->count, &p.sweeps);
    if (status != SOLVER_SUCCESS) return status;
    return solver_launch(handle, "eigen", g->letter, g->count, g->n, &p);
}

static enum solver_status room_for(const given *g, int *room)
{
    const int64_t need = solver_eigen_need(g);
    return solver_room(need < 0 ? need : need * g->count, room);
}
/* Functions that sweep have settings. */
static enum solver_status room_with(const struct solver_settings *settings, const given *g,
                                    int *room)
{
    return settings == NULL ? SOLVER_INVALID_VALUE : room_for(g, room);
}
static enum solver_status run_with(const struct cusolverDnContext *handle, const given *g)
{
    return g->settings == NULL ? SOLVER_INVALID_VALUE : solver_eigen(handle, g);
}

#define PLACE(pointer) (void *)(uintptr_t)(pointer)
#define MATRIX(L)                                                                                  \
    .letter = SOLVER_##L, .mode = mode, .fill = fill, .n = n, .a = PLACE(a), .lda = lda,           \
    .values = PLACE(values)
#define OTHER .problem = problem != 0 ? problem : -1, .b = PLACE(b), .ldb = ldb
#define RUN .work = work, .room = room, .info = info
#define SIZES int mode, int fill, int n, const void *a, int lda
#define SIZES_OF_TWO int problem, SIZES, const void *b, int ldb
#define RUNS void *work, int room, int *info

/* E: what the names begin with. */
#define OF_TYPE(L, E)                                                                              \
    SOLVER_ROUTINE(E##evd_bufferSize, room_for(&(given){MATRIX(L), .count = 1}, room), SIZES,      \
                   const void *values, int *room)                                                  \
    SOLVER_ROUTINE(E##evd, solver_eigen(handle, &(given){MATRIX(L), RUN, .count = 1}), SIZES,      \
                   void *values, RUNS)                                                             \
    SOLVER_ROUTINE(E##evj_bufferSize, room_with(settings, &(given){MATRIX(L), .count = 1}, room),  \
                   SIZES, const void *values, int *room, struct solver_settings *settings)         \
    SOLVER_ROUTINE(E##evj,                                                                         \
                   run_with(handle, &(given){MATRIX(L), RUN, .settings = settings, .count = 1}),   \
                   SIZES, void *values, RUNS, struct solver_settings *settings)                    \
    SOLVER_ROUTINE(E##evjBatched_bufferSize,                                                       \
                   room_with(settings, &(given){MATRIX(L), .count = count}, room), SIZES,          \
                   const void *values, int *room, struct solver_settings *settings, int count)     \
    SOLVER_ROUTINE(                                                                                \
        E##evjBatched,                                                                             \
        run_with(handle, &(given){MATRIX(L), RUN, .settings = settings, .count = count}), SIZES,   \
        void *values, RUNS, struct solver_settings *settings, int count)                           \
    SOLVER_ROUTINE(E##gvd_bufferSize, room_for(&(given){MATRIX(L), OTHER, .count = 1}, room),      \
                   SIZES_OF_TWO, const void *values, int *room)                                    \
    SOLVER_ROUTINE(E##gvd, solver_eigen(handle, &(given){MATRIX(L), OTHER, RUN, .count = 1}),      \
                   SIZES_OF_TWO, void *values, RUNS)                                               \
    SOLVER_ROUTINE(E##gvj_bufferSize,                                                              \
                   room_with(settings, &(given){MATRIX(L), OTHER, .count = 1}, room),              \
                   SIZES_OF_TWO, const void *values, int *room, struct solver_settings *settings)  \
    SOLVER_ROUTINE(                                                                                \
        E##gvj,                                                                                    \
        run_with(handle, &(given){MATRIX(L), OTHER, RUN, .settings = settings, .count = 1}),       \
        SIZES_OF_TWO, void *values, RUNS, struct solver_settings *settings)
OF_TYPE(S, Ssy)
OF_TYPE(D, Dsy)
OF_TYPE(C, Che)
OF_TYPE(Z, Zhe)
