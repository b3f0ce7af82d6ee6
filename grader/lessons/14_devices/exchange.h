/* The data that the judge passes to the drive of lesson 14, and the drive's results. */
#ifndef OVERLAP_GRADER_LESSONS_14_DEVICES_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_14_DEVICES_EXCHANGE_H

#include <stdint.h>

#define DEVICES_MOST 9   /* that the program uses */
#define DEVICES_CALLS 11 /* at most */

enum devices_what { DEVICES_LINK, DEVICES_STEPS };

struct devices_call {
    uint32_t what;
    uint32_t count;
    int32_t devices[DEVICES_MOST];
    int32_t current; /* the current device when the function is called */
    /* LINK: access that the drive enables before the call: by device, a bit for each peer. STEPS:
     * as many as there may be, where bit 0 of the first is set. */
    uint32_t enabled[DEVICES_MOST];
    uint32_t again; /* the call is made again, while the runtime holds an earlier error */
    uint32_t timed;
    uint32_t rows, columns, steps; /* STEPS */
    uint64_t offset;               /* of its grid, in cells */
};

struct devices_input {
    uint32_t there; /* devices that the program sees and the drive has used before the first call */
    uint32_t kinds[DEVICES_MOST]; /* on the software device: equal kinds are the same GPU */
    uint32_t call_count;
    struct devices_call calls[DEVICES_CALLS];
    uint64_t cell_count;
    int32_t cells[];
};

struct devices_answer {
    int32_t status;
    int32_t current;                /* the current device afterwards */
    int32_t last;                   /* what cudaGetLastError says afterwards */
    int32_t later;                  /* the error when the drive waited for all devices */
    int32_t remembered;             /* what the call returned when it was made again */
    uint32_t lost;                  /* not called, because an earlier call had broken a context */
    uint32_t changed;               /* STEPS: cells of the input that are not as they were */
    uint32_t enabled[DEVICES_MOST]; /* LINK: access that is enabled afterwards */
};

struct devices_output {
    uint32_t can[DEVICES_MOST]; /* cudaDeviceCanAccessPeer: by device, a bit for each peer */
    uint32_t reserved[4];
    struct devices_answer answers[DEVICES_CALLS];
    int32_t cells[];
};

/* A call's phase has the call's index; that of the timed call has the index 0. */
#define DEVICES_PHASE_CALL "call"
#define DEVICES_PHASE_TIME "time"

#endif
