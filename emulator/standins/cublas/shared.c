#include "emulator/standins/cublas/shared.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    enum blas_status status;
    const char *name, *text;
} statuses[] = {
    {BLAS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {BLAS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {BLAS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {BLAS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {BLAS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"},
    {BLAS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch"},
    {BLAS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {BLAS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the functionality is not supported"},
};

const char *blas_status_name(int status)
{
    for (size_t k = 0; k < sizeof statuses / sizeof *statuses; k++)
        if ((int)statuses[k].status == status) return statuses[k].name;
    return "CUBLAS_STATUS_UNKNOWN";
}

const char *blas_status_text(int status)
{
    for (size_t k = 0; k < sizeof statuses / sizeof *statuses; k++)
        if ((int)statuses[k].status == status) return statuses[k].text;
    return "an unknown status";
}

enum blas_status blas_status_of(CUresult error)
{
    switch (standin_met(error)) {
    case CUDA_SUCCESS:
        return BLAS_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return BLAS_ALLOC_FAILED;
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_NO_DEVICE:
        return BLAS_NOT_INITIALIZED;
    default:
        return BLAS_EXECUTION_FAILED;
    }
}

int blas_call_end(enum blas_status status)
{
    standin_call_end(status == BLAS_SUCCESS, status == BLAS_NOT_SUPPORTED
                                                 ? CUDA_ERROR_NOT_SUPPORTED
                                                 : CUDA_ERROR_INVALID_VALUE);
    return (int)status;
}

/* IEEE 754 binary16. */
static double half_at(const void *factor)
{
    enum { BIAS = 15, FRACTION_BITS = 10, SPECIAL = 31 };
    const uint16_t bits = *(const uint16_t *)factor;
    const int exponent = bits >> FRACTION_BITS & SPECIAL, fraction = bits & 0x3ff;
    const double sign = bits >> 15 ? -1 : 1;
    if (exponent == SPECIAL) return fraction != 0 ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, 1 - BIAS - FRACTION_BITS);
    return sign * ldexp(fraction + (1 << FRACTION_BITS), exponent - BIAS - FRACTION_BITS);
}

struct blas_scalar blas_factor(int type, bool on_device, const void *factor)
{
    struct blas_scalar scalar = {.device = on_device ? factor : NULL};
    double doubles[2] = {0, 0};
    float floats[2] = {0, 0};
    int32_t whole;
    if (on_device) return scalar;
    switch (type) {
    case BLAS_R_32F:
    case BLAS_C_32F:
        memcpy(floats, factor, type == BLAS_C_32F ? sizeof floats : sizeof *floats);
        scalar.re = floats[0];
        scalar.im = floats[1];
        break;
    case BLAS_R_64F:
    case BLAS_C_64F:
        memcpy(doubles, factor, type == BLAS_C_64F ? sizeof doubles : sizeof *doubles);
        scalar.re = doubles[0];
        scalar.im = doubles[1];
        break;
    case BLAS_R_16F:
        scalar.re = half_at(factor);
        break;
    default:
        memcpy(&whole, factor, sizeof whole);
        scalar.re = whole;
    }
    return scalar;
}

struct blas_matrix blas_matrix(const void *first, int64_t ld, int op)
{
    const bool plain = op == BLAS_OP_N;
    return (struct blas_matrix){.first = (void *)(uintptr_t)first,
                                .row = plain ? 1 : ld,
                                .column = plain ? ld : 1,
                                .conjugate = op == BLAS_OP_C};
}

int blas_type_of(int compute)
{
    switch (compute) {
    case BLAS_COMPUTE_16F:
    case BLAS_COMPUTE_16F_PEDANTIC:
        return BLAS_R_16F;
    case BLAS_COMPUTE_64F:
    case BLAS_COMPUTE_64F_PEDANTIC:
    case BLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
        return BLAS_R_64F;
    case BLAS_COMPUTE_32I:
    case BLAS_COMPUTE_32I_PEDANTIC:
        return BLAS_R_32I;
    default:
        return BLAS_R_32F;
    }
}

bool blas_is_op(int op)
{
    return op == BLAS_OP_N || op == BLAS_OP_T || op == BLAS_OP_C;
}

struct standin_size blas_product_size(int64_t m, int64_t n, int64_t count)
{
    enum { ROWS = 32, BLOCK_Y = 4 };
    return (struct standin_size){.x = (uint64_t)m,
                                 .y = ((uint64_t)n + BLAS_COLUMNS - 1) / BLAS_COLUMNS,
                                 .z = (uint64_t)count,
                                 .block_x = ROWS,
                                 .block_y = BLOCK_Y};
}

enum blas_status blas_launch_from(struct standin_kernels *kernels, const char *library,
                                  const char *routine, const char *suffix, CUstream stream,
                                  const struct standin_size *size, const void *parameter)
{
    enum { LONGEST = 64 };
    char name[LONGEST];
    snprintf(name, sizeof name, "%s_%s_%s", library, routine, suffix);
    return blas_status_of(standin_launch(kernels, name, size, stream, parameter));
}

/* ---- the version -------------------------------------------------------------------------------
 */

enum { VERSION_MAJOR = 13, VERSION_MINOR = 1, VERSION_PATCH = 0 };

int blas_version(void)
{
    return VERSION_MAJOR * 10000 + VERSION_MINOR * 100 + VERSION_PATCH;
}

enum blas_status blas_property(int which, int *value)
{
    static const int parts[] = {VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH};
    if (which < 0 || which > 2 || value == NULL) return BLAS_INVALID_VALUE;
    *value = parts[which];
    return BLAS_SUCCESS;
}
