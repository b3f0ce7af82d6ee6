/* The child side of lesson 05: calls mandelbrot_sync and copies its results at once. */
#include "grader/lessons/05_mandelbrot_sync/exchange.h"

#include "grader/child/drive.h"
#include "grader/child/drive_cuda.h"
#include "lesson.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* The picture goes to a memory file, so that nothing is left on the disk, however the run ends. */
struct picture_file {
    int descriptor;
    char path[64];
};

static int picture_open(struct picture_file *file)
{
    file->descriptor = memfd_create("picture.png", 0);
    if (file->descriptor < 0) return -1;
    snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->descriptor);
    return 0;
}

/* Copies at most `capacity` bytes of the file; returns its size. */
static uint64_t picture_read(const struct picture_file *file, unsigned char *bytes, size_t capacity)
{
    off_t size = lseek(file->descriptor, 0, SEEK_END);
    if (size <= 0) return 0;
    size_t wanted = (size_t)size < capacity ? (size_t)size : capacity, have = 0;
    while (have < wanted) {
        ssize_t got = pread(file->descriptor, bytes + have, wanted - have, (off_t)have);
        if (got <= 0) return 0;
        have += (size_t)got;
    }
    return (uint64_t)size;
}

/* Counts the files in the working folder, which is this run's own and empty at first. Names that
 * begin with a dot (CUDA's cache) do not count. */
static uint32_t files_here(void)
{
    uint32_t count = 0;
    DIR *here = opendir(".");
    if (!here) return 0;
    for (const struct dirent *entry = readdir(here); entry; entry = readdir(here))
        if (entry->d_name[0] != '.') count++;
    closedir(here);
    return count;
}

static struct mandelbrot_view lesson_view(const struct mandelbrot_exchange_view *view)
{
    return (struct mandelbrot_view){.width = (size_t)view->width,
                                    .height = (size_t)view->height,
                                    .real_low = view->real_low,
                                    .real_high = view->real_high,
                                    .imaginary_low = view->imaginary_low,
                                    .imaginary_high = view->imaginary_high,
                                    .iterations = view->iterations,
                                    .bound = view->bound};
}

/* Allocates the caller's buffer: page-locked, poisoned, followed by a guard. */
static float *members_make(size_t count)
{
    float *members = NULL;
    size_t bytes = (count + MANDELBROT_GUARD) * sizeof *members;
    cudaError_t error = cudaMallocHost((void **)&members, bytes);
    if (error) {
        drive_failed("cudaMallocHost", error);
        return NULL;
    }
    memset(members, DRIVE_POISON, bytes);
    return members;
}

enum purpose { TO_SEE, TO_TIME };

/* Draws view `index` in the phase and writes its answer. `members` has room for the view and its
 * guard.
 */
static int draw(struct drive *drive, const char *phase, uint32_t index, enum purpose purpose,
                float *members)
{
    const int with_file = purpose == TO_SEE && index != MANDELBROT_NO_FILE;
    const struct mandelbrot_input *input = drive->input;
    const struct mandelbrot_exchange_view *wanted = &input->views[index];
    size_t offset = mandelbrot_answer_offset(input, index);
    size_t count = (size_t)(wanted->width * wanted->height);
    unsigned char *output = drive->output;

    struct picture_file file;
    if (picture_open(&file)) {
        perror("drive: memfd_create");
        return 1;
    }
    struct mandelbrot_view view = lesson_view(wanted);
    /* Leaves an old error that the student's function did not cause. */
    if (purpose == TO_SEE && index == MANDELBROT_OLD_ERROR) (void)cudaSetDevice(-1);
    const uint32_t files_before = files_here();
    drive_begin(drive, DRIVE_INJECTIONS, index);
    drive_begin(drive, phase, index);
    cudaError_t status = mandelbrot_sync(&view, members, with_file ? file.path : NULL);
    if (purpose == TO_TIME) cudaDeviceSynchronize(); /* includes all work in the time */
    drive_end(drive, phase, index);
    drive_end(drive, DRIVE_INJECTIONS, index);
    /* Copied at once, as a caller would read it. In an untimed run nothing has waited for the
     * device. */
    memcpy(output + mandelbrot_members_offset(offset), members,
           (count + MANDELBROT_GUARD) * sizeof *members);

    struct mandelbrot_answer answer = {.status = (int32_t)status};
    const uint32_t files = files_here();
    if (!with_file && files > files_before) answer.new_files = files - files_before;
    answer.file_size = picture_read(&file, output + mandelbrot_file_offset(wanted, offset),
                                    mandelbrot_file_capacity(wanted));
    memcpy(output + offset, &answer, sizeof answer);
    close(file.descriptor);
    return 0;
}

