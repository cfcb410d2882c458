// Fills the disk with files, in every folder that can be written.
//
// After it: the folder it ran in was all that it filled, that was small, and it is gone.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    const std::string piece(1 << 20, 'x');
    for (const std::string folder : {".", "/tmp", "/var/tmp", "/dev/shm", "/run"}) {
        long written = 0;
        for (int file = 0; file < 64 && written >= file * 32l; ++file) {
            const std::string name = folder + "/" + attack::target("mark") + std::to_string(file);
            FILE* out = fopen(name.c_str(), "w");
            for (int i = 0; out && i < 32 && fwrite(piece.data(), piece.size(), 1, out) == 1; ++i) ++written;
            if (out) fclose(out);
        }
        attack::tried(written >= 1024, "write 1 GiB into " + folder);
    }
}
