#include "lesson.h"
#define STRING(x) #x
#define WHERE STRING(/etc/passwd)
#pragma GCC dependency "/etc/passwd" anything
_Pragma("GCC pch_preprocess \"/etc/passwd\"")
#include_next <stdio.h>
#if __has_include("/etc/passwd")
#warning "there is a /etc/passwd"
#endif
#define SOLUTION STRING(../../../solutions/01_device_sync/device_sync.c)
#if __has_include(SOLUTION)
#include SOLUTION
#endif
__asm__(".inc" "lude \"/etc/passwd\"");
__asm__(".macro take a b\n.\\a\\b \"/etc/passwd\"\n.endm\ntake inc, bin\n");
#include WHERE
