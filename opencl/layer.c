/* The layer's start, the common part of all calls, and the trace. */
#include "opencl/layer.h"
#include "grader/child/drive_opencl.h"
#include "opencl/inside.h"
#include "trace/gpus.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define DEVICE_VARIABLE "DEVICE" /* set by the runner: "gpu", or another device */
#define VENDORS "/etc/OpenCL/vendors/"
#define NVIDIA "libnvidia-opencl.so.1"
#define MOST_DEVICES 16
#define NO_HOST_MEMORY "the host had no memory left"
#define LOST "the device was lost"

static const struct {
    const char *name;
    enum kind kind;
    cl_int error;
    const char *as_if;
} rows[ROW_COUNT] = {
#define ROW(name, kind, error, as_if) [ROW_##name] = {#name, KIND_##kind, error, as_if},
#define CALL(name, error, as_if, parameters, arguments) ROW(name, NONE, error, as_if)
#define OF(name, kind, error, as_if, parameters, arguments) ROW(name, kind, error, as_if)
#define MAKE(name, made, kind, error, as_if, parameters, arguments) ROW(name, kind, error, as_if)
#define RETAIN(name, kind) ROW(name, kind, 0, "")
#define RELEASE(name, kind) ROW(name, kind, 0, LOST)
#define OWN(name, kind, error, as_if) ROW(name, kind, error, as_if)
#include "opencl/functions.def"
#undef ROW
};

static struct {
    struct trace_writer *trace;
    pthread_mutex_t lock;
    uint64_t requests;
    unsigned fail; /* calls that can fail until one does; 0: no call fails */
    unsigned left; /* value of `fail` when the drive settled */
    void *real[ROW_COUNT];
    bool releases_fail;
    bool begun;
    cl_handle devices[MOST_DEVICES];
    unsigned device_count;
    cl_handle started[MOST_DEVICES]; /* contexts that stay, by device */
} layer = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- calls ------------------------------------------------------------------------------------
 */

void layer_lock(void)
{
    pthread_mutex_lock(&layer.lock);
}

void layer_unlock(void)
{
    pthread_mutex_unlock(&layer.lock);
}

void *layer_real(enum row row)
{
    return layer.real[row];
}

/* dlsym returns an object pointer; ISO C has no conversion from one to a function pointer. */
void layer_take(enum row row, void *function)
{
    memcpy(function, &layer.real[row], sizeof layer.real[row]);
}

void *layer_real_place(enum row row)
{
    return &layer.real[row];
}

uint64_t layer_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void layer_put(const struct trace_record *record)
{
    trace_put(layer.trace, record);
}

static bool is_to_fail(enum row row)
{
    bool fails = false;
    if (rows[row].error == 0) return false;
    layer_lock();
    if (layer.fail > 0) fails = --layer.fail == 0;
    layer_unlock();
    return fails;
}

bool call_begin(struct call *call, enum row row, uint64_t caller, cl_handle handle)
{
    *call = (struct call){.row = row, .caller = caller, .began_ns = layer_now()};
    layer_lock();
    call->request = ++layer.requests;
    layer_unlock();
    if (layer_real(row) == NULL) {
        call->code = CL_INVALID_OPERATION;
        return false;
    }
    if (rows[row].kind != KIND_NONE && object_use(call, handle, rows[row].kind) == NULL) {
        call->code = object_invalid(rows[row].kind);
        return false;
    }
    call->made_to_fail = is_to_fail(row);
    if (call->made_to_fail) call->code = rows[row].error;
    return !call->made_to_fail;
}

cl_int call_released(struct call *call, cl_int code)
{
    call->made_to_fail = layer.releases_fail && code == CL_SUCCESS;
    return call->made_to_fail ? CL_OUT_OF_RESOURCES : code;
}

cl_int call_end(const struct call *call, cl_int code)
{
    struct trace_record record = {.kind = TRACE_CALL,
                                  .code = code,
                                  .caller = call->caller,
                                  .request = call->request,
                                  .start_ns = call->began_ns,
                                  .ran_ns = call->began_ns};
    record.end_ns = layer_now();
    record.flags = (rows[call->row].error != 0 ? TRACE_CAN_FAIL : 0u) |
                   (call->made_to_fail ? TRACE_MADE_TO_FAIL : 0u);
    trace_copy_string(record.name, sizeof record.name, rows[call->row].name);
    if (call->made_to_fail)
        trace_copy_string(record.text, sizeof record.text, rows[call->row].as_if);
    layer_put(&record);
    return code;
}

const char *call_name(const struct call *call)
{
    return rows[call->row].name;
}

