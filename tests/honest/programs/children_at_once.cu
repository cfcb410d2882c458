// honest: twenty children at the same time
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>
int main() {
    int ends[2];
    if (pipe(ends)) return 1;
    for (int i = 0; i < 20; ++i)
        if (fork() == 0) {
            char go;
            close(ends[1]);
            _exit(read(ends[0], &go, 1) == 0 ? 1 : 2);
        }
    close(ends[0]);
    close(ends[1]);
    int status, sum = 0;
    while (wait(&status) > 0) sum += WEXITSTATUS(status);
    std::printf("%d\n", sum);
}
