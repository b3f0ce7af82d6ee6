#include "grader/class/lessons_check.h"
#include "grader/base/files.h"
#include "grader/base/json.h"
#include "grader/base/process.h"
#include "grader/build/stub.h"
#include "trace/scratch.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_LIMIT ((size_t)1 << 20)
#define REPORT_LIMIT ((size_t)64 << 20)
#define ORDERS "10" /* random orders, in addition to the latest and the earliest */
#define MOST_SECONDS 1200
#define OUTPUT_LIMIT ((size_t)1 << 20)

extern char **environ;

/* One lesson that is checked. */
struct look {
    const struct toolchain *toolchain;
    const struct lesson *lesson;
    struct scratch scratch;
    unsigned faults;
    bool trouble; /* the result could not be determined */
};

__attribute__((format(printf, 2, 3))) static void fault(struct look *look, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    printf("%s: ", look->lesson->folder);
    vprintf(format, list);
    printf("\n");
    va_end(list);
    look->faults++;
}

static void good(const struct look *look, const char *what)
{
    printf("%s: %s\n", look->lesson->folder, what);
}

/* "<source>/<part>/NN_name/<file>" */
static void path_in(const struct look *look, const char *part, const char *file,
                    char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s/%s/%s", look->toolchain->source, part, look->lesson->folder,
             file);
}

/* ---- running ------------------------------------------------------------------------------ */

/* Runs a program to its end. Returns its exit status, or -1; appends its output to `printed` (may
 * be NULL). */
static int run(const char *const *arguments, const char *folder, struct text *printed)
{
    const struct process_spec spec = {
        .arguments = arguments,
        .environment = (const char *const *)environ,
        .folder = folder,
        .limits = {.seconds = MOST_SECONDS, .output = OUTPUT_LIMIT},
    };
    struct process *process = process_start(&spec);
    int status = -1;

    if (process == NULL) return -1;
    process_wait_any(&process, 1);
    const struct process_result *result = process_result(process);
    if (result->ending == PROCESS_EXITED) status = result->code;
    if (printed != NULL) text_add_bytes(printed, process_printed(process), result->printed_size);
    process_free(process);
    return status;
}

/* Grades with one more flag. Returns the lesson's part of the record, which is inside *report, or
 * NULL: the grader could not grade. */
static const json_t *grade(struct look *look, const char *flag, json_t **report)
{
    char file[PATH_MAX], program[PATH_MAX], report_flag[PATH_MAX + 32];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    program[length > 0 ? length : 0] = '\0';
    snprintf(file, sizeof file, "%s/report.json", look->scratch.path);
    snprintf(report_flag, sizeof report_flag, "--report=json:%s", file);
    static const char orders[] = "--random-orders=" ORDERS;
    const char *arguments[] = {program,     flag, look->lesson->folder, "--device=emulator", orders,
                               report_flag, NULL};
    struct text printed = {0};
    const int status = run(arguments, look->scratch.path, &printed);
    *report = status == 0 || status == 1 ? json_read(file, REPORT_LIMIT) : NULL;
    if (*report == NULL) {
        printf("%s: it could not be graded:\n%s", look->lesson->folder, text_string(&printed));
        look->trouble = true;
    }
    unlink(file);
    text_free(&printed);
    const json_t *record = json_array_get(json_list(*report, "submissions"), 0);
    return json_array_get(json_list(record, "lessons"), 0);
}

/* ---- files and hints ---------------------------------------------------------------------- */

static void look_at_files(struct look *look)
{
    static const char *const pages[] = {"lesson.h", "README.md"};
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        path_in(look, "lessons", pages[i], path);
        if (access(path, R_OK) != 0)
            fault(look, "lessons/%s/%s is missing", look->lesson->folder, pages[i]);
    }
    for (const char *const *file = look->lesson->files; *file != NULL; file++) {
        struct text stub = {0};
        path_in(look, "solutions", *file, path);
        if (access(path, R_OK) != 0)
            fault(look, "solutions/%s/%s is missing", look->lesson->folder, *file);
        if (stub_read(look->toolchain, look->lesson, *file, &stub) != 0)
            fault(look, "the stub is not kept: grader/lessons/%s/stub/%s is missing",
                  look->lesson->folder, *file);
        text_free(&stub);
    }
    for (const struct check *check = look->lesson->checks; check->name != NULL; check++)
        if (check->title == NULL || check->title[0] == '\0')
            fault(look, "%s.%s has no title: one line for people about what it proves",
                  look->lesson->suite, check->name);
}

static bool is_check(const struct lesson *lesson, const char *name)
{
    for (const struct check *check = lesson->checks; check->name != NULL; check++)
        if (strcmp(check->name, name) == 0) return true;
    return false;
}

