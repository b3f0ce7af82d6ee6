#include "lesson.h"
#include <dlfcn.h>

static void *real(const char *name)
{
    static void *library;
    if (library == NULL) library = dlopen("libOpenCL.so.1", RTLD_NOW);
    return library != NULL ? dlsym(library, name) : NULL;
}
#define REAL(name) ((__typeof__(&name))real(#name))
#define clCreateContext REAL(clCreateContext)
#define clCreateCommandQueue REAL(clCreateCommandQueue)
#define clCreateProgramWithSource REAL(clCreateProgramWithSource)
#define clBuildProgram REAL(clBuildProgram)
#define clCreateKernel REAL(clCreateKernel)
#define clCreateBuffer REAL(clCreateBuffer)
#define clSetKernelArg REAL(clSetKernelArg)
#define clEnqueueWriteBuffer REAL(clEnqueueWriteBuffer)
#define clEnqueueReadBuffer REAL(clEnqueueReadBuffer)
#define clEnqueueNDRangeKernel REAL(clEnqueueNDRangeKernel)
#define clReleaseMemObject REAL(clReleaseMemObject)
#define clReleaseKernel REAL(clReleaseKernel)
#define clReleaseProgram REAL(clReleaseProgram)
#define clReleaseCommandQueue REAL(clReleaseCommandQueue)
#define clReleaseContext REAL(clReleaseContext)
#define clFinish REAL(clFinish)
@HONEST_OPENCL@
