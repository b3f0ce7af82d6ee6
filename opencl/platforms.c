/* Platforms and devices, shown as they are, or as on a machine with several platforms: the devices
 * of the only platform are distributed over several, some of which have none.
 */
#include "opencl/inside.h"

#include <stdio.h>
#include <string.h>

#define MOST 16
#define TEXT 256

typedef cl_int (*platforms_function)(cl_uint, cl_handle *, cl_uint *);
typedef cl_int (*info_function)(cl_handle, cl_uint, size_t, void *, size_t *);
typedef cl_int (*devices_function)(cl_handle, cl_bitfield, cl_uint, cl_handle *, cl_uint *);

static struct {
    unsigned count; /* 0: shown as they are */
    struct shown {
        unsigned first, count;
    } platforms[MOST]; /* their addresses are the handles */
} shown;

void platforms_shape(const char *shape, char *names, size_t size)
{
    unsigned devices = 0;
    size_t length = 0;
    bool in_name = false;

    if (strchr(shape, '|') != NULL) shown.count = 1;
    for (; *shape != '\0' && length + 1 < size; shape++) {
        const bool ends = *shape == '|', blank = ends || *shape == ' ';
        if (!blank && !in_name && shown.count > 0) {
            shown.platforms[shown.count - 1].count++;
            devices++;
        }
        in_name = !blank;
        if (ends && shown.count < MOST) shown.platforms[shown.count++].first = devices;
        names[length++] = ends ? ' ' : *shape;
    }
    names[length] = '\0';
}

/* OpenCL's only platform. */
static cl_handle real_platform(void)
{
    cl_handle platform = NULL;
    platforms_function list;
    layer_take(ROW_clGetPlatformIDs, &list);
    return list(1, &platform, NULL) == CL_SUCCESS ? platform : NULL;
}

static cl_uint real_devices(cl_handle devices[MOST])
{
    cl_uint count = 0;
    devices_function list;
    layer_take(ROW_clGetDeviceIDs, &list);
    if (list(real_platform(), CL_DEVICE_TYPE_ALL, MOST, devices, &count) != CL_SUCCESS) return 0;
    return count < MOST ? count : MOST;
}

static const struct shown *find(cl_handle platform)
{
    for (unsigned i = 0; i < shown.count; i++)
        if (platform == &shown.platforms[i]) return &shown.platforms[i];
    return NULL;
}

cl_handle platforms_real(cl_handle platform)
{
    return find(platform) != NULL ? real_platform() : platform;
}

cl_int platforms_list(cl_uint room, cl_handle *platforms, cl_uint *count)
{
    platforms_function list;
    layer_take(ROW_clGetPlatformIDs, &list);
    if (shown.count == 0) return list(room, platforms, count);
    if ((platforms == NULL && count == NULL) || (platforms != NULL && room == 0))
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; platforms != NULL && i < room && i < shown.count; i++)
        platforms[i] = &shown.platforms[i];
    if (count != NULL) *count = shown.count;
    return CL_SUCCESS;
}

static cl_int answer(const void *text, size_t length, size_t size, void *value, size_t *needed)
{
    if (value != NULL && size < length) return CL_INVALID_VALUE;
    if (value != NULL) memcpy(value, text, length);
    if (needed != NULL) *needed = length;
    return CL_SUCCESS;
}

cl_int platforms_ask(cl_handle platform, cl_uint what, size_t size, void *value, size_t *needed)
{
    const struct shown *asked = find(platform);
    char name[TEXT - 16] = "", text[TEXT];
    info_function ask;

    layer_take(ROW_clGetPlatformInfo, &ask);
    if (shown.count == 0) return ask(platform, what, size, value, needed);
    if (asked == NULL) return CL_INVALID_PLATFORM;
    if (what != CL_PLATFORM_NAME) return ask(real_platform(), what, size, value, needed);
    ask(real_platform(), what, sizeof name - 1, name, NULL);
    snprintf(text, sizeof text, "%s %u", name, (unsigned)(asked - shown.platforms) + 1);
    return answer(text, strlen(text) + 1, size, value, needed);
}

