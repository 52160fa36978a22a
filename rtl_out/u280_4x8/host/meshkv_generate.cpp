// Greedy decoding by a small transformer with weights drawn from a seed, once with attention on the host in f32 and once
// on the card. Both must give the same tokens.
//
//   meshkv_generate XCLBIN [--tokens N] [--streams B] [--layers L] [--seed N] [--device N] [--timeout MS] [--interrupt]
//
// With MESHKV_XDMA the card's devices, as /dev/xdma0, are in the place of XCLBIN.
//
// The transformer has the heads of the design and L of its layers: RMS norm, rotary positions, SwiGLU, and a vocabulary of
// printable characters. Each stream has a prompt of another length, begins two steps after the one before, and leaves the
// batch when it has its tokens. Exit code 1 if tokens differ or the card fails, 2 for bad input.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "meshkv.hpp"
#include "meshkv_half.hpp"

namespace {

using Row = std::vector<float>;
using Halves = std::vector<uint16_t>;

constexpr size_t WIDTH = 64, INNER = 128, VOCABULARY = 95, DIM = MESHKV_HEAD_DIM, HEADS = MESHKV_QUERY_HEADS, KV_HEADS = MESHKV_KV_HEADS;
constexpr char FIRST = ' ';
constexpr const char *TEXT = "A cache that lives: tokens are appended, streams differ, a step follows a step.";

// Numbers from a seed: SplitMix64, the same on every machine.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}
    // Of variance 1, between -sqrt(3) and sqrt(3).
    float next() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return (static_cast<float>((z ^ z >> 31) >> 40) / 8388608.0f - 1.0f) * 1.7320508f;
    }

private:
    uint64_t state_;
};

struct Matrix {
    size_t in, out;
    std::vector<float> weights;
    Matrix(size_t from, size_t to, float gain, Random &random) : in(from), out(to), weights(from * to) {
        for (float &weight : weights) weight = gain * random.next() / std::sqrt(static_cast<float>(from));
    }
    Row operator*(const Row &x) const {
        Row y(out);
        for (size_t row = 0; row < out; ++row)
            for (size_t at = 0; at < in; ++at) y[row] += weights[row * in + at] * x[at];
        return y;
    }
};

struct Layer {
    Matrix q, k, v, o, gate, up, down;
    // Queries are larger than they need be, so that heads attend to few tokens.
    explicit Layer(Random &random)
        : q(WIDTH, HEADS * DIM, 2, random), k(WIDTH, KV_HEADS * DIM, 1, random), v(WIDTH, KV_HEADS * DIM, 1, random), o(HEADS * DIM, WIDTH, 2, random),
          gate(WIDTH, INNER, 1, random), up(WIDTH, INNER, 1, random), down(INNER, WIDTH, 1, random) {}
};

Row normed(const Row &x) {
    float sum = 0;
    for (const float one : x) sum += one * one;
    Row y(x);
    for (float &one : y) one /= std::sqrt(sum / static_cast<float>(x.size()) + 1e-6f);
    return y;
}

void add(Row &x, const Row &more) {
    for (size_t at = 0; at < x.size(); ++at) x[at] += more[at];
}

// Rotates the halves of each head by the token's position.
void rotate(Row &heads, size_t position) {
    for (size_t head = 0; head < heads.size(); head += DIM)
        for (size_t at = 0; at < DIM / 2; ++at) {
            const float angle = static_cast<float>(position) * std::pow(10000.0f, -2.0f * static_cast<float>(at) / static_cast<float>(DIM));
            float &a = heads[head + at], &b = heads[head + at + DIM / 2];
            const float turned = a * std::cos(angle) - b * std::sin(angle);
            b = a * std::sin(angle) + b * std::cos(angle);
            a = turned;
        }
}

// Attention of a batch whose streams append a token each: arrays as meshkv::Device has them.
struct Attention {
    virtual ~Attention() = default;
    virtual void begin(uint32_t stream) = 0;
    virtual void end(uint32_t stream) = 0;
    virtual Row operator()(uint32_t layer, const std::vector<uint32_t> &batch, const Halves &q, const Halves &k, const Halves &v) = 0;
};

