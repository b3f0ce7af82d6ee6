/* sparse: the stand-in for cuSPARSE. A public function describes what it was asked for as one of
 * the structures of parameters.h; this room looks at the sizes and launches kernels of kernels.cu
 * in the handle's stream. It never computes on the host.
 *
 * It waits only where the library gives numbers to the host: how many entries a result has
 * (SpGEMM, DenseToSparse, csrgeam2 and their kin), a pivot that is 0, results in host memory.
 *
 * Formats are CSR, CSC and COO. Where NVIDIA's library adds in some order, so does this one in
 * another; where it leaves the order of equal indices open, that is open here as well.
 *
 * Absent: the functions of absent.def, among them BSR, blocked and sliced ELL.
 *
 * Source: cuSPARSE 12.6, "cuSPARSE Generic APIs" and "cuSPARSE Legacy APIs".
 */
#ifndef OVERLAP_STANDINS_CUSPARSE_SPARSE_H
#define OVERLAP_STANDINS_CUSPARSE_SPARSE_H

#include "emulator/standins/cusparse/abi.h"
#include "emulator/standins/cusparse/parameters.h"
#include "emulator/standins/standins.h"

/* Descriptions and kernels' parameters hold pointers of one kind for what is read and written. */
#define NOT_CONST(pointer) (void *)(uintptr_t)(pointer)

/* What cusparseCreate makes; the caller owns it until cusparseDestroy. */
struct cusparseContext {
    CUstream stream;
    int pointers; /* an enum sparse_pointers: where factors and results are */
    void *result; /* device memory for one result; made when it is first needed */
};

/* Descriptions: the caller owns each until it destroys it, and the memory it names for ever. */
struct cusparseSpVecDescr {
    int64_t size, count;
    void *places, *values;
    int index, base, type;
};
struct cusparseDnVecDescr {
    int64_t size;
    void *values;
    int type;
};
struct cusparseSpMatDescr {
    int format;
    int64_t rows, columns, count;
    void *starts, *places, *values; /* starts: of COO the rows */
    int start_index, place_index, base, type, fill, diagonal;
    int batch;
    int64_t next_start, next_entry;
};
struct cusparseDnMatDescr {
    int64_t rows, columns, ld;
    void *values;
    int type, order, batch;
    int64_t next;
};

/* ---- the bracket around a public function -----------------------------------------------------
 */

/* A routine on a handle: `run`, an enum sparse_status, is looked at only if there is a handle. As
 * in NVIDIA's library, functions of its older API say in another way that there is none. */
