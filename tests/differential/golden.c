#include "tests/differential/golden.h"

#include <stdlib.h>
#include <string.h>

/* ---- hashes ------------------------------------------------------------------------------------
 */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct diff_golden_line *)a)->name,
                  ((const struct diff_golden_line *)b)->name);
}

/* Hashes everything of which the case consists. */
static uint16_t identity(const struct diff_case *one)
{
    struct diff_text text = {.bytes = NULL};
    unsigned char *in = diff_allocate(DIFF_BUFFER, 1);
    one->write(one, "kernel", &text);
    one->fill(one, in);
    const uint64_t hash = diff_hash(
        in, one->in_bytes, diff_hash(text.bytes, text.length, one->blocks << 16 | one->threads));
    free(in);
    diff_text_free(&text);
    return (uint16_t)hash;
}

static void add(struct diff_golden *golden, const char *group, const char *token)
{
    if (golden->count == golden->room) {
        golden->room = 2 * golden->room + 4096;
        struct diff_golden_line *moved = realloc(golden->lines, golden->room * sizeof *moved);
        if (!moved) exit(2);
        golden->lines = moved;
    }
    const char *equals = strchr(token, '=');
    if (!equals) return;
    struct diff_golden_line *line = &golden->lines[golden->count++];
    snprintf(line->name, sizeof line->name, "%s/%.*s", group, (int)(equals - token), token);
    char *dot = NULL;
    line->hash = strtoull(equals + 1, &dot, 16);
    line->of = *dot == '.' ? (uint16_t)strtoul(dot + 1, NULL, 16) : 0;
}

bool diff_golden_read(struct diff_golden *golden, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "differential: cannot read %s\n", path);
        return false;
    }
    char line[4096];
    while (fgets(line, sizeof line, file)) {
        if (*line == '#') continue;
        char *rest = NULL;
        const char *group = strtok_r(line, " \n", &rest);
        for (const char *token; group && (token = strtok_r(NULL, " \n", &rest));)
            add(golden, group, token);
    }
    fclose(file);
    if (golden->count) qsort(golden->lines, golden->count, sizeof *golden->lines, by_name);
    return true;
}

bool diff_golden_find(const struct diff_golden *golden, const struct diff_case *one, uint64_t *hash)
{
    struct diff_golden_line key;
    if (!golden->count) return false;
    memcpy(key.name, one->name, sizeof key.name);
    const struct diff_golden_line *line =
        bsearch(&key, golden->lines, golden->count, sizeof *golden->lines, by_name);
    if (!line || line->of != identity(one)) return false;
    *hash = line->hash;
    return true;
}

void diff_golden_free(struct diff_golden *golden)
{
    free(golden->lines);
}

void diff_golden_write(FILE *file, const struct diff_case *one, const struct diff_result *result)
{
    if (result->state != DIFF_RAN) {
        fprintf(file, "# %s: %s\n", one->name, result->message);
        return;
    }
    if (*result->message) fprintf(file, "# %s: inexact: %s\n", one->name, result->message);
    const char *slash = strchr(one->name, '/');
    fprintf(file, "%.*s %s=%016llx.%04x\n", (int)(slash - one->name), one->name, slash + 1,
            (unsigned long long)result->hash, identity(one));
}

/* ---- outputs: records of name, size, bytes -----------------------------------------------------
 */

void diff_outputs_write(FILE *file, const struct diff_case *one, const unsigned char *out)
{
    fwrite(one->name, sizeof one->name, 1, file);
    fwrite(&one->out_bytes, sizeof one->out_bytes, 1, file);
    fwrite(out, one->out_bytes, 1, file);
    fflush(file); /* the next case may end the process */
}

void diff_outputs_read(struct diff_outputs *outputs, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "differential: cannot read %s\n", path);
        exit(2);
    }
    enum { STEP = 1 << 20 };
    for (size_t got = STEP; got == STEP;) {
        unsigned char *moved = realloc(outputs->bytes, outputs->size + STEP);
        if (!moved) exit(2);
        outputs->bytes = moved;
        got = fread(outputs->bytes + outputs->size, 1, STEP, file);
        outputs->size += got;
    }
    fclose(file);
}

const unsigned char *diff_outputs_find(const struct diff_outputs *outputs,
                                       const struct diff_case *one)
{
    for (size_t at = 0; at + sizeof one->name + 4 <= outputs->size;) {
        const unsigned char *record = outputs->bytes + at;
        uint32_t size;
        memcpy(&size, record + sizeof one->name, 4);
        at += sizeof one->name + 4 + size;
        if (at > outputs->size) break;
        if (!memcmp(record, one->name, sizeof one->name))
            return size == one->out_bytes ? record + sizeof one->name + 4 : NULL;
    }
    return NULL;
}