class OnHost : public Attention {
public:
    void begin(uint32_t stream) override { keys_[stream] = values_[stream] = std::vector<Row>(MESHKV_LAYERS); }
    void end(uint32_t stream) override { keys_.erase(stream), values_.erase(stream); }
    Row operator()(uint32_t layer, const std::vector<uint32_t> &batch, const Halves &q, const Halves &k, const Halves &v) override {
        Row out(batch.size() * HEADS * DIM);
        for (size_t place = 0; place < batch.size(); ++place) {
            Row &keys = keys_[batch[place]][layer], &values = values_[batch[place]][layer];
            for (size_t at = place * KV_HEADS * DIM; at < (place + 1) * KV_HEADS * DIM; ++at) {
                keys.push_back(meshkv::from_half(k[at]));
                values.push_back(meshkv::from_half(v[at]));
            }
            keep_window(keys);
            keep_window(values);
            for (size_t head = 0; head < HEADS; ++head) {
                const size_t at = (place * HEADS + head) * DIM;
                attend(&q[at], keys, values, head * KV_HEADS / HEADS, &out[at]);
            }
        }
        return out;
    }

private:
    std::map<uint32_t, std::vector<Row>> keys_, values_;  // By stream and layer: [token][KV head][dim].

    // Forgets tokens that attention does not look back at.
    static void keep_window(Row &tokens) {
        const size_t most = size_t{MESHKV_WINDOW} * KV_HEADS * DIM;
        if (most != 0 && tokens.size() > most) tokens.erase(tokens.begin(), tokens.end() - static_cast<std::ptrdiff_t>(most));
    }

    static void attend(const uint16_t *q, const Row &keys, const Row &values, size_t kv_head, float *out) {
        const size_t tokens = keys.size() / (KV_HEADS * DIM);
        Row logits(tokens);
        for (size_t token = 0; token < tokens; ++token) {
            for (size_t dim = 0; dim < DIM; ++dim) logits[token] += meshkv::from_half(q[dim]) * keys[(token * KV_HEADS + kv_head) * DIM + dim];
            logits[token] /= std::sqrt(static_cast<float>(DIM));
        }
        const float most = *std::max_element(logits.begin(), logits.end());
        float sum = 0;
        for (float &logit : logits) sum += logit = std::exp(logit - most);
        for (size_t token = 0; token < tokens; ++token)
            for (size_t dim = 0; dim < DIM; ++dim) out[dim] += logits[token] / sum * values[(token * KV_HEADS + kv_head) * DIM + dim];
    }
};

class OnCard : public Attention {
public:
    explicit OnCard(meshkv::Device &device) : device_(device) {}
    void begin(uint32_t stream) override { device_.begin(stream); }
    void end(uint32_t stream) override { device_.end(stream); }
    Row operator()(uint32_t layer, const std::vector<uint32_t> &batch, const Halves &q, const Halves &k, const Halves &v) override {
        Halves outputs(q.size());
        device_.append_and_attend(layer, batch, q.data(), k.data(), v.data(), outputs.data());
        cycles += device_.cycles();
        own += device_.own_time();
        ++calls;
        Row out(outputs.size());
        std::transform(outputs.begin(), outputs.end(), out.begin(), meshkv::from_half);
        return out;
    }
    uint64_t cycles = 0, calls = 0;
    std::chrono::nanoseconds own{};  // Time in the library, the card's left out.

private:
    meshkv::Device &device_;
};

struct Transformer {
    std::vector<Row> embeddings;
    std::vector<Layer> layers;
    Matrix head;

