/* Solutions in one call: gesv and gels. NVIDIA's factor in a lower precision, which is in their
 * names, and refine; here the factors are of the matrices' own precision, and nothing is refined.
 */
#include "emulator/standins/cusolver/solver.h"

/* `iterations` is on the host. */
static enum solver_status none_needed(enum solver_status status, int *iterations)
{
    if (status == SOLVER_SUCCESS) *iterations = 0;
    return status == SOLVER_INVALID_VALUE ? SOLVER_WRONG_PARAMETERS : status;
}

static enum solver_status bytes_for(enum solver_letter letter, int64_t need, size_t *bytes)
{
    return solver_room_bytes(letter, need, bytes, &(size_t){0});
}

static enum solver_status gesv(const struct cusolverDnContext *handle,
                               struct solver_given_factors *g, size_t bytes, int *iterations)
{
    if (iterations == NULL) return SOLVER_INVALID_VALUE;
    g->room = (int64_t)(bytes / solver_element(g->letter));
    return none_needed(solver_factors(handle, g), iterations);
}

static enum solver_status gels(const struct cusolverDnContext *handle,
                               struct solver_given_reflections *g, size_t bytes, int *iterations)
{
    if (iterations == NULL) return SOLVER_INVALID_VALUE;
    g->room = (int64_t)(bytes / solver_element(g->letter));
    return none_needed(solver_reflections(handle, g), iterations);
}

#define GIVEN(L, name)                                                                             \
    .letter = SOLVER_##L, .routine = name, .n = n, .columns = columns, .a = a, .lda = lda, .b = b, \
    .ldb = ldb, .x = x, .ldx = ldx
#define MATRICES void *a, int lda, int *pivots, void *b, int ldb, void *x, int ldx, void *work
#define MATRICES_OF_LS void *a, int lda, void *b, int ldb, void *x, int ldx, void *work

/* The main precision L, and the lowest one. */
#define OF_PRECISIONS(L, lowest)                                                                   \
    SOLVER_ROUTINE(                                                                                \
        L##lowest##gesv_bufferSize,                                                                \
        ((void)work, bytes_for(SOLVER_##L,                                                         \
                               solver_factors_need(&(struct solver_given_factors){                 \
                                   GIVEN(L, "gesv"), .m = n, .pivots = pivots, .count = 1}),       \
                               bytes)),                                                            \
        int n, int columns, MATRICES, size_t *bytes)                                               \
    SOLVER_ROUTINE(L##lowest##gesv,                                                                \
                   gesv(handle,                                                                    \
                        &(struct solver_given_factors){GIVEN(L, "gesv"), .m = n, .pivots = pivots, \
                                                       .work = work, .info = info, .count = 1},    \
                        bytes, iterations),                                                        \
                   int n, int columns, MATRICES, size_t bytes, int *iterations, int *info)         \
    SOLVER_ROUTINE(                                                                                \
        L##lowest##gels_bufferSize,                                                                \
        ((void)work, bytes_for(SOLVER_##L,                                                         \
                               solver_reflections_need(                                            \
                                   &(struct solver_given_reflections){GIVEN(L, "gels"), .m = m}),  \
                               bytes)),                                                            \
        int m, int n, int columns, MATRICES_OF_LS, size_t *bytes)                                  \
    SOLVER_ROUTINE(L##lowest##gels,                                                                \
                   gels(handle,                                                                    \
                        &(struct solver_given_reflections){GIVEN(L, "gels"), .m = m, .work = work, \
                                                           .info = info},                          \
                        bytes, iterations),                                                        \
                   int m, int n, int columns, MATRICES_OF_LS, size_t bytes, int *iterations,       \
                   int *info)
OF_PRECISIONS(S, S)
OF_PRECISIONS(S, H)
OF_PRECISIONS(S, B)
OF_PRECISIONS(S, X)
OF_PRECISIONS(D, D)
OF_PRECISIONS(D, S)
OF_PRECISIONS(D, H)
OF_PRECISIONS(D, B)
OF_PRECISIONS(D, X)
OF_PRECISIONS(C, C)
OF_PRECISIONS(C, K)
OF_PRECISIONS(C, E)
OF_PRECISIONS(C, Y)
OF_PRECISIONS(Z, Z)
OF_PRECISIONS(Z, C)
OF_PRECISIONS(Z, K)
OF_PRECISIONS(Z, E)
OF_PRECISIONS(Z, Y)
