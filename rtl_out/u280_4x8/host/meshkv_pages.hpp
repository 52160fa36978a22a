// Pages of the cache: which page holds each segment of each cache, and how many caches share it. An allocator.
//
//   meshkv::Pages pages(4096, 32, 64, 8);     // Pages, caches, tokens of a page, homes after which a layer's repeat.
//   pages.begin(0);
//   for (const auto &change : pages.reserve(0, 0, 100)) ...   // Two pages for 100 tokens.
//   pages.fork(1, 0, 70);                      // Another cache with the first 70 of them: no copy.
//   pages.reserve(1, 70, 1);                   // Its next token: one page is copied, since cache 0 has its own there.
//
// A page has a segment of all layers and KV heads. Pages are coloured: one whose number is that of its segment and its cache,
// modulo the homes of a round, keeps all memory ports equally busy; where none is free, any other will do. Every rule is
// checked before anything changes. Knows neither registers nor memory.
#pragma once
#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace meshkv {

// Input that is refused. Nothing was written.
class Refused : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

class Pages {
public:
    static constexpr uint32_t NONE = ~0u;

    // A segment of a cache that has another page from now on. `from` is the page whose contents it gets, or NONE.
    struct Change {
        uint32_t cache, segment, page, from;
    };

    // Page tables of some caches, as FlashInfer has them: cache i has pages indices[indptr[i]] to indices[indptr[i + 1] - 1], the
    // last of which has last_page_len[i] tokens. Pages that a window has freed are left out at the front.
    struct Tables {
        std::vector<uint32_t> indptr, indices, last_page_len;
    };

    Pages(uint32_t count, uint32_t caches, uint32_t tokens, uint32_t round)
        : tokens_(tokens), caches_(caches), holders_(count, 0), others_(count, 0), free_(std::max(round, 1u)), left_(count) {
        if (count == 0 || caches == 0 || tokens == 0) throw Refused("a pool has pages, caches, and tokens in a page");
        for (uint32_t page = 0; page < count; ++page) free_[page % free_.size()].insert(page);
    }

    // An empty cache.
    void begin(uint32_t cache) {
        fresh(cache) = Cache{};
        caches_[cache].live = true;
    }

    // A cache with the first tokens of another, without a copy of them.
    void fork(uint32_t cache, uint32_t from, uint32_t tokens) {
        const Cache &of = live(from);
        Cache &made = fresh(cache);
        const uint32_t segments = segments_of(tokens);
        if (segments > of.pages.size())
            throw Refused(name(from) + " has pages for " + std::to_string(of.pages.size() * tokens_) + " tokens, fewer than " + std::to_string(tokens));
        made.pages.assign(of.pages.begin(), of.pages.begin() + segments);
        made.left = std::min(of.left, segments);
        made.live = true;
        for (const uint32_t page : made.pages)
            if (page != NONE) ++holders_[page];
    }

    // A cache with pages that a caller has chosen; those of others are shared with them.
    void adopt(uint32_t cache, const std::vector<uint32_t> &pages) {
        fresh(cache);
        std::set<uint32_t> seen;
        for (const uint32_t page : pages) {
            if (page >= holders_.size()) throw Refused("page " + std::to_string(page) + " is none of " + std::to_string(holders_.size()));
            if (!seen.insert(page).second) throw Refused("page " + std::to_string(page) + " is twice in a table");
        }
        for (const uint32_t page : pages) {
            if (holders_[page] == 0) take(page);
            ++holders_[page];
        }
        caches_[cache].pages = pages;
        caches_[cache].live = true;
    }

    // A cache ends. Pages that no other shares are free.
    void end(uint32_t cache) {
        for (const uint32_t page : live(cache).pages) release(page);
        caches_[cache] = Cache{};
    }

    // Frees the pages of a cache that hold none of its tokens from this one on: a window has left them.
    void leave(uint32_t cache, uint32_t token) {
        Cache &of = writable(cache);
        const uint32_t end = std::min<uint32_t>(token / tokens_, static_cast<uint32_t>(of.pages.size()));
        for (; of.left < end; ++of.left) {
            release(of.pages[of.left]);
            of.pages[of.left] = NONE;
        }
    }

