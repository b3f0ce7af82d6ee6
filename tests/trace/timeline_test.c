/* Promises of trace/timeline: one row per stream, no partial overlap within a row, operations
 * without a time are left out, no name that student code chose breaks the file; and pictures for a
 * terminal, compared as text.
 */
#include "trace/timeline/timeline.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define OPERATION(what_, stream_, start, end, name_)                                               \
    {                                                                                              \
        .kind = TRACE_OPERATION, .what = what_, .process = 7, .context = 1, .stream = stream_,     \
        .start_ns = start, .end_ns = end, .name = name_                                            \
    }

static char *drawn(struct trace_record *records, size_t count, bool svg)
{
    const struct trace trace = {.records = records, .count = count};
    struct trace_timeline *timeline = trace_timeline_open();
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(timeline);
    ck_assert_int_eq(trace_timeline_add_trace(timeline, "", &trace), 0);
    if (svg)
        trace_timeline_svg(timeline, 800, file);
    else
        trace_timeline_json(timeline, file);
    fclose(file);
    trace_timeline_close(timeline);
    return text;
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    while ((text = strstr(text, part)) != NULL) {
        count++;
        text += strlen(part);
    }
    return count;
}

START_TEST(json_has_a_row_for_each_stream)
{
    struct trace_record records[] = {
        OPERATION(TRACE_KERNEL, 3, 5000, 9000, "scale"),
        OPERATION(TRACE_COPY, 2, 1000, 4500, ""),
        OPERATION(TRACE_KERNEL, 2, 4500, 6000, "scale"),
        OPERATION(TRACE_KERNEL, 2, 0, 0, "without a stamp"),
        {.kind = TRACE_CALL, .name = "cudaMalloc", .start_ns = 1, .end_ns = 2},
    };
    char *text = drawn(records, 5, false);
    ck_assert_uint_eq(occurrences(text, "\"thread_name\""), 2);
    ck_assert_uint_eq(occurrences(text, "\"ph\":\"X\""), 3);
    ck_assert_ptr_nonnull(strstr(text, "\"tid\":1,\"ts\":0.000,\"dur\":3.500"));
    ck_assert_ptr_nonnull(strstr(text, "\"tid\":1,\"ts\":3.500,\"dur\":1.500"));
    ck_assert_ptr_nonnull(strstr(text, "\"tid\":2,\"ts\":4.000,\"dur\":4.000"));
    ck_assert_ptr_null(strstr(text, "without a stamp"));
    free(text);
}
END_TEST

START_TEST(what_overlaps_has_a_row_of_its_own)
{
    struct trace_record records[] = {
        OPERATION(TRACE_KERNEL, 2, 1000, 3000, "a"),
        OPERATION(TRACE_KERNEL, 2, 2999, 5000, "b"),
        OPERATION(TRACE_KERNEL, 2, 3000, 4000, "c"),
    };
    char *text = drawn(records, 3, false);
    ck_assert_uint_eq(occurrences(text, "\"thread_name\""), 2);
    ck_assert_ptr_nonnull(strstr(text, "stream 2 (2)"));
    ck_assert_ptr_nonnull(strstr(text, "\"name\":\"c\",\"pid\":1,\"tid\":1"));
    free(text);
}
END_TEST

START_TEST(names_cannot_break_out)
{
    struct trace_record records[] = {OPERATION(TRACE_KERNEL, 2, 1000, 3000, "x\"},{<script>&\\\n")};
    char *json = drawn(records, 1, false), *svg = drawn(records, 1, true);
    ck_assert_ptr_nonnull(strstr(json, "\"name\":\"x?},{?script????\""));
    ck_assert_ptr_null(strstr(svg, "<script>"));
    ck_assert_uint_eq(occurrences(svg, "<rect"), 3); /* the ground; of the engine; of the stream */
    free(json);
    free(svg);
}
END_TEST

START_TEST(each_context_is_a_process)
{
    struct trace_record records[] = {
        OPERATION(TRACE_KERNEL, 2, 1000, 3000, "a"),
        OPERATION(TRACE_KERNEL, 2, 2000, 3000, "b"),
        OPERATION(TRACE_KERNEL, 3, 2000, 3000, "c"),
    };
    records[1].context = 5;
    char *json = drawn(records, 3, false);
    ck_assert_uint_eq(occurrences(json, "\"process_name\""), 2);
    ck_assert_ptr_nonnull(strstr(json, "\"name\":\"context 5 of process 7\""));
    ck_assert_ptr_nonnull(strstr(json, "\"name\":\"b\",\"pid\":2,\"tid\":2"));
    ck_assert_ptr_nonnull(strstr(json, "\"name\":\"c\",\"pid\":1,\"tid\":3"));
    free(json);
}
END_TEST

