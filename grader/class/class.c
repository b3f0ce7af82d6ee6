#include "grader/class/class.h"
#include "grader/base/files.h"
#include "grader/base/parallel.h"
#include "grader/base/process.h"
#include "grader/class/changes.h"
#include "grader/class/intake.h"
#include "grader/class/lessons_check.h"
#include "grader/class/roster.h"
#include "grader/class/similar.h"
#include "grader/class/slurm.h"
#include "grader/class/version.h"
#include "grader/class/workers.h"
#include "grader/report/report.h"
#include "grader/session/options.h"
#include "grader/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RECORD_LIMIT ((size_t)64 << 20)
#define CLASS_LIMIT ((size_t)1 << 30)
#define LOG_LIMIT ((size_t)1 << 16)
#define LEAST_FREE ((uint64_t)96 << 20) /* free bytes on the disks that a compiler needs */
#define GROUP ((size_t)10)              /* submissions per task on a cluster */
#define LAST_WORDS 300                  /* bytes quoted of a grader that could not go on */

/* One submission of the class. */
struct pupil {
    json_t *entry;  /* from the intake */
    json_t *record; /* its result, or NULL */
    char version[SHA256_TEXT_SIZE];
    struct text note;
    enum { PUPIL_WAITS, PUPIL_RUNS, PUPIL_DONE } at;
};

struct class
{
    const struct toolchain *toolchain;
    const struct lesson *const *table;
    struct options options;
    struct reports *reports;
    json_t *version; /* of the grader */
    json_t *roster;
    json_t *entries;
    struct pupil *pupils;
    size_t count;
    size_t absent; /* students of the roster who handed in nothing */
    size_t to_grade, graded, troubled;
    char state[PATH_MAX - 400];
    char program[PATH_MAX];
    int lock, part_lock;
    double started;
    struct text why;
};

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const char *key_of(const struct pupil *pupil)
{
    return json_text(pupil->entry, "key");
}

static void path_of(const struct class *class, const char *folder, const struct pupil *pupil,
                    const char *suffix, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s/%s%s", class->state, folder, key_of(pupil), suffix);
}

/* ---- state folder and submissions -------------------------------------------------------- */

/* Opens and locks a file in the state folder. Returns 0 or 2. */
static int lock_state(struct class *class, const char *name, int how, int *lock)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", class->state, name);
    *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (*lock >= 0 && flock(*lock, how | LOCK_NB) == 0) return 0;
    text_format(&class->why, "%s: %s", path,
                errno == EWOULDBLOCK ? "another call is grading this class" : strerror(errno));
    return 2;
}

/* Opens the state folder, by its absolute path, and its locks: parts share the class's lock, and
 * each has one of its own. Returns 0 or 2. */
static int open_state(struct class *class)
{
    static const char *const folders[] = {"results", "work", "logs"};
    const struct options *options = &class->options;
    char path[PATH_MAX], folder[PATH_MAX], part[64];

    if (class->options.state != NULL) {
        snprintf(class->state, sizeof class->state, "%s", class->options.state);
    } else {
        snprintf(folder, sizeof folder, "%s", class->options.class);
        for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/';) folder[--n] = '\0';
        snprintf(class->state, sizeof class->state, "%s.graded", folder);
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", class->state, folders[i]);
        if (files_make_folders(path) == 0) continue;
        text_format(&class->why, "%s cannot be made: %s. --state=DIR keeps results elsewhere.",
                    path, strerror(errno));
        return 2;
    }
    if (realpath(class->state, path) != NULL && strlen(path) < sizeof class->state)
        memcpy(class->state, path, strlen(path) + 1);
    if (lock_state(class, "lock", options->parts > 0 ? LOCK_SH : LOCK_EX, &class->lock) != 0)
        return 2;
    if (options->parts == 0) return 0;
    snprintf(part, sizeof part, "lock.%d-of-%d", options->part, options->parts);
    return lock_state(class, part, LOCK_EX, &class->part_lock);
}

/* Checks for free space, because a compiler that runs out of it must not look like a mistake of the
 * student's. */
