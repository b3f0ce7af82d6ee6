#include "grader/build/stub.h"
#include "grader/base/files.h"

#include <stdio.h>
#include <string.h>

#define STUB_LIMIT ((size_t)1 << 20) /* bytes of one source file */

int stub_read(const struct toolchain *toolchain, const struct lesson *lesson, const char *name,
              struct text *text)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s/stub/%s", toolchain->lessons, lesson->folder, name);
    return files_read(path, STUB_LIMIT, text);
}

static int read_handed_in(const struct handed_in *handed_in, const char *name, struct text *text)
{
    char path[PATH_MAX + 300];

    snprintf(path, sizeof path, "%s/%s", handed_in->folder, name);
    return files_read(path, STUB_LIMIT, text);
}

bool stub_untouched(const struct toolchain *toolchain, const struct handed_in *handed_in)
{
    const char *const *file = handed_in->lesson->files;
    bool same = true;

    for (; *file != NULL && same; file++) {
        struct text stub = {0}, own = {0};
        same = stub_read(toolchain, handed_in->lesson, *file, &stub) == 0 &&
               read_handed_in(handed_in, *file, &own) == 0 && own.size == stub.size &&
               memcmp(text_string(&own), text_string(&stub), own.size) == 0;
        text_free(&stub);
        text_free(&own);
    }
    return same;
}

void stub_place(const struct handed_in *handed_in, struct place *place)
{
    const char *name = handed_in->lesson->files[0];
    struct text own = {0};

    memset(place, 0, sizeof *place);
    snprintf(place->file, sizeof place->file, "%.150s/%.100s", handed_in->shown, name);
    place->line = 1;
    place->submission = true;
    if (read_handed_in(handed_in, name, &own) == 0) {
        const char *at = strstr(text_string(&own), handed_in->lesson->function);
        for (const char *c = text_string(&own); at != NULL && c < at; c++)
            place->line += *c == '\n';
    }
    text_free(&own);
}
