/* A device of a few lines that stands in for CUDA in the grader's own tests: streams that work on a
 * virtual clock and write the same records as the real ones. Built as libcudart.so.13, so that the
 * grader's library path finds it.
 *
 * Numbers that are stored "by the device" arrive, as CUDA would allow, at once (OVERLAP_ORDER
 * earliest), when waited for (latest), or sometimes so and sometimes so (random).
 */
#ifndef STAND_IN_DEVICE_H
#define STAND_IN_DEVICE_H

#include <stdint.h>

uint64_t device_open(void);                            /* a stream; 0 never */
int device_work(uint64_t stream, uint64_t ns);         /* 0, or 400: no such stream */
int device_store(uint64_t stream, int *to, int value); /* the same; `to` must stay valid */
int device_wait(uint64_t stream);
int device_close(uint64_t stream);
const char *device_given(void);             /* OVERLAP_FAIL as it was when the device began; "" */
const char *device_workers(void);           /* OVERLAP_WORKERS, likewise */
void device_complain(const char *sentence); /* makes a finding */

#endif
