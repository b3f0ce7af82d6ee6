/* The grader on two lessons that need no CUDA, for its own tests. STAND_IN_GPU=1 in the
 * environment: there is a GPU; STAND_IN_RECORDER: what records on it; STAND_IN_CACHE: where built
 * submissions are kept; STAND_IN_CC: the compiler. */
#include "grader/class/class.h"

#include <stdlib.h>

extern const struct lesson lesson_01_sum, lesson_02_twice;

int main(int count, char **arguments)
{
    const struct lesson *const table[] = {&lesson_01_sum, &lesson_02_twice, NULL};
    const char *cache = getenv("STAND_IN_CACHE"), *cc = getenv("STAND_IN_CC"),
               *recorder = getenv("STAND_IN_RECORDER");
    const struct toolchain *configured = toolchain_configured();

    if (configured == NULL) return 2;
    struct toolchain toolchain = *configured;

    toolchain.source = STAND_IN_SOURCE;
    toolchain.lessons = STAND_IN_SOURCE "/judges";
    toolchain.cuda_include = STAND_IN_SOURCE "/device;" PROJECT_SOURCE;
    toolchain.cuda_libraries = STAND_IN_LIBRARIES;
    toolchain.emulator = STAND_IN_LIBRARIES;
    toolchain.probe = getenv("STAND_IN_GPU") != NULL ? STAND_IN_SOURCE "/gpu" : "/bin/false";
    toolchain.cache = cache != NULL ? cache : STAND_IN_CACHE;
    if (cc != NULL) toolchain.cc = cc;
    if (recorder != NULL) toolchain.recorder = recorder;
    return class_main(&toolchain, table, count, arguments);
}
