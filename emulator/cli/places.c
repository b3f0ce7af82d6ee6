#include "emulator/cli/places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulator/base/name.h"
#include "trace/lines.h"
#include "trace/sentence.h"

/* Source of the system, the toolkit or the compiler, by folder and by file names that the compiler
 * generates. A call from such source is made on behalf of a caller further out. */
static const char *const not_the_users[] = {
    // clang-format off
    "/usr/include/", "/usr/lib/", "/lib/x86_64-linux-gnu/", "/lib/aarch64-linux-gnu/", "/sysdeps/",
    "/csu/", "/include/c++/", "/usr/local/cuda", "/opt/cuda", "/cu13/include/", "/include/cub/",
    "/include/thrust/", "/include/cuda/", "/include/crt/", "/cuda_runtime.h", "/tmp/tmpxft_",
    "/cudafe1.stub.c", "/libffi.", "<frozen ", NULL,
    // clang-format on
};

/* NVIDIA's libraries of headers: Thrust, CUB and libcu++. */
static const char *const of_libraries[] = {"/include/cub/", "/include/thrust/", "/include/cuda/",
                                           "/cccl/", NULL};
static const char *const library_symbols[] = {"_ZN3cub", "_ZN6thrust", "_ZNK6thrust", "_ZN4cuda",
                                              NULL};

/* What stands between a launch and its call, in whose code it may be. */
static const char *const of_launches[] = {"/include/crt/", "/cuda_runtime.h", "/tmp/tmpxft_",
                                          "/cudafe1.stub.c", NULL};

/* Libraries of the system: their lines are known if their debug information is installed. */
static const char *const of_systems[] = {"/usr/lib/", "/lib/x86_64-linux-gnu/",
                                         "/lib/aarch64-linux-gnu/", NULL};

/* Python packages and Python's own modules; launchers compiled by Triton; output of PyTorch's
 * compiler. */
static const char *const of_packages[] = {"/site-packages/",
                                          "/dist-packages/",
                                          "/lib/python3.",
                                          "/cuda_utils.cpython-",
                                          "/__triton_launcher.",
                                          "/overlap/inductor/",
                                          NULL};

struct process {
    uint32_t number;
    struct trace_lines *lines;
};

struct places {
    const struct trace *trace;
    struct process *processes;
    size_t process_count;
    const struct trace_record **stacks; /* sorted by process and number */
    size_t stack_count;
    const struct trace_record **lines; /* TRACE_LINE records of Python, sorted alike */
    size_t line_count;
    bool lines_missed;
};

static int by_process_and_number(const void *a, const void *b)
{
    const struct trace_record *x = *(const struct trace_record *const *)a;
    const struct trace_record *y = *(const struct trace_record *const *)b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    return (x->object > y->object) - (x->object < y->object);
}

/* Finds the record of a process and number among `count` sorted records; NULL: none. */
static const struct trace_record *find_numbered(const struct trace_record **records, size_t count,
                                                uint32_t process, uint64_t number)
{
    const struct trace_record wanted = {.process = process, .object = number};
    const struct trace_record *key = &wanted;
    const struct trace_record **found =
        bsearch(&key, records, count, sizeof *records, by_process_and_number);
    return found != NULL ? *found : NULL;
}

static const struct process *process_of(const struct places *places, uint32_t number)
{
    for (size_t i = 0; i < places->process_count; i++)
        if (places->processes[i].number == number) return &places->processes[i];
    return NULL;
}

static bool add_module(struct places *places, const struct trace_record *module)
{
    const struct process *process = process_of(places, module->process);
    if (process == NULL) {
        struct process *more =
            realloc(places->processes, (places->process_count + 1) * sizeof *more);
        if (more == NULL) return false;
        places->processes = more;
        struct trace_lines *lines = trace_lines_open();
        if (lines == NULL) return false;
        more[places->process_count] = (struct process){module->process, lines};
        process = &more[places->process_count++];
    }
    trace_lines_add(process->lines, module->text, module->address);
    return true;
}

