/* Two calls of one line, as each instantiation of a template has one: what they did wrong is told
 * once. */
#include "device.h"
#include "lesson.h"

#define TWICE(call)                                                                                \
    call;                                                                                          \
    call

int sum_array(const int *values, size_t count, int *result)
{
    int sum = 0, error;
    uint64_t stream = device_open();

    TWICE(device_open());
    TWICE(device_complain("You read too far."));
    for (size_t i = 0; i < count; i++) sum += values[i];
    error = device_store(stream, result, sum);
    if (error == 0) error = device_wait(stream);
    device_close(stream);
    return error;
}
