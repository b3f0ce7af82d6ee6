/* Promises of opencl/: objects are counted, and an invalid handle does not reach OpenCL; the
 * results of a command are there after a wait, and so are its times; a call that is made to fail
 * does nothing; nothing is lost for the caller when the record is full.
 */
#include "grader/child/drive_opencl.h"
#include "opencl/layer.h"
#include "opencl/types.h"
#include "tests/opencl/stand_in.h"
#include "tests/temporary.h"
#include "trace/gpus.h"
#include "trace/trace.h"

#include <check.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef fail /* an old macro of Check's; the drive has a member of that name */

/* As in OpenCL's header, which is not needed otherwise. */
#define DECLARE_RELEASE(name)                                                                      \
    cl_int clRelease##name(cl_handle handle);                                                      \
    cl_int clRetain##name(cl_handle handle)
DECLARE_RELEASE(Context);
DECLARE_RELEASE(CommandQueue);
DECLARE_RELEASE(MemObject);
DECLARE_RELEASE(Kernel);
DECLARE_RELEASE(Event);
cl_int clGetPlatformIDs(cl_uint room, cl_handle *platforms, cl_uint *count);
cl_int clGetPlatformInfo(cl_handle platform, cl_uint what, size_t size, void *value, size_t *need);
cl_int clGetDeviceIDs(cl_handle platform, cl_bitfield type, cl_uint room, cl_handle *devices,
                      cl_uint *count);
cl_int clGetDeviceInfo(cl_handle device, cl_uint what, size_t size, void *value, size_t *needed);
cl_handle clCreateContext(const intptr_t *properties, cl_uint count, const cl_handle *devices,
                          void *notify, void *user, cl_int *error);
cl_handle clCreateCommandQueue(cl_handle context, cl_handle device, cl_bitfield properties,
                               cl_int *error);
cl_handle clCreateBuffer(cl_handle context, cl_bitfield flags, size_t size, void *host,
                         cl_int *error);
cl_handle clCreateProgramWithSource(cl_handle context, cl_uint count, const char **strings,
                                    const size_t *lengths, cl_int *error);
cl_handle clCreateKernel(cl_handle program, const char *name, cl_int *error);
cl_int clSetKernelArg(cl_handle kernel, cl_uint index, size_t size, const void *value);
cl_int clEnqueueWriteBuffer(cl_handle queue, cl_handle buffer, cl_bool blocking, size_t offset,
                            size_t size, const void *from, cl_uint count, const cl_handle *list,
                            cl_handle *event);
cl_int clEnqueueReadBuffer(cl_handle queue, cl_handle buffer, cl_bool blocking, size_t offset,
                           size_t size, void *to, cl_uint count, const cl_handle *list,
                           cl_handle *event);
cl_int clEnqueueNDRangeKernel(cl_handle queue, cl_handle kernel, cl_uint dimensions,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint count, const cl_handle *list, cl_handle *event);
void *clEnqueueMapBuffer(cl_handle queue, cl_handle buffer, cl_bool blocking, cl_bitfield flags,
                         size_t offset, size_t size, cl_uint count, const cl_handle *list,
                         cl_handle *event, cl_int *error);
cl_int clEnqueueUnmapMemObject(cl_handle queue, cl_handle buffer, void *mapped, cl_uint count,
                               const cl_handle *list, cl_handle *event);
cl_int clFinish(cl_handle queue);
cl_int clWaitForEvents(cl_uint count, const cl_handle *list);
cl_int clGetEventProfilingInfo(cl_handle event, cl_uint what, size_t size, void *value,
                               size_t *needed);
cl_int clUnloadCompiler(void);

static char path[PATH_MAX];
static struct stand_in *stand_in;
static const struct drive_opencl *drive;
static cl_handle device, context, queue;
static int things; /* OpenCL objects that existed before the test made any */