cl_int platforms_devices(cl_handle platform, cl_bitfield type, cl_uint room, cl_handle *devices,
                         cl_uint *count)
{
    const struct shown *asked = find(platform);
    cl_handle real[MOST];
    devices_function list;
    info_function ask;
    cl_uint found = 0;

    layer_take(ROW_clGetDeviceIDs, &list);
    layer_take(ROW_clGetDeviceInfo, &ask);
    if (shown.count == 0) return list(platform, type, room, devices, count);
    if (asked == NULL) return CL_INVALID_PLATFORM;
    if ((devices == NULL && count == NULL) || (devices != NULL && room == 0))
        return CL_INVALID_VALUE;
    const cl_uint there = real_devices(real);
    for (cl_uint i = asked->first; i < asked->first + asked->count && i < there; i++) {
        cl_bitfield is = 0;
        ask(real[i], CL_DEVICE_TYPE, sizeof is, &is, NULL);
        if ((is & type) == 0 && !(type == CL_DEVICE_TYPE_DEFAULT && i == asked->first)) continue;
        if (type == CL_DEVICE_TYPE_DEFAULT && i > asked->first) continue;
        if (devices != NULL && found < room) devices[found] = real[i];
        found++;
    }
    if (found == 0) return CL_DEVICE_NOT_FOUND;
    if (count != NULL) *count = found;
    return CL_SUCCESS;
}

cl_int platforms_ask_device(cl_handle device, cl_uint what, size_t size, void *value,
                            size_t *needed)
{
    const unsigned number = layer_device_number(device);
    size_t *const sizes = value;
    info_function ask;

    layer_take(ROW_clGetDeviceInfo, &ask);
    const cl_int code = ask(device, what, size, value, needed);
    if (shown.count == 0 || value == NULL || code != CL_SUCCESS) return code;
    /* One dimension may be larger than a work-group. */
    if (what == CL_DEVICE_MAX_WORK_ITEM_SIZES && size >= sizeof *sizes) sizes[0] *= 2;
    for (unsigned i = 0; what == CL_DEVICE_PLATFORM && i < shown.count; i++) {
        const cl_handle platform = &shown.platforms[i];
        if (number >= shown.platforms[i].first &&
            number < shown.platforms[i].first + shown.platforms[i].count)
            memcpy(value, &platform, sizeof platform);
    }
    return code;
}

/* ---- functions --------------------------------------------------------------------------------
 */

EXPORT cl_int clGetPlatformIDs(cl_uint room, cl_handle *platforms, cl_uint *count)
{
    struct call call;
    if (!call_begin(&call, ROW_clGetPlatformIDs, CALLER, NULL)) return call_end(&call, call.code);
    return call_end(&call, platforms_list(room, platforms, count));
}

EXPORT cl_int clGetPlatformInfo(cl_handle platform, cl_uint what, size_t size, void *value,
                                size_t *needed)
{
    struct call call;
    if (!call_begin(&call, ROW_clGetPlatformInfo, CALLER, NULL)) return call_end(&call, call.code);
    return call_end(&call, platforms_ask(platform, what, size, value, needed));
}

EXPORT cl_int clGetDeviceIDs(cl_handle platform, cl_bitfield type, cl_uint room, cl_handle *devices,
                             cl_uint *count)
{
    struct call call;
    if (!call_begin(&call, ROW_clGetDeviceIDs, CALLER, NULL)) return call_end(&call, call.code);
    return call_end(&call, platforms_devices(platform, type, room, devices, count));
}

EXPORT cl_int clGetDeviceInfo(cl_handle device, cl_uint what, size_t size, void *value,
                              size_t *needed)
{
    struct call call;
    if (!call_begin(&call, ROW_clGetDeviceInfo, CALLER, NULL)) return call_end(&call, call.code);
    return call_end(&call, platforms_ask_device(device, what, size, value, needed));
}
