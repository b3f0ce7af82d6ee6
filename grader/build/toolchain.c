#include "grader/build/toolchain.h"

#include "grader/build/config.h"

static const struct toolchain configured = {
    .cc = CONFIG_CC,
    .cc_version = CONFIG_CC_VERSION,
    .nvcc = CONFIG_NVCC,
    .nvcc_version = CONFIG_NVCC_VERSION,
    .gencode = CONFIG_GENCODE,
    .cuda_include = CONFIG_CUDA_INCLUDE,
    .cuda_libraries = CONFIG_CUDA_LIBRARIES,
    .cuda = CONFIG_CUDA,
    .emulator = CONFIG_BUILD "/emulator/lib",
    .source = CONFIG_SOURCE,
    .parts = CONFIG_BUILD "/grader/parts",
    .lessons = CONFIG_SOURCE "/grader/lessons",
    .cache = CONFIG_BUILD "/grader/cache",
    .runner = CONFIG_BUILD "/grader/runner",
    .probe = CONFIG_BUILD "/grader/probe",
    .catalogues = CONFIG_BUILD "/locale",
    .recorder = CONFIG_BUILD "/recorder/librecorder.so",
};

const struct toolchain *toolchain_configured(void)
{
    return &configured;
}
