// A source queue: flits of one tile and class that wait to enter the mesh.
#ifndef MESHKV_QUEUE_H
#define MESHKV_QUEUE_H

#include <cstdint>
#include <cstring>
#include <vector>

namespace meshkv {

// A FIFO of fixed-size word records that grows. A long run at full load queues
// hundreds of thousands of flits, so a flit costs its words and nothing else.
class Queue {
  public:
    // The VC of the current packet; kNone between packets.
    static constexpr uint32_t kNone = ~0u;
    uint32_t vc = kNone;
    // Start of the search for a VC, so that equal credits are used in turn.
    uint32_t next_vc = 0;
    // Flits that have entered the mesh from here.
    uint64_t entered = 0;

    void set_record_words(std::size_t words) { record_words_ = words; }
    bool empty() const { return count_ == 0; }
    const uint32_t* front() const { return words_.data() + head_ * record_words_; }

    // Room for one record at the end; the caller fills it.
    uint32_t* push() {
        if (count_ == capacity_) grow();
        const std::size_t at = (head_ + count_++) & (capacity_ - 1);
        return words_.data() + at * record_words_;
    }

    void pop() {
        head_ = (head_ + 1) & (capacity_ - 1);
        --count_;
    }

    void clear() {
        head_ = count_ = 0;
        vc = kNone;
        next_vc = 0;
        entered = 0;
    }

  private:
    void grow() {
        const std::size_t capacity = capacity_ == 0 ? 16 : 2 * capacity_;
        std::vector<uint32_t> words(capacity * record_words_);
        for (std::size_t i = 0; i < count_; ++i) {
            const std::size_t at = (head_ + i) & (capacity_ - 1);
            std::memcpy(words.data() + i * record_words_, words_.data() + at * record_words_,
                        record_words_ * sizeof(uint32_t));
        }
        words_ = std::move(words);
        capacity_ = capacity;
        head_ = 0;
    }

    std::vector<uint32_t> words_;
    std::size_t record_words_ = 0;
    std::size_t capacity_ = 0;  // A power of two.
    std::size_t head_ = 0;
    std::size_t count_ = 0;
};

}  // namespace meshkv

#endif
