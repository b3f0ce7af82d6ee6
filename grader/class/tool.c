#include "grader/class/tool.h"

#include <errno.h>
#include <string.h>

enum tool_ended tool_run(const struct process_spec *spec, const char *refuses, struct text *printed,
                         struct text *why)
{
    struct process *process = process_start(spec);
    enum tool_ended result = TOOL_NOT_STARTED;

    if (process == NULL) {
        text_format(why, "%s cannot be started: %s", spec->arguments[0], strerror(errno));
        return result;
    }
    process_wait_any(&process, 1);
    const struct process_result *ended = process_result(process);
    if (ended->ending == PROCESS_EXITED && ended->code == 0) {
        if (printed != NULL) text_add_bytes(printed, process_printed(process), ended->printed_size);
        result = TOOL_DONE;
    } else if (ended->ending == PROCESS_NOT_STARTED) {
        text_format(why, "%s cannot be started: %s", spec->arguments[0], ended->why);
    } else {
        result = TOOL_REFUSED;
        text_format(why, "%s %s: ", spec->arguments[0], refuses);
        text_add_quoted(why, process_printed(process), ended->printed_size);
    }
    process_free(process);
    return result;
}
