/* Reasons why the software device does not execute a PTX instruction, rows of
 * trace/unsupported.def. FINDING_UNSUPPORTED_INSTRUCTION has the reason in numbers[0];
 * trace/sentence.c prints it.
 */
#ifndef OVERLAP_TRACE_UNSUPPORTED_H
#define OVERLAP_TRACE_UNSUPPORTED_H

enum trace_unsupported {
#define UNSUPPORTED(id, reason) UNSUPPORTED_##id,
#include "trace/unsupported.def"
#undef UNSUPPORTED
    UNSUPPORTED_COUNT
};

#endif