    // Takes back the pages behind so many tokens.
    void shrink(uint32_t cache, uint32_t tokens) {
        Cache &of = writable(cache);
        for (const uint32_t keep = segments_of(tokens); of.pages.size() > keep; of.pages.pop_back()) release(of.pages.back());
    }

    // Holds a page for a holder that is no cache, such as a tree of prefixes: it is free only after as many drops, and a cache that
    // writes into it takes a copy.
    void hold(uint32_t page) {
        if (page >= holders_.size() || holders_[page] == 0) throw Refused("page " + std::to_string(page) + " is held by no cache: its contents are nobody's");
        ++holders_[page];
        ++others_[page];
    }

    void drop(uint32_t page) {
        if (page >= others_.size() || others_[page] == 0) throw Refused("page " + std::to_string(page) + " has no holder but caches: end them instead");
        --others_[page];
        release(page);
    }

    // Pages that must be taken before tokens are written from this one on: new ones, and copies of those that are shared.
    uint32_t needed(uint32_t cache, uint32_t first, uint32_t tokens) const {
        const Cache &of = live(cache);
        uint32_t count = 0;
        for (uint32_t segment = first / tokens_; tokens && segment < segments_of(first + tokens); ++segment)
            count += segment >= of.pages.size() || of.pages[segment] == NONE || holders_[of.pages[segment]] > 1;
        return count;
    }

    // Takes them, and returns what changes: pages are to be copied before anything is written, and to be told to the device.
    std::vector<Change> reserve(uint32_t cache, uint32_t first, uint32_t tokens) {
        may_reserve({{cache, first, tokens}});
        Cache &of = writable(cache);
        std::vector<Change> changes;
        if (tokens) of.pages.resize(std::max<size_t>(of.pages.size(), segments_of(first + tokens)), NONE);
        for (uint32_t segment = first / tokens_; tokens && segment < segments_of(first + tokens); ++segment) {
            uint32_t &page = of.pages[segment];
            const uint32_t before = page;
            if (before != NONE && holders_[before] == 1) continue;
            page = taken(segment + cache);
            holders_[page] = 1;
            release(before);
            // What is overwritten from its first token on needs no copy.
            const bool whole = segment * tokens_ >= first && (segment + 1) * tokens_ <= first + tokens;
            changes.push_back({cache, segment, page, whole ? NONE : before});
        }
        return changes;
    }

    // Tokens that a cache is to get.
    struct Wanted {
        uint32_t cache, first, tokens;
    };

    // Refuses what the free pages are too few for, all of it at once.
    void may_reserve(const std::vector<Wanted> &wanted) const {
        uint64_t count = 0;
        for (const Wanted &one : wanted) count += needed(one.cache, one.first, one.tokens);
        if (count <= left_) return;
        std::string held;
        for (uint32_t cache = 0; cache < caches_.size(); ++cache)
            if (caches_[cache].live) held += (held.empty() ? "" : ", ") + name(cache) + " " + std::to_string(holds(cache)) + " (" + std::to_string(own(cache)) + " alone)";
        const auto others = std::count_if(others_.begin(), others_.end(), [](uint32_t times) { return times > 0; });
        if (others > 0) held += (held.empty() ? "" : ", ") + std::string("other holders ") + std::to_string(others);
        throw Refused("no page is free: " + std::to_string(count) + (count == 1 ? " is" : " are") + " needed, and " + std::to_string(left_) + " of " +
                      std::to_string(holders_.size()) + " are free; pages are held by " + (held.empty() ? "nobody" : held) + ": end one of them" + (others > 0 ? ", or evict" : ""));
    }

    bool is_live(uint32_t cache) const { return cache < caches_.size() && caches_[cache].live; }

    // The page of a segment; NONE if it has none.
    uint32_t page(uint32_t cache, uint32_t segment) const {
        const auto &pages = live(cache).pages;
        return segment < pages.size() ? pages[segment] : NONE;
    }

