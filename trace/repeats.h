/* repeats: which calls of a program that polls are recorded.
 *
 * A loop that asks for a query until the device is ready makes as many calls as the machine has
 * time for, and on a busy one its record would be full before it ends. So of calls in a row on one
 * thread that differ in nothing but their times, the first REPEATS_ALL are recorded, and then the
 * REPEATS_ALL * 2, 4, 8 ...th. Only functions in a table (repeats.c) are left out, those that
 * change nothing; a call with another result, object or line is always recorded, and so is the
 * first call behind anything else that the thread's writer records.
 */
#ifndef OVERLAP_TRACE_REPEATS_H
#define OVERLAP_TRACE_REPEATS_H

#include "trace/record.h"

#define REPEATS_ALL 64u

/* Returns false if `record`, of which `process` is filled in, is to be left out. Otherwise sets the
 * `count` of a CALL to the number of calls of its function that were left out on this thread since
 * the last one recorded. May be called from a signal handler. */
bool repeats_keep(struct trace_record *record);

/* Forgets what this thread has recorded: a new trace begins. */
void repeats_forget(void);

#endif
