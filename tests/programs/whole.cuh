// Whole programs in one executable: which one runs, its first argument says. Without one it lists
// their names.
#ifndef OVERLAP_TESTS_WHOLE_CUH
#define OVERLAP_TESTS_WHOLE_CUH

#include <cstdio>
#include <cstring>

template <int (*run)()> int call(int, char **)
{
    return run();
}

template <int (*run)(int, char **)> int call(int argc, char **argv)
{
    return run(argc, argv);
}

struct Whole {
    const char *name;
    int (*run)(int argc, char **argv);
};

template <size_t count> int run_whole(const Whole (&programs)[count], int argc, char **argv)
{
    for (const Whole &program : programs) {
        if (argc < 2) std::puts(program.name);
        if (argc > 1 && std::strcmp(argv[1], program.name) == 0)
            return program.run(argc - 1, argv + 1);
    }
    return argc > 1 ? 125 : 0;
}

#endif
