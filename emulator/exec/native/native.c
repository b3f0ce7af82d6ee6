/* Decides when a function is hot, has it compiled, and owns the machine code. */
#include "emulator/exec/native/native.h"

#include "emulator/exec/native/private.h"
#include "emulator/exec/warp.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    /* Warp instructions of a function after which it is compiled: at least ENOUGH, and ENOUGH_EACH
     * for each of its instructions. They take a third of the time that compiling does, since a
     * function that has run for long mostly goes on for long. */
    ENOUGH = 16 << 20,
    ENOUGH_EACH = 256 << 10,
    /* After 1/LOOK_PART as many it is looked for among the code that earlier runs have left; what
     * earlier runs executed counts as well. */
    LOOK_PART = 16,
    /* Versions for other warps are made after 1/OTHERS_EACH as many entries into regions whose code
     * does not serve the warp. */
    OTHERS_EACH = 32,
    /* An entry by a lone lane counts as so many: its code is made quickly and gains most. */
    LONE_IS = 64,
    /* For the same reason the code for lone lanes is made, on its own, after 1/LONE_PART as many
     * instructions executed by lone lanes. */
    LONE_PART = 4,
    MOST_CODE = 4000, /* instructions of a function that is compiled */
    NAME_ROOM = 32,
};

static struct {
    enum exec_native_use use;
    pthread_mutex_t lock; /* held while a function is compiled, and for good once LLVM ends */
    bool ends;            /* close_for_good will be called at exit */
} native = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The code of all or some regions of a function. */
struct code {
    struct code *next;
    struct native_code *linked;
};

/* What code is made for. */
enum aim { FOR_WARPS = EXEC_HEATED_WARPS, FOR_LONE = EXEC_HEATED_LONE, FOR_OTHERS, AIMS };

/* The search for code that an earlier run has left. */
struct search {
    bool over; /* there is none */
    struct native_key key;
    uint64_t before; /* how much earlier runs have done without it */
};

/* The machine code of one function. */
struct exec_native {
    struct exec_native *next;
    const struct exec_function *function;
    struct exec_function plain; /* a copy: the original handlers, branches inside the copy */
    struct exec_inst *code;     /* of the copy */
    struct native_region *regions;
    size_t count;
    bool *leads;
    struct code *made;
    bool whole;              /* the code for full warps exists: atomic */
    unsigned parts;          /* of a warp, for steps: 1 or NATIVE_HALVES */
    uint64_t others, enough; /* entries by other warps, and how many cause code */
    struct search searches[AIMS];
};

static exec_handler run_others;

/* ---- compiling a function -------------------------------------------------------------------- */

static void name_region(char name[NAME_ROOM], const struct native_region *region)
{
    snprintf(name, NAME_ROOM, "native_%u", (unsigned)region->enter);
}

static bool optimise(struct native_unit *unit, const struct native_region *regions, size_t count,
                     struct native_names *called)
{
    char name[NAME_ROOM];
    if (!native_pass(unit->llvm, unit->module, NATIVE_INLINE) ||
        !native_shared_take(unit->llvm, unit->module, called) ||
        !native_pass(unit->llvm, unit->module, NATIVE_SIMPLIFY))
        return false;
    for (size_t k = 0; k < count; k++) {
        name_region(name, &regions[k]);
        LLVMValueRef function = unit->llvm->GetNamedFunction(unit->module, name);
        if (function != NULL) native_polish(unit, function);
    }
    return native_optimise(unit->llvm, unit->context, unit->module);
}

/* Makes the object of the unit's module, unless an earlier run has left it. `kept`: only if one
 * has. */
