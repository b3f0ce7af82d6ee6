/* rows: every row of the executor's tables of computing instructions, reduced to keys and operand
 * types, without the handlers.
 */
#ifndef OVERLAP_TESTS_EXEC_ROWS_H
#define OVERLAP_TESTS_EXEC_ROWS_H

struct test_row {
    const char *keys;  /* separated by spaces */
    const char *shape; /* "D A B C E"; p: predicate; "cc" at the end: carry */
};

#define LANE1(name, keys, D, A, expression) {keys, #D " " #A},
#define LANE2(name, keys, D, A, B, expression) {keys, #D " " #A " " #B},
#define LANE3(name, keys, D, A, B, C, expression) {keys, #D " " #A " " #B " " #C},
#define LANE4(name, keys, D, A, B, C, E, expression) {keys, #D " " #A " " #B " " #C " " #E},
#define SELECT(name, keys, D, A, B, expression) {keys, #D " " #A " " #B " p"},
#define COMPARE(name, keys, A, B, expression) {keys, "p " #A " " #B},
#define COMPARE1(name, keys, A, expression) {keys, "p " #A},
#define PREDICATE(name, keys, expression) {keys, "p p p"},
#define CARRY(name, keys, D, A, B, C, expression) {keys, #D " " #A " " #B " " #C " cc"},

#endif