#define SPARSE_ON_HANDLE(name, without, run, ...)                                                  \
    STANDIN_PUBLIC int cusparse##name(struct cusparseContext *handle, __VA_ARGS__)                 \
    {                                                                                              \
        standin_call_begin("cusparse" #name, __builtin_return_address(0));                         \
        return sparse_call_end(handle == NULL ? (without) : (run));                                \
    }
#define SPARSE_ROUTINE(name, run, ...)                                                             \
    SPARSE_ON_HANDLE(name, SPARSE_INVALID_VALUE, run, __VA_ARGS__)
#define SPARSE_OLDER(name, run, ...)                                                               \
    SPARSE_ON_HANDLE(name, SPARSE_NOT_INITIALIZED, run, __VA_ARGS__)
/* A routine that needs no handle and calls nothing of CUDA. */
#define SPARSE_PLAIN(name, is_fine, run, ...)                                                      \
    STANDIN_PUBLIC int cusparse##name(__VA_ARGS__)                                                 \
    {                                                                                              \
        return (is_fine) ? (int)(run) : SPARSE_INVALID_VALUE;                                      \
    }
/* Ends the bracket that standin_call_begin began; returns `status`. */
int sparse_call_end(enum sparse_status status);
/* A CUDA error as a status; it is remembered for sparse_call_end. */
enum sparse_status sparse_status_of(CUresult error);
/* A finding that `what` is not supported; returns SPARSE_NOT_SUPPORTED. */
enum sparse_status sparse_lacks(const char *what);

/* ---- types -------------------------------------------------------------------------------------
 */

size_t sparse_bytes(int type);             /* of a cudaDataType; 0: no routine has that type */
const char *sparse_suffix(int type);       /* of kernels: "f32"; NULL likewise */
bool sparse_is_computed(int type);         /* float, double or complex: what all routines have */
const char *sparse_bytes_suffix(int type); /* of kernels that copy: "4"; NULL likewise */
bool sparse_is_index(int type);

/* ---- what routines share -----------------------------------------------------------------------
 */

bool sparse_is_op(int op);
/* Whether a matrix of that type may be taken so: real ones are not conjugated. */
bool sparse_is_op_of(int op, int type);
struct blas_scalar sparse_factor(const struct cusparseContext *handle, int type,
                                 const void *factor);
struct sparse_indices sparse_indices(void *first, int index);
/* A matrix as kernels take it. */
struct sparse_matrix sparse_matrix(const struct cusparseSpMatDescr *m);
/* CSR of the functions with a cusparseMatDescr, whose indices have 32 bits. */
struct sparse_matrix sparse_csr(const struct cusparseMatDescr *description, int64_t rows,
                                int64_t columns, int64_t count, const void *values,
                                const int *starts, const int *places);
/* op(M) as kernels take it. */
struct blas_matrix sparse_dense(const struct cusparseDnMatDescr *m, int op);
/* A vector as a matrix of one column. */
struct cusparseDnMatDescr sparse_column(const struct cusparseDnVecDescr *v);

/* Launches kernel cusparse_<routine>_<suffix>; suffix "indices": the routine has no values. */
enum sparse_status sparse_launch(const struct cusparseContext *handle, const char *routine,
                                 const char *suffix, const struct standin_size *size,
                                 const void *parameter);
/* The same for `x` by `y` threads, `z` times; a grid has fewer rows than `y` if that is more than a
 * grid may have. */
enum sparse_status sparse_each(const struct cusparseContext *handle, const char *routine,
                               const char *suffix, int64_t x, int64_t y, int64_t z,
                               const void *parameter);
/* For one thread, and for one block of SPARSE_ADDERS. */
enum sparse_status sparse_alone(const struct cusparseContext *handle, const char *routine,
                                const char *suffix, const void *parameter);
enum sparse_status sparse_adders(const struct cusparseContext *handle, const char *routine,
                                 const char *suffix, const void *parameter);

/* Counts become the sums before them; numbers has count + 1. */
enum sparse_status sparse_scan(const struct cusparseContext *handle, int64_t *numbers,
                               int64_t count);
/* Waits for a number of the device. */
enum sparse_status sparse_take(const struct cusparseContext *handle, const int64_t *number,
                               int64_t *taken);
/* Starts of lines from such sums. `total`: where the caller wants the last sum, in memory of its
 * pointer mode; NULL: nowhere. Waits if that is the host's. */
enum sparse_status sparse_give_starts(const struct cusparseContext *handle, const int64_t *sums,
                                      int64_t lines, int64_t base, struct sparse_indices starts,
                                      int *total);
/* Device memory of the handle for a result of at most 16 bytes. */
enum sparse_status sparse_result(struct cusparseContext *handle, void **result);

/* Waits for what the device has. */
enum sparse_status sparse_copy_out(const struct cusparseContext *handle, void *to, const void *from,
                                   size_t bytes);
/* The size of a buffer that is not used: callers take 0 for a failure of malloc. */
enum { SPARSE_LEAST = 16 };
enum sparse_status sparse_least(size_t *size);

/* A part of the caller's buffer: pieces are taken one after the other, each where every type may
 * begin. */
struct sparse_buffer {
    unsigned char *first;
    size_t taken; /* bytes */
};
void *sparse_piece(struct sparse_buffer *buffer, int64_t count, size_t bytes);

/* The image that the kernels are loaded from: kernels.cu as PTX. */
extern const char sparse_image[];

#endif
