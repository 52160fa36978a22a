// Prefixes by content: a radix tree of token sequences that keeps their pages after their requests have ended.
//
//   meshkv::PrefixTree tree(pages);            // Beside meshkv::Pages.
//   const auto found = tree.match(prompt);     // The longest prefix that is cached, at any token, and its pages.
//   pages.adopt(0, found.pages);               // A request shares them.
//   tree.evict(pages.needed(0, found.tokens, rest));
//   for (const auto &change : pages.reserve(0, found.tokens, rest)) ...   // At most one page is copied: a prefix ended in it.
//   tree.insert(tokens, 0);                    // The request ends: its tokens stay.
//   pages.end(0);
//
// A node has a span of tokens, and the pages that hold them. A page in which the span begins or ends holds tokens of adjacent
// nodes too: it is the page of both. So for each segment the deepest node on a path has the page of that path. The tree is one
// holder of each of its pages, and writers copy what others hold: what is cached never changes. Knows neither device nor XRT.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "meshkv_pages.hpp"

namespace meshkv {

class PrefixTree {
public:
    // Tokens of a prefix, and the pages that hold them. Adopt these before the next call to the tree.
    struct Match {
        uint32_t tokens;
        std::vector<uint32_t> pages;
    };

    // The pages must outlive the tree.
    explicit PrefixTree(Pages &pages) : pages_(pages), nodes_(pages.count(), 0) {}
    PrefixTree(const PrefixTree &) = delete;
    PrefixTree &operator=(const PrefixTree &) = delete;
    ~PrefixTree() { clear(); }

    // The longest cached prefix of these tokens. It counts as used now; what lies behind it does not.
    Match match(const std::vector<uint32_t> &tokens) {
        const Node *node = reach(tokens);
        Match found{node->to(), {}};
        std::vector<const Node *> path;
        for (; node != &root_; node = node->parent) path.push_back(node);
        for (auto at = path.rbegin(); at != path.rend(); ++at) {
            found.pages.resize((*at)->from / pages_.page_tokens());
            found.pages.insert(found.pages.end(), (*at)->pages.begin(), (*at)->pages.end());
        }
        return found;
    }

    // Caches tokens whose keys and values are in the first pages of a stream. Returns how many of them were cached already: the
    // tree keeps the pages that it has for those. If the stream goes on, its next token takes a copy of a last page that is not full.
    uint32_t insert(const std::vector<uint32_t> &tokens, uint32_t cache) {
        const auto &of = pages_.pages(cache);
        const auto count = static_cast<uint32_t>(tokens.size()), segments = segments_of(count), size = pages_.page_tokens();
        const std::string name = "stream " + std::to_string(cache);
        if (segments > of.size())
            throw Refused(name + " has pages for " + std::to_string(of.size() * size) + " tokens, fewer than " + std::to_string(count) + " to cache: leave out the others");
        if (const auto left = std::count(of.begin(), of.begin() + segments, Pages::NONE); left != 0)
            throw Refused(name + " has freed " + std::to_string(left) + " of the " + std::to_string(segments) + " pages of " + std::to_string(count) +
                          " tokens to cache, since a window has left them: cache them before");
        Node *node = reach(tokens);
        const uint32_t there = node->to();
        if (there == count) return there;
        uint32_t segment = there / size;
        if (node == &root_ || !node->children.empty()) {
            auto &child = node->children[tokens[there]] = std::make_unique<Node>(node, there);
            node = child.get();
        } else if (there % size != 0) {
            // The stream's copy of the page in which this leaf ended has its tokens and more.
            replace(node, node->pages.back(), of[segment++]);
        }
        node->used = now_;
        node->tokens.insert(node->tokens.end(), tokens.begin() + there, tokens.end());
        for (; segment < segments; ++segment) {
            keep(of[segment]);
            node->pages.push_back(of[segment]);
        }
        return there;
    }

    // Frees pages until so many are free: it forgets ends of sequences, page by page, the least recently used first, and leaves
    // pages that a stream holds. Refuses if that frees too few. Returns how many it has freed.
    uint32_t evict(uint32_t wanted) {
        const uint32_t before = pages_.free();
        if (wanted <= before) return 0;
        if (const uint32_t most = evictable(); wanted - before > most)
            throw Refused(std::to_string(wanted) + " free pages are wanted: " + std::to_string(before) + " of " + std::to_string(pages_.count()) + " are free, and " +
                          std::to_string(most) + " of " + std::to_string(held_) + " that are cached can be: end a stream that holds others");
        // A call uses one path, so no two leaves were last used by the same one.
        std::map<uint64_t, Node *> leaves;
        for (Node *node : all())
            if (node->children.empty()) leaves[node->used] = node;
        while (pages_.free() < wanted && !leaves.empty()) {
            Node *leaf = leaves.begin()->second, *parent = leaf->parent;
            leaves.erase(leaves.begin());
            bool remains = true;
            while (remains && pages_.free() < wanted && pages_.holders(leaf->pages.back()) == 1) remains = cut(*leaf);
            if (!remains && parent != &root_ && parent->children.empty()) leaves[parent->used] = parent;
        }
        return pages_.free() - before;
    }

