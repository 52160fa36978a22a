// Streams of a device with pages: how many tokens each has, in which pages they lie, and the runs that a batch takes.
//
// Streams that share pages are read together: in the order of their pages those that share some lie side by side, and one
// descriptor serves all that attend to them. Every rule is checked before anything changes. Knows neither registers nor XRT.
#pragma once
#include <tuple>

#include "meshkv_pages.hpp"
#include "meshkv_streams.hpp"

namespace meshkv {

constexpr bool PAGED = MESHKV_PAGES > 0;

class PagedStreams {
public:
    // A mapping for all descriptors, or MAPPING_AUTO. `layers` of the model: a step ends with the last of them.
    PagedStreams(uint32_t mapping, uint32_t layers) : mapping_(mapping), layers_(layers) { may_map(mapping, layers); }

    // An empty stream.
    void begin(uint32_t stream) {
        pages_.begin(stream);
        of_layers(stream) = std::vector<uint32_t>(MESHKV_LAYERS, 0);
    }

    // A stream that begins with all tokens that another has now, without a copy of them.
    void begin(uint32_t stream, uint32_t from) {
        pages_.fork(stream, from, most(from));
        of_layers(stream) = of_layers(from);
    }

    // A stream that begins with the first tokens of another.
    void fork(uint32_t stream, uint32_t from, uint32_t tokens) {
        for (uint32_t layer = 0; layer < layers_; ++layer)
            if (length(from, layer) < tokens)
                throw Refused(name(from) + " has " + std::to_string(length(from, layer)) + " tokens in layer " + std::to_string(layer) + ", fewer than " + std::to_string(tokens));
        pages_.fork(stream, from, tokens);
        of_layers(stream) = std::vector<uint32_t>(MESHKV_LAYERS, 0);
        std::fill_n(of_layers(stream).begin(), layers_, tokens);
    }

    void end(uint32_t stream) { pages_.end(stream); }

    // A stream has tokens in a layer.
    bool holds(uint32_t stream, uint32_t layer) const { return pages_.is_live(stream) && lengths_[stream][layer] > 0; }

    // Tokens of a stream in a layer.
    uint32_t length(uint32_t stream, uint32_t layer) const {
        if (layer >= MESHKV_LAYERS) throw Refused("layer " + std::to_string(layer) + ": 0 to " + std::to_string(MESHKV_LAYERS - 1) + " are possible");
        pages_.pages(stream);
        return lengths_[stream][layer];
    }
    uint32_t own(uint32_t stream, uint32_t layer) const { return length(stream, layer); }
    uint32_t prefix(uint32_t stream) const { return stream; }

    // The number under which the memory has a segment of a stream; those of all its segments.
    uint32_t place(uint32_t stream, uint32_t segment) const { return pages_.page(stream, segment); }
    const uint32_t *places(uint32_t stream) const { return pages_.pages(stream).data(); }

    // Refuses to append so many tokens.
    void may_grow(uint32_t stream, uint32_t layer, uint64_t tokens) const {
        fits(stream, layer, tokens);
        pages_.may_reserve({{stream, length(stream, layer), static_cast<uint32_t>(tokens)}});
    }

    // Takes the pages of tokens that are appended.
    std::vector<Pages::Change> reserve(uint32_t stream, uint32_t layer, uint32_t tokens) { return pages_.reserve(stream, length(stream, layer), tokens); }

    // They are there. Pages that the windows of all layers have left are free: a page has its segment of all layers.
    void grow(uint32_t stream, uint32_t layer, uint32_t tokens) {
        lengths_[stream][layer] += tokens;
        const auto &all = lengths_[stream];
        const uint32_t least = *std::min_element(all.begin(), all.begin() + layers_);
        if (WINDOW != 0 && least > WINDOW) pages_.leave(stream, least - WINDOW);
    }

