/* fatal: handlers for the signals that end a process (SIGSEGV, SIGABRT, ...), in front of those
 * that the program has installed, and a last call before the process dies of one. This module never
 * decides whether a signal is an error: a handler that does not want it passes it on.
 *
 * Handlers run in the thread that got the signal. They and the last call may do only what is safe
 * there: that thread may hold any lock of the C library.
 */
#ifndef OVERLAP_EMULATOR_BASE_FATAL_H
#define OVERLAP_EMULATOR_BASE_FATAL_H

#include <signal.h>

typedef void fatal_handler(int number, siginfo_t *info, void *state);

/* Installs `handler` in front of the signal's present one, once: later calls for the same signal do
 * nothing. */
void fatal_install(int number, fatal_handler *handler);
/* Does the same for a signal by which others end the process (SIGINT, SIGTERM, ...), if that is
 * what it does now. A second one ends the process at once, during the last call too. */
void fatal_install_for_others(int number);
/* Has `last` called with the signal once the process is certain to die of it: a signal passed on
 * here or ended by fatal_end, where no handler of the program is left or the program's own has
 * restored the default, or one of others. */
void fatal_call_last(void (*last)(int number));

/* For handlers: gives the signal to the handler that was installed before. Without one the process
 * dies of it as soon as the handler returns. */
void fatal_pass_on(int number, siginfo_t *info, void *state);
/* For handlers of a fault: the access is repeated on return, and ends the process. */
void fatal_end(int number);

#endif
