#define _GNU_SOURCE
#include "lesson.h"
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char zoo[] =
    "a\0b\0\0c\n"
    "\033]0;overlap-hostile-output-escapes\007\033]2;overlap-hostile\033\\\n"
    "\033[2J\033[3J\033[H\033[8mhidden\033[0m\n"
    "\033]52;c;b3ZlcmxhcC1ob3N0aWxl\007\n"
    "\033[?1049h\033[?25l\033[c\033[6n\033[21t\033P$q m\033\\\n"
    "\x9b" "2J\x9d" "0;c1\x9c\xc2\x9b" "31m\n"
    "Failure\rSuccess\n"
    "FAILED\b\b\b\b\b\bPASSED\n"
    "\xe2\x80\xae" "DESSAP\xe2\x80\xac \xe2\x81\xa6isolate\xe2\x81\xa9 zero\xe2\x80\x8bwidth\xef\xbb\xbf\n"
    "\xff\xfe \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82\n"
    "]]>&lt;![CDATA[ <failure/> \x0b\x0c\x0e\x0f\x7f\x1b\n"
    "\xe2\x80\xa8[  PASSED  ] line separator\xe2\x80\xa9[       OK ] paragraph separator\n"
    "%s%n%x\n";

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    (void)kernel, (void)input, (void)output, (void)length, (void)stream, (void)sum;
    prctl(PR_SET_NAME, "\033[2J\033[32mPASS", 0, 0, 0);
    for (int file = 1; file <= 2; file++)
        if (write(file, zoo, sizeof zoo) < 0)
            continue;
    abort();
}