    // Refuses what a batch cannot do.
    void may_run(uint32_t layer, const std::vector<uint32_t> &batch, Call call, uint32_t window = LAYER_WINDOW) const {
        if (batch.empty()) throw Refused("the batch has no stream");
        std::vector<bool> seen(MESHKV_CACHES);
        std::vector<Pages::Wanted> wanted;
        wanted.reserve(batch.size());
        for (const uint32_t stream : batch) {
            const uint32_t tokens = length(stream, layer);
            if (tokens == 0 && call != Call::APPEND) throw Refused(name(stream) + " has no token in layer " + std::to_string(layer) + " to attend to: append one");
            if (seen[stream]) throw Refused(name(stream) + " is twice in the batch");
            seen[stream] = true;
            const uint32_t first = from(tokens + (call == Call::APPEND), window_of(layer, window)) / PAGE;
            if (tokens > first * PAGE && pages_.page(stream, first) == Pages::NONE)
                throw Refused(name(stream) + " has freed pages behind the windows of its layers, " + std::to_string(MESHKV_WINDOW) + " tokens, and this call looks back further");
            if (call != Call::APPEND) continue;
            fits(stream, layer, 1);
            wanted.push_back({stream, tokens, 1});
        }
        pages_.may_reserve(wanted);
    }

    // The runs of a batch that may run and whose pages are reserved. No run names a page twice, or has more streams than the
    // device: streams whose shared pages one descriptor cannot read for all are in runs of their own.
    std::vector<Run> plan(uint32_t layer, const std::vector<uint32_t> &batch, Call call, uint32_t window = LAYER_WINDOW) const {
        std::vector<Reader> waiting;
        waiting.reserve(batch.size());
        for (const uint32_t stream : batch) waiting.push_back(reader(stream, layer, call, window_of(layer, window)));
        std::sort(waiting.begin(), waiting.end());
        std::vector<Run> runs;
        while (!waiting.empty()) {
            std::vector<Reader> chosen, later;
            chosen.reserve(waiting.size());
            std::vector<bool> named(pages_.count());
            for (const Reader &one : waiting) {
                const bool room = chosen.size() < std::min<size_t>(MESHKV_MAX_STREAMS, (QUEUE + 1) / 2);
                if (room && goes(one, chosen, named)) {
                    for (const uint32_t page : one) named[page] = true;
                    chosen.push_back(one);
                } else {
                    later.push_back(one);
                }
            }
            Run run;
            for (const Reader &one : chosen) run.streams.push_back(one.stream);
            for (uint32_t place = 0; place < chosen.size(); ++place) run.places.push_back(place);
            describe(chosen, {0, chosen.size()}, 0, layer, call, run.descriptors);
            runs.push_back(std::move(run));
            waiting = std::move(later);
        }
        runs.back().descriptors.back().step = layer + 1 == layers_;
        return runs;
    }

    const Pages &pages() const { return pages_; }

private:
    static constexpr uint32_t WINDOW = MESHKV_WINDOW, PAGE = MESHKV_SEGMENT_TOKENS;
    static constexpr size_t QUEUE = MESHKV_SIZES_VALUE >> MESHKV_SIZES_DESC_QUEUE_SHIFT;

    // What a stream attends to: tokens from one up to another, and the pages that hold them, which stay in their table.
    struct Reader {
        const uint32_t *first, *last;
        uint32_t from, to, stream;
        const uint32_t *begin() const { return first; }
        const uint32_t *end() const { return last; }
        size_t size() const { return static_cast<size_t>(last - first); }
        bool operator<(const Reader &other) const {
            const auto [mine, others] = std::mismatch(first, last, other.first, other.last);
            if (mine != last && others != other.last) return *mine < *others;
            return std::make_tuple(size(), from, to, stream) < std::make_tuple(other.size(), other.from, other.to, other.stream);
        }
        bool same(const Reader &other) const { return from == other.from && to == other.to && std::equal(first, last, other.first, other.last); }
        // Pages at the front that it shares with another.
        size_t common(const Reader &other) const { return static_cast<size_t>(std::mismatch(first, last, other.first, other.last).first - first); }
    };