    // Pages that evict() can free now: those that no stream holds, as far as no stream holds one behind them.
    uint32_t evictable() const {
        std::map<const Node *, uint32_t> stay;
        const auto nodes = all();
        for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {
            const Node &node = **at;
            auto count = static_cast<uint32_t>(node.pages.size());
            uint32_t &behind = stay[&node];
            // A child that stays has the page in which this node ends.
            if (behind != 0) count -= node.to() % pages_.page_tokens() != 0;
            else while (count != 0 && pages_.holders(node.pages[count - 1]) == 1) --count;
            stay[node.parent] += behind + count;
        }
        return held_ - stay[&root_];
    }

    // Forgets everything. Streams keep their pages.
    void clear() {
        const auto nodes = all();
        for (auto at = nodes.rbegin(); at != nodes.rend(); ++at)
            while (cut(**at)) continue;
    }

    // Pages that the tree holds, and tokens that are cached.
    uint32_t holds() const { return held_; }
    uint64_t tokens() const {
        uint64_t count = 0;
        for (const Node *node : all()) count += node->tokens.size();
        return count;
    }

private:
    struct Node {
        Node *parent;
        uint32_t from;      // Tokens before its first.
        uint64_t used = 0;  // The last call that reached its end.
        std::vector<uint32_t> tokens, pages;
        std::map<uint32_t, std::unique_ptr<Node>> children;  // By first token.

        Node(Node *above, uint32_t first) : parent(above), from(first) {}
        uint32_t to() const { return from + static_cast<uint32_t>(tokens.size()); }
    };

    Pages &pages_;
    std::vector<uint32_t> nodes_;  // Nodes that have a page, by page.
    Node root_{nullptr, 0};
    uint64_t now_ = 0;
    uint32_t held_ = 0;

    uint32_t segments_of(uint32_t tokens) const { return tokens / pages_.page_tokens() + (tokens % pages_.page_tokens() != 0); }

    // All nodes but the root, parents before their children.
    std::vector<Node *> all() const {
        std::vector<Node *> nodes;
        for (const auto &child : root_.children) nodes.push_back(child.second.get());
        for (size_t at = 0; at < nodes.size(); ++at)
            for (const auto &child : nodes[at]->children) nodes.push_back(child.second.get());
        return nodes;
    }

    // The node at whose end the longest cached prefix ends, which is used now.
    Node *reach(const std::vector<uint32_t> &tokens) {
        Node *node = &root_;
        ++now_;
        while (node->to() < tokens.size()) {
            const auto child = node->children.find(tokens[node->to()]);
            if (child == node->children.end()) break;
            node = child->second.get();
            const auto end = node->tokens.begin() + static_cast<ptrdiff_t>(std::min(node->tokens.size(), tokens.size() - node->from));
            const auto same = std::mismatch(node->tokens.begin(), end, tokens.begin() + node->from).first - node->tokens.begin();
            if (static_cast<size_t>(same) < node->tokens.size()) node = split(*node, static_cast<uint32_t>(same));
            node->used = now_;
        }
        return node;
    }

    // Makes a node of the first tokens of another, which becomes its child. Returns the new one.
    Node *split(Node &below, uint32_t tokens) {
        const uint32_t at = below.from + tokens, size = pages_.page_tokens(), first = below.from / size;
        auto &place = below.parent->children.at(below.tokens.front());
        auto above = std::make_unique<Node>(below.parent, below.from);
        above->tokens.assign(below.tokens.begin(), below.tokens.begin() + tokens);
        above->pages.assign(below.pages.begin(), below.pages.begin() + (segments_of(at) - first));
        if (at % size != 0) keep(above->pages.back());
        below.parent = above.get();
        below.from = at;
        below.tokens.erase(below.tokens.begin(), below.tokens.begin() + tokens);
        below.pages.erase(below.pages.begin(), below.pages.begin() + (at / size - first));
        above->children[below.tokens.front()] = std::move(place);
        place = std::move(above);
        return place.get();
    }

    // Forgets the tokens of a leaf's last page, or the leaf with its last ones. Returns whether it remains.
    bool cut(Node &leaf) {
        Node *parent = leaf.parent;
        const uint32_t page = leaf.pages.back(), size = pages_.page_tokens(), first = leaf.tokens.front();
        const uint32_t end = std::max(leaf.from, (leaf.to() - 1) / size * size);
        leaf.tokens.resize(end - leaf.from);
        leaf.pages.pop_back();
        drop(page);
        if (!leaf.tokens.empty()) return true;
        parent->children.erase(first);
        // Another child has the last tokens of the parent in its own page, so that one is enough.
        if (!parent->children.empty()) replace(parent, page, parent->children.begin()->second->pages.front());
        return false;
    }

    // Replaces the last page of a node, and of those above it that end in the same page, by one that has their tokens too.
    void replace(Node *node, uint32_t page, uint32_t by) {
        for (; node != &root_ && node->pages.back() == page; node = node->parent) {
            keep(by);
            drop(page);
            node->pages.back() = by;
        }
    }

    void keep(uint32_t page) {
        if (nodes_[page]++ > 0) return;
        pages_.hold(page);
        ++held_;
    }

    void drop(uint32_t page) {
        if (--nodes_[page] > 0) return;
        pages_.drop(page);
        --held_;
    }
};

}  // namespace meshkv
