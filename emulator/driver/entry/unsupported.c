/* Calls of unsupported functions: each is reported once, with what to use instead. */
#include "emulator/base/hash.h"
#include "emulator/driver/entry/entry.h"
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"

#include <dlfcn.h>
#include <string.h>

/* Who else than NVIDIA's libraries of machine code (findings/libraries.c) asks for the driver's
 * internal tables (cuGetExportTable), by the beginning of the file name. The compilers work without
 * the tables, so nothing is reported for them.
 */
static const struct asker {
    const char *begin;
    enum trace_finding_id finding;
} askers[] = {
    {"libnvrtc", FINDING_NONE},
    {"libnvJitLink", FINDING_NONE},
    {"warp.so", FINDING_UNSUPPORTED_WARP},
};

static enum trace_finding_id finding_for(const char *library)
{
    for (size_t i = 0; i < sizeof askers / sizeof *askers; i++)
        if (strncmp(library, askers[i].begin, strlen(askers[i].begin)) == 0)
            return askers[i].finding;
    const enum trace_finding_id known = finding_of_library(library);
    return known != FINDING_NONE ? known : FINDING_UNSUPPORTED_EXPORT_TABLE;
}

/* The file name of the library that holds `caller`, without its folders. The string belongs to the
 * dynamic linker, which keeps it as long as the library is loaded. */
static const char *library_of(const void *caller)
{
    Dl_info library;
    if (dladdr(caller, &library) == 0 || library.dli_fname == NULL) return "?";
    const char *slash = strrchr(library.dli_fname, '/');
    return slash != NULL ? slash + 1 : library.dli_fname;
}

/* Returns true if `what` has not been reported before. */
static bool is_first(const char *what)
{
    enum { KNOWN = 1024 }; /* more than the unsupported names of both libraries */
    static uint64_t known[KNOWN];
    static size_t count;
    const uint64_t hash = hash_text(what);
    bool first = true;
    driver_lock();
    for (size_t i = 0; i < count && first; i++) first = known[i] != hash;
    if (first && count < KNOWN) known[count++] = hash;
    driver_unlock();
    return first;
}

int overlap_unsupported(const char *name, const void *caller, unsigned flags, int code)
{
    const bool is_table = strcmp(name, "cuGetExportTable") == 0;
    const char *library =
        is_table || strcmp(name, "cudaGetExportTable") == 0 ? library_of(caller) : NULL;
    enum trace_finding_id id = is_table          ? finding_for(library)
                               : library != NULL ? finding_of_library(library)
                                                 : FINDING_NONE;
    if (!is_table && id == FINDING_NONE) {
        id = FINDING_UNSUPPORTED_FUNCTION;
        library = NULL;
    }
    /* Where Warp's runtime has been replaced, it is the compiler inside that asks. */
    if (id == FINDING_UNSUPPORTED_WARP && overlap_runtime_inside != 0) id = FINDING_NONE;
    overlap_call_enter(name, caller, flags);
    if (id != FINDING_NONE && is_first(library != NULL ? library : name)) {
        struct trace_record found = finding_at_call(id, (CUresult)code);
        trace_copy_string(found.name, sizeof found.name, name);
        if (library != NULL) trace_finding_word_set(&found.finding, WORD_FILE, library);
        finding_put(&found);
    }
    return overlap_call_leave(code);
}

void overlap_finding_unsupported(const char *what, int code)
{
    finding_tell(FINDING_UNSUPPORTED, (CUresult)code, "%s", what);
}

void overlap_memory_is_private(const void *bytes, const struct overlap_writers *writers, void *user)
{
    driver_lock();
    const struct memory_region *region = memory_find((uint64_t)(uintptr_t)bytes);
    if (region != NULL) memory_set_private(region, writers, user);
    driver_unlock();
}

void overlap_call_waits(uint32_t who, uint32_t whom)
{
    thread.call.ranked = true;
    thread.call.who = who;
    thread.call.whom = whom;
}

void overlap_finding_misuse(const char *what, int code)
{
    finding_tell(FINDING_COLLECTIVE, (CUresult)code, "%s", what);
}
