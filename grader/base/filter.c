#include "grader/base/filter.h"

#include <stddef.h>
#include <string.h>

/* Returns true when all of `name` matches the pattern of `length` bytes. */
static bool pattern_matches(const char *pattern, size_t length, const char *name)
{
    const char *end = pattern + length, *star = NULL, *resume = NULL;

    /* On a mismatch the last star takes one more character; earlier stars never need to. */
    while (*name != '\0') {
        if (pattern < end && *pattern == '*') {
            star = pattern++;
            resume = name;
        } else if (pattern < end && (*pattern == '?' || *pattern == *name)) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star + 1;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*') pattern++;
    return pattern == end;
}

static bool list_matches(const char *list, size_t length, const char *name)
{
    const char *end = list + length;

    while (list <= end) {
        const char *colon = memchr(list, ':', (size_t)(end - list));
        const char *stop = colon != NULL ? colon : end;
        if (pattern_matches(list, (size_t)(stop - list), name)) return true;
        list = stop + 1;
    }
    return false;
}

bool filter_matches(const char *filter, const char *name)
{
    const char *dash = strchr(filter, '-');
    size_t positive = dash != NULL ? (size_t)(dash - filter) : strlen(filter);

    if (dash != NULL && list_matches(dash + 1, strlen(dash + 1), name)) return false;
    if (dash != NULL && positive == 0) return true;
    return list_matches(filter, positive, name);
}

bool filter_in_shard(unsigned number, unsigned shard, unsigned total)
{
    return total <= 1 || number % total == shard;
}
