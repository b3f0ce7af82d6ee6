/* Points and reports of a hand-made class (golden/class.json): each report format against a golden
 * file, and the state of a file when it cannot be written. */
#include "grader/base/files.h"
#include "grader/report/report.h"
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct text why;

static void clean(void)
{
    text_free(&why);
}

/* Makes the class of golden/class.json, with points by the lines of `marks`. */
static json_t *make_class(const char *lines)
{
    json_t *class = json_read(GOLDEN_FOLDER "/class.json", (size_t)1 << 20), *record;
    struct text path = {0};
    size_t i;

    ck_assert_ptr_nonnull(class);
    text_format(&path, "%s/marks.txt", support_folder());
    ck_assert_int_eq(files_replace(text_string(&path), lines, strlen(lines)), 0);
    struct marks *marks = marks_read(text_string(&path), &why);
    ck_assert_msg(marks != NULL, "%s", text_string(&why));
    json_array_foreach(json_list(class, "submissions"), i, record)
    {
        marks_apply(marks, record);
        json_put_text(record, "marks", "0");
    }
    marks_free(marks);
    text_free(&path);
    return class;
}

static json_t *lesson(json_t *class, size_t student, size_t number)
{
    json_t *record = json_array_get(json_list(class, "submissions"), student);
    return json_array_get(json_list(record, "lessons"), number);
}

static double score(json_t *class, size_t student)
{
    return json_number(json_array_get(json_list(class, "submissions"), student), "score");
}

static double most(json_t *class, size_t student)
{
    return json_number(json_array_get(json_list(class, "submissions"), student), "max_score");
}

START_TEST(a_check_has_a_point)
{
    json_t *class = make_class("");

    /* Ada: everything except the check of time, and one check that cannot be judged here, which
     * does not count. */
    ck_assert_double_eq(score(class, 0), 3);
    ck_assert_double_eq(most(class, 0), 4);
    /* Grace handed in the stub of the second lesson: its skipped check counts as failed. */
    ck_assert_double_eq(score(class, 1), 1);
    ck_assert_double_eq(most(class, 1), 5);
    json_decref(class);
}
END_TEST

START_TEST(the_last_line_wins)
{
    json_t *class = make_class("Sum.*  points=3 # a remark\n\nSum.IsRight points=0.5\n"
                               "*.IsRight visibility=hidden\r\n");
    json_t *check = json_array_get(json_list(lesson(class, 0, 0), "checks"), 0);

    ck_assert_double_eq(json_number(check, "max_score"), 0.5);
    ck_assert_str_eq(json_text(check, "visibility"), "hidden");
    ck_assert_double_eq(score(class, 0), 0.5 + 3 + 1);
    json_decref(class);
}
END_TEST

START_TEST(a_required_check_takes_the_lesson)
{
    json_t *class = make_class("Sum.NothingLeaks required\n");

    ck_assert_double_eq(json_number(lesson(class, 0, 0), "score"), 2);
    ck_assert_double_eq(json_number(lesson(class, 1, 0), "score"), 0);
    ck_assert_str_eq(json_text(lesson(class, 1, 0), "lost"), "NothingLeaks");
    json_decref(class);
}
END_TEST

START_TEST(a_time_has_partial_points)
{
    /* Ada's sum takes 1.5 times the reference's time. */
    static const struct {
        const char *line;
        double points;
    } rows[] = {{"Sum.IsFast full=1.2 zero=2.2\n", 0.7},
                {"Sum.IsFast full=1.2 zero=2.2 points=10\n", 7},
                {"Sum.IsFast full=1.6 zero=2\n", 1},
                {"Sum.IsFast full=1 zero=1.4\n", 0}};
    json_t *class = make_class(rows[_i].line);
    json_t *check = json_array_get(json_list(lesson(class, 0, 0), "checks"), 2);

    ck_assert_double_eq_tol(json_number(check, "score"), rows[_i].points, 1e-9);
    ck_assert_ptr_nonnull(strstr(json_text(check, "why"), "1.50 times the reference's time"));
    json_decref(class);
}
END_TEST

START_TEST(what_was_not_judged_counts_as_is_said)
{
    /* The last one passes a check and fails one, because of which two are not judged; of the second
     * lesson nothing was handed in. */
    static const struct {
        const char *line;
        double sum, twice;
    } rows[] = {{"", 1, 0},
                {"* not_judged=1\n", 2, 0},
                {"* not_judged=0.5\n", 1.5, 0},
                {"Sum.IsFast not_judged=1\n", 1.5, 0},
                {"* not_judged=1\nSum.* worth=10\n", 5, 0},
                {"* not_judged=1\nSum.NothingLeaks points=3\n", 1.5, 0},
                {"* not_judged=1\nSum.IsFast required\n", 0, 0}};
    json_t *class = make_class(rows[_i].line);

    ck_assert_double_eq_tol(json_number(lesson(class, 4, 0), "score"), rows[_i].sum, 1e-9);
    ck_assert_double_eq(json_number(lesson(class, 4, 1), "score"), rows[_i].twice);
    json_decref(class);
}
END_TEST

