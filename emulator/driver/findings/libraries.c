/* NVIDIA's libraries that carry machine code only, by the beginning of the file name: what their
 * users can do differs. A library without a symbol table shows that it is such a one when it asks
 * for the driver's internal tables, or when its code is loaded.
 */
#include "emulator/driver/findings/finding.h"

#include <string.h>

static const struct library {
    const char *begin;
    enum trace_finding_id finding;
} libraries[] = {
    {"libcublas", FINDING_UNSUPPORTED_WITHOUT_STANDIN},
    {"libcudnn", FINDING_UNSUPPORTED_CUDNN},
    {"libcufftw", FINDING_UNSUPPORTED_MACHINE_CODE},
    {"libcufft", FINDING_UNSUPPORTED_WITHOUT_STANDIN},
    {"libcurand", FINDING_UNSUPPORTED_WITHOUT_STANDIN},
    {"libcusolverMg", FINDING_UNSUPPORTED_MACHINE_CODE},
    {"libcusolver", FINDING_UNSUPPORTED_WITHOUT_STANDIN},
    {"libcusparseLt", FINDING_UNSUPPORTED_MACHINE_CODE},
    {"libcusparse", FINDING_UNSUPPORTED_WITHOUT_STANDIN},
    {"libcutensor", FINDING_UNSUPPORTED_MACHINE_CODE},
    {"libnccl", FINDING_UNSUPPORTED_WITHOUT_STANDIN},
    {"libnpp", FINDING_UNSUPPORTED_MACHINE_CODE},
    {"libnvjpeg", FINDING_UNSUPPORTED_MACHINE_CODE},
};

enum trace_finding_id finding_of_library(const char *file)
{
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strncmp(file, libraries[i].begin, strlen(libraries[i].begin)) == 0)
            return libraries[i].finding;
    return FINDING_NONE;
}
