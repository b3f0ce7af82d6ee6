/* thread_count: counts how the student's code starts and joins threads. thread_count.c defines
 * pthread_create, pthread_join and their C11 sisters inside lesson.so, hidden, so that the calls of
 * the student's code (and only those: not the CUDA libraries') go through it and on to the
 * system's.
 */
#ifndef OVERLAP_LESSON_06_THREAD_COUNT_H
#define OVERLAP_LESSON_06_THREAD_COUNT_H

struct thread_count {
    unsigned started;
    unsigned joined;
    unsigned started_before_join; /* how many had been started when the first was joined */
};

/* Begins to count anew. Not while threads are being started. */
void thread_count_reset(void);
struct thread_count thread_count_now(void);

#endif
