/* filter: GoogleTest's patterns for test names ("Streams.*:Events.*-*.Timing"): ':' separates
 * alternatives, '*' is any string, '?' any character; what follows the first '-' is excluded.
 */
#ifndef OVERLAP_GRADER_BASE_FILTER_H
#define OVERLAP_GRADER_BASE_FILTER_H

#include <stdbool.h>

/* Returns true when "Suite.Test" matches the filter. */
bool filter_matches(const char *filter, const char *name);

/* Returns true when test `number`, counted among those that match, belongs to shard `shard`
 * (0-based) of `total`: number modulo total == shard. */
bool filter_in_shard(unsigned number, unsigned shard, unsigned total);

#endif
