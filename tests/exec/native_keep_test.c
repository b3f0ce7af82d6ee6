/* Machine code that is kept between runs: it is found again, and never believed when it is not what
 * was kept. */
#include "tests/exec/device.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A kernel with a branch, memory and a shared function or two: out[i] = in[i] * factor + i. */
#define KERNEL(factor)                                                                             \
    ".version 8.0\n.target sm_75\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 in, .param .u64 out) {\n"                                       \
    ".reg .u32 %r<5>; .reg .u64 %d<5>; .reg .pred %p;\n"                                           \
    "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];\n"                                           \
    "mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4;\n"                                             \
    "add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3; ld.global.u32 %r2, [%d1];\n"                    \
    "setp.gt.u32 %p, %r1, 40; mad.lo.u32 %r2, %r2, " #factor ", %r1;\n"                            \
    "@%p add.u32 %r2, %r2, 7; st.global.u32 [%d2], %r2; ret; }\n"

enum { THREADS = 64, MOST_FILES = 64 };

static char folder[PATH_MAX];
static struct file {
    char name[NAME_MAX + 1];
    ino_t inode;
    off_t size;
} files[MOST_FILES];
static size_t file_count;

static void list_files(void)
{
    DIR *list = opendir(folder);
    ck_assert_ptr_nonnull(list);
    file_count = 0;
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        struct stat status;
        if (entry->d_name[0] == '.') continue;
        ck_assert_uint_lt(file_count, MOST_FILES);
        ck_assert_int_eq(fstatat(dirfd(list), entry->d_name, &status, 0), 0);
        files[file_count] = (struct file){.inode = status.st_ino, .size = status.st_size};
        strcpy(files[file_count++].name, entry->d_name);
    }
    closedir(list);
}

static bool is_there_still(const struct file *file)
{
    struct stat status;
    return stat(file->name, &status) == 0 && status.st_ino == file->inode;
}

/* Counts files that are still what list_files saw: an object that is made again is a new file. */
static size_t count_used(void)
{
    size_t used = 0;
    for (size_t k = 0; k < file_count; k++) used += is_there_still(&files[k]);
    return used;
}

/* Creates the program anew, runs it, and checks each thread's result. */
static void run_kernel(const char *ptx, uint32_t factor)
{
    uint32_t in[THREADS], *out;
    for (uint32_t k = 0; k < THREADS; k++) in[k] = k * 2654435761u;
    void *bytes;
    uint64_t parameters[] = {device_buffer_of(in, sizeof in, NULL),
                             device_buffer(sizeof in, &bytes)};
    out = bytes;
    struct exec_program *program = device_program(ptx);
    device_run(&(struct device_run){.program = program,
                                    .name = "k",
                                    .blocks = 1,
                                    .threads = THREADS,
                                    .parameters = parameters});
    ck_assert_uint_gt(exec_native_stretches(program), 0);
    for (uint32_t k = 0; k < THREADS; k++)
        ck_assert_uint_eq(out[k], in[k] * factor + k + (k > 40 ? 7 : 0));
    exec_program_destroy(program);
    device_reset();
}

/* In a folder of its own, since shared functions are compiled once for a process. */
static void begin(void)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/native_keep_XXXXXX",
             temporary != NULL && *temporary != '\0' ? temporary : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    exec_native_keep(folder);
}

static void end(void)
{
    list_files();
    for (size_t k = 0; k < file_count; k++) unlink(files[k].name);
    rmdir(folder);
}

START_TEST(is_found_again)
{
    run_kernel(KERNEL(3), 3);
    list_files();
    ck_assert_uint_ge(file_count, 1);
    const size_t kept = file_count;
    run_kernel(KERNEL(3), 3);
    ck_assert_uint_eq(count_used(), kept);
    list_files();
    ck_assert_uint_eq(file_count, kept);
}
END_TEST

START_TEST(is_another_function_s_with_other_code)
{
    run_kernel(KERNEL(3), 3);
    list_files();
    const size_t kept = file_count;
    run_kernel(KERNEL(5), 5);
    list_files();
    ck_assert_uint_eq(file_count, kept + 1);
}
END_TEST

/* Changes each file by `damage`, and expects that it is made again. */
static void expect_made_again(void (*damage)(const char *path, off_t size))
{
    run_kernel(KERNEL(3), 3);
    run_kernel(KERNEL(5), 5);
    list_files();
    for (size_t k = 0; k < file_count; k++) damage(files[k].name, files[k].size);
    /* Those of shared functions are not read again by this process. */
    run_kernel(KERNEL(3), 3);
    run_kernel(KERNEL(5), 5);
    ck_assert_uint_eq(count_used(), file_count - 2);
    list_files();
    run_kernel(KERNEL(3), 3);
    run_kernel(KERNEL(5), 5);
    ck_assert_uint_eq(count_used(), file_count);
}

static void shorten(const char *path, off_t size)
{
    ck_assert_int_eq(truncate(path, size / 2), 0);
}

static void empty(const char *path, off_t size)
{
    (void)size;
    ck_assert_int_eq(truncate(path, 0), 0);
}

static void change_byte(const char *path, off_t at)
{
    unsigned char byte;
    const int file = open(path, O_RDWR);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(pread(file, &byte, 1, at), 1);
    byte ^= 0x40;
    ck_assert_int_eq(pwrite(file, &byte, 1, at), 1);
    close(file);
}

static void change_last(const char *path, off_t size)
{
    change_byte(path, size - 1);
}

static void change_code(const char *path, off_t size)
{
    change_byte(path, size / 2);
}

static void change_key(const char *path, off_t size)
{
    (void)size;
    change_byte(path, 16);
}

static void lend(const char *path, off_t size)
{
    (void)size;
    ck_assert_int_eq(chmod(path, 0622), 0);
}

START_TEST(is_not_believed_when_it_was_changed)
{
    static void (*const damages[])(const char *path, off_t size) = {
        shorten, empty, change_last, change_code, change_key, lend};
    expect_made_again(damages[_i]);
}
END_TEST

START_TEST(needs_no_folder)
{
    end();
    run_kernel(KERNEL(3), 3);
    struct stat status;
    ck_assert_int_ne(stat(folder, &status), 0);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    ck_assert_int_eq(chdir(folder), 0);
}
END_TEST

START_TEST(is_left_alone_without_a_folder)
{
    exec_native_keep(NULL);
    run_kernel(KERNEL(3), 3);
    list_files();
    ck_assert_uint_eq(file_count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kept machine code");
    TCase *cases = tcase_create("kept");
    tcase_add_checked_fixture(cases, begin, end);
    tcase_add_test(cases, is_found_again);
    tcase_add_test(cases, is_another_function_s_with_other_code);
    tcase_add_loop_test(cases, is_not_believed_when_it_was_changed, 0, 6);
    tcase_add_test(cases, needs_no_folder);
    tcase_add_test(cases, is_left_alone_without_a_folder);
    suite_add_tcase(suite, cases);
    return device_native_main(suite);
}