/* Begins with room for `capacity` records (0: enough). */
static void begin(uint32_t capacity, const char *shown)
{
    const char *folder = temporary_folder();
    snprintf(path, sizeof path, "%s/trace", folder);
    ck_assert_int_eq(trace_create(path, capacity), 0);
    setenv(TRACE_PATH_VARIABLE, path, 1);
    setenv("HOME", folder, 1);
    if (shown != NULL) setenv(DEVICES_VARIABLE, shown, 1);
    /* The layer loads the same library by its name. */
    void *library = dlopen(STAND_IN, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    stand_in = dlsym(library, "stand_in");
    drive = overlap_drive();
    ck_assert_ptr_nonnull(drive);
    const char *why = overlap_begin();
    ck_assert_msg(why == NULL, "%s", why);
    ck_assert_uint_eq(drive->devices(&device, 1), 1);
}

static void set_up(void)
{
    cl_int error = 1;
    begin(0, NULL);
    things = stand_in->things;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    ck_assert_int_eq(error, CL_SUCCESS);
    queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING, &error);
    ck_assert_int_eq(error, CL_SUCCESS);
    stand_in->releases = 0;
}

static struct trace read_back(void)
{
    struct trace trace;
    char why[256] = "";
    ck_assert_msg(trace_read(path, &trace, why, sizeof why) == 0, "%s", why);
    return trace;
}

static size_t count_kind(enum trace_kind kind)
{
    struct trace trace = read_back();
    size_t count = 0;
    for (size_t i = 0; i < trace.count; i++) count += trace.records[i].kind == kind;
    trace_free(&trace);
    return count;
}

static size_t count_findings(enum trace_finding_id id)
{
    struct trace trace = read_back();
    size_t count = 0;
    for (size_t i = 0; i < trace.count; i++)
        count += trace.records[i].kind == TRACE_FINDING && trace.records[i].finding.id == id;
    trace_free(&trace);
    return count;
}

static cl_handle make_buffer(size_t size)
{
    cl_int error = 1;
    cl_handle buffer = clCreateBuffer(context, 0, size, NULL, &error);
    ck_assert_int_eq(error, CL_SUCCESS);
    return buffer;
}

/* ---- objects ----------------------------------------------------------------------------------
 */

START_TEST(an_object_goes_with_its_last_reference)
{
    cl_handle buffer = make_buffer(16);
    ck_assert_int_eq(clRetainMemObject(buffer), CL_SUCCESS);
    ck_assert_int_eq(clReleaseMemObject(buffer), CL_SUCCESS);
    ck_assert_uint_eq(count_kind(TRACE_DESTROY), 0);
    ck_assert_int_eq(clReleaseMemObject(buffer), CL_SUCCESS);
    ck_assert_uint_eq(count_kind(TRACE_DESTROY), 1);
    ck_assert_int_eq(stand_in->releases, 2);
    /* OpenCL would have accessed freed memory. */
    ck_assert_int_eq(clReleaseMemObject(buffer), CL_INVALID_MEM_OBJECT);
    ck_assert_int_eq(clRetainMemObject(buffer), CL_INVALID_MEM_OBJECT);
    ck_assert_int_eq(stand_in->releases, 2);
    ck_assert_uint_eq(count_findings(FINDING_CL_RELEASED), 2);
}
END_TEST

START_TEST(what_leads_to_no_object_does_not_reach_opencl)
{
    int other;
    ck_assert_int_eq(clReleaseKernel(NULL), CL_INVALID_KERNEL);
    ck_assert_int_eq(clReleaseEvent(&other), CL_INVALID_EVENT);
    ck_assert_int_eq(clReleaseMemObject(queue), CL_INVALID_MEM_OBJECT); /* of another kind */
    ck_assert_int_eq(clFinish(NULL), CL_INVALID_COMMAND_QUEUE);
    ck_assert_int_eq(stand_in->releases, 0);
    ck_assert_uint_eq(count_findings(FINDING_CL_NO_OBJECT), 4);
}
END_TEST

