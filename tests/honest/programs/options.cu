// honest: options by getopt_long
#include <cstdio>
#include <cstdlib>
#include <getopt.h>
int main(int argc, char** argv) {
    static const option known[] = {{"size", required_argument, nullptr, 's'}, {"verbose", no_argument, nullptr, 'v'}, {}};
    int size = 1, verbose = 0;
    for (int found; (found = getopt_long(argc, argv, "s:v", known, nullptr)) != -1;)
        found == 's' ? void(size = std::atoi(optarg)) : found == 'v' ? void(++verbose) : std::exit(2);
    std::printf("size %d, verbose %d, %d more\n", size, verbose, argc - optind);
}