void call_end_made(const struct call *call, cl_int code, cl_int *error)
{
    call_end(call, code);
    if (error != NULL) *error = code;
}

/* ---- the drive's --------------------------------------------------------------------------------
 */

static void fail(unsigned number)
{
    layer_lock();
    layer.fail = number;
    layer_unlock();
}

static void fail_releases(void)
{
    layer.releases_fail = true;
}

static unsigned left(void)
{
    return layer.left;
}

static void check_buffer(struct object *buffer)
{
    if (buffer->references > 0) buffer_check(buffer);
}

static void end_buffer(struct object *buffer)
{
    buffer_end(buffer, true);
}

static void forget_buffer(struct object *buffer)
{
    buffer_end(buffer, false);
}

static void settle(int failed)
{
    layer_lock();
    layer.left = layer.fail;
    layer.fail = 0;
    layer.releases_fail = false;
    layer_unlock();
    commands_drain();
    objects_visit(KIND_BUFFER, check_buffer);
    objects_visit(KIND_BUFFER, failed == 0 ? end_buffer : forget_buffer);
    commands_end(failed == 0);
    objects_visit(KIND_CONTEXT, context_leave);
}

unsigned layer_device_number(cl_handle device)
{
    unsigned i = 0;
    while (i < layer.device_count && layer.devices[i] != device) i++;
    return i;
}

static unsigned devices(void **to, unsigned room)
{
    unsigned i = 0;
    for (; i < room && i < layer.device_count; i++) to[i] = layer.devices[i];
    return i;
}

EXPORT const struct drive_opencl *overlap_drive(void)
{
    static const struct drive_opencl functions = {.fail = fail,
                                                  .fail_releases = fail_releases,
                                                  .settle = settle,
                                                  .left = left,
                                                  .devices = devices};
    static bool taken;
    if (taken) return NULL;
    taken = true;
    return &functions;
}

/* ---- the begin ---------------------------------------------------------------------------------
 */

static void put_setting(const char *key, const char *text, uint64_t number)
{
    struct trace_record record = {.kind = TRACE_SETTING, .bytes = number};
    trace_copy_string(record.name, sizeof record.name, key);
    trace_copy_string(record.text, sizeof record.text, text);
    layer_put(&record);
}

typedef cl_handle (*context_function)(const intptr_t *, cl_uint, const cl_handle *, void *, void *,
                                      cl_int *);
typedef cl_int (*release_function)(cl_handle);

