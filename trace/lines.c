#include "trace/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace_lines {
    Dwfl *dwfl;
};

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
};

struct trace_lines *trace_lines_open(void)
{
    struct trace_lines *lines = calloc(1, sizeof *lines);
    if (lines == NULL) return NULL;
    lines->dwfl = dwfl_begin(&callbacks);
    if (lines->dwfl == NULL) {
        free(lines);
        return NULL;
    }
    dwfl_report_begin(lines->dwfl);
    dwfl_report_end(lines->dwfl, NULL, NULL);
    return lines;
}

void trace_lines_close(struct trace_lines *lines)
{
    if (lines == NULL) return;
    dwfl_end(lines->dwfl);
    free(lines);
}

bool trace_lines_add(struct trace_lines *lines, const char *path, uint64_t base)
{
    if (lines == NULL) return false;
    dwfl_report_begin_add(lines->dwfl);
    Dwfl_Module *module = dwfl_report_elf(lines->dwfl, path, path, -1, base, true);
    dwfl_report_end(lines->dwfl, NULL, NULL);
    return module != NULL;
}

static Dwfl_Module *module_at(const struct trace_lines *lines, uint64_t address)
{
    return lines != NULL ? dwfl_addrmodule(lines->dwfl, address) : NULL;
}

bool trace_lines_at(const struct trace_lines *lines, uint64_t address, struct trace_line *line)
{
    int number = 0;
    Dwfl_Module *module = module_at(lines, address);
    Dwfl_Line *found = module != NULL ? dwfl_module_getsrc(module, address) : NULL;
    const char *file = found ? dwfl_lineinfo(found, NULL, &number, NULL, NULL, NULL) : NULL;

    memset(line, 0, sizeof *line);
    if (file == NULL || number <= 0) return false;
    const char *function = dwfl_module_addrname(module, address);
    *line = (struct trace_line){file, (unsigned)number, function != NULL ? function : ""};
    return true;
}

/* The line of an inlined call: DW_AT_call_file is an index into the unit's file table. */
static bool call_site(Dwarf_Die *inlined, Dwarf_Die *unit, struct trace_line *line)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, number = 0;
    Dwarf_Files *files = NULL;
    size_t count = 0;

    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &number) != 0 ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count || number == 0)
        return false;
    line->file = dwarf_filesrc(files, file, NULL, NULL);
    line->line = (unsigned)number;
    return line->file != NULL;
}

size_t trace_lines_inlined(const struct trace_lines *lines, uint64_t address,
                           struct trace_line *line, size_t most)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *innermost = NULL, *scopes = NULL;
    size_t count = 1;
    int depth = 0;

    if (most == 0 || !trace_lines_at(lines, address, &line[0])) return 0;
    Dwarf_Die *unit = dwfl_module_addrdie(module_at(lines, address), address, &bias);
    /* Walks from the innermost scope outwards through its parents: the scopes that dwarf_getscopes
     * itself lists behind an inlined function are those of its definition, not of its call. */
    if (unit != NULL && dwarf_getscopes(unit, address - bias, &innermost) > 0)
        depth = dwarf_getscopes_die(&innermost[0], &scopes);
    for (int i = 0; i < depth && count < most; i++) {
        int tag = dwarf_tag(&scopes[i]);
        const char *name = dwarf_diename(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
        if (name != NULL) line[count - 1].function = name;
        if (tag == DW_TAG_subprogram) break;
        line[count] = (struct trace_line){.function = ""};
        if (!call_site(&scopes[i], unit, &line[count])) break;
        count++;
    }
    free(scopes);
    free(innermost);
    return count;
}

const char *trace_lines_symbol(const struct trace_lines *lines, uint64_t address, char *text,
                               size_t size)
{
    GElf_Off offset = 0;
    GElf_Sym symbol;
    Dwfl_Module *module = module_at(lines, address);
    if (module == NULL) return NULL;
    const char *path = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    const char *name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
    if (name != NULL)
        snprintf(text, size, "%s+%llu", name, (unsigned long long)offset);
    else
        snprintf(text, size, "code without a name");
    return path;
}

/* ---- functions ------------------------------------------------------------------------------ */

struct function_search {
    const char *name;
    bool (*visit)(const struct trace_line *declared, void *user);
    void *user;
    bool found;
};

/* Called by dwarf_getfuncs for every function with code in a compilation unit. */
static int look_at_function(Dwarf_Die *die, void *data)
{
    struct function_search *search = data;
    const char *name = dwarf_diename(die), *file = dwarf_decl_file(die);
    int line = 0;

    if (name == NULL || file == NULL || strcmp(name, search->name) != 0) return DWARF_CB_OK;
    if (dwarf_decl_line(die, &line) != 0 || line <= 0) return DWARF_CB_OK;
    struct trace_line declared = {file, (unsigned)line, name};
    search->found = search->visit(&declared, search->user);
    return search->found ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static int look_in_module(Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr start,
                          void *data)
{
    struct function_search *search = data;
    Dwarf_Die *unit = NULL;
    Dwarf_Addr bias;
    (void)user_data, (void)name, (void)start;
    while (!search->found && (unit = dwfl_module_nextcu(module, unit, &bias)) != NULL)
        dwarf_getfuncs(unit, look_at_function, search, 0);
    return search->found ? DWARF_CB_ABORT : DWARF_CB_OK;
}

bool trace_lines_function(const struct trace_lines *lines, const char *function,
                          bool (*visit)(const struct trace_line *declared, void *user), void *user)
{
    struct function_search search = {.name = function, .visit = visit, .user = user};
    if (lines != NULL) dwfl_getmodules(lines->dwfl, look_in_module, &search, 0);
    return search.found;
}
