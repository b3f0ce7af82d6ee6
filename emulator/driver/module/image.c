/* Images: from the input of an API call to parsed PTX. */
#include "emulator/base/file.h"
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/module/parts.h"

#include "emulator/fatbin/link.h"
#include "emulator/ptx/ptx.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    enum fatbin_result result;
    CUresult code;
} fatbin_codes[] = {
    {FATBIN_NOT_AN_IMAGE, CUDA_ERROR_INVALID_IMAGE}, {FATBIN_DAMAGED, CUDA_ERROR_INVALID_IMAGE},
    {FATBIN_NO_PTX, CUDA_ERROR_NO_BINARY_FOR_GPU},   {FATBIN_TOO_NEW, CUDA_ERROR_NO_BINARY_FOR_GPU},
    {FATBIN_NO_MEMORY, CUDA_ERROR_OUT_OF_MEMORY},
};

CUresult image_code(enum fatbin_result result)
{
    for (size_t i = 0; i < sizeof fatbin_codes / sizeof *fatbin_codes; i++)
        if (fatbin_codes[i].result == result) return fatbin_codes[i].code;
    return CUDA_SUCCESS;
}

/* ---- version and target ------------------------------------------------------------------- */

/* The newest known PTX is 9.0, of CUDA 13.0. Later PTX of CUDA 13's toolkits is accepted as well:
 * an unknown instruction is reported where it occurs. */
enum { PTX_MAJOR = 9 };

CUresult image_suits(const struct ptx_module *unit, unsigned chosen, char *log, size_t log_size)
{
    const unsigned here = device_capability();
    const unsigned most = chosen > here ? chosen : here;
    unsigned capability = 0;
    if (unit->version_major > PTX_MAJOR) {
        snprintf(log, log_size,
                 "error   : PTX of .version %u.%u; this device understands up to %u.x",
                 unit->version_major, unit->version_minor, PTX_MAJOR);
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    if (unit->target != NULL && sscanf(unit->target, "sm_%u", &capability) == 1 &&
        capability > most) {
        snprintf(log, log_size,
                 "error   : PTX for .target %s; this device has compute capability "
                 "%u.%u",
                 unit->target, here / 10, here % 10);
        return CUDA_ERROR_INVALID_PTX;
    }
    return CUDA_SUCCESS;
}

/* ---- undefined symbols -------------------------------------------------------------------- */

/* Returns true for a function that need not be defined in the unit. Functions of the toolkit's
 * device runtime that device_runtime.c lacks are reported when they are called. */
static bool may_be_missing(const struct ptx_function *function)
{
    return function->is_defined || function->alias_of != NULL || exec_provides(function->name) ||
           strncmp(function->name, "cuda", 4) == 0 || strncmp(function->name, "__cuda", 6) == 0;
}

static const struct ptx_function *missing_in(const struct ptx_operand *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_operand *operand = &operands[i];
        if (operand->kind == PTX_OPERAND_VECTOR) {
            const struct ptx_function *found = missing_in(operand->elements, operand->count);
            if (found != NULL) return found;
        } else if ((operand->kind == PTX_OPERAND_SYMBOL || operand->kind == PTX_OPERAND_ADDRESS) &&
                   operand->function != NULL && !may_be_missing(operand->function)) {
            return operand->function;
        }
    }
    return NULL;
}

/* The first function that an instruction of `user` uses and that is defined nowhere. */
static const struct ptx_function *missing_for(const struct ptx_function *user)
{
    for (uint32_t i = 0; i < user->instruction_count; i++) {
        const struct ptx_instruction *instruction = &user->instructions[i];
        const struct ptx_function *callee =
            instruction->call != NULL ? instruction->call->function : NULL;
        if (callee != NULL && !may_be_missing(callee)) return callee;
        const struct ptx_function *found =
            missing_in(instruction->operands, instruction->operand_count);
        if (found != NULL) return found;
    }
    return NULL;
}

