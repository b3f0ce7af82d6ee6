/* Why the software device does not execute an instruction of PTX: a row of trace/unsupported.def.
 * FINDING_UNSUPPORTED_INSTRUCTION has it in numbers[0]; trace/sentence.c says it.
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
