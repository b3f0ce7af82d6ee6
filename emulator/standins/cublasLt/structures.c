/* The structures that a program fills in, attribute by attribute. It makes room for them itself, or
 * has them made. */
#include "emulator/standins/cublasLt/lt.h"

#include <stdlib.h>
#include <string.h>

/* NULL: there is no such attribute. */
static const struct lt_attribute *find(struct lt_attributes attributes, int number)
{
    for (size_t k = 0; k < attributes.count; k++)
        if (attributes.rows[k].number == number) return &attributes.rows[k];
    return NULL;
}

enum blas_status lt_set(struct lt_attributes attributes, void *object, int number,
                        const void *value, size_t size)
{
    const struct lt_attribute *attribute = find(attributes, number);
    if (object == NULL || value == NULL || attribute == NULL || size != attribute->size)
        return BLAS_INVALID_VALUE;
    memcpy((char *)object + attribute->offset, value, size);
    return BLAS_SUCCESS;
}

enum blas_status lt_get(struct lt_attributes attributes, const void *object, int number,
                        void *value, size_t size, size_t *written)
{
    const struct lt_attribute *attribute = find(attributes, number);
    if (object == NULL || attribute == NULL) return BLAS_INVALID_VALUE;
    if (size == 0 ? written == NULL : value == NULL || size != attribute->size)
        return BLAS_INVALID_VALUE;
    if (written != NULL) *written = attribute->size;
    if (size != 0) memcpy(value, (const char *)object + attribute->offset, size);
    return BLAS_SUCCESS;
}

/* Puts `filled` where the program has `room` bytes for it. */
static enum blas_status put(void *to, size_t room, const void *filled, size_t size, size_t needed)
{
    if (to == NULL) return BLAS_INVALID_VALUE;
    if (room < needed) return BLAS_ALLOC_FAILED;
    memset(to, 0, needed);
    memcpy(to, filled, size);
    return BLAS_SUCCESS;
}

static enum blas_status make(void **made, const void *filled, size_t size, size_t needed)
{
    if (made == NULL) return BLAS_INVALID_VALUE;
    *made = malloc(needed);
    return *made == NULL ? BLAS_ALLOC_FAILED : put(*made, needed, filled, size, needed);
}

static enum blas_status destroy(void *object)
{
    free(object);
    return BLAS_SUCCESS;
}

/* The functions of one structure: Init_internal, Create and Destroy, SetAttribute, GetAttribute.
 * GIVEN, in parentheses: what the program gives when it makes one; FILLED: one that is made of it.
 */
