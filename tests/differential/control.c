#include "tests/differential/differential.h"

void diff_control_cases(struct diff_cases *cases)
{
    (void)cases;
}
