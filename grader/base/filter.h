/* filter: GoogleTest's patterns for test names ("Streams.*:Events.*-*.Timing"): ':' separates
 * alternatives, '*' is any string, '?' any character; what follows the first '-' is excluded.
 */
#ifndef OVERLAP_GRADER_BASE_FILTER_H
#define OVERLAP_GRADER_BASE_FILTER_H

#include <stdbool.h>

/* Does "Suite.Test" match the filter? */
bool filter_matches(const char *filter, const char *name);

/* The n-th of `total` shards (0-based) runs the tests whose running number, among those that match,
 * is its own modulo total. */
bool filter_in_shard(unsigned number, unsigned shard, unsigned total);

#endif
