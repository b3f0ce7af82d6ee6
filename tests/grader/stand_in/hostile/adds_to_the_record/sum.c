/* hostile: does the work, and adds an entry to the record of it */
/* says: The record is forged: its entries are not those that the device wrote. */
#include "device.h"
#include "lesson.h"

#include <stdio.h>
#include <string.h>

/* As trace/trace.c has it. */
struct header {
    uint64_t magic;
    uint32_t version, record_size, capacity, kinds;
    uint64_t appended;
};
#define SETTING 8 /* "a fact about the device" */

static void add(struct header *header)
{
    char *records = (char *)(header + 1);
    *(uint32_t *)(void *)(records + header->appended++ * header->record_size) = SETTING;
}

int sum_array(const int *values, size_t count, int *result)
{
    int sum = 0, error;
    uint64_t stream = device_open();
    char line[512];
    unsigned long start, end;
    FILE *maps = fopen("/proc/self/maps", "r");

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "record") != NULL && sscanf(line, "%lx-%lx", &start, &end) == 2) {
            add((struct header *)start);
            break;
        }
    if (maps != NULL) fclose(maps);
    for (size_t i = 0; i < count; i++) sum += values[i];
    error = device_work(stream, 100 * count);
    if (error == 0) error = device_store(stream, result, sum);
    if (error == 0) error = device_wait(stream);
    device_close(stream);
    return error;
}
