#include "emulator/cli/support.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const char *name;
    bool supported;
};

/* The functions called by the compiler's host code, "__cuda...", do not count as public names. */
static const struct row runtime_rows[] = {
#define ROW(symbol, name, needs, stream, parameters, arguments) {#symbol, true},
#define BY_HAND(symbol) {#symbol, true},
#include "emulator/runtime/runtime.def"
#undef ROW
#undef BY_HAND
#define ABSENT(symbol) {#symbol, false},
#include "emulator/runtime/absent.def"
#undef ABSENT
};

static const struct row driver_rows[] = {
#define ROW(name, implementation, since, needs) {#name, true},
#include "emulator/driver/core/driver.def"
#undef ROW
#define ABSENT(name, since) {#name, false},
#include "emulator/driver/entry/absent.def"
#undef ABSENT
};

static const struct row ptx_rows[] = {
#define PTX_OPCODE(symbol, text, shape, types, types2, fields, support, meaning) {text, support},
#include "emulator/ptx/opcodes.def"
#undef PTX_OPCODE
};

enum { MOST_NAMES = 2048, NAME_SIZE = 96 };

static const struct {
    const char *group, *mark;
    const struct row *rows;
    size_t count;
} groups[SUPPORT_GROUP_COUNT] = {
    [SUPPORT_RUNTIME] = {"functions of the runtime API", "runtime", runtime_rows,
                         sizeof runtime_rows / sizeof *runtime_rows},
    [SUPPORT_DRIVER] = {"functions of the driver API", "driver", driver_rows,
                        sizeof driver_rows / sizeof *driver_rows},
    [SUPPORT_PTX] = {"instructions of PTX", "ptx", ptx_rows, sizeof ptx_rows / sizeof *ptx_rows},
};
_Static_assert(sizeof runtime_rows / sizeof *runtime_rows < MOST_NAMES, "they fit");
_Static_assert(sizeof driver_rows / sizeof *driver_rows < MOST_NAMES, "they fit");

/* A function under its plain name, with all its versions (_v2) and variants (_ptsz). */
struct function {
    char name[NAME_SIZE];
    bool supported; /* in at least one version */
};

static void take_suffix(char *name, const char *suffix)
{
    size_t length = strlen(name), tail = strlen(suffix);
    if (length > tail && strcmp(name + length - tail, suffix) == 0) name[length - tail] = '\0';
}

static void plain_name(char *plain, const char *name)
{
    snprintf(plain, NAME_SIZE, "%s", name);
    take_suffix(plain, "_ptsz");
    take_suffix(plain, "_ptds");
    size_t length = strlen(plain);
    if (length > 3 && plain[length - 3] == '_' && plain[length - 2] == 'v')
        plain[length - 3] = '\0';
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct function *)a)->name, ((const struct function *)b)->name);
}

/* Fills in the functions of a group, sorted; returns their number. */
static size_t list(enum support_group group, struct function functions[MOST_NAMES])
{
    size_t all = 0, kept = 0;
    for (size_t i = 0; i < groups[group].count; i++) {
        const struct row *row = &groups[group].rows[i];
        if (row->name[0] == '_') continue;
        plain_name(functions[all].name, row->name);
        functions[all++].supported = row->supported;
    }
    qsort(functions, all, sizeof *functions, by_name);
    for (size_t i = 0; i < all; i++) {
        if (kept > 0 && strcmp(functions[kept - 1].name, functions[i].name) == 0)
            functions[kept - 1].supported |= functions[i].supported;
        else
            functions[kept++] = functions[i];
    }
    return kept;
}

struct support_total support_total(enum support_group group)
{
    static struct function functions[MOST_NAMES];
    struct support_total total = {.group = groups[group].group};
    total.all = list(group, functions);
    for (size_t i = 0; i < total.all; i++) total.supported += functions[i].supported;
    return total;
}

void support_write(FILE *out)
{
    static struct function functions[MOST_NAMES];
    for (size_t group = 0; group < SUPPORT_GROUP_COUNT; group++) {
        const struct support_total total = support_total((enum support_group)group);
        size_t count = list((enum support_group)group, functions);
        fprintf(out, "# %zu of %zu %s are supported\n", total.supported, total.all, total.group);
        for (size_t i = 0; i < count; i++)
            fprintf(out, "%-8s %-3s %s\n", groups[group].mark,
                    functions[i].supported ? "yes" : "no", functions[i].name);
    }
}
