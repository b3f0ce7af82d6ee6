// More kernels for test_exec_watch, as racecheck_kernels.cu has them: loads in front of a store to
// the same place, and loads that no such store comes behind. Their names have "look_" in them.

#include "racecheck.cuh"

// A look before the act: whoever comes first marks, and nobody does what the others' marks say.
KERNEL right_look_before_the_act(const int *in, int *out, int n)
{
    if (out[n] == 0) out[n] = 1 + in[0] % 2;
}

KERNEL look_in_the_other_branch(const int *in, int *out, int n)
{
    if (blockIdx.x == 0)
        out[threadIdx.x] = in[threadIdx.x] + 1; // look_in_the_other_branch
    else
        out[index()] = out[threadIdx.x]; // look_in_the_other_branch
}

KERNEL look_by_one_thread(const int *in, int *out, int n)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) out[n] = 7; // look_by_one_thread
    } else if (threadIdx.x == 0) {
        out[index()] = out[n]; // look_by_one_thread
    }
}

KERNEL look_by_a_switch(const int *in, int *out, int n)
{
    switch (blockIdx.x) {
    case 0:
        out[n] = in[0] + 7; // look_by_a_switch
        break;
    case 1:
        out[index()] = out[n] + 1; // look_by_a_switch
        break;
    case 2:
        out[index()] = in[1] + 3;
        break;
    case 3:
        out[index()] = out[n] - in[2]; // look_by_a_switch
        break;
    }
}

// What is loaded decides nothing here: it only goes on into other memory.
KERNEL look_passed_on(const int *in, int *out, int n)
{
    const int seen = blockIdx.x > 0 ? out[n] : 0; // look_passed_on
    if (index() == 0) out[n] = in[0] + 7;         // look_passed_on
    out[index()] = seen * 2 + 1;
}

KERNEL look_within_the_block(const int *in, int *out, int n)
{
    const int seen = out[n + blockIdx.x];                  // look_within_the_block
    if (threadIdx.x == 0) out[n + blockIdx.x] = in[0] + 7; // look_within_the_block
    out[index()] = seen + threadIdx.x;
}

// Each thread reads and writes a word of its own, and passes on what it has read.
KERNEL right_look_at_its_own(const int *in, int *out, int n)
{
    __shared__ volatile int last[256];
    const int seen = out[index()];
    out[index()] = in[index()];
    last[threadIdx.x] = seen + 1;
}