START_TEST(arguments_may_be_null)
{
    cl_handle buffer = make_buffer(16), none = NULL;
    ck_assert_int_eq(clGetPlatformIDs(0, NULL, NULL), CL_SUCCESS);
    ck_assert_ptr_null(clCreateBuffer(context, 0, 0, NULL, NULL)); /* no address for the error */
    ck_assert_ptr_null(clCreateCommandQueue(NULL, NULL, 0, NULL));
    ck_assert_int_eq(clEnqueueReadBuffer(queue, buffer, 1, 0, 16, NULL, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    ck_assert_int_eq(clEnqueueWriteBuffer(queue, buffer, 0, 0, 16, NULL, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    ck_assert_int_eq(clWaitForEvents(0, NULL), CL_INVALID_VALUE);
    ck_assert_int_eq(clWaitForEvents(1, &none), CL_INVALID_EVENT);
    /* More than the buffer's size, as the student knows it. */
    ck_assert_int_eq(clEnqueueReadBuffer(queue, buffer, 1, 8, 9, &none, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    ck_assert_int_eq(clUnloadCompiler(), CL_INVALID_OPERATION); /* the stand-in has none */
}
END_TEST

/* ---- commands ---------------------------------------------------------------------------------
 */

START_TEST(what_a_read_brings_is_there_when_it_was_waited_for)
{
    const char sent[8] = "sevench";
    char got[8] = "nothing";
    cl_handle buffer = make_buffer(sizeof sent);
    ck_assert_int_eq(clEnqueueWriteBuffer(queue, buffer, 1, 0, sizeof sent, sent, 0, NULL, NULL),
                     CL_SUCCESS);
    ck_assert_int_eq(clEnqueueReadBuffer(queue, buffer, 0, 0, sizeof got, got, 0, NULL, NULL),
                     CL_SUCCESS);
    ck_assert_str_eq(got, "nothing");
    ck_assert_int_eq(clFinish(queue), CL_SUCCESS);
    ck_assert_str_eq(got, "sevench");
    ck_assert_int_eq(clEnqueueReadBuffer(queue, buffer, 0, 0, 1, got, 0, NULL, NULL), CL_SUCCESS);
    drive->settle(0);
    ck_assert_uint_eq(count_findings(FINDING_CL_NOT_AWAITED), 1);
    ck_assert_uint_eq(count_kind(TRACE_OPERATION), 3);
}
END_TEST

START_TEST(what_is_read_of_a_failed_function_is_nobodys)
{
    char got[8];
    cl_handle buffer = make_buffer(sizeof got);
    clEnqueueReadBuffer(queue, buffer, 0, 0, sizeof got, got, 0, NULL, NULL);
    drive->settle(-5);
    ck_assert_uint_eq(count_kind(TRACE_FINDING), 0);
}
END_TEST

START_TEST(the_source_of_a_write_stays_until_it_was_waited_for)
{
    char sent[8] = "sevench";
    cl_handle buffer = make_buffer(sizeof sent);
    clEnqueueWriteBuffer(queue, buffer, 0, 0, sizeof sent, sent, 0, NULL, NULL);
    sent[0] = 'e';
    clFinish(queue);
    ck_assert_uint_eq(count_findings(FINDING_CL_CHANGED), 1);
}
END_TEST

START_TEST(a_wait_is_for_what_a_command_waited_for_too)
{
    char got[4];
    cl_handle buffer = make_buffer(sizeof got), first = NULL, second = NULL;
    cl_handle other = clCreateCommandQueue(context, device, 0, NULL);
    clEnqueueReadBuffer(queue, buffer, 0, 0, sizeof got, got, 0, NULL, &first);
    clEnqueueReadBuffer(other, buffer, 0, 0, sizeof got, got, 1, &first, &second);
    ck_assert_int_eq(clWaitForEvents(1, &second), CL_SUCCESS);
    drive->settle(0);
    ck_assert_uint_eq(count_kind(TRACE_FINDING), 0);
}
END_TEST

START_TEST(times_are_there_when_they_were_waited_for)
{
    char got[4];
    cl_ulong time = 0;
    cl_handle buffer = make_buffer(sizeof got), event = NULL, unprofiled = NULL;
    cl_handle plain = clCreateCommandQueue(context, device, 0, NULL);
    clEnqueueReadBuffer(queue, buffer, 0, 0, sizeof got, got, 0, NULL, &event);
    ck_assert_int_eq(
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL),
        CL_PROFILING_INFO_NOT_AVAILABLE);
    clFinish(queue);
    ck_assert_int_eq(
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL),
        CL_SUCCESS);
    ck_assert_uint_eq(time, 300);
    /* A queue without profiling. */
    clEnqueueReadBuffer(plain, buffer, 1, 0, sizeof got, got, 0, NULL, &unprofiled);
    ck_assert_int_eq(
        clGetEventProfilingInfo(unprofiled, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL),
        CL_PROFILING_INFO_NOT_AVAILABLE);
    ck_assert_int_eq(clReleaseEvent(event), CL_SUCCESS);
    ck_assert_int_eq(
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL),
        CL_INVALID_EVENT);
}
END_TEST

/* ---- buffers ----------------------------------------------------------------------------------
 */

START_TEST(a_new_buffer_holds_no_zeros)
{
    unsigned char got[64];
    cl_handle buffer = make_buffer(sizeof got);
    clEnqueueReadBuffer(queue, buffer, 1, 0, sizeof got, got, 0, NULL, NULL);
    for (size_t i = 0; i < sizeof got; i++) ck_assert_uint_ne(got[i], 0);
}
END_TEST

/* A kernel that is given the buffer. */
static cl_handle make_kernel(cl_handle buffer)
{
    cl_handle program = clCreateProgramWithSource(context, 0, NULL, NULL, NULL);
    cl_handle kernel = clCreateKernel(program, "work", NULL);
    ck_assert_int_eq(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    return kernel;
}

START_TEST(a_queue_out_of_order_needs_an_event)
{
    const size_t items = 4;
    char bytes[24] = "";
    cl_handle buffer = make_buffer(sizeof bytes), kernel = make_kernel(buffer), event = NULL,
              loose = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER, NULL);
    for (int way = 0; way < 4; way++) {
        cl_handle used = way == 0 ? queue : loose;
        clEnqueueWriteBuffer(used, buffer, 0, 0, sizeof bytes, bytes, 0, NULL, &event);
        if (way == 2) clWaitForEvents(1, &event);
        const cl_uint count = way == 1;
        clEnqueueNDRangeKernel(used, kernel, 1, NULL, &items, NULL, count, count ? &event : NULL,
                               NULL);
        clFinish(used);
        clReleaseEvent(event);
        drive->settle(0);
        ck_assert_uint_eq(count_findings(FINDING_CL_UNORDERED), way == 3);
    }
    /* A part of the buffer may be none of the kernel's. */
    clEnqueueWriteBuffer(loose, buffer, 0, 0, 8, bytes, 0, NULL, NULL);
    clEnqueueNDRangeKernel(loose, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
    clFinish(loose);
    drive->settle(0);
    ck_assert_uint_eq(count_findings(FINDING_CL_UNORDERED), 1);
}
END_TEST

START_TEST(the_hosts_memory_shows_a_buffer_when_it_was_mapped_or_read)
{
    const size_t items = 4;
    for (int way = 0; way < 3; way++) {
        char bytes[24] = "the host's";
        cl_handle buffer = clCreateBuffer(context, CL_MEM_USE_HOST_PTR | CL_MEM_WRITE_ONLY,
                                          sizeof bytes, bytes, NULL);
        stand_in->known = 0;
        stand_in->overrun = 4; /* not over the end here */
        clEnqueueNDRangeKernel(queue, make_kernel(buffer), 1, NULL, &items, NULL, 0, NULL, NULL);
        clFinish(queue);
        ck_assert_str_eq(bytes, "the host's");
        if (way == 0) clEnqueueReadBuffer(queue, buffer, 1, 0, sizeof bytes, bytes, 0, NULL, NULL);
        clReleaseMemObject(buffer);
        drive->settle(way == 1 ? -5 : 0);
        ck_assert_uint_eq(count_findings(FINDING_CL_NOT_MAPPED), way == 2);
    }
}
END_TEST

START_TEST(a_mapping_is_there_from_its_wait_to_its_release)
{
    char host[8] = "nothing", got[8];
    for (int way = 0; way < 2; way++) {
        cl_handle buffer =
            way == 0 ? make_buffer(8) : clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 8, host, NULL);
        cl_int error = 1;
        clEnqueueWriteBuffer(queue, buffer, 1, 0, 8, "sevench", 0, NULL, NULL);
        char *mapped =
            clEnqueueMapBuffer(queue, buffer, 0, CL_MAP_READ, 1, 7, 0, NULL, NULL, &error);
        ck_assert_int_eq(error, CL_SUCCESS);
        ck_assert_int_ne(memcmp(mapped, "evench", 7), 0);
        clFinish(queue);
        ck_assert_str_eq(mapped, "evench");
        ck_assert_int_eq(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL), CL_SUCCESS);
        /* The host's memory of a buffer is the student's own. */
        ck_assert_int_eq(memcmp(mapped, "evench", 7) == 0, way == 1);

        /* What is not written stays; but for an invalidated mapping, whose old bytes nobody has. */
        mapped = clEnqueueMapBuffer(queue, buffer, 1, CL_MAP_WRITE, 0, 8, 0, NULL, NULL, &error);
        mapped[0] = 'S';
        ck_assert_int_eq(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL), CL_SUCCESS);
        clEnqueueReadBuffer(queue, buffer, 1, 0, 8, got, 0, NULL, NULL);
        ck_assert_str_eq(got, "Sevench");
        mapped = clEnqueueMapBuffer(queue, buffer, 1, CL_MAP_WRITE_INVALIDATE_REGION, 0, 8, 0, NULL,
                                    NULL, &error);
        ck_assert_int_eq(mapped[7] != 0, way == 0);
        memcpy(mapped, "another", 8);
        clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL);
        clEnqueueReadBuffer(queue, buffer, 1, 0, 8, got, 0, NULL, NULL);
        ck_assert_str_eq(got, "another");
        ck_assert_int_eq(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL),
                         CL_INVALID_VALUE);
        clReleaseMemObject(buffer);
    }
    drive->settle(0);
    ck_assert_uint_eq(count_kind(TRACE_FINDING), 0);
}
END_TEST

