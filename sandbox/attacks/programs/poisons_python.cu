// Leaves modules, settings and programs where whoever runs Python in this folder, or looks along PATH, takes them.
//
// After it: nobody ran them: what starts programs in the sandbox loads nothing from their folder.
#include "attack.h"
#include <sys/stat.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    const std::string python = "import os, sys\nsys.stdout.write('reached: our module was loaded\\n')\nos._exit(0)\n";
    for (const char* module : {"json", "os", "struct", "numpy", "sitecustomize", "usercustomize", "resource", "select"})
        attack::write_file(std::string(module) + ".py", python), puts("tried: leave a module");
    for (const char* file : {".bashrc", ".profile", ".pythonrc", "pyvenv.cfg", "python3._pth", ".gdbinit", "nvcc.profile"})
        attack::write_file(file, python);
    for (const char* program : {"python3", "sh", "ls", "cat", "nvcc", "g++", "prlimit"}) {
        attack::write_file(program, "#!/bin/sh\necho 'reached: our program was run'\n");
        chmod(program, 0755);
    }
    return !attack::write_result();
}
