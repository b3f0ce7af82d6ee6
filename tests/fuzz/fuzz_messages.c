/* Arbitrary bytes as a compiler's messages about a student's files. */
#include "grader/build/compiler_messages.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const files[] = {"streams.c", "streams.cu", NULL};
    static const struct lesson lesson = {.files = files};
    static const struct handed_in handed_in = {.lesson = &lesson, .shown = "lessons/02_streams"};
    struct compiled result = {0};
    compiler_messages_explain(&handed_in, (const char *)bytes, size, &result);
    if (!result.what[0] || !result.place.file[0]) abort(); /* nothing to say to the student */
    if (result.said && strpbrk(result.said, "\033\b\r")) abort(); /* a terminal would obey */
    free(result.said);
    return 0;
}
