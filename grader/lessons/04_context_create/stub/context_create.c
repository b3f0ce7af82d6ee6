/* Lesson 04: README.md in this folder has the idea and the task, lesson.h the contract. */
#include "lesson.h"

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    (void)ordinal;
    (void)input;
    (void)output;
    (void)length;
    (void)work;
    /* Yours to write. As long as this line stands, every check of the lesson fails. */
    return CONTEXT_CREATE_NOT_WRITTEN;
}
