// The other translation unit.
__device__ int linked_value(int x)
{
    return x * x;
}
