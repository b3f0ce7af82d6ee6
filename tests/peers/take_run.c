/* For compute_sanitizer.sh, in place of the runner: saves what the grader passes to a run, and runs
 * nothing. One process, because the grader allows no more.
 *
 *   take_run LIBRARY AT [keep]
 *
 * Writes LIBRARY to AT.path; with `keep` also the input, the output as it was passed, the settings
 * and the library path, into a folder AT.run.NUMBER. */
#include "grader/child/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int keep(const char *folder, const char *name, const char *bytes, size_t size)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    if (file == NULL) return -1;
    const size_t written = fwrite(bytes, 1, size, file);
    return fclose(file) == 0 && written == size ? 0 : -1;
}

static int keep_descriptor(const char *folder, const char *name, int descriptor)
{
    struct stat status;

    if (fstat(descriptor, &status) != 0) return -1;
    const size_t size = (size_t)status.st_size;
    char *bytes = malloc(size + 1);
    int result = bytes != NULL ? 0 : -1;
    for (size_t at = 0; result == 0 && at < size;) {
        const ssize_t n = pread(descriptor, bytes + at, size - at, (off_t)at);
        if (n <= 0) result = -1;
        at += n > 0 ? (size_t)n : 0;
    }
    if (result == 0) result = keep(folder, name, bytes, size);
    free(bytes);
    return result;
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        int descriptor;
    } handed[] = {{"control", CONTROL_FD},
                  {"input", CONTROL_INPUT_FD},
                  {"output", CONTROL_OUTPUT_FD},
                  {"settings", CONTROL_SETTINGS_FD}};
    char path[4096];

    if (count < 3) return 2;
    snprintf(path, sizeof path, "%s.path", arguments[2]);
    FILE *file = fopen(path, "we");
    if (file == NULL) return 2;
    fprintf(file, "%s\n", arguments[1]);
    fclose(file);
    if (count == 3) return 0;
    snprintf(path, sizeof path, "%s.run.%d", arguments[2], (int)getpid());
    if (mkdir(path, 0777) != 0) return 2;
    for (size_t i = 0; i < sizeof handed / sizeof *handed; i++)
        if (keep_descriptor(path, handed[i].name, handed[i].descriptor) != 0) return 2;
    const char *search = getenv("LD_LIBRARY_PATH");
    if (search == NULL) search = "";
    return keep(path, "library_path", search, strlen(search)) == 0 ? 0 : 2;
}
