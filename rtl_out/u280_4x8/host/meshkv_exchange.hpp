// What a host and the device exchange in a call: lists of descriptors, queries and new tokens one way, outputs and the record
// of the run the other way.
//
// All of it is one buffer. In host memory, which the device reads and writes by itself, nothing is transferred. In the card's
// memory one transfer brings what has changed, and one fetches outputs.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "meshkv_card.hpp"

namespace meshkv {

class Exchange {
public:
    // `slots` lists of descriptors, and so many bytes of queries and what lies behind them.
    Exchange(Card &card, uint32_t slots, uint64_t query_bytes)
        : queries_(aligned(uint64_t{slots} * MESHKV_LIST_SLOT_BYTES)), outputs_(queries_ + aligned(query_bytes)),
          buffer_(card.allocate("queries", outputs_ + MESHKV_OUTPUT_BYTES, "the buffer of lists, queries and outputs")) {}

    uint64_t list_address() const { return buffer_.address(); }
    uint64_t queries_address() const { return buffer_.address() + queries_; }
    uint64_t outputs_address() const { return buffer_.address() + outputs_; }

    // True in host memory: the record of a run can be polled there.
    bool shared() const { return buffer_.shared(); }

    // Writes a list of descriptors into its slot.
    void put_list(uint32_t slot, const std::vector<meshkv_descriptor> &list) {
        const uint64_t at = uint64_t{slot} * MESHKV_LIST_SLOT_BYTES;
        std::memcpy(buffer_.data() + at, list.data(), list.size() * sizeof(meshkv_descriptor));
        changed(at, list.size() * sizeof(meshkv_descriptor));
    }

    // Bytes from `at` of the queries on, which the caller writes.
    uint8_t *to_queries(uint64_t at, uint64_t bytes) {
        changed(queries_ + at, bytes);
        return buffer_.data() + queries_ + at;
    }

    // The host's copy of the outputs.
    const uint8_t *outputs() const { return buffer_.data() + outputs_; }

    // Brings all that has changed since to where the device reads it.
    void send() {
        // The device reads what was written before its doorbell.
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (!shared() && first_ < end_) buffer_.to_card(first_, end_ - first_);
        first_ = ~uint64_t{0};
        end_ = 0;
    }

    // Fetches so many bytes of outputs.
    void fetch(uint64_t bytes) {
        if (!shared()) buffer_.from_card(outputs_, bytes);
        std::atomic_thread_fence(std::memory_order_acquire);
    }

    // The record of the last run, as the device writes it.
    volatile meshkv_record &record() { return *reinterpret_cast<volatile meshkv_record *>(buffer_.data() + outputs_ + MESHKV_RECORD_AT); }

private:
    uint64_t queries_, outputs_;  // First bytes.
    Buffer buffer_;
    uint64_t first_ = ~uint64_t{0}, end_ = 0;  // Bytes that have changed.

    static uint64_t aligned(uint64_t bytes) { return (bytes + MESHKV_BUFFER_ALIGN - 1) / MESHKV_BUFFER_ALIGN * MESHKV_BUFFER_ALIGN; }

    void changed(uint64_t first, uint64_t bytes) {
        first_ = std::min(first_, first);
        end_ = std::max(end_, first + bytes);
    }
};

}  // namespace meshkv
