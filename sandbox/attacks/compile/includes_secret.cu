// Includes a file of this machine that everybody may read, in hope that a complaint about it quotes it.
//
// After it: the text came back in no message. Where the file is not in the sandbox it is not even found.
#include "/canary/file"
#include "/canary/home"
#include "/canary/neighbour"
#include "/etc/shadow"

int main() {}
