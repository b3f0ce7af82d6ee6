#include "grader/class/similar.h"
#include "grader/base/files.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_LIMIT ((size_t)1 << 20)
#define WINDOW 14        /* tokens: about two lines */
#define LEAST_WINDOWS 24 /* shared windows below which a pair is not listed */
#define LEAST_PART 0.5   /* fraction of the counted windows of the smaller submission */
#define COMMON_LEAST 3   /* a window counts if at most this many students have it, */
#define COMMON_PART 10   /* or at most the class divided by this */
#define MOST_PAIRS 100

/* One window of one submission. */
struct mark {
    uint64_t hash;
    uint32_t owner; /* index of the record; UINT32_MAX: a file of the project's */
    uint32_t line;
};

struct marks_list {
    struct mark *marks;
    size_t count, room;
};

/* ---- tokens ----------------------------------------------------------------------------- */

struct tokens {
    uint64_t hashes[WINDOW]; /* the last ones, in a ring buffer */
    uint32_t lines[WINDOW];
    size_t count;
};

static uint64_t hash_bytes(const char *bytes, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    return hash;
}

/* Returns true for words with the same meaning in every submission. */
static bool is_known_word(const char *word, size_t length)
{
    static const char *const words[] = {
        "if",     "else",           "for",         "while",  "do",     "return", "break",
        "goto",   "continue",       "switch",      "case",   "sizeof", "struct", "static",
        "const",  "void",           "NULL",        "malloc", "calloc", "free",   "memset",
        "memcpy", "pthread_create", "pthread_join"};
    if (length > 4 && strncmp(word, "cuda", 4) == 0) return true;
    if (length > 3 && strncmp(word, "cu", 2) == 0 && isupper((unsigned char)word[2])) return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0) return true;
    return false;
}

static void add_mark(struct marks_list *list, uint64_t hash, uint32_t owner, uint32_t line)
{
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 4096;
        struct mark *grown = realloc(list->marks, room * sizeof *grown);
        if (grown == NULL) return;
        list->marks = grown;
        list->room = room;
    }
    list->marks[list->count++] = (struct mark){hash, owner, line};
}

static void add_token(struct tokens *tokens, uint64_t hash, uint32_t line, struct marks_list *list,
                      uint32_t owner)
{
    uint64_t window = 0;

    tokens->hashes[tokens->count % WINDOW] = hash;
    tokens->lines[tokens->count % WINDOW] = line;
    if (++tokens->count < WINDOW) return;
    for (size_t i = 0; i < WINDOW; i++)
        window = window * 0x9e3779b97f4a7c15u + tokens->hashes[(tokens->count + i) % WINDOW];
    add_mark(list, window, owner, tokens->lines[tokens->count % WINDOW]);
}

/* Returns the end of what begins at `at` and is not a token: blanks, a comment, a preprocessor
 * line.
 */
static const char *skip(const char *at, uint32_t *line)
{
    const char *end = at;

    if (at[0] == '/' && at[1] == '/') {
        end = at + strcspn(at, "\n");
    } else if (at[0] == '/' && at[1] == '*') {
        const char *close = strstr(at + 2, "*/");
        end = close != NULL ? close + 2 : at + strlen(at);
    } else if (at[0] == '#') {
        end = at + strcspn(at, "\n");
    } else if (isspace((unsigned char)at[0])) {
        end = at + 1;
    }
    for (; at < end; at++) *line += *at == '\n';
    return end;
}

/* Returns the end of a string or character constant. */
static const char *skip_text(const char *at, uint32_t *line)
{
    const char quote = *at++;
    for (; *at != '\0' && *at != quote; at++) {
        if (*at == '\\' && at[1] != '\0') at++;
        *line += *at == '\n';
    }
    return *at != '\0' ? at + 1 : at;
}

static void read_source(const char *at, struct marks_list *list, uint32_t owner)
{
    struct tokens tokens = {.count = 0};
    uint32_t line = 1;

    while (*at != '\0') {
        const char *next = skip(at, &line);
        const uint32_t begun = line;
        uint64_t hash;
        if (next != at) {
            at = next;
            continue;
        }
        if (*at == '"' || *at == '\'') {
            next = skip_text(at, &line);
            hash = 1;
        } else if (isdigit((unsigned char)*at)) {
            while (isalnum((unsigned char)*next) || *next == '.') next++;
            hash = 2;
        } else if (isalpha((unsigned char)*at) || *at == '_') {
            while (isalnum((unsigned char)*next) || *next == '_') next++;
            const size_t length = (size_t)(next - at);
            hash = is_known_word(at, length) ? hash_bytes(at, length) : 3;
        } else {
            next = at + 1;
            hash = hash_bytes(at, 1);
        }
        add_token(&tokens, hash, begun, list, owner);
        at = next;
    }
}

static void read_lesson(struct marks_list *list, const struct lesson *lesson, const char *folder,
                        uint32_t owner)
{
    for (const char *const *file = lesson->files; *file != NULL; file++) {
        char path[PATH_MAX];
        struct text text = {0};
        snprintf(path, sizeof path, "%s/%s/%s", folder, lesson->folder, *file);
        if (files_read(path, FILE_LIMIT, &text) == 0) read_source(text_string(&text), list, owner);
        text_free(&text);
    }
}

