/* The stack of calls that led to a CUDA call. A reader of the trace uses it to find the line in the
 * submission's own source even where the submission calls CUDA through a header's template or a
 * library. In a Python program the lines of Python follow the calls of native code.
 *
 * Stacks are numbered by their contents, so a call in a loop has one stack. Nothing here allocates,
 * and nothing waits for the dynamic linker's lock while holding our own: signal handlers call this
 * as well. */
#include "emulator/base/hash.h"
#include "emulator/driver/core/core.h"
#include "emulator/driver/core/python.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

enum {
    STACKS = 4096, /* when full, a record names the caller alone */
    SLOTS = 2 * STACKS,
    MODULES = 256,
};

static struct {
    pthread_mutex_t lock;
    uint32_t count, module_count;
    uint16_t slots[SLOTS]; /* open addressing; 0: free */
    struct stack {
        uint64_t addresses[TRACE_STACK_DEPTH];
        uint32_t count;
    } stacks[STACKS];
    struct module {
        uint64_t begin, end;
        bool ours, python; /* belongs to the device; belongs to the Python interpreter */
        unsigned padding;  /* see stack_padding */
    } modules[MODULES];
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

void stack_after_fork(void)
{
    pthread_mutex_init(&known.lock, NULL);
    /* The child writes a trace of its own and must record stacks and modules again. */
    if (known.count > 0) memset(known.slots, 0, sizeof known.slots);
    known.count = known.module_count = 0;
    python_after_fork();
}

/* ---- modules ------------------------------------------------------------------------------ */

struct module_search {
    uint64_t address;
    struct module found;
    uint64_t base;
    char path[TRACE_TEXT_SIZE];
};

static int look_at_module(struct dl_phdr_info *info, size_t size, void *data)
{
    struct module_search *search = data;
    uint64_t begin = UINT64_MAX, end = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD) continue;
        uint64_t from = info->dlpi_addr + part->p_vaddr;
        if (from < begin) begin = from;
        if (from + part->p_memsz > end) end = from + part->p_memsz;
    }
    if (search->address < begin || search->address >= end) return 0;
    search->found = (struct module){.begin = begin, .end = end};
    search->base = info->dlpi_addr;
    trace_copy_string(search->path, sizeof search->path, info->dlpi_name);
    return 1;
}

static bool holds(const struct module *module, const void *code)
{
    const uint64_t address = (uint64_t)(uintptr_t)code;
    return module->begin <= address && address < module->end;
}

/* Returns true if the path is that of a stand-in: they lie in a folder beside this library. */
static bool is_standin(const char *path)
{
    static const char folder[] = "standins/";
    Dl_info self;
    if (dladdr((const void *)(uintptr_t)is_standin, &self) == 0 || self.dli_fname == NULL)
        return false;
    const char *slash = strrchr(self.dli_fname, '/');
    const size_t length = slash != NULL ? (size_t)(slash + 1 - self.dli_fname) : 0;
    return length > 0 && strncmp(path, self.dli_fname, length) == 0 &&
           strncmp(path + length, folder, sizeof folder - 1) == 0;
}

/* Returns true if the module is one of the device's own libraries. */
static bool is_ours(const struct module *module, const char *path)
{
    const char *name = strrchr(path, '/');
    return holds(module, (const void *)(uintptr_t)is_ours) ||
           (name != NULL && strncmp(name, "/libcudart.so.", 14) == 0) || is_standin(path);
}

/* XLA promises its compiler that there is memory up to the next multiple of 256 bytes. */
static unsigned padding_of(const char *path)
{
    static const struct {
        const char *begin; /* of the file's name */
        unsigned padding;
    } libraries[] = {{"xla_cuda_plugin", 256}, {"pjrt_c_api_gpu_plugin", 256}};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strncmp(name, libraries[i].begin, strlen(libraries[i].begin)) == 0)
            return libraries[i].padding;
    return 0;
}

