/* The program behind ./grade. */
#include "grader/base/messages.h"
#include "grader/class/class.h"
#include "grader/lessons/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies the arguments and erases the seed in the originals, because every user can read a
 * process's arguments and the seed is a secret. */
static char **take(int count, char **arguments)
{
    char **copies = calloc((size_t)count + 1, sizeof *copies);

    for (int i = 0; copies != NULL && i < count; i++) {
        copies[i] = strdup(arguments[i]);
        if (copies[i] == NULL) return NULL;
        if (i > 0 &&
            (strncmp(copies[i], "--seed=", 7) == 0 || strcmp(copies[i - 1], "--seed") == 0))
            memset(arguments[i], 'x', strlen(arguments[i]));
    }
    return copies;
}

int main(int count, char **arguments)
{
    const struct toolchain *toolchain = toolchain_configured();
    char **copies = take(count, arguments);

    if (toolchain == NULL) perror("grader: the file grader/toolchain of the build");
    if (toolchain == NULL || copies == NULL) return 2;
    messages_begin(toolchain->catalogues);
    return class_main(toolchain, lesson_table, count, copies);
}
