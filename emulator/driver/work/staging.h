/* staging: host memory for what a copy takes out of pageable memory before it runs. Fresh memory
 * costs several times what copying into it does, because the kernel hands it out page by page: the
 * latest large piece is kept for the next copy. Safe from any thread.
 */
#ifndef OVERLAP_DRIVER_WORK_STAGING_H
#define OVERLAP_DRIVER_WORK_STAGING_H

#include <stddef.h>

/* NULL: no memory. */
unsigned char *staging_take(size_t size);
/* What staging_take answered. NULL is fine. */
void staging_give(unsigned char *bytes);

#endif