static bool make_object(struct native_unit *unit, const struct native_region *regions, size_t count,
                        bool kept, struct native_object *object)
{
    static const struct native_names none = {.list = NULL};
    const struct llvm *llvm = unit->llvm;
    const struct native_key *key = &unit->key;
    const bool known =
        native_store_is_used() && native_key_of(llvm, unit->module, &none, &unit->key);
    if (known && native_store_find(llvm, key, object)) {
        if (native_shared_find(llvm, &object->called, unit->symbols)) return true;
        native_object_end(llvm, object);
    }
    if (kept || !optimise(unit, regions, count, &object->called)) return false;
    object->code = native_emit(llvm, unit->module);
    if (object->code == NULL || !native_shared_find(llvm, &object->called, unit->symbols))
        return false;
    if (known) native_store_keep(llvm, key, object);
    return true;
}

/* Makes the module's code executable and sets the regions' addresses. */
static struct native_code *make_code(struct native_unit *unit, struct native_region *regions,
                                     size_t count, bool kept)
{
    const struct llvm *llvm = unit->llvm;
    struct native_object object = {.code = NULL};
    struct native_code *linked = NULL;
    char name[NAME_ROOM];
    if (make_object(unit, regions, count, kept, &object))
        linked = native_link(llvm->GetBufferStart(object.code), llvm->GetBufferSize(object.code),
                             unit->symbols);
    for (size_t k = 0; k < count && linked != NULL; k++) {
        name_region(name, &regions[k]);
        if (llvm->GetNamedFunction(unit->module, name) != NULL)
            regions[k].address = native_address(linked, name);
    }
    native_object_end(llvm, &object);
    return linked;
}

/* Returns, per instruction, whether it is lane arithmetic that is inlined. The caller frees the
 * array; NULL: no memory. */
static bool *find_in_line(const struct native_unit *unit)
{
    const struct exec_function *function = unit->function;
    bool *in_line = calloc(function->code_count + 1, sizeof *in_line);
    for (size_t k = 0; k < function->code_count && in_line != NULL; k++)
        in_line[k] =
            native_kind(&function->code[k]) == NATIVE_LANES &&
            native_row_function(unit->llvm, &unit->rows, native_row_handler(&function->code[k]),
                                NATIVE_WHOLE) != NULL;
    return in_line;
}

/* `stepped`: makes the first version of all regions; else the other versions that are wanted but
 * not made. */
static bool translate(struct native_unit *unit, struct native_region *regions, size_t count,
                      bool stepped)
{
    char name[NAME_ROOM];
    bool *in_line = find_in_line(unit), fine = false;
    if (in_line == NULL || !native_live_find(unit->function, &unit->live)) goto out;
    fine = native_steps_find(unit->function, &unit->live, in_line, &unit->steps);
    if (!fine) goto steps;
    unit->regions = regions;
    unit->region_count = count;
    fine = native_steps_want(&unit->steps, regions, count);
    for (size_t k = 0; k < count && fine; k++) {
        const unsigned wanted = __atomic_load_n(&regions[k].wanted, __ATOMIC_RELAXED);
        regions[k].address = 0;
        if (!stepped && wanted == regions[k].made) continue;
        name_region(name, &regions[k]);
        regions[k].making = wanted;
        fine = native_translate(unit, &regions[k], stepped ? NATIVE_STEPPED : wanted, run_others,
                                name);
    }
    native_steps_forget(regions, count);
    native_steps_end(&unit->steps);
steps:
    native_live_end(&unit->live);
out:
    free(in_line);
    return fine;
}

/* Returns the regions' code; NULL: it could not be made or, with `kept`, is not there. */
static struct native_code *code_of(struct native_unit *unit, struct native_region *regions,
                                   size_t count, bool stepped, bool kept)
{
    /* Another thread may ask for a version for lone lanes meanwhile, so their rows are always
     * read. */
    unit->module =
        native_rows_read(unit->llvm, unit->context, unit->function, !stepped, &unit->rows);
    if (unit->module == NULL) return NULL;
    unit->builder = unit->llvm->CreateBuilderInContext(unit->context);
    struct native_code *linked = NULL;
    if (translate(unit, regions, count, stepped) && !unit->symbols->failed)
        linked = make_code(unit, regions, count, kept);
    unit->llvm->DisposeBuilder(unit->builder);
    unit->llvm->DisposeModule(unit->module);
    native_rows_end(&unit->rows);
    return linked;
}

