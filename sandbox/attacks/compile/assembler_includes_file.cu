// Has the assembler put a file of this machine into the program (.incbin), which prints it.
//
// After it: the file was not found in the sandbox, or its text did not come back.
#include <cstdio>

asm(".data\nsecret: .incbin \"/canary/file\"\n.byte 0\n.text\n");
extern "C" const char secret[];

int main() { puts(secret); }
