/* solver: the stand-in for cuSOLVER's dense part, and for what solves a sparse system in one call.
 * A public function describes what it was asked for as one of the structures of parameters.h; this
 * room looks at the sizes and launches one kernel of kernels.cu in the handle's stream. It never
 * computes on the host, and waits only where the library gives numbers to the host
 * (cusolverDnXsyevjGetResidual and its kin, gesvda's residuals, singular sparse matrices).
 *
 * Of a factorisation only what LAPACK says of it is promised: signs of vectors, the choice among
 * equal values and the rounding are not NVIDIA's. A function with lower precisions inside
 * (cusolverDnDSgesv) computes in that of its matrices, without an iteration.
 *
 * Absent: the functions of absent.def, among them the rest of cusolverSp and all of cusolverRf.
 *
 * Source: cuSOLVER 12.0; LAPACK (netlib.org/lapack) for what each routine computes.
 */
#ifndef OVERLAP_STANDINS_CUSOLVER_SOLVER_H
#define OVERLAP_STANDINS_CUSOLVER_SOLVER_H

#include "emulator/standins/cusolver/abi.h"
#include "emulator/standins/cusolver/parameters.h"
#include "emulator/standins/standins.h"

/* What cusolverDnCreate makes; the caller owns it until cusolverDnDestroy. */
struct cusolverDnContext {
    CUstream stream;
    int determinism, math_mode;
};

/* What cusolverDnCreateSyevjInfo and cusolverDnCreateGesvdjInfo make. */
struct solver_settings {
    double tolerance;
    int most_sweeps, sorts;
    struct solver_report *report; /* device memory; made when it is first needed */
    bool of_many;                 /* the last run had a batch, of which there is no report */
};

/* The types of a routine, by the letter in its name. */
enum solver_letter { SOLVER_S, SOLVER_D, SOLVER_C, SOLVER_Z, SOLVER_NO_LETTER };
size_t solver_element(enum solver_letter letter); /* bytes */
/* Of matrices of a cudaDataType, which is to be computed in `compute`. */
enum solver_letter solver_letter_of(int type, int compute);
/* The cudaDataType of the real numbers that belong to a type. */
int solver_real_type(enum solver_letter letter);

/* ---- the bracket around a public function -----------------------------------------------------
 */

/* A routine on a handle: `run`, an enum solver_status, is looked at only if there is a handle. */
#define SOLVER_ROUTINE(name, run, ...)                                                             \
    STANDIN_PUBLIC int cusolverDn##name(struct cusolverDnContext *handle, __VA_ARGS__)             \
    {                                                                                              \
        standin_call_begin("cusolverDn" #name, __builtin_return_address(0));                       \
        return solver_call_end(handle == NULL ? SOLVER_NOT_INITIALIZED : (run));                   \
    }
/* Ends the bracket that standin_call_begin began; returns `status`. */
int solver_call_end(enum solver_status status);
/* A CUDA error as a status; it is remembered for solver_call_end. */
enum solver_status solver_status_of(CUresult error);

/* ---- what routines share -----------------------------------------------------------------------
 */

/* Whether a matrix may have so many rows, and so many columns from one to the next. */
bool solver_is_matrix(int64_t rows, int64_t columns, int64_t ld);
bool solver_is_fill(int fill);
bool solver_is_op(int op);

/* One thing that is asked of the parameters of a routine. */
struct solver_demand {
    bool is_met;
    int parameter; /* of which, from 1 on, without the handle; 0: of none in particular */
};
/* Looks at demands in turn. At the first one that is not met, *info, on the device, becomes
 * -parameter. */
enum solver_status solver_demands(const struct cusolverDnContext *handle, int *info, size_t count,
                                  const struct solver_demand demands[]);
#define SOLVER_DEMANDS(handle, info, demands)                                                      \
    solver_demands(handle, info, sizeof(demands) / sizeof *(demands), demands)

/* How many elements a caller is told to have, as an int; at least 1. */
enum solver_status solver_room(int64_t elements, int *room);
/* The same in bytes, for the functions of 64 bits, which need nothing on the host. */
enum solver_status solver_room_bytes(enum solver_letter letter, int64_t elements, size_t *device,
                                     size_t *host);

/* Launches kernel cusolver_<routine>_<type> for `count` problems, of the order `order`. */
enum solver_status solver_launch(const struct cusolverDnContext *handle, const char *routine,
                                 enum solver_letter letter, int64_t count, int64_t order,
                                 const void *parameter);

/* The sweeps that settings ask for, of `count` problems. NULL: as they are when nobody has set
 * them. */
enum solver_status solver_sweeps_of(struct solver_settings *settings, int64_t count,
                                    struct solver_sweeps *sweeps);

/* ---- routines by their int64_t descriptions ----------------------------------------------------
 *
 * `room`: elements of work that the caller has. Each function has one that says how many it needs,
 * which is -1 where sizes are wrong, whatever the leading dimensions are; every run looks at all of
 * them itself.
 */

struct solver_given_factors {
    enum solver_letter letter;
    const char *routine;
    int fill, unit, op;
    int64_t m, n, columns;
    void *a;
    int64_t lda;
    void *b; /* NULL: the routine has none */
    int64_t ldb;
    void *x;
    int64_t ldx;
    void *pivots;
    bool wide_pivots;
    void *work;
    int64_t room;
    int *info;
    bool apart; /* a batch of `count` */
    int64_t count;
};
enum solver_status solver_factors(const struct cusolverDnContext *handle,
                                  const struct solver_given_factors *given);
int64_t solver_factors_need(const struct solver_given_factors *given);

struct solver_given_reflections {
    enum solver_letter letter;
    const char *routine;
    int side, op;
    int64_t m, n, k, columns;
    void *a;
    int64_t lda;
    void *tau, *b;
    int64_t ldb;
    void *x;
    int64_t ldx;
    void *work;
    int64_t room;
    int *info;
};
enum solver_status solver_reflections(const struct cusolverDnContext *handle,
                                      const struct solver_given_reflections *given);
int64_t solver_reflections_need(const struct solver_given_reflections *given);

struct solver_given_eigen {
    enum solver_letter letter;
    int problem, mode, fill; /* problem: 0 without B */
    int parameters_before;   /* of the functions of 64 bits: 1 */
    int64_t n;
    void *a;
    int64_t lda;
    void *b;
    int64_t ldb;
    void *values, *work;
    int64_t room;
    int *info;
    struct solver_settings *settings; /* NULL: a routine without them */
    int64_t count;
};
enum solver_status solver_eigen(const struct cusolverDnContext *handle,
                                const struct solver_given_eigen *given);
int64_t solver_eigen_need(const struct solver_given_eigen *given);

struct solver_given_singular {
    enum solver_letter letter;
    char u_job, v_job; /* as gesvd has them */
    bool v_adjoint;    /* what is given back is V', not V */
    int64_t m, n;
    void *a;
    int64_t lda, next_a;
    void *values;
    int64_t next_values;
    void *u;
    int64_t ldu, next_u;
    void *v;
    int64_t ldv, next_v;
    int64_t rank; /* how many values and vectors there are to be; 0: all */
    void *work;
    int64_t room;
    int *info;
    struct solver_settings *settings;
    int64_t count;
};
enum solver_status solver_singular(const struct cusolverDnContext *handle,
                                   const struct solver_given_singular *given);
int64_t solver_singular_need(const struct solver_given_singular *given);

/* The image that the kernels are loaded from: kernels.cu as PTX. */
extern const char solver_image[];

#endif
