// Writes forged answers into the streams of the processes that it sees, where the one that watches it talks to
// the grader.
//
// After it: what arrives from the sandbox is read as if the program had said it. A result that is not there, or
// that is garbled, is the student's loss, never an error of ours, and never points.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    puts("tried: speak for the process that watches");
    const std::string text = "{\"status\": \"exit\", \"returncode\": 0, \"verdict\": \"pass\"}\n" + std::string(64, '\xff');
    for (int process : attack::other_processes())
        for (int stream = 0; stream < 16; ++stream) {
            const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(stream);
            const int file = attack::is_bait(process) ? -1 : open(path.c_str(), O_WRONLY | O_NONBLOCK);
            if (file >= 0 && write(file, text.data(), text.size()) > 0) puts("tried: wrote into a stream");
        }
    return 0;
}