static bool disk_has_room(struct class *class)
{
    const char *temporary = getenv("TMPDIR");
    const char *const places[] = {class->state, class->toolchain->cache,
                                  temporary != NULL ? temporary : "/tmp"};

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct statvfs space;
        if (statvfs(places[i], &space) != 0 ||
            (uint64_t)space.f_bavail * space.f_frsize >= LEAST_FREE)
            continue;
        text_format(&class->why,
                    "the disk of %s is full: less than %llu MiB are free. Nothing is lost: call "
                    "this again when there is room.",
                    places[i], (unsigned long long)(LEAST_FREE >> 20));
        return false;
    }
    return true;
}

/* Keeps only the submissions of this call's part. */
static void keep_part(struct class *class)
{
    const size_t part = (size_t) class->options.part, parts = (size_t) class->options.parts;

    for (size_t i = json_array_size(class->entries); i-- > 0;)
        if (i % parts != part) json_array_remove(class->entries, i);
}

static int list_pupils(struct class *class)
{
    struct text left_out = {0}, reserved = {0};
    json_t *entry;
    size_t i;

    if (class->options.roster != NULL) {
        class->roster = roster_read(class->options.roster, &class->why);
        if (class->roster == NULL) return 2;
    }
    class->entries = intake_list(class->options.class, class->roster, class->state, &left_out,
                                 &reserved, &class->why);
    if (class->entries == NULL) return 2;
    if (left_out.size > 0)
        fprintf(stderr, "grade: left out, no submission: %s\n", text_string(&left_out));
    if (reserved.size > 0)
        fprintf(stderr,
                "grade: left out, since a name that begins with a dot or ends in .graded is not a "
                "student's: %s\n",
                text_string(&reserved));
    text_free(&left_out);
    text_free(&reserved);
    if (class->options.parts > 0) keep_part(class);
    class->count = json_array_size(class->entries);
    class->pupils = calloc(class->count + 1, sizeof *class->pupils);
    if (class->pupils == NULL) {
        text_add(&class->why, "no memory");
        return 2;
    }
    json_array_foreach(class->entries, i, entry)
    {
        class->pupils[i].entry = entry;
    }
    if (class->count > 0 || class->options.parts > 0) return 0;
    text_add_quoted(&class->why, class->options.class, strlen(class->options.class));
    text_add(&class->why, " has no submissions: a folder, an archive or a git repository for each");
    return 2;
}

/* ---- records ---------------------------------------------------------------------------- */

/* Copies the owner from this call's list, because the roster may have been corrected since the
 * grading. */
static void set_owner(const struct class *class, struct pupil *pupil)
{
    static const char *const keys[] = {"key", "name", "id", "sis_id", "login", "email", "section"};
    json_t *submission = json_put_object(pupil->record, "submission");
    const json_t *source = json_array_get(json_list(pupil->entry, "sources"), 0);

    (void)class;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        json_put_text(submission, keys[i], json_text(pupil->entry, keys[i]));
    json_put_text(submission, "folder", json_string_value(source));
    json_put_text(pupil->record, "note", text_string(&pupil->note));
}

/* Makes a record without points: nothing was handed in, or it was not judged (`trouble`). */
static void make_empty(struct pupil *pupil, const char *trouble)
{
    json_decref(pupil->record);
    pupil->record = json_object();
    json_put_bool(pupil->record, "complete", trouble[0] == '\0');
    json_put_text(pupil->record, "trouble", trouble);
    json_put_array(pupil->record, "lessons");
}

static bool is_unchanged(const struct class *class, const struct pupil *pupil)
{
    const json_t *then = json_object_get(pupil->record, "graded_as");
    const char *key;
    json_t *now;

    json_object_foreach(class->version, key, now)
    {
        if (!json_equal(json_object_get(then, key), now)) return false;
    }
    return strcmp(json_text(then, "submission"), pupil->version) == 0;
}

