/* toolchain: where the compilers, the toolkit and the grader's own pieces are. Plain data, so that
 * a test can point it elsewhere.
 *
 * What CMake or, in a release, cmake/setup.sh found is a line each ("cc=/usr/bin/cc") of the file
 * grader/toolchain in the build's folder. The grader's own pieces are found from the running
 * program, which lies in a folder of the build's: no path of the machine that compiled it is in it.
 */
#ifndef OVERLAP_GRADER_BUILD_TOOLCHAIN_H
#define OVERLAP_GRADER_BUILD_TOOLCHAIN_H

struct toolchain {
    const char *cc, *cc_version;
    const char *nvcc, *nvcc_version; /* "": none */
    const char *gencode;             /* nvcc's -gencode flags, separated by blanks */
    const char *cuda_include;        /* several, separated by ';' */
    const char *cuda_libraries;      /* the folder of libcudart.so.13; "": link without CUDA */
    const char *emulator;            /* the folder of our libcudart.so.13 and libcuda.so.1 */
    const char *source;              /* the root of the source tree */
    const char *compiled_source;     /* what it was called when our pieces were compiled */
    const char *parts;               /* the folder of the static libraries of overlap_part() */
    const char *lessons;             /* grader/lessons in the source tree: drive sources */
    const char *cache;               /* where built submissions are kept */
    const char *runner, *probe, *recorder;
    const char *cuda;       /* the toolkit's folder; "": none */
    const char *catalogues; /* of the sentences in other languages: grader/base/messages.h */
};

/* Read once. NULL: the file is not there or not whole (errno says why). The strings stay. */
const struct toolchain *toolchain_configured(void);

#endif