struct places *places_open(const struct trace *trace)
{
    struct places *places = calloc(1, sizeof *places);
    if (places == NULL) return NULL;
    places->trace = trace;
    places->stacks = calloc(trace->count + 1, sizeof *places->stacks);
    places->lines = calloc(trace->count + 1, sizeof *places->lines);
    if (places->stacks == NULL || places->lines == NULL) goto failed;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_record *r = &trace->records[i];
        if (r->kind == TRACE_MODULE && !add_module(places, r)) goto failed;
        if (r->kind == TRACE_STACK) places->stacks[places->stack_count++] = r;
        if (r->kind == TRACE_LINE) places->lines[places->line_count++] = r;
    }
    qsort(places->stacks, places->stack_count, sizeof *places->stacks, by_process_and_number);
    qsort(places->lines, places->line_count, sizeof *places->lines, by_process_and_number);
    return places;
failed:
    places_close(places);
    return NULL;
}

void places_close(struct places *places)
{
    if (places == NULL) return;
    for (size_t i = 0; i < places->process_count; i++)
        trace_lines_close(places->processes[i].lines);
    free(places->processes);
    free(places->stacks);
    free(places->lines);
    free(places);
}

/* ---- one address ----------------------------------------------------------------------------- */

/* The path relative to the folder that ./emulate was started in, if it is below it. */
static const char *shortened(const char *file)
{
    static char folder[4096];
    if (folder[0] == '\0' && getcwd(folder, sizeof folder) == NULL) return file;
    size_t length = strlen(folder);
    return strncmp(file, folder, length) == 0 && file[length] == '/' ? file + length + 1 : file;
}

static bool is_librarys(const char *symbol)
{
    const char *const *begin = library_symbols;
    while (*begin != NULL && strncmp(symbol, *begin, strlen(*begin)) != 0) begin++;
    return *begin != NULL;
}

/* Returns true for a template of the toolkit's headers compiled into the program:
 * "_Z10cudaMallocIfE...". */
static bool is_toolkits(const char *symbol)
{
    return is_librarys(symbol) ||
           (strncmp(symbol, "_Z", 2) == 0 &&
            strncmp(symbol + 2 + strspn(symbol + 2, "0123456789"), "cuda", 4) == 0);
}

static bool has_one_of(const char *file, const char *const *parts)
{
    while (*parts != NULL && strstr(file, *parts) == NULL) parts++;
    return *parts != NULL;
}

static bool is_users(const char *file)
{
    return !has_one_of(file, not_the_users) && !has_one_of(file, of_packages);
}

/* How well a place is known, in ascending order. */
enum quality { UNKNOWN, SYMBOL, SOMEBODYS_LINE, USERS_SYMBOL, USERS_LINE };

/* Writes "function+offset in file" of what trace_lines_symbol has found, by the name that the
 * source has. */
static void write_symbol(const char *symbol, const char *file, char *text, size_t size)
{
    char mangled[2 * TRACE_TEXT_SIZE], name[TRACE_TEXT_SIZE];
    const char *const offset = strrchr(symbol, '+');
    snprintf(mangled, sizeof mangled, "%.*s",
             (int)(offset != NULL ? (size_t)(offset - symbol) : strlen(symbol)), symbol);
    name_plain(mangled, name, sizeof name);
    snprintf(text, size, "%s%s in %s", name, offset != NULL ? offset : "", shortened(file));
}

/* Writes the place of the call that returns to `address`, looking through inlined functions. */
static enum quality place_of(const struct process *process, uint64_t address, char *text,
                             size_t size)
{
    struct trace_line line[16];
    /* The return address may already belong to the next line: one byte back is inside the call. */
    size_t count = trace_lines_inlined(process->lines, address - 1, line, 16);
    char symbol[2 * TRACE_TEXT_SIZE];
    const char *file = trace_lines_symbol(process->lines, address - 1, symbol, sizeof symbol);
    if (count == 0) {
        if (file == NULL) return UNKNOWN;
        write_symbol(symbol, file, text, size);
        return is_users(file) && !is_toolkits(symbol) ? USERS_SYMBOL : SYMBOL;
    }
    /* Code compiled by a package or the system is never the user's, whatever folder it was compiled
     * in. */
    const bool is_others =
        file != NULL && (has_one_of(file, of_packages) || has_one_of(file, of_systems));
    size_t users = is_others ? count : 0;
    while (users < count && !is_users(line[users].file)) users++;
    const struct trace_line *shown = &line[users < count ? users : 0];
    snprintf(text, size, "%s:%u", shortened(shown->file), shown->line);
    return users < count ? USERS_LINE : SOMEBODYS_LINE;
}

