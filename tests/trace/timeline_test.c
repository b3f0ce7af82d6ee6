/* Promises of trace/timeline: a row a stream, no partial overlap on a row, what has no time left
 * out, and nothing that student code named breaks the file. */
#include "trace/timeline.h"

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
    struct trace_timeline *timeline = trace_timeline_open(&trace);
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(timeline);
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
    ck_assert_ptr_nonnull(strstr(text, "\"name\":\"c\",\"pid\":7,\"tid\":1"));
    free(text);
}
END_TEST

START_TEST(names_cannot_break_out)
{
    struct trace_record records[] = {OPERATION(TRACE_KERNEL, 2, 1000, 3000, "x\"},{<script>&\\\n")};
    char *json = drawn(records, 1, false), *svg = drawn(records, 1, true);
    ck_assert_ptr_nonnull(strstr(json, "\"name\":\"x?},{?script????\""));
    ck_assert_ptr_null(strstr(svg, "<script>"));
    ck_assert_uint_eq(occurrences(svg, "<rect"), 2);
    free(json);
    free(svg);
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

int main(void)
{
    Suite *suite = suite_create("timeline");
    TCase *tcase = tcase_create("timeline");
    tcase_add_test(tcase, json_has_a_row_for_each_stream);
    tcase_add_test(tcase, what_overlaps_has_a_row_of_its_own);
    tcase_add_test(tcase, names_cannot_break_out);
    tcase_add_test(tcase, nothing_is_a_picture_too);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