/* Draws `count` views in the given order and phases. All memory of the drive is allocated before
 * the first call: after a fault of the student's the device gives none. */
static int draw_several(struct drive *drive, uint32_t count, const uint32_t *order,
                        const char *const *phases, enum purpose purpose)
{
    const struct mandelbrot_input *input = drive->input;
    float *members[MANDELBROT_VIEWS] = {NULL};
    int failed = 0;
    for (uint32_t i = 0; i < count && !failed; i++) {
        members[i] = members_make((size_t)(input->views[i].width * input->views[i].height));
        failed = !members[i];
    }
    for (uint32_t i = 0; i < count && !failed; i++)
        failed = draw(drive, phases[i], order[i], purpose, members[order[i]]);
    cudaDeviceSynchronize();
    for (uint32_t i = 0; i < count; i++) cudaFreeHost(members[i]);
    return failed;
}

/* With the usual stack of 8 MiB a picture that overflows it would take seconds to draw. */
static int limit_stack(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0) return -1;
    limit.rlim_cur = MANDELBROT_STACK;
    return setrlimit(RLIMIT_STACK, &limit);
}

/* Draws the first view alone, with a call made to fail. */
static int draw_with_a_failure(struct drive *drive)
{
    const struct mandelbrot_input *input = drive->input;
    float *members = members_make((size_t)(input->views[0].width * input->views[0].height));
    if (!members) return 1;
    int failed = draw(drive, MANDELBROT_PHASE_PICTURE, 0, TO_SEE, members);
    cudaFreeHost(members);
    return failed;
}

/* Makes a call of which only the status matters; it is written as answer `index`. */
static int call_once(struct drive *drive, uint32_t index, const char *phase, const char *path)
{
    const struct mandelbrot_input *input = drive->input;
    struct mandelbrot_view view = lesson_view(&input->views[index]);
    struct mandelbrot_view room = lesson_view(&input->views[0]);
    float *members = members_make(room.width * room.height);
    if (!members) return 1;
    drive_begin(drive, phase, 0);
    struct mandelbrot_answer answer = {.status = (int32_t)mandelbrot_sync(&view, members, path)};
    cudaDeviceSynchronize();
    drive_end(drive, phase, 0);
    memcpy((unsigned char *)drive->output + index * sizeof answer, &answer, sizeof answer);
    cudaFreeHost(members);
    return 0;
}

int drive_main(struct drive *drive)
{
    static const uint32_t in_order[] = {0, 1, 2}, last_first[] = {1, 0};
    static const char *const pictures[] = {MANDELBROT_PHASE_PICTURE, MANDELBROT_PHASE_PICTURE,
                                           MANDELBROT_PHASE_PICTURE};
    static const char *const timed[] = {MANDELBROT_PHASE_WARM_UP, MANDELBROT_PHASE_TIME};
    if (!strcmp(drive->run, "pictures"))
        return draw_several(drive, MANDELBROT_VIEWS, in_order, pictures, TO_SEE);
    if (!strcmp(drive->run, "large")) {
        if (limit_stack() != 0) {
            perror("drive: setrlimit");
            return 1;
        }
        return draw_several(drive, 1, in_order, pictures, TO_SEE);
    }
    if (!strcmp(drive->run, "errors")) {
        return call_once(drive, 1, MANDELBROT_PHASE_TOO_LARGE, NULL) ||
               call_once(drive, 0, MANDELBROT_PHASE_UNWRITABLE, "/nowhere/at/all/picture.png") ||
               call_once(drive, 2, MANDELBROT_PHASE_UNCOUNTABLE, NULL);
    }
    if (!strcmp(drive->run, "injections")) return draw_with_a_failure(drive);
    /* Another view first, which pays the start-up costs and leaves nothing that can be reused. */
    if (!strcmp(drive->run, "time")) return draw_several(drive, 2, last_first, timed, TO_TIME);
    fprintf(stderr, "drive: no run is called %s\n", drive->run);
    return 1;
}
