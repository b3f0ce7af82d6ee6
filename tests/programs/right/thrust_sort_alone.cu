// Right: Thrust sorts, and frees its own memory behind its own work. What GPUs wait for in that is
// Thrust's matter, not this program's.
// Advice: none
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/sort.h>

int main()
{
    thrust::device_vector<int> keys(10000);
    for (int i = 0; i < 10; i++) keys[i] = 10 - i;
    thrust::sort(keys.begin(), keys.end());
    const int last = keys[9999];
    printf("%d\n", last);
    return last == 10 ? 0 : 1;
}
