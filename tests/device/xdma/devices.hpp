// Character devices of a card in another process, at their worst: the window of registers cannot be mapped, signals interrupt
// calls, and transfers end early. For `-include`, with MESHKV_XDMA_CALLS=fake::Devices.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "../xrt/remote.hpp"

// What a program opens.
#define FAKE_CARD "/dev/xdma0"

namespace fake {

struct Devices {
    static constexpr uint64_t MOST = 3000;

    static int open(const char *path, int) {
        const std::string name = path;
        for (int file = USER; file <= EVENTS; ++file)
            if (Remote::one() && name == std::string(FAKE_CARD) + SUFFIX[file]) return file;
        errno = ENOENT;
        return -1;
    }
    static int close(int file) {
        if (file == USER) Remote::one()->free(0);
        return 0;
    }
    static bool is_device(int) { return true; }
    static int lock(int) { return 0; }
    static void *map(int, size_t) { return refused<void *>(EINVAL, MAP_FAILED); }
    static int unmap(void *, size_t) { return 0; }

    static ssize_t pread(int file, void *to, size_t bytes, uint64_t at) {
        if (interrupted()) return -1;
        if (file == USER) {
            const uint32_t value = Remote::one()->read(static_cast<uint32_t>(at));
            std::memcpy(to, &value, sizeof value);
            return sizeof value;
        }
        if (file != FROM_CARD) return refused<ssize_t>(EBADF, -1);
        Remote::one()->get(at, static_cast<uint8_t *>(to), shortened(bytes));
        return static_cast<ssize_t>(shortened(bytes));
    }
    static ssize_t pwrite(int file, const void *from, size_t bytes, uint64_t at) {
        if (interrupted()) return -1;
        if (file == USER) {
            uint32_t value;
            std::memcpy(&value, from, sizeof value);
            Remote::one()->write(static_cast<uint32_t>(at), value);
            return sizeof value;
        }
        if (file != TO_CARD) return refused<ssize_t>(EBADF, -1);
        Remote::one()->put(at, static_cast<const uint8_t *>(from), shortened(bytes));
        return static_cast<ssize_t>(shortened(bytes));
    }

    static int wait(int, int milliseconds) {
        if (milliseconds == 0) return 0;
        Remote::one()->wait();
        return interrupted() ? -1 : 1;
    }
    static ssize_t read(int, void *to, size_t bytes) {
        std::memset(to, 1, bytes);
        return static_cast<ssize_t>(bytes);
    }

private:
    enum { USER, TO_CARD, FROM_CARD, EVENTS };
    static constexpr const char *SUFFIX[] = {"_user", "_h2c_0", "_c2h_0", "_events_0"};

    template <typename Result>
    static Result refused(int why, Result result) {
        errno = why;
        return result;
    }
    // Every seventh call.
    static bool interrupted() {
        static int calls = 0;
        if (++calls % 7) return false;
        errno = EINTR;
        return true;
    }
    // Whole words of 64 bits: the co-simulated memory gives no others.
    static size_t shortened(size_t bytes) { return std::min<size_t>(bytes, 1000); }
};

}  // namespace fake