/* Checks that every check has its hints, and every hint its check. */
static void look_at_hints(struct look *look)
{
    const struct lesson *lesson = look->lesson;
    const unsigned before = look->faults;

    if (lesson->hints == NULL) {
        fault(look, "there are no hints: grader/lessons/%s/hints.def", lesson->folder);
        return;
    }
    for (const struct hint *hint = lesson->hints; hint->check != NULL; hint++) {
        if (!is_check(lesson, hint->check))
            fault(look, "hints.def has hints for %s, which is no check", hint->check);
        for (size_t i = 0; i < HINT_STEPS; i++)
            if (hint->steps[i] == NULL || hint->steps[i][0] == '\0')
                fault(look, "the hints for %s are fewer than %d", hint->check, HINT_STEPS);
    }
    for (const struct check *check = lesson->checks; check->name != NULL; check++) {
        const struct hint *hint = lesson->hints;
        while (hint->check != NULL && strcmp(hint->check, check->name) != 0) hint++;
        if (hint->check == NULL) fault(look, "hints.def has no hints for %s", check->name);
    }
    if (look->faults == before) good(look, "every check has its hints");
}

/* ---- names -------------------------------------------------------------------------------- */

/* Replaces comments, string constants and preprocessor lines by blanks. */
static void blank_comments(char *text)
{
    bool start = true;

    for (char *at = text; *at != '\0';) {
        size_t length = 1;
        bool blank = false;
        if (strncmp(at, "/*", 2) == 0) {
            const char *end = strstr(at + 2, "*/");
            length = end != NULL ? (size_t)(end + 2 - at) : strlen(at);
            blank = true;
        } else if (strncmp(at, "//", 2) == 0 || (start && *at == '#')) {
            length = strcspn(at, "\n");
            blank = true;
        }
        start = *at == '\n' || (start && isspace((unsigned char)*at));
        for (size_t i = 0; blank && i < length; i++)
            if (at[i] != '\n') at[i] = ' ';
        at += length;
    }
}

static bool has_word(const char *text, const char *word, size_t length)
{
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += length) {
        const bool begins = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
        if (begins && !isalnum((unsigned char)at[length]) && at[length] != '_') return true;
    }
    return false;
}

/* Appends the lesson's files in `part`, or its kept stubs (NULL), one after another. */
static void read_part(struct look *look, const char *part, struct text *text)
{
    for (const char *const *file = look->lesson->files; *file != NULL; file++) {
        char path[PATH_MAX];
        if (part == NULL) {
            stub_read(look->toolchain, look->lesson, *file, text);
        } else {
            path_in(look, part, *file, path);
            files_read(path, FILE_LIMIT, text);
        }
    }
    text_add(text, "");
    if (text->data != NULL) blank_comments(text->data);
}

/* Checks that every function that lesson.h declares is defined or used by the solution. For the
 * stub the linker reports missing functions that the drive calls. */
static void look_at_names(struct look *look)
{
    struct text header = {0}, stub = {0}, solution = {0};
    char path[PATH_MAX];
    unsigned count = 0;
    const unsigned before = look->faults;

    path_in(look, "lessons", "lesson.h", path);
    files_read(path, FILE_LIMIT, &header);
    text_add(&header, "");
    if (header.data != NULL) blank_comments(header.data);
    read_part(look, NULL, &stub);
    read_part(look, "solutions", &solution);
    for (const char *at = text_string(&header); (at = strchr(at, '(')) != NULL; at++) {
        const char *name = at;
        while (name > header.data && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) name--;
        char word[128];
        snprintf(word, sizeof word, "%.*s", (int)(at - name), name);
        /* Skips pointers to functions, operators of C++, and keywords. */
        if (word[0] == '\0' || strcmp(word, "operator") == 0 || strcmp(word, "sizeof") == 0)
            continue;
        count++;
        if (!has_word(text_string(&solution), word, strlen(word)))
            fault(look, "lesson.h declares %s, and the solution does not have it", word);
    }
    if (!has_word(text_string(&stub), look->lesson->function, strlen(look->lesson->function)))
        fault(look, "the stub does not have %s, to which failures without a line go",
              look->lesson->function);
    if (look->faults == before && count > 0) good(look, "stub, header and solution agree");
    text_free(&header);
    text_free(&stub);
    text_free(&solution);
}

/* ---- the stub ----------------------------------------------------------------------------- */

/* Copies the stub with a change, because an unchanged stub is not run. Returns 0 or -1.
 */