static void forget_code(struct code *code)
{
    native_unlink(code->linked);
    free(code);
}

/* Adds code to the function. Returns false when it could not be made. `search`: only if an earlier
 * run has left it; if not, its key is set. NULL: anyhow. */
static bool make_more(struct exec_native *made, bool stepped, struct search *search)
{
    const struct llvm *llvm = exec_llvm();
    struct code *code = calloc(1, sizeof *code);
    struct native_symbols symbols = {.list = NULL};
    struct native_unit unit = {.llvm = llvm,
                               .function = &made->plain,
                               .code = made->function->code,
                               .symbols = &symbols,
                               .leads = made->leads,
                               .parts = made->parts};
    if (code == NULL) return false;
    unit.context = llvm->ContextCreate();
    code->linked = code_of(&unit, made->regions, made->count, stepped, search != NULL);
    llvm->ContextDispose(unit.context);
    native_symbols_end(&symbols);
    if (search != NULL) search->key = unit.key;
    if (code->linked == NULL) {
        free(code);
        return false;
    }
    code->next = made->made;
    made->made = code;
    return true;
}

static exec_handler *handler_at(uint64_t address)
{
    exec_handler *run;
    memcpy(&run, &address, sizeof run);
    return run;
}

/* Makes the regions' first instructions run their machine code. Other threads may be running the
 * function: each sees the old handler or the new one, which do the same. */
static void install(const struct exec_native *made)
{
    for (size_t k = 0; k < made->count; k++) {
        const struct exec_inst *inst = &made->function->code[made->regions[k].enter];
        if (made->regions[k].address == 0) continue;
        __atomic_store_n(&((struct exec_inst *)(uintptr_t)inst)->run,
                         handler_at(made->regions[k].address), __ATOMIC_RELEASE);
    }
}

static void forget(struct exec_native *made)
{
    if (made == NULL) return;
    while (made->made != NULL) {
        struct code *first = made->made;
        made->made = first->next;
        forget_code(first);
    }
    free(made->code);
    free(made->regions);
    free(made->leads);
    free(made);
}

/* Copies a function. The copy keeps the original handlers when install() replaces those of the
 * function. */
static struct exec_native *copy(const struct exec_function *function)
{
    struct exec_native *made = calloc(1, sizeof *made);
    if (made == NULL) return NULL;
    *made = (struct exec_native){.function = function, .plain = *function};
    made->code = malloc((function->code_count + 1) * sizeof *made->code);
    if (made->code == NULL) {
        free(made);
        return NULL;
    }
    memcpy(made->code, function->code, function->code_count * sizeof *made->code);
    made->plain.code = made->code;
    for (size_t k = 0; k < function->code_count; k++)
        if (native_kind(&made->code[k]) == NATIVE_BRANCH)
            made->code[k].extra = made->code + native_target(function, &made->code[k]);
    return made;
}

/* Returns how many instructions of a function, or entries by other warps, cause code. */
static uint64_t enough_of(const struct exec_function *function, enum aim aim)
{
    const uint64_t each = (uint64_t)function->code_count * ENOUGH_EACH;
    const uint64_t enough = function->heat->always ? 0 : each > ENOUGH ? each : ENOUGH;
    return aim == FOR_OTHERS ? enough / OTHERS_EACH : aim == FOR_LONE ? enough / LONE_PART : enough;
}

/* The same, before it has been looked for what earlier runs have left. */
static uint64_t enough_to_look(const struct exec_function *function, enum aim aim)
{
    const uint64_t enough = enough_of(function, aim);
    return native_store_is_used() ? enough / LOOK_PART : enough;
}

