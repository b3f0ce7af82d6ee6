/* Stands in for this folder where the device is built without LLVM: all code is interpreted. */
#include "emulator/exec/native/native.h"

void exec_native_use(enum exec_native_use use)
{
    (void)use;
}

void exec_native_keep(const char *folder)
{
    (void)folder;
}

size_t exec_native_stretches(const struct exec_program *program)
{
    (void)program;
    return 0;
}

void exec_native_watch(struct exec_program *program, struct exec_function *function)
{
    (void)program, (void)function;
}

void exec_native_end(struct exec_program *program)
{
    (void)program;
}