#define STRUCTURE(name, type, needed, attributes, filled, ...)                                     \
    LT_ROUTINE(name##Init_internal, put(object, room, &(filled), sizeof(struct type), needed),     \
               void *object, size_t room __VA_ARGS__)                                              \
    LT_ROUTINE(name##Create, make(object, &(filled), sizeof(struct type), needed),                 \
               void **object __VA_ARGS__)                                                          \
    LT_ROUTINE(name##Destroy, destroy(object), void *object)                                       \
    LT_ROUTINE(name##SetAttribute, lt_set(LT_ATTRIBUTES(attributes), object, number, value, size), \
               void *object, int number, const void *value, size_t size)                           \
    LT_ROUTINE(name##GetAttribute,                                                                 \
               lt_get(LT_ATTRIBUTES(attributes), object, number, value, size, written),            \
               const void *object, int number, void *value, size_t size, size_t *written)

static const struct lt_attribute of_layouts[] = {
    LT_ATTRIBUTE(LT_LAYOUT_TYPE, lt_layout, type),
    LT_ATTRIBUTE(LT_LAYOUT_ORDER, lt_layout, order),
    LT_ATTRIBUTE(LT_LAYOUT_ROWS, lt_layout, rows),
    LT_ATTRIBUTE(LT_LAYOUT_COLUMNS, lt_layout, columns),
    LT_ATTRIBUTE(LT_LAYOUT_LD, lt_layout, ld),
    LT_ATTRIBUTE(LT_LAYOUT_COUNT, lt_layout, count),
    LT_ATTRIBUTE(LT_LAYOUT_NEXT, lt_layout, next),
    LT_ATTRIBUTE(LT_LAYOUT_PLANE, lt_layout, plane),
    LT_ATTRIBUTE(LT_LAYOUT_BATCH, lt_layout, batch),
};
#define A_LAYOUT                                                                                   \
    ((struct lt_layout){.type = type, .rows = rows, .columns = columns, .ld = ld, .count = 1})
STRUCTURE(MatrixLayout, lt_layout, LT_LAYOUT_ROOM, of_layouts, A_LAYOUT, , int type, uint64_t rows,
          uint64_t columns, int64_t ld)

static const struct lt_attribute of_operations[] = {
    LT_ATTRIBUTE(LT_COMPUTE_TYPE, lt_operation, compute),
    LT_ATTRIBUTE(LT_SCALE_TYPE, lt_operation, scale),
    LT_ATTRIBUTE(LT_POINTERS, lt_operation, pointers),
    LT_ATTRIBUTE(LT_OP_A, lt_operation, op_a),
    LT_ATTRIBUTE(LT_OP_B, lt_operation, op_b),
    LT_ATTRIBUTE(LT_OP_C, lt_operation, op_c),
    LT_ATTRIBUTE(LT_FILL, lt_operation, fill),
    LT_ATTRIBUTE(LT_EPILOGUE, lt_operation, epilogue),
    LT_ATTRIBUTE(LT_BIAS_POINTER, lt_operation, bias),
    LT_ATTRIBUTE(LT_BIAS_NEXT, lt_operation, bias_next),
    LT_ATTRIBUTE(LT_AUXILIARY_POINTER, lt_operation, auxiliary),
    LT_ATTRIBUTE(LT_AUXILIARY_LD, lt_operation, auxiliary_ld),
    LT_ATTRIBUTE(LT_AUXILIARY_NEXT, lt_operation, auxiliary_next),
    LT_ATTRIBUTE(LT_ALPHA_NEXT, lt_operation, alpha_next),
    LT_ATTRIBUTE(LT_SM_COUNT, lt_operation, sm_count),
    LT_ATTRIBUTE(LT_A_SCALE, lt_operation, a_scale),
    LT_ATTRIBUTE(LT_B_SCALE, lt_operation, b_scale),
    LT_ATTRIBUTE(LT_C_SCALE, lt_operation, c_scale),
    LT_ATTRIBUTE(LT_D_SCALE, lt_operation, d_scale),
    LT_ATTRIBUTE(LT_D_MOST, lt_operation, d_most),
    LT_ATTRIBUTE(LT_AUXILIARY_TYPE, lt_operation, auxiliary_type),
    LT_ATTRIBUTE(LT_AUXILIARY_SCALE, lt_operation, auxiliary_scale),
    LT_ATTRIBUTE(LT_AUXILIARY_MOST, lt_operation, auxiliary_most),
    LT_ATTRIBUTE(LT_FAST_SUMS, lt_operation, fast_sums),
    LT_ATTRIBUTE(LT_BIAS_TYPE, lt_operation, bias_type),
};
#define AN_OPERATION                                                                               \
    ((struct lt_operation){.compute = compute,                                                     \
                           .scale = scale,                                                         \
                           .fill = LT_FULL,                                                        \
                           .epilogue = LT_PLAIN,                                                   \
                           .auxiliary_type = -1,                                                   \
                           .bias_type = -1})
STRUCTURE(MatmulDesc, lt_operation, LT_OPERATION_ROOM, of_operations, AN_OPERATION, , int compute,
          int scale)

static const struct lt_attribute of_preferences[] = {
    LT_ATTRIBUTE(LT_SEARCH, lt_preference, search),
    LT_ATTRIBUTE(LT_WORKSPACE, lt_preference, workspace),
    LT_ATTRIBUTE(LT_REDUCTIONS, lt_preference, reductions),
    LT_ATTRIBUTE(LT_ALIGN_A, lt_preference, align_a),
    LT_ATTRIBUTE(LT_ALIGN_B, lt_preference, align_b),
    LT_ATTRIBUTE(LT_ALIGN_C, lt_preference, align_c),
    LT_ATTRIBUTE(LT_ALIGN_D, lt_preference, align_d),
    LT_ATTRIBUTE(LT_WAVES, lt_preference, waves),
    LT_ATTRIBUTE(LT_IMPLEMENTATIONS, lt_preference, implementations),
};
enum { ALIGNED = 256, ANY_REDUCTION = 7 };
static const struct lt_preference a_preference = {.implementations = UINT64_MAX,
                                                  .reductions = ANY_REDUCTION,
                                                  .align_a = ALIGNED,
                                                  .align_b = ALIGNED,
                                                  .align_c = ALIGNED,
                                                  .align_d = ALIGNED};
STRUCTURE(MatmulPreference, lt_preference, LT_PREFERENCE_ROOM, of_preferences, a_preference, )