/* ---- pairs ------------------------------------------------------------------------------ */

struct pair {
    uint32_t one, other;
    uint32_t shared, one_line, other_line;
    double part;
};

static int compare_marks(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    if (x->owner != y->owner) return x->owner < y->owner ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->part != y->part) return x->part < y->part ? 1 : -1;
    if (x->one != y->one) return x->one < y->one ? -1 : 1;
    return (x->other > y->other) - (x->other < y->other);
}

/* Counts a repeated window of one submission once. Returns how many are left. */
static size_t without_repetitions(struct mark *marks, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || marks[kept - 1].hash != marks[i].hash ||
            marks[kept - 1].owner != marks[i].owner)
            marks[kept++] = marks[i];
    return kept;
}

/* Counts shared windows into table[one * students + other] (one < other), and each student's
 * counted windows into own[]. */
static void count_shared(const struct marks_list *list, size_t students, struct pair *table,
                         uint32_t *own)
{
    const size_t common =
        students / COMMON_PART > COMMON_LEAST ? students / COMMON_PART : COMMON_LEAST;
    size_t end;

    for (size_t i = 0; i < list->count; i = end) {
        for (end = i + 1; end < list->count && list->marks[end].hash == list->marks[i].hash;) end++;
        /* The project's files sort last. */
        if (list->marks[end - 1].owner == UINT32_MAX || end - i > common) continue;
        for (size_t j = i; j < end; j++) {
            own[list->marks[j].owner]++;
            for (size_t k = j + 1; k < end; k++) {
                struct pair *pair = &table[list->marks[j].owner * students + list->marks[k].owner];
                if (pair->shared++ == 0 || list->marks[j].line < pair->one_line) {
                    pair->one_line = list->marks[j].line;
                    pair->other_line = list->marks[k].line;
                }
            }
        }
    }
}

static void list_pairs(json_t *pairs, const json_t *class, const struct lesson *lesson,
                       struct pair *table, const uint32_t *own, size_t students)
{
    const json_t *records = json_list(class, "submissions");
    size_t count = 0;

    for (uint32_t one = 0; one < students; one++)
        for (uint32_t other = one + 1; other < students; other++) {
            struct pair pair = table[one * students + other];
            const uint32_t least = own[one] < own[other] ? own[one] : own[other];
            if (pair.shared < LEAST_WINDOWS || pair.shared < LEAST_PART * least) continue;
            pair.one = one;
            pair.other = other;
            pair.part = (double)pair.shared / least;
            table[count++] = pair; /* count is never beyond the place that is read */
        }
    qsort(table, count, sizeof *table, compare_pairs);
    for (size_t i = 0; i < count && i < MOST_PAIRS; i++) {
        json_t *entry = json_add_object(pairs);
        const json_t *one = json_object_get(json_array_get(records, table[i].one), "submission");
        const json_t *other =
            json_object_get(json_array_get(records, table[i].other), "submission");
        json_put_text(entry, "lesson", lesson->folder);
        json_put_text(entry, "one", json_text(one, "name"));
        json_put_text(entry, "other", json_text(other, "name"));
        json_put_number(entry, "part", table[i].part);
        json_put_count(entry, "windows", table[i].shared);
        json_put_count(entry, "one_line", table[i].one_line);
        json_put_count(entry, "other_line", table[i].other_line);
    }
}

static void compare_lesson(json_t *pairs, const json_t *class, const struct lesson *lesson,
                           const char *work, const char *source)
{
    static const char *const ours[] = {"lessons", "solutions"};
    const json_t *records = json_list(class, "submissions"), *record;
    const size_t students = json_array_size(records);
    struct marks_list list = {0};
    char folder[PATH_MAX];
    size_t i;

    struct pair *table = calloc(students * students + 1, sizeof *table);
    uint32_t *own = calloc(students + 1, sizeof *own);
    if (table == NULL || own == NULL) goto done;
    for (i = 0; i < 2; i++) {
        snprintf(folder, sizeof folder, "%s/%s", source, ours[i]);
        read_lesson(&list, lesson, folder, UINT32_MAX);
    }
    json_array_foreach(records, i, record)
    {
        snprintf(folder, sizeof folder, "%s/%s/lessons", work,
                 json_text(json_object_get(record, "submission"), "key"));
        read_lesson(&list, lesson, folder, (uint32_t)i);
    }
    if (list.count > 0) qsort(list.marks, list.count, sizeof *list.marks, compare_marks);
    list.count = without_repetitions(list.marks, list.count);
    count_shared(&list, students, table, own);
    list_pairs(pairs, class, lesson, table, own, students);
done:
    free(table);
    free(own);
    free(list.marks);
}

json_t *similar_pairs(const json_t *class, const struct lesson *const *table, const char *work,
                      const char *source)
{
    json_t *pairs = json_array();
    for (; *table != NULL; table++) compare_lesson(pairs, class, *table, work, source);
    return pairs;
}
