#include "animation.h"

#include <errno.h>
#include <png.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    PIXELS = 6,    /* of a cell, each way */
    FRAME_MS = 60, /* how long a frame stays */
    CONTROL = 26,  /* bytes of a frame's control chunk */
    NUMBER = 4     /* bytes of a chunk's number, in front of a frame's data */
};

struct animation {
    FILE *file;
    unsigned width, height, frames, written;
    uint32_t chunk; /* control and data chunks are counted together */
    png_structp png;
    png_infop info;
    bool failed;
    unsigned char *rows, *packed;
    size_t row, size; /* bytes of a row with its filter's byte, and room for packed rows */
};

/* libpng leaves a call that failed by a jump to wherever setjmp was called last. */
#define FAILS_IF_LIBPNG_DOES(animation)                                                            \
    if (setjmp(png_jmpbuf((animation)->png)) != 0) {                                               \
        (animation)->failed = true;                                                                \
        return;                                                                                    \
    }

static void silent(png_structp png, png_const_charp message)
{
    (void)message;
    png_longjmp(png, 1);
}

static void header(struct animation *animation)
{
    unsigned char control[8];
    FAILS_IF_LIBPNG_DOES(animation)
    png_init_io(animation->png, animation->file);
    png_set_IHDR(animation->png, animation->info, animation->width * PIXELS,
                 animation->height * PIXELS, 1, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(animation->png, animation->info);
    png_save_uint_32(control, animation->frames);
    png_save_uint_32(control + 4, 0); /* for ever */
    png_write_chunk(animation->png, (png_const_bytep) "acTL", control, sizeof control);
}

static void release(struct animation *animation)
{
    if (animation->file != NULL) fclose(animation->file);
    png_destroy_write_struct(&animation->png, &animation->info);
    free(animation->rows);
    free(animation->packed);
    free(animation);
}

struct animation *animation_begin(const char *path, unsigned width, unsigned height,
                                  unsigned frames)
{
    struct animation *animation = (struct animation *)calloc(1, sizeof *animation);
    if (animation == NULL) return NULL;
    animation->width = width;
    animation->height = height;
    animation->frames = frames;
    animation->row = 1 + (width * PIXELS + 7) / 8;
    animation->size = NUMBER + compressBound((uLong)(animation->row * height * PIXELS));
    animation->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, silent, NULL);
    if (animation->png != NULL) animation->info = png_create_info_struct(animation->png);
    animation->rows = (unsigned char *)malloc(animation->row * height * PIXELS);
    animation->packed = (unsigned char *)malloc(animation->size);
    if (animation->info == NULL || animation->rows == NULL || animation->packed == NULL)
        errno = ENOMEM;
    else
        animation->file = fopen(path, "wb");
    if (animation->file == NULL) {
        const int why = errno;
        release(animation);
        errno = why;
        return NULL;
    }
    header(animation);
    return animation;
}

/* A bit a pixel, black where a cell lives; no filter. */
static void draw(const struct animation *animation, const int *cells)
{
    memset(animation->rows, 0, animation->row * animation->height * PIXELS);
    for (unsigned y = 0; y < animation->height * PIXELS; y++) {
        unsigned char *bits = animation->rows + y * animation->row + 1;
        const int *from = cells + (size_t)(y / PIXELS) * animation->width;
        for (unsigned x = 0; x < animation->width * PIXELS; x++)
            if (from[x / PIXELS] == 0) bits[x / 8] |= (unsigned char)(0x80u >> x % 8);
    }
}

static void control(struct animation *animation)
{
    unsigned char bytes[CONTROL] = {0};
    png_save_uint_32(bytes, animation->chunk++);
    png_save_uint_32(bytes + 4, animation->width * PIXELS);
    png_save_uint_32(bytes + 8, animation->height * PIXELS);
    png_save_uint_16(bytes + 20, FRAME_MS); /* of 1000 parts of a second */
    png_save_uint_16(bytes + 22, 1000);
    png_write_chunk(animation->png, (png_const_bytep) "fcTL", bytes, sizeof bytes);
}

void animation_frame(struct animation *animation, const int *cells)
{
    uLongf size = (uLongf)(animation->size - NUMBER);
    unsigned char *data = animation->packed + NUMBER;
    if (animation->failed) return;
    draw(animation, cells);
    if (compress2(data, &size, animation->rows,
                  (uLong)(animation->row * animation->height * PIXELS), 9) != Z_OK) {
        animation->failed = true;
        return;
    }
    FAILS_IF_LIBPNG_DOES(animation)
    control(animation);
    if (animation->written++ == 0) { /* the first frame is the still picture, too */
        png_write_chunk(animation->png, (png_const_bytep) "IDAT", data, size);
    } else {
        png_save_uint_32(animation->packed, animation->chunk++);
        png_write_chunk(animation->png, (png_const_bytep) "fdAT", animation->packed, NUMBER + size);
    }
}

static void end_of_file(struct animation *animation)
{
    FAILS_IF_LIBPNG_DOES(animation)
    png_write_chunk(animation->png, (png_const_bytep) "IEND", NULL, 0);
}

int animation_end(struct animation *animation)
{
    if (!animation->failed) end_of_file(animation);
    bool failed = animation->failed || animation->written != animation->frames;
    failed = fclose(animation->file) != 0 || failed;
    animation->file = NULL;
    release(animation);
    return failed ? -1 : 0;
}
