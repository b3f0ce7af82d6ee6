/* archive: libarchive's functions, loaded when the first archive is unpacked. libarchive depends on
 * a dozen other libraries, and a grader is forked, with everything that it has mapped, for each
 * run.
 */
#ifndef OVERLAP_CLASS_ARCHIVE_H
#define OVERLAP_CLASS_ARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

#define ARCHIVE_FUNCTIONS(FUNCTION)                                                                \
    FUNCTION(archive_entry_filetype)                                                               \
    FUNCTION(archive_entry_hardlink)                                                               \
    FUNCTION(archive_entry_pathname)                                                               \
    FUNCTION(archive_error_string)                                                                 \
    FUNCTION(archive_read_data)                                                                    \
    FUNCTION(archive_read_free)                                                                    \
    FUNCTION(archive_read_new)                                                                     \
    FUNCTION(archive_read_next_header)                                                             \
    FUNCTION(archive_read_open_filename)                                                           \
    FUNCTION(archive_read_support_filter_all)                                                      \
    FUNCTION(archive_read_support_format_all)

struct archive_functions {
#define FUNCTION(name) __typeof__(name) *name;
    ARCHIVE_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/* NULL: it cannot be loaded, for the reason that dlerror() gives. */
const struct archive_functions *archive_functions(void);

#endif
