#include "grader/sources.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where libdwfl pretends that the library is loaded; any page address will do. */
#define PRETENDED_BASE 0x10000000u

struct sources {
    Dwfl *dwfl;
    Dwfl_Module *module;
    char *shown_folder;
    char *root;
};

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
};

struct sources *sources_open(const char *library, const char *shown_folder, const char *root)
{
    struct sources *sources = calloc(1, sizeof *sources);
    if (sources == NULL) return NULL;
    sources->shown_folder = strdup(shown_folder);
    sources->root = strdup(root);
    sources->dwfl = dwfl_begin(&callbacks);
    if (sources->shown_folder == NULL || sources->root == NULL || sources->dwfl == NULL)
        goto failed;
    dwfl_report_begin(sources->dwfl);
    sources->module = dwfl_report_elf(sources->dwfl, "lesson", library, -1, PRETENDED_BASE, false);
    dwfl_report_end(sources->dwfl, NULL, NULL);
    if (sources->module == NULL) goto failed;
    return sources;
failed:
    sources_close(sources);
    return NULL;
}

void sources_close(struct sources *sources)
{
    if (sources == NULL) return;
    if (sources->dwfl != NULL) dwfl_end(sources->dwfl);
    free(sources->shown_folder);
    free(sources->root);
    free(sources);
}

void sources_file(const struct sources *sources, const char *file, struct place *place)
{
    size_t prefix = strlen(SOURCES_SUBMISSION "/"), root = sources ? strlen(sources->root) : 0;

    if (sources != NULL && strncmp(file, SOURCES_SUBMISSION "/", prefix) == 0) {
        snprintf(place->file, sizeof place->file, "%s/%s", sources->shown_folder, file + prefix);
        place->submission = true;
        return;
    }
    if (root > 0 && strncmp(file, sources->root, root) == 0 && file[root] == '/') file += root + 1;
    snprintf(place->file, sizeof place->file, "%s", file);
}

bool sources_place(const struct sources *sources, uint64_t offset, struct place *place)
{
    int line = 0;

    memset(place, 0, sizeof *place);
    if (sources == NULL) return false;
    Dwarf_Addr address = PRETENDED_BASE + offset;
    Dwfl_Line *found = dwfl_module_getsrc(sources->module, address);
    const char *file = found ? dwfl_lineinfo(found, NULL, &line, NULL, NULL, NULL) : NULL;
    if (file == NULL || line <= 0) return false;
    sources_file(sources, file, place);
    place->line = (unsigned)line;
    const char *function = dwfl_module_addrname(sources->module, address);
    snprintf(place->function, sizeof place->function, "%s", function != NULL ? function : "");
    return true;
}

struct function_search {
    const struct sources *sources;
    const char *name;
    struct place *place;
    bool found;
};

/* dwarf_getfuncs calls this for every function with code in a compilation unit. */
static int look_at_function(Dwarf_Die *die, void *data)
{
    struct function_search *search = data;
    const char *name = dwarf_diename(die), *file = dwarf_decl_file(die);
    int line = 0;

    if (name == NULL || file == NULL || strcmp(name, search->name) != 0) return DWARF_CB_OK;
    if (dwarf_decl_line(die, &line) != 0 || line <= 0) return DWARF_CB_OK;
    struct place place = {.line = (unsigned)line};
    sources_file(search->sources, file, &place);
    if (!place.submission) return DWARF_CB_OK;
    snprintf(place.function, sizeof place.function, "%s", name);
    *search->place = place;
    search->found = true;
    return DWARF_CB_ABORT;
}

bool sources_function(const struct sources *sources, const char *function, struct place *place)
{
    struct function_search search = {.sources = sources, .name = function, .place = place};
    Dwarf_Die *unit = NULL;
    Dwarf_Addr bias;

    memset(place, 0, sizeof *place);
    if (sources == NULL) return false;
    while (!search.found && (unit = dwfl_module_nextcu(sources->module, unit, &bias)) != NULL)
        dwarf_getfuncs(unit, look_at_function, &search, 0);
    return search.found;
}
