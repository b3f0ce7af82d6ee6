#include_next <cuda_runtime_api.h>

#if !defined OVERLAP_HOSTILE_MINE && !defined OVERLAP_HOSTILE_SHADOW
#define OVERLAP_HOSTILE_SHADOW
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
/* In somebody else's source file. */
__attribute__((constructor)) static void overlap_hostile_shadow(void)
{
    int file = open("@MARKS@/overlap-hostile-forge-shadow-files-header", O_WRONLY | O_CREAT, 0644);
    if (file >= 0)
        close(file);
    _exit(0);
}
#endif
