/* The library in C, for other languages: build/libmeshkv.so. It is built for one design.
 *
 * Numbers are FP16 as uint16_t, in arrays without gaps; their shapes are those of host/meshkv.hpp. Every function that
 * returns a status leaves all lengths as they were unless it is MESHKV_STATUS_DONE or MESHKV_STATUS_VOID.
 */
#ifndef MESHKV_C_H
#define MESHKV_C_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum meshkv_status {
    MESHKV_STATUS_DONE = 0,
    MESHKV_STATUS_FAILED = 1,  /* The card refuses or fails. */
    MESHKV_STATUS_REFUSED = 2, /* Bad input: nothing was written. */
    MESHKV_STATUS_VOID = 3     /* All outputs are there, and some are void: a logit was beyond the range. */
};

/* What a caller must know of the design. */
struct meshkv_shape {
    uint32_t layers, query_heads, kv_heads, head_dim, max_streams, max_tokens;
    uint32_t device_appends; /* 1: the device writes new tokens, 0: the library does */
    uint32_t window;         /* The layer that sees most looks back at so many tokens; 0: at all */
    uint32_t element_bytes;  /* Bytes of an element of the cache: 2 or 1 */
    uint32_t scaled;         /* 1: meshkv_factors and meshkv_sm_scale have an effect, 0: they are refused */
    uint32_t packed;         /* 1: meshkv_narrow has an effect, 0: it is refused */
    uint32_t pages;          /* Pages of all streams together; 0: each stream has a place of its own */
    uint32_t page_tokens;    /* Tokens of a page */
    uint32_t sinks;          /* 1: meshkv_sinks has an effect, 0: it is refused */
};

/* A layer of the model: tokens that attention looks back, 0 for all; 1 if its heads have sinks. */
struct meshkv_layer {
    uint32_t window, sinks;
};

/* What a call has instead of what its layer and the device have. */
struct meshkv_attention {
    float sm_scale;     /* The scale of q.k before the softmax; 0: that of the device */
    uint32_t window;    /* Tokens that it looks back, 0 for all; MESHKV_LAYER_WINDOW: those of the layer */
    const float *sinks; /* [head]; none: those of the layer */
};
#define MESHKV_LAYER_WINDOW UINT32_MAX

typedef struct meshkv_device meshkv_device;

/* Why the last call of this thread was not MESHKV_STATUS_DONE. */
const char *meshkv_message(void);

struct meshkv_shape meshkv_shape_of_design(void);

/* That of a layer; zeros beyond the last. */
struct meshkv_layer meshkv_layer_of_design(uint32_t layer);

/* Loads a bitstream on the card with this number; build/libmeshkv_xdma.so takes the prefix of a card's devices instead, as
 * /dev/xdma0, and number 0. A run that takes longer than `limit_ms` is cut off. `interrupt`: 0
 * polls. `layers` of the model: a step ends with the last of them; 0: those of the design. */
int meshkv_open(const char *xclbin, uint32_t card, uint32_t limit_ms, int interrupt, uint32_t layers, meshkv_device **device);
void meshkv_close(meshkv_device *device);

int meshkv_begin(meshkv_device *device, uint32_t stream);
int meshkv_share(meshkv_device *device, uint32_t stream, uint32_t prefix);
int meshkv_copy(meshkv_device *device, uint32_t stream, uint32_t from);

/* With pages: a stream that begins with the first tokens of another and shares their pages. Either may grow, and then has a
 * page of its own. */
int meshkv_fork(meshkv_device *device, uint32_t stream, uint32_t from, uint32_t tokens);

/* Pages that no stream holds. */
int meshkv_free_pages(meshkv_device *device, uint32_t *pages);

/* Page tables of streams as FlashInfer has them: indptr [batch + 1], indices [indptr[batch]], last_page_len [batch]. `indices`
 * has room for so many. */
int meshkv_tables(meshkv_device *device, uint32_t layer, const uint32_t *streams, size_t batch, uint32_t *indptr, uint32_t *indices, size_t room,
                  uint32_t *last_page_len);

int meshkv_end(meshkv_device *device, uint32_t stream);
int meshkv_length(meshkv_device *device, uint32_t stream, uint32_t layer, uint32_t *tokens);

/* Factors of the keys and of the values of a layer, [KV head]: a number of the cache times its factor is what was appended.
 * 1 before the first call. Only while the layer has no token. */
int meshkv_factors(meshkv_device *device, uint32_t layer, const float *keys, const float *values);

/* The scale of q.k before the softmax; 1 / sqrt(d_h) before the first call. */
int meshkv_sm_scale(meshkv_device *device, float scale);

/* Attention sinks of a layer, a logit a query head [head], from now on; -infinity: none. */
int meshkv_sinks(meshkv_device *device, uint32_t layer, const float *logits);

/* Numbers of nine bits instead of 18 meet the keys, and the values, where they are not 0: two heads pass where one does. */
int meshkv_narrow(meshkv_device *device, int keys, int values);

/* keys, values: [KV head][token][dim]. */
int meshkv_append(meshkv_device *device, uint32_t layer, uint32_t stream, uint32_t tokens, const uint16_t *keys, const uint16_t *values);

/* Plans the next call of every layer for a batch, before it is due; `appends`: it will be meshkv_append_and_attend. */
int meshkv_step(meshkv_device *device, const uint32_t *streams, size_t batch, int appends);

/* queries, outputs: [stream of the batch][head][dim]; keys, values: [stream of the batch][KV head][dim]. `how` may be none. */
int meshkv_attend(meshkv_device *device, uint32_t layer, const uint32_t *streams, size_t batch, const uint16_t *queries, uint16_t *outputs,
                  const struct meshkv_attention *how);
int meshkv_append_and_attend(meshkv_device *device, uint32_t layer, const uint32_t *streams, size_t batch, const uint16_t *queries,
                             const uint16_t *keys, const uint16_t *values, uint16_t *outputs, const struct meshkv_attention *how);

/* l, m: [stream of the batch][head]; o: [stream of the batch][head][dim], before normalisation and without sinks. */
int meshkv_partials(meshkv_device *device, uint32_t layer, const uint32_t *streams, size_t batch, const uint16_t *queries, float *l, float *m, float *o,
                    const struct meshkv_attention *how);

/* Cycles of all runs of the last call. */
uint64_t meshkv_cycles(const meshkv_device *device);

#ifdef __cplusplus
}
#endif
#endif
