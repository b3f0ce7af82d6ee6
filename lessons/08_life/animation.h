/* Writes an animated picture (APNG, which browsers and viewers show like any PNG): a still picture
 * to whoever does not know of animations. It plays for ever; it never judges what it is given.
 *
 * Source: the PNG specification, third edition, 11.3.6 "Animation information". */
#ifndef LIFE_ANIMATION_H
#define LIFE_ANIMATION_H

#ifdef __cplusplus
extern "C" {
#endif

struct animation;

/* A picture of width x height cells, a cell being a few pixels wide, of exactly so many frames.
 * Returns NULL, with errno, if the file cannot be made. */
struct animation *animation_begin(const char *path, unsigned width, unsigned height,
                                  unsigned frames);
/* The next frame: of each cell whether it lives (not 0) or not, row by row. */
void animation_frame(struct animation *animation, const int *cells);
/* Returns 0, or -1 if anything went wrong since the beginning (a full disk, a wrong count of
 * frames); the file is removed then. */
int animation_end(struct animation *animation);

#ifdef __cplusplus
}
#endif

#endif