/* Brings one submission into form and checks whether it is graded already. Returns 0 or 2. */
static int take_in(struct class *class, struct pupil *pupil)
{
    char work[PATH_MAX], result[PATH_MAX];

    if (json_array_size(json_list(pupil->entry, "sources")) == 0) {
        text_add(&pupil->note, "Nothing was handed in.");
        class->absent++;
        make_empty(pupil, "");
        set_owner(class, pupil);
        pupil->at = PUPIL_DONE;
        return 0;
    }
    path_of(class, "work", pupil, "", work);
    const enum intake taken =
        intake_take(pupil->entry, class->table, work, pupil->version, &pupil->note);
    if (taken == INTAKE_TROUBLE) {
        text_format(&class->why, "%s: %s", key_of(pupil), text_string(&pupil->note));
        return 2;
    }
    path_of(class, "results", pupil, ".json", result);
    pupil->record = json_read(result, RECORD_LIMIT);
    if (pupil->record != NULL && !class->options.again && is_unchanged(class, pupil)) {
        set_owner(class, pupil);
        pupil->at = PUPIL_DONE;
        return 0;
    }
    class->to_grade++;
    return 0;
}

/* ---- grading ---------------------------------------------------------------------------- */

static int start_grader(struct class *class, struct workers *workers, size_t number)
{
    static const char *const devices[] = {"auto", "gpu", "emulator"};
    struct pupil *pupil = &class->pupils[number];
    const struct options *options = &class->options;
    char work[PATH_MAX], log[PATH_MAX], fresh[PATH_MAX], report[PATH_MAX + 16];
    char device[32], orders[48], seed[48], filter[4200];
    const size_t most = options->word_count + 12;
    const char **arguments = calloc(most, sizeof *arguments);
    size_t count = 0;

    if (arguments == NULL) return -1;
    path_of(class, "work", pupil, "", work);
    path_of(class, "logs", pupil, ".txt", log);
    path_of(class, "results", pupil, ".fresh", fresh);
    unlink(fresh);
    snprintf(report, sizeof report, "--report=json:%s", fresh);
    snprintf(device, sizeof device, "--device=%s", devices[options->device]);
    snprintf(orders, sizeof orders, "--random-orders=%u", options->random_orders);
    snprintf(filter, sizeof filter, "--gtest_filter=%.4000s", options->filter);
    snprintf(seed, sizeof seed, "--seed=%llu", (unsigned long long)options->seed);
    arguments[count++] = class->program;
    arguments[count++] = "--submission=lessons";
    arguments[count++] = "--gtest_color=no";
    arguments[count++] = report;
    arguments[count++] = device;
    arguments[count++] = orders;
    arguments[count++] = filter;
    if (options->seed_given) arguments[count++] = seed;
    if (options->sandbox == SANDBOX_REQUIRE) arguments[count++] = "--sandbox=require";
    if (options->sandbox == SANDBOX_OFF) arguments[count++] = "--sandbox=off";
    for (size_t i = 0; i < options->word_count; i++) arguments[count++] = options->words[i];
    const struct worker_job job = {arguments, work, log};
    const int result = workers_start(workers, &job, number, &class->why);
    free(arguments);
    if (result == 0) pupil->at = PUPIL_RUNS;
    return result;
}

/* Finds the last line that a grader printed before it gave up. */
static void last_words(const struct class *class, const struct pupil *pupil, int status,
                       struct text *words)
{
    char path[PATH_MAX];
    struct text log = {0};

    path_of(class, "logs", pupil, ".txt", path);
    if (WIFSIGNALED(status))
        text_format(words, "its grader was ended by signal %d", WTERMSIG(status));
    else
        text_format(words, "its grader ended with status %d", WEXITSTATUS(status));
    if (files_read(path, LOG_LIMIT, &log) == 0 && log.size > 0) {
        while (log.size > 0 && log.data[log.size - 1] == '\n') log.data[--log.size] = '\0';
        const char *line = strrchr(log.data, '\n') != NULL ? strrchr(log.data, '\n') + 1 : log.data;
        const size_t length = strlen(line);
        text_add(words, ": ");
        text_add_quoted(words, line, length < LAST_WORDS ? length : LAST_WORDS);
    }
    text_free(&log);
}

