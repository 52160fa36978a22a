// The character devices of AMD's Linux driver of XDMA, by the prefix of their names: registers in `_user`, memory in `_h2c_0`
// and `_c2h_0`, the interrupt in `_events_0`. Knows neither buffers nor what registers mean.
#pragma once
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace meshkv {

// Calls of the operating system. Each fails as the call of its name does, by errno. Tests put others in their place.
struct LinuxCalls {
    // Bytes of a transfer at most. The driver pins the pages of a transfer and keeps a list of them in one piece of the
    // kernel's memory, which is rare when it is large.
    static constexpr uint64_t MOST = uint64_t{64} << 20;

    static int open(const char *path, int flags) { return ::open(path, flags | O_CLOEXEC); }
    static int close(int file) { return ::close(file); }
    static bool is_device(int file) {
        struct stat about {};
        return ::fstat(file, &about) == 0 && S_ISCHR(about.st_mode);
    }
    // A lock that ends with the process. Two programs on a card would reset each other's runs.
    static int lock(int file) { return ::flock(file, LOCK_EX | LOCK_NB); }
    static ssize_t read(int file, void *to, size_t bytes) { return ::read(file, to, bytes); }
    static ssize_t pread(int file, void *to, size_t bytes, uint64_t at) { return ::pread(file, to, bytes, static_cast<off_t>(at)); }
    static ssize_t pwrite(int file, const void *from, size_t bytes, uint64_t at) { return ::pwrite(file, from, bytes, static_cast<off_t>(at)); }
    static void *map(int file, size_t bytes) { return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0); }
    static int unmap(void *at, size_t bytes) { return ::munmap(at, bytes); }
    static int wait(int file, int milliseconds) {
        pollfd one{file, POLLIN, 0};
        return ::poll(&one, 1, milliseconds);
    }
};

template <typename Calls>
class XdmaFiles {
public:
    // Opens and locks the card. `_events_0` is opened by the first use of the interrupt: who polls needs none.
    explicit XdmaFiles(const std::string &prefix)
        : prefix_(prefix), user_(prefix + "_user", O_RDWR | O_SYNC), to_card_(prefix + "_h2c_0", O_WRONLY), from_card_(prefix + "_c2h_0", O_RDONLY) {
        if (Calls::lock(user_.file()) && errno == EWOULDBLOCK)
            throw std::runtime_error(user_.path() + " is in use by another program, or by a device of this one: close that first");
        void *const window = Calls::map(user_.file(), WINDOW_BYTES);
        // A kernel with larger pages maps no window of 4 KiB. Each access is a call then.
        if (window != MAP_FAILED) window_ = static_cast<volatile uint32_t *>(window);
    }
    ~XdmaFiles() {
        if (window_) Calls::unmap(const_cast<uint32_t *>(window_), WINDOW_BYTES);
    }
    XdmaFiles(const XdmaFiles &) = delete;
    XdmaFiles &operator=(const XdmaFiles &) = delete;

    uint32_t read(uint32_t offset) const {
        if (window_) return window_[offset / 4];
        uint32_t value = 0;
        whole(user_, "read", offset, [&] { return Calls::pread(user_.file(), &value, sizeof value, offset); });
        return value;
    }
    void write(uint32_t offset, uint32_t value) {
        if (window_) window_[offset / 4] = value;
        else whole(user_, "write", offset, [&] { return Calls::pwrite(user_.file(), &value, sizeof value, offset); });
    }

    // Copies bytes to the card's memory, or from it. Returns when they are there.
    void to_card(uint64_t address, const uint8_t *from, uint64_t bytes) {
        transfer(to_card_, "write", address, bytes, [&](uint64_t done, size_t here) { return Calls::pwrite(to_card_.file(), from + done, here, address + done); });
    }
    void from_card(uint64_t address, uint8_t *to, uint64_t bytes) {
        transfer(from_card_, "read", address, bytes, [&](uint64_t done, size_t here) { return Calls::pread(from_card_.file(), to + done, here, address + done); });
    }

