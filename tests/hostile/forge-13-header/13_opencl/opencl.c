/* Right; beside it lies a header with the name of a system header. */
@HONEST_OPENCL@
