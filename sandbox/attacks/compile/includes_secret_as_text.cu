// The same, where the file's text would become part of a string that the program then prints.
//
// After it: the text came back neither in a message nor from the program.
#include <cstdio>

#define TEXT(...) #__VA_ARGS__
static const char secret[] = TEXT(
#include "/canary/file"
);

int main() { puts(secret); }
