/* Products: whether there is a kernel for one, and its launch. */
#include "emulator/standins/cublasLt/lt.h"

#include <stdio.h>

static struct standin_kernels kernels = {.ptx = lt_image};

/* Which kernel: by the types of A and B, of C and D, of sums, and of alpha and beta. `bias`: the
 * type of a bias, -1 if the kernel has no epilogues. */
static const struct kernel {
    int operands, result, sums, scale, bias; /* enum blas_type */
    const char *suffix;
} table[] = {
    {BLAS_R_32F, BLAS_R_32F, BLAS_R_32F, BLAS_R_32F, BLAS_R_32F, "f32"},
    {BLAS_R_64F, BLAS_R_64F, BLAS_R_64F, BLAS_R_64F, BLAS_R_64F, "f64"},
    {BLAS_C_32F, BLAS_C_32F, BLAS_R_32F, BLAS_C_32F, -1, "c32"},
    {BLAS_C_64F, BLAS_C_64F, BLAS_R_64F, BLAS_C_64F, -1, "c64"},
    {BLAS_R_16F, BLAS_R_16F, BLAS_R_32F, BLAS_R_32F, BLAS_R_16F, "f16"},
    {BLAS_R_16F, BLAS_R_32F, BLAS_R_32F, BLAS_R_32F, BLAS_R_32F, "f16_f32"},
    {BLAS_R_16F, BLAS_R_16F, BLAS_R_16F, BLAS_R_16F, BLAS_R_16F, "f16_by_f16"},
    {BLAS_R_16BF, BLAS_R_16BF, BLAS_R_32F, BLAS_R_32F, BLAS_R_16BF, "bf16"},
    {BLAS_R_16BF, BLAS_R_32F, BLAS_R_32F, BLAS_R_32F, BLAS_R_32F, "bf16_f32"},
    {BLAS_R_8I, BLAS_R_32I, BLAS_R_32I, BLAS_R_32I, -1, "s8_s32"},
    {BLAS_R_8I, BLAS_R_8I, BLAS_R_32I, BLAS_R_32F, BLAS_R_32F, "s8"},
};

/* NULL: there is none. */
static const struct kernel *kernel_of(const struct lt_call *call)
{
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (table[k].operands == call->a->type && table[k].operands == call->b->type &&
            table[k].result == call->c->type && table[k].result == call->d->type &&
            table[k].sums == blas_type_of(call->operation->compute) &&
            table[k].scale == call->operation->scale)
            return &table[k];
    return NULL;
}

/* The epilogues that cublasLt.h names. */
static bool is_epilogue(uint32_t epilogue)
{
    static const uint32_t known[] = {
        LT_PLAIN,
        LT_BIAS,
        LT_RELU,
        LT_RELU | LT_BIAS,
        LT_RELU | LT_AUXILIARY,
        LT_RELU | LT_AUXILIARY | LT_BIAS,
        LT_RELU_GRADIENT | LT_AUXILIARY,
        LT_RELU_GRADIENT | LT_AUXILIARY | LT_BIAS_GRADIENT,
        LT_GELU,
        LT_GELU | LT_BIAS,
        LT_GELU | LT_AUXILIARY,
        LT_GELU | LT_AUXILIARY | LT_BIAS,
        LT_GELU_GRADIENT | LT_AUXILIARY,
        LT_GELU_GRADIENT | LT_AUXILIARY | LT_BIAS_GRADIENT,
        LT_BIAS_GRADIENT_OF_A,
        LT_BIAS_GRADIENT_OF_B,
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k] == epilogue) return true;
    return false;
}

enum { ALL_BIASES = LT_BIAS | LT_BIAS_GRADIENT | LT_BIAS_GRADIENT_OF_A | LT_BIAS_GRADIENT_OF_B };

/* ---- checks ------------------------------------------------------------------------------------
 */

static bool is_layout(const struct lt_layout *layout)
{
    const uint64_t shortest = layout->order == LT_BY_ROWS ? layout->columns : layout->rows;
    return layout->rows <= INT64_MAX && layout->columns <= INT64_MAX && layout->count >= 0 &&
           layout->ld >= (int64_t)(shortest > 1 ? shortest : 1);
}

static uint64_t rows_of(const struct lt_layout *layout, int op)
{
    return op == BLAS_OP_N ? layout->rows : layout->columns;
}
static uint64_t columns_of(const struct lt_layout *layout, int op)
{
    return op == BLAS_OP_N ? layout->columns : layout->rows;
}

