#include "grader/class/roster.h"
#include "grader/base/files.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FILE_LIMIT ((size_t)16 << 20)
#define MOST_COLUMNS 200

/* The columns' titles, without blanks and in lower case, and their keys in an entry. */
static const struct {
    const char *title, *key;
} columns[] = {
    {"student", "name"},
    {"fullname", "name"},
    {"name", "name"},
    {"firstname", "first"},
    {"lastname", "last"},
    {"surname", "last"},
    {"id", "id"},
    {"identifier", "id"},
    {"sid", "id"},
    {"studentid", "id"},
    {"sisuserid", "sis_id"},
    {"idnumber", "sis_id"},
    {"sisloginid", "login"},
    {"username", "login"},
    {"login", "login"},
    {"githubusername", "login"},
    {"email", "email"},
    {"emailaddress", "email"},
    {"section", "section"},
    {"sections", "section"},
    {"submission", "submission"},
    {"folder", "submission"},
    {"repository", "submission"},
};

/* Reduces the text to letters and digits in lower case, for comparisons. */
static void plain_form(const char *text, struct text *plain)
{
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        const char small = (char)tolower(c);
        if (isalnum(c) || c >= 0x80) text_add_bytes(plain, &small, 1);
    }
}

/* ---- CSV -------------------------------------------------------------------------------- */

/* Reads the cell at *at and moves on. Returns true when it was the last one of its line. */
static bool read_cell(const char **at, struct text *cell)
{
    const char *p = *at;

    if (*p == '"') {
        for (p++; *p != '\0' && !(p[0] == '"' && p[1] != '"'); p++) {
            if (*p == '"') p++;
            text_add_bytes(cell, p, 1);
        }
        if (*p == '"') p++;
    }
    const size_t rest = strcspn(p, ",\r\n");
    text_add_bytes(cell, p, rest);
    p += rest;
    const bool last = *p != ',';
    if (*p == ',') p++;
    if (*p == '\r') p++;
    if (last && *p == '\n') p++;
    *at = p;
    return last;
}

static const char *key_of(const char *title)
{
    struct text plain = {0};
    const char *key = NULL;

    /* Files from Excel begin with a byte order mark. */
    if (strncmp(title, "\xef\xbb\xbf", 3) == 0) title += 3;
    plain_form(title, &plain);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0] && key == NULL; i++)
        if (strcmp(text_string(&plain), columns[i].title) == 0) key = columns[i].key;
    text_free(&plain);
    return key;
}

/* Moodle writes a number as "Participant 4711". */
static const char *plain_id(const char *key, const char *value)
{
    const char *before = "Participant ";
    if (strcmp(key, "id") != 0 || strncmp(value, before, strlen(before)) != 0) return value;
    return value + strlen(before);
}

static json_t *read_row(const char **at, const char *const keys[MOST_COLUMNS])
{
    json_t *row = json_object();
    bool last = false;

    for (size_t i = 0; !last; i++) {
        struct text cell = {0};
        last = read_cell(at, &cell);
        const char *key = i < MOST_COLUMNS ? keys[i] : NULL;
        if (key != NULL && cell.size > 0)
            json_put_text(row, key, plain_id(key, text_string(&cell)));
        text_free(&cell);
    }
    const char *first = json_text(row, "first"), *family = json_text(row, "last");
    if (json_text(row, "name")[0] == '\0' && (first[0] != '\0' || family[0] != '\0')) {
        struct text name = {0};
        text_format(&name, "%s%s%s", first, first[0] != '\0' ? " " : "", family);
        json_put_text(row, "name", text_string(&name));
        text_free(&name);
    }
    return row;
}

json_t *roster_read(const char *path, struct text *why)
{
    const char *keys[MOST_COLUMNS] = {NULL};
    struct text text = {0};
    json_t *roster = json_array();
    bool last = false, named = false;

    if (files_read(path, FILE_LIMIT, &text) != 0) {
        text_format(why, "the roster %s cannot be read: %s", path, strerror(errno));
        goto failed;
    }
    const char *at = text_string(&text);
    for (size_t i = 0; !last; i++) {
        struct text cell = {0};
        last = read_cell(&at, &cell);
        if (i < MOST_COLUMNS) keys[i] = key_of(text_string(&cell));
        named = named || (i < MOST_COLUMNS && keys[i] != NULL && strchr("nfl", keys[i][0]) != NULL);
        text_free(&cell);
    }
    if (!named) {
        text_format(why,
                    "the roster %s has no column for names: its first line should be as in "
                    "Student,ID,Email",
                    path);
        goto failed;
    }
    while (*at != '\0') {
        json_t *row = read_row(&at, keys);
        /* Canvas has a row "Points Possible". */
        if (json_text(row, "name")[0] != '\0' &&
            strstr(json_text(row, "name"), "Points Possible") == NULL)
            json_array_append(roster, row);
        json_decref(row);
    }
    text_free(&text);
    return roster;
failed:
    text_free(&text);
    json_decref(roster);
    return NULL;
}

/* ---- finding ---------------------------------------------------------------------------- */

static bool same(const char *value, const char *plain)
{
    struct text form = {0};
    plain_form(value, &form);
    const bool equal = form.size > 0 && strcmp(text_string(&form), plain) == 0;
    text_free(&form);
    return equal;
}

/* "Family, First" and "familyfirst" (in Canvas' exports) match "First Family" too. */
static bool same_turned(const char *name, const char *plain)
{
    struct text turned = {0};
    const char *blank = strrchr(name, ' ');

    if (blank == NULL) return false;
    text_add(&turned, blank + 1);
    text_add_bytes(&turned, name, (size_t)(blank - name));
    const bool equal = same(text_string(&turned), plain);
    text_free(&turned);
    return equal;
}

static bool is_meant(const json_t *row, const char *plain, const char *id)
{
    const char *email = json_text(row, "email"), *name = json_text(row, "name");
    char local[128];

    if (id[0] != '\0' && json_text(row, "id")[0] != '\0')
        return strcmp(json_text(row, "id"), id) == 0;
    snprintf(local, sizeof local, "%.*s", (int)strcspn(email, "@"), email);
    return same(json_text(row, "submission"), plain) || same(json_text(row, "login"), plain) ||
           same(email, plain) || same(local, plain) || same(json_text(row, "id"), plain) ||
           same(name, plain) || same_turned(name, plain);
}

json_t *roster_find(const json_t *roster, const char *name, const char *id)
{
    struct text plain = {0};
    json_t *row, *found = NULL;
    size_t i, count = 0;

    plain_form(name, &plain);
    json_array_foreach(roster, i, row)
    {
        if (!is_meant(row, text_string(&plain), id)) continue;
        found = row;
        count++;
    }
    text_free(&plain);
    return count == 1 ? found : NULL;
}