START_TEST(what_is_written_behind_a_buffer_is_seen)
{
    const size_t items = 4;
    cl_handle buffer = make_buffer(24);
    cl_handle kernel = make_kernel(buffer);
    ck_assert_int_eq(clSetKernelArg(kernel, 0, sizeof buffer, NULL), -50);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
    clFinish(queue);
    drive->settle(0);
    ck_assert_uint_eq(count_findings(FINDING_CL_OVERRUN), 0);
    stand_in->known = 24;
    stand_in->overrun = 1;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
    clFinish(queue);
    drive->settle(0);
    drive->settle(0);
    ck_assert_uint_eq(count_findings(FINDING_CL_OVERRUN), 1);
}
END_TEST

/* ---- failures ---------------------------------------------------------------------------------
 */

START_TEST(a_call_that_is_made_to_fail_does_nothing)
{
    cl_int error = 1;
    const size_t made = count_kind(TRACE_CREATE);
    drive->fail(2);
    cl_handle buffer = clCreateBuffer(context, 0, 4, NULL, &error);
    ck_assert_int_eq(error, CL_SUCCESS);
    ck_assert_int_eq(clReleaseMemObject(buffer), CL_SUCCESS); /* never made to fail in this way */
    ck_assert_ptr_null(clCreateBuffer(context, 0, 4, NULL, &error));
    ck_assert_int_eq(error, -4);
    ck_assert_uint_eq(count_kind(TRACE_CREATE), made + 1);
    ck_assert_ptr_nonnull(clCreateBuffer(context, 0, 4, NULL, &error)); /* one, and no more */
    drive->settle(error);
    ck_assert_uint_eq(drive->left(), 0);
    drive->fail(100);
    clFinish(queue);
    drive->settle(0);
    ck_assert_uint_eq(drive->left(), 99);
}
END_TEST

