/* What the tests see of the stand-in for OpenCL's loader. */
#ifndef OVERLAP_TESTS_OPENCL_STAND_IN_H
#define OVERLAP_TESTS_OPENCL_STAND_IN_H

struct stand_in {
    int things;   /* that are there */
    int releases; /* that came as far as here */
    int overrun;  /* bytes that the next kernel writes behind the end that its student knows */
    int known;    /* that end */
};

#endif
