/* Interposes the C library's functions that end the process without the program's handlers of exit
 * and without destructors: failed tests of Check end so. The registered callback is called first.
 * Only in the preloaded library. */
#include "threads/parts.h"

#include <stdlib.h>
#include <unistd.h>

static void (*told)(void); /* NULL: no callback */

/* Found by name with dlsym (emulator/driver/entry/end.c). */
THREADS_PUBLIC void overlap_watch_exits(void (*ends)(void));
THREADS_PUBLIC void overlap_watch_exits(void (*ends)(void))
{
    __atomic_store_n(&told, ends, __ATOMIC_RELEASE);
}

static void tell(void)
{
    void (*ends)(void) = __atomic_load_n(&told, __ATOMIC_ACQUIRE);
    if (ends != NULL) ends();
}

THREADS_PUBLIC _Noreturn void _exit(int status)
{
    THREADS_BEHIND(void, _exit, (int));
    tell();
    real.call(status);
    abort(); /* not reached */
}

THREADS_PUBLIC _Noreturn void _Exit(int status)
{
    _exit(status);
}
