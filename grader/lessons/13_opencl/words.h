/* The student's functions, by name. */
#ifndef OVERLAP_GRADER_LESSONS_13_OPENCL_WORDS_H
#define OVERLAP_GRADER_LESSONS_13_OPENCL_WORDS_H

#include "grader/base/messages.h"

#include <stdio.h>

#define OPENCL_FUNCTION_DEVICES "opencl_devices"
#define OPENCL_FUNCTION_SUM "opencl_sum"
#define OPENCL_FUNCTION_COMPARE "opencl_compare"

#endif