START_TEST(a_release_that_fails_has_released)
{
    cl_handle buffer = make_buffer(4);
    drive->fail_releases();
    ck_assert_int_eq(clReleaseMemObject(buffer), CL_OUT_OF_RESOURCES);
    ck_assert_uint_eq(count_kind(TRACE_DESTROY), 1);
    drive->settle(-5);
    ck_assert_int_eq(clReleaseCommandQueue(queue), CL_SUCCESS);
}
END_TEST

START_TEST(nothing_of_ours_outlives_a_context)
{
    char got[4];
    cl_handle buffer = make_buffer(sizeof got);
    clEnqueueReadBuffer(queue, buffer, 1, 0, sizeof got, got, 0, NULL, NULL);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    drive->settle(0);
    clReleaseMemObject(buffer); /* may outlive it, and is checked then */
    drive->settle(0);
    ck_assert_int_eq(stand_in->things, things);
}
END_TEST

START_TEST(a_full_record_keeps_nothing_from_who_calls)
{
    const char sent[8] = "sevench";
    char got[8] = "nothing";
    begin(4, NULL);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(context, device, 0, NULL);
    cl_handle buffer = make_buffer(sizeof sent);
    clEnqueueWriteBuffer(queue, buffer, 0, 0, sizeof sent, sent, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, buffer, 0, 0, sizeof got, got, 0, NULL, NULL);
    ck_assert_int_eq(clFinish(queue), CL_SUCCESS);
    ck_assert_str_eq(got, "sevench");
    ck_assert_int_eq(clReleaseMemObject(buffer), CL_SUCCESS);
    ck_assert_int_eq(clReleaseMemObject(buffer), CL_INVALID_MEM_OBJECT);
    struct trace trace = read_back();
    ck_assert_uint_gt(trace.dropped, 0);
    trace_free(&trace);
}
END_TEST

