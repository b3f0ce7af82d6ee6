/* Modules in a context: loading, variables, functions. */
#include "emulator/driver/module/parts.h"

#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/findings/handle.h"
#include "emulator/driver/stream/stream.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_SIZE = 2048 };

/* ---- variables --------------------------------------------------------------------------- */

/* Finds a variable of that name in any unit: its definition, or (`external`) an .extern
 * declaration. */
static const struct exec_variable *variable_find(const struct module *module, const char *name,
                                                 bool external)
{
    for (size_t u = 0; u < module->image->count; u++) {
        size_t count = exec_variable_count(module->programs[u]);
        for (size_t i = 0; i < count; i++) {
            const struct exec_variable *variable = exec_variable_at(module->programs[u], i);
            if (variable->external == external && strcmp(variable->name, name) == 0)
                return variable;
        }
    }
    return NULL;
}

static const struct exec_variable *definition_find(const struct module *module, const char *name)
{
    return variable_find(module, name, false);
}

/* `context`: whose memory it is; NULL: of none. */
static const struct memory_region *variable_memory(const struct exec_variable *variable,
                                                   const struct context *context)
{
    return memory_allocate(&(struct memory_request){
        .kind = variable->managed ? MEMORY_MANAGED : MEMORY_VARIABLE,
        .size = variable->size > 0 ? variable->size : 1,
        .alignment = variable->alignment,
        .context = context != NULL ? context->object.id : 0,
        .device = context != NULL ? (unsigned)context->device : 0,
        .id = ++driver.ids,
        .caller = (uint64_t)(uintptr_t)thread.call.caller,
        .constant = variable->constant,
    });
}

/* Returns true for a variable that all contexts share. */
static bool is_librarys(const struct module *module, const struct exec_variable *variable)
{
    return module->library != NULL && variable->managed && !variable->external;
}

/* Finds the library's variable, which is made on the first request; NULL: no memory. */
static struct library_managed *managed_at(struct library *library, size_t unit,
                                          const struct exec_variable *variable)
{
    struct library_managed *managed = library->managed;
    while (managed != NULL && (managed->unit != unit || strcmp(managed->name, variable->name) != 0))
        managed = managed->next;
    if (managed != NULL) return managed;
    managed = calloc(1, sizeof *managed);
    char *name = strdup(variable->name);
    const struct memory_region *region =
        managed != NULL && name != NULL ? variable_memory(variable, NULL) : NULL;
    if (region == NULL) {
        free(managed);
        free(name);
        return NULL;
    }
    *managed = (struct library_managed){
        .next = library->managed, .unit = unit, .name = name, .address = region->address};
    library->managed = managed;
    return managed;
}