    Transformer(uint32_t depth, uint64_t seed) : Transformer(depth, Random(seed)) {}
    Transformer(uint32_t depth, Random random) : head(WIDTH, VOCABULARY, 2, random) {
        embeddings.resize(VOCABULARY, Row(WIDTH));
        for (Row &row : embeddings)
            for (float &one : row) one = random.next() / 2;
        for (uint32_t layer = 0; layer < depth; ++layer) layers.emplace_back(random);
    }

    // The logits that follow a token of each stream, at its position.
    std::vector<Row> step(Attention &attention, const std::vector<uint32_t> &batch, const std::vector<uint32_t> &tokens, const std::vector<size_t> &positions) const {
        std::vector<Row> states;
        for (const uint32_t token : tokens) states.push_back(embeddings[token]);
        for (uint32_t layer = 0; layer < layers.size(); ++layer) {
            const Layer &of = layers[layer];
            Halves queries, keys, values;
            for (size_t place = 0; place < batch.size(); ++place) {
                const Row x = normed(states[place]);
                Row q = of.q * x, k = of.k * x;
                rotate(q, positions[place]);
                rotate(k, positions[place]);
                const Row v = of.v * x;
                std::transform(q.begin(), q.end(), std::back_inserter(queries), meshkv::to_half);
                std::transform(k.begin(), k.end(), std::back_inserter(keys), meshkv::to_half);
                std::transform(v.begin(), v.end(), std::back_inserter(values), meshkv::to_half);
            }
            const Row attended = attention(layer, batch, queries, keys, values);
            for (size_t place = 0; place < batch.size(); ++place) {
                const auto first = attended.begin() + static_cast<std::ptrdiff_t>(place * HEADS * DIM);
                add(states[place], of.o * Row(first, first + HEADS * DIM));
                const Row x = normed(states[place]), up = of.up * x;
                Row gate = of.gate * x;
                for (size_t at = 0; at < INNER; ++at) gate[at] *= up[at] / (1 + std::exp(-gate[at]));
                add(states[place], of.down * gate);
            }
        }
        std::vector<Row> logits;
        for (const Row &state : states) logits.push_back(head * normed(state));
        return logits;
    }
};

struct Generated {
    std::vector<std::string> texts;                          // Prompts, and the tokens after them.
    float margin = std::numeric_limits<float>::infinity();  // Least distance of a chosen token's logit to the next.
};

// The prompt of a stream: a part of the text, of another length for each.
std::string prompt(uint32_t stream) { return std::string(TEXT + 5 * (stream % 8), 3 + 4 * (stream % 8)); }

Generated generate(const Transformer &model, Attention &attention, uint32_t streams, uint32_t tokens) {
    Generated made;
    for (uint32_t stream = 0; stream < streams; ++stream) made.texts.push_back(prompt(stream));
    std::vector<size_t> done(streams);
    for (size_t step = 0, left = streams; left; ++step) {
        std::vector<uint32_t> batch, read;
        std::vector<size_t> positions;
        for (uint32_t stream = 0; stream < streams; ++stream) {
            if (step < 2 * stream || done[stream] + 1 >= prompt(stream).size() + tokens) continue;
            if (done[stream] == 0) attention.begin(stream);
            batch.push_back(stream);
            read.push_back(static_cast<uint32_t>(made.texts[stream][done[stream]] - FIRST));
            positions.push_back(done[stream]++);
        }
        if (batch.empty()) continue;
        const auto logits = model.step(attention, batch, read, positions);
        for (size_t place = 0; place < batch.size(); ++place) {
            const uint32_t stream = batch[place];
            if (done[stream] < made.texts[stream].size()) continue;  // The prompt goes on.
            Row sorted = logits[place];
            const auto chosen = std::max_element(sorted.begin(), sorted.end()) - sorted.begin();
            made.texts[stream] += static_cast<char>(FIRST + chosen);
            std::partial_sort(sorted.begin(), sorted.begin() + 2, sorted.end(), std::greater<float>());
            made.margin = std::min(made.margin, sorted[0] - sorted[1]);
            if (made.texts[stream].size() == prompt(stream).size() + tokens) {
                attention.end(stream);
                --left;
            }
        }
    }
    return made;
}

