#include "grader/lessons/table.h"

#define LESSON(name) extern const struct lesson lesson_##name;
#include "grader/lessons/table.def"
#undef LESSON

#define LESSON(name) &lesson_##name,
const struct lesson *const lesson_table[] = {
#include "grader/lessons/table.def"
    NULL};
