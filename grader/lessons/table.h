/* table: all lessons, in order. The rows are in table.def. */
#ifndef OVERLAP_GRADER_LESSONS_TABLE_H
#define OVERLAP_GRADER_LESSONS_TABLE_H

#include "grader/evidence/judge.h"

/* The lessons; the last entry is NULL. */
extern const struct lesson *const lesson_table[];

#endif
