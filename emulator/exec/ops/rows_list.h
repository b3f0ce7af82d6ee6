/* Included before a .def file: its rows become table entries. */
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
#define LANE1 EXEC_LIST_LANE1
#define LANE2 EXEC_LIST_LANE2
#define LANE3 EXEC_LIST_LANE3
#define LANE4 EXEC_LIST_LANE4
#define SELECT EXEC_LIST_SELECT
#define COMPARE EXEC_LIST_COMPARE
#define COMPARE1 EXEC_LIST_COMPARE1
#define PREDICATE EXEC_LIST_PREDICATE
#define CARRY EXEC_LIST_CARRY
