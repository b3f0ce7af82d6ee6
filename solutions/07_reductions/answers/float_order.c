/* Question 1 of lesson 07: the same floats added in a loop and in a tree. */
#include <stdio.h>
#include <stdlib.h>

static float values[1 << 24];

static float tree(const float *array, size_t count)
{
    if (count == 1) return array[0];
    return tree(array, count / 2) + tree(array + count / 2, count - count / 2);
}

int main(void)
{
    for (int exponent = 16; exponent <= 24; exponent += 4) {
        const size_t count = (size_t)1 << exponent;
        double exact = 0;
        float loop = 0;
        srand(1);
        for (size_t i = 0; i < count; i++) {
            values[i] = (float)rand() / (float)RAND_MAX;
            exact += values[i];
            loop += values[i];
        }
        printf("2^%d floats: the loop is off by %.1e, the tree by %.1e\n", exponent,
               (loop - exact) / exact, (tree(values, count) - exact) / exact);
    }
    return 0;
}