/* ---- the begin --------------------------------------------------------------------------------
 */

START_TEST(it_begins_once)
{
    ck_assert_ptr_nonnull(overlap_begin());
    ck_assert_ptr_null(overlap_drive());
    ck_assert_ptr_null(getenv("POCL_DEVICES"));
    ck_assert_ptr_null(getenv("OCL_ICD_VENDORS"));
}
END_TEST

START_TEST(platforms_are_shown_as_the_setting_says)
{
    cl_handle platforms[8], found[4], own = NULL;
    cl_uint count = 0;
    char name[64] = "";
    begin(0, "|a||b c|");
    ck_assert_int_eq(clGetPlatformIDs(8, platforms, &count), CL_SUCCESS);
    ck_assert_uint_eq(count, 5);
    ck_assert_int_eq(clGetPlatformIDs(0, platforms, &count), CL_INVALID_VALUE);
    static const cl_uint wanted[] = {0, 1, 0, 2, 0};
    for (int i = 0; i < 5; i++) {
        count = 0;
        const cl_int code = clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 4, found, &count);
        ck_assert_int_eq(code, wanted[i] > 0 ? CL_SUCCESS : CL_DEVICE_NOT_FOUND);
        ck_assert_uint_eq(count, wanted[i]);
    }
    clGetDeviceIDs(platforms[3], CL_DEVICE_TYPE_DEFAULT, 1, found, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(clGetDeviceInfo(found[0], CL_DEVICE_PLATFORM, sizeof own, &own, NULL),
                     CL_SUCCESS);
    ck_assert_ptr_eq(own, platforms[3]);
    ck_assert_int_eq(clGetPlatformInfo(own, CL_PLATFORM_NAME, sizeof name, name, NULL), CL_SUCCESS);
    ck_assert_str_eq(name, "Stand-in 4");
    ck_assert_int_eq(clGetPlatformInfo(own, CL_PLATFORM_NAME, 3, name, NULL), CL_INVALID_VALUE);
    ck_assert_int_eq(clGetDeviceIDs(NULL, CL_DEVICE_TYPE_ALL, 0, NULL, &count),
                     CL_INVALID_PLATFORM);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("opencl");
    TCase *with = tcase_create("a queue"), *alone = tcase_create("its own begin");
    tcase_add_checked_fixture(with, set_up, NULL);
    tcase_add_test(with, an_object_goes_with_its_last_reference);
    tcase_add_test(with, what_leads_to_no_object_does_not_reach_opencl);
    tcase_add_test(with, arguments_may_be_null);
    tcase_add_test(with, what_a_read_brings_is_there_when_it_was_waited_for);
    tcase_add_test(with, what_is_read_of_a_failed_function_is_nobodys);
    tcase_add_test(with, the_source_of_a_write_stays_until_it_was_waited_for);
    tcase_add_test(with, a_wait_is_for_what_a_command_waited_for_too);
    tcase_add_test(with, times_are_there_when_they_were_waited_for);
    tcase_add_test(with, a_new_buffer_holds_no_zeros);
    tcase_add_test(with, a_queue_out_of_order_needs_an_event);
    tcase_add_test(with, the_hosts_memory_shows_a_buffer_when_it_was_mapped_or_read);
    tcase_add_test(with, a_mapping_is_there_from_its_wait_to_its_release);
    tcase_add_test(with, what_is_written_behind_a_buffer_is_seen);
    tcase_add_test(with, a_call_that_is_made_to_fail_does_nothing);
    tcase_add_test(with, a_release_that_fails_has_released);
    tcase_add_test(with, nothing_of_ours_outlives_a_context);
    tcase_add_test(with, it_begins_once);
    tcase_add_test(alone, a_full_record_keeps_nothing_from_who_calls);
    tcase_add_test(alone, platforms_are_shown_as_the_setting_says);
    suite_add_tcase(suite, with);
    suite_add_tcase(suite, alone);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
