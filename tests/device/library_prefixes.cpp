// Requests that begin with cached prefixes, grow, fork and end in an order that is drawn, beside plain maps of all prefixes.
#include <cstdio>
#include <cstdlib>

#include "meshkv_prefix_tree.hpp"

namespace {

using Tokens = std::vector<uint32_t>;
constexpr uint32_t NOTHING = ~0u;

uint64_t state = 7;
uint64_t drawn(uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}
uint32_t up_to(size_t most) { return static_cast<uint32_t>(drawn(most + 1)); }

[[noreturn]] void wrong(const std::string &what) {
    std::printf("%s\n", what.c_str());
    std::exit(1);
}
void check(bool right, const char *what) {
    if (!right) wrong(what);
}

// A request: its tokens, and how many of them a window has left.
struct Request {
    Tokens tokens;
    uint32_t left = 0;
};

// What is cached, token by token.
struct Cached {
    std::map<Tokens, uint64_t> used;   // Each prefix, and the last call that used it.
    std::map<Tokens, uint32_t> pages;  // Those that no other of the same page goes on from, and that page.
};

struct Pool {
    uint32_t pages, caches, tokens, round, kinds;
};

struct Counts {
    size_t deepest = 0, matched = 0, copies = 0, evicted = 0, refusals = 0, splits = 0;
};

// A pool and its tree, with plain contents of the pages.
class Bench {
public:
    explicit Bench(const Pool &pool)
        : pool_(pool), pages_(pool.pages, pool.caches, pool.tokens, pool.round), tree_(pages_), contents_(pool.pages, Tokens(pool.tokens, NOTHING)) {}

    void run(size_t operations) {
        for (size_t at = 0; at < operations; ++at) {
            operation();
            compare();
            if (at % 64 == 0) counts.deepest = std::max(counts.deepest, depth());
        }
        while (!requests_.empty()) end(requests_.begin()->first, drawn(2));
        compare();
        check(tree_.evictable() == tree_.holds(), "a page of the tree stays, and no stream is left");
        evict(pages_.count());
        check(tree_.tokens() == 0 && tree_.holds() == 0 && pages_.free() == pages_.count(), "a page is lost");
        compare();
    }

    Counts counts;

private:
    Pool pool_;
    meshkv::Pages pages_;
    meshkv::PrefixTree tree_;
    std::vector<Tokens> contents_;
    std::map<uint32_t, Request> requests_;
    std::vector<Tokens> before_;  // Sequences of earlier requests.
    Cached cached_;
    uint64_t now_ = 0;

    void operation() {
        const uint64_t what = drawn(32);
        const uint32_t cache = up_to(pool_.caches - 1);
        const auto at = requests_.find(cache);
        if (what == 0) {
            evict(up_to(pages_.count() / (drawn(4) == 0 ? 1 : 4)));
        } else if (at == requests_.end()) {
            if (what < 4 && !requests_.empty()) fork(cache);
            else begin(cache);
        } else if (what < 16) {
            write(cache, sequence(at->second.tokens, 1 + up_to(2 * pool_.tokens)));
        } else if (what < 20) {
            insert(cache, up_to(at->second.tokens.size()));
        } else if (what < 22) {
            const uint32_t left = up_to(at->second.tokens.size());
            pages_.leave(cache, left);
            at->second.left = std::max(at->second.left, left);
        } else if (what == 22 && drawn(40) == 0) {
            tree_.clear();
            cached_ = Cached{};
        } else if (what < 30) {
            end(cache, what < 28);
        } else {
            match(sequence(any(), up_to(3)));
        }
    }

    // Tokens followed by some of few kinds, so that others will have the same.
    Tokens sequence(Tokens tokens, uint32_t more) const {
        for (; more > 0; --more) tokens.push_back(static_cast<uint32_t>(drawn(pool_.kinds)));
        return tokens;
    }

    // The first tokens of an earlier sequence, rather many.
    Tokens any() const {
        if (before_.empty()) return {};
        Tokens tokens = before_[drawn(before_.size())];
        tokens.resize(std::max(up_to(tokens.size()), up_to(tokens.size())));
        return tokens;
    }

    uint32_t segments(size_t tokens) const { return static_cast<uint32_t>((tokens + pool_.tokens - 1) / pool_.tokens); }

    static bool starts(const Tokens &with, const Tokens &tokens) { return with.size() <= tokens.size() && std::equal(with.begin(), with.end(), tokens.begin()); }

    static Tokens first(const Tokens &tokens, size_t count) { return {tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(count)}; }