static bool do_sizes_fit(const struct lt_call *call)
{
    const struct lt_operation *o = call->operation;
    const struct lt_layout *all[] = {call->a, call->b, call->c, call->d};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!is_layout(all[k]) || all[k]->count != call->d->count) return false;
    return rows_of(call->a, o->op_a) == call->d->rows &&
           columns_of(call->b, o->op_b) == call->d->columns &&
           columns_of(call->a, o->op_a) == rows_of(call->b, o->op_b) &&
           call->c->rows == call->d->rows && call->c->columns == call->d->columns;
}

/* What the caller wants and no kernel does. */
static bool is_supported(const struct lt_call *call, const struct kernel *kernel)
{
    const struct lt_operation *o = call->operation;
    const struct lt_layout *all[] = {call->a, call->b, call->c, call->d};
    const void *unknown[] = {o->a_scale, o->b_scale,         o->c_scale,       o->d_scale,
                             o->d_most,  o->auxiliary_scale, o->auxiliary_most};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if ((all[k]->order != LT_BY_COLUMNS && all[k]->order != LT_BY_ROWS) || all[k]->plane != 0 ||
            all[k]->batch != call->d->batch)
            return false;
    for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++)
        if (unknown[k] != NULL) return false;
    if (kernel == NULL || o->op_c != BLAS_OP_N || o->fill != LT_FULL) return false;
    if (o->epilogue == LT_PLAIN) return true;
    /* Any other has a vector, or a mask, of D's columns. */
    const bool any_order =
        o->epilogue == LT_RELU || o->epilogue == LT_GELU || o->epilogue == LT_BIAS_GRADIENT_OF_A;
    return kernel->bias >= 0 && (o->bias_type < 0 || o->bias_type == kernel->bias) &&
           (o->auxiliary_type < 0 || o->auxiliary_type == kernel->result) &&
           (any_order || call->d->order == LT_BY_COLUMNS);
}

/* Names what no kernel does, by the numbers of its types. */
static enum blas_status refuse(const struct lt_call *call)
{
    enum { LONGEST = 200 };
    char what[LONGEST];
    snprintf(
        what, sizeof what,
        "a product of cuBLASLt of these types, orders, planes or scales (cudaDataType of A %d, "
        "B %d, C %d, D %d)",
        call->a->type, call->b->type, call->c->type, call->d->type);
    standin_lacks(what);
    return BLAS_NOT_SUPPORTED;
}

enum blas_status lt_check(const struct lt_call *call)
{
    const struct lt_operation *o = call->operation;
    if (o == NULL || call->a == NULL || call->b == NULL || call->c == NULL || call->d == NULL)
        return BLAS_INVALID_VALUE;
    if (!blas_is_op(o->op_a) || !blas_is_op(o->op_b) || o->pointers < LT_HOST ||
        o->pointers > LT_VECTOR_AND_VALUE || !is_epilogue(o->epilogue))
        return BLAS_INVALID_VALUE;
    if (!is_supported(call, kernel_of(call))) return refuse(call);
    if ((o->epilogue & LT_AUXILIARY) != 0 && o->auxiliary_ld < (int64_t)call->d->rows)
        return BLAS_INVALID_VALUE;
    return do_sizes_fit(call) ? BLAS_SUCCESS : BLAS_INVALID_VALUE;
}

/* ---- launches ----------------------------------------------------------------------------------
 */

/* Where things are. */
struct places {
    const void *alpha, *a, *b, *beta, *c;
    void *d;
    CUstream stream;
};

static struct blas_matrix matrix_of(const struct lt_layout *layout, const void *first, int op)
{
    /* A matrix by rows is its transpose by columns. */
    const bool by_rows = layout->order == LT_BY_ROWS, transposed = op != BLAS_OP_N;
    struct blas_matrix matrix =
        blas_matrix(first, layout->ld, by_rows != transposed ? BLAS_OP_T : BLAS_OP_N);
    matrix.conjugate = op == BLAS_OP_C;
    matrix.next = layout->next;
    return matrix;
}

static void set_factors(struct lt_matmul *matmul, const struct lt_operation *o,
                        const struct places *at)
{
    const bool vector = o->pointers >= LT_VECTORS;
    matmul->product.alpha = blas_factor(o->scale, o->pointers != LT_HOST, at->alpha);
    if (o->pointers != LT_VECTOR_AND_ZERO)
        matmul->product.beta =
            blas_factor(o->scale, o->pointers == LT_DEVICE || o->pointers == LT_VECTORS, at->beta);
    matmul->alpha_of_row = vector;
    matmul->beta_of_row = o->pointers == LT_VECTORS;
    matmul->alpha_next = o->pointers == LT_VECTOR_AND_VALUE ? o->alpha_next : 0;
}