/* Takes the result that a grader left. Returns 0, or 2 when the class cannot go on. */
static int take_result(struct class *class, struct pupil *pupil, int status)
{
    char fresh[PATH_MAX], result[PATH_MAX];
    struct text words = {0};

    path_of(class, "results", pupil, ".fresh", fresh);
    path_of(class, "results", pupil, ".json", result);
    if (process_interrupted() != 0 || !disk_has_room(class)) {
        unlink(fresh);
        return 2;
    }
    json_t *report = json_read(fresh, RECORD_LIMIT);
    json_t *record = json_array_get(json_list(report, "submissions"), 0);
    const char *trouble = json_text(record, "trouble");
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1 || record == NULL || trouble[0] != '\0') {
        if (trouble[0] != '\0')
            text_add(&words, trouble);
        else
            last_words(class, pupil, status, &words);
        make_empty(pupil, text_string(&words));
        set_owner(class, pupil);
        text_free(&words);
        class->troubled++;
    } else {
        json_t *graded_as = json_copy(class->version);
        json_put_text(graded_as, "submission", pupil->version);
        json_decref(pupil->record);
        pupil->record = json_incref(record);
        json_object_set_new(record, "graded_as", graded_as);
        set_owner(class, pupil);
        if (json_write(result, record) != 0)
            text_format(&class->why, "%s cannot be written: %s", result, strerror(errno));
    }
    unlink(fresh);
    json_decref(report);
    pupil->at = PUPIL_DONE;
    class->graded++;
    return class->why.size > 0 ? 2 : 0;
}

static void tell_progress(const struct class *class, const struct pupil *pupil)
{
    const double passed = seconds_now() - class->started;
    const double left = passed / (double)class->graded * (double)(class->to_grade - class->graded);
    const char *trouble = json_text(pupil->record, "trouble");
    char ahead[64] = "";

    if (class->graded < class->to_grade)
        snprintf(ahead, sizeof ahead, left < 90 ? " (%.0f s left)" : " (%.0f min left)",
                 left < 90 ? left : left / 60);
    marks_apply(reports_marks(class->reports), pupil->record);
    if (trouble[0] != '\0')
        printf("[%*zu/%zu] %s: not judged: %s%s\n", 3, class->graded, class->to_grade,
               json_text(pupil->entry, "name"), trouble, ahead);
    else
        printf("[%*zu/%zu] %s: %g of %g points%s\n", 3, class->graded, class->to_grade,
               json_text(pupil->entry, "name"), json_number(pupil->record, "score"),
               json_number(pupil->record, "max_score"), ahead);
    fflush(stdout);
}

static int grade_all(struct class *class)
{
    const size_t jobs =
        class->options.jobs > 0 ? (size_t) class->options.jobs : parallel_processors();
    struct workers *workers = workers_open(jobs);
    size_t next = 0, number;
    int result = 0, status;

    if (workers == NULL) {
        text_add(&class->why, "no memory");
        return 2;
    }
    class->started = seconds_now();
    while (result == 0 && process_interrupted() == 0) {
        for (; next < class->count && !workers_full(workers) && result == 0; next++) {
            if (class->pupils[next].at != PUPIL_WAITS) continue;
            if (!disk_has_room(class) || start_grader(class, workers, next) != 0) result = 2;
        }
        if (workers_running(workers) == 0 || result != 0) break;
        if (!workers_wait(workers, 1000, &number, &status)) continue;
        result = take_result(class, &class->pupils[number], status);
        if (class->pupils[number].at == PUPIL_DONE) tell_progress(class, &class->pupils[number]);
    }
    workers_close(workers);
    if (process_interrupted() == 0) return result;
    text_format(&class->why,
                "interrupted with %zu of %zu graded. Call this again to go on: what is graded is "
                "kept.",
                class->count - class->to_grade + class->graded, class->count);
    return 128 + process_interrupted();
}

/* ---- reports ---------------------------------------------------------------------------- */

static json_t *make_class(struct class *class)
{
    char path[PATH_MAX];
    json_t *all = json_object(), *records = json_put_array(all, "submissions");

    for (size_t i = 0; i < class->count; i++) {
        marks_apply(reports_marks(class->reports), class->pupils[i].record);
        json_array_append(records, class->pupils[i].record);
    }
    snprintf(path, sizeof path, "%s/work", class->state);
    json_object_set_new(all, "similar",
                        similar_pairs(all, class->table, path, class->toolchain->source));
    snprintf(path, sizeof path, "%s/class.json", class->state);
    json_t *before = json_read(path, CLASS_LIMIT);
    json_object_set_new(all, "changes", changes_between(before, all));
    json_decref(before);
    return all;
}

