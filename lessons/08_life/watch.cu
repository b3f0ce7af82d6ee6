/* Plays the Game of Life in the terminal, with your life_launches:
 * watch [GENERATIONS [glider] [FILE.png]]. lessons/08_life/README.md says how to build it.
 *
 * Two cells are one character, above each other. Into a pipe goes the last generation only.
 * FILE.png becomes an animated picture of all generations, the first one included.
 */
#include "animation.h"
#include "lesson.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>

constexpr int WIDTH = 72, HEIGHT = 44;
constexpr int CELLS = WIDTH * HEIGHT;
constexpr long FRAME_NS = 60 * 1000 * 1000;

static void show(const int *cells)
{
    static const char *const halves[] = {" ", "\u2580", "\u2584", "\u2588"};
    for (int y = 0; y < HEIGHT; y += 2) {
        for (int x = 0; x < WIDTH; x++)
            fputs(halves[(cells[y * WIDTH + x] != 0) + 2 * (cells[(y + 1) * WIDTH + x] != 0)],
                  stdout);
        fputs("|\n", stdout);
    }
    fflush(stdout);
}

/* A quarter of the cells, or a glider in the corner at the top. */
static void fill(int *cells, bool glider)
{
    static const int places[] = {1, WIDTH + 2, 2 * WIDTH, 2 * WIDTH + 1, 2 * WIDTH + 2};
    memset(cells, 0, CELLS * sizeof *cells);
    for (int i = 0; glider && i < 5; i++) cells[places[i]] = 1;
    srand((unsigned)time(NULL));
    for (int i = 0; !glider && i < CELLS; i++) cells[i] = rand() % 4 == 0;
}

static cudaError_t play(int *cells, int *const lattice[2], int generations,
                        struct animation *animation)
{
    const struct timespec frame = {0, FRAME_NS};
    const bool moving = isatty(STDOUT_FILENO);
    const size_t bytes = CELLS * sizeof *cells;
    cudaError_t error = cudaMemcpy(lattice[0], cells, bytes, cudaMemcpyHostToDevice);

    if (moving) fputs("\033[2J", stdout);
    if (animation != NULL) animation_frame(animation, cells);
    for (int g = 0; g < generations && error == cudaSuccess; g++) {
        /* One generation, from the lattice that has the last one into the other. */
        int *const now[2] = {lattice[g % 2], lattice[(g + 1) % 2]};
        error = life_launches(now, WIDTH, HEIGHT, 1, NULL);
        if (error == cudaSuccess) error = cudaMemcpy(cells, now[1], bytes, cudaMemcpyDeviceToHost);
        if (animation != NULL && error == cudaSuccess) animation_frame(animation, cells);
        if (!moving || error != cudaSuccess) continue;
        printf("\033[Hgeneration %d\n", g + 1);
        show(cells);
        nanosleep(&frame, NULL);
    }
    if (!moving && error == cudaSuccess) show(cells);
    return error;
}

/* Returns whether all went well, the picture included. */
static bool play_and_draw(int *cells, int generations, const char *picture)
{
    int *lattice[2] = {NULL, NULL};
    struct animation *animation = NULL;
    if (picture != NULL) {
        animation = animation_begin(picture, WIDTH, HEIGHT, (unsigned)generations + 1);
        if (animation == NULL) {
            fprintf(stderr, "%s: %s\n", picture, strerror(errno));
            return false;
        }
    }
    cudaError_t error = cudaMalloc((void **)&lattice[0], CELLS * sizeof *cells);
    if (error == cudaSuccess) error = cudaMalloc((void **)&lattice[1], CELLS * sizeof *cells);
    if (error == cudaSuccess) error = play(cells, lattice, generations, animation);
    if (error != cudaSuccess) fprintf(stderr, "%s\n", cudaGetErrorString(error));
    cudaFree(lattice[0]);
    cudaFree(lattice[1]);
    const bool drawn = animation == NULL || animation_end(animation) == 0;
    if (!drawn && error == cudaSuccess) fprintf(stderr, "%s: it cannot be written\n", picture);
    return error == cudaSuccess && drawn;
}

int main(int count, char **arguments)
{
    const int generations = count > 1 ? atoi(arguments[1]) : 300;
    int *cells = (int *)malloc(CELLS * sizeof *cells);
    const char *picture = NULL;
    bool glider = false;

    for (int i = 2; i < count; i++) {
        if (strcmp(arguments[i], "glider") == 0)
            glider = true;
        else
            picture = arguments[i];
    }
    if (cells == NULL || generations < 0) return 1;
    fill(cells, glider);
    const bool well = play_and_draw(cells, generations, picture);
    free(cells);
    return well ? 0 : 1;
}
