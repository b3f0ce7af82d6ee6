/* toolchain: the paths of the compilers, the toolkit and the grader's own components. Plain data,
 * so that a test can use other paths.
 *
 * The file grader/toolchain in the build folder has one line ("cc=/usr/bin/cc") for each value that
 * CMake or, in a release, cmake/setup.sh found. The paths of the grader's own components are
 * derived from the running program, which lies in a folder of the build, so the program contains no
 * path of the machine that compiled it.
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
    const char *compiled_source;     /* the root when the grader's own components were compiled */
    const char *parts;               /* the folder of the static libraries made by overlap_part() */
    const char *lessons;             /* grader/lessons in the source tree: drive sources */
    const char *cache;               /* where built submissions are kept */
    const char *runner, *probe, *recorder;
    const char *cuda;       /* the toolkit's folder; "": none */
    const char *catalogues; /* folder of the message catalogues: grader/base/messages.h */
};

/* Makes of `from` the toolchain for submissions that have to run on a GPU of that compute
 * capability (75 for 7.5; 0: not known) as well: if it can run nothing that `gencode` makes, PTX
 * for it is added, for which nvcc takes as long again. Returns 0, or -1: no memory. The strings are
 * `from`'s, but for `gencode`, which is never freed. */
int toolchain_widen(struct toolchain *wide, const struct toolchain *from, unsigned capability);

/* Reads the file once. NULL: the file is missing or incomplete (errno says why). The strings are
 * never freed. */
const struct toolchain *toolchain_configured(void);

#endif
