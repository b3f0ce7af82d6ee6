/* Singular values and vectors. */
#include "emulator/standins/cusolver/solver.h"

typedef struct solver_given_singular given;

static int64_t least(const given *g)
{
    return g->m < g->n ? g->m : g->n;
}

/* How many columns a job makes of a side that has `order` at most. */
static int64_t columns_of(char job, int64_t order, const given *g)
{
    return job == 'A' ? order : job == 'N' ? 0 : g->rank != 0 ? g->rank : least(g);
}

static bool is_job(char job)
{
    return job == 'A' || job == 'S' || job == 'O' || job == 'N';
}

/* Whether the memory of one side, `order` rows, may be so wide; O has none of its own. */
static bool is_side(char job, int64_t order, bool adjoint, int64_t ld, const given *g)
{
    const int64_t columns = columns_of(job, order, g);
    if (job == 'N' || job == 'O') return true;
    return solver_is_matrix(adjoint ? columns : order, adjoint ? order : columns, ld);
}

int64_t solver_singular_need(const given *g)
{
    const int64_t most = g->m < g->n ? g->n : g->m, n = least(g);
    if (n < 0 || g->count < 0 || !is_job(g->u_job) || !is_job(g->v_job) ||
        (g->u_job == 'O' && g->v_job == 'O'))
        return -1;
    const bool wide = g->m < g->n;
    const bool left = (wide ? g->v_job : g->u_job) != 'N';
    const bool right = (wide ? g->u_job : g->v_job) != 'N';
    return most * n * (left ? 2 : 1) + (right ? n * n : 0) + 2 * n;
}

/* The numbers are those of gesvd and gesvdj, which have them in common. */
static enum solver_status look(const struct cusolverDnContext *handle, const given *g, int64_t need)
{
    const struct solver_demand demands[] = {
        {is_job(g->u_job), 1},
        {is_job(g->v_job) && (g->u_job != 'O' || g->v_job != 'O'), 2},
        {g->m >= 0, 3},
        {g->n >= 0, 4},
        {g->count >= 0, 0},
        {solver_is_matrix(g->m, g->n, g->lda), 6},
        {is_side(g->u_job, g->m, false, g->ldu, g), 9},
        {is_side(g->v_job, g->n, g->v_adjoint, g->ldv, g), 11},
        {g->count <= 0 || g->room / g->count >= need, 13},
    };
    return SOLVER_DEMANDS(handle, g->count == 1 ? g->info : NULL, demands);
}

/* Where the vectors of one side go: over A, if that is the job. */
static struct solver_matrix place_of(char job, void *first, int64_t ld, int64_t next,
                                     const given *g)
{
    if (job == 'N') return (struct solver_matrix){.first = NULL};
    if (job == 'O') return (struct solver_matrix){.first = g->a, .ld = g->lda, .next = g->next_a};
    return (struct solver_matrix){.first = first, .ld = ld, .next = next};
}

/* `residuals` is on the device. */
static enum solver_status run(const struct cusolverDnContext *handle, const given *g,
                              double *residuals)
{
    const int64_t need = solver_singular_need(g);
    struct solver_singular p = {.m = g->m,
                                .n = g->n,
                                .u_columns = columns_of(g->u_job, g->m, g),
                                .v_columns = columns_of(g->v_job, g->n, g),
                                .a = {.first = g->a, .ld = g->lda, .next = g->next_a},
                                .u = place_of(g->u_job, g->u, g->ldu, g->next_u, g),
                                .v = place_of(g->v_job, g->v, g->ldv, g->next_v, g),
                                .values = g->values,
                                .values_next = g->next_values,
                                .work = {.first = g->work, .each = need},
                                .v_adjoint = g->v_adjoint,
                                .rank = g->rank != 0 ? g->rank : least(g),
                                .residuals = residuals,
                                .info = g->info};
    enum solver_status status = look(handle, g, need);
    if (status == SOLVER_SUCCESS) status = solver_sweeps_of(g->settings, g->count, &p.sweeps);
    if (status != SOLVER_SUCCESS) return status;
    return solver_launch(handle, "singular", g->letter, g->count, g->m > g->n ? g->m : g->n, &p);
}