uint32_t number(const std::map<std::string, std::string> &given, const std::string &name, uint32_t otherwise, uint32_t least, uint32_t most) {
    const auto found = given.find(name);
    if (found == given.end()) return otherwise;
    const std::string &text = found->second;
    const bool is_one = !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
    const uint32_t value = is_one ? static_cast<uint32_t>(std::stoul(text)) : 0;
    if (!is_one || value < least || value > most)
        throw meshkv::Refused(name + " is \"" + text + "\": " + std::to_string(least) + " to " + std::to_string(most) + " are possible");
    return value;
}

int run(int count, char **words) {
    std::map<std::string, std::string> given;
    std::string xclbin;
    for (int at = 1; at < count; ++at) {
        const std::string word = words[at];
        if (word.rfind("--", 0) != 0 && xclbin.empty()) xclbin = word;
        else if (word == "--interrupt") given[word] = "1";
        else if (word != "--tokens" && word != "--streams" && word != "--layers" && word != "--seed" && word != "--device" && word != "--timeout")
            throw meshkv::Refused(word + " is no option");
        else if (at + 1 == count) throw meshkv::Refused(word + " needs a value");
        else given[word] = words[++at];
    }
    if (xclbin.empty()) throw meshkv::Refused("which XCLBIN?");
    const uint32_t streams = number(given, "--streams", 1, 1, MESHKV_MAX_STREAMS);
    size_t longest = 0;
    for (uint32_t stream = 0; stream < streams; ++stream) longest = std::max(longest, prompt(stream).size());
    if (MESHKV_MAX_TOKENS <= longest) throw meshkv::Refused("max_tokens of the design is below the longest prompt, " + std::to_string(longest));
    const uint32_t most = MESHKV_MAX_TOKENS - static_cast<uint32_t>(longest);
    const uint32_t tokens = number(given, "--tokens", std::min<uint32_t>(64, most), 1, most);
    meshkv::Options options;
    options.device = number(given, "--device", 0, 0, 255);
    options.limit = std::chrono::milliseconds(number(given, "--timeout", 10000, 1, 999999999));
    options.interrupt = given.count("--interrupt") != 0;
    options.layers = number(given, "--layers", std::min(2, MESHKV_LAYERS), 1, MESHKV_LAYERS);
    const Transformer model(options.layers, number(given, "--seed", 19, 0, 999999999));

    OnHost on_host;
    const Generated wanted = generate(model, on_host, streams, tokens);
    meshkv::Device device(xclbin, options);
    OnCard on_card(device);
    const Generated made = generate(model, on_card, streams, tokens);
    bool equal = true;
    for (uint32_t stream = 0; stream < streams; ++stream) {
        const std::string &ours = made.texts[stream], &theirs = wanted.texts[stream];
        std::cout << "stream " << stream << ": " << ours << '\n';
        if (ours == theirs) continue;
        equal = false;
        const auto at = std::mismatch(ours.begin(), ours.end(), theirs.begin()).first - ours.begin();
        std::cout << "  on the host: " << theirs << "\n  differs from token " << at << " on\n";
    }
    std::cout << on_card.calls << " calls, " << on_card.own.count() / 1000.0 / static_cast<double>(std::max<uint64_t>(on_card.calls, 1))
              << " us each of the processor's time in the library\n";
    std::cout << tokens << " tokens of " << streams << (streams == 1 ? " stream, " : " streams, ") << on_card.cycles << " cycles on the card; "
              << (equal ? "equal" : "NOT equal") << " to attention on the host; least margin of a logit " << wanted.margin << '\n';
    return equal ? 0 : 1;
}

}  // namespace

int main(int count, char **words) {
    try {
        return run(count, words);
    } catch (const meshkv::Refused &error) {
        std::cerr << "error: " << error.what() << '\n';
        return 2;
    } catch (const std::exception &error) {
        std::cerr << "error: " << error.what() << '\n';
        return 1;
    }
}
