// Branches, switches, loops, recursion, calls through pointers, structs by value, virtual
// functions.
struct large {
    int values[12];
    double scale;
};
struct shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~shape() {}
};
struct square : shape {
    float side;
    __device__ float area() const override
    {
        return side * side;
    }
};
struct circle : shape {
    float radius;
    __device__ float area() const override
    {
        return 3.0f * radius * radius;
    }
};

__device__ int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__device__ __noinline__ large fill(int start)
{
    large made;
    for (int i = 0; i < 12; i++) made.values[i] = start + i;
    made.scale = start;
    return made;
}
typedef float (*operation)(float, float);
__device__ float sum(float a, float b)
{
    return a + b;
}
__device__ float product(float a, float b)
{
    return a * b;
}
__device__ operation table[] = {sum, product};

__global__ void control(float *out, large given, int which, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    large made = fill(i);
    float value = given.values[which] + made.values[i % 12] + given.scale * made.scale;
    switch (which) {
    case 0:
        value += 1;
        break;
    case 1:
        value *= 2;
        break;
    case 2:
        value -= 3;
        break;
    case 3:
        value /= 4;
        break;
    case 4:
        value = -value;
        break;
    case 5:
        value = value * value;
        break;
    case 6:
        value += ackermann(2, 3);
        break;
    default:
        break;
    }
    while (value > 1000) value *= 0.5f;
    do value = table[which & 1](value, out[i]);
    while (value < -1e6f);
    square s;
    circle c;
    s.side = c.radius = value;
    shape *shapes[] = {&s, &c};
    out[i] = shapes[which & 1]->area();
}
