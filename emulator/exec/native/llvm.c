/* Loads the LLVM library and looks up its functions. */
#include "emulator/exec/native/llvm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static struct {
    pthread_once_t once;
    bool there;
    struct llvm functions;
} library = {.once = PTHREAD_ONCE_INIT};

#ifdef __x86_64__
#define TARGET "LLVMInitializeX86"
#else
#define TARGET "LLVMInitializeAArch64"
#endif

static const char *const starters[] = {TARGET "TargetInfo", TARGET "Target", TARGET "TargetMC",
                                       TARGET "AsmPrinter"};

static void load(void)
{
    static const struct {
        const char *name;
        size_t field;
    } functions[] = {
#define LLVM_ENTRY(name) {"LLVM" #name, offsetof(struct llvm, name)},
        LLVM_FUNCTIONS(LLVM_ENTRY)
#undef LLVM_ENTRY
    };
    void *handle = dlopen(NATIVE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) return;
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        void *address = dlsym(handle, functions[k].name);
        if (address == NULL) return;
        memcpy((char *)&library.functions + functions[k].field, &address, sizeof address);
    }
    for (size_t k = 0; k < sizeof starters / sizeof *starters; k++) {
        void (*start)(void);
        void *address = dlsym(handle, starters[k]);
        if (address == NULL) return;
        memcpy(&start, &address, sizeof start);
        start();
    }
    library.there = true;
}

const struct llvm *exec_llvm(void)
{
    pthread_once(&library.once, load);
    return library.there ? &library.functions : NULL;
}
