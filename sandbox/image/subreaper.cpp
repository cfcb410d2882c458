// What compute-sanitizer starts programs through, and what its package for Python leaves out up to 13.3: it is
// asked for as `TreeLauncherSubreaper [ARGUMENT...] PROGRAM`, keeps whatever PROGRAM leaves behind, and ends when
// nothing of it runs any more. How a program ended, compute-sanitizer learns from the library that it injects.
#include <cerrno>
#include <cstdlib>
#include <vector>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count < 2) return EXIT_FAILURE;
    std::vector<char *> command{words[count - 1]};
    command.insert(command.end(), words + 1, words + count - 1);
    command.push_back(nullptr);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t child = fork();
    if (child < 0) return EXIT_FAILURE;
    if (child == 0) {
        execv(command[0], command.data());
        _exit(127);
    }
    while (wait(nullptr) >= 0 || errno == EINTR) {
    }
    return EXIT_SUCCESS;
}
