/* hostile: writes garbage over the record of what it did */
/* says: The record of what the program did was written over by the program. */
#include "lesson.h"

#include <stdio.h>
#include <stdlib.h>

int sum_array(const int *values, size_t count, int *result)
{
    const char *path = getenv("OVERLAP_TRACE");
    FILE *trace = path != NULL ? fopen(path, "r+") : NULL;
    (void)values;
    (void)count;
    (void)result;
    for (int i = 0; trace != NULL && i < 100000; i++) fputc(i * 7919 % 251, trace);
    if (trace != NULL) fclose(trace);
    return 0;
}
