#include "lesson.h"

static int twice(int x)
{
    return x;
}
