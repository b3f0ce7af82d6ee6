#include "grader/base/embedded.h"
#include "grader/base/files.h"
#include "grader/base/filter.h"
#include "grader/base/sha256.h"
#include "grader/report/kinds.h"
#include "grader/report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FILE_LIMIT ((size_t)1 << 20)
#define MOST_POINTS 1e6

static const char *const visibilities[] = {"visible", "hidden", "after_due_date", "after_published",
                                           NULL};

/* One line of the table; NAN or NULL for what the line does not set. */
struct rule {
    char pattern[128];
    double points, full, zero, worth, blocked;
    int required; /* 1, 0; -1: not said */
    const char *visibility;
};

struct marks {
    struct rule *rules;
    size_t count;
    char version[SHA256_TEXT_SIZE]; /* a hash of all its lines */
};

static int wrong(struct text *why, const char *path, unsigned line, const char *word)
{
    text_format(why, "%s:%u: \"", path, line);
    text_add_quoted(why, word, strlen(word));
    text_add(why, "\" is none of points=N, required, optional, visibility=WORD, full=N, zero=N, "
                  "not_judged=PART, worth=N");
    return -1;
}

/* Returns 0, or -1: not a valid number. */
static int read_number(const char *value, double *number)
{
    char *end;
    *number = strtod(value, &end);
    return end != value && *end == '\0' && *number >= 0 && *number <= MOST_POINTS ? 0 : -1;
}

static int read_word(struct rule *rule, const char *word)
{
    const struct {
        const char *name;
        double *field;
    } numbers[] = {{"points=", &rule->points},
                   {"full=", &rule->full},
                   {"zero=", &rule->zero},
                   {"not_judged=", &rule->blocked},
                   {"worth=", &rule->worth}};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strncmp(word, numbers[i].name, strlen(numbers[i].name)) == 0)
            return read_number(word + strlen(numbers[i].name), numbers[i].field);
    if (strcmp(word, "required") == 0 || strcmp(word, "optional") == 0) {
        rule->required = word[0] == 'r';
        return 0;
    }
    if (strncmp(word, "visibility=", strlen("visibility=")) != 0) return -1;
    for (size_t i = 0; visibilities[i] != NULL; i++)
        if (strcmp(word + strlen("visibility="), visibilities[i]) == 0)
            rule->visibility = visibilities[i];
    return rule->visibility != NULL ? 0 : -1;
}

/* Adds the rules of one file, whose text is cut up. Returns 0, or -1 with a sentence. */
static int read_rules(struct marks *marks, char *text, const char *path, struct text *why)
{
    char *next = text, *line, *rest, *word;

    for (unsigned number = 1; (line = strsep(&next, "\n")) != NULL; number++) {
        line[strcspn(line, "#\r")] = '\0';
        word = strtok_r(line, " \t", &rest);
        if (word == NULL) continue;
        struct rule *grown = realloc(marks->rules, (marks->count + 1) * sizeof *grown);
        if (grown == NULL) return text_add(why, "no memory"), -1;
        marks->rules = grown;
        struct rule *rule = &grown[marks->count++];
        *rule = (struct rule){
            .points = NAN, .full = NAN, .zero = NAN, .worth = NAN, .blocked = NAN, .required = -1};
        snprintf(rule->pattern, sizeof rule->pattern, "%s", word);
        while ((word = strtok_r(NULL, " \t", &rest)) != NULL)
            if (read_word(rule, word) != 0) return wrong(why, path, number, word);
        if (rule->full >= rule->zero) {
            text_format(why, "%s:%u: zero= has to be more than full=", path, number);
            return -1;
        }
        if (rule->blocked > 1) {
            text_format(why, "%s:%u: not_judged= is a part, from 0 to 1", path, number);
            return -1;
        }
    }
    return 0;
}

struct marks *marks_read(const char *path, struct text *why)
{
    struct marks *marks = calloc(1, sizeof *marks);
    struct text own = {0}, theirs = {0};
    struct sha256 hash;
    int result = -1;

    if (marks == NULL) {
        text_add(why, "no memory");
        return NULL;
    }
    text_add(&own, embedded_marks);
    if (path != NULL && files_read(path, FILE_LIMIT, &theirs) != 0) {
        text_format(why, "the table of points %s cannot be read: %s", path, strerror(errno));
        goto done;
    }
    text_add(&theirs, "");
    sha256_begin(&hash);
    sha256_add_string(&hash, text_string(&own));
    sha256_add_string(&hash, text_string(&theirs));
    sha256_end(&hash, marks->version);
    if (own.failed || theirs.failed) {
        text_add(why, "no memory");
        goto done;
    }
    result = read_rules(marks, own.data, "marks.txt", why);
    if (result == 0) result = read_rules(marks, theirs.data, path, why);
done:
    text_free(&own);
    text_free(&theirs);
    if (result == 0) return marks;
    marks_free(marks);
    return NULL;
}

void marks_free(struct marks *marks)
{
    if (marks == NULL) return;
    free(marks->rules);
    free(marks);
}

