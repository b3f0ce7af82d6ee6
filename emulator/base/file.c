#include "emulator/base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

char *file_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rbe");
    char *data = NULL;
    long length = -1;
    if (file == NULL) return NULL;
    if (fseek(file, 0, SEEK_END) == 0) length = ftell(file);
    if (length >= 0 && fseek(file, 0, SEEK_SET) == 0) data = malloc((size_t)length + 1);
    if (data != NULL) {
        *size = (size_t)length;
        data[*size] = '\0';
        if (fread(data, 1, *size, file) != *size) {
            free(data);
            data = NULL;
            errno = EIO;
        }
    }
    const int error = errno;
    fclose(file);
    errno = error;
    return data;
}
