#include "tests/differential/differential.h"

void diff_memory_cases(struct diff_cases *cases)
{
    (void)cases;
}
