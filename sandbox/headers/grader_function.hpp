// The program that calls a student's function (grader/toolchain/nvcc/function.py writes its `main`).
//
// Its arguments say what the function is given, one word for each parameter:
//
//     device=7000…          an array that is in device memory already, by its address
//     load=FILE,BYTES       an array that is copied to device memory first
//     host=FILE,BYTES,600…  an array in memory of the host, at this address, with a page behind it that is not mapped
//     number=3f800000       the bits of a number
//
// After the call each array that came from a file is in FILE.after, as it was left. Numbers are hexadecimal.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace grader_function {

constexpr int no_call = 71, device_failed = 70; // exit statuses (grader/kinds/function/calls.py)
constexpr std::size_t page = 4096;

[[noreturn]] inline void give_up(int status, const char *what) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(status);
}

inline void require(cudaError_t code) {
    if (code != cudaSuccess) give_up(device_failed, cudaGetErrorString(code));
}

class Call {
  public:
    Call(int count, char **words) : words_(words + 1, words + count) {
        require(cudaDeviceSynchronize()); // the device is there before the function is called
    }

    template <typename Number> Number number() {
        std::uint64_t bits = std::strtoull(value("number=").c_str(), nullptr, 16);
        Number number;
        std::memcpy(&number, &bits, sizeof number);
        return number;
    }

    void *array() {
        const std::string &word = words_.at(next_);
        if (word.rfind("device=", 0) == 0) {
            return reinterpret_cast<void *>(std::strtoull(value("device=").c_str(), nullptr, 16));
        }
        bool on_host = word.rfind("host=", 0) == 0;
        std::string rest = value(on_host ? "host=" : "load=");
        std::size_t comma = rest.find(',');
        std::string file = rest.substr(0, comma);
        char *end = nullptr;
        std::size_t bytes = std::strtoull(rest.c_str() + comma + 1, &end, 16);
        void *start = on_host ? guarded(std::strtoull(end + 1, nullptr, 16), bytes) : allocated(bytes);
        std::vector<char> content = read(file, bytes);
        if (on_host) std::memcpy(start, content.data(), bytes);
        else require(cudaMemcpy(start, content.data(), bytes, cudaMemcpyHostToDevice));
        // Opened before the call: the function may go to another folder.
        arrays_.push_back({start, bytes, on_host, std::fopen((file + ".after").c_str(), "wb")});
        return start;
    }

    // A function may leave work on the device behind: whoever calls it waits.
    void give_back() {
        require(cudaDeviceSynchronize());
        for (const Array &array : arrays_) {
            std::vector<char> content(array.bytes);
            if (array.on_host) std::memcpy(content.data(), array.start, array.bytes);
            else require(cudaMemcpy(content.data(), array.start, array.bytes, cudaMemcpyDeviceToHost));
            if (!array.after || std::fwrite(content.data(), 1, array.bytes, array.after) != array.bytes ||
                std::fclose(array.after)) {
                give_up(no_call, "what the function left cannot be written");
            }
        }
    }

  private:
    struct Array {
        void *start;
        std::size_t bytes;
        bool on_host;
        std::FILE *after;
    };

    std::string value(const char *key) {
        const std::string &word = words_.at(next_++);
        if (word.rfind(key, 0) != 0) give_up(no_call, "the program was not called as it should be");
        return word.substr(std::strlen(key));
    }

    static void *allocated(std::size_t bytes) {
        void *start = nullptr;
        require(cudaMalloc(&start, bytes));
        return start;
    }

    // The array ends where its last page ends: one element further on is not mapped.
    static void *guarded(std::uint64_t address, std::size_t bytes) {
        std::size_t whole = (bytes + page - 1) / page * page;
        int fixed = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
        void *hint = reinterpret_cast<void *>(address);
        void *first = mmap(hint, whole + 2 * page, PROT_NONE, fixed, -1, 0);
        if (first != hint) give_up(no_call, "there is no room for an array");
        char *start = static_cast<char *>(first) + page;
        if (mprotect(start, whole, PROT_READ | PROT_WRITE)) give_up(no_call, "there is no memory for an array");
        return start + (whole - bytes);
    }

    static std::vector<char> read(const std::string &name, std::size_t bytes) {
        std::vector<char> content(bytes);
        std::FILE *file = std::fopen(name.c_str(), "rb");
        if (!file || std::fread(content.data(), 1, bytes, file) != bytes) give_up(no_call, "an array is not there");
        std::fclose(file);
        return content;
    }

    std::vector<std::string> words_;
    std::size_t next_ = 0;
    std::vector<Array> arrays_;
};

} // namespace grader_function
