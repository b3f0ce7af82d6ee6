/* Which algorithms there are for a product: one, whose settings a program may make, and which do
 * not change what it does. */
#include "emulator/standins/cublasLt/lt.h"

/* cublasLtMatmulHeuristicResult_t */
struct result {
    union {
        struct lt_algorithm algorithm;
        char room[LT_ALGORITHM_ROOM];
    };
    size_t workspace; /* bytes that it needs: 0 */
    int state;        /* enum blas_status */
    float waves;
    int reserved[4];
};

static const struct lt_algorithm only = {.id = LT_ONLY_ALGORITHM, .split_k = 1};

static const struct lt_attribute of_algorithms[] = {
    LT_ATTRIBUTE(LT_ALGORITHM_ID, lt_algorithm, id),
    LT_ATTRIBUTE(LT_ALGORITHM_TILE, lt_algorithm, tile),
    LT_ATTRIBUTE(LT_ALGORITHM_SPLIT_K, lt_algorithm, split_k),
    LT_ATTRIBUTE(LT_ALGORITHM_REDUCTION, lt_algorithm, reduction),
    LT_ATTRIBUTE(LT_ALGORITHM_SWIZZLE, lt_algorithm, swizzle),
    LT_ATTRIBUTE(LT_ALGORITHM_CUSTOM, lt_algorithm, custom),
    LT_ATTRIBUTE(LT_ALGORITHM_STAGES, lt_algorithm, stages),
    LT_ATTRIBUTE(LT_ALGORITHM_SHAPE, lt_algorithm, shape),
    LT_ATTRIBUTE(LT_ALGORITHM_CLUSTER, lt_algorithm, cluster),
};

static enum blas_status configure(void *algorithm, int number, const void *value, size_t size)
{
    if (number == LT_ALGORITHM_ID) return BLAS_INVALID_VALUE;
    return lt_set(LT_ATTRIBUTES(of_algorithms), algorithm, number, value, size);
}
LT_ROUTINE(MatmulAlgoConfigSetAttribute, configure(algorithm, number, value, size), void *algorithm,
           int number, const void *value, size_t size)
LT_ROUTINE(MatmulAlgoConfigGetAttribute,
           lt_get(LT_ATTRIBUTES(of_algorithms), algorithm, number, value, size, written),
           const void *algorithm, int number, void *value, size_t size, size_t *written)

/* ---- what it can -------------------------------------------------------------------------------
 */

struct capabilities {
    uint64_t numbers;
    uint32_t one, none, every_pointer, epilogues;
};
static const struct capabilities capabilities = {
    .numbers = LT_NUMBERS_FLOAT,
    .one = 1,
    .every_pointer = 0x1f,
    .epilogues = LT_PLAIN | LT_RELU | LT_BIAS | LT_RELU_GRADIENT | LT_BIAS_GRADIENT | LT_GELU |
                 LT_GELU_GRADIENT | LT_AUXILIARY | LT_BIAS_GRADIENT_OF_A | LT_BIAS_GRADIENT_OF_B};
static const struct lt_attribute of_capabilities[] = {
    LT_ATTRIBUTE(LT_CAN_SPLIT_K, capabilities, none),
    LT_ATTRIBUTE(LT_CAN_REDUCE, capabilities, none),
    LT_ATTRIBUTE(LT_CAN_SWIZZLE, capabilities, none),
    LT_ATTRIBUTE(LT_CAN_BATCH, capabilities, one),
    LT_ATTRIBUTE(LT_CAN_WRITE_APART, capabilities, one),
    LT_ATTRIBUTE(LT_CAN_FILL, capabilities, none),
    LT_ATTRIBUTE(LT_CAN_TILE, capabilities, none),
    LT_ATTRIBUTE(LT_CAN_CUSTOM, capabilities, none),
    LT_ATTRIBUTE(LT_CAN_ORDER, capabilities, none),
    LT_ATTRIBUTE(LT_CAN_POINTERS, capabilities, every_pointer),
    LT_ATTRIBUTE(LT_CAN_EPILOGUES, capabilities, epilogues),
    LT_ATTRIBUTE(LT_CAN_STAGES, capabilities, none),
    LT_ATTRIBUTE(LT_CAN_LD_NEGATIVE, capabilities, none),
    LT_ATTRIBUTE(LT_CAN_NUMBERS, capabilities, numbers),
    LT_ATTRIBUTE(LT_CAN_ALIGN_A, capabilities, one),
    LT_ATTRIBUTE(LT_CAN_ALIGN_B, capabilities, one),
    LT_ATTRIBUTE(LT_CAN_ALIGN_C, capabilities, one),
    LT_ATTRIBUTE(LT_CAN_ALIGN_D, capabilities, one),
    LT_ATTRIBUTE(LT_CAN_BATCH_APART, capabilities, one),
};

