/* quote: the text of a device-code line, for programs that compile a string which is in no file
 * when the finding is read. PTX made by the compilers under emulator/front has the text as
 * comments, `//kernel.cu:5 TEXT`, in nvcc's own form (-src-in-ptx).
 */
#ifndef OVERLAP_DRIVER_FINDINGS_QUOTE_H
#define OVERLAP_DRIVER_FINDINGS_QUOTE_H

#include "emulator/ptx/ptx.h"
#include "trace/trace.h"

/* Keeps the lines that `text` quotes from the files of `unit`, which was parsed from it. Does
 * nothing if the trace records no places. `text` is NUL-terminated. */
void quote_keep(const char *text, const struct ptx_module *unit);

/* Writes a TRACE_LINE for the finding's device-code line, if exactly one text is known for it. */
void quote_put(const struct trace_record *found);

#endif