static CUresult place_variable(struct module *module, size_t unit, size_t index)
{
    struct exec_program *program = module->programs[unit];
    const struct exec_variable *variable = exec_variable_at(program, index);
    if (is_librarys(module, variable)) {
        const struct library_managed *managed = managed_at(module->library, unit, variable);
        if (managed == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
        exec_variable_place(program, index, managed->address);
        return CUDA_SUCCESS;
    }
    const struct memory_region *region = variable_memory(variable, module->object.context);
    if (region == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    exec_variable_place(program, index, region->address);
    return CUDA_SUCCESS;
}

/* Gives a library's variable its initial contents, once. */
static void managed_begin(struct library_managed *managed, const struct exec_program *program,
                          size_t index)
{
    if (managed->has_contents) return;
    exec_variable_initialise(program, index, memory_find(managed->address)->bytes);
    managed->has_contents = true;
}

/* Gives the variable its initial contents. */
static void begin_variable(const struct module *module, size_t unit, size_t index)
{
    const struct exec_program *program = module->programs[unit];
    const struct exec_variable *variable = exec_variable_at(program, index);
    if (!is_librarys(module, variable)) {
        exec_variable_initialise(program, index, memory_find(variable->address)->bytes);
        return;
    }
    struct library_managed *managed = managed_at(module->library, unit, variable);
    if (managed != NULL) managed_begin(managed, program, index);
}

static CUresult place_variables(struct module *module)
{
    for (size_t u = 0; u < module->image->count; u++) {
        struct exec_program *program = module->programs[u];
        for (size_t i = 0; i < exec_variable_count(program); i++)
            if (!exec_variable_at(program, i)->external) TRY(place_variable(module, u, i));
    }
    for (size_t u = 0; u < module->image->count; u++) {
        struct exec_program *program = module->programs[u];
        for (size_t i = 0; i < exec_variable_count(program); i++) {
            const struct exec_variable *variable = exec_variable_at(program, i);
            if (!variable->external) continue;
            const struct exec_variable *definition = definition_find(module, variable->name);
            if (definition != NULL) {
                exec_variable_place(program, i, definition->address);
                continue;
            }
            /* Like a GPU, creates the undefined variable, but also reports it. */
            TRY(place_variable(module, u, i));
            exec_variable_initialise(program, i, memory_find(variable->address)->bytes);
            struct trace_record found = finding_at_call(FINDING_UNDEFINED_VARIABLE, CUDA_SUCCESS);
            trace_copy_string(found.name, sizeof found.name, variable->name);
            finding_put(&found);
        }
    }
    for (size_t u = 0; u < module->image->count; u++) {
        struct exec_program *program = module->programs[u];
        for (size_t i = 0; i < exec_variable_count(program); i++) {
            if (!exec_variable_at(program, i)->external) begin_variable(module, u, i);
        }
    }
    return CUDA_SUCCESS;
}

static void release_variables(struct module *module)
{
    for (size_t u = 0; u < module->image->count; u++) {
        const struct exec_program *program = module->programs[u];
        if (program == NULL) continue;
        for (size_t i = 0; i < exec_variable_count(program); i++) {
            const struct exec_variable *variable = exec_variable_at(program, i);
            const bool elsewhere =
                variable->external && definition_find(module, variable->name) != NULL;
            if (elsewhere || variable->address == 0 || is_librarys(module, variable)) continue;
            const struct memory_region *region = memory_find(variable->address);
            if (region != NULL) memory_release(region, (uint64_t)(uintptr_t)thread.call.caller);
        }
    }
}

void module_managed_variables(const struct module *module,
                              void (*found)(void *user, const struct memory_region *region),
                              void *user)
{
    for (size_t u = 0; u < module->image->count; u++) {
        const struct exec_program *program = module->programs[u];
        for (size_t i = 0; i < exec_variable_count(program); i++) {
            const struct exec_variable *variable = exec_variable_at(program, i);
            const struct memory_region *region =
                variable->managed ? memory_find(variable->address) : NULL;
            if (region != NULL) found(user, region);
        }
    }
}

/* ---- life -------------------------------------------------------------------------------- */

void module_retain(struct module *module)
{
    module->references++;
}

void module_release(struct module *module)
{
    if (--module->references > 0) return;
    for (size_t u = 0; u < module->image->count; u++) exec_program_destroy(module->programs[u]);
    while (module->functions != NULL) {
        struct function *function = module->functions;
        module->functions = function->next;
        free(function->told.parameters);
        object_free(&function->object);
    }
    free(module->programs);
    image_release(module->image);
    object_free(&module->object);
}

/* Makes a module that is in no context: its code, with no variables. Takes over a reference to
 * `image`, also on failure. */
static CUresult code_make(struct image *image, char *log, size_t log_size, struct module **made)
{
    struct module *module = calloc(1, sizeof *module);
    if (module == NULL) {
        image_release(image);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    module->image = image;
    module->references = 1;
    module->programs = calloc(image->count, sizeof *module->programs);
    if (module->programs == NULL) {
        image_release(image);
        free(module);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (size_t u = 0; u < image->count; u++) {
        module->programs[u] = findings_watching()
                                  ? exec_program_create_checked(image->units[u], log, log_size)
                                  : exec_program_create(image->units[u], log, log_size);
        if (module->programs[u] != NULL) continue;
        finding_tell(FINDING_MODULE_DOES_NOT_LOAD, CUDA_ERROR_INVALID_PTX, "%s", log);
        module_release(module);
        return CUDA_ERROR_INVALID_PTX;
    }
    *made = module;
    return CUDA_SUCCESS;
}

/* Makes a module. Takes over a reference to `image`, also on failure. */
static CUresult module_make(struct image *image, struct library *library, struct context *context,
                            char *log, size_t log_size, struct module **made)
{
    struct module *module;
    TRY(code_make(image, log, log_size, &module));
    module->object.context = context;
    module->library = library;
    const CUresult code = place_variables(module);
    if (code != CUDA_SUCCESS) {
        if (code == CUDA_ERROR_OUT_OF_MEMORY && *log == '\0')
            snprintf(log, log_size, "error   : no memory is left for its variables");
        finding_tell(FINDING_MODULE_DOES_NOT_LOAD, code, "%s", log);
        release_variables(module);
        module_release(module);
        return code;
    }
    object_add_to(context, &module->object, OBJECT_MODULE, module_end);
    trace_object(&module->object, TRACE_CREATE, TRACE_LIBRARY,
                 library != NULL ? TRACE_IMPLICIT : 0);
    if (library != NULL) {
        module->next = library->modules;
        library->modules = module;
    }
    thread_spend(timeline_model->module_load);
    *made = module;
    return CUDA_SUCCESS;
}

void module_end(struct object *object, bool implicit)
{
    struct module *module = (struct module *)object;
    if (module->library != NULL) {
        struct module **link = &module->library->modules;
        while (*link != module) link = &(*link)->next;
        *link = module->next;
        implicit = true; /* the program loaded the library, not this module */
    }
    for (struct function *function = module->functions; function != NULL; function = function->next)
        object_remove(&function->object);
    trace_object(&module->object, TRACE_DESTROY, TRACE_LIBRARY, implicit ? TRACE_IMPLICIT : 0);
    object_remove(&module->object);
    release_variables(module);
    module->library = NULL;
    module_release(module);
}

/* ---- loading ----------------------------------------------------------------------------- */

CUresult driver_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                                   CUjit_option *options, void **optionValues)
{
    char log[LOG_SIZE] = "";
    struct jit jit;
    struct image *opened = NULL;
    struct module *made = NULL;
    NEED_POINTER(module);
    NEED_POINTER(image);
    TRY(wait_for_context_on_gpus(thread_context()));
    TRY(jit_read(&jit, numOptions, options, optionValues));
    const struct image_source source = {.data = image, .size = FATBIN_UNKNOWN_SIZE, .jit = &jit};
    CUresult code = image_open(&source, log, sizeof log, &opened);
    if (code == CUDA_SUCCESS)
        code = module_make(opened, NULL, thread_context(), log, sizeof log, &made);
    jit_finish(&jit, code, log);
    if (code == CUDA_SUCCESS) {
        thread.call.object = made->object.id;
        *module = (CUmodule)made;
    }
    return code;
}

CUresult driver_cuModuleLoadData(CUmodule *module, const void *image)
{
    return driver_cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult driver_cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    return driver_cuModuleLoadDataEx(module, fatCubin, 0, NULL, NULL);
}

CUresult driver_cuModuleLoad(CUmodule *module, const char *fname)
{
    char log[LOG_SIZE];
    struct image *image;
    struct module *made;
    NEED_POINTER(module);
    NEED_POINTER(fname);
    TRY(wait_for_context_on_gpus(thread_context()));
    TRY(image_open_file(fname, log, sizeof log, &image));
    TRY(module_make(image, NULL, thread_context(), log, sizeof log, &made));
    thread.call.object = made->object.id;
    *module = (CUmodule)made;
    return CUDA_SUCCESS;
}

CUresult driver_cuModuleUnload(CUmodule hmod)
{
    struct module *module = object_find(hmod, OBJECT_MODULE);
    if (module == NULL) return CUDA_ERROR_INVALID_HANDLE;
    if (module->library != NULL) return CUDA_ERROR_NOT_PERMITTED; /* unload its library instead */
    if (module->object.context->alive)
        thread.owed = wait_for_context_on_gpus(module->object.context);
    module = object_find(hmod, OBJECT_MODULE); /* another thread may have unloaded it meanwhile */
    if (module == NULL) return CUDA_ERROR_INVALID_HANDLE;
    thread.call.object = module->object.id;
    module_end(&module->object, false);
    return CUDA_SUCCESS;
}

bool modules_load_lazily(void)
{
    const char *chosen = getenv("CUDA_MODULE_LOADING");
    return chosen == NULL || strcmp(chosen, "EAGER") != 0;
}

CUresult driver_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    NEED_POINTER(mode);
    *mode = modules_load_lazily() ? CU_MODULE_LAZY_LOADING : CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

CUresult library_module(struct library *library, struct context *context, struct module **module)
{
    TRY(library->failed);
    for (*module = library->modules; *module != NULL; *module = (*module)->next)
        if ((*module)->object.context == context) return CUDA_SUCCESS;
    char log[LOG_SIZE] = "";
    if (modules_load_lazily() && host_is_alone())
        findings_first_use(context, &(struct findings_first){.what = FIRST_USE_OF_MODULE});
    library->image->references++;
    return module_make(library->image, library, context, log, sizeof log, module);
}

CUresult library_code(struct library *library, struct module **module)
{
    char log[LOG_SIZE] = "";
    TRY(library->failed);
    if (library->code == NULL) {
        library->image->references++;
        TRY(code_make(library->image, log, sizeof log, &library->code));
    }
    *module = library->code;
    return CUDA_SUCCESS;
}

CUresult library_managed(struct library *library, const char *name, uint64_t *address,
                         size_t *bytes)
{
    struct module *code;
    TRY(library_code(library, &code));
    for (size_t u = 0; u < code->image->count; u++) {
        for (size_t i = 0; i < exec_variable_count(code->programs[u]); i++) {
            const struct exec_variable *variable = exec_variable_at(code->programs[u], i);
            if (variable->external || !variable->managed || strcmp(variable->name, name) != 0)
                continue;
            struct library_managed *managed = managed_at(library, u, variable);
            if (managed == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
            managed_begin(managed, code->programs[u], i);
            *address = managed->address;
            *bytes = variable->size;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}

void library_managed_end(struct library *library)
{
    while (library->managed != NULL) {
        struct library_managed *managed = library->managed;
        const struct memory_region *region = memory_find(managed->address);
        library->managed = managed->next;
        if (region != NULL) memory_release(region, (uint64_t)(uintptr_t)thread.call.caller);
        free(managed->name);
        free(managed);
    }
}

void library_code_end(struct library *library)
{
    struct module *module = library->code;
    if (module == NULL) return;
    for (struct function *function = module->functions; function != NULL; function = function->next)
        object_remove(&function->object);
    module_release(module);
    library->code = NULL;
}

/* ---- contents ---------------------------------------------------------------------------- */

/* Finds an existing function and moves it to the front of the list: programs that look a function
 * up once look it up at every launch. */
static struct function *function_again(struct module *module, const char *name)
{
    struct function **link = &module->functions, *function;
    while (*link != NULL && strcmp(exec_function_info((*link)->code)->name, name) != 0)
        link = &(*link)->next;
    if ((function = *link) == NULL) return NULL;
    *link = function->next;
    function->next = module->functions;
    module->functions = function;
    return function;
}

/* Finds the entry of that name and its unit; NULL: none. */
static const struct exec_function *entry_find(const struct module *module, const char *name,
                                              size_t *unit)
{
    const struct exec_function *code = NULL;
    for (*unit = 0; *unit < module->image->count; ++*unit) {
        code = exec_function_find(module->programs[*unit], name);
        if (code != NULL) break;
    }
    return code;
}

/* Prepares an entry's code, which may have been left for its first use. */
static CUresult entry_ready(const struct module *module, size_t unit, const char *name)
{
    char log[LOG_SIZE] = "";
    const struct ptx_function *source;
    if (image_entry(module->image, unit, name, log, sizeof log, &source) &&
        exec_program_add(module->programs[unit], source, log, sizeof log))
        return CUDA_SUCCESS;
    finding_tell(FINDING_MODULE_DOES_NOT_LOAD, CUDA_ERROR_INVALID_PTX, "%s", log);
    return CUDA_ERROR_INVALID_PTX;
}

CUresult module_function(struct module *module, const char *name, struct function **function)
{
    size_t unit;
    *function = function_again(module, name);
    if (*function != NULL) return CUDA_SUCCESS;
    const struct exec_function *code = entry_find(module, name, &unit);
    if (code == NULL) return CUDA_ERROR_NOT_FOUND;
    TRY(entry_ready(module, unit, name));
    struct function *made = calloc(1, sizeof *made);
    if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    made->module = module;
    made->code = code;
    made->max_dynamic_shared = SHARED_DEFAULT - (int)exec_function_info(code)->static_shared;
    made->carveout = -1;
    made->next = module->functions;
    module->functions = made;
    object_add(&made->object, OBJECT_FUNCTION);
    if (module->object.context != NULL && modules_load_lazily())
        findings_first_use(module->object.context,
                           &(struct findings_first){.what = FIRST_USE_OF_KERNEL, .kernel = name});
    *function = made;
    return CUDA_SUCCESS;
}

CUresult driver_cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    struct module *module = object_find(hmod, OBJECT_MODULE);
    struct function *function = NULL;
    NEED_POINTER(hfunc);
    NEED_POINTER(name);
    if (module == NULL) return CUDA_ERROR_INVALID_HANDLE;
    if (*name == '\0') return CUDA_ERROR_INVALID_VALUE;
    const CUresult code = module_function(module, name, &function);
    *hfunc = (CUfunction)function;
    return code;
}

static size_t function_count(const struct module *module)
{
    size_t count = 0;
    for (size_t u = 0; u < module->image->count; u++)
        count += exec_function_count(module->programs[u]);
    return count;
}

CUresult driver_cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)
{
    const struct module *module = object_find(mod, OBJECT_MODULE);
    NEED_POINTER(count);
    if (module == NULL) return CUDA_ERROR_INVALID_HANDLE;
    *count = (unsigned)function_count(module);
    return CUDA_SUCCESS;
}

CUresult driver_cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions,
                                           CUmodule mod)
{
    struct module *module = object_find(mod, OBJECT_MODULE);
    NEED_POINTER(functions);
    if (module == NULL) return CUDA_ERROR_INVALID_HANDLE;
    unsigned written = 0;
    for (size_t u = 0; u < module->image->count; u++) {
        for (size_t i = 0; i < exec_function_count(module->programs[u]); i++) {
            const struct exec_function *code = exec_function_at(module->programs[u], i);
            if (written == numFunctions) return CUDA_SUCCESS;
            struct function *function;
            TRY(module_function(module, exec_function_info(code)->name, &function));
            functions[written++] = (CUfunction)function;
        }
    }
    return CUDA_SUCCESS;
}

CUresult driver_cuModuleGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    const struct module *module = object_find(hmod, OBJECT_MODULE);
    NEED_POINTER(name);
    if (dptr == NULL && bytes == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (module == NULL) return CUDA_ERROR_INVALID_HANDLE;
    if (bytes != NULL) *bytes = 0;
    size_t unit;
    if (*name == '\0' || entry_find(module, name, &unit) != NULL) return CUDA_ERROR_INVALID_VALUE;
    const struct exec_variable *variable = definition_find(module, name);
    if (variable == NULL) variable = variable_find(module, name, true);
    if (variable == NULL) return CUDA_ERROR_NOT_FOUND;
    if (dptr != NULL) *dptr = variable->address;
    if (bytes != NULL) *bytes = variable->size;
    return CUDA_SUCCESS;
}

/* ---- functions --------------------------------------------------------------------------- */

CUresult function_find_in(CUfunction handle, struct context *context, struct function **function)
{
    *function = object_peek(handle, OBJECT_FUNCTION);
    if (*function == NULL) {
        struct kernel *kernel = kernel_find((CUkernel)handle);
        if (kernel == NULL) return CUDA_ERROR_INVALID_HANDLE;
        return kernel_function(kernel, context, function);
    }
    return CUDA_SUCCESS;
}

CUresult function_find(CUfunction handle, struct function **function)
{
    return function_find_in(handle, thread_context(), function);
}

/* Blocks of a cluster along an axis: the compiled-in size, else the attribute; 0: neither. */
static int cluster_width(const struct function *function, int axis)
{
    const uint32_t made = exec_function_info(function->code)->cluster[axis];
    return made > 0 ? (int)made : function->cluster.size[axis];
}

CUresult function_attribute(const struct function *function, CUfunction_attribute attribute,
                            int *value)
{
    const struct exec_function_info *info = exec_function_info(function->code);
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = (int)info->max_threads;
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)info->static_shared;
        break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = (int)info->constant_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)info->local_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = (int)info->registers;
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = (int)info->ptx_version;
        break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = (int)device_capability();
        break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *value = 0;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = function->max_dynamic_shared;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = function->carveout;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *value = info->explicit_cluster;
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = cluster_width(function, (int)attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = function->cluster.non_portable;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = function->cluster.policy;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static const struct {
    CUfunction_attribute attribute;
    size_t offset; /* in struct function */
} settings[FUNCTION_SETTINGS] = {
    {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
     offsetof(struct function, max_dynamic_shared)},
    {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, offsetof(struct function, carveout)},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, offsetof(struct function, cluster.size[0])},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, offsetof(struct function, cluster.size[1])},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, offsetof(struct function, cluster.size[2])},
    {CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
     offsetof(struct function, cluster.non_portable)},
    {CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
     offsetof(struct function, cluster.policy)},
};

