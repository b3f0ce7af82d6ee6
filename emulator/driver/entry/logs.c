#include "emulator/driver/entry/logs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* 25,600 bytes of messages, as NVIDIA's driver reserves. */
enum { KEPT = 100, LINE_ROOM = 256, CALLBACKS = 64 };

struct CUlogsCallbackEntry_st {
    CUlogsCallback call; /* NULL: free entry */
    void *data;
};

static struct {
    pthread_mutex_t lock;
    char lines[KEPT][LINE_ROOM]; /* message n is at n % KEPT */
    CUlogIterator count;         /* messages ever logged */
    struct CUlogsCallbackEntry_st callbacks[CALLBACKS];
} logs = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Opens the file that CUDA_LOG_FILE names; NULL: none. */
static FILE *open_wanted(void)
{
    const char *wanted = getenv("CUDA_LOG_FILE");
    if (wanted == NULL || *wanted == '\0') return NULL;
    if (strcmp(wanted, "stdout") == 0) return stdout;
    if (strcmp(wanted, "stderr") == 0) return stderr;
    return fopen(wanted, "ae");
}

static void write_wanted(const char *line)
{
    FILE *file = open_wanted();
    if (file == NULL) return;
    fprintf(file, "%s\n", line);
    if (file == stdout || file == stderr)
        fflush(file);
    else
        fclose(file);
}

/* Writes "[22:21:32.099][25642][CUDA][E] " and the message. */
static void write_line(char line[LINE_ROOM], const char *message)
{
    struct timespec now;
    struct tm day = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &day);
    snprintf(line, LINE_ROOM, "[%02d:%02d:%02d.%03ld][%lu][CUDA][E] %s", day.tm_hour, day.tm_min,
             day.tm_sec, now.tv_nsec / 1000000, (unsigned long)pthread_self(), message);
}

void logs_error(const char *name, int code)
{
    struct CUlogsCallbackEntry_st callbacks[CALLBACKS];
    char message[LINE_ROOM - 64], line[LINE_ROOM];
    const char *error;
    if (driver_cuGetErrorName((CUresult)code, &error) != CUDA_SUCCESS) error = "no error of CUDA's";
    snprintf(message, sizeof message, "Returning %d (%s) from %s", code, error, name);
    write_line(line, message);
    pthread_mutex_lock(&logs.lock);
    memcpy(logs.lines[logs.count++ % KEPT], line, sizeof line);
    memcpy(callbacks, logs.callbacks, sizeof callbacks);
    write_wanted(line);
    pthread_mutex_unlock(&logs.lock);
    for (size_t i = 0; i < CALLBACKS; i++) {
        if (callbacks[i].call != NULL)
            callbacks[i].call(callbacks[i].data, CU_LOG_LEVEL_ERROR, message, strlen(message));
    }
}

/* ---- callbacks ----------------------------------------------------------------------------- */

CUresult driver_cuLogsRegisterCallback(CUlogsCallback callbackFunc, void *userData,
                                       CUlogsCallbackHandle *callback_out)
{
    CUresult code = CUDA_ERROR_OUT_OF_MEMORY;
    NEED_POINTER(callbackFunc);
    pthread_mutex_lock(&logs.lock);
    for (size_t i = 0; i < CALLBACKS && code != CUDA_SUCCESS; i++) {
        struct CUlogsCallbackEntry_st *entry = &logs.callbacks[i];
        if (entry->call != NULL) continue;
        *entry = (struct CUlogsCallbackEntry_st){callbackFunc, userData};
        if (callback_out != NULL) *callback_out = entry;
        code = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&logs.lock);
    return code;
}

CUresult driver_cuLogsUnregisterCallback(CUlogsCallbackHandle callback)
{
    CUresult code = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&logs.lock);
    for (size_t i = 0; i < CALLBACKS; i++) {
        if (callback != &logs.callbacks[i] || callback->call == NULL) continue;
        callback->call = NULL;
        code = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&logs.lock);
    return code;
}

/* ---- reading the log ----------------------------------------------------------------------- */

static const char some_are_gone[] = "(older messages are no longer kept)";
static const char too_small[] = "(the buffer has no room for older messages)";

/* The first message still kept from *iterator on, or of all for NULL. Sets *gone if older ones are
 * lost. */
static CUlogIterator first_kept(const CUlogIterator *iterator, bool *gone)
{
    const CUlogIterator oldest = logs.count > KEPT ? logs.count - KEPT : 0;
    const CUlogIterator first = iterator != NULL ? *iterator : 0;
    *gone = first < oldest;
    return *gone ? oldest : first;
}

CUresult driver_cuLogsCurrent(CUlogIterator *iterator_out, unsigned int flags)
{
    (void)flags; /* must be 0, but an H200 takes any */
    NEED_POINTER(iterator_out);
    pthread_mutex_lock(&logs.lock);
    *iterator_out = logs.count;
    pthread_mutex_unlock(&logs.lock);
    return CUDA_SUCCESS;
}

CUresult driver_cuLogsDumpToFile(CUlogIterator *iterator, const char *pathToFile,
                                 unsigned int flags)
{
    bool gone;
    NEED_POINTER(pathToFile);
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    FILE *file = fopen(pathToFile, "we");
    if (file == NULL) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&logs.lock);
    CUlogIterator at = first_kept(iterator, &gone);
    if (gone) fprintf(file, "%s\n", some_are_gone);
    for (; at < logs.count; at++) fprintf(file, "%s\n", logs.lines[at % KEPT]);
    if (iterator != NULL) *iterator = logs.count;
    pthread_mutex_unlock(&logs.lock);
    return fclose(file) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Writes the newest lines from `at` on that fit into `room` bytes as one string, preceded by a note
 * if older lines are missing. Returns the string's length; 0: no line fits. */
static size_t put_lines(char *buffer, size_t room, CUlogIterator at, bool gone)
{
    const char *note = gone ? some_are_gone : NULL;
    size_t need = 1, length = 0;
    for (CUlogIterator i = at; i < logs.count; i++) need += strlen(logs.lines[i % KEPT]) + 1;
    if (note != NULL) need += strlen(note) + 1;
    if (need > room) {
        note = too_small;
        need += strlen(note) + 1 - (gone ? strlen(some_are_gone) + 1 : 0);
        while (at < logs.count && need > room) need -= strlen(logs.lines[at++ % KEPT]) + 1;
    }
    if (at == logs.count) return 0;
    if (note != NULL) length = (size_t)sprintf(buffer, "%s\n", note);
    for (; at < logs.count; at++)
        length += (size_t)sprintf(buffer + length, "%s\n", logs.lines[at % KEPT]);
    return length;
}

CUresult driver_cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size,
                                   unsigned int flags)
{
    bool gone;
    NEED_POINTER(buffer);
    NEED_POINTER(size);
    if (flags != 0 || *size == 0) return CUDA_ERROR_INVALID_VALUE;
    buffer[0] = '\0';
    pthread_mutex_lock(&logs.lock);
    const CUlogIterator at = first_kept(iterator, &gone);
    const bool empty = at >= logs.count;
    *size = empty ? 0 : put_lines(buffer, *size, at, gone);
    if (iterator != NULL && (empty || *size != 0)) *iterator = logs.count;
    pthread_mutex_unlock(&logs.lock);
    return empty || *size != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