/* Prepares a function for its first machine code. Returns NULL when it has no region or memory is
 * lacking. */
static struct exec_native *begin(const struct exec_function *function)
{
    struct exec_heat *heat = function->heat;
    struct exec_native *made = copy(function);
    if (made == NULL ||
        !native_regions(&made->plain, heat->always, &made->regions, &made->count, &made->leads) ||
        made->count == 0) {
        forget(made);
        return NULL;
    }
    made->enough = enough_to_look(function, FOR_OTHERS);
    for (size_t k = 0; k < made->count; k++) made->regions[k].others = run_others;
    made->next = function->program->native;
    function->program->native = made;
    heat->native = made;
    return made;
}

/* Makes and publishes the wanted other versions. Returns false when they could not be made. */
static bool make_others(struct exec_native *made, struct search *search)
{
    if (!make_more(made, false, search)) return false;
    for (size_t k = 0; k < made->count; k++) {
        struct native_region *region = &made->regions[k];
        if (region->address == 0) continue;
        region->made = region->making;
        __atomic_store_n(&region->others, handler_at(region->address), __ATOMIC_RELEASE);
    }
    return true;
}

/* Makes code for lone lanes only; all other warps are interpreted as before. */
static bool make_lone(struct exec_native *made, struct search *search)
{
    for (size_t k = 0; k < made->count; k++)
        __atomic_store_n(&made->regions[k].wanted, NATIVE_LONE, __ATOMIC_RELAXED);
    if (!make_others(made, search)) return false;
    install(made);
    return true;
}

static bool make_whole(struct exec_native *made, struct search *search)
{
    if (!make_more(made, true, search)) return false;
    install(made);
    __atomic_store_n(&made->whole, true, __ATOMIC_RELAXED);
    return true;
}

static bool (*const make[AIMS])(struct exec_native *made, struct search *search) = {
    [FOR_WARPS] = make_whole, [FOR_LONE] = make_lone, [FOR_OTHERS] = make_others};

/* Makes code after `count` instructions or entries, or looks for it if these are not enough yet.
 * Returns after how many to try again: UINT64_MAX for never, 0 when there is code now. */
static uint64_t make_if_enough(struct exec_native *made, enum aim aim, uint64_t count)
{
    struct search *search = &made->searches[aim];
    const uint64_t enough = enough_of(made->function, aim);
    if (search->before + count < enough && !search->over) {
        if (make[aim](made, search)) return 0;
        search->over = true;
        search->before = native_store_done(&search->key);
    }
    if (search->before + count >= enough) return make[aim](made, NULL) ? 0 : UINT64_MAX;
    native_store_add(&search->key, search->before + count);
    const uint64_t twice = 2 * count, rest = enough - search->before;
    return twice < rest ? twice : rest;
}

static struct native_region *region_at(const struct exec_native *made, size_t enter)
{
    size_t low = 0, high = made->count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        *(made->regions[middle].enter <= enter ? &low : &high) = middle;
    }
    return &made->regions[low];
}

static void make_for_others(struct exec_native *made, uint64_t others)
{
    uint64_t enough = make_if_enough(made, FOR_OTHERS, others);
    if (enough == 0) {
        made->searches[FOR_OTHERS] = (struct search){.over = false};
        __atomic_store_n(&made->others, 0, __ATOMIC_RELAXED);
        enough = enough_to_look(made->function, FOR_OTHERS);
    }
    __atomic_store_n(&made->enough, enough, __ATOMIC_RELAXED);
}

/* The handler for a warp that no version of the region serves: requests the version, makes wanted
 * versions once there have been enough requests, and interprets this time. */
