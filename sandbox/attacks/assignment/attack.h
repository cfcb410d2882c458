// What the attacks share: where the canaries are, a way to say what was tried and reached, and an honest result.
//
// Arguments of the program are `name=place` pairs: file, home, neighbour, tcp, udp, unix, abstract, docker, mark.
// `mark` is a name that nobody else uses: what an attack leaves anywhere it names so, and so it can be found.
#pragma once
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace attack {

inline std::vector<std::string>& given() {
    static std::vector<std::string> all;
    return all;
}

inline void begin(int argc, char** argv) {
    setvbuf(stdout, nullptr, _IONBF, 0);  // whatever becomes of us, what we said has been said
    given().assign(argv + 1, argv + argc);
}

inline std::string target(const std::string& name) {
    for (const std::string& each : given())
        if (each.rfind(name + "=", 0) == 0) return each.substr(name.size() + 1);
    return "";
}

// Says how an attempt ended; `errno` holds why it was refused.
inline bool tried(bool reached, const std::string& what) {
    const int reason = errno;
    if (reached) printf("reached: %s\n", what.c_str());
    printf("tried: %s: %s\n", what.c_str(), reached ? "done" : strerror(reason));
    errno = reason;
    return reached;
}

inline std::string content(const std::string& path, size_t most = 65536) {
    std::string text(most, '\0');
    const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const ssize_t got = file < 0 ? -1 : read(file, &text[0], most);
    const int reason = errno;
    if (file >= 0) close(file);
    errno = reason;
    text.resize(got < 0 ? 0 : got);
    return text;
}

// Memory that is really there: every page of it has been written to. None where it is refused.
inline char* memory_in_use(size_t bytes) {
    char* memory = static_cast<char*>(malloc(bytes));
    for (size_t at = 0; memory && at < bytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
    return memory;
}

// Every canary's text is this word, a colon, and a number of 32 digits that no attack knows.
inline std::string canary_in(const std::string& text) {
    for (size_t at = 0; (at = text.find("canary:", at)) != std::string::npos; ++at)
        if (text.find_first_not_of("0123456789abcdef", at + 7) >= at + 7 + 32) return text.substr(at, 7 + 32);
    return "";
}

inline bool read_canary(const std::string& path) {
    const std::string found = canary_in(content(path));
    if (!found.empty()) puts(found.c_str());
    return tried(!found.empty(), "read " + path);
}

inline bool write_file(const std::string& path, const std::string& text) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return false;
    const bool done = write(file, text.data(), text.size()) == ssize_t(text.size());
    close(file);
    return done;
}

// A file in NumPy's format, version 1.0: a header that is a Python literal, then the numbers.
inline std::string npy(const std::string& header, const std::string& numbers) {
    const size_t length = (header.size() + 10 + 1 + 63) / 64 * 64 - 10;
    std::string text("\x93NUMPY\x01\x00", 8);
    text += char(length & 255);
    text += char(length >> 8);
    return text + header + std::string(length - header.size() - 1, ' ') + "\n" + numbers;
}

// Numbers of all processes that can be seen but our own.
inline std::vector<int> other_processes() {
    std::vector<int> found;
    DIR* folder = opendir("/proc");
    while (const dirent* each = folder ? readdir(folder) : nullptr)
        if (atoi(each->d_name) > 0 && atoi(each->d_name) != getpid()) found.push_back(atoi(each->d_name));
    if (folder) closedir(folder);
    return found;
}

// A process of this machine has a canary among its arguments, to be looked for by those who can see it.
inline bool is_bait(int process) {
    return !canary_in(content("/proc/" + std::to_string(process) + "/cmdline")).empty();
}

// The right result: ones times twos, 34 by 34.
inline bool write_result() {
    const std::vector<float> product(34 * 34, 68.0f);
    const std::string numbers(reinterpret_cast<const char*>(product.data()), product.size() * sizeof(float));
    return write_file("C.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (34, 34), }", numbers));
}

}  // namespace attack