static enum blas_status launch(const char *routine, const char *suffix, CUstream stream,
                               const struct standin_size *size, const void *parameter)
{
    return blas_launch_from(&kernels, "cublasLt", routine, suffix, stream, size, parameter);
}

/* The gradient of the bias: the sums of the rows of D, or of op(A), or of the columns of op(B). */
static enum blas_status add_rows(const struct lt_call *call, const struct lt_matmul *matmul,
                                 const char *suffix, CUstream stream)
{
    enum { THREADS = 64 };
    const struct blas_gemm *p = &matmul->product;
    const bool apart = call->d->batch == LT_APART;
    struct lt_sums sums = {.rows = p->m,
                           .columns = p->k,
                           .matrix = p->a,
                           .sums = (void *)(uintptr_t)matmul->bias,
                           .sums_next = matmul->bias_next};
    const char *routine = apart ? "sums_of_operand_apart" : "sums_of_operand";
    if (matmul->epilogue == LT_BIAS_GRADIENT_OF_B) {
        sums.rows = p->n;
        sums.matrix = p->b;
        sums.matrix.row = p->b.column;
        sums.matrix.column = p->b.row;
    } else if ((matmul->epilogue & LT_BIAS_GRADIENT) != 0) {
        sums.columns = p->n;
        sums.matrix = matmul->d;
        routine = apart ? "sums_of_result_apart" : "sums_of_result";
    }
    const struct standin_size size = {.x = (uint64_t)sums.rows,
                                      .y = 1,
                                      .z = (uint64_t)p->count,
                                      .block_x = THREADS,
                                      .block_y = 1};
    return launch(routine, suffix, stream, &size, &sums);
}

static enum blas_status multiply(const struct lt_call *call, const struct places *at)
{
    const struct lt_operation *o = call->operation;
    enum blas_status status = lt_check(call);
    if (status != BLAS_SUCCESS) return status;
    if (at->alpha == NULL || (at->beta == NULL && o->pointers != LT_VECTOR_AND_ZERO) ||
        at->d == NULL || ((o->epilogue & ALL_BIASES) != 0 && o->bias == NULL) ||
        ((o->epilogue & LT_AUXILIARY) != 0 && o->auxiliary == NULL))
        return BLAS_INVALID_VALUE;
    struct lt_matmul matmul = {.product = {.m = (int64_t)call->d->rows,
                                           .n = (int64_t)call->d->columns,
                                           .k = (int64_t)columns_of(call->a, o->op_a),
                                           .count = call->d->count,
                                           .a = matrix_of(call->a, at->a, o->op_a),
                                           .b = matrix_of(call->b, at->b, o->op_b),
                                           .c = matrix_of(call->c, at->c, BLAS_OP_N)},
                               .d = matrix_of(call->d, at->d, BLAS_OP_N),
                               .epilogue = (int32_t)o->epilogue,
                               .bias = o->bias,
                               .bias_next = o->bias_next,
                               .auxiliary = o->auxiliary,
                               .auxiliary_column = o->auxiliary_ld,
                               .auxiliary_next = o->auxiliary_next};
    set_factors(&matmul, o, at);
    const struct standin_size size =
        blas_product_size(matmul.product.m, matmul.product.n, matmul.product.count);
    const char *suffix = kernel_of(call)->suffix;
    status = launch(call->d->batch == LT_APART ? "matmul_apart" : "matmul", suffix, at->stream,
                    &size, &matmul);
    if (status == BLAS_SUCCESS && (o->epilogue & ALL_BIASES & ~(unsigned)LT_BIAS) != 0)
        status = add_rows(call, &matmul, suffix, at->stream);
    return status;
}

/* The algorithm, if any, is the only one; a workspace is for NVIDIA's. */
LT_ROUTINE(Matmul,
           ((void)algorithm, (void)workspace, (void)room,
            handle == NULL ? BLAS_NOT_INITIALIZED
                           : multiply(&(struct lt_call){operation, of_a, of_b, of_c, of_d},
                                      &(struct places){alpha, a, b, beta, c, d, stream})),
           const void *handle, const struct lt_operation *operation, const void *alpha,
           const void *a, const struct lt_layout *of_a, const void *b, const struct lt_layout *of_b,
           const void *beta, const void *c, const struct lt_layout *of_c, void *d,
           const struct lt_layout *of_d, const struct lt_algorithm *algorithm, void *workspace,
           size_t room, CUstream stream)