/* Writes the place of a TRACE_LINE. */
static enum quality place_in_python(const struct places *places, const struct process *process,
                                    uint64_t address, char *text, size_t size)
{
    const struct trace_record *line = find_numbered(places->lines, places->line_count,
                                                    process->number, address & ~TRACE_LINE_ADDRESS);
    if (line == NULL) return UNKNOWN;
    snprintf(text, size, "%s:%" PRIu64, shortened(line->text), line->count);
    return is_users(line->text) ? USERS_LINE : SOMEBODYS_LINE;
}

/* Writes the best of several places; of equally good ones the innermost. If the user's code without
 * line information was called from a line of the user's, both are named: the mistake may be in
 * either. */
static enum quality best_place(const struct places *places, const struct process *process,
                               const uint64_t *addresses, size_t count, char *text, size_t size)
{
    enum quality best = UNKNOWN;
    char candidate[2 * TRACE_TEXT_SIZE];
    for (size_t i = 0; i < count && best != USERS_LINE; i++) {
        enum quality quality =
            addresses[i] & TRACE_LINE_ADDRESS
                ? place_in_python(places, process, addresses[i], candidate, sizeof candidate)
                : place_of(process, addresses[i], candidate, sizeof candidate);
        if (quality <= best) continue;
        const size_t used = best == USERS_SYMBOL ? strlen(text) : 0;
        best = quality;
        if (used > 0)
            snprintf(text + used, size - used, ", called at %s", candidate);
        else
            snprintf(text, size, "%s", candidate);
    }
    return best;
}

/* ---- a record -------------------------------------------------------------------------------- */

static enum quality place_known(struct places *places, uint32_t process_number,
                                uint32_t stack_number, uint64_t caller, char *text, size_t size)
{
    uint64_t addresses[TRACE_STACK_DEPTH] = {caller};
    const struct process *process = process_of(places, process_number);
    const struct trace_record *stack =
        find_numbered(places->stacks, places->stack_count, process_number, stack_number);
    size_t count = caller != 0;
    if (process == NULL) return UNKNOWN;
    if (stack != NULL) count = trace_stack_addresses(stack, addresses);
    enum quality quality = best_place(places, process, addresses, count, text, size);
    if (quality == USERS_SYMBOL) places->lines_missed = true;
    return quality;
}

static bool place_call(struct places *places, uint32_t process, uint32_t stack, uint64_t caller,
                       char *text, size_t size)
{
    return place_known(places, process, stack, caller, text, size) != UNKNOWN;
}

bool places_device(const struct trace_record *record, char *text, size_t size)
{
    char place[2 * TRACE_TEXT_SIZE];
    if (!trace_finding_place(record, false, place, sizeof place)) return false;
    snprintf(text, size, "%s", shortened(place));
    return true;
}

const char *places_code(const struct places *places, const struct trace_record *record)
{
    const char *file = trace_finding_word(&record->finding, WORD_FILE);
    for (size_t i = 0; i < places->line_count; i++) {
        const struct trace_record *line = places->lines[i];
        if (line->object == 0 && line->process == record->process &&
            line->count == record->finding.sides[0].line && strcmp(line->text, file) == 0)
            return line->name;
    }
    return "";
}

struct sentence_of {
    struct places *places;
    uint32_t process;
};

/* The stack of the call that created the object, or ended it. */
static uint32_t stack_of_life(const struct sentence_of *of, const struct trace_call *call)
{
    const struct trace *trace = of->places->trace;
    for (size_t i = trace->count; i-- > 0 && call->object != 0;) {
        const struct trace_record *r = &trace->records[i];
        if (r->kind == (call->ended ? TRACE_DESTROY : TRACE_CREATE) && r->process == of->process &&
            r->object == call->object && r->caller == call->address)
            return r->stack;
    }
    return 0;
}

