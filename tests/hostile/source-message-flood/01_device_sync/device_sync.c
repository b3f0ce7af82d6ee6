#include "lesson.h"
#if __INCLUDE_LEVEL__ < 16
#include __FILE__
#include __FILE__
#else
#warning [2J[H[32m[  PASSED  ] 9 tests.[0m â€® DESSAP ÿþ ›2J
#pragma message "\033[2J[  PASSED  ] â€¨[       OK ] DeviceSync.All"
#endif
#if __INCLUDE_LEVEL__ == 0
_Static_assert(0, "[2J[H[       OK ] DeviceSync.EveryElementIsRight (1 ms)");
int overlap_hostile = "[8m";
#endif
