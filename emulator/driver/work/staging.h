/* staging: host memory for the data that a copy takes from pageable memory before it runs. Fresh
 * memory costs several times as much as copying into it, because the kernel provides it page by
 * page; so the latest large buffer is kept for the next copy. Thread-safe.
 */
#ifndef OVERLAP_DRIVER_WORK_STAGING_H
#define OVERLAP_DRIVER_WORK_STAGING_H

#include <stddef.h>

/* Returns a buffer; NULL: no memory. */
unsigned char *staging_take(size_t size);
/* Returns a buffer of staging_take for reuse. NULL is fine. */
void staging_give(unsigned char *bytes);

#endif