    Pages pages_{MESHKV_PAGES, MESHKV_CACHES, PAGE, MESHKV_PAGE_ROUND};
    std::vector<std::vector<uint32_t>> lengths_ = std::vector<std::vector<uint32_t>>(MESHKV_CACHES);  // Tokens by stream and layer.
    uint32_t mapping_, layers_;

    static std::string name(uint32_t stream) { return "stream " + std::to_string(stream); }
    std::vector<uint32_t> &of_layers(uint32_t stream) { return lengths_[stream]; }

    // Tokens of the layer with the most.
    uint32_t most(uint32_t stream) const {
        pages_.pages(stream);
        return *std::max_element(lengths_[stream].begin(), lengths_[stream].end());
    }

    void fits(uint32_t stream, uint32_t layer, uint64_t tokens) const {
        const uint64_t now = length(stream, layer);
        if (now + tokens > MESHKV_MAX_TOKENS)
            throw Refused(name(stream) + " has " + std::to_string(now) + " tokens in layer " + std::to_string(layer) + ", and with " + std::to_string(tokens) +
                          " more is beyond max_tokens of the design, " + std::to_string(MESHKV_MAX_TOKENS));
    }

    // The first of so many tokens that a window sees.
    static uint32_t from(uint32_t tokens, uint32_t window) { return window != 0 && tokens > window ? tokens - window : 0; }

    Reader reader(uint32_t stream, uint32_t layer, Call call, uint32_t window) const {
        const uint32_t to = length(stream, layer) + (call == Call::APPEND), first = from(to, window);
        const uint32_t *all = places(stream);
        return {all + first / PAGE, all + (to - 1) / PAGE + 1, first, to, stream};
    }

    // A reader may be in a run behind these: pages that it shares with the last are whole for both, each has others
    // behind them, and no other reader has any of its own.
    static bool goes(const Reader &one, const std::vector<Reader> &chosen, const std::vector<bool> &named) {
        size_t shared = 0;
        if (!chosen.empty()) {
            const Reader &last = chosen.back();
            if (one.same(last)) return true;
            shared = one.common(last);
            const size_t first = one.from / PAGE;
            if (shared && (one.from != last.from || std::min(one.to, last.to) < (first + shared) * PAGE)) return false;
            if (shared && (shared == one.size() || shared == last.size())) return false;
        }
        return std::none_of(one.begin() + shared, one.end(), [&](uint32_t page) { return named[page]; });
    }

    // Descriptors of readers in a row, whose first `done` pages others have described.
    void describe(const std::vector<Reader> &all, std::pair<size_t, size_t> range, size_t done, uint32_t layer, Call call, std::vector<Descriptor> &to) const {
        const Reader &first = all[range.first];
        const bool alike = first.same(all[range.second - 1]);
        size_t shared = first.size();
        for (size_t at = range.first; !alike && at < range.second; ++at) shared = std::min(shared, first.common(all[at]));
        if (shared > done) {
            const uint32_t begin = static_cast<uint32_t>(first.from / PAGE + done), count = static_cast<uint32_t>(shared - done);
            Descriptor d{layer, first.stream, begin, 1, count, done == 0 ? first.from % PAGE : 0, alike ? (first.to - 1) % PAGE : PAGE - 1,
                         static_cast<uint32_t>(range.first), static_cast<uint32_t>(range.second - range.first), mapping_, false, alike, false};
            d.partials = alike && call == Call::PARTIALS;
            d.append = DEVICE_APPENDS && alike && call == Call::APPEND;
            to.push_back(d);
        }
        for (size_t at = range.first; !alike && at < range.second;) {
            size_t end = at + 1;
            while (end < range.second && all[end].first[shared] == all[at].first[shared]) ++end;
            describe(all, {at, end}, shared, layer, call, to);
            at = end;
        }
    }
};

// The streams of this design.
using AnyStreams = std::conditional_t<PAGED, PagedStreams, Streams>;

}  // namespace meshkv
