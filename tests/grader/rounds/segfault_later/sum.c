#include "device.h"
#include "lesson.h"

/* Right until the fourth time in a process. */
int sum_array(const int *values, size_t count, int *result)
{
    static int calls;
    int sum = 0, error;
    uint64_t stream = device_open();

    for (size_t i = 0; i < count; i++) sum += values[i];
    if (++calls == 4) *(volatile int *)8 = 1;
    error = device_work(stream, 100 * count);
    if (error == 0) error = device_store(stream, result, sum);
    if (error == 0) error = device_wait(stream);
    device_close(stream);
    return error;
}
