// The public interface of libwb, as course programs use it, in one header without a library.
//
// What `wbSolution` gets is written to the file after `-o`, compared with that after `-e`, and written to
// `solution.npy` in the working folder, where a grader finds it. An input called `-` is read from standard
// input, one array after the other.

#ifndef GRADER_WB_H
#define GRADER_WB_H

#include <cassert>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

typedef bool wbBool;
#define wbTrue true
#define wbFalse false

#define wbAssert(condition) assert(condition)

enum wbLogLevel_t {
    wbLogLevel_OFF,
    wbLogLevel_FATAL,
    wbLogLevel_ERROR,
    wbLogLevel_WARN,
    wbLogLevel_INFO,
    wbLogLevel_DEBUG,
    wbLogLevel_TRACE
};

enum wbTimerKind_t {
    wbTimerKind_Generic,
    wbTimerKind_IO,
    wbTimerKind_GPU,
    wbTimerKind_Copy,
    wbTimerKind_Driver,
    wbTimerKind_CopyAsync,
    wbTimerKind_Compute,
    wbTimerKind_CPUGPUOverlap
};

struct wbArg_t {
    std::vector<std::string> inputs;
    std::string output, expected, type;
};

// `channels` floats a pixel, from 0 to 1, row by row.
struct wbImage {
    int width, height, channels, pitch;
    float *data;
};
typedef wbImage *wbImage_t;