int function_setting(CUfunction_attribute attribute)
{
    for (int i = 0; i < FUNCTION_SETTINGS; i++)
        if (settings[i].attribute == attribute) return i;
    return -1;
}

int *function_setting_of(struct function *function, int setting)
{
    return (int *)(void *)((char *)function + settings[setting].offset);
}

/* The least and the greatest value of an attribute that can be set. */
static void setting_range(const struct function *function, CUfunction_attribute attribute,
                          int device, int *least, int *most)
{
    const struct exec_function_info *info = exec_function_info(function->code);
    *least = 0;
    *most = INT32_MAX;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        *most = device_says(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) -
                (int)info->static_shared;
    } else if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
        *least = -1;
        *most = 100;
    } else if (attribute == CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE) {
        *most = CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING;
    } else if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) {
        *most = 1;
    } else if (info->cluster[0] > 0) {
        *most = -1; /* the clusters that it was compiled for stay */
    }
}

CUresult function_attribute_check(const struct function *function, CUfunction_attribute attribute,
                                  int *value, int device)
{
    int least, most;
    if (function_setting(attribute) < 0) return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) *value = *value != 0;
    setting_range(function, attribute, device, &least, &most);
    return *value >= least && *value <= most ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    struct function *function;
    NEED_POINTER(pi);
    TRY(function_find(hfunc, &function));
    return function_attribute(function, attrib, pi);
}

