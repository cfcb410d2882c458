// Steers the linker from the source: sections that it obeys, an interpreter of its own, symbols of libraries.
//
// After it: the compilation ended in the sandbox, with a program or without one.
asm(".section .interp, \"a\"\n.string \"/canary/file\"\n.text\n");
asm(".section .note.GNU-stack, \"x\"\n.text\n");
asm(".symver puts, puts@CANARY_1.0\n");
asm(".section .preinit_array, \"aw\"\n.quad 0x41414141\n.text\n");

extern "C" int puts(const char*);
int main() { return puts("tried: link as we like"); }