enum solver_status solver_singular(const struct cusolverDnContext *handle, const given *g)
{
    return run(handle, g, NULL);
}

/* ---- in part: gesvda, with V as it is ----------------------------------------------------------
 */

/* Elements in front of the work that residuals take. */
static int64_t in_front(const given *g)
{
    const int64_t each = (int64_t)(sizeof(double) / solver_element(g->letter));
    return g->count * (each > 1 ? each : 1);
}

static bool is_part(const given *g, int mode)
{
    return (mode == SOLVER_VALUES || mode == SOLVER_VECTORS) && g->m >= g->n && g->rank > 0 &&
           g->rank <= g->n;
}

static enum solver_status room_for_part(const given *g, int mode, int *room)
{
    const int64_t need = solver_singular_need(g);
    if (!is_part(g, mode) || need < 0) return SOLVER_INVALID_VALUE;
    return solver_room(need * g->count + in_front(g), room);
}

/* Waits for the residuals, which are for the host. */
static enum solver_status run_part(const struct cusolverDnContext *handle, given *g, int mode,
                                   double *residuals)
{
    double *const on_device = g->work;
    const bool wanted = residuals != NULL && mode == SOLVER_VECTORS;
    if (!is_part(g, mode) || g->room < in_front(g)) return SOLVER_INVALID_VALUE;
    g->work = (char *)g->work + (size_t)in_front(g) * solver_element(g->letter);
    g->room -= in_front(g);
    const enum solver_status status = run(handle, g, wanted ? on_device : NULL);
    if (status != SOLVER_SUCCESS || !wanted || g->count == 0) return status;
    CUresult error = cuMemcpyDtoHAsync(residuals, (CUdeviceptr)(uintptr_t)on_device,
                                       (size_t)g->count * sizeof *residuals, handle->stream);
    if (error == CUDA_SUCCESS) error = cuStreamSynchronize(handle->stream);
    return solver_status_of(error);
}

/* ---- the functions -----------------------------------------------------------------------------
 */

static enum solver_status room_for(const given *g, int *room)
{
    const int64_t need = solver_singular_need(g);
    return solver_room(need < 0 ? need : need * g->count, room);
}
/* For every job of gesvd, none of which its function for the size is told. */
static enum solver_status room_for_all(enum solver_letter letter, int m, int n, int *room)
{
    const given g = {.letter = letter, .u_job = 'A', .v_job = 'A', .m = m, .n = n, .count = 1};
    return room_for(&g, room);
}
/* NVIDIA's gesvd takes no matrix with more columns than rows, and says so when it is run. */
static enum solver_status run_tall(const struct cusolverDnContext *handle, const given *g)
{
    return g->m < g->n ? SOLVER_INVALID_VALUE : solver_singular(handle, g);
}
static enum solver_status room_with(const struct solver_settings *settings, int mode,
                                    const given *g, int *room)
{
    if (settings == NULL || (mode != SOLVER_VALUES && mode != SOLVER_VECTORS))
        return SOLVER_INVALID_VALUE;
    return room_for(g, room);
}
static enum solver_status run_with(const struct cusolverDnContext *handle, int mode, const given *g)
{
    if (g->settings == NULL || (mode != SOLVER_VALUES && mode != SOLVER_VECTORS))
        return SOLVER_INVALID_VALUE;
    return solver_singular(handle, g);
}

static char job_of(int mode, int economic)
{
    return mode == SOLVER_VALUES ? 'N' : economic ? 'S' : 'A';
}

