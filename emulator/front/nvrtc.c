/* nvrtc: stands in front of NVIDIA's run-time compiler. When the program asks for machine code it
 * gets the PTX of the same compilation, which exists as well. The compiler is asked for line
 * information, which findings need, and the source is appended to the PTX, line by line as comments
 * (driver/findings/quote.h), because the source string is not in any file. Everything else is
 * NVIDIA's.
 *
 * Source: nvrtc.h of CUDA 13.0. That the PTX exists when -arch names a real architecture is
 * behaviour of NVRTC; tests/front checks it.
 */
#include "emulator/front/behind.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copied from nvrtc.h, which not every toolkit has. */
typedef enum {
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_INTERNAL_ERROR = 11,
} nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;
PUBLIC nvrtcResult nvrtcCreateProgram(nvrtcProgram *prog, const char *src, const char *name,
                                      int numHeaders, const char *const *headers,
                                      const char *const *includeNames);
PUBLIC nvrtcResult nvrtcDestroyProgram(nvrtcProgram *prog);
PUBLIC nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions,
                                       const char *const *options);
PUBLIC nvrtcResult nvrtcGetPTXSize(nvrtcProgram prog, size_t *ptxSizeRet);
PUBLIC nvrtcResult nvrtcGetPTX(nvrtcProgram prog, char *ptx);
PUBLIC nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *cubinSizeRet);
PUBLIC nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin);

typedef nvrtcResult create_function(nvrtcProgram *, const char *, const char *, int,
                                    const char *const *, const char *const *);
typedef nvrtcResult destroy_function(nvrtcProgram *);
typedef nvrtcResult compile_function(nvrtcProgram, int, const char *const *);
typedef nvrtcResult size_function(nvrtcProgram, size_t *);
typedef nvrtcResult text_function(nvrtcProgram, char *);

/* Declares `function` as NVIDIA's function; if there is none, returns an error from the caller. */
#define FIND_BEHIND(type, function, name)                                                          \
    type *function;                                                                                \
    *(void **)&function = behind_function(BEHIND FRONT_BEHIND, name);                              \
    if (function == NULL) return NVRTC_ERROR_INTERNAL_ERROR

/* ---- the source, in comments ----------------------------------------------------------------- */

static struct source {
    nvrtcProgram program;
    char *comments;
    struct source *next;
} * sources;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The source as PTX comments. Characters that are not ASCII become '?', since ptxas accepts no
 * others. NULL: no memory. */
static char *comments_of(const char *text, const char *name)
{
    if (name == NULL || name[0] == '\0') name = "default_program";
    char *comments = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&comments, &size);
    if (out == NULL) return NULL;
    for (unsigned line = 1; *text != '\0'; line++) {
        const size_t length = strcspn(text, "\n");
        if (strspn(text, " \t\r") < length)
            fprintf(out, "\n//%s:%u %.*s", name, line, (int)length, text);
        text += length + (text[length] != '\0');
    }
    fputc('\n', out);
    if (fclose(out) != 0) {
        free(comments);
        return NULL;
    }
    for (char *at = comments; *at != '\0'; at++)
        if ((unsigned char)*at >= 0x80) *at = '?';
    return comments;
}

static void remember(nvrtcProgram program, const char *text, const char *name)
{
    struct source *source = malloc(sizeof *source);
    if (source == NULL) return;
    *source = (struct source){.program = program, .comments = comments_of(text, name)};
    pthread_mutex_lock(&lock);
    source->next = sources;
    sources = source;
    pthread_mutex_unlock(&lock);
}

static void forget(nvrtcProgram program)
{
    pthread_mutex_lock(&lock);
    struct source **at = &sources, *found;
    while (*at != NULL && (*at)->program != program) at = &(*at)->next;
    found = *at;
    if (found != NULL) *at = found->next;
    pthread_mutex_unlock(&lock);
    if (found != NULL) free(found->comments);
    free(found);
}

