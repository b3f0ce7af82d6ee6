#include "emulator/driver/core/core.h"
#include "trace/gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before the environment is read, one default device exists. */
static struct {
    struct device all[MEMORY_DEVICES];
    unsigned there;
    int visible[MEMORY_DEVICES]; /* indices into `all` */
    int count;
} devices = {.there = 1, .count = 1};

int devices_count(void)
{
    return devices.count;
}

const struct device *device_at(int ordinal)
{
    return &devices.all[devices.visible[ordinal]];
}

const struct device *device_there(unsigned number)
{
    return number < devices.there ? &devices.all[number] : NULL;
}

int device_current(void)
{
    const struct context *context = thread_context();
    return context != NULL ? context->device : 0;
}

/* ---- OVERLAP_DEVICES ------------------------------------------------------------------------- */

static bool add(size_t gpu, bool named, bool made_up, uint64_t memory)
{
    if (devices.there == MEMORY_DEVICES) return false;
    devices.all[devices.there] = (struct device){
        .number = devices.there, .gpu = gpu, .named = named, .made_up = made_up, .memory = memory};
    devices.there++;
    return true;
}

/* "a100", "a100:2G", or "a100+:2G". */
static bool add_named(const char *text, size_t length, uint64_t memory)
{
    char name[32], *size;
    if (length >= sizeof name) return false;
    memcpy(name, text, length);
    name[length] = '\0';
    if ((size = strchr(name, ':')) != NULL) {
        *size++ = '\0';
        if (!environment_memory(size, &memory)) return false;
    }
    char *const plus = strchr(name, '+');
    if (plus != NULL && plus[1] != '\0') return false;
    if (plus != NULL) *plus = '\0';
    for (size_t gpu = 0; timeline_model_name(gpu) != NULL; gpu++)
        if (strcmp(timeline_model_name(gpu), name) == 0)
            return add(gpu, true, plus != NULL, memory);
    return false;
}

static bool read_there(const char *text, uint64_t memory, size_t gpu)
{
    char *end;
    const unsigned long number = strtoul(text, &end, 10);
    devices.there = 0;
    if (*end == '\0' && *text >= '0' && *text <= '9') {
        for (unsigned long i = 0; i < number; i++)
            if (!add(gpu, false, false, memory)) return false;
        return true;
    }
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        if (!add_named(at, length, memory)) return false;
        at += length;
        if (*at == '\0') return true;
    }
}

/* ---- CUDA_VISIBLE_DEVICES -------------------------------------------------------------------- */

/* The index of the device that `text` names: a number such as "3", or a prefix of the UUID of
 * exactly one device. -1: `text` names no device. */
static int named_by(const char *text, size_t length)
{
    int found = -1;
    for (unsigned i = 0; i < devices.there; i++) {
        char number[12], uuid[48];
        snprintf(number, sizeof number, "%u", i);
        snprintf(uuid, sizeof uuid, "GPU-4f766572-6c61-7000-6465-7669636520%02x", '0' + i);
        if (length == strlen(number) && strncmp(text, number, length) == 0) return (int)i;
        if (length <= 4 || length > strlen(uuid) || strncmp(text, uuid, length) != 0) continue;
        if (found >= 0) return -1;
        found = (int)i;
    }
    return found;
}

/* The list ends at its first entry that names no device. Naming a device twice is an error of its
 * own (as with an H100's driver). */
static CUresult read_visible(const char *text)
{
    devices.count = 0;
    if (text == NULL) {
        while ((unsigned)devices.count < devices.there) {
            devices.visible[devices.count] = devices.count;
            devices.count++;
        }
        return devices.count > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
    }
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        const int index = named_by(at, length);
        if (index < 0) break;
        for (int i = 0; i < devices.count; i++)
            if (devices.visible[i] == index) return CUDA_ERROR_INVALID_DEVICE;
        devices.visible[devices.count++] = index;
        at += length;
        if (*at == '\0') break;
    }
    return devices.count > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

static void say_hidden(const char *text)
{
    if (devices.there == 1)
        device_say("CUDA_VISIBLE_DEVICES=%.40s leaves no device: the software device is number 0",
                   text);
    else
        device_say("CUDA_VISIBLE_DEVICES=%.40s leaves no device: there are %u, from number 0", text,
                   devices.there);
}

