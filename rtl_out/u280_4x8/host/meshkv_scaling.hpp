// What numbers are multiplied with: factors of the cache's layers, scales of logits, sinks, widths; and the words by which the
// card takes them beside the queries of a call.
//
// Every rule is checked before anything changes. Knows neither streams nor the card.
#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "meshkv_numbers.hpp"
#include "meshkv_pages.hpp"

namespace meshkv {

// Factors of a KV head.
struct Factors {
    float key = 1, value = 1;
};

class Scaling {
public:
    // What goes beside the queries of a call: a word of scales a query head, and one of sinks.
    struct Words {
        std::vector<uint64_t> scales, sinks;
    };

    // Refuses factors of a layer that cannot be: by KV head, of keys and of values.
    std::vector<Factors> may_have(uint32_t layer, const float *keys, const float *values) const {
        may_scale();
        if (MESHKV_TOKEN_SCALES) throw Refused("each token has scales of its own, which are found when it is appended: kv.scales = \"head\" has factors");
        layer_of(layer);
        std::vector<Factors> given(MESHKV_KV_HEADS);
        std::string why;
        for (uint32_t head = 0; head < MESHKV_KV_HEADS; ++head) {
            given[head] = {keys[head], values[head]};
            if (!std::isnormal(1 / keys[head]) || !std::isnormal(1 / values[head])) why = "a factor has no inverse";
            if (!std::isnormal(keys[head]) || keys[head] < 0) why = "a factor of keys is " + std::to_string(keys[head]) + ", and must be a positive normal number";
            scale_word(double{sm_scale_} * keys[head], values[head], why);
            if (!why.empty()) throw Refused("KV head " + std::to_string(head) + " of layer " + std::to_string(layer) + ": " + why);
        }
        return given;
    }

    // They are those of the layer from now on.
    void factors(uint32_t layer, std::vector<Factors> given) {
        factors_[layer] = std::move(given);
        words_[layer].scales.clear();
    }

    const Factors &factors(uint32_t layer, uint32_t kv_head) const { return factors_[layer][kv_head]; }

    // The scale of q.k before the softmax, of all layers.
    void sm_scale(float scale) {
        may_scale();
        std::string why;
        for (const auto &layer : factors_)
            for (const Factors &of : layer) scale_word(double{scale} * of.key, of.value, why);
        if (!why.empty()) throw Refused(why);
        sm_scale_ = scale;
        for (Words &layer : words_) layer.scales.clear();
    }

    // Logits of a layer's sinks, one a query head.
    void sinks(uint32_t layer, const float *logits) { words_[layer_of(layer)].sinks = sink_words(logits); }

    // Widths of numbers that meet the keys and the values.
    void narrow(Narrow widths) {
        if (!MESHKV_PACKED) throw Refused("this design has numbers of one width: generate it with kv.format = \"int8\"");
        narrow_ = widths;
        for (Words &layer : words_) layer.scales.clear();
    }

    // The words of a call. Refuses what cannot be. They are those of the layer, unless the call has a scale (not 0) or sinks of its own.
    const Words &words(uint32_t layer, float sm_scale, const float *sinks) {
        static constexpr bool HAS_SINKS[] = {MESHKV_LAYER_SINKS};
        Words &own = words_[layer];
        if (sm_scale != 0) may_scale();
        if (HAS_SINKS[layer] && own.sinks.empty() && !sinks) throw Refused("layer " + std::to_string(layer) + " has sinks, and nobody gave their logits: call sinks before");
        if (MESHKV_SCALED && own.scales.empty()) own.scales = scale_words(layer, sm_scale_);
        if (MESHKV_SINKS && !HAS_SINKS[layer] && own.sinks.empty()) own.sinks.resize(MESHKV_QUERY_HEADS);
        if (sm_scale == 0 && !sinks) return own;
        call_ = own;
        if (sinks) call_.sinks = sink_words(sinks);
        if (sm_scale != 0) call_.scales = scale_words(layer, sm_scale);
        return call_;
    }

private:
    // Query heads of a KV head.
    static constexpr uint32_t GROUP = MESHKV_QUERY_HEADS / MESHKV_KV_HEADS;

    Narrow narrow_;
    float sm_scale_ = 1 / std::sqrt(static_cast<float>(MESHKV_HEAD_DIM));
    std::vector<std::vector<Factors>> factors_{MESHKV_LAYERS, std::vector<Factors>(MESHKV_KV_HEADS)};
    std::vector<Words> words_ = std::vector<Words>(MESHKV_LAYERS);  // Empty: not yet known.
    Words call_;

    static void may_scale() {
        if (!MESHKV_SCALED) throw Refused("this design has no scales but 1 / sqrt(d_h): generate it with kv.scales = \"head\"");
    }

    static uint32_t layer_of(uint32_t layer) {
        if (layer >= MESHKV_LAYERS) throw Refused("there is no layer " + std::to_string(layer));
        return layer;
    }

    std::vector<uint64_t> scale_words(uint32_t layer, float sm_scale) const {
        std::vector<uint64_t> words(MESHKV_QUERY_HEADS);
        std::string why;
        for (uint32_t head = 0; head < MESHKV_QUERY_HEADS; ++head) {
            const Factors &of = factors_[layer][head / GROUP];
            words[head] = scale_word(double{sm_scale} * of.key, of.value, why, narrow_);
        }
        if (!why.empty()) throw Refused(why);
        return words;
    }

    static std::vector<uint64_t> sink_words(const float *logits) {
        if (!MESHKV_SINKS) throw Refused("this design has no sinks: generate it with sinks = true for a group of model.groups");
        if (!logits) throw Refused("sinks are missing");
        std::vector<uint64_t> words(MESHKV_QUERY_HEADS);
        std::string why;
        for (uint32_t head = 0; head < MESHKV_QUERY_HEADS && why.empty(); ++head) {
            words[head] = sink_word(logits[head], why);
            if (!why.empty()) throw Refused("head " + std::to_string(head) + ": " + why);
        }
        return words;
    }
};

}  // namespace meshkv