/* The comments of a program; "" if unknown. Used without the lock: one thread owns a program. */
static const char *comments_for(nvrtcProgram program)
{
    pthread_mutex_lock(&lock);
    const struct source *source = sources;
    while (source != NULL && source->program != program) source = source->next;
    pthread_mutex_unlock(&lock);
    return source != NULL && source->comments != NULL ? source->comments : "";
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *prog, const char *src, const char *name,
                               int numHeaders, const char *const *headers,
                               const char *const *includeNames)
{
    FIND_BEHIND(create_function, create, "nvrtcCreateProgram");
    const nvrtcResult result = create(prog, src, name, numHeaders, headers, includeNames);
    if (result == NVRTC_SUCCESS) remember(*prog, src, name);
    return result;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *prog)
{
    FIND_BEHIND(destroy_function, destroy, "nvrtcDestroyProgram");
    if (prog != NULL) forget(*prog);
    return destroy(prog);
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* Returns true for options that request line information, or exclude it. */
static bool settles_lines(const char *option)
{
    static const char *const options[] = {
        "-lineinfo", "--generate-line-info", "-G", "--device-debug", "-dlto", "--dlink-time-opt"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (option != NULL && strcmp(option, options[i]) == 0) return true;
    return false;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions, const char *const *options)
{
    FIND_BEHIND(compile_function, compile, "nvrtcCompileProgram");
    bool settled = numOptions < 0 || (numOptions > 0 && options == NULL);
    for (int i = 0; i < numOptions && !settled; i++) settled = settles_lines(options[i]);
    if (settled) return compile(prog, numOptions, options);
    const size_t count = (size_t)numOptions;
    const char **with_lines = malloc((count + 1) * sizeof *with_lines);
    if (with_lines == NULL) return NVRTC_ERROR_OUT_OF_MEMORY;
    if (count > 0) memcpy(with_lines, options, count * sizeof *options);
    with_lines[count] = "-lineinfo";
    const nvrtcResult result = compile(prog, numOptions + 1, with_lines);
    free(with_lines);
    return result;
}

/* ---- results --------------------------------------------------------------------------------- */

/* A size of 1 means that there is no PTX, only the terminating NUL. */
nvrtcResult nvrtcGetPTXSize(nvrtcProgram prog, size_t *ptxSizeRet)
{
    FIND_BEHIND(size_function, size, "nvrtcGetPTXSize");
    const nvrtcResult result = size(prog, ptxSizeRet);
    if (result == NVRTC_SUCCESS && *ptxSizeRet > 1) *ptxSizeRet += strlen(comments_for(prog));
    return result;
}

nvrtcResult nvrtcGetPTX(nvrtcProgram prog, char *ptx)
{
    FIND_BEHIND(text_function, text, "nvrtcGetPTX");
    FIND_BEHIND(size_function, size_of, "nvrtcGetPTXSize");
    size_t size = 0;
    const nvrtcResult result = text(prog, ptx);
    if (result == NVRTC_SUCCESS && size_of(prog, &size) == NVRTC_SUCCESS && size > 1)
        strcpy(ptx + size - 1, comments_for(prog));
    return result;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *cubinSizeRet)
{
    FIND_BEHIND(size_function, size, "nvrtcGetCUBINSize");
    const nvrtcResult result = size(prog, cubinSizeRet);
    const bool made = result == NVRTC_SUCCESS && cubinSizeRet != NULL && *cubinSizeRet > 0;
    return made ? nvrtcGetPTXSize(prog, cubinSizeRet) : result;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin)
{
    FIND_BEHIND(text_function, text, "nvrtcGetCUBIN");
    size_t size = 0;
    const nvrtcResult result = nvrtcGetCUBINSize(prog, &size);
    return result == NVRTC_SUCCESS && size > 0 ? nvrtcGetPTX(prog, cubin) : text(prog, cubin);
}