START_TEST(nothing_is_a_picture_too)
{
    char *json = drawn(NULL, 0, false), *svg = drawn(NULL, 0, true);
    ck_assert_ptr_nonnull(strstr(json, "\"traceEvents\":[\n]"));
    ck_assert_ptr_nonnull(strstr(svg, "</svg>"));
    free(json);
    free(svg);
}
END_TEST

/* ---- in a terminal --------------------------------------------------------------------------- */

#define COPY(stream_, start, end, from_, to_)                                                      \
    {                                                                                              \
        .kind = TRACE_OPERATION, .what = TRACE_COPY, .process = 7, .context = 1,                   \
        .stream = stream_, .start_ns = start, .end_ns = end, .from = from_, .to = to_              \
    }

/* Three lanes overlapped, and the same lanes serially. */
static const struct trace_record overlapped[] = {
    COPY(2, 100000, 101000, TRACE_PINNED, TRACE_DEVICE),
    COPY(3, 101000, 102000, TRACE_PINNED, TRACE_DEVICE),
    COPY(4, 102000, 103000, TRACE_PINNED, TRACE_DEVICE),
    OPERATION(TRACE_KERNEL, 2, 101000, 105000, "scale"),
    OPERATION(TRACE_KERNEL, 3, 102000, 106000, "scale"),
    OPERATION(TRACE_KERNEL, 4, 103000, 107000, "scale"),
    COPY(2, 105000, 106000, TRACE_DEVICE, TRACE_PINNED),
    COPY(3, 106000, 107000, TRACE_DEVICE, TRACE_PINNED),
    COPY(4, 107000, 108000, TRACE_DEVICE, TRACE_PINNED),
};
static const struct trace_record serial[] = {
    COPY(9, 500, 1500, TRACE_PAGEABLE, TRACE_DEVICE),
    OPERATION(TRACE_KERNEL, 9, 1500, 5500, "scale"),
    COPY(9, 5500, 6500, TRACE_DEVICE, TRACE_PAGEABLE),
    COPY(9, 6500, 7500, TRACE_PAGEABLE, TRACE_DEVICE),
    OPERATION(TRACE_KERNEL, 9, 7500, 11500, "scale"),
    COPY(9, 11500, 12500, TRACE_DEVICE, TRACE_PAGEABLE),
    OPERATION(TRACE_SET, 9, 14500, 16500, ""),
};

static char *printed(unsigned width, unsigned streams, bool utf8)
{
    const struct trace_timeline_text style = {width, streams, utf8};
    const struct trace a = {.records = serial, .count = sizeof serial / sizeof *serial};
    const struct trace b = {.records = overlapped, .count = sizeof overlapped / sizeof *overlapped};
    struct trace_timeline *timeline = trace_timeline_open();
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    trace_timeline_add_trace(timeline, "yours", &a);
    trace_timeline_add_trace(timeline, "ours", &b);
    trace_timeline_print(timeline, &style, file);
    fclose(file);
    trace_timeline_close(timeline);
    return text;
}

/* Returns the columns of the longest line. */
static size_t widest(const char *text)
{
    size_t widest = 0, columns = 0;
    for (; *text != '\0'; text++) {
        columns = *text == '\n' ? 0 : columns + (((unsigned char)*text & 0xc0) != 0x80);
        if (columns > widest) widest = columns;
    }
    return widest;
}