bool image_has_variables(const struct ptx_module *unit, char *log, size_t log_size)
{
    for (uint32_t i = 0; i < unit->variable_count; i++) {
        const struct ptx_variable *variable = unit->variables[i];
        if (variable->linkage != PTX_EXTERN || variable->space == PTX_SPACE_SHARED) continue;
        snprintf(log, log_size,
                 "error   : Undefined reference to '%s': the variable is declared "
                 ".extern and defined nowhere",
                 variable->name);
        return false;
    }
    return true;
}

bool image_has_functions(const struct ptx_module *unit, char *log, size_t log_size)
{
    for (uint32_t i = 0; i < unit->function_count; i++) {
        const struct ptx_function *missing = missing_for(unit->functions[i]);
        if (missing == NULL) continue;
        snprintf(log, log_size,
                 "error   : Undefined reference to '%s' in '%s': the function is "
                 "declared .extern and defined nowhere",
                 missing->name, unit->functions[i]->name);
        return false;
    }
    return true;
}

/* ---- parsing ------------------------------------------------------------------------------ */

/* Returns true if parsing of the entries can be postponed: nothing else in the unit calls or
 * launches them, and they call only functions of the device itself. */
static bool has_entries_alone(const struct ptx_module *unit)
{
    for (uint32_t i = 0; i < unit->function_count; i++) {
        const struct ptx_function *function = unit->functions[i];
        if (!function->is_entry && strcmp(function->name, "vprintf") != 0 &&
            strcmp(function->name, "__assertfail") != 0)
            return false;
    }
    return true;
}

static bool read_all(struct ptx_module *unit, struct ptx_diagnostics *diagnostics)
{
    for (uint32_t i = 0; i < unit->function_count; i++)
        if (!ptx_function_read(unit, unit->functions[i], diagnostics)) return false;
    return true;
}

static struct ptx_module *unit_parse(const struct fatbin_unit *unit, bool later,
                                     struct ptx_diagnostics *diagnostics)
{
    if (!later) return ptx_parse(unit->text, unit->length, diagnostics);
    struct ptx_module *parsed = ptx_parse_heads(unit->text, unit->length, diagnostics);
    if (parsed == NULL || has_entries_alone(parsed) || read_all(parsed, diagnostics)) return parsed;
    ptx_module_destroy(parsed);
    return NULL;
}

bool image_entry(struct image *image, size_t unit, const char *name, char *log, size_t log_size,
                 const struct ptx_function **entry)
{
    struct ptx_diagnostics diagnostics;
    *entry = ptx_function_find(image->units[unit], name);
    if (ptx_function_read(image->units[unit], *entry, &diagnostics)) return true;
    ptx_diagnostics_print(&diagnostics, log, log_size);
    return false;
}

static CUresult image_parse(struct image *image, const struct fatbin *fatbin,
                            const struct image_source *source, bool later, char *log,
                            size_t log_size)
{
    image->units = calloc(fatbin->count, sizeof *image->units);
    if (image->units == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < fatbin->count; i++) {
        struct ptx_diagnostics diagnostics = {0};
        image->units[i] = unit_parse(&fatbin->units[i], later, &diagnostics);
        if (image->units[i] == NULL) {
            ptx_diagnostics_print(&diagnostics, log, log_size);
            return CUDA_ERROR_INVALID_PTX;
        }
        image->count++;
        findings_unit_parsed(image->units[i], fatbin->units[i].text);
        if (source->jit != NULL) {
            TRY(jit_compiles(source->jit, image->units[i], log, log_size));
            TRY(jit_runs(source->jit, log, log_size));
            jit_apply(source->jit, image->units[i]);
        }
        TRY(image_suits(image->units[i], fatbin->units[i].arch, log, log_size));
        if (!fatbin_is_linked(&fatbin->units[i]) &&
            !image_has_functions(image->units[i], log, log_size))
            return CUDA_ERROR_INVALID_PTX;
    }
    return CUDA_SUCCESS;
}

/* ---- images loaded repeatedly ------------------------------------------------------------- */

