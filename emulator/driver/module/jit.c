/* The options of a call that loads code (CUjit_option) and the two logs that it may request. The
 * device has no compiler, so only the logs and the register limit have an effect; an option that
 * would change the meaning of the code is refused by name.
 *
 * Source: CUDA Driver API 13.0, CUjit_option.
 */
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/module/parts.h"

#include "emulator/ptx/ptx.h"

#include <stdio.h>
#include <string.h>

enum { LEAST_REGISTERS = 24 }; /* per thread: an H200 gives a function no fewer */

/* Options that would change what the code computes or what it is linked against. */
static const struct {
    CUjit_option option;
    const char *name;
} refused[] = {
    {CU_JIT_GLOBAL_SYMBOL_NAMES, "CU_JIT_GLOBAL_SYMBOL_NAMES"},
    {CU_JIT_GLOBAL_SYMBOL_ADDRESSES, "CU_JIT_GLOBAL_SYMBOL_ADDRESSES"},
    {CU_JIT_GLOBAL_SYMBOL_COUNT, "CU_JIT_GLOBAL_SYMBOL_COUNT"},
};

static CUresult refuse(CUjit_option option)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (refused[i].option != option) continue;
        return finding_unsupported("the option %s, which gives symbols addresses of the caller's",
                                   refused[i].name);
    }
    return (int)option >= 0 && option < CU_JIT_NUM_OPTIONS ? CUDA_SUCCESS
                                                           : CUDA_ERROR_INVALID_VALUE;
}

enum { ARCHITECTURE = 0xffff, OLDEST = 75 /* that is still compiled for */ };

/* Returns true for the values of CUjit_target, and for 0, of which nothing can be compiled. */
static bool is_target(unsigned target)
{
    static const unsigned plain[] = {0,  30, 32, 35, 37, 50, 52, 53,  60,  61,  62,  70,
                                     72, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};
    const unsigned architecture = target & ARCHITECTURE, of = target & ~(unsigned)ARCHITECTURE;
    size_t i = 0;
    while (i < sizeof plain / sizeof *plain && plain[i] != architecture) i++;
    if (i == sizeof plain / sizeof *plain) return false;
    return of == 0 || (of == CU_COMPUTE_ACCELERATED_TARGET_BASE && architecture >= 90) ||
           (of == CU_COMPUTE_FAMILY_TARGET_BASE && architecture >= 100);
}

CUresult jit_compiles(const struct jit *jit, const struct ptx_module *unit, char *log,
                      size_t log_size)
{
    const unsigned architecture = jit->target & ARCHITECTURE;
    unsigned least = 0;
    if (!jit->has_target) return CUDA_SUCCESS;
    if (unit->target != NULL) sscanf(unit->target, "sm_%u", &least);
    if (architecture >= OLDEST && architecture >= least) return CUDA_SUCCESS;
    snprintf(log, log_size, "error   : PTX for .target %s cannot be compiled for sm_%u",
             unit->target != NULL ? unit->target : "", architecture);
    return architecture == 0 ? CUDA_ERROR_INVALID_IMAGE : CUDA_ERROR_INVALID_PTX;
}

CUresult jit_runs(const struct jit *jit, char *log, size_t log_size)
{
    const unsigned architecture = jit->target & ARCHITECTURE, here = device_capability();
    const bool exactly = jit->target & CU_COMPUTE_ACCELERATED_TARGET_BASE;
    if (!jit->has_target || architecture == here ||
        (!exactly && architecture / 10 == here / 10 && architecture < here))
        return CUDA_SUCCESS;
    snprintf(log, log_size,
             "error   : the code was to be compiled for sm_%u (CU_JIT_TARGET); this device has "
             "compute capability %u.%u",
             architecture, here / 10, here % 10);
    return CUDA_ERROR_INVALID_SOURCE;
}

CUresult jit_read(struct jit *jit, unsigned count, const CUjit_option *options, void **values)
{
    *jit = (struct jit){0};
    if (count > 0 && (options == NULL || values == NULL)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        TRY(refuse(options[i]));
        switch (options[i]) {
        case CU_JIT_INFO_LOG_BUFFER:
            jit->info.text = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER:
            jit->error.text = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            jit->info.room = (size_t)(unsigned)(uintptr_t)values[i];
            jit->info.length_out = &values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            jit->error.room = (size_t)(unsigned)(uintptr_t)values[i];
            jit->error.length_out = &values[i];
            break;
        case CU_JIT_WALL_TIME:
            jit->wall_time = &values[i];
            break;
        case CU_JIT_MAX_REGISTERS:
            jit->max_registers = (unsigned)(uintptr_t)values[i];
            if (jit->max_registers == 0) return CUDA_ERROR_INVALID_VALUE;
            if (jit->max_registers < LEAST_REGISTERS) jit->max_registers = LEAST_REGISTERS;
            break;
        case CU_JIT_TARGET:
            jit->has_target = true;
            jit->target = (unsigned)(uintptr_t)values[i];
            if (!is_target(jit->target)) return CUDA_ERROR_INVALID_VALUE;
            break;
        default: /* options that affect how code is compiled, not its meaning */
            break;
        }
    }
    return CUDA_SUCCESS;
}

void jit_apply(const struct jit *jit, struct ptx_module *unit)
{
    if (jit->max_registers > 0) ptx_module_limit_registers(unit, jit->max_registers);
}

/* Appends a line to a log. */
static void jit_write(struct jit_log *log, const char *line)
{
    if (log->text == NULL || log->room == 0) return;
    size_t length = strlen(line), left = log->room - 1 - log->length;
    bool ended = length > 0 && line[length - 1] == '\n';
    if (length > left) length = left;
    memcpy(log->text + log->length, line, length);
    log->length += length;
    if (!ended && log->length < log->room - 1) log->text[log->length++] = '\n';
    log->text[log->length] = '\0';
}

static void end_log(struct jit_log *log)
{
    if (log->text != NULL && log->room > 0) log->text[log->length] = '\0';
    if (log->length_out != NULL) *log->length_out = (void *)(uintptr_t)log->length;
}

void jit_finish(struct jit *jit, CUresult code, const char *sentences)
{
    const float milliseconds = (float)(timeline_model->module_load / 1e6);
    if (code != CUDA_SUCCESS && *sentences != '\0') jit_write(&jit->error, sentences);
    end_log(&jit->info);
    end_log(&jit->error);
    if (jit->wall_time != NULL) {
        *jit->wall_time = NULL;
        memcpy(jit->wall_time, &milliseconds, sizeof milliseconds);
    }
}
