#include "grader/build/contract.h"
#include "grader/base/files.h"
#include "grader/base/messages.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_LIMIT ((size_t)1 << 20) /* bytes of a lesson.h */

/* Returns the text behind blanks of all kinds. */
static const char *behind_blanks(const char *at)
{
    while (isspace((unsigned char)*at)) at++;
    return at;
}

/* Editors and git turn the ends of lines, and formatters blanks. */
static bool says_the_same(const char *a, const char *b)
{
    for (;; a++, b++) {
        a = behind_blanks(a);
        b = behind_blanks(b);
        if (*a != *b) return false;
        if (*a == '\0') return true;
    }
}

/* Reads the student's copy. A link is no copy: it may lead to another student's. */
static bool read_copy(const struct handed_in *handed_in, struct text *copy)
{
    const int folder = open(handed_in->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (folder < 0) return false;
    const int status = files_read_at(folder, CONTRACT_FILE, FILE_LIMIT, copy);
    close(folder);
    return status == 0;
}

void contract_note(const struct toolchain *toolchain, const struct handed_in *handed_in,
                   struct text *note)
{
    struct text copy = {0}, own = {0};
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/lessons/%s/" CONTRACT_FILE, toolchain->source,
             handed_in->lesson->folder);
    if (read_copy(handed_in, &copy) && files_read(path, FILE_LIMIT, &own) == 0 &&
        !says_the_same(text_string(&copy), text_string(&own)))
        text_format(note,
                    _("%s/%s differs from the lesson's own, which is what it was compiled with"),
                    handed_in->shown, CONTRACT_FILE);
    text_free(&copy);
    text_free(&own);
}