static int run_others(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_function *function = warp->frame->function;
    struct exec_native *made = function->heat->native;
    const size_t index = (size_t)(inst - function->code);
    if (!__atomic_load_n(&made->whole, __ATOMIC_RELAXED)) return made->code[index].run(warp, inst);
    struct native_region *region = region_at(made, index);
    /* When some lanes are active, they may diverge until one runs alone. */
    const unsigned version = (warp->mask & (warp->mask - 1)) == 0 ? NATIVE_LONE
                             : warp->full                         ? NATIVE_FULL
                                                                  : NATIVE_PARTLY | NATIVE_LONE;
    const uint64_t others =
        __atomic_load_n(&made->others, __ATOMIC_RELAXED) + (version == NATIVE_LONE ? LONE_IS : 1);
    __atomic_store_n(&made->others, others, __ATOMIC_RELAXED);
    if ((__atomic_load_n(&region->wanted, __ATOMIC_RELAXED) & version) != version)
        __atomic_fetch_or(&region->wanted, version, __ATOMIC_RELAXED);
    if (others >= __atomic_load_n(&made->enough, __ATOMIC_RELAXED) &&
        !pthread_mutex_trylock(&native.lock)) {
        if (region->made != __atomic_load_n(&region->wanted, __ATOMIC_RELAXED))
            make_for_others(made, others);
        pthread_mutex_unlock(&native.lock);
    }
    return made->code[index].run(warp, inst);
}

/* At the process's end LLVM's objects are destroyed like those of any library, while kernels may
 * still run: those that nobody waited for, and those that destructors of the program launch. Code
 * that exists stays good. */
static void close_for_good(void)
{
    enum { PATIENCE_S = 10 }; /* in case LLVM itself ends the process while it compiles */
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_clocklock(&native.lock, CLOCK_MONOTONIC, &until);
}

static void hot(const struct exec_function *function, enum exec_heated by, uint32_t row_lanes)
{
    struct exec_heat *heat = function->heat;
    if (pthread_mutex_trylock(&native.lock))
        return; /* another function is being compiled: try again later */
    if (heat->always) by = EXEC_HEATED_WARPS;
    if (__atomic_load_n(&heat->enough[by], __ATOMIC_RELAXED) != UINT64_MAX) {
        struct exec_native *made = heat->native;
        if (made == NULL && exec_llvm() != NULL) made = begin(function);
        uint64_t enough = UINT64_MAX;
        if (made != NULL) {
            made->parts = row_lanes == EXEC_LANES ? 1 : NATIVE_HALVES;
            enough = make_if_enough(made, (enum aim)by, heat->executed[by]);
        }
        __atomic_store_n(&heat->enough[by], enough == 0 ? UINT64_MAX : enough, __ATOMIC_RELAXED);
        /* Handlers of exit are called in reverse order: this one before LLVM's. */
        if (made != NULL && !native.ends) native.ends = atexit(close_for_good) == 0;
    }
    pthread_mutex_unlock(&native.lock);
}

/* ---- the interface --------------------------------------------------------------------------- */

void exec_native_use(enum exec_native_use use)
{
    native.use = use;
}

size_t exec_native_stretches(const struct exec_program *program)
{
    size_t count = 0;
    for (const struct exec_native *at = program->native; at != NULL; at = at->next)
        count += at->made != NULL ? at->count : 0;
    return count;
}

void exec_native_watch(struct exec_program *program, struct exec_function *function)
{
    if (native.use == EXEC_NATIVE_OFF || function->code_count > MOST_CODE) return;
    struct exec_heat *heat = arena_take(&program->arena, 1, sizeof *heat);
    if (heat == NULL) return;
    *heat = (struct exec_heat){.always = native.use == EXEC_NATIVE_ALWAYS, .hot = hot};
    function->heat = heat;
    for (enum exec_heated by = 0; by < EXEC_HEATED; by++)
        heat->enough[by] = enough_to_look(function, (enum aim)by);
}

void exec_native_end(struct exec_program *program)
{
    while (program->native != NULL) {
        struct exec_native *first = program->native;
        program->native = first->next;
        forget(first);
    }
}
