#include "grader/build/key.h"
#include "grader/build/command.h"
#include "grader/build/intake.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_source(const struct dirent *entry)
{
    const char *name = entry->d_name, *extension = command_extension(name);
    return name[0] != '.' &&
           (command_is_header(name) || strcmp(extension, "c") == 0 || strcmp(extension, "cu") == 0);
}

int key_of(const struct toolchain *toolchain, const struct handed_in *handed_in,
           char key[SHA256_TEXT_SIZE])
{
    struct dirent **entries = NULL;
    struct sha256 hash;
    char path[PATH_MAX + 300], missing[200];
    int status = 0;

    key[0] = '\0';
    sha256_begin(&hash);
    const int count = scandir(handed_in->folder, &entries, is_source, alphasort);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", handed_in->folder, entries[i]->d_name);
        sha256_add_string(&hash, entries[i]->d_name);
        if (sha256_add_file(&hash, path) != 0) status = -1;
        free(entries[i]);
    }
    free(entries);
    if (count < 0 || status != 0 ||
        intake_hash_ours(toolchain, handed_in->lesson, &hash, missing, sizeof missing) != 0)
        return -1;
    sha256_end(&hash, key);
    return 0;
}
