#include "grader/lessons/11_structs/inputs.h"
#include "grader/lessons/11_structs/exchange.h"
#include "grader/lessons/11_structs/model.h"

#include <string.h>

#define APART 64 /* minimum distance of two arrays in bytes, and their alignment */

/* Describes a case; the pairs are minimum and maximum. */
struct wanted {
    enum structs_step step;
    bool again, timed, book, pageable;
    uint32_t rows[2], columns[2], gap[2]; /* gap: elements between a row's end and the next row */
    uint32_t count[2], length[2];         /* arrays, and elements of each */
    uint32_t behind; /* number of arrays that are multiplied twice, if there are as many */
    enum structs_kernel kernel;
    uint32_t elements[2];
};

static uint32_t draw(struct run_input *input, const uint32_t range[2])
{
    return (uint32_t)random_between(input->random, range[0], range[1]);
}

/* Returns the most bytes that a case may take, without the gaps between its pieces. */
static size_t most_bytes(const struct wanted *w)
{
    return (size_t)w->rows[1] * (w->columns[1] + w->gap[1]) * sizeof(float) +
           w->count[1] *
               (sizeof(struct structs_list) + w->length[1] * sizeof(float) + (size_t)2 * APART) +
           (size_t)w->elements[1] * 40 + (size_t)4 * APART * STRUCTS_ARGUMENTS;
}

/* Reserves room in the bytes of both sides. */
static uint64_t take(struct structs_input *in, size_t bytes)
{
    const uint64_t at = in->size;
    in->size = (at + bytes + 2 * APART - 1) / APART * APART;
    return at;
}

/* Draws a float that is not 0, of either sign, with so few digits that products with factors are
 * exact. */
static float draw_float(struct run_input *input)
{
    const float size = (float)random_between(input->random, 1, 4000) / 8.0f;
    return random_below(input->random, 2) == 0 ? size : -size;
}

static void draw_floats(struct run_input *input, void *to, size_t count)
{
    for (size_t i = 0; i < count; i++) ((float *)to)[i] = draw_float(input);
}

static void lay_out_double(struct run_input *input, struct structs_input *in,
                           const struct wanted *w, struct structs_case *c)
{
    c->rows = draw(input, w->rows);
    c->columns = w->book ? c->rows : draw(input, w->columns);
    c->stride = c->columns + draw(input, w->gap);
    c->at = take(in, (size_t)c->rows * c->stride * sizeof(float));
    draw_floats(input, in->bytes + c->at, (size_t)c->rows * c->stride);
}

/* Draws a factor. Both signs occur, and every second one has a square that no int16_t holds; all
 * have three binary digits at most. */
static int32_t draw_factor(struct run_input *input, uint32_t i)
{
    const int32_t size = i % 2 == 1 ? 64 * (2 * (int32_t)random_between(input->random, 1, 3) + 1)
                                    : (int32_t)random_between(input->random, 2, 7);
    return i % 4 < 2 ? -size : size;
}

/* The book's two arrays, [1, 2, 3] and [0, 4], are doubled, and the second once more. */
static void lay_out_arrays(struct run_input *input, struct structs_input *in,
                           const struct wanted *w, struct structs_case *c)
{
    static const float book[2][3] = {{1, 2, 3}, {0, 4, 0}};

    c->count = draw(input, w->count);
    c->first = c->count > w->behind ? c->count - w->behind : 0;
    c->at = take(in, c->count * sizeof(struct structs_list));
    struct structs_list *lists = (void *)(in->bytes + c->at);
    for (uint32_t i = 0; i < c->count; i++) {
        lists[i].factor = w->book ? 2 : draw_factor(input, i);
        lists[i].length = w->book ? 3 - i : draw(input, w->length);
        /* One array of several is empty. */
        if (!w->book && !w->timed && i % 4 == 2) lists[i].length = 0;
        lists[i].at = take(in, lists[i].length * sizeof(float));
        if (w->book)
            memcpy(in->bytes + lists[i].at, book[i], lists[i].length * sizeof(float));
        else
            draw_floats(input, in->bytes + lists[i].at, lists[i].length);
    }
}

static void draw_bits(struct run_input *input, unsigned char *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) to[i] = (unsigned char)random_bits(input->random);
}

static void draw_doubles(struct run_input *input, unsigned char *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double value = (double)draw_float(input);
        memcpy(to + i * sizeof value, &value, sizeof value);
    }
}

static void lay_out_call(struct run_input *input, struct structs_input *in, const struct wanted *w,
                         struct structs_case *c)
{
    const struct model_kernel *kernel = &model_kernels[w->kernel];
    const uint32_t elements = draw(input, w->elements);
    const bool floats = w->kernel == STRUCTS_WORK_FLOATS;

    c->kernel = w->kernel;
    c->arguments = kernel->count;
    c->blocks = (uint32_t)random_between(input->random, 1, 3);
    c->threads = (uint32_t)random_between(input->random, 33, 100);
    c->at = take(in, STRUCTS_SEEN);
    for (uint32_t i = 0; i < kernel->count; i++) {
        const struct model_parameter *p = &kernel->parameters[i];
        struct structs_given *given = &c->given[i];
        given->way = p->way;
        given->alignment = p->alignment;
        given->size = p->way == MODEL_VALUE ? p->size : p->size * elements;
        given->pageable = (in->case_count + i) % 2;
        given->at = take(in, given->size);
        unsigned char *bytes = in->bytes + given->at;
        if ((int)i == kernel->length)
            memcpy(bytes, &elements, p->size); /* little-endian, like devices */
        else if (floats && p->way != MODEL_VALUE && p->size == sizeof(float))
            draw_floats(input, bytes, elements);
        else if (floats && p->way != MODEL_VALUE)
            draw_doubles(input, bytes, elements);
        else
            draw_bits(input, bytes, given->size);
    }
}

