/* Lists the submissions: determines the owner from the name of a folder, an archive or a file. */
#include "grader/base/files.h"
#include "grader/class/intake.h"
#include "grader/class/roster.h"
#include "grader/class/unpack.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define METADATA "submission_metadata.yml"
#define METADATA_LIMIT ((size_t)16 << 20)
#define NAME_LIMIT 100

/* The owner of a folder's entry. */
struct owner {
    char name[256];
    char id[64];
    char email[128];
};

/* Returns the length of the digits at `text` if `end` follows them, else 0. */
static size_t digits(const char *text, char end)
{
    const size_t length = strspn(text, "0123456789");
    return length > 0 && text[length] == end ? length : 0;
}

/* Moodle: "Ada Lovelace_4711_assignsubmission_file_", a folder, or followed by the file's name.
 */
static bool is_moodle(const char *entry, struct owner *owner)
{
    const char *mark = strstr(entry, "_assignsubmission_");
    const char *number = mark;

    if (mark == NULL) return false;
    while (number > entry && isdigit((unsigned char)number[-1])) number--;
    if (number == mark || number <= entry + 1 || number[-1] != '_') return false;
    snprintf(owner->name, sizeof owner->name, "%.*s", (int)(number - 1 - entry), entry);
    snprintf(owner->id, sizeof owner->id, "%.*s", (int)(mark - number), number);
    return true;
}

/* Canvas: "lovelaceada_LATE_4711_90210_streams.c": name, the user's number, the submission's
 * number. */
static bool is_canvas(const char *entry, struct owner *owner)
{
    const char *at = strchr(entry, '_');

    if (at == NULL || at == entry) return false;
    const char *number = at + 1;
    if (strncmp(number, "LATE_", 5) == 0 || strncmp(number, "late_", 5) == 0) number += 5;
    const size_t user = digits(number, '_');
    if (user == 0 || digits(number + user + 1, '_') == 0) return false;
    snprintf(owner->name, sizeof owner->name, "%.*s", (int)(at - entry), entry);
    snprintf(owner->id, sizeof owner->id, "%.*s", (int)user, number);
    return true;
}

static void value_of_line(const char *line, const char *key, char *value, size_t size)
{
    const char *at = strstr(line, key);
    if (at == NULL || value[0] != '\0') return;
    at += strlen(key);
    at += strspn(at, " '\"");
    snprintf(value, size, "%.*s", (int)strcspn(at, "'\"\r\n"), at);
}

/* Gradescope: submission_4711/, and a metadata file that names its owner. */
static bool is_gradescope(const char *entry, const char *metadata, struct owner *owner)
{
    char head[128];

    if (metadata[0] == '\0' || strncmp(entry, "submission_", 11) != 0) return false;
    snprintf(head, sizeof head, "%.100s:", entry);
    const char *at = strstr(metadata, head);
    if (at == NULL) return false;
    at += strlen(head);
    /* Reads up to the next line that is not indented, where the next submission begins. */
    for (at += strcspn(at, "\n"); *at == '\n' && (at[1] == ' ' || at[1] == '-');
         at += 1 + strcspn(at + 1, "\n")) {
        struct text line = {0};
        text_add_bytes(&line, at + 1, strcspn(at + 1, "\n"));
        value_of_line(text_string(&line), ":name:", owner->name, sizeof owner->name);
        value_of_line(text_string(&line), ":sid:", owner->id, sizeof owner->id);
        value_of_line(text_string(&line), ":email:", owner->email, sizeof owner->email);
        text_free(&line);
    }
    if (owner->name[0] == '\0') snprintf(owner->name, sizeof owner->name, "%s", entry);
    return true;
}