static int copy_stub(struct look *look, char folder[PATH_MAX])
{
    snprintf(folder, PATH_MAX, "%s/%s", look->scratch.path, look->lesson->folder);
    for (const char *const *file = look->lesson->files; *file != NULL; file++) {
        struct text text = {0};
        char path[PATH_MAX];
        int result = stub_read(look->toolchain, look->lesson, *file, &text);
        text_add(&text, "/* touched */\n");
        snprintf(path, sizeof path, "%.3000s/%.500s", folder, *file);
        if (result == 0) result = files_replace(path, text_string(&text), text.size);
        text_free(&text);
        if (result != 0) return -1;
    }
    return 0;
}

/* Compiles a C file of the stub with gcc, with the warnings that a student is told to use. */
static void look_for_warnings(struct look *look, const char *folder)
{
    char lesson[PATH_MAX + 8], root[PATH_MAX + 8], includes[8][PATH_MAX], path[PATH_MAX];

    snprintf(lesson, sizeof lesson, "-I%s/lessons/%s", look->toolchain->source,
             look->lesson->folder);
    snprintf(root, sizeof root, "-I%s", look->toolchain->source);
    for (const char *const *file = look->lesson->files; *file != NULL; file++) {
        const char *arguments[20] = {look->toolchain->cc, "-std=c17",      "-Wall", "-Wextra",
                                     "-Werror",           "-fsyntax-only", lesson,  root};
        size_t count = 8, included = 0;
        const size_t length = strlen(*file);
        if (length < 2 || strcmp(*file + length - 2, ".c") != 0) continue;
        /* Several folders, separated by ';'. */
        for (const char *at = look->toolchain->cuda_include; *at != '\0' && included < 8;) {
            const size_t size = strcspn(at, ";");
            snprintf(includes[included], PATH_MAX, "-I%.*s", (int)size, at);
            arguments[count++] = includes[included++];
            at += size + (at[size] == ';');
        }
        snprintf(path, sizeof path, "%.3000s/%.500s", folder, *file);
        arguments[count] = path;
        struct text printed = {0};
        if (run(arguments, look->scratch.path, &printed) != 0)
            fault(look, "the stub %s does not compile without warnings:\n%s", *file,
                  text_string(&printed));
        text_free(&printed);
    }
}

/* Returns what is wrong with the stub's failure of a check, or NULL. */
static const char *fault_of_failure(const json_t *check)
{
    const json_t *failure = json_array_get(json_list(check, "failures"), 0);

    if (strcmp(json_text(check, "outcome"), "passed") == 0) return "the stub passes it";
    if (strcmp(json_text(check, "outcome"), "skipped") == 0) return NULL;
    if (strstr(json_text(failure, "what"), "was stopped") != NULL)
        return "the stub crashes, or does not end";
    if (strstr(json_text(failure, "what"), "does not compile") != NULL)
        return "the stub does not compile";
    if (json_text(failure, "file")[0] == '\0') return "its failure says no place";
    return NULL;
}

static void look_at_stub(struct look *look)
{
    char folder[PATH_MAX], flag[PATH_MAX + 16];
    json_t *report = NULL;
    const json_t *check, *first = NULL;
    const unsigned before = look->faults;
    size_t i;

    if (copy_stub(look, folder) != 0) {
        fault(look, "the stub cannot be read");
        return;
    }
    look_for_warnings(look, folder);
    snprintf(flag, sizeof flag, "--submission=%s", folder);
    const json_t *graded = grade(look, flag, &report);
    json_array_foreach(json_list(graded, "checks"), i, check)
    {
        const char *what = fault_of_failure(check);
        if (what != NULL)
            fault(look, "%s.%s: %s", look->lesson->suite, json_text(check, "name"), what);
        if (first == NULL) first = json_array_get(json_list(check, "failures"), 0);
    }
    if (graded != NULL && json_text(first, "hint")[0] == '\0' &&
        strstr(json_text(first, "what"), "not written yet") == NULL)
        fault(look, "the first thing that the stub is told has no hint, and does not say that it "
                    "is not written yet");
    if (graded != NULL && look->faults == before) good(look, "the stub fails, and is told where");
    json_decref(report);
}

/* ---- the solution and the mistakes -------------------------------------------------------- */

static void look_at_solution(struct look *look)
{
    json_t *report = NULL;
    const json_t *check;
    const unsigned before = look->faults;
    size_t i;

    const json_t *graded = grade(look, "--solutions", &report);
    json_array_foreach(json_list(graded, "checks"), i, check)
    {
        const json_t *failure = json_array_get(json_list(check, "failures"), 0);
        if (strcmp(json_text(check, "outcome"), "failed") == 0)
            fault(look, "the solution fails %s.%s: %s", look->lesson->suite,
                  json_text(check, "name"), json_text(failure, "what"));
    }
    if (graded != NULL && look->faults == before)
        good(look, "the solution passes in the latest, the earliest and " ORDERS " random orders");
    json_decref(report);
}

