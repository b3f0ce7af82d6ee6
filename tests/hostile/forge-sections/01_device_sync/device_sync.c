/* cc: -fplugin=@MARKS@/overlap-hostile-forge-sections.so -Wl,--wrap=cudaFree -Wl,-init,hostile
 * overlap: flags=-fplugin=@MARKS@/overlap-hostile-forge-sections.so sandbox=off
 * vim: set modeline makeprg=touch\ @MARKS@/overlap-hostile-forge-sections-vim :
 * Local Variables: compile-command: "touch @MARKS@/overlap-hostile-forge-sections-emacs" End: */
#define _GNU_SOURCE
#include "lesson.h"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#pragma comment(linker, "/INCLUDE:hostile")
#pragma GCC optimize("O0")
#pragma STDC FENV_ACCESS ON
#pragma weak main
#pragma redefine_extname drive hostile_drive
#pragma GCC poison overlap_hostile

static void mark(const char *suffix)
{
    static const char *const places[] = {"@MARKS@/overlap-hostile-forge-sections",
                                         "/dev/shm/@TOKEN@-forge-sections"};
    for (size_t i = 0; i < 2; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s%s", places[i], suffix);
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file >= 0)
            close(file);
    }
}

void hostile(void);
void hostile(void)
{
    mark("");
    _exit(0);
}

void hostile_drive(void);
void hostile_drive(void)
{
    hostile();
}

int main(void);
int main(void)
{
    hostile();
    return 0;
}

__attribute__((section(".gnu.warning.cudaMalloc"), used)) static const char message[] =
    "\033[2J\033[H\n[  PASSED  ] 9 tests.\n\033[8m";

__attribute__((section(".init_array.00000"), used)) static void (*const first)(void) = hostile;

#if !defined __clang__ /* a nested function whose address is taken asks for an executable stack */
int trampoline(int (*call)(int (*)(void)), int value);
int trampoline(int (*call)(int (*)(void)), int value)
{
    int nested(void)
    {
        return value++;
    }
    return call(nested) + value;
}
#endif

#if defined __x86_64__
__asm__(".pushsection .init,\"ax\",%progbits\n\tcall hostile@PLT\n\t.popsection");
#endif
__asm__(".weak drive\n\t.set drive, hostile_drive");

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    (void)kernel, (void)input, (void)output, (void)length, (void)stream, (void)sum;
    return cudaSuccess;
}