/* A folder or an archive with the student's name. False: neither. */
static bool is_plain(const char *folder, const char *entry, struct owner *owner)
{
    char path[PATH_MAX];
    struct stat status;
    size_t length = strlen(entry);

    snprintf(path, sizeof path, "%s/%s", folder, entry);
    if (lstat(path, &status) != 0) return false;
    if (S_ISREG(status.st_mode) && unpack_is_archive(entry)) {
        length = (size_t)(strrchr(entry, '.') - entry);
        if (length > 4 && strncmp(entry + length - 4, ".tar", 4) == 0) length -= 4;
    } else if (S_ISDIR(status.st_mode) || (length > 4 && strcmp(entry + length - 4, ".url") == 0)) {
        if (length > 4 && (strcmp(entry + length - 4, ".git") == 0 || !S_ISDIR(status.st_mode)))
            length -= 4;
    } else {
        return false;
    }
    snprintf(owner->name, sizeof owner->name, "%.*s", (int)length, entry);
    return true;
}

/* ---- keys ------------------------------------------------------------------------------- */

/* Makes a unique name that every file system accepts. */
static void make_key(const json_t *entries, const char *name, char *key, size_t size)
{
    struct text shown = {0};
    size_t length = 0;

    /* What is left of bytes beyond ASCII is characters that are seen: letters of any language. */
    text_add_quoted(&shown, name, strlen(name));
    for (const char *at = text_string(&shown); *at != '\0' && length < NAME_LIMIT; at++) {
        const unsigned char c = (unsigned char)*at;
        const bool plain = c >= 0x80 || isalnum(c) || strchr("._-", c) != NULL;
        if (plain && !(length == 0 && c == '.')) key[length++] = (char)c;
        if (!plain && length > 0 && key[length - 1] != '_') key[length++] = '_';
    }
    /* The limit may have cut a character. */
    if (length == NAME_LIMIT) {
        while (length > 0 && ((unsigned char)key[length - 1] & 0xc0) == 0x80) length--;
        if (length > 0 && (unsigned char)key[length - 1] >= 0x80) length--;
    }
    text_free(&shown);
    if (length == 0) length = (size_t)snprintf(key, size, "submission");
    key[length] = '\0';
    for (unsigned i = 2; json_find(entries, "key", key) != NULL; i++)
        snprintf(key + length, size - length, "-%u", i);
}

/* Stores the name quoted and on one line, because a folder's name may contain anything. */
static void put_name(json_t *entry, const char *name)
{
    struct text shown = {0};

    text_add_quoted(&shown, name, strlen(name));
    for (size_t i = 0; i < shown.size; i++)
        if (shown.data[i] == '\n' || shown.data[i] == '\t') shown.data[i] = ' ';
    json_put_text(entry, "name", text_string(&shown));
    text_free(&shown);
}

static json_t *entry_of(json_t *entries, const struct owner *owner)
{
    json_t *entry;
    size_t i;
    char key[NAME_LIMIT + 16];

    json_array_foreach(entries, i, entry)
    {
        const char *id = json_text(entry, "id");
        if (owner->id[0] != '\0' && strcmp(id, owner->id) == 0) return entry;
    }
    make_key(entries, owner->name, key, sizeof key);
    entry = json_add_object(entries);
    json_put_text(entry, "key", key);
    put_name(entry, owner->name);
    json_put_text(entry, "id", owner->id);
    json_put_text(entry, "email", owner->email);
    json_put_array(entry, "sources");
    return entry;
}

/* The roster's data override those from the folder's name. */
static void apply_roster(json_t *entries, const json_t *roster)
{
    static const char *const keys[] = {"name", "id", "sis_id", "login", "email", "section"};
    json_t *entry, *row;
    size_t i;

    json_array_foreach(entries, i, entry)
    {
        row = roster_find(roster, json_text(entry, "name"), json_text(entry, "id"));
        if (row == NULL) {
            json_put_bool(entry, "stranger", true);
            continue;
        }
        json_put_bool(row, "found", true);
        for (size_t j = 0; j < sizeof keys / sizeof keys[0]; j++)
            if (json_text(row, keys[j])[0] != '\0')
                json_put_text(entry, keys[j], json_text(row, keys[j]));
    }
    json_array_foreach(roster, i, row)
    {
        struct owner owner = {0};
        if (json_yes(row, "found")) continue;
        snprintf(owner.name, sizeof owner.name, "%s", json_text(row, "name"));
        snprintf(owner.id, sizeof owner.id, "%s", json_text(row, "id"));
        snprintf(owner.email, sizeof owner.email, "%s", json_text(row, "email"));
        entry = entry_of(entries, &owner);
        for (size_t j = 0; j < sizeof keys / sizeof keys[0]; j++)
            json_put_text(entry, keys[j], json_text(row, keys[j]));
        json_put_bool(entry, "absent", true);
    }
}