    // Waits until the interrupt has come since the last call, or for the limit. False if it has not.
    bool wait(std::chrono::milliseconds limit) {
        if (!events_.is_open()) events_ = File(prefix_ + "_events_0", O_RDONLY);
        const int ready = Calls::wait(events_.file(), static_cast<int>(limit.count()));
        if (ready < 0 && errno != EINTR) throw failed(events_, "wait for");
        if (ready <= 0) return false;
        uint32_t times = 0;
        const ssize_t got = Calls::read(events_.file(), &times, sizeof times);
        // A signal ends the driver's wait with EAGAIN.
        if (got < 0 && errno != EINTR && errno != EAGAIN) throw failed(events_, "read");
        return got == sizeof times;
    }

private:
    // The registers of the top: all of XDMA's AXI4-Lite window.
    static constexpr size_t WINDOW_BYTES = 4096;

    class File {
    public:
        File() = default;
        File(std::string path, int flags) : path_(std::move(path)), file_(Calls::open(path_.c_str(), flags)) {
            if (file_ < 0) throw std::runtime_error(unopened());
            if (Calls::is_device(file_)) return;
            Calls::close(file_);
            throw std::runtime_error(path_ + " is no character device: some program has written a file there while the driver of XDMA was not loaded; remove it and load the driver");
        }
        ~File() {
            if (is_open()) Calls::close(file_);
        }
        File(const File &) = delete;
        File &operator=(File &&other) noexcept {
            std::swap(path_, other.path_);
            std::swap(file_, other.file_);
            return *this;
        }

        bool is_open() const { return file_ >= 0; }
        int file() const { return file_; }
        const std::string &path() const { return path_; }

    private:
        std::string path_;
        int file_ = -1;

        std::string unopened() const {
            const int why = errno;
            const std::string refused = "cannot open " + path_ + ": " + std::strerror(why);
            switch (why) {
            case ENOENT:
                return refused + "; the path of a device is the prefix of its files, as /dev/xdma0. Load AMD's driver of XDMA (modprobe xdma), and see with lspci -d 10ee: that the card is there";
            case EACCES:
            case EPERM: return refused + "; run as root, or give /dev/xdma* to a group by a rule of udev";
            case ENXIO:
            case ENODEV: return refused + "; the card is gone: load its bitstream, scan PCIe again and load the driver again";
            case EBUSY: return refused + "; another program has it: close that first";
            default: return refused;
            }
        }
    };

    static std::runtime_error failed(const File &file, const char *what) {
        return std::runtime_error(std::string("cannot ") + what + " " + file.path() + ": " + std::strerror(errno));
    }
    static std::runtime_error failed(const File &file, const char *what, uint64_t at, const std::string &why) {
        return std::runtime_error(std::string("cannot ") + what + " " + file.path() + " at " + std::to_string(at) + ": " + why + "; dmesg has what the driver of XDMA says");
    }

    // One register: the driver moves it whole or not at all.
    template <typename Call>
    static void whole(const File &file, const char *what, uint32_t offset, const Call &call) {
        ssize_t moved;
        do moved = call();
        while (moved < 0 && errno == EINTR);
        if (moved != sizeof(uint32_t)) throw failed(file, what, offset, moved < 0 ? std::strerror(errno) : std::to_string(moved) + " bytes of a register of 4");
    }

    template <typename Call>
    static void transfer(const File &file, const char *what, uint64_t address, uint64_t bytes, const Call &call) {
        for (uint64_t done = 0; done < bytes;) {
            const ssize_t moved = call(done, static_cast<size_t>(std::min(bytes - done, Calls::MOST)));
            if (moved < 0 && errno == EINTR) continue;  // Nothing has moved, or it moves again to the same place.
            if (moved <= 0)
                throw failed(file, what, address + done, moved < 0 ? std::strerror(errno) : "the card's memory ends there, or its DMA moves nothing");
            done += static_cast<uint64_t>(moved);
        }
    }

    std::string prefix_;
    File user_, to_card_, from_card_, events_;
    volatile uint32_t *window_ = nullptr;
};

}  // namespace meshkv
