/* It would stand in for the system's where the drive includes <limits.h>. */
#error "the header of a submission was read"
