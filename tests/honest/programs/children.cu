// honest: ten children by fork, their statuses, a pipe to each, shared memory with them
#include <cstdio>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main() {
    int* shared = static_cast<int*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    int told = 0, statuses = 0, ends[2];
    for (int i = 0; i < 10; ++i) {
        if (pipe(ends)) return 1;
        const pid_t child = fork();
        if (child < 0) return 2;
        if (child == 0) {
            shared[i] = i * i;
            const char letter = static_cast<char>(i);
            _exit(write(ends[1], &letter, 1) == 1 ? i : 99);
        }
        close(ends[1]);
        char letter = 0;
        if (read(ends[0], &letter, 1) == 1) told += letter;
        close(ends[0]);
        int status = 0;
        waitpid(child, &status, 0);
        statuses += WEXITSTATUS(status);
    }
    int squares = 0;
    for (int i = 0; i < 10; ++i) squares += shared[i];
    std::printf("%d %d %d\n", told, statuses, squares);
}