    // A prefix from which no other goes on: others follow it in their order.
    bool leaf(std::map<Tokens, uint64_t>::const_iterator at) const { return std::next(at) == cached_.used.end() || !starts(at->first, std::next(at)->first); }

    size_t longest(const Tokens &tokens) const {
        size_t count = 0;
        while (count < tokens.size() && cached_.used.count(first(tokens, count + 1))) ++count;
        return count;
    }

    void use(const Tokens &tokens, size_t count) {
        ++now_;
        for (size_t at = 1; at <= count; ++at) cached_.used[first(tokens, at)] = now_;
    }

    meshkv::PrefixTree::Match match(const Tokens &tokens) {
        const size_t wanted = longest(tokens);
        use(tokens, wanted);
        const auto found = tree_.match(tokens);
        if (found.tokens != wanted) wrong("a match has " + std::to_string(found.tokens) + " tokens, not " + std::to_string(wanted));
        check(found.pages.size() == segments(wanted), "a match has pages for others");
        for (size_t at = 0; at < wanted; ++at) check(contents_[found.pages[at / pool_.tokens]][at % pool_.tokens] == tokens[at], "a page of a match has other tokens");
        counts.matched += wanted;
        counts.splits += wanted % pool_.tokens != 0;
        return found;
    }

    void begin(uint32_t cache) {
        const Tokens prompt = sequence(any(), 1 + up_to(2 * pool_.tokens));
        auto found = match(prompt);
        // Whole pages only, or less.
        if (drawn(4) == 0) {
            found.tokens = up_to(found.tokens / pool_.tokens) * pool_.tokens;
            found.pages.resize(found.tokens / pool_.tokens);
        }
        pages_.adopt(cache, found.pages);
        requests_[cache].tokens = first(prompt, found.tokens);
        const uint32_t needed = pages_.needed(cache, found.tokens, static_cast<uint32_t>(prompt.size()) - found.tokens);
        check(needed <= segments(prompt.size()) - found.tokens / pool_.tokens, "a match takes more than one page besides those of its own tokens");
        write(cache, prompt);
    }

    void fork(uint32_t cache) {
        auto from = requests_.begin();
        std::advance(from, static_cast<long>(drawn(requests_.size())));
        const Request &of = from->second;
        const uint32_t tokens = of.left + up_to(of.tokens.size() - of.left);
        pages_.fork(cache, from->first, tokens);
        requests_[cache] = {first(of.tokens, tokens), of.left};
    }

    // Puts tokens of a stream behind those that it has, or ends one where no page is free.
    void write(uint32_t cache, const Tokens &tokens) {
        Tokens &has = requests_[cache].tokens;
        const auto from = static_cast<uint32_t>(has.size()), more = static_cast<uint32_t>(tokens.size()) - from;
        if (!evict(pages_.needed(cache, from, more))) {
            auto ends = requests_.begin();
            std::advance(ends, static_cast<long>(drawn(requests_.size())));
            end(ends->first, drawn(2));
            return;
        }
        for (const auto &change : pages_.reserve(cache, from, more)) {
            counts.copies += change.from != meshkv::Pages::NONE;
            contents_[change.page] = change.from == meshkv::Pages::NONE ? Tokens(pool_.tokens, NOTHING) : Tokens(contents_[change.from]);
        }
        for (uint32_t at = from; at < tokens.size(); ++at) {
            const uint32_t page = pages_.page(cache, at / pool_.tokens);
            check(pages_.holders(page) == 1, "a page of others is written");
            contents_[page][at % pool_.tokens] = tokens[at];
        }
        has = tokens;
    }

    void refused(const std::string &why, const std::string &begins) {
        if (why.find(begins) != 0) wrong(why);
        ++counts.refusals;
    }

    void insert(uint32_t cache, uint32_t count) {
        const Request &request = requests_[cache];
        const Tokens tokens = first(request.tokens, count);
        const std::string name = "stream " + std::to_string(cache);
        const auto freed = std::min(request.left / pool_.tokens, segments(count));
        try {
            Tokens beyond = request.tokens;
            beyond.resize(pages_.pages(cache).size() * pool_.tokens + 1);
            tree_.insert(beyond, cache);
            wrong("tokens without a page are cached");
        } catch (const meshkv::Refused &why) {
            refused(why.what(), name + " has pages for " + std::to_string(pages_.pages(cache).size() * pool_.tokens) + " tokens, fewer than ");
        }
        const size_t there = longest(tokens);
        try {
            const uint32_t said = tree_.insert(tokens, cache);
            check(freed == 0, "tokens are cached that a window has left");
            check(said == there, "an insertion counts other tokens that were there");
        } catch (const meshkv::Refused &why) {
            refused(why.what(), name + " has freed " + std::to_string(freed) + " of the " + std::to_string(segments(count)) + " pages of ");
            check(freed != 0, why.what());
            return;
        }
        use(tokens, tokens.size());
        if (there == tokens.size()) return;
        // The end of a sequence that goes on is in the page of the longer one.
        if (there % pool_.tokens != 0) cached_.pages.erase(first(tokens, there));
        for (uint32_t segment = static_cast<uint32_t>(there) / pool_.tokens; segment < segments(count); ++segment)
            cached_.pages[first(tokens, std::min<size_t>(count, (segment + 1) * pool_.tokens))] = pages_.page(cache, segment);
    }

