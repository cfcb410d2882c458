// What programs written like NVIDIA's samples take from their `helper_timer.h`: a stopwatch, in milliseconds.
#ifndef GRADER_HELPER_TIMER_H
#define GRADER_HELPER_TIMER_H

#include <chrono>

class StopWatchInterface {
  public:
    void start() {
        began_ = Clock::now();
        runs_ = true;
    }

    void stop() {
        total_ += since_start();
        runs_ = false;
        ++stops_;
    }

    void reset() {
        total_ = 0;
        stops_ = 0;
        began_ = Clock::now();
    }

    float getTime() const { return total_ + (runs_ ? since_start() : 0.0f); }
    float getAverageTime() const { return stops_ ? total_ / stops_ : 0.0f; }

  private:
    typedef std::chrono::steady_clock Clock;

    float since_start() const { return std::chrono::duration<float, std::milli>(Clock::now() - began_).count(); }

    Clock::time_point began_ = Clock::now();
    float total_ = 0;
    int stops_ = 0;
    bool runs_ = false;
};

inline bool sdkCreateTimer(StopWatchInterface **timer) {
    *timer = new StopWatchInterface;
    return true;
}

inline bool sdkDeleteTimer(StopWatchInterface **timer) {
    delete *timer;
    *timer = nullptr;
    return true;
}

inline bool sdkStartTimer(StopWatchInterface **timer) { return *timer ? ((*timer)->start(), true) : false; }
inline bool sdkStopTimer(StopWatchInterface **timer) { return *timer ? ((*timer)->stop(), true) : false; }
inline bool sdkResetTimer(StopWatchInterface **timer) { return *timer ? ((*timer)->reset(), true) : false; }
inline float sdkGetTimerValue(StopWatchInterface **timer) { return *timer ? (*timer)->getTime() : -1.0f; }
inline float sdkGetAverageTimerValue(StopWatchInterface **timer) {
    return *timer ? (*timer)->getAverageTime() : -1.0f;
}

#endif
