// Writes an array of floats as a NumPy file: in Python, numpy.load("C.npy") reads it.
#pragma once

#include <cstdio>
#include <string>

// False where the file cannot be written.
inline bool writeNpy(const char* file, const float* values, int count) {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }";
    while ((10 + header.size() + 1) % 64) header += ' ';
    header += '\n';
    const unsigned char start[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(header.size() & 255),
                                   (unsigned char)(header.size() >> 8)};
    std::FILE* out = std::fopen(file, "wb");
    if (!out) return false;
    bool written = std::fwrite(start, 1, sizeof start, out) == sizeof start &&
                   std::fwrite(header.data(), 1, header.size(), out) == header.size() &&
                   std::fwrite(values, sizeof(float), count, out) == (size_t)count;
    return std::fclose(out) == 0 && written;
}
