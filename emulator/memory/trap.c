/* The host's side of memory: the signal handler for host code that touches a device address, and
 * copies from memory that may not be mapped, which use the same handler. */
#include "emulator/base/fatal.h"
#include "emulator/memory/access_size.h"
#include "emulator/memory/memory.h"
#include "emulator/memory/page_guard.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK_SIZE = 64 << 10 };

static struct {
    memory_touch *touch; /* NULL: not installed */
} trap;

/* The thread's guarded copy continues here when its bytes are not mapped. */
static _Thread_local sigjmp_buf *volatile guard;
static _Thread_local void *own_stack;

static uint64_t fault_pc(const ucontext_t *state)
{
#if defined(__x86_64__)
    return (uint64_t)state->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return state->uc_mcontext.pc;
#else
    (void)state;
    return 0;
#endif
}

#if defined(__aarch64__)
/* For systems that pass no syndrome to the handler (qemu's user mode does not): decodes whether the
 * instruction stores, by the classes of the Arm Architecture Reference Manual's "Loads and Stores".
 * Atomics load and store, and count as stores. */
static bool instruction_stores(uint32_t instruction)
{
    static const struct {
        uint32_t mask, value;
    } stores[] = {
        {0xbfff0000, 0x0c000000}, /* several structures */
        {0xbfe00000, 0x0c800000}, /* several structures, post-indexed */
        {0xbfdf0000, 0x0d000000}, /* one structure */
        {0xbfc00000, 0x0d800000}, /* one structure, post-indexed */
        {0x3f400000, 0x08000000}, /* exclusive, ordered, compare and swap */
        {0x3fa07c00, 0x08a07c00}, /* compare and swap, ordered */
        {0x3a400000, 0x28000000}, /* pairs */
        {0x3bc00000, 0x38000000}, /* one register, any addressing mode but unsigned offset */
        {0x3bc00000, 0x39000000}, /* one register, unsigned offset */
        {0x3fe00000, 0x3c800000}, /* 128 bits, any addressing mode but unsigned offset */
        {0x3fc00000, 0x3d800000}, /* 128 bits, unsigned offset */
        {0x3f200c00, 0x38200000}, /* atomics */
    };
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++)
        if ((instruction & stores[i].mask) == stores[i].value) return true;
    return false;
}
#endif

/* Returns how many bytes the instruction accesses, 1 where that is not known. Where the access is
 * what faulted, and not the fetch of the instruction, its code can be read, up to the end of its
 * page. */
static uint64_t fault_size(const ucontext_t *state)
{
#if defined(__x86_64__)
    enum { PAGE = 4096, PAGE_FAULT = 14, OF_FETCH = 16, NOTHING = 0x26 /* an idle prefix */ };
    const uint64_t pc = fault_pc(state), left = PAGE - pc % PAGE;
    uint8_t code[ACCESS_SIZE_CODE];
    if (state->uc_mcontext.gregs[REG_TRAPNO] != PAGE_FAULT ||
        (state->uc_mcontext.gregs[REG_ERR] & OF_FETCH))
        return 1;
    memset(code, NOTHING, sizeof code);
    memcpy(code, (const void *)(uintptr_t)pc, left < sizeof code ? left : sizeof code);
    /* memcpy and memset of many bytes: rep movsb, rep stosb, of rcx bytes that are left. */
    if (code[0] == 0xf3 && (code[1] == 0xa4 || code[1] == 0xaa))
        return (uint64_t)state->uc_mcontext.gregs[REG_RCX];
    const unsigned size = access_size(code);
    return size > 0 ? size : 1;
#else
    (void)state;
    return 1;
#endif
}

static bool fault_is_store(const ucontext_t *state)
{
#if defined(__x86_64__)
    return state->uc_mcontext.gregs[REG_ERR] & 2; /* bit 1 of the page fault's error code */
#elif defined(__aarch64__)
    /* Bit 6 of the exception syndrome, in a list of records that ends with magic 0. */
    const unsigned char *at = state->uc_mcontext.__reserved;
    const unsigned char *const end = at + sizeof state->uc_mcontext.__reserved;
    struct esr_context record;
    while (at + sizeof record <= end) {
        memcpy(&record, at, sizeof record);
        if (record.head.magic == ESR_MAGIC) return record.esr & 0x40;
        if (record.head.magic == 0 || record.head.size == 0) break;
        at += record.head.size;
    }
    uint32_t instruction;
    memcpy(&instruction, (const void *)(uintptr_t)state->uc_mcontext.pc, sizeof instruction);
    return instruction_stores(instruction);
#else
    (void)state;
    return false;
#endif
}

static void handle(int number, siginfo_t *info, void *state)
{
    const uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    const bool raised_by_access = info->si_code > 0;
    if (raised_by_access &&
        page_guard_handle(address, fault_size(state), fault_is_store(state), fault_pc(state)))
        return; /* the access is repeated and succeeds */
    if (guard != NULL) {
        sigjmp_buf *back = guard;
        guard = NULL;
        siglongjmp(*back, 1);
    }
    if (!raised_by_access || !memory_is_device_address(address)) {
        fatal_pass_on(number, info, state);
        return;
    }
    trap.touch(address, fault_is_store(state), fault_pc(state), memory_find(address));
    fatal_end(number);
}

void memory_trap_install(memory_touch *touch)
{
    trap.touch = touch;
    fatal_install(SIGSEGV, handle);
    fatal_install(SIGBUS, handle);
}

void memory_trap_enter_thread(void)
{
    stack_t current;
    if (own_stack != NULL || sigaltstack(NULL, &current) != 0 || !(current.ss_flags & SS_DISABLE))
        return;
    void *stack =
        mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) return; /* the handler then runs on the thread's own stack */
    if (sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = STACK_SIZE}, NULL) == 0)
        own_stack = stack;
    else
        munmap(stack, STACK_SIZE);
}

void memory_trap_leave_thread(void)
{
    if (own_stack == NULL) return;
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    munmap(own_stack, STACK_SIZE);
    own_stack = NULL;
}

#ifdef __SANITIZE_ADDRESS__
/* The program may have let go of the bytes, a stack frame say, which is its own affair. */
__attribute__((no_sanitize("address", "undefined"))) static void move(void *to, const void *from,
                                                                      size_t size)
{
    const volatile unsigned char *source = from;
    volatile unsigned char *target = to;
    const bool backwards = (uintptr_t)to > (uintptr_t)from;
    for (size_t i = 0; i < size; i++) {
        const size_t at = backwards ? size - 1 - i : i;
        target[at] = source[at];
    }
}
#else
static void move(void *to, const void *from, size_t size)
{
    memmove(to, from, size);
}
#endif

bool memory_copy_guarded(void *to, const void *from, size_t size)
{
    sigjmp_buf here;
    if (sigsetjmp(here, 1) != 0) return false;
    guard = &here;
    move(to, from, size);
    guard = NULL;
    return true;
}