CUresult driver_cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    struct function *function;
    TRY(function_find(hfunc, &function));
    TRY(function_attribute_check(function, attrib, &value, device_current()));
    const int setting = function_setting(attrib);
    *function_setting_of(function, setting) = value;
    function->own |= 1u << setting;
    return CUDA_SUCCESS;
}

CUresult driver_cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    struct function *function;
    TRY(function_find(hfunc, &function));
    if ((int)config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL)
        return CUDA_ERROR_INVALID_VALUE;
    function->cache = config;
    return CUDA_SUCCESS;
}

CUresult driver_cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config)
{
    struct function *function;
    TRY(function_find(hfunc, &function));
    return driver_cuCtxSetSharedMemConfig(config);
}

CUresult driver_cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    struct function *function;
    NEED_POINTER(hmod);
    NEED_POINTER(hfunc);
    TRY(function_find(hfunc, &function));
    *hmod = (CUmodule)function->module;
    return CUDA_SUCCESS;
}

CUresult driver_cuFuncGetName(const char **name, CUfunction hfunc)
{
    struct function *function;
    NEED_POINTER(name);
    TRY(function_find(hfunc, &function));
    *name = exec_function_info(function->code)->name;
    return CUDA_SUCCESS;
}

CUresult driver_cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
                                   size_t *paramSize)
{
    struct function *function;
    NEED_POINTER(paramOffset);
    NEED_POINTER(func);
    TRY(function_find(func, &function));
    const struct exec_function_info *info = exec_function_info(function->code);
    if (paramIndex >= info->parameter_count) return CUDA_ERROR_INVALID_VALUE;
    *paramOffset = info->parameters[paramIndex].offset;
    if (paramSize != NULL) *paramSize = info->parameters[paramIndex].size;
    return CUDA_SUCCESS;
}

CUresult driver_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    struct function *found;
    NEED_POINTER(state);
    TRY(function_find(function, &found));
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

CUresult driver_cuFuncLoad(CUfunction function)
{
    struct function *found;
    return function_find(function, &found);
}
