// A card in another process, a co-simulated device say, behind a Unix socket.
//
// Messages are a letter and numbers, little-endian, of 8 bytes each; `Request` of src/cosim/workloads/card reads them:
//   A bytes memory           allocate: the address
//   F address                the buffer belongs to nobody again; 0: all do
//   P address bytes, bytes   put into memory
//   G address bytes          get: the bytes
//   W offset value           write a register
//   R offset                 read one: its value
//   I                        wait for the interrupt, or a while: 0
//   E                        wait until a record is written, or long: 0
#pragma once
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <vector>

#include "meshkv_registers.h"

namespace fake {

class Remote {
public:
    // The card of the environment, if there is one.
    static Remote *one() {
        static const char *path = std::getenv("MESHKV_CARD_SOCKET");
        if (!path) return nullptr;
        static Remote remote(path);
        return &remote;
    }

    uint64_t allocate(uint64_t bytes, uint64_t memory) { return ask('A', {bytes, memory}); }
    void free(uint64_t address) noexcept {
        shared_.erase(std::remove_if(shared_.begin(), shared_.end(), [&](const Shared &one) { return one.address == address; }), shared_.end());
        try {
            say('F', {address});
        } catch (...) {
            // The card's process has ended, so nobody counts.
        }
    }
    void put(uint64_t address, const uint8_t *from, uint64_t bytes) {
        say('P', {address, bytes});
        send(from, bytes);
    }
    void get(uint64_t address, uint8_t *to, uint64_t bytes) {
        say('G', {address, bytes});
        receive(to, bytes);
    }
    // Host memory, which the card reads and writes by itself. Here it does so when a doorbell is written.
    void share(uint64_t address, uint8_t *data, uint64_t bytes) { shared_.push_back({address, data, bytes}); }
    void write(uint32_t offset, uint32_t value) {
        const bool rings = offset == MESHKV_DOORBELL && !shared_.empty();
        if (rings)
            for (const Shared &one : shared_) put(one.address, one.data, one.bytes);
        say('W', {offset, value});
        if (!rings) return;
        ask('E', {});
        for (const Shared &one : shared_) get(one.address, one.data, one.bytes);
    }
    uint32_t read(uint32_t offset) { return static_cast<uint32_t>(ask('R', {offset})); }
    void wait() { ask('I', {}); }

private:
    struct Shared {
        uint64_t address;
        uint8_t *data;
        uint64_t bytes;
    };
    int socket_;
    std::vector<Shared> shared_;

    explicit Remote(const char *path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        if (std::strlen(path) >= sizeof at.sun_path) throw std::runtime_error("the path of the socket is too long");
        std::strcpy(at.sun_path, path);
        if (socket_ < 0 || ::connect(socket_, reinterpret_cast<sockaddr *>(&at), sizeof at)) throw std::runtime_error("no card answers at MESHKV_CARD_SOCKET: has `meshkv card` ended?");
    }
    ~Remote() { ::close(socket_); }

    void say(char what, std::initializer_list<uint64_t> numbers) {
        uint8_t message[17] = {static_cast<uint8_t>(what)};
        size_t bytes = 1;
        for (const uint64_t number : numbers) {
            std::memcpy(message + bytes, &number, sizeof number);
            bytes += sizeof number;
        }
        send(message, bytes);
    }
    uint64_t ask(char what, std::initializer_list<uint64_t> numbers) {
        say(what, numbers);
        uint64_t answer = 0;
        receive(reinterpret_cast<uint8_t *>(&answer), sizeof answer);
        return answer;
    }
    void send(const uint8_t *from, uint64_t bytes) {
        while (bytes) {
            const ssize_t done = ::send(socket_, from, bytes, MSG_NOSIGNAL);
            if (done <= 0) throw std::runtime_error("the card's process has ended");
            from += done;
            bytes -= static_cast<uint64_t>(done);
        }
    }
    void receive(uint8_t *to, uint64_t bytes) {
        while (bytes) {
            const ssize_t done = ::recv(socket_, to, bytes, 0);
            if (done <= 0) throw std::runtime_error("the card's process has ended");
            to += done;
            bytes -= static_cast<uint64_t>(done);
        }
    }
};

}  // namespace fake
