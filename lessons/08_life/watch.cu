/* Plays the Game of Life in the terminal, with your life_launches: watch [GENERATIONS [glider]].
 *
 *   nvcc -cudart shared -I lessons/08_life -o watch lessons/08_life/watch.cu
 * lessons/08_life/life.cu
 *   ./watch 500                 on a GPU, or
 *   ./emulate ./watch 500       on the software device
 *
 * Two cells are one character, above each other. Into a file or a pipe goes the last generation
 * only.
 */
#include "lesson.h"

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

static cudaError_t play(int *cells, int *const lattice[2], int generations)
{
    const struct timespec frame = {0, FRAME_NS};
    const bool moving = isatty(STDOUT_FILENO);
    const size_t bytes = CELLS * sizeof *cells;
    cudaError_t error = cudaMemcpy(lattice[0], cells, bytes, cudaMemcpyHostToDevice);

    if (moving) fputs("\033[2J", stdout);
    for (int g = 0; g < generations && error == cudaSuccess; g++) {
        /* One generation, from the lattice that has the last one into the other. */
        int *const now[2] = {lattice[g % 2], lattice[(g + 1) % 2]};
        error = life_launches(now, WIDTH, HEIGHT, 1, NULL);
        if (error == cudaSuccess) error = cudaMemcpy(cells, now[1], bytes, cudaMemcpyDeviceToHost);
        if (!moving || error != cudaSuccess) continue;
        printf("\033[Hgeneration %d\n", g + 1);
        show(cells);
        nanosleep(&frame, NULL);
    }
    if (!moving && error == cudaSuccess) show(cells);
    return error;
}

int main(int count, char **arguments)
{
    const int generations = count > 1 ? atoi(arguments[1]) : 300;
    const bool glider = count > 2 && strcmp(arguments[2], "glider") == 0;
    int *cells = (int *)malloc(CELLS * sizeof *cells), *lattice[2] = {NULL, NULL};
    if (cells == NULL) return 1;
    fill(cells, glider);
    cudaError_t error = cudaMalloc((void **)&lattice[0], CELLS * sizeof *cells);
    if (error == cudaSuccess) error = cudaMalloc((void **)&lattice[1], CELLS * sizeof *cells);
    if (error == cudaSuccess) error = play(cells, lattice, generations);
    if (error != cudaSuccess) fprintf(stderr, "%s\n", cudaGetErrorString(error));
    cudaFree(lattice[0]);
    cudaFree(lattice[1]);
    free(cells);
    return error != cudaSuccess;
}
