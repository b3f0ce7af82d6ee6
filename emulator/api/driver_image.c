/* Images: from what the API is given to parsed PTX. */
#include "emulator/api/driver_module.h"

#include "emulator/api/fatbin.h"
#include "emulator/api/fatbin_link.h"
#include "emulator/ptx/ptx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    enum fatbin_result result;
    CUresult code;
} fatbin_codes[] = {
    {FATBIN_NOT_AN_IMAGE, CUDA_ERROR_INVALID_IMAGE}, {FATBIN_DAMAGED, CUDA_ERROR_INVALID_IMAGE},
    {FATBIN_NO_PTX, CUDA_ERROR_NO_BINARY_FOR_GPU},   {FATBIN_TOO_NEW, CUDA_ERROR_NO_BINARY_FOR_GPU},
    {FATBIN_NO_MEMORY, CUDA_ERROR_OUT_OF_MEMORY},
};

static CUresult image_parse(struct image *image, const struct fatbin *fatbin, char *log,
                            size_t log_size)
{
    image->units = calloc(fatbin->count, sizeof *image->units);
    if (image->units == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < fatbin->count; i++) {
        struct ptx_diagnostics diagnostics = {0};
        image->units[i] = ptx_parse(fatbin->units[i].text, fatbin->units[i].length, &diagnostics);
        if (image->units[i] == NULL) {
            ptx_diagnostics_print(&diagnostics, log, log_size);
            return CUDA_ERROR_INVALID_PTX;
        }
        image->count++;
    }
    return CUDA_SUCCESS;
}

/* Several translation units (-rdc=true) become one module. */
static enum fatbin_result image_link(struct fatbin *fatbin, char *log, size_t log_size)
{
    struct fatbin_unit joined;
    if (fatbin->count < 2) return FATBIN_OK;
    enum fatbin_result result = fatbin_link(fatbin, &joined, log, log_size);
    if (result == FATBIN_OK) {
        while (fatbin->count > 1) free(fatbin->units[--fatbin->count].text);
        free(fatbin->units[0].text);
        fatbin->units[0] = joined;
    } else {
        fatbin_close(fatbin);
    }
    return result;
}

CUresult image_open(const void *data, size_t size, char *log, size_t log_size, struct image **image)
{
    struct fatbin fatbin;
    log[0] = '\0';
    enum fatbin_result result = fatbin_open(data, size, DRIVER_CAPABILITY, &fatbin, log, log_size);
    if (result == FATBIN_OK) result = image_link(&fatbin, log, log_size);
    CUresult code = CUDA_SUCCESS;
    for (size_t i = 0; i < sizeof fatbin_codes / sizeof *fatbin_codes; i++)
        if (fatbin_codes[i].result == result) code = fatbin_codes[i].code;
    if (code == CUDA_SUCCESS) {
        struct image *made = calloc(1, sizeof *made);
        code = CUDA_ERROR_OUT_OF_MEMORY;
        if (made != NULL) {
            made->references = 1;
            code = image_parse(made, &fatbin, log, log_size);
            if (code == CUDA_SUCCESS)
                *image = made;
            else
                image_release(made);
        }
        fatbin_close(&fatbin);
    }
    if (code != CUDA_SUCCESS) finding("invalid module", code, "the module does not load: %s", log);
    return code;
}

CUresult image_open_file(const char *path, char *log, size_t log_size, struct image **image)
{
    CUresult code = CUDA_ERROR_FILE_NOT_FOUND;
    char *data = NULL;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        finding("invalid module", code, "cannot open the module %s: %s", path, strerror(errno));
        return code;
    }
    if (fseek(file, 0, SEEK_END) != 0) goto done;
    long size = ftell(file);
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0) goto done;
    data = malloc((size_t)size + 1);
    code = CUDA_ERROR_OUT_OF_MEMORY;
    if (data == NULL) goto done;
    code = CUDA_ERROR_FILE_NOT_FOUND;
    if (fread(data, 1, (size_t)size, file) != (size_t)size) goto done;
    data[size] = '\0';
    code = image_open(data, (size_t)size, log, log_size, image);
done:
    free(data);
    fclose(file);
    return code;
}

void image_release(struct image *image)
{
    if (image == NULL || --image->references > 0) return;
    for (size_t i = 0; i < image->count; i++) ptx_module_destroy(image->units[i]);
    free(image->units);
    free(image);
}