static void tell_list(const char *title, const json_t *list, const char *key)
{
    const json_t *entry;
    size_t i;

    if (json_array_size(list) > 0) printf("%s\n", title);
    json_array_foreach(list, i, entry)
    {
        printf("  %s\n", json_text(entry, key));
    }
}

static bool is_absent(const struct pupil *pupil)
{
    return json_array_size(json_list(pupil->entry, "sources")) == 0;
}

static bool is_stranger(const struct pupil *pupil)
{
    return json_yes(pupil->entry, "stranger");
}

/* Prints on one line, however many they are, who `is` so. */
static void tell_names(const struct class *class, const char *words,
                       bool (*is)(const struct pupil *pupil))
{
    size_t told = 0, count = 0;

    for (size_t i = 0; i < class->count; i++) count += is(&class->pupils[i]);
    if (count > 0) printf("%zu %s: ", count, words);
    for (size_t i = 0; i < class->count; i++)
        if (is(&class->pupils[i]))
            printf("%s%s", told++ > 0 ? ", " : "", json_text(class->pupils[i].entry, "name"));
    if (count > 0) printf("\n");
}

/* Appends what was odd about how it was handed in: its own note and those of its lessons. */
static void add_notes(const struct pupil *pupil, struct text *notes)
{
    const json_t *lesson;
    size_t i;

    text_add(notes, text_string(&pupil->note));
    json_array_foreach(json_list(pupil->record, "lessons"), i, lesson)
    {
        const char *note = json_text(lesson, "note");
        if (note[0] != '\0') text_format(notes, "%s%s", notes->size > 0 ? "; " : "", note);
    }
}

/* What was wrong with the way something was handed in may have cost points that its author has
 * earned. Who has the same note shares its line: an export may have an empty folder for everybody
 * who handed in nothing. */
static void tell_notes(const struct class *class)
{
    struct text *notes = calloc(class->count + 1, sizeof *notes);
    size_t told = 0;

    for (size_t i = 0; notes != NULL && i < class->count; i++)
        if (!is_absent(&class->pupils[i])) add_notes(&class->pupils[i], &notes[i]);
    for (size_t i = 0; notes != NULL && i < class->count; i++) {
        const bool is_told = notes[i].size > 0;
        if (is_told)
            printf("%s  %s", told++ == 0 ? "Look at how these were handed in:\n" : "",
                   json_text(class->pupils[i].entry, "name"));
        for (size_t j = i + 1; is_told && j < class->count; j++) {
            if (strcmp(text_string(&notes[i]), text_string(&notes[j])) != 0) continue;
            printf(", %s", json_text(class->pupils[j].entry, "name"));
            text_free(&notes[j]);
        }
        if (is_told) printf(": %s\n", text_string(&notes[i]));
        text_free(&notes[i]);
    }
    free(notes);
}

static void tell_sums(const struct class *class)
{
    const size_t count = class->count - class->absent;

    printf("%zu submission%s, %zu graded now, %zu unchanged, %zu not judged. Results: %s\n", count,
           count == 1 ? "" : "s", class->graded - class->troubled, count - class->to_grade,
           class->troubled, class->state);
    tell_names(class, "of the roster handed in nothing", is_absent);
    tell_names(class, "not in the roster, graded all the same", is_stranger);
}

static int report_all(struct class *class)
{
    char path[PATH_MAX];
    json_t *all = make_class(class);
    const size_t pairs = json_array_size(json_list(all, "similar"));

    tell_list("Changed since the last time:", json_list(all, "changes"), "what");
    if (pairs > 0)
        printf(
            "%zu pair%s of submissions share unusual code; the reports html and json list them.\n",
            pairs, pairs == 1 ? "" : "s");
    int result = reports_write(class->reports, all, &class->why) == 0 ? 0 : 2;
    /* Written last, so that changes are reported again if a report could not be written. */
    snprintf(path, sizeof path, "%s/class.json", class->state);
    if (result == 0 && json_write(path, all) != 0) {
        text_format(&class->why, "%s cannot be written: %s", path, strerror(errno));
        result = 2;
    }
    json_decref(all);
    tell_notes(class);
    tell_sums(class);
    return result != 0 || class->troubled > 0 ? 2 : 0;
}

