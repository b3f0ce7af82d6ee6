#include "grader/run/devices.h"
#include "grader/base/messages.h"
#include "grader/base/process.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Notes what the probe said: a line for each GPU. */
static void note_gpus(struct devices *devices, const char *said)
{
    devices->gpu = true;
    for (const char *end; (end = strchr(said, '\n')) != NULL; said = end + 1) {
        char name[sizeof devices->gpu_name] = "", line[256];
        uint64_t bytes = 0;
        unsigned capability = 0;
        snprintf(line, sizeof line, "%.*s", (int)(end - said), said);
        sscanf(line, "%127[^\t\n]\t%" SCNu64 "\t%u", name, &bytes, &capability);
        if (devices->gpu_count++ == 0) {
            memcpy(devices->gpu_name, name, sizeof name);
            devices->gpu_bytes = bytes;
        }
        if (devices->gpu_count == 1 || capability < devices->gpu_capability)
            devices->gpu_capability = capability;
    }
}

/* Starts the probe. NVIDIA's driver takes about a third of a second to start. */
static void look_for_gpu(struct devices *devices, const struct toolchain *toolchain,
                         struct trouble *trouble)
{
    const char *arguments[] = {toolchain->probe, NULL};
    char library_path[PATH_MAX], visible[256];
    const char *environment[] = {"PATH=/usr/bin:/bin", NULL, NULL, NULL};
    size_t count = 1;
    /* Both variables decide which GPUs the user's programs see. */
    if (getenv("LD_LIBRARY_PATH") != NULL) {
        snprintf(library_path, sizeof library_path, "LD_LIBRARY_PATH=%s",
                 getenv("LD_LIBRARY_PATH"));
        environment[count++] = library_path;
    }
    if (getenv("CUDA_VISIBLE_DEVICES") != NULL) {
        snprintf(visible, sizeof visible, "CUDA_VISIBLE_DEVICES=%s",
                 getenv("CUDA_VISIBLE_DEVICES"));
        environment[count++] = visible;
    }
    struct process_spec spec = {
        .arguments = arguments,
        .environment = environment,
        .folder = "/",
        .limits = {.seconds = 30, .output = 4096},
    };
    struct process *process = process_start(&spec);
    if (process == NULL) {
        trouble_set_error(trouble, errno, TROUBLE_PROCESS, "the search for a GPU");
        return;
    }
    process_wait_any(&process, 1);
    const struct process_result *result = process_result(process);
    const char *said = process_printed(process);
    int line = (int)strcspn(said, "\n");
    if (result->ending == PROCESS_EXITED && result->code == 0) {
        note_gpus(devices, said);
    } else if (result->ending == PROCESS_EXITED && result->code == 1) {
        snprintf(devices->no_gpu, sizeof devices->no_gpu, "%.*s", line, said);
    } else if (result->ending == PROCESS_TIME) {
        snprintf(devices->no_gpu, sizeof devices->no_gpu,
                 _("NVIDIA's driver did not answer within 30 s"));
    } else if (result->ending == PROCESS_BUSY) {
        trouble_set(trouble, TROUBLE_BUSY, "the search for a GPU");
    } else if (result->ending == PROCESS_NOT_STARTED &&
               trouble_of_error(result->error) != TROUBLE_NONE) {
        trouble_set_error(trouble, result->error, TROUBLE_PROCESS, "the search for a GPU");
    } else {
        snprintf(devices->no_gpu, sizeof devices->no_gpu, _("the search for one failed%s%s"),
                 result->why[0] != '\0' ? ": " : "", result->why);
    }
    process_free(process);
}

/* ---- OpenCL -----------------------------------------------------------------------------------
 */

static bool any_is_there(const char *const *patterns)
{
    bool there = false;
    for (; *patterns != NULL && !there; patterns++) {
        glob_t found = {0};
        there = glob(*patterns, 0, NULL, &found) == 0;
        globfree(&found);
    }
    return there;
}

/* Looks for files only and loads nothing: the grader never touches a device. */
static void look_for_opencl(struct devices *devices, const struct toolchain *toolchain)
{
    char of_toolkit[PATH_MAX];
    const char *const headers[] = {"/usr/include/CL/cl.h", "/usr/local/include/CL/cl.h", of_toolkit,
                                   NULL};
    static const char *const loaders[] = {"/usr/lib/*/libOpenCL.so.1",
                                          "/usr/lib/libOpenCL.so.1",
                                          "/usr/lib64/libOpenCL.so.1",
                                          "/lib/*/libOpenCL.so.1",
                                          "/usr/local/cuda/lib64/libOpenCL.so.1",
                                          "/usr/local/lib/libOpenCL.so.1",
                                          NULL};
    static const char *const pocl[] = {"/etc/OpenCL/vendors/pocl.icd", NULL};
    static const char *const nvidia[] = {"/etc/OpenCL/vendors/nvidia.icd",
                                         "/usr/lib/*/libnvidia-opencl.so.1",
                                         "/usr/lib64/libnvidia-opencl.so.1",
                                         "/usr/lib/libnvidia-opencl.so.1",
                                         "/usr/local/nvidia/lib*/libnvidia-opencl.so.1",
                                         NULL};
    const char *why = NULL;

    snprintf(of_toolkit, sizeof of_toolkit, "%.*s/CL/cl.h",
             (int)strcspn(toolchain->cuda_include, ";"), toolchain->cuda_include);
    if (!any_is_there(headers))
        why = N_("There are no headers of OpenCL (CL/cl.h). ./grade 13 installs them.");
    else if (!any_is_there(loaders))
        why = N_("There is no OpenCL (libOpenCL.so.1). ./grade 13 installs it.");
    snprintf(devices->no_opencl, sizeof devices->no_opencl, "%s",
             why != NULL ? _(why)
             : any_is_there(pocl)
                 ? ""
                 : _("There is no PoCL, OpenCL for processors. ./grade 13 installs it."));
    snprintf(devices->no_opencl_gpu, sizeof devices->no_opencl_gpu, "%s",
             why != NULL            ? _(why)
             : any_is_there(nvidia) ? ""
                                    : _("There is no OpenCL of NVIDIA's."));
}

int devices_find(struct devices *devices, const struct toolchain *toolchain,
                 enum devices_wanted wanted, bool opencl, struct text *why, struct trouble *trouble)
{
    char path[PATH_MAX];

    memset(devices, 0, sizeof *devices);
    if (opencl) look_for_opencl(devices, toolchain);
    if (wanted == DEVICE_EMULATOR)
        snprintf(devices->no_gpu, sizeof devices->no_gpu, _("--device=emulator was asked for"));
    else
        look_for_gpu(devices, toolchain, trouble);
    if (trouble->kind != TROUBLE_NONE) return 2;
    if (wanted == DEVICE_GPU) {
        if (!devices->gpu) {
            text_format(why,
                        _("--device=gpu: there is no GPU to grade on: %s. --device=emulator grades "
                          "without one."),
                        devices->no_gpu);
            return 2;
        }
        snprintf(devices->no_emulator, sizeof devices->no_emulator,
                 _("--device=gpu was asked for"));
        return 0;
    }
    snprintf(path, sizeof path, "%s/libcudart.so.13", toolchain->emulator);
    devices->emulator = access(path, R_OK) == 0;
    if (!devices->emulator) {
        text_format(why, _("the software device is not built: %s is missing. ./grade builds it."),
                    path);
        return 2;
    }
    return 0;
}
