/* The functions of 64 bits, which are told the types: cusolverDnX*. They compute in the type of
 * their matrices, and need nothing on the host. */
#include "emulator/standins/cusolver/solver.h"

struct cusolverDnParams;

/* What a function has of work, or where it says how much it needs. */
struct wide {
    void *work;
    size_t bytes;
    int *info;
    bool asks;
    size_t *device, *host;
};

static int64_t room_of(enum solver_letter letter, const struct wide *w)
{
    const size_t elements = w->bytes / solver_element(letter);
    return elements > INT64_MAX ? INT64_MAX : (int64_t)elements;
}

static enum solver_status answer(enum solver_letter letter, int64_t need, int64_t count,
                                 const struct wide *w)
{
    return solver_room_bytes(letter, need < 0 ? need : need * count, w->device, w->host);
}

/* ---- factorisations ----------------------------------------------------------------------------
 */

static enum solver_status factors(const struct cusolverDnContext *handle,
                                  struct solver_given_factors *g, const struct wide *w)
{
    if (g->letter == SOLVER_NO_LETTER) return SOLVER_INVALID_VALUE;
    g->count = 1;
    g->wide_pivots = true;
    if (w->asks) return answer(g->letter, solver_factors_need(g), 1, w);
    g->work = w->work;
    g->room = room_of(g->letter, w);
    g->info = w->info;
    return solver_factors(handle, g);
}

static enum solver_status reflections(const struct cusolverDnContext *handle,
                                      struct solver_given_reflections *g, int tau_type,
                                      const struct wide *w)
{
    if (g->letter == SOLVER_NO_LETTER || solver_letter_of(tau_type, tau_type) != g->letter)
        return SOLVER_INVALID_VALUE;
    if (w->asks) return answer(g->letter, solver_reflections_need(g), 1, w);
    g->work = w->work;
    g->room = room_of(g->letter, w);
    g->info = w->info;
    return solver_reflections(handle, g);
}

