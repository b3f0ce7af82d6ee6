#include "grader/evidence/lesson.h"

#include <stdlib.h>
#include <string.h>

void *run_input_allocate(struct run_input *input, size_t size)
{
    size_t rounded = (size + 63) / 64 * 64;
    input->data = size < SIZE_MAX - 64 ? aligned_alloc(64, rounded > 0 ? rounded : 64) : NULL;
    if (input->data == NULL) return NULL;
    memset(input->data, 0, rounded);
    input->size = size;
    return input->data;
}