/* Records OpenCL's description of a device, before student code could tamper with it. */
static void put_device(unsigned number, cl_handle platform, cl_handle device)
{
    char key[TRACE_NAME_SIZE], text[TRACE_TEXT_SIZE], platform_name[128] = "", name[128] = "",
                                                      version[128] = "";
    cl_ulong type = 0, memory = 0, local = 0;
    cl_uint units = 0;
    size_t group = 0;

    platforms_ask(platform, CL_PLATFORM_NAME, sizeof platform_name, platform_name, NULL);
    platforms_ask_device(device, CL_DEVICE_NAME, sizeof name, name, NULL);
    platforms_ask_device(device, CL_DEVICE_VERSION, sizeof version, version, NULL);
    platforms_ask_device(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    platforms_ask_device(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    platforms_ask_device(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group, &group, NULL);
    platforms_ask_device(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL);
    platforms_ask_device(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    snprintf(key, sizeof key, OPENCL_DEVICE_SETTING, number);
    snprintf(text, sizeof text, "%s\t%s\t%s\t%llu\t%u\t%zu\t%llu\t%llu", platform_name, name,
             version, (unsigned long long)type, units, group, (unsigned long long)memory,
             (unsigned long long)local);
    put_setting(key, text, 0);
}

static bool is_on_gpu(void)
{
    const char *device = getenv(DEVICE_VARIABLE);
    return device != NULL && strcmp(device, "gpu") == 0;
}

/* Starts each device, so that its threads exist before the student's. PoCL unloads its compiler
 * with its last context and would load it again for each of the student's contexts, so on PoCL this
 * context stays. */
static void start(cl_handle device, cl_handle *stays)
{
    context_function make;
    release_function release;
    layer_take(ROW_clCreateContext, &make);
    layer_take(ROW_clReleaseContext, &release);
    cl_handle context = make(NULL, 1, &device, NULL, NULL, NULL);
    *stays = is_on_gpu() ? NULL : context;
    if (context != NULL && is_on_gpu()) release(context);
}

static void put_devices(void)
{
    cl_handle platforms[MOST_DEVICES], devices[MOST_DEVICES];
    cl_uint platform_count = 0, count = 0, all = 0;
    char text[16];

    if (platforms_list(MOST_DEVICES, platforms, &platform_count) != CL_SUCCESS) platform_count = 0;
    for (cl_uint p = 0; p < platform_count && p < MOST_DEVICES; p++) {
        if (platforms_devices(platforms[p], CL_DEVICE_TYPE_ALL, MOST_DEVICES, devices, &count) !=
            CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < count && d < MOST_DEVICES; d++) {
            cl_handle unknown;
            if (all < MOST_DEVICES) layer.devices[all] = devices[d];
            layer.device_count = all < MOST_DEVICES ? all + 1 : MOST_DEVICES;
            start(devices[d], all < MOST_DEVICES ? &layer.started[all] : &unknown);
            put_device(all++, platforms[p], devices[d]);
        }
    }
    snprintf(text, sizeof text, "%u", platform_count);
    put_setting(OPENCL_PLATFORMS_SETTING, text, platform_count);
    snprintf(text, sizeof text, "%u", all);
    put_setting(OPENCL_COUNT_SETTING, text, all);
}

/* Makes a folder with the one implementation that the loader may find: every kind of loader accepts
 * a folder. `library`: used unless the system has a file of that name, whose contents are used
 * then. */
static void choose(const char *folder, const char *name, const char *library)
{
    char path[PATH_MAX], line[256] = "";
    snprintf(path, sizeof path, VENDORS "%s", name);
    FILE *file = fopen(path, "re");
    if (file != NULL && fgets(line, sizeof line, file) != NULL) library = line;
    if (file != NULL) fclose(file);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "we");
    if (file == NULL) return;
    fprintf(file, "%s\n", library);
    fclose(file);
}

/* Chooses PoCL in place of the software device, or NVIDIA's implementation on a GPU. Compiled
 * kernels are cached in the run's own folder. Returns NULL, or why there is none, because a loader
 * gives no reason. */
static const char *choose_implementation(void)
{
    const char *devices = getenv(DEVICES_VARIABLE);
    const char *home = getenv("HOME");
    const bool none = devices != NULL && strcmp(devices, OPENCL_NO_PLATFORM) == 0;
    char folder[PATH_MAX - 16], names[256];

    snprintf(folder, sizeof folder, "%s/vendors", home != NULL ? home : "/nowhere");
    (void)mkdir(folder, 0700);
    setenv("OCL_ICD_VENDORS", folder, 1);
    if (!none && is_on_gpu()) {
        if (dlopen(NVIDIA, RTLD_NOW | RTLD_LOCAL) == NULL) return dlerror();
        choose(folder, "nvidia.icd", NVIDIA);
        setenv("OCL_ICD_FILENAMES", NVIDIA, 1); /* some loaders use only this variable */
    } else if (!none) {
        choose(folder, "pocl.icd", "libpocl.so");
    }
    if (devices != NULL && devices[0] != '\0' && !none) {
        platforms_shape(devices, names, sizeof names);
        setenv("POCL_DEVICES", names, 1);
    }
    if (home != NULL) setenv("POCL_CACHE_DIR", home, 1);
    return NULL;
}

static void end(void)
{
    trace_end(layer.trace);
}

/* Removes the variables, which have been read by now and would reveal which run this is. */
static void forget(void)
{
    static const char *const chosen[] = {"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "POCL_DEVICES",
                                         "POCL_CACHE_DIR"};
    for (size_t i = 0; i < sizeof chosen / sizeof chosen[0]; i++) unsetenv(chosen[i]);
}

EXPORT const char *overlap_begin(void)
{
    if (layer.begun) return "it has begun already";
    layer.begun = true;
    const char *why = choose_implementation();
    if (why != NULL) return why;
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return "there is no OpenCL: libOpenCL.so.1 was not found";
    for (size_t i = 0; i < ROW_COUNT; i++) layer.real[i] = dlsym(library, rows[i].name);
    if (layer.real[ROW_clGetPlatformIDs] == NULL || layer.real[ROW_clGetDeviceIDs] == NULL ||
        layer.real[ROW_clGetDeviceInfo] == NULL || layer.real[ROW_clGetPlatformInfo] == NULL ||
        layer.real[ROW_clCreateContext] == NULL || layer.real[ROW_clReleaseContext] == NULL)
        return "libOpenCL.so.1 is no ICD loader of OpenCL";
    layer.trace = trace_open_from_environment();
    atexit(end);
    put_devices();
    forget();
    return NULL;
}