void devices_read_there(uint64_t memory, size_t gpu)
{
    const char *there = getenv(DEVICES_VARIABLE);
    if (there != NULL && *there != '\0' && !read_there(there, memory, gpu)) {
        device_say(DEVICES_VARIABLE
                   "=%.40s is neither a number up to %d nor a list of as many GPUs "
                   "(such as h100,a100:2G); using 1",
                   there, MEMORY_DEVICES);
        there = NULL;
    }
    if (there == NULL || *there == '\0') {
        devices.there = 0;
        add(gpu, false, false, memory);
    }
}

CUresult devices_read(uint64_t memory, size_t gpu)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    devices_read_there(memory, gpu);
    const CUresult refusal = read_visible(visible);
    if (refusal != CUDA_SUCCESS && visible != NULL) say_hidden(visible);
    if (refusal != CUDA_SUCCESS) devices.count = 0;
    if (devices.count > 0)
        __atomic_store_n(&timeline_model, timeline_model_at(device_at(0)->gpu), __ATOMIC_RELAXED);
    return refusal;
}

/* ---- links between devices ---------------------------------------------------------------------
 */

#define GPU(name) GPU_##name,
enum { GPUS(GPU) GPU_COUNT };
#undef GPU

enum device_link device_link(int ordinal, int other)
{
    static const enum device_link links[GPU_COUNT] = {
        [GPU_h100] = DEVICE_NVLINK, [GPU_h200] = DEVICE_NVLINK,      [GPU_a100] = DEVICE_NVLINK,
        [GPU_t4] = DEVICE_PCIE,     [GPU_rtx4060] = DEVICE_UNLINKED,
    };
    const size_t gpu = device_at(ordinal)->gpu;
    return ordinal != other && gpu == device_at(other)->gpu ? links[gpu] : DEVICE_UNLINKED;
}

/* ---- device attributes ----------------------------------------------------------------------- */

/* Indexed by attribute, because launches look some of them up. */
static const struct {
    bool known;
    int value;
} attributes[CU_DEVICE_ATTRIBUTE_MAX] = {
#define ATTRIBUTE(name, value) [CU_DEVICE_ATTRIBUTE_##name] = {true, value},
#include "emulator/driver/core/attributes.def"
#undef ATTRIBUTE
};

/* Limits of a launch, and those of a GPU whose limits are made up. */
static const struct {
    bool known;
    int values[2];
} limits[CU_DEVICE_ATTRIBUTE_MAX] = {
#define LIMIT(name, all, made_up) [CU_DEVICE_ATTRIBUTE_##name] = {true, {all, made_up}},
#include "trace/limits.def"
#undef LIMIT
};

static const struct {
    bool known;
    int values[GPU_COUNT];
} differences[CU_DEVICE_ATTRIBUTE_MAX] = {
#define GPU_ATTRIBUTE(name, h100, h200, a100, rtx4060, t4)                                         \
    [CU_DEVICE_ATTRIBUTE_##name] = {true,                                                          \
                                    {[GPU_h100] = h100,                                            \
                                     [GPU_h200] = h200,                                            \
                                     [GPU_a100] = a100,                                            \
                                     [GPU_rtx4060] = rtx4060,                                      \
                                     [GPU_t4] = t4}},
#include "trace/gpus.def"
#undef GPU_ATTRIBUTE
};

bool device_attribute_of(const struct device *device, int attribute, int *value)
{
    if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) {
        *value = (int)timeline_model_at(device->gpu)->multiprocessors;
        return true;
    }
    if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) {
        *value = (int)device->number + 1;
        return true;
    }
    if (attribute < 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX) return false;
    if (limits[attribute].known) {
        *value = limits[attribute].values[device->made_up];
        return true;
    }
    if (device->named && differences[attribute].known) {
        *value = differences[attribute].values[device->gpu];
        return true;
    }
    *value = attributes[attribute].value;
    return attributes[attribute].known;
}

bool device_attribute(int ordinal, int attribute, int *value)
{
    return device_attribute_of(device_at(ordinal), attribute, value);
}

int device_says(int ordinal, CUdevice_attribute attribute)
{
    int value = 0;
    device_attribute(ordinal, (int)attribute, &value);
    return value;
}

const struct timeline_model *device_model(int ordinal)
{
    return timeline_model_at(device_at(ordinal)->gpu);
}

unsigned device_capability(void)
{
    const int device = device_current();
    return (unsigned)(10 * device_says(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                      device_says(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
}