/* A program with several contexts loads the same code into each. The latest small image is kept, so
 * that it is parsed only once; images do not change after parsing. */
enum { SHARED_TEXT = 64 << 10 };
static struct image *latest;

static bool may_be_shared(const struct fatbin *fatbin, const struct image_source *source)
{
    return fatbin->count == 1 && fatbin->units[0].length <= SHARED_TEXT &&
           (source->jit == NULL || (source->jit->max_registers == 0 && !source->jit->has_target));
}

/* Returns the shared image with a new reference; NULL: the text has to be parsed. */
static struct image *image_again(const struct fatbin *fatbin)
{
    if (latest == NULL || strcmp(latest->text, fatbin->units[0].text) != 0) return NULL;
    latest->references++;
    return latest;
}

static void image_share(struct image *image)
{
    image_release(latest);
    latest = image;
    image->references++;
}

static void take_text(struct image *image, struct fatbin *fatbin)
{
    image->text = fatbin->units[0].text;
    fatbin->units[0].text = NULL;
}

static CUresult image_make(struct fatbin *fatbin, const struct image_source *source, char *log,
                           size_t log_size, struct image **image)
{
    const bool later = source->later && fatbin->count == 1 && fatbin->units[0].arch != 0;
    const bool shared = !later && may_be_shared(fatbin, source);
    struct image *made = shared ? image_again(fatbin) : NULL;
    CUresult code = CUDA_ERROR_OUT_OF_MEMORY;
    if (made != NULL) {
        code = image_suits(made->units[0], fatbin->units[0].arch, log, log_size);
    } else if ((made = calloc(1, sizeof *made)) != NULL) {
        made->references = 1;
        code = image_parse(made, fatbin, source, later, log, log_size);
        if (code == CUDA_SUCCESS && (shared || later)) take_text(made, fatbin);
        if (code == CUDA_SUCCESS && shared) image_share(made);
    }
    if (code == CUDA_SUCCESS)
        *image = made;
    else
        image_release(made);
    return code;
}

/* ---- opening ------------------------------------------------------------------------------ */

static bool add_unit(struct fatbin *fatbin, const char *text)
{
    struct fatbin_unit *units = realloc(fatbin->units, (fatbin->count + 1) * sizeof *units);
    if (units == NULL) return false;
    fatbin->units = units;
    units[fatbin->count] = (struct fatbin_unit){.text = strdup(text), .length = strlen(text)};
    return units[fatbin->count].text != NULL && ++fatbin->count > 0;
}

/* Adds a unit for each part of the toolkit's device runtime that a unit calls. */
static bool add_device_runtime(struct fatbin *fatbin)
{
    const size_t count = fatbin->count;
    for (size_t part = 0; device_runtime_for("", part) != NULL; part++) {
        const char *text = "";
        for (size_t i = 0; i < count && *text == '\0'; i++)
            text = device_runtime_for(fatbin->units[i].text, part);
        if (*text != '\0' && !add_unit(fatbin, text)) return false;
    }
    return true;
}

/* Links several translation units (-rdc=true) into one. */
static enum fatbin_result image_link(struct fatbin *fatbin, char *log, size_t log_size)
{
    struct fatbin_unit joined;
    enum fatbin_result result = FATBIN_NO_MEMORY;
    if (!add_device_runtime(fatbin)) goto failed;
    if (fatbin->count < 2) return FATBIN_OK;
    result = fatbin_link(fatbin, &joined, log, log_size);
    if (result != FATBIN_OK) goto failed;
    while (fatbin->count > 1) free(fatbin->units[--fatbin->count].text);
    free(fatbin->units[0].text);
    fatbin->units[0] = joined;
    return FATBIN_OK;
failed:
    fatbin_close(fatbin);
    return result;
}

/* Libraries that nobody builds himself, by the beginning of the file name: what is not supported,
 * and what their users can do. */
