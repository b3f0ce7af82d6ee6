/* The preloaded form of threads/, for any program. ./emulate preloads it. */
#include "threads/threads.h"

#include <stdlib.h>
#include <sys/auxv.h>

__attribute__((constructor)) static void begin(void)
{
    const char *order = getenv("OVERLAP_ORDER");
    threads_watch((const void *)(uintptr_t)getauxval(AT_ENTRY), order != NULL ? order : "latest",
                  trace_open_from_environment());
}