/* Combines all rules that apply to a check. */
static struct rule rule_for(const struct marks *marks, const char *suite, const char *check)
{
    struct rule found = {.full = NAN, .zero = NAN, .worth = NAN, .visibility = visibilities[0]};
    char name[256];

    snprintf(name, sizeof name, "%s.%s", suite, check);
    for (size_t i = 0; i < marks->count; i++) {
        const struct rule *rule = &marks->rules[i];
        if (!filter_matches(rule->pattern, name)) continue;
        if (!isnan(rule->points)) found.points = rule->points;
        if (!isnan(rule->full)) found.full = rule->full;
        if (!isnan(rule->zero)) found.zero = rule->zero;
        if (!isnan(rule->worth)) found.worth = rule->worth;
        if (!isnan(rule->blocked)) found.blocked = rule->blocked;
        if (rule->required >= 0) found.required = rule->required;
        if (rule->visibility != NULL) found.visibility = rule->visibility;
    }
    return found;
}

/* Returns the fraction of its points that a check gets, 0 to 1, and why where that is not
 * obvious. `share`: what the lesson's judged checks have of theirs. */
static double part_of_points(const struct rule *rule, const json_t *check, double share,
                             struct text *why)
{
    if (strcmp(json_text(check, "outcome"), "passed") == 0) return 1;
    if (check_is_blocked(check) && rule->blocked > 0)
        text_format(why,
                    "not judged, because %s failed: %g of the %.0f %% that the lesson's judged "
                    "checks have",
                    json_text(check, "because"), rule->blocked, 100 * share);
    if (check_is_blocked(check)) return rule->blocked * share;
    if (isnan(rule->full) || isnan(rule->zero)) return 0;
    /* "1.62 times the reference; at most 1.5": written by the grader itself. */
    const char *text = json_text(json_object_get(check, "figures"), "time_ratio");
    char *end;
    double ratio = strtod(text, &end);
    if (end == text || !isfinite(ratio)) return 0;
    double part = (rule->zero - ratio) / (rule->zero - rule->full);
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    text_format(why, "%.2f times the reference's time: all points up to %g, none from %g", ratio,
                rule->full, rule->zero);
    return part;
}

/* Returns the check's points, unrounded, so that sums are exact. */
static double apply_to_check(const struct rule *rule, json_t *check, double scale, double share)
{
    struct text why = {0};
    const double points = json_yes(check, "judged") ? rule->points * scale : 0;
    const double part = part_of_points(rule, check, share, &why);

    json_put_number(check, "max_score", points);
    json_put_number(check, "score", points * part);
    json_put_bool(check, "required", rule->required);
    json_put_text(check, "visibility", rule->visibility);
    json_put_text(check, "why", text_string(&why));
    text_free(&why);
    return points * part;
}

/* Returns the part of their points that the checks have which were judged. */
static double share_of_judged(const struct marks *marks, const json_t *lesson)
{
    const char *suite = json_text(lesson, "suite");
    const json_t *check;
    double score = 0, most = 0;
    size_t i;

    json_array_foreach(json_list(lesson, "checks"), i, check)
    {
        struct text why = {0};
        const struct rule rule = rule_for(marks, suite, json_text(check, "name"));
        if (!json_yes(check, "judged") || check_is_blocked(check)) continue;
        score += rule.points * part_of_points(&rule, check, 0, &why);
        most += rule.points;
        text_free(&why);
    }
    return most > 0 ? score / most : 0;
}

static void apply_to_lesson(const struct marks *marks, json_t *lesson)
{
    json_t *checks = json_list(lesson, "checks"), *check;
    const char *suite = json_text(lesson, "suite"), *lost = "";
    double plain = 0, worth = NAN, score = 0, most = 0;
    size_t i;

    json_array_foreach(checks, i, check)
    {
        struct rule rule = rule_for(marks, suite, json_text(check, "name"));
        if (json_yes(check, "judged")) plain += rule.points;
        if (!isnan(rule.worth)) worth = rule.worth;
    }
    const double share = share_of_judged(marks, lesson);
    const double scale = !isnan(worth) && plain > 0 ? worth / plain : 1;
    json_array_foreach(checks, i, check)
    {
        struct rule rule = rule_for(marks, suite, json_text(check, "name"));
        score += apply_to_check(&rule, check, scale, share);
        most += json_number(check, "max_score");
        if (rule.required && json_yes(check, "judged") &&
            strcmp(json_text(check, "outcome"), "passed") != 0)
            lost = json_text(check, "name");
    }
    if (lost[0] != '\0') score = 0;
    json_put_text(lesson, "lost", lost);
    json_put_number(lesson, "score", score);
    json_put_number(lesson, "max_score", isnan(worth) || plain == 0 ? most : worth);
}

void marks_apply(const struct marks *marks, json_t *record)
{
    json_t *lessons = json_list(record, "lessons"), *lesson;
    double score = 0, most = 0;
    size_t i;

    json_array_foreach(lessons, i, lesson)
    {
        apply_to_lesson(marks, lesson);
        score += json_number(lesson, "score");
        most += json_number(lesson, "max_score");
    }
    json_put_number(record, "score", score);
    json_put_number(record, "max_score", most);
    json_put_text(record, "marks", marks->version);
}