/* Whose code the innermost call is in that is not generated. */
enum owner { NOT_KNOWN, LIBRARYS, SOMEBODYS };

static enum owner owner_of(const struct process *process, uint64_t address)
{
    struct trace_line line[16];
    char symbol[2 * TRACE_TEXT_SIZE];
    const size_t count = trace_lines_inlined(process->lines, address - 1, line, 16);
    for (size_t i = 0; i < count; i++)
        if (!has_one_of(line[i].file, of_launches))
            return has_one_of(line[i].file, of_libraries) ? LIBRARYS : SOMEBODYS;
    if (count > 0 || trace_lines_symbol(process->lines, address - 1, symbol, sizeof symbol) == NULL)
        return NOT_KNOWN;
    return is_librarys(symbol) ? LIBRARYS : is_toolkits(symbol) ? NOT_KNOWN : SOMEBODYS;
}

static bool is_call_of_library(const struct places *places, uint32_t process_number,
                               uint32_t stack_number, uint64_t caller)
{
    uint64_t addresses[TRACE_STACK_DEPTH] = {caller};
    const struct process *process = process_of(places, process_number);
    const struct trace_record *stack =
        find_numbered(places->stacks, places->stack_count, process_number, stack_number);
    size_t count = caller != 0;
    enum owner owner = NOT_KNOWN;
    if (process == NULL) return false;
    if (stack != NULL) count = trace_stack_addresses(stack, addresses);
    for (size_t i = 0; owner == NOT_KNOWN && i < count; i++)
        if (!(addresses[i] & TRACE_LINE_ADDRESS)) owner = owner_of(process, addresses[i]);
    return owner == LIBRARYS;
}

bool places_of_library(const struct places *places, const struct trace_record *record)
{
    const struct trace_side *other = &record->finding.sides[1];
    return is_call_of_library(places, record->process, record->stack, record->caller) &&
           (other->call == 0 ||
            is_call_of_library(places, record->process, other->stack, other->call));
}

/* A record without a stack of its own belongs to an object, so the stack of the creating call is
 * used. */
bool places_call(struct places *places, const struct trace_record *record, char *text, size_t size)
{
    const struct sentence_of of = {places, record->process};
    const struct trace_call made = {.address = record->caller, .object = record->object};
    const uint32_t stack = record->stack != 0 ? record->stack : stack_of_life(&of, &made);
    return place_call(places, record->process, stack, record->caller, text, size);
}

/* Writes the place of a call of which only the return address is known. Inside a template of the
 * toolkit that address says little: the user's line is used only if all recorded stacks that begin
 * there agree on it. */
static bool place_by_caller(const struct sentence_of *of, uint64_t address, char *text, size_t size)
{
    char other[2 * TRACE_TEXT_SIZE];
    bool known = false;
    for (size_t i = 0; i < of->places->stack_count; i++) {
        const struct trace_record *stack = of->places->stacks[i];
        uint64_t addresses[TRACE_STACK_DEPTH];
        if (stack->process != of->process || trace_stack_addresses(stack, addresses) == 0 ||
            addresses[0] != address)
            continue;
        if (!place_call(of->places, of->process, (uint32_t)stack->object, address, other,
                        sizeof other))
            continue;
        if (known && strcmp(other, text) != 0)
            return place_known(of->places, of->process, 0, address, text, size) > SYMBOL;
        snprintf(text, size, "%s", other);
        known = true;
    }
    return known || place_call(of->places, of->process, 0, address, text, size);
}

static bool place_in_sentence(const struct trace_call *call, char *text, size_t size, void *user)
{
    const struct sentence_of *of = user;
    const uint32_t stack = call->stack != 0 ? call->stack : stack_of_life(of, call);
    return stack != 0 ? place_call(of->places, of->process, stack, call->address, text, size)
                      : place_by_caller(of, call->address, text, size);
}

void places_sentence(struct places *places, const struct trace_record *record, char *text,
                     size_t size)
{
    struct sentence_of of = {places, record->process};
    trace_sentence(record, &(struct trace_places){.place = place_in_sentence, .user = &of}, text,
                   size);
}

bool places_lines_missed(const struct places *places)
{
    return places->lines_missed;
}
