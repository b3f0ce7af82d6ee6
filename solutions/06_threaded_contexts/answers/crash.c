/* Question 3 of lesson 06: one of five dies of a null pointer; what becomes of the other four? */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void *work(void *number)
{
    volatile int *volatile nowhere = NULL;
    if (*(int *)number == 3) *nowhere = 1;
    usleep(10000);
    return NULL;
}

int main(void)
{
    int numbers[5] = {0, 1, 2, 3, 4}, fine = 0, status;
    pthread_t threads[5];

    for (int i = 0; i < 5; i++) {
        if (fork() != 0) continue;
        work(&numbers[i]);
        _exit(0);
    }
    for (int i = 0; i < 5; i++) {
        wait(&status);
        fine += status == 0;
    }
    printf("processes: %d of 5 finished\n", fine);
    fflush(stdout);
    for (int i = 0; i < 5; i++) pthread_create(&threads[i], NULL, work, &numbers[i]);
    for (int i = 0; i < 5; i++) pthread_join(threads[i], NULL);
    puts("threads: all finished");
    return 0;
}