/* ---- one call --------------------------------------------------------------------------- */

/* Releases the lock, because the parts take it. */
static int hand_to_slurm(struct class *class, int count, char *const *arguments)
{
    const struct options *options = &class->options;
    const size_t asked = options->slurm_tasks > 0 ? (size_t)options->slurm_tasks
                                                  : (class->count + GROUP - 1) / GROUP;
    const struct slurm_class to = {
        .program = class->program,
        .state = class->state,
        .count = count,
        .arguments = arguments,
        .parts = asked < class->count ? asked : class->count,
        .jobs = options->jobs,
        .gpu = options->device == DEVICE_GPU,
        .gpu_if_there = options->device == DEVICE_AUTO,
    };
    struct text said = {0};

    close(class->lock);
    class->lock = -1;
    const int status = slurm_submit(&to, &said);
    if (status == 0)
        fputs(text_string(&said), stdout);
    else
        text_add(&class->why, text_string(&said));
    text_free(&said);
    return status;
}

static int grade_class(struct class *class, int count, char *const *arguments)
{
    const struct options *options = &class->options;
    const ssize_t length = readlink("/proc/self/exe", class->program, sizeof class->program - 1);

    if (length <= 0) {
        text_format(&class->why, "/proc is not there: %s", strerror(errno));
        return 2;
    }
    class->program[length] = '\0';
    class->reports =
        reports_open(options->reports, options->report_count, options->marks, &class->why);
    if (class->reports == NULL || reports_hold_class(class->reports, &class->why) != 0) return 2;
    class->version = version_make(class->toolchain, class->table, options, &class->why);
    if (class->version == NULL) return 2;
    if (files_make_folders(class->toolchain->cache) != 0) {
        text_format(&class->why, "%s cannot be made: %s", class->toolchain->cache, strerror(errno));
        return 2;
    }
    int status = open_state(class);
    if (status == 0 && !disk_has_room(class)) status = 2;
    if (status == 0) status = list_pupils(class);
    if (status == 0 && options->slurm) return hand_to_slurm(class, count, arguments);
    for (size_t i = 0; status == 0 && i < class->count; i++)
        status = process_interrupted() != 0 ? 128 + process_interrupted()
                                            : take_in(class, &class->pupils[i]);
    if (status == 0) status = grade_all(class);
    if (status != 0 || options->parts == 0) return status == 0 ? report_all(class) : status;
    tell_sums(class);
    return class->troubled > 0 ? 2 : 0;
}

static void release(struct class *class)
{
    for (size_t i = 0; i < class->count; i++) {
        json_decref(class->pupils[i].record);
        text_free(&class->pupils[i].note);
    }
    free(class->pupils);
    json_decref(class->entries);
    json_decref(class->roster);
    json_decref(class->version);
    reports_close(class->reports);
    if (class->lock >= 0) close(class->lock);
    if (class->part_lock >= 0) close(class->part_lock);
    options_free(&class->options);
    text_free(&class->why);
}

int class_main(const struct toolchain *toolchain, const struct lesson *const *table, int count,
               char *const *arguments)
{
    struct class class = {.toolchain = toolchain, .table = table, .lock = -1, .part_lock = -1};
    int status = options_parse(&class.options, count, arguments, &class.why);
    const bool own = status == 0 && !class.options.help && !class.options.version;

    if (own && class.options.class != NULL) {
        setvbuf(stdout, NULL, _IOLBF, 0);
        process_handle_interrupts();
        status = grade_class(&class, count, arguments);
        if (class.why.size > 0) fprintf(stderr, "grade: %s\n", text_string(&class.why));
    } else if (own && class.options.check_lessons) {
        setvbuf(stdout, NULL, _IOLBF, 0);
        process_handle_interrupts();
        status = lessons_check(toolchain, table, &class.options);
    } else {
        status = session_main(toolchain, table, count, arguments);
    }
    release(&class);
    return status;
}