static int prepare(struct run_input *input, const struct wanted *wanted, size_t count)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++) most += most_bytes(&wanted[i]);
    struct structs_input *in = run_input_allocate(input, sizeof *in + most);
    if (in == NULL) return -1;
    for (; in->case_count < count; in->case_count++) {
        const struct wanted *const w = &wanted[in->case_count];
        struct structs_case *c = &in->cases[in->case_count];
        c->step = w->step;
        c->again = w->again;
        c->timed = w->timed;
        c->pageable = w->pageable;
        if (c->step == STRUCTS_STEP_DOUBLE)
            lay_out_double(input, in, w, c);
        else if (c->step == STRUCTS_STEP_MULTIPLY)
            lay_out_arrays(input, in, w, c);
        else if (c->step == STRUCTS_STEP_CALL)
            lay_out_call(input, in, w, c);
    }
    input->output_size = sizeof(struct structs_output) + in->size;
    return 0;
}

#define PREPARE(list) prepare(input, list, sizeof(list) / sizeof *(list))

#define MATRIX(...)                                                                                \
    {                                                                                              \
        .step = STRUCTS_STEP_DOUBLE, __VA_ARGS__                                                   \
    }
#define ARRAYS(...)                                                                                \
    {                                                                                              \
        .step = STRUCTS_STEP_MULTIPLY, __VA_ARGS__                                                 \
    }
#define CALL(which, least, most)                                                                   \
    {                                                                                              \
        .step = STRUCTS_STEP_CALL, .kernel = which, .elements = { least, most }                    \
    }

/* The book's 4 x 4 matrix, and the 5 x 5 one for which the book's index is wrong. */
int inputs_double(struct run_input *input)
{
    static const struct wanted list[] = {
        MATRIX(.book = true, .rows = {4, 4}, .columns = {4, 4}, .again = true),
        MATRIX(.book = true, .rows = {5, 5}, .columns = {5, 5}),
        MATRIX(.rows = {33, 47}, .columns = {65, 79}),
        MATRIX(.rows = {65, 79}, .columns = {33, 47}, .gap = {3, 9}),
        MATRIX(.rows = {1, 3}, .columns = {1100, 1300}, .gap = {1, 4}),
        MATRIX(.rows = {1100, 1300}, .columns = {1, 3}),
        MATRIX(.rows = {1, 1}, .columns = {1, 1}),
    };
    return PREPARE(list);
}

int inputs_layout(struct run_input *input)
{
    static const struct wanted list[] = {{.step = STRUCTS_STEP_LAYOUT, .again = true},
                                         {.step = STRUCTS_STEP_LAYOUT, .pageable = true}};
    return PREPARE(list);
}

int inputs_arrays(struct run_input *input)
{
    static const struct wanted list[] = {
        ARRAYS(.book = true, .count = {2, 2}, .length = {3, 3}, .behind = 1, .again = true),
        ARRAYS(.count = {6, 9}, .length = {200, 900}, .behind = 3),
        ARRAYS(.count = {0, 0}, .again = true),
        ARRAYS(.count = {1, 1}, .length = {2000, 3000}, .behind = 1),
        ARRAYS(.count = {4, 6}, .length = {1, 40}),
    };
    return PREPARE(list);
}

int inputs_call(struct run_input *input)
{
    static const struct wanted list[] = {
        CALL(STRUCTS_LOOK_GROWING, 0, 0),    CALL(STRUCTS_LOOK_MIXED, 0, 0),
        CALL(STRUCTS_LOOK_LARGE, 0, 0),      CALL(STRUCTS_LOOK_STRUCTS, 0, 0),
        CALL(STRUCTS_WORK_FLOATS, 301, 900), CALL(STRUCTS_WORK_BYTES, 301, 900),
        CALL(STRUCTS_WORK_BYTES, 1, 31),     CALL(STRUCTS_WORK_IN_PLACE, 301, 900),
    };
    return PREPARE(list);
}

int inputs_each_failure(struct run_input *input)
{
    static const struct wanted list[] = {
        MATRIX(.rows = {9, 20}, .columns = {9, 20}),
        {.step = STRUCTS_STEP_LAYOUT},
        ARRAYS(.count = {3, 3}, .length = {20, 90}, .behind = 1),
        CALL(STRUCTS_WORK_FLOATS, 20, 90),
    };
    return PREPARE(list);
}

/* One-time work of the first call is not timed. */
int inputs_timed(struct run_input *input)
{
    const uint32_t count = input->device == DRIVE_GPU ? 64 : 8,
                   length = input->device == DRIVE_GPU ? 60000 : 20000;
    const struct wanted list[] = {
        ARRAYS(.count = {2, 2}, .length = {20, 90}, .behind = 1),
        ARRAYS(.count = {count, count}, .length = {length, length}, .behind = count / 2,
               .timed = true),
    };
    return PREPARE(list);
}
