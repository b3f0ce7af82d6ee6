/* image: the kernels' PTX as 0-terminated text, for cuModuleLoadData: a lesson that works with the
 * driver API loads its kernels itself. The names inside are those of the kernels' own headers.
 *
 * An image is in lesson.so only if the lesson lists the part of the same name.
 */
#ifndef OVERLAP_KERNELS_IMAGE_H
#define OVERLAP_KERNELS_IMAGE_H

extern const char multiply_divide_image[]; /* kernel "multiply_divide" (float *, size_t) */

#endif
