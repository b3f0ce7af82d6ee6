/* The lesson's mandelbrot_write_png, on libpng's simplified interface. */
#include "lesson.h"

#include <png.h>

int mandelbrot_write_png(const char *path, size_t width, size_t height, const unsigned char *pixels)
{
    if (!path || !pixels || width > PNG_UINT_31_MAX || height > PNG_UINT_31_MAX) return -1;
    png_image image = {
        .version = PNG_IMAGE_VERSION,
        .width = (png_uint_32)width,
        .height = (png_uint_32)height,
        .format = PNG_FORMAT_GRAY,
    };
    /* Stride 0: rows without gaps. On failure libpng removes the file. */
    return png_image_write_to_file(&image, path, 0, pixels, 0, NULL) ? 0 : -1;
}