    void end(uint32_t cache, bool caches) {
        const Tokens tokens = requests_[cache].tokens;
        if (before_.size() == 24) before_.erase(before_.begin() + static_cast<long>(drawn(24)));
        if (tokens.size() < 24 * pool_.tokens) before_.push_back(tokens);
        if (caches) insert(cache, static_cast<uint32_t>(tokens.size()));
        pages_.end(cache);
        requests_.erase(cache);
    }

    std::vector<uint32_t> holders() const {
        std::vector<uint32_t> count(pool_.pages, 0);
        for (const auto &one : requests_)
            for (const uint32_t page : pages_.pages(one.first))
                if (page != meshkv::Pages::NONE) ++count[page];
        return count;
    }

    // Forgets token by token, until so many pages are free. Returns how many are freed.
    uint32_t forget(uint32_t wanted) {
        const auto streams = holders();
        uint32_t freed = 0;
        while (freed < wanted) {
            auto least = cached_.used.end();
            for (auto at = cached_.used.begin(); at != cached_.used.end(); ++at)
                if ((least == cached_.used.end() || at->second < least->second) && leaf(at) && streams[cached_.pages.at(at->first)] == 0) least = at;
            if (least == cached_.used.end()) break;
            Tokens tokens = least->first;
            const uint32_t page = cached_.pages.at(tokens);
            cached_.pages.erase(tokens);
            cached_.used.erase(least);
            tokens.pop_back();
            const auto rest = cached_.used.find(tokens);
            if (tokens.size() % pool_.tokens == 0 || !leaf(rest)) ++freed;
            else cached_.pages[tokens] = page;
        }
        return freed;
    }

    // Has so many pages free, unless streams hold too many.
    bool evict(uint32_t wanted) {
        const Cached all = cached_;
        const uint32_t free = pages_.free(), most = forget(pages_.count());
        check(tree_.evictable() == most, "the tree counts other pages that it can free");
        cached_ = all;
        try {
            const uint32_t said = tree_.evict(wanted);
            check(wanted <= free + most, "more pages are freed than can be");
            check(said == forget(wanted - std::min(free, wanted)), "an eviction frees another number of pages");
            check(pages_.free() == free + said, "an eviction counts other pages");
            counts.evicted += said;
            return true;
        } catch (const meshkv::Refused &why) {
            refused(why.what(), std::to_string(wanted) + " free pages are wanted: " + std::to_string(free) + " of " + std::to_string(pool_.pages) + " are free, and " +
                                    std::to_string(most) + " of " + std::to_string(all.pages.size()) + " that are cached can be: ");
            check(wanted > free + most, why.what());
            return false;
        }
    }

    void holds(uint32_t page, const Tokens &tokens, size_t from, size_t to) const {
        for (size_t at = from; at < to; ++at)
            if (contents_[page][at % pool_.tokens] != tokens[at]) wrong("page " + std::to_string(page) + " has another token " + std::to_string(at));
    }

    // Every page has the tokens of all its holders, and is free without one.
    void compare() const {
        auto count = holders();
        for (const auto &one : cached_.pages) {
            ++count[one.second];
            holds(one.second, one.first, (one.first.size() - 1) / pool_.tokens * pool_.tokens, one.first.size());
        }
        for (const auto &one : requests_) {
            const Request &of = one.second;
            for (uint32_t segment = of.left / pool_.tokens; segment < segments(of.tokens.size()); ++segment)
                holds(pages_.page(one.first, segment), of.tokens, segment * pool_.tokens, std::min<size_t>(of.tokens.size(), (segment + 1) * pool_.tokens));
        }
        for (uint32_t page = 0; page < pool_.pages; ++page)
            if (pages_.holders(page) != count[page])
                wrong("page " + std::to_string(page) + " has " + std::to_string(pages_.holders(page)) + " holders, not " + std::to_string(count[page]));
        check(pages_.free() == static_cast<uint32_t>(std::count(count.begin(), count.end(), 0)), "a page is lost");
        check(tree_.holds() == cached_.pages.size(), "the tree holds another number of pages");
        check(tree_.tokens() == cached_.used.size(), "another number of tokens is cached");
    }