    // Pages from its first on; NONE where a window has left one.
    const std::vector<uint32_t> &pages(uint32_t cache) const { return live(cache).pages; }

    // Caches and others that hold a page.
    uint32_t holders(uint32_t page) const { return holders_.at(page); }
    uint32_t count() const { return static_cast<uint32_t>(holders_.size()); }
    uint32_t free() const { return left_; }
    uint32_t page_tokens() const { return tokens_; }

    // Pages of a cache, and those that it shares with none.
    uint32_t holds(uint32_t cache) const { return counted(cache, [](uint32_t) { return true; }); }
    uint32_t own(uint32_t cache) const {
        return counted(cache, [this](uint32_t page) { return holders_[page] == 1; });
    }

    // The tables of caches that have so many tokens each.
    Tables tables(const std::vector<uint32_t> &caches, const std::vector<uint32_t> &tokens) const {
        Tables all;
        all.indptr.push_back(0);
        for (size_t at = 0; at < caches.size(); ++at) {
            const auto &of = live(caches[at]);
            const uint32_t segments = segments_of(tokens.at(at));
            if (segments > of.pages.size()) throw Refused(name(caches[at]) + " has no pages for " + std::to_string(tokens[at]) + " tokens");
            all.indices.insert(all.indices.end(), of.pages.begin() + std::min(of.left, segments), of.pages.begin() + segments);
            all.indptr.push_back(static_cast<uint32_t>(all.indices.size()));
            all.last_page_len.push_back(tokens[at] ? (tokens[at] - 1) % tokens_ + 1 : 0);
        }
        return all;
    }

private:
    struct Cache {
        bool live = false;
        uint32_t left = 0;  // Pages at the front that a window has left.
        std::vector<uint32_t> pages;
    };

    uint32_t tokens_;
    std::vector<Cache> caches_;
    std::vector<uint32_t> holders_, others_;   // By page: all, and those that are no cache.
    std::vector<std::set<uint32_t>> free_;     // By colour.
    uint32_t left_;

    static std::string name(uint32_t cache) { return "stream " + std::to_string(cache); }
    uint32_t segments_of(uint32_t tokens) const { return tokens / tokens_ + (tokens % tokens_ != 0); }

    uint32_t there(uint32_t cache) const {
        if (cache >= caches_.size()) throw Refused(name(cache) + ": 0 to " + std::to_string(caches_.size() - 1) + " are possible");
        return cache;
    }

    const Cache &live(uint32_t cache) const {
        const Cache &of = caches_[there(cache)];
        if (!of.live) throw Refused(name(cache) + " has not begun");
        return of;
    }

    Cache &writable(uint32_t cache) {
        live(cache);
        return caches_[cache];
    }

    Cache &fresh(uint32_t cache) {
        if (caches_[there(cache)].live) throw Refused(name(cache) + " has begun already: end it first");
        return caches_[cache];
    }

    template <typename Of>
    uint32_t counted(uint32_t cache, const Of &of) const {
        const auto &pages = live(cache).pages;
        return static_cast<uint32_t>(std::count_if(pages.begin(), pages.end(), [&](uint32_t page) { return page != NONE && of(page); }));
    }

    // The lowest free page, of this colour if there is one: pages that follow each other go to the card together.
    uint32_t taken(uint64_t colour) {
        auto *of = &free_[colour % free_.size()];
        if (of->empty()) of = &*std::max_element(free_.begin(), free_.end(), [](const auto &a, const auto &b) { return a.size() < b.size(); });
        const uint32_t page = *of->begin();
        of->erase(of->begin());
        --left_;
        return page;
    }

    // A certain page that is free.
    void take(uint32_t page) {
        free_[page % free_.size()].erase(page);
        --left_;
    }

    void release(uint32_t page) {
        if (page == NONE || --holders_[page] > 0) return;
        free_[page % free_.size()].insert(page);
        ++left_;
    }
};

}  // namespace meshkv
