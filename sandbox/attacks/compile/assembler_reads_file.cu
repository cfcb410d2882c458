// Has the assembler read a file as if it were assembly (.include), so that its complaints quote it line by line.
//
// After it: no message quotes it.
asm(".include \"/canary/file\"");
asm(".include \"/canary/neighbour\"");
asm(".include \"/etc/passwd\"");

int main() {}