#define PLACE(pointer) (void *)(uintptr_t)(pointer)
#define MATRIX(L) .letter = SOLVER_##L, .m = m, .n = n, .a = PLACE(a), .lda = lda
#define SIDES .values = PLACE(values), .u = PLACE(u), .ldu = ldu, .v = PLACE(v), .ldv = ldv
#define RUN .work = work, .room = room, .info = info
#define JOBS(economic) .u_job = job_of(mode, economic), .v_job = job_of(mode, economic)
#define ONE(L)                                                                                     \
    (given)                                                                                        \
    {                                                                                              \
        MATRIX(L), SIDES, JOBS(economic), .settings = settings, .count = 1
#define MANY(L)                                                                                    \
    (given)                                                                                        \
    {                                                                                              \
        MATRIX(L), SIDES, JOBS(0), .next_a = (int64_t)lda * n, .next_values = m < n ? m : n,       \
                                   .next_u = (int64_t)ldu * m, .next_v = (int64_t)ldv * n,         \
                                   .settings = settings, .count = count
#define SIZES                                                                                      \
    int m, int n, const void *a, int lda, const void *values, const void *u, int ldu,              \
        const void *v, int ldv
#define SETTINGS struct solver_settings *settings

#define PART(L)                                                                                    \
    MATRIX(L), SIDES, JOBS(1), .rank = rank, .count = count, .next_a = next_a,                     \
                               .next_values = next_values, .next_u = next_u, .next_v = next_v
#define SIZES_OF_PART                                                                              \
    int mode, int rank, int m, int n, const void *a, int lda, long long next_a, void *values,      \
        long long next_values, void *u, int ldu, long long next_u, void *v, int ldv,               \
        long long next_v
#define OF_PART(L)                                                                                 \
    SOLVER_ROUTINE(L##gesvdaStridedBatched_bufferSize,                                             \
                   room_for_part(&(given){PART(L)}, mode, room), SIZES_OF_PART, int *room,         \
                   int count)                                                                      \
    SOLVER_ROUTINE(L##gesvdaStridedBatched,                                                        \
                   run_part(handle, &(given){PART(L), RUN}, mode, residuals), SIZES_OF_PART,       \
                   void *work, int room, int *info, double *residuals, int count)
OF_PART(S)
OF_PART(D)
OF_PART(C)
OF_PART(Z)

#define OF_TYPE(L)                                                                                 \
    SOLVER_ROUTINE(L##gesvd_bufferSize, room_for_all(SOLVER_##L, m, n, room), int m, int n,        \
                   int *room)                                                                      \
    SOLVER_ROUTINE(L##gesvd,                                                                       \
                   ((void)real_work,                                                               \
                    run_tall(handle, &(given){MATRIX(L), SIDES, RUN, .u_job = u_job,               \
                                              .v_job = v_job, .v_adjoint = true, .count = 1})),    \
                   signed char u_job, signed char v_job, int m, int n, void *a, int lda,           \
                   void *values, void *u, int ldu, void *v, int ldv, void *work, int room,         \
                   void *real_work, int *info)                                                     \
    SOLVER_ROUTINE(L##gesvdj_bufferSize, room_with(settings, mode, &ONE(L)                         \
    }, room), int mode,      \
                   int economic, SIZES, int *room, SETTINGS)                                       \
    SOLVER_ROUTINE(L##gesvdj, run_with(handle, mode, &ONE(L), RUN                                  \
    }), int mode, int economic,       \
                   SIZES, void *work, int room, int *info, SETTINGS)                               \
    SOLVER_ROUTINE(L##gesvdjBatched_bufferSize, room_with(settings, mode, &MANY(L)                 \
    }, room),        \
                   int mode, SIZES, int *room, SETTINGS, int count)                                \
    SOLVER_ROUTINE(L##gesvdjBatched, run_with(handle, mode, &MANY(L), RUN                          \
    }), int mode, SIZES,      \
                   void *work, int room, int *info, SETTINGS, int count)
OF_TYPE(S)
OF_TYPE(D)
OF_TYPE(C)
OF_TYPE(Z)