static enum blas_status capability(const struct lt_algorithm *algorithm, int number, void *value,
                                   size_t size, size_t *written)
{
    const struct lt_attributes attributes = LT_ATTRIBUTES(of_capabilities);
    /* Tiles and stages are arrays, here of one element; a program has room for many. */
    const bool is_array = number == LT_CAN_TILE || number == LT_CAN_STAGES;
    if (algorithm == NULL || algorithm->id != LT_ONLY_ALGORITHM) return BLAS_INVALID_VALUE;
    if (is_array && size > sizeof capabilities.none) size = sizeof capabilities.none;
    return lt_get(attributes, &capabilities, number, value, size, written);
}
LT_ROUTINE(MatmulAlgoCapGetAttribute, capability(algorithm, number, value, size, written),
           const struct lt_algorithm *algorithm, int number, void *value, size_t size,
           size_t *written)

/* ---- finding it --------------------------------------------------------------------------------
 */

static enum blas_status search(const struct lt_call *call, int most, struct result *results,
                               int *count)
{
    if (count != NULL) *count = 0;
    if (most < 1 || results == NULL || count == NULL) return BLAS_INVALID_VALUE;
    const enum blas_status status = lt_check(call);
    if (status != BLAS_SUCCESS) return status;
    *results = (struct result){.algorithm = only, .waves = 1};
    *count = 1;
    return BLAS_SUCCESS;
}
LT_ROUTINE(MatmulAlgoGetHeuristic,
           ((void)preference, handle == NULL ? BLAS_NOT_INITIALIZED
                                             : search(&(struct lt_call){operation, a, b, c, d},
                                                      most, results, count)),
           const void *handle, const struct lt_operation *operation, const struct lt_layout *a,
           const struct lt_layout *b, const struct lt_layout *c, const struct lt_layout *d,
           const void *preference, int most, struct result *results, int *count)

static enum blas_status check(const struct lt_call *call, const struct lt_algorithm *algorithm,
                              struct result *result)
{
    if (algorithm == NULL || result == NULL || algorithm->id != LT_ONLY_ALGORITHM)
        return BLAS_INVALID_VALUE;
    result->workspace = 0;
    result->waves = 1;
    result->state = lt_check(call);
    return (enum blas_status)result->state;
}
LT_ROUTINE(MatmulAlgoCheck,
           handle == NULL ? BLAS_NOT_INITIALIZED
                          : check(&(struct lt_call){operation, a, b, c, d}, algorithm, result),
           const void *handle, const struct lt_operation *operation, const struct lt_layout *a,
           const struct lt_layout *b, const struct lt_layout *c, const struct lt_layout *d,
           const struct lt_algorithm *algorithm, struct result *result)

static enum blas_status ids(int most, int *list, int *count)
{
    if (most < 1 || list == NULL || count == NULL) return BLAS_INVALID_VALUE;
    *list = LT_ONLY_ALGORITHM;
    *count = 1;
    return BLAS_SUCCESS;
}
/* Whether the types have a kernel is said when there is a product. */
#define TYPES int compute, int scale, int a, int b, int c, int d
#define NO_TYPES ((void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d)
LT_ROUTINE(MatmulAlgoGetIds,
           (NO_TYPES, handle == NULL ? BLAS_NOT_INITIALIZED : ids(most, list, count)),
           const void *handle, TYPES, int most, int *list, int *count)

static enum blas_status start(int id, struct result *to)
{
    if (id != LT_ONLY_ALGORITHM || to == NULL) return BLAS_INVALID_VALUE;
    to->algorithm = only;
    return BLAS_SUCCESS;
}
LT_ROUTINE(MatmulAlgoInit, (NO_TYPES, handle == NULL ? BLAS_NOT_INITIALIZED : start(id, algorithm)),
           const void *handle, TYPES, int id, void *algorithm)
