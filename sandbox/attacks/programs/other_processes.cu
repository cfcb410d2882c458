// Looks into processes that are not its own: their memory, their open files, their folders.
//
// After it: it saw none of this machine's processes. What started it, inside the sandbox, has nothing to tell.
#include "attack.h"

static bool searches_memory(const std::string& process) {
    FILE* maps = fopen((process + "/maps").c_str(), "r");
    const int memory = open((process + "/mem").c_str(), O_RDONLY);
    char line[512];
    bool found = false;
    while (maps && memory >= 0 && !found && fgets(line, sizeof line, maps)) {
        unsigned long from = 0, to = 0;
        if (sscanf(line, "%lx-%lx rw", &from, &to) != 2 || to - from > 64 << 20) continue;
        std::string text(to - from, '\0');
        const ssize_t got = pread(memory, &text[0], text.size(), from);
        const std::string canary = got > 0 ? attack::canary_in(text) : "";
        found = !canary.empty();
        if (found) puts(canary.c_str());
    }
    return found;
}

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    for (int process : attack::other_processes()) {
        const std::string path = "/proc/" + std::to_string(process);
        attack::tried(attack::is_bait(process), "see process " + std::to_string(process) + " of this machine");
        attack::tried(searches_memory(path), "find a canary in the memory of " + path);
        attack::read_canary(path + "/root" + attack::target("file"));
        attack::read_canary(path + "/cwd/secret");
    }
    attack::tried(false, "see more");
    return !attack::write_result();
}