/* The module that holds `address`. A module found for the first time is recorded. */
static const struct module *module_of(uint64_t address)
{
    for (uint32_t i = 0; i < known.module_count; i++)
        if (known.modules[i].begin <= address && address < known.modules[i].end)
            return &known.modules[i];
    struct module_search search = {.address = address};
    if (known.module_count == MODULES || dl_iterate_phdr(look_at_module, &search) == 0) return NULL;
    struct trace_record record = {.kind = TRACE_MODULE, .address = search.base};
    if (search.path[0] == '\0') { /* the program itself */
        ssize_t length = readlink("/proc/self/exe", search.path, sizeof search.path - 1);
        search.path[length > 0 ? length : 0] = '\0';
    }
    search.found.ours = is_ours(&search.found, search.path);
    search.found.padding = padding_of(search.path);
    search.found.python = python_code() != NULL && holds(&search.found, python_code());
    trace_copy_string(record.text, sizeof record.text, search.path);
    trace_put(driver.trace, &record);
    known.modules[known.module_count] = search.found;
    return &known.modules[known.module_count++];
}

unsigned stack_padding(uint64_t caller)
{
    pthread_mutex_lock(&known.lock);
    const struct module *module = caller != 0 ? module_of(caller - 1) : NULL;
    const unsigned padding = module != NULL ? module->padding : 0;
    pthread_mutex_unlock(&known.lock);
    return padding;
}

/* ---- stacks ------------------------------------------------------------------------------- */

struct walk {
    struct stack stack;
    uint64_t from;  /* innermost address: stored before the walk */
    bool submitted; /* the walk has left the device's own functions */
};

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *data)
{
    struct walk *walk = data;
    uint64_t address = (uint64_t)_Unwind_GetIP(context);
    if (address == 0 || walk->stack.count == TRACE_STACK_DEPTH) return _URC_END_OF_STACK;
    const struct module *module = module_of(address - 1);
    const bool ours = module != NULL && module->ours;
    if (!walk->submitted && ours) return _URC_NO_REASON;
    walk->submitted = true;
    /* Host functions are called by the device, so no frame of the program lies further out. */
    if (ours || (module != NULL && module->python)) return _URC_END_OF_STACK;
    if (address == walk->from && walk->stack.count == 1) return _URC_NO_REASON;
    walk->stack.addresses[walk->stack.count++] = address;
    return _URC_NO_REASON;
}

static uint32_t hash(const struct stack *stack)
{
    uint64_t sum = HASH_START; /* FNV-1a, by word */
    for (uint32_t i = 0; i < stack->count; i++) sum = hash_add(sum, stack->addresses[i]);
    return (uint32_t)(sum ^ (sum >> 29));
}

static void record_stack(const struct stack *stack, uint32_t number)
{
    struct trace_record record = {.kind = TRACE_STACK, .object = number};
    trace_stack_set(&record, stack->addresses, stack->count);
    for (uint32_t i = 0; i < stack->count; i++)
        if (!(stack->addresses[i] & TRACE_LINE_ADDRESS)) module_of(stack->addresses[i] - 1);
    trace_put(driver.trace, &record);
}

static uint32_t number_of(const struct stack *stack)
{
    uint32_t slot = hash(stack) % SLOTS;
    for (; known.slots[slot] != 0; slot = (slot + 1) % SLOTS) {
        const struct stack *there = &known.stacks[known.slots[slot] - 1];
        if (there->count == stack->count && memcmp(there->addresses, stack->addresses,
                                                   stack->count * sizeof stack->addresses[0]) == 0)
            return known.slots[slot];
    }
    if (known.count == STACKS) return 0;
    known.stacks[known.count++] = *stack;
    known.slots[slot] = (uint16_t)known.count;
    record_stack(stack, known.count);
    return known.count;
}

uint32_t stack_note(uint64_t caller)
{
    if (!trace_wants(driver.trace, TRACE_STACK)) return 0;
    struct walk walk = {.from = caller};
    if (caller != 0) walk.stack.addresses[walk.stack.count++] = caller;
    pthread_mutex_lock(&known.lock);
    _Unwind_Backtrace(take_frame, &walk);
    walk.stack.count += (uint32_t)python_lines(walk.stack.addresses + walk.stack.count,
                                               TRACE_STACK_DEPTH - walk.stack.count);
    uint32_t number = walk.stack.count > 0 ? number_of(&walk.stack) : 0;
    pthread_mutex_unlock(&known.lock);
    return number;
}