static const struct ready_made {
    const char *begin, *detail;
} ready_made[] = {
    {"libnccl",
     "NCCL: the library carries machine code only. ./emulate --stand-ins puts one in its "
     "place"},
    {"warp.so",
     "machine code, which Warp makes where a module's option cuda_output is \"cubin\": leave "
     "it at \"ptx\""},
};

static const struct ready_made *ready_made_of(const char *file)
{
    for (size_t i = 0; i < sizeof ready_made / sizeof *ready_made; i++)
        if (strncmp(file, ready_made[i].begin, strlen(ready_made[i].begin)) == 0)
            return &ready_made[i];
    return NULL;
}

/* Reports why an image does not load. Of libraries that come ready made the finding says what their
 * users can do. */
static void tell(const struct image_source *source, enum fatbin_result result, CUresult code,
                 const char *log)
{
    Dl_info place;
    /* What a library has made lies in none: then it is the one that calls. */
    const bool known = result == FATBIN_NO_PTX && (dladdr(source->data, &place) != 0 ||
                                                   dladdr(thread.call.caller, &place) != 0);
    const char *file = known && place.dli_fname != NULL ? place.dli_fname : "";
    const char *slash = strrchr(file, '/');
    if (slash != NULL) file = slash + 1;
    const struct ready_made *library = ready_made_of(file);
    const bool of_pytorch = strncmp(file, "libtorch", strlen("libtorch")) == 0;
    const enum trace_finding_id id = library != NULL ? FINDING_UNSUPPORTED
                                     : of_pytorch    ? FINDING_MODULE_OF_PYTORCH
                                                     : finding_of_library(file);
    if (id == FINDING_UNSUPPORTED || id == FINDING_NONE) {
        finding_tell(library != NULL ? id : FINDING_MODULE_DOES_NOT_LOAD, code, "%s",
                     library != NULL ? library->detail : log);
        return;
    }
    struct trace_record found = finding_at_call(id, code);
    call_plain_name(found.name, sizeof found.name, thread.call.name);
    trace_finding_word_set(&found.finding, WORD_FILE, file);
    finding_put(&found);
}

CUresult image_open(const struct image_source *source, char *log, size_t log_size,
                    struct image **image)
{
    struct fatbin fatbin;
    log[0] = '\0';
    enum fatbin_result result =
        fatbin_open(source->data, source->size, device_capability(), &fatbin, log, log_size);
    if (result == FATBIN_OK) result = image_link(&fatbin, log, log_size);
    CUresult code = image_code(result);
    if (code == CUDA_SUCCESS) {
        code = image_make(&fatbin, source, log, log_size, image);
        fatbin_close(&fatbin);
    }
    if (code != CUDA_SUCCESS) tell(source, result, code, log);
    return code;
}

CUresult image_read_file(const char *path, char **data, size_t *size)
{
    *data = file_read(path, size);
    if (*data != NULL) return CUDA_SUCCESS;
    if (errno == ENOMEM) return CUDA_ERROR_OUT_OF_MEMORY;
    /* Packages look for what they compiled in earlier runs first (OpenMM). */
    if (errno == ENOENT) return CUDA_ERROR_FILE_NOT_FOUND;
    struct trace_record found =
        finding_at_call(FINDING_MODULE_NOT_OPENED, CUDA_ERROR_FILE_NOT_FOUND);
    trace_finding_word_set(&found.finding, WORD_FILE, path);
    finding_detail(&found, "%s", strerror(errno));
    finding_put(&found);
    return CUDA_ERROR_FILE_NOT_FOUND;
}

CUresult image_open_file(const char *path, char *log, size_t log_size, struct image **image)
{
    char *data;
    size_t size;
    TRY(image_read_file(path, &data, &size));
    const struct image_source source = {.data = data, .size = size};
    CUresult code = image_open(&source, log, log_size, image);
    free(data);
    return code;
}

void image_release(struct image *image)
{
    if (image == NULL || --image->references > 0) return;
    for (size_t i = 0; i < image->count; i++) ptx_module_destroy(image->units[i]);
    free(image->units);
    free(image->text);
    free(image);
}