static const struct {
    unsigned width, streams;
    bool utf8;
    const char *looks;
} pictures[] = {
    // clang-format off
    {80, 4, false,
     "yours: 16.0 us\n"
     "  H2D      |1111                1111                              |  12 %  x1\n"
     "  kernels  |   11111111111111      111111111111111                |  50 %  x1\n"
     "  D2H      |                11111                1111             |  12 %  x1\n"
     "  other    |                                               1111111|  12 %  x1\n"
     "  stream 9 |>>>##############<<<>>>>#############<<<<      =======|  88 %\n"
     "ours: 8.0 us\n"
     "  H2D      |11111111111                                           |  38 %  x1\n"
     "  kernels  |   111222233333332222111                              |  75 %  x3\n"
     "  D2H      |                11111111111                           |  38 %  x1\n"
     "  stream 2 |>>>##############<<<<                                 |  75 %\n"
     "  stream 3 |   >>>>#############<<<<                              |  75 %\n"
     "  stream 4 |      >>>>##############<<<                           |  75 %\n"},
    {80, 4, true,
     "yours: 16.0 us\n"
     "  H2D      |███▃                ▇██▆                              |  12 %  x1\n"
     "  kernels  |   ▆████████████▇      ▄█████████████▁                |  50 %  x1\n"
     "  D2H      |                ▂███▂                ▇██▄             |  12 %  x1\n"
     "  other    |                                               ▇██████|  12 %  x1\n"
     "  stream 9 |↓↓↓██████████████↑↑↑↓↓↓↓█████████████↑↑↑↑      ▒▒▒▒▒▒▒|  88 %\n"
     "ours: 8.0 us\n"
     "  H2D      |██████████▁                                           |  38 %  x1\n"
     "  kernels  |   ▂▃▃▄▆▆▆███████▆▆▆▄▃▃▂                              |  75 %  x3\n"
     "  D2H      |                ▂██████████                           |  38 %  x1\n"
     "  stream 2 |↓↓↓██████████████↑↑↑↑                                 |  75 %\n"
     "  stream 3 |   ↓↓↓↓█████████████↑↑↑↑                              |  75 %\n"
     "  stream 4 |      ↓↓↓↓██████████████↑↑↑                           |  75 %\n"},
    {44, 0, false,
     "yours: 16.0 us\n"
     "  H2D     |11     11          |  12 %  x1\n"
     "  kernels | 11111  111111     |  50 %  x1\n"
     "  D2H     |     111     11    |  12 %  x1\n"
     "  other   |                111|  12 %  x1\n"
     "ours: 8.0 us\n"
     "  H2D     |1111               |  38 %  x1\n"
     "  kernels | 12333221          |  75 %  x3\n"
     "  D2H     |     11111         |  38 %  x1\n"},
    {44, 0, true,
     "yours: 16.0 us\n"
     "  H2D     |█▂     ▇▃          |  12 %  x1\n"
     "  kernels | ▇████  ▆████▁     |  50 %  x1\n"
     "  D2H     |     ▁█▂     █▃    |  12 %  x1\n"
     "  other   |                ▃██|  12 %  x1\n"
     "ours: 8.0 us\n"
     "  H2D     |███▅               |  38 %  x1\n"
     "  kernels | ▃▅▇██▆▄▁          |  75 %  x3\n"
     "  D2H     |     ▁███▅         |  38 %  x1\n"},
    // clang-format on
};

START_TEST(pictures_look_so)
{
    char *text = printed(pictures[_i].width, pictures[_i].streams, pictures[_i].utf8);
    ck_assert_str_eq(text, pictures[_i].looks);
    ck_assert_uint_le(widest(text), pictures[_i].width);
    free(text);
}
END_TEST

START_TEST(no_width_is_too_small_or_too_large)
{
    for (unsigned width = 0; width < 500; width += 7) {
        char *text = printed(width, 9, true);
        ck_assert_uint_le(widest(text), width > 46 ? width : 46);
        free(text);
    }
}
END_TEST

/* Draws everything, to look at in a browser: timeline_test FOLDER. */
static int draw_all(const char *folder)
{
    char path[4096];
    struct trace_timeline *timeline = trace_timeline_open();
    const struct trace a = {.records = serial, .count = sizeof serial / sizeof *serial};
    const struct trace b = {.records = overlapped, .count = sizeof overlapped / sizeof *overlapped};

    if (timeline == NULL || trace_timeline_add_trace(timeline, "yours", &a) != 0 ||
        trace_timeline_add_trace(timeline, "ours", &b) != 0)
        return 1;
    for (int svg = 0; svg < 2; svg++) {
        snprintf(path, sizeof path, "%s/timeline.%s", folder, svg ? "svg" : "json");
        FILE *file = fopen(path, "we");
        if (file == NULL) return 1;
        if (svg)
            trace_timeline_svg(timeline, 800, file);
        else
            trace_timeline_json(timeline, file);
        if (fclose(file) != 0) return 1;
    }
    trace_timeline_close(timeline);
    return 0;
}

int main(int count, char **arguments)
{
    if (count > 1) return draw_all(arguments[1]);

    Suite *suite = suite_create("timeline");
    TCase *tcase = tcase_create("timeline");
    tcase_add_test(tcase, json_has_a_row_for_each_stream);
    tcase_add_test(tcase, what_overlaps_has_a_row_of_its_own);
    tcase_add_test(tcase, names_cannot_break_out);
    tcase_add_test(tcase, each_context_is_a_process);
    tcase_add_test(tcase, nothing_is_a_picture_too);
    tcase_add_loop_test(tcase, pictures_look_so, 0, (int)(sizeof pictures / sizeof *pictures));
    tcase_add_test(tcase, no_width_is_too_small_or_too_large);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