namespace wb_header {

[[noreturn]] inline void fail(const std::string &reason) {
    std::fflush(stdout);
    std::fprintf(stderr, "wb.h: %s\n", reason.c_str());
    std::exit(1);
}

template <typename... Parts> std::string text(const Parts &...parts) {
    std::ostringstream stream;
    (void)(stream << ... << parts);
    return stream.str();
}

inline void log(wbLogLevel_t level, const char *function, int line, const std::string &message) {
    static const char *const names[] = {"OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"};
    if (level != wbLogLevel_OFF)
        std::printf("[%s] %s::%d %s\n", names[level], function, line, message.c_str());
}

typedef std::chrono::steady_clock Clock;

inline std::map<std::pair<int, std::string>, Clock::time_point> &timers() {
    static std::map<std::pair<int, std::string>, Clock::time_point> running;
    return running;
}

inline void start(wbTimerKind_t kind, const std::string &message) {
    timers()[{kind, message}] = Clock::now();
}

inline void stop(wbTimerKind_t kind, const std::string &message) {
    static const char *const names[] = {"Generic", "IO",        "GPU",     "Copy",
                                        "Driver",  "CopyAsync", "Compute", "CPUGPUOverlap"};
    const auto timer = timers().find({kind, message});
    if (timer == timers().end()) {
        std::printf("[%s] %s: stopped, but never started\n", names[kind], message.c_str());
        return;
    }
    const std::chrono::duration<double> elapsed = Clock::now() - timer->second;
    timers().erase(timer);
    std::printf("[%s] %.6f s %s\n", names[kind], elapsed.count(), message.c_str());
}

inline bool is(const char *name, const char *wanted) {
    for (; *name && *wanted; ++name, ++wanted)
        if ((*name | 32) != (*wanted | 32)) return false;
    return *name == *wanted;
}

// Rows, columns and elements of one file of text: a line with its extents, then its elements.
template <typename T> T *read(const char *file, int *rows, int *columns, int *count) {
    std::ifstream opened;
    const bool standard = std::strcmp(file, "-") == 0;
    if (!standard) {
        opened.open(file);
        if (!opened) fail(text("cannot open the input `", file, "`"));
    }
    std::istream &stream = standard ? std::cin : opened;
    std::string line;
    while (std::getline(stream, line) && line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::istringstream extents(line);
    long long total = 1, extent = 0, first = 0, second = 1;
    int given = 0;
    for (; extents >> extent; ++given) {
        if (extent < 0 || (extent && total > std::numeric_limits<int>::max() / extent))
            fail(text("the extents of `", file, "` are no sizes of an array"));
        total *= extent;
        (given == 0 ? first : second) = given < 2 ? extent : second * extent;
    }
    if (!given) fail(text("the input `", file, "` does not begin with its extents"));
    T *values = static_cast<T *>(std::malloc(total ? total * sizeof(T) : 1));
    if (!values) fail(text("no memory for the input `", file, "`"));
    std::string word;
    for (long long i = 0; i < total; ++i) {
        char *end = nullptr;
        if (!(stream >> word)) fail(text("the input `", file, "` has ", i, " of ", total, " elements"));
        const double value = std::strtod(word.c_str(), &end);
        if (end == word.c_str()) fail(text("`", word, "` in the input `", file, "` is no number"));
        values[i] = static_cast<T>(value);
    }
    std::getline(stream, line);
    *rows = static_cast<int>(first);
    *columns = static_cast<int>(second);
    *count = static_cast<int>(total);
    return values;
}

inline void *read_text(const char *file, int *count) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) fail(text("cannot open the input `", file, "`"));
    const std::string content((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    char *values = static_cast<char *>(std::malloc(content.size() + 1));
    if (!values) fail(text("no memory for the input `", file, "`"));
    std::memcpy(values, content.c_str(), content.size() + 1);
    *count = static_cast<int>(content.size());
    return values;
}

inline void *import(const char *file, int *rows, int *columns, int *count, const char *type) {
    if (is(type, "Text")) return read_text(file, count);
    if (is(type, "Integer")) return read<int>(file, rows, columns, count);
    if (is(type, "Real")) return read<float>(file, rows, columns, count);
    fail(text("`", type, "` is no type of elements; expected Real, Integer or Text"));
}

inline std::string extents(const std::vector<int> &shape, const char *between) {
    std::string all;
    for (const int extent : shape) all += (all.empty() ? "" : between) + std::to_string(extent);
    return all;
}

template <typename T>
void write_raw(const std::string &file, const T *data, const std::vector<int> &shape, long long count) {
    std::ofstream stream(file);
    stream.precision(std::numeric_limits<float>::max_digits10);
    stream << extents(shape, " ") << '\n';
    const long long width = shape.back() ? shape.back() : 1;
    const bool is_vector = shape.size() == 1;
    for (long long i = 0; i < count; ++i)
        stream << +data[i] << (is_vector || (i + 1) % width == 0 ? '\n' : ' ');
    if (!stream.flush()) fail(text("cannot write `", file, "`"));
}

// NumPy's format, version 1.0.
template <typename T>
void write_npy(const char *file, const T *data, const std::vector<int> &shape, long long count) {
    const char *const type = std::is_floating_point<T>::value ? "<f" : std::is_signed<T>::value ? "<i" : "<u";
    const std::string tail = shape.size() == 1 ? ",), }" : "), }";
    std::string header = text("{'descr': '", type, sizeof(T), "', 'fortran_order': False, 'shape': (",
                              extents(shape, ", "), tail);
    header += std::string(63 - (10 + header.size()) % 64, ' ') + '\n';
    const char size[2] = {static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
    std::ofstream stream(file, std::ios::binary);
    stream.write("\x93NUMPY\x01\x00", 8).write(size, 2) << header;
    stream.write(reinterpret_cast<const char *>(data), static_cast<std::streamsize>(count * sizeof(T)));
    if (!stream.flush()) fail(text("cannot write `", file, "`"));
}

template <typename T> void compare(const wbArg_t &args, const T *data, long long count) {
    int rows, columns, expected;
    T *values = read<T>(args.expected.c_str(), &rows, &columns, &expected);
    long long wrong = expected == count ? -1 : 0;
    for (long long i = 0; wrong < 0 && i < count; ++i) {
        const double difference = std::fabs(static_cast<double>(data[i]) - static_cast<double>(values[i]));
        if (!(difference <= 1e-3 * std::fmax(1.0, std::fabs(static_cast<double>(values[i]))))) {
            std::printf("The solution is not correct: element %lld is %g, expected %g\n", i,
                        static_cast<double>(data[i]), static_cast<double>(values[i]));
            wrong = i + 1;
        }
    }
    if (expected != count)
        std::printf("The solution is not correct: it has %lld elements, expected %d\n", count, expected);
    else if (wrong < 0)
        std::printf("The solution is correct\n");
    std::free(values);
}

template <typename T> void hand_in(const wbArg_t &args, const T *data, const std::vector<int> &shape) {
    long long count = 1;
    for (const int extent : shape) {
        if (extent < 0) fail("the extents given to wbSolution are no sizes of an array");
        count *= extent;
    }
    write_npy("solution.npy", data, shape, count);
    if (!args.output.empty()) write_raw(args.output, data, shape, count);
    if (!args.expected.empty()) compare(args, data, count);
}

// Data without a type are integers where the program is started with `-t integral_vector`, else floats.
inline void hand_in(const wbArg_t &args, const void *data, const std::vector<int> &shape) {
    if (args.type == "integral_vector")
        hand_in(args, static_cast<const std::int32_t *>(data), shape);
    else
        hand_in(args, static_cast<const float *>(data), shape);
}

// The next number of the head of a PPM or PGM file, behind blanks and comments.
inline int head_number(std::istream &stream) {
    int number = -1;
    for (stream >> std::ws; stream.peek() == '#'; stream >> std::ws)
        stream.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    stream >> number;
    return number;
}

inline unsigned char as_byte(float value) {
    return static_cast<unsigned char>(value <= 0 ? 0 : value >= 1 ? 255 : value * 255 + 0.5f);
}

} // namespace wb_header

#define wbLog(level, ...) \
    wb_header::log(wbLogLevel_##level, __func__, __LINE__, wb_header::text(__VA_ARGS__))
#define wbTime_start(kind, ...) wb_header::start(wbTimerKind_##kind, wb_header::text(__VA_ARGS__))
#define wbTime_stop(kind, ...) wb_header::stop(wbTimerKind_##kind, wb_header::text(__VA_ARGS__))

inline void wb_init(int *, char ***) {}
inline void wbInit(int *, char ***) {}

#ifdef __CUDACC__
// A function, so that programs may define a macro of this name, as most of them do.
inline void wbCheck(cudaError_t status) {
    if (status != cudaSuccess) wb_header::fail(cudaGetErrorString(status));
}
#endif

// The arguments of the program: `-i a.raw,b.raw -o output.raw -e expected.raw -t vector`.
inline wbArg_t wbArg_read(int argc, char **argv) {
    wbArg_t args;
    for (int i = 1; i + 1 < argc; ++i) {
        const std::string option = argv[i];
        if (option == "-i" || option == "--input_dataset") {
            std::istringstream names(argv[++i]);
            for (std::string name; std::getline(names, name, ',');)
                if (!name.empty() && name != "none") args.inputs.push_back(name);
        } else if (option == "-o" || option == "--output") {
            args.output = argv[++i];
        } else if (option == "-e" || option == "--expected_output") {
            args.expected = argv[++i];
        } else if (option == "-t" || option == "--type") {
            args.type = argv[++i];
        }
    }
    return args;
}

inline int wbArg_getInputCount(const wbArg_t &args) { return static_cast<int>(args.inputs.size()); }

inline char *wbArg_getInputFile(const wbArg_t &args, int index) {
    if (index < 0 || index >= wbArg_getInputCount(args))
        wb_header::fail(wb_header::text("the program has no input ", index, "; give it with -i"));
    static std::map<std::string, std::string> names;
    return &(names[args.inputs[index]] = args.inputs[index])[0];
}

// The file after -o: a copy that the program may write to, as with libwb.
inline char *wbArg_getOutputFile(const wbArg_t &args) {
    if (args.output.empty()) wb_header::fail("the program has no output; give it with -o");
    static std::string name;
    return &(name = args.output)[0];
}

inline wbImage_t wbImage_new(int width, int height, int channels = 3) {
    const long long count = 1LL * width * height * channels;
    if (width < 0 || height < 0 || channels < 0) wb_header::fail("the extents of an image are no sizes");
    float *data = static_cast<float *>(std::calloc(count ? count : 1, sizeof(float)));
    if (!data) wb_header::fail("no memory for an image");
    return new wbImage{width, height, channels, width * channels, data};
}

inline void wbImage_delete(wbImage_t image) {
    if (image) std::free(image->data);
    delete image;
}

inline int wbImage_getWidth(wbImage_t image) { return image->width; }
inline int wbImage_getHeight(wbImage_t image) { return image->height; }
inline int wbImage_getChannels(wbImage_t image) { return image->channels; }
inline int wbImage_getPitch(wbImage_t image) { return image->pitch; }
inline float *wbImage_getData(wbImage_t image) { return image->data; }

// An image of a PPM (P6) or PGM (P5) file.
inline wbImage_t wbImport(const char *file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) wb_header::fail(wb_header::text("cannot open the input `", file, "`"));
    char magic[2] = {};
    stream.read(magic, 2);
    const int channels = magic[0] != 'P' ? 0 : magic[1] == '6' ? 3 : magic[1] == '5' ? 1 : 0;
    const int width = wb_header::head_number(stream), height = wb_header::head_number(stream);
    const int most = wb_header::head_number(stream);
    stream.get();
    if (!channels || width < 1 || height < 1 || most < 1 || most > 255)
        wb_header::fail(wb_header::text("`", file, "` is no PPM (P6) or PGM (P5) image of bytes"));
    std::vector<unsigned char> bytes(static_cast<std::size_t>(width) * height * channels);
    if (!stream.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
        wb_header::fail(wb_header::text("the image `", file, "` is cut off"));
    wbImage_t image = wbImage_new(width, height, channels);
    for (std::size_t i = 0; i < bytes.size(); ++i) image->data[i] = bytes[i] / static_cast<float>(most);
    return image;
}

inline void *wbImport(const char *file, int *count, const char *type = "Real") {
    int rows, columns;
    return wb_header::import(file, &rows, &columns, count, type);
}

inline void *wbImport(const char *file, int *rows, int *columns, const char *type = "Real") {
    int count;
    return wb_header::import(file, rows, columns, &count, type);
}

// The one whole number of a file, by which some programs choose what they do.
inline int wbImport_flag(const char *file) {
    std::ifstream stream(file);
    int flag = 0;
    if (!(stream >> flag)) wb_header::fail(wb_header::text("the input `", file, "` holds no whole number"));
    return flag;
}

inline void wbExport(const char *file, wbImage_t image) {
    std::ofstream stream(file, std::ios::binary);
    stream << (image->channels == 1 ? "P5" : "P6") << '\n';
    stream << image->width << ' ' << image->height << "\n255\n";
    const long long count = 1LL * image->width * image->height * image->channels;
    for (long long i = 0; i < count; ++i) stream.put(static_cast<char>(wb_header::as_byte(image->data[i])));
    if (!stream.flush()) wb_header::fail(wb_header::text("cannot write `", file, "`"));
}

template <typename T> void wbExport(const char *file, T *data, int count) {
    wb_header::write_raw(file, data, {count}, count);
}

template <typename T> void wbExport(const char *file, T *data, int rows, int columns) {
    wb_header::write_raw(file, data, {rows, columns}, 1LL * rows * columns);
}

template <typename T> void wbSolution(const wbArg_t &args, T *data, int count) {
    wb_header::hand_in(args, data, {count});
}

template <typename T> void wbSolution(const wbArg_t &args, T *data, int rows, int columns) {
    wb_header::hand_in(args, data, {rows, columns});
}

template <typename T> void wbSolution(const wbArg_t &args, T *data, int rows, int columns, int depth) {
    wb_header::hand_in(args, data, {rows, columns, depth});
}

inline void wbSolution(const wbArg_t &args, wbImage_t image) {
    const std::vector<int> shape = {image->height, image->width, image->channels};
    wb_header::write_npy("solution.npy", image->data, shape, 1LL * shape[0] * shape[1] * shape[2]);
    if (!args.output.empty()) wbExport(args.output.c_str(), image);
}

#endif
