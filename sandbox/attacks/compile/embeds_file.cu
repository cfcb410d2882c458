// Embeds a file of this machine by #embed, and asks whether files exist by __has_embed and __has_include.
//
// After it: the text did not come back, and no question about a file outside the sandbox was answered with yes.
#include <cstdio>

#if __has_include("/canary/file") || __has_include("/canary/home") || __has_include("/canary/neighbour")
static const bool found = true;
#else
static const bool found = false;
#endif

static const unsigned char secret[] = {
#embed "/canary/file"
    , 0};

int main() {
    if (found) puts("reached: a file exists");
    puts(reinterpret_cast<const char*>(secret));
}