/* ---- the folder ------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    json_t *const *x = a, *const *y = b;
    return strcmp(json_text(*x, "key"), json_text(*y, "key"));
}

static json_t *sorted(json_t *entries)
{
    const size_t count = json_array_size(entries);
    json_t **list = calloc(count + 1, sizeof(json_t *)), *result = json_array();

    for (size_t i = 0; list != NULL && i < count; i++) list[i] = json_array_get(entries, i);
    if (list != NULL) qsort(list, count, sizeof(json_t *), compare_keys);
    for (size_t i = 0; list != NULL && i < count; i++) json_array_append(result, list[i]);
    free(list);
    json_decref(entries);
    return result;
}

/* Files of the system, of archives and of repositories: nobody looks for a submission in them. */
static bool is_nobodys(const char *name)
{
    static const char *const names[] = {".", "..", ".git", "__MACOSX", METADATA};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* Hidden files, and the results of another class. */
static bool is_reserved(const char *name)
{
    const size_t length = strlen(name);
    return name[0] == '.' || (length > 7 && strcmp(name + length - 7, ".graded") == 0);
}

static void add_name(struct text *list, const char *name)
{
    text_add(list, list->size > 0 ? ", " : "");
    text_add_quoted(list, name, strlen(name));
}

/* Opens an export that is still an archive. */
static int open_export(char *folder, size_t size, const char *scratch, struct text *why)
{
    struct stat status;
    struct text said = {0}; /* also of a success: what was left out, which is nobody's trouble */
    char to[PATH_MAX];

    if (stat(folder, &status) != 0 || !S_ISREG(status.st_mode) || !unpack_is_archive(folder))
        return 0;
    snprintf(to, sizeof to, "%s/export", scratch);
    files_remove(to);
    const enum unpacked result = unpack_archive(folder, to, &said);
    if (result != UNPACKED) text_add(why, text_string(&said));
    text_free(&said);
    snprintf(folder, size, "%s", to);
    return result == UNPACKED ? 0 : -1;
}

json_t *intake_list(const char *given, const json_t *roster, const char *scratch,
                    struct text *left_out, struct text *reserved, struct text *why)
{
    char folder[PATH_MAX - 300], path[PATH_MAX];
    struct dirent **names = NULL;
    struct text metadata = {0};
    json_t *entries = json_array();

    snprintf(folder, sizeof folder, "%s", given);
    if (open_export(folder, sizeof folder, scratch, why) != 0) goto failed;
    const int count = scandir(folder, &names, NULL, alphasort);
    if (count < 0) {
        text_add_quoted(why, given, strlen(given));
        text_format(why, " is not a folder that can be opened: %s", strerror(errno));
        goto failed;
    }
    snprintf(path, sizeof path, "%s/" METADATA, folder);
    if (files_read(path, METADATA_LIMIT, &metadata) != 0) text_free(&metadata);
    for (int i = 0; i < count; i++) {
        const char *name = names[i]->d_name;
        struct owner owner = {0};
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (is_nobodys(name)) {
            /* nothing */
        } else if (is_reserved(name)) {
            if (is_plain(folder, name, &owner)) add_name(reserved, name);
        } else if (is_gradescope(name, text_string(&metadata), &owner) || is_moodle(name, &owner) ||
                   is_canvas(name, &owner) || is_plain(folder, name, &owner)) {
            /* Any bytes, as the system has them: a name from an old archive may be no UTF-8. */
            json_array_append_new(json_list(entry_of(entries, &owner), "sources"),
                                  json_string_nocheck(path));
        } else {
            add_name(left_out, name);
        }
        free(names[i]);
    }
    free(names);
    text_free(&metadata);
    if (roster != NULL) apply_roster(entries, roster);
    return sorted(entries);
failed:
    json_decref(entries);
    return NULL;
}
