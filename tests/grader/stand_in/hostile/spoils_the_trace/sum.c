/* hostile: writes garbage over the record of what it did */
/* says: The record of what the program did was written over by the program. */
#include "lesson.h"

#include <stdio.h>
#include <string.h>

int sum_array(const int *values, size_t count, int *result)
{
    char line[512];
    unsigned long start, end;
    FILE *maps = fopen("/proc/self/maps", "r");
    (void)values;
    (void)count;
    (void)result;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "record") != NULL && sscanf(line, "%lx-%lx", &start, &end) == 2)
            for (unsigned long i = 0; i < 100000; i++)
                ((volatile char *)start)[i] = (char)(i * 7919 % 251);
    if (maps != NULL) fclose(maps);
    return 0;
}
