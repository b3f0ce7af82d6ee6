#include "grader/evidence/lesson.h"
#include "trace/large.h"

void *run_input_allocate(struct run_input *input, size_t size)
{
    input->data = large_take(size);
    if (input->data == NULL) return NULL;
    input->size = size;
    return input->data;
}
