/* memfd: files without a name (memfd_create) that processes of one user share. One that has made a
 * file tells another its process and descriptor numbers; /proc leads there. What is found is looked
 * at before it is opened: the numbers may mean something else by now. Nothing is left behind by
 * processes that are killed. */
#ifndef OVERLAP_BASE_MEMFD_H
#define OVERLAP_BASE_MEMFD_H

/* Returns a descriptor of this process for the file that `process` has open as `file`, if
 * memfd_create was given `name` for it. -1: there is none, or the system refuses. */
int memfd_open(int process, int file, const char *name);

#endif
