/* exec_native: machine code for hot functions. LLVM compiles stretches and loops of decoded
 * instructions. The rows remain the only definition of an instruction: ops/ is compiled a second
 * time, as bitcode, and the code of a stretch is its rows' handlers, inlined one after the other,
 * with constant operands. The LLVM library is loaded when the first function becomes hot. Where the
 * library is missing, or the device was built without LLVM, everything is interpreted. This module
 * never decides what an instruction means, where lanes diverge or reconverge, or whether an access
 * is allowed. It leaves such instructions to their handlers, except the loads, stores, atomics,
 * shuffles and votes that the fast paths of ops/quick.c can complete. Code for full warps is made
 * first, code for other warps on demand. Private to emulator/exec.
 */
#ifndef OVERLAP_EXEC_NATIVE_NATIVE_H
#define OVERLAP_EXEC_NATIVE_NATIVE_H

#include "emulator/exec/decoded.h"

/* Has `function`, which is complete, compiled once it is hot, if exec_native_use allows it. */
void exec_native_watch(struct exec_program *program, struct exec_function *function);
/* Frees the program's machine code. No thread may be running it. */
void exec_native_end(struct exec_program *program);

#endif