#define PLACE(pointer) (void *)(uintptr_t)(pointer)
#define PARAMS const struct cusolverDnParams *params
/* A routine's question for its size, and the routine. */
#define SIZE(name, run, ...)                                                                       \
    SOLVER_ROUTINE(X##name##_bufferSize, run, __VA_ARGS__, size_t *device, size_t *host)
#define ASKED (&(struct wide){.asks = true, .device = device, .host = host})
#define RUN(name, run, ...)                                                                        \
    SOLVER_ROUTINE(X##name, ((void)on_host, (void)host_bytes, (run)), __VA_ARGS__, void *work,     \
                   size_t bytes, void *on_host, size_t host_bytes, int *info)
#define HAD (&(struct wide){.work = work, .bytes = bytes, .info = info})
/* Both, where all that they are given is the same. */
#define BOTH(name, call, ...)                                                                      \
    SIZE(name, call(ASKED), __VA_ARGS__)                                                           \
    RUN(name, call(HAD), __VA_ARGS__)

#define TRIANGLE(name)                                                                             \
    .letter = solver_letter_of(type, type), .routine = name, .fill = fill, .m = n, .n = n,         \
    .a = PLACE(a), .lda = lda
#define POTRF(wide)                                                                                \
    ((void)params, compute != type                                                                 \
                       ? SOLVER_INVALID_VALUE                                                      \
                       : factors(handle, &(struct solver_given_factors){TRIANGLE("potrf")}, wide))
BOTH(potrf, POTRF, PARAMS, int fill, int64_t n, int type, void *a, int64_t lda, int compute)

#define TRTRI(wide)                                                                                \
    factors(handle, &(struct solver_given_factors){TRIANGLE("trtri"), .unit = unit}, wide)
BOTH(trtri, TRTRI, int fill, int unit, int64_t n, int type, void *a, int64_t lda)

#define GETRF(pivots_, wide)                                                                       \
    ((void)params,                                                                                 \
     factors(handle,                                                                               \
             &(struct solver_given_factors){.letter = solver_letter_of(type, compute),             \
                                            .routine = "getrf",                                    \
                                            .m = m,                                                \
                                            .n = n,                                                \
                                            .a = PLACE(a),                                         \
                                            .lda = lda,                                            \
                                            .pivots = pivots_},                                    \
             wide))
SIZE(getrf, GETRF(NULL, ASKED), PARAMS, int64_t m, int64_t n, int type, const void *a, int64_t lda,
     int compute)
RUN(getrf, GETRF(pivots, HAD), PARAMS, int64_t m, int64_t n, int type, void *a, int64_t lda,
    int64_t *pivots, int compute)

#define RIGHT_SIDE .columns = columns, .b = b, .ldb = ldb
SOLVER_ROUTINE(Xpotrs,
               ((void)params,
                type_b != type
                    ? SOLVER_INVALID_VALUE
                    : factors(handle, &(struct solver_given_factors){TRIANGLE("potrs"), RIGHT_SIDE},
                              &(struct wide){.info = info})),
               PARAMS, int fill, int64_t n, int64_t columns, int type, const void *a, int64_t lda,
               int type_b, void *b, int64_t ldb, int *info)
SOLVER_ROUTINE(Xgetrs,
               ((void)params,
                factors(handle,
                        &(struct solver_given_factors){.letter = solver_letter_of(type, type_b),
                                                       .routine = "getrs",
                                                       .op = op,
                                                       .m = n,
                                                       .n = n,
                                                       .a = PLACE(a),
                                                       .lda = lda,
                                                       .pivots = PLACE(pivots),
                                                       RIGHT_SIDE},
                        &(struct wide){.info = info})),
               PARAMS, int op, int64_t n, int64_t columns, int type, const void *a, int64_t lda,
               const int64_t *pivots, int type_b, void *b, int64_t ldb, int *info)

#define GEQRF(wide)                                                                                \
    ((void)params,                                                                                 \
     reflections(handle,                                                                           \
                 &(struct solver_given_reflections){.letter = solver_letter_of(type, compute),     \
                                                    .routine = "geqrf",                            \
                                                    .m = m,                                        \
                                                    .n = n,                                        \
                                                    .a = PLACE(a),                                 \
                                                    .lda = lda,                                    \
                                                    .tau = tau},                                   \
                 type_tau, wide))
BOTH(geqrf, GEQRF, PARAMS, int64_t m, int64_t n, int type, void *a, int64_t lda, int type_tau,
     void *tau, int compute)

/* ---- eigenvalues and singular values ------------------------------------------------------------
 */

static enum solver_status eigen(const struct cusolverDnContext *handle,
                                struct solver_given_eigen *g, int values_type, const struct wide *w)
{
    if (g->letter == SOLVER_NO_LETTER || solver_real_type(g->letter) != values_type)
        return SOLVER_INVALID_VALUE;
    if (w->asks) return answer(g->letter, solver_eigen_need(g), g->count, w);
    g->work = w->work;
    g->room = room_of(g->letter, w);
    g->info = w->info;
    return solver_eigen(handle, g);
}

#define EIGEN(count_, wide)                                                                        \
    ((void)params, eigen(handle,                                                                   \
                         &(struct solver_given_eigen){.parameters_before = 1,                      \
                                                      .letter = solver_letter_of(type, compute),   \
                                                      .mode = mode,                                \
                                                      .fill = fill,                                \
                                                      .n = n,                                      \
                                                      .a = PLACE(a),                               \
                                                      .lda = lda,                                  \
                                                      .values = values,                            \
                                                      .count = count_},                            \
                         type_values, wide))
#define ONE_EIGEN(wide) EIGEN(1, wide)
#define EIGEN_PARAMETERS                                                                           \
    PARAMS, int mode, int fill, int64_t n, int type, void *a, int64_t lda, int type_values,        \
        void *values, int compute
BOTH(syevd, ONE_EIGEN, EIGEN_PARAMETERS)
SOLVER_ROUTINE(XsyevBatched_bufferSize, EIGEN(count, ASKED), EIGEN_PARAMETERS, size_t *device,
               size_t *host, int64_t count)
SOLVER_ROUTINE(XsyevBatched, ((void)on_host, (void)host_bytes, EIGEN(count, HAD)), EIGEN_PARAMETERS,
               void *work, size_t bytes, void *on_host, size_t host_bytes, int *info, int64_t count)

static enum solver_status singular(const struct cusolverDnContext *handle,
                                   struct solver_given_singular *g, const int types[3],
                                   const struct wide *w)
{
    if (g->letter == SOLVER_NO_LETTER || solver_real_type(g->letter) != types[0] ||
        solver_letter_of(types[1], types[1]) != g->letter || types[2] != types[1])
        return SOLVER_INVALID_VALUE;
    g->count = 1;
    if (w->asks) return answer(g->letter, solver_singular_need(g), 1, w);
    g->work = w->work;
    g->room = room_of(g->letter, w);
    g->info = w->info;
    return solver_singular(handle, g);
}

#define SINGULAR(u_job_, v_job_, v_adjoint_, wide)                                                 \
    ((void)params,                                                                                 \
     singular(handle,                                                                              \
              &(struct solver_given_singular){.letter = solver_letter_of(type, compute),           \
                                              .u_job = u_job_,                                     \
                                              .v_job = v_job_,                                     \
                                              .v_adjoint = v_adjoint_,                             \
                                              .m = m,                                              \
                                              .n = n,                                              \
                                              .a = PLACE(a),                                       \
                                              .lda = lda,                                          \
                                              .values = values,                                    \
                                              .u = u,                                              \
                                              .ldu = ldu,                                          \
                                              .v = v,                                              \
                                              .ldv = ldv},                                         \
              (const int[]){type_values, type_u, type_v}, wide))
#define SINGULAR_PARAMETERS                                                                        \
    int64_t m, int64_t n, int type, void *a, int64_t lda, int type_values, void *values,           \
        int type_u, void *u, int64_t ldu, int type_v, void *v, int64_t ldv, int compute
#define BY_JOBS(wide) SINGULAR((char)u_job, (char)v_job, true, wide)
BOTH(gesvd, BY_JOBS, PARAMS, signed char u_job, signed char v_job, SINGULAR_PARAMETERS)

/* By the polar decomposition in NVIDIA's library, which adds a little to A; nothing is added here.
 */
#define BY_MODE(wide)                                                                              \
    SINGULAR(mode == SOLVER_VALUES ? 'N'                                                           \
             : economic            ? 'S'                                                           \
                                   : 'A',                                                                     \
             mode == SOLVER_VALUES ? 'N'                                                           \
             : economic            ? 'S'                                                           \
                                   : 'A',                                                                     \
             false, wide)
static enum solver_status nothing_added(enum solver_status status, double *added)
{
    if (status == SOLVER_SUCCESS && added != NULL) *added = 0;
    return status;
}
SIZE(gesvdp, BY_MODE(ASKED), PARAMS, int mode, int economic, SINGULAR_PARAMETERS)
SOLVER_ROUTINE(Xgesvdp, ((void)on_host, (void)host_bytes, nothing_added(BY_MODE(HAD), added)),
               PARAMS, int mode, int economic, SINGULAR_PARAMETERS, void *work, size_t bytes,
               void *on_host, size_t host_bytes, int *info, double *added)

/* ---- eigenvalues of any square matrix -----------------------------------------------------------
 */

struct given_general {
    enum solver_letter letter;
    int left_mode, mode;
    int64_t n;
    void *a;
    int64_t lda;
    void *values, *vectors;
    int64_t ldv;
};

/* Types of values: that of A, or the complex one. */
static bool are_values(enum solver_letter letter, int type)
{
    const enum solver_letter of_values = solver_letter_of(type, type);
    return of_values == letter || (letter == SOLVER_S && of_values == SOLVER_C) ||
           (letter == SOLVER_D && of_values == SOLVER_Z);
}

/* -1: the sizes are wrong. In complex numbers of double. NVIDIA's has no left vectors either. */
static int64_t general_need(const struct given_general *g)
{
    const bool has_vectors = g->mode == SOLVER_VECTORS;
    if (g->n < 0 || g->left_mode != SOLVER_VALUES || (g->mode != SOLVER_VALUES && !has_vectors))
        return -1;
    return g->n * g->n * (has_vectors ? 3 : 1) + 2 * g->n + 1;
}

static enum solver_status general(const struct cusolverDnContext *handle,
                                  const struct given_general *g, int values_type, int vectors_type,
                                  const struct wide *w)
{
    const bool has_vectors = g->mode == SOLVER_VECTORS;
    const int64_t need = general_need(g);
    if (g->letter == SOLVER_NO_LETTER || need < 0 || !are_values(g->letter, values_type) ||
        solver_letter_of(vectors_type, vectors_type) != g->letter)
        return SOLVER_INVALID_VALUE;
    if (w->asks) return answer(SOLVER_Z, need, 1, w);
    if (!solver_is_matrix(g->n, g->n, g->lda) || room_of(SOLVER_Z, w) < need ||
        (has_vectors && !solver_is_matrix(g->n, g->n, g->ldv)))
        return SOLVER_INVALID_VALUE;
    const struct solver_general p = {
        .n = g->n,
        .a = {.first = g->a, .ld = g->lda},
        .vectors = {.first = has_vectors ? g->vectors : NULL, .ld = g->ldv},
        .values = g->values,
        .apart = solver_real_type(g->letter) == values_type,
        .work = {.first = w->work, .each = need},
        .info = w->info};
    return solver_launch(handle, "geev", g->letter, 1, g->n, &p);
}

#define GENERAL(wide)                                                                              \
    ((void)params, (void)left, (void)ld_left, (void)type_left,                                     \
     general(handle,                                                                               \
             &(struct given_general){.letter = solver_letter_of(type, compute),                    \
                                     .left_mode = left_mode,                                       \
                                     .mode = mode,                                                 \
                                     .n = n,                                                       \
                                     .a = PLACE(a),                                                \
                                     .lda = lda,                                                   \
                                     .values = values,                                             \
                                     .vectors = vectors,                                           \
                                     .ldv = ldv},                                                  \
             type_values, type_vectors, wide))
BOTH(geev, GENERAL, PARAMS, int left_mode, int mode, int64_t n, int type, void *a, int64_t lda,
     int type_values, void *values, int type_left, void *left, int64_t ld_left, int type_vectors,
     void *vectors, int64_t ldv, int compute)
