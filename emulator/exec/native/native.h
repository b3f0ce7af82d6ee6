/* exec_native: machine code for functions that are hot. It makes stretches and loops of decoded
 * instructions into native code by LLVM, from the rows themselves: ops/ is compiled a second time,
 * as bitcode, and a stretch is its handlers one after the other, inlined, with their operands
 * known. The library is loaded when the first function is hot; where it is missing, or was not
 * there when the device was built, all is interpreted as ever. It never decides what an instruction
 * means, where lanes part or meet, or whether an access is allowed: such instructions it leaves to
 * their own handlers, but for the loads, stores, atomics, shuffles and votes that ops/quick.c knows
 * to be fine. Code is made for whole warps first, and for others when they come. Private to
 * emulator/exec.
 */
#ifndef OVERLAP_EXEC_NATIVE_NATIVE_H
#define OVERLAP_EXEC_NATIVE_NATIVE_H

#include "emulator/exec/decoded.h"

/* Has `function`, which is complete, compiled when it is hot, if exec_native_use says so. */
void exec_native_watch(struct exec_program *program, struct exec_function *function);
/* Gives the program's machine code back: nothing runs it any more. */
void exec_native_end(struct exec_program *program);

#endif
