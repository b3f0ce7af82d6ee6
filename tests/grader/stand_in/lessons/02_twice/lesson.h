/* The contract of the stand-in lesson 02: twice.h defines `static int twice(int x)`, which returns
 * two times x. Its drive includes that file, so it is compiled with each submission. */
#ifndef LESSON_TWICE_H
#define LESSON_TWICE_H

#define TWICE_FACTOR 2

#endif