/* Reads the first lines of all mistakes, which contain "fails: Suite.Check". Returns how many there
 * are. */
static size_t read_mistakes(const struct look *look, struct text *text)
{
    char folder[PATH_MAX - 300], path[PATH_MAX];
    struct dirent **names = NULL;
    size_t mistakes = 0;

    snprintf(folder, sizeof folder, "%s/tests/mistakes/%s", look->toolchain->source,
             look->lesson->folder);
    const int count = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        struct text one = {0};
        if (names[i]->d_name[0] != '.' && files_read(path, FILE_LIMIT, &one) == 0) {
            const char *end = strstr(text_string(&one), "*/");
            text_add_bytes(text, text_string(&one),
                           end != NULL ? (size_t)(end - text_string(&one)) : 0);
            text_add(text, "\n");
            mistakes++;
        }
        text_free(&one);
        free(names[i]);
    }
    free(names);
    return mistakes;
}

static void look_at_mistakes(struct look *look)
{
    struct text text = {0}, without = {0};
    const size_t count = read_mistakes(look, &text);

    for (const struct check *check = look->lesson->checks; check->name != NULL; check++) {
        char name[256];
        snprintf(name, sizeof name, "%s.%s", look->lesson->suite, check->name);
        if (!has_word(text_string(&text), name, strlen(name)))
            text_format(&without, "%s%s", without.size > 0 ? ", " : "", check->name);
    }
    if (count < 3)
        fault(look, "tests/mistakes/%s has %zu submissions, and should have three",
              look->lesson->folder, count);
    if (without.size > 0)
        printf("%s: to think about: no mistake names %s\n", look->lesson->folder,
               text_string(&without));
    text_free(&text);
    text_free(&without);
}

/* ---- the contract ------------------------------------------------------------------------- */

/* Runs the tests' own script, which compares docs/contracts.md with lesson.h, the checks and the
 * mistakes. Each of its lines, "NN_name: complaint", is a fault. */
static void look_at_contract(struct look *look)
{
    char script[PATH_MAX], program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    struct text printed = {0};

    program[length > 0 ? length : 0] = '\0';
    snprintf(script, sizeof script, "%s/tests/lessons/contracts.sh", look->toolchain->source);
    const char *arguments[] = {
        "/bin/sh", script, program, look->toolchain->source, look->lesson->folder, NULL};
    const int status = run(arguments, look->scratch.path, &printed);
    if (status == 0) {
        good(look, "every sentence of the contract has its check");
    } else if (status == 1 && printed.size > 0) {
        char *rest = NULL;
        for (char *line = strtok_r(printed.data, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest)) {
            const char *complaint = strstr(line, ": ");
            fault(look, "the contract: %s", complaint != NULL ? complaint + 2 : line);
        }
    } else {
        printf("%s: the contract could not be looked at:\n%s", look->lesson->folder,
               text_string(&printed));
        look->trouble = true;
    }
    text_free(&printed);
}

/* ---- all lessons -------------------------------------------------------------------------- */

static void look_at(struct look *look)
{
    const char *temporary = getenv("TMPDIR");

    if (temporary == NULL || temporary[0] != '/') temporary = "/tmp";
    if (scratch_make(&look->scratch, temporary, "grade", files_remove) != 0) {
        fprintf(stderr, "grade: no folder can be made in %s: %s\n", temporary, strerror(errno));
        look->trouble = true;
        return;
    }
    look_at_files(look);
    look_at_hints(look);
    look_at_names(look);
    look_at_stub(look);
    look_at_solution(look);
    look_at_mistakes(look);
    look_at_contract(look);
    scratch_remove(&look->scratch, files_remove);
}

int lessons_check(const struct toolchain *toolchain, const struct lesson *const *table,
                  const struct options *options)
{
    struct submission chosen;
    struct text why = {0};
    unsigned faults = 0;
    bool trouble = false;

    /* The grader's output is parsed below. */
    setenv("OVERLAP_LANG", "en", 1);
    if (submission_choose(&chosen, table, options->words, options->word_count, toolchain->source,
                          NULL, true, &why) != 0) {
        fprintf(stderr, "grade: %s\n", text_string(&why));
        text_free(&why);
        return 2;
    }
    for (size_t i = 0; i < chosen.count && !trouble; i++) {
        struct look look = {.toolchain = toolchain, .lesson = chosen.lessons[i].lesson};
        look_at(&look);
        faults += look.faults;
        trouble = look.trouble || process_interrupted() != 0;
    }
    if (!trouble)
        printf("%zu lesson%s, %u fault%s\n", chosen.count, chosen.count == 1 ? "" : "s", faults,
               faults == 1 ? "" : "s");
    submission_free(&chosen);
    return trouble ? 2 : faults > 0 ? 1 : 0;
}
