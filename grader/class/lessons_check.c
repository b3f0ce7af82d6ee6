#include "grader/class/lessons_check.h"

int lessons_check(const struct toolchain *toolchain, const struct lesson *const *table,
                  const struct options *options)
{
    (void)toolchain;
    (void)table;
    (void)options;
    return 2;
}
