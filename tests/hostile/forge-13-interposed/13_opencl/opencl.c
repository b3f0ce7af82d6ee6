#include "lesson.h"

cl_int clReleaseMemObject(cl_mem memory) { (void)memory; return CL_SUCCESS; }
cl_int clReleaseContext(cl_context context) { (void)context; return CL_SUCCESS; }
cl_int clReleaseProgram(cl_program program) { (void)program; return CL_SUCCESS; }
cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *value,
                               size_t *needed)
{
    (void)event, (void)size, (void)needed;
    *(cl_ulong *)value = what == CL_PROFILING_COMMAND_END ? 1000 : 1;
    return CL_SUCCESS;
}

@HONEST_OPENCL@