START_TEST(what_was_not_judged_says_how_it_counts)
{
    json_t *class = make_class("* not_judged=0.5\n");
    const json_t *check = json_array_get(json_list(lesson(class, 4, 0), "checks"), 2);

    ck_assert_str_eq(json_text(check, "why"), "not judged, because NothingLeaks failed: 0.5 of the "
                                              "50 % that the lesson's judged checks have");
    json_decref(class);
}
END_TEST

START_TEST(a_lesson_is_scaled)
{
    json_t *class = make_class("Sum.* worth=10\n");

    ck_assert_double_eq(json_number(lesson(class, 0, 0), "max_score"), 10);
    ck_assert_double_eq_tol(json_number(lesson(class, 0, 0), "score"), 6.667, 1e-9);
    json_decref(class);
}
END_TEST

static const struct {
    const char *lines, *says;
} wrong[] = {
    {"Sum.* points=many\n", "marks.txt:1: \"points=many\" is none of"},
    {"\n\nSum.* visible\n", "marks.txt:3: \"visible\" is none of"},
    {"Sum.* points=-1\n", "\"points=-1\""},
    {"Sum.* visibility=some\n", "\"visibility=some\""},
    {"Sum.* full=2 zero=2\n", "marks.txt:1: zero= has to be more than full="},
    {"* not_judged=1.5\n", "marks.txt:1: not_judged= is a part, from 0 to 1"},
};

START_TEST(a_wrong_table_is_explained)
{
    struct text path = {0};

    text_format(&path, "%s/marks.txt", support_folder());
    files_replace(text_string(&path), wrong[_i].lines, strlen(wrong[_i].lines));
    ck_assert_ptr_null(marks_read(text_string(&path), &why));
    ck_assert_msg(strstr(text_string(&why), wrong[_i].says) != NULL, "%s", text_string(&why));
    text_free(&path);
}
END_TEST

static const char *const kinds[] = {"html",   "pages",  "json",       "junit",
                                    "canvas", "moodle", "gradescope", "github-classroom",
                                    "autolab"};

START_TEST(each_kind_has_its_golden)
{
    json_t *class = make_class("Twice.IsRight visibility=hidden\nSum.IsFast full=1.2 zero=2.2\n");
    struct text path = {0}, value = {0}, written = {0}, name = {0};
    const char *values[1];

    text_format(&path, "%s/report", support_folder());
    text_format(&value, "%s:%s", kinds[_i], text_string(&path));
    values[0] = text_string(&value);
    struct reports *reports = reports_open(values, 1, NULL, &why);
    ck_assert_msg(reports != NULL, "%s", text_string(&why));
    ck_assert_int_eq(reports_write(reports, class, &why), 0);
    ck_assert_int_eq(files_read(text_string(&path), (size_t)1 << 20, &written), 0);
    text_format(&name, "reports/%s", kinds[_i]);
    support_compare_golden(text_string(&name), text_string(&written));
    reports_close(reports);
    json_decref(class);
    text_free(&path);
    text_free(&value);
    text_free(&written);
    text_free(&name);
}
END_TEST

START_TEST(a_full_disk_leaves_the_file_as_it_was)
{
    struct text path = {0}, content = {0};
    const char longer[] = "a text of more than four bytes";
    struct rlimit limit = {4, RLIM_INFINITY};

    text_format(&path, "%s/sub/file", support_folder());
    ck_assert_int_eq(files_replace(text_string(&path), "old", 3), 0);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    const int result = files_replace(text_string(&path), longer, strlen(longer));
    const int error = errno;
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &limit);
    ck_assert_int_eq(result, -1);
    ck_assert_int_eq(error, EFBIG);
    ck_assert_int_eq(files_read(text_string(&path), 100, &content), 0);
    ck_assert_str_eq(text_string(&content), "old");
    /* Nothing is left beside it. */
    unlink(text_string(&path));
    text_format(&path, "/..");
    path.data[strlen(text_string(&path)) - strlen("/file/..")] = '\0';
    ck_assert_int_eq(rmdir(text_string(&path)), 0);
    ck_assert_int_eq(files_replace("/dev/full", "x", 1), -1);
    ck_assert_int_eq(files_replace("/dev/null", "x", 1), 0);
    text_free(&path);
    text_free(&content);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grader report");
    TCase *tcase = tcase_create("report");

    tcase_add_checked_fixture(tcase, NULL, clean);
    tcase_add_test(tcase, a_check_has_a_point);
    tcase_add_test(tcase, the_last_line_wins);
    tcase_add_test(tcase, a_required_check_takes_the_lesson);
    tcase_add_loop_test(tcase, a_time_has_partial_points, 0, 4);
    tcase_add_loop_test(tcase, what_was_not_judged_counts_as_is_said, 0, 7);
    tcase_add_test(tcase, what_was_not_judged_says_how_it_counts);
    tcase_add_test(tcase, a_lesson_is_scaled);
    tcase_add_loop_test(tcase, a_wrong_table_is_explained, 0, sizeof wrong / sizeof wrong[0]);
    tcase_add_loop_test(tcase, each_kind_has_its_golden, 0, sizeof kinds / sizeof kinds[0]);
    tcase_add_test(tcase, a_full_disk_leaves_the_file_as_it_was);
    suite_add_tcase(suite, tcase);
    return support_finish(srunner_create(suite));
}
