/* quote: the text of a line of device code, where the program compiled a string that is in no file
 * when somebody reads the finding: PTX that the compilers in front (emulator/front) have made has
 * it as comments, `//kernel.cu:5 TEXT`, which are nvcc's own form (-src-in-ptx).
 */
#ifndef OVERLAP_DRIVER_FINDINGS_QUOTE_H
#define OVERLAP_DRIVER_FINDINGS_QUOTE_H

#include "emulator/ptx/ptx.h"
#include "trace/trace.h"

/* Keeps what the text quotes of the files of `unit`, which was parsed from it; nothing where no
 * findings are placed. `text` is ended. */
void quote_keep(const char *text, const struct ptx_module *unit);

/* Puts the TRACE_LINE of the finding's line of device code, if its text is known for certain. */
void quote_put(const struct trace_record *found);

#endif
