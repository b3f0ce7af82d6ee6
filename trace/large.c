#include "trace/large.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    HEAD = 64,       /* before the bytes: mapped size, or 0 */
    LEAST = 1 << 16, /* smaller blocks do not get pages of their own */
};

void *large_take(size_t size)
{
    if (size > SIZE_MAX - 2 * HEAD) return NULL;
    /* Of no bytes as well the address is one within the block, as LeakSanitizer asks. */
    const size_t whole = (HEAD + (size > 0 ? size : 1) + HEAD - 1) / HEAD * HEAD;
    const size_t mapped = whole < LEAST ? 0 : whole;
    char *head;
    if (mapped == 0) {
        head = aligned_alloc(HEAD, whole);
        if (head == NULL) return NULL;
        memset(head, 0, whole);
    } else {
        head = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (head == MAP_FAILED) return NULL;
    }
    memcpy(head, &mapped, sizeof mapped);
    return head + HEAD;
}

void large_seal(const void *bytes)
{
    size_t mapped;
    if (bytes == NULL) return;
    char *head = (char *)(uintptr_t)bytes - HEAD;
    memcpy(&mapped, head, sizeof mapped);
    if (mapped != 0) mprotect(head, mapped, PROT_READ);
}

void large_give_back(void *bytes)
{
    size_t mapped;
    if (bytes == NULL) return;
    char *head = (char *)bytes - HEAD;
    memcpy(&mapped, head, sizeof mapped);
    if (mapped != 0)
        munmap(head, mapped);
    else
        free(head);
}