    // Branches on the path with the most.
    size_t depth() const {
        size_t most = 0;
        std::map<Tokens, size_t> branches, next;
        for (const auto &one : cached_.used) ++next[first(one.first, one.first.size() - 1)];
        for (const auto &one : cached_.used) {
            const Tokens parent = first(one.first, one.first.size() - 1);
            most = std::max(most, branches[one.first] = branches[parent] + (next[parent] > 1));
        }
        return most;
    }
};

template <typename Call>
void refuses(const std::string &wanted, const Call &call) {
    try {
        call();
    } catch (const meshkv::Refused &why) {
        if (why.what() != wanted) wrong(why.what());
        return;
    }
    wrong("not refused: " + wanted);
}

// Two sequences that part within a page, and a pool that is too small.
void by_hand() {
    meshkv::Pages pages(5, 2, 4, 1);
    meshkv::PrefixTree tree(pages);
    pages.begin(0);
    pages.reserve(0, 0, 10);
    tree.insert({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0);
    pages.end(0);
    const auto found = tree.match({1, 2, 3, 4, 5, 6, 70, 80});
    check(found.tokens == 6 && found.pages == Tokens({0, 1}), "a prefix of six tokens has two pages");
    pages.adopt(1, found.pages);
    const auto changes = pages.reserve(1, 6, 2);
    check(changes.size() == 1 && changes[0].page == 3 && changes[0].from == 1, "the page in which sequences part is copied");
    check(tree.insert({1, 2, 3, 4, 5, 6, 70, 80}, 1) == 6 && tree.holds() == 4 && pages.free() == 1, "another sequence takes one more page");
    check(tree.evictable() == 2, "pages that a stream holds stay");
    refuses("4 free pages are wanted: 1 of 5 are free, and 2 of 4 that are cached can be: end a stream that holds others", [&] { tree.evict(4); });
    refuses("no page is free: 2 are needed, and 1 of 5 are free; pages are held by stream 1 2 (0 alone), other holders 4: end one of them, or evict", [&] { pages.reserve(1, 8, 5); });
    refuses("stream 1 has pages for 8 tokens, fewer than 9 to cache: leave out the others", [&] { tree.insert(Tokens(9, 1), 1); });
    refuses("stream 0 has not begun", [&] { tree.insert({1}, 0); });
    pages.leave(1, 5);
    refuses("stream 1 has freed 1 of the 2 pages of 7 tokens to cache, since a window has left them: cache them before", [&] { tree.insert(Tokens(7, 1), 1); });
    refuses("page 4 is held by no cache: its contents are nobody's", [&] { pages.hold(4); });
    refuses("page 4 has no holder but caches: end them instead", [&] { pages.drop(4); });
    check(tree.evict(3) == 2 && tree.match({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}).tokens == 6, "the sequence that was used last stays");
}

}  // namespace

int main(int count, char **words) {
    const size_t operations = count > 1 ? std::strtoul(words[1], nullptr, 10) : 1000;
    if (count > 2) state = std::strtoul(words[2], nullptr, 10);
    by_hand();
    Counts all;
    // Pages, caches, tokens of a page, homes of a round, kinds of tokens.
    const std::vector<Pool> pools = {{60, 6, 4, 3, 2}, {40, 4, 3, 1, 3}, {90, 7, 1, 8, 2}, {16, 5, 16, 4, 2}, {200, 9, 4, 8, 2}};
    for (const Pool &pool : pools) {
        Bench bench(pool);
        bench.run(operations);
        const Counts &of = bench.counts;
        all.deepest = std::max(all.deepest, of.deepest);
        all.matched += of.matched;
        all.copies += of.copies;
        all.evicted += of.evicted;
        all.refusals += of.refusals;
        all.splits += of.splits;
    }
    if (all.deepest < 8) wrong("no path has eight branches");
    std::printf("as in plain maps: %zu operations, %zu branches on a path, %zu tokens matched (%zu times within a page), %zu pages copied, %zu evicted, %zu refusals\n",
                operations * pools.size(), all.deepest, all.matched, all.splits, all.copies, all.evicted, all.refusals);
    return 0;
}
