#include "emulator/base/fatal.h"

#include <stdbool.h>
#include <stddef.h>

enum { SIGNALS = 32 };

static struct {
    struct sigaction before[SIGNALS];
    bool installed[SIGNALS];
    void (*last)(int number);
} fatal;

void fatal_install(int number, fatal_handler *handler)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (fatal.installed[number]) return;
    sigemptyset(&action.sa_mask);
    fatal.installed[number] = sigaction(number, &action, &fatal.before[number]) == 0;
}

void fatal_call_last(void (*last)(int number))
{
    fatal.last = last;
}

static bool is_default(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
           now.sa_handler == SIG_DFL;
}

void fatal_end(int number)
{
    if (fatal.last != NULL) fatal.last(number);
    signal(number, SIG_DFL);
}

static void end_for_others(int number)
{
    fatal_end(number);
    raise(number);
}

void fatal_install_for_others(int number)
{
    struct sigaction action = {.sa_handler = end_for_others,
                               .sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    if (!fatal.installed[number] && is_default(number))
        fatal.installed[number] = sigaction(number, &action, NULL) == 0;
}

void fatal_pass_on(int number, siginfo_t *info, void *state)
{
    const struct sigaction *before = &fatal.before[number];
    const bool sent = info->si_code <= 0;
    if (!(before->sa_flags & SA_SIGINFO) &&
        (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN)) {
        /* Ignoring a fault would repeat it for ever, so SIG_IGN is treated as SIG_DFL, as the
         * kernel does. A signal that a process sent may be ignored; it is not raised again by
         * itself. */
        if (sent && before->sa_handler == SIG_IGN) return;
        fatal_end(number);
        if (sent) raise(number);
        return;
    }
    if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(number, info, state);
    else
        before->sa_handler(number);
    /* Handlers that report a crash restore the default, and raise the signal again or return to
     * what raised it. */
    if (is_default(number) && fatal.last != NULL) fatal.last(number);
}
