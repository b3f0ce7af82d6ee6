/* How NVIDIA's bindings for Python publish a runtime, in three parts: a stand-in for Python
 * (PYTHON), a module that publishes functions of its own (MODULE), and a program that takes them
 * from there and prints which are its own. */
#include <stddef.h>

#define PUBLIC __attribute__((visibility("default")))

struct object {
    int (*pointer)(int *); /* NULL: it is no capsule */
};

int PyDict_SetItemString(struct object **dictionary, const char *name, struct object *object);
int PyCapsule_SetPointer(struct object *object, int (*pointer)(int *));
void PyErr_Clear(void);
int own(int *answer);
extern int python_errors; /* pending */

#if defined PYTHON
PUBLIC int python_errors;
PUBLIC int PyDict_SetItemString(struct object **dictionary, const char *name, struct object *object)
{
    (void)name;
    *dictionary = object;
    return 0;
}

PUBLIC int PyCapsule_SetPointer(struct object *object, int (*pointer)(int *))
{
    if (object->pointer == NULL) {
        python_errors++;
        return -1;
    }
    object->pointer = pointer;
    return 0;
}

PUBLIC void PyErr_Clear(void)
{
    python_errors = 0;
}
#elif defined MODULE
PUBLIC int publish(struct object **dictionary, const char *name, int is_capsule);

PUBLIC int own(int *answer)
{
    *answer = -1;
    return 999;
}

int publish(struct object **dictionary, const char *name, int is_capsule)
{
    static struct object objects[8];
    static int count;
    objects[count].pointer = is_capsule ? own : NULL;
    return PyDict_SetItemString(dictionary, name, &objects[count++]);
}
#else
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **files)
{
    static const struct {
        const char *name;
        int is_capsule;
    } cases[] = {{"_cudaGetDeviceCount", 1},
                 {"_cudaOfNobody", 1},
                 {"cudaGetDeviceCount", 1},
                 {"_cudaDeviceSynchronize", 0}};
    int (*publish)(struct object **, const char *, int) = NULL;
    void *module = count > 1 ? dlopen(files[1], RTLD_NOW) : NULL;
    if (module != NULL) *(void **)&publish = dlsym(module, "publish");
    if (publish == NULL) return 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct object *object = NULL;
        int answer = 0, code = -1;
        publish(&object, cases[i].name, cases[i].is_capsule);
        if (object->pointer != NULL) code = object->pointer(&answer);
        printf("%s: %d, %d\n", cases[i].name, code, answer);
    }
    struct object *object = NULL;
    publish(&object, "_cudaMemcpy", 1);
    const void *const pointer = *(void **)&object->pointer;
    printf("_cudaMemcpy: %s\n", pointer == dlsym(RTLD_DEFAULT, "cudaMemcpy")        ? "plain"
                                : pointer == dlsym(RTLD_DEFAULT, "cudaMemcpy_ptds") ? "per thread"
                                                                                    : "its own");
    printf("errors: %d\n", *(int *)dlsym(module, "python_errors"));
    return 0;
}
#endif
