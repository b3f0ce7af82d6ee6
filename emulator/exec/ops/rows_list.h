/* Included before a .def file: turns its rows into table entries, with the types of d and the
 * sources.
 */
#undef LANE1
#undef LANE2
#undef LANE3
#undef LANE4
#undef SELECT
#undef COMPARE
#undef COMPARE1
#undef PREDICATE
#undef CARRY
#define LANE1(name, keys, D, A, expression) {keys, op_##name, #D " " #A},
#define LANE2(name, keys, D, A, B, expression) {keys, op_##name, #D " " #A " " #B},
#define LANE3(name, keys, D, A, B, C, expression) {keys, op_##name, #D " " #A " " #B " " #C},
#define LANE4(name, keys, D, A, B, C, E, expression)                                               \
    {keys, op_##name, #D " " #A " " #B " " #C " " #E},
#define SELECT(name, keys, D, A, B, expression) {keys, op_##name, #D " " #A " " #B " p"},
#define COMPARE(name, keys, A, B, expression) {keys, op_##name, "p " #A " " #B},
#define COMPARE1(name, keys, A, expression) {keys, op_##name, "p " #A},
#define PREDICATE(name, keys, expression) {keys, op_##name, "p p p"},
#define CARRY(name, keys, D, A, B, C, expression) {keys, op_##name, #D " " #A " " #B " " #C " cc"},
