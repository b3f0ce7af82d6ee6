/* Included before a .def file: its rows become handlers. */
#include "emulator/exec/ops/lane_rows.h"

#undef LANE1
#undef LANE2
#undef LANE3
#undef LANE4
#undef SELECT
#undef COMPARE
#undef COMPARE1
#undef PREDICATE
#undef CARRY
#define LANE1 EXEC_DEFINE_LANE1
#define LANE2 EXEC_DEFINE_LANE2
#define LANE3 EXEC_DEFINE_LANE3
#define LANE4 EXEC_DEFINE_LANE4
#define SELECT EXEC_DEFINE_SELECT
#define COMPARE EXEC_DEFINE_COMPARE
#define COMPARE1 EXEC_DEFINE_COMPARE1
#define PREDICATE EXEC_DEFINE_PREDICATE
#define CARRY EXEC_DEFINE_CARRY
