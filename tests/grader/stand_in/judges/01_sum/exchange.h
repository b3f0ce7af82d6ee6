#ifndef SUM_EXCHANGE_H
#define SUM_EXCHANGE_H

#include <stdint.h>

struct sum_input {
    uint32_t count;
    int32_t values[];
};

struct sum_output {
    int32_t error;
    int32_t result;
};

#endif
