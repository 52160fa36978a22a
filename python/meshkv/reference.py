"""Attention in numpy, to set results beside, and the merge of partial results."""

import numpy as np


def attention(queries, keys, values, window=0):
    """Attention in float64: queries [head][dim] to keys and values [KV head][token][dim]; outputs [head][dim].

    `window`: to so many of the last tokens; 0: to all.
    """
    q, k, v = (np.asarray(array, np.float64) for array in (queries, keys, values))
    k, v = k[:, -window:], v[:, -window:]
    group = q.shape[0] // k.shape[0]
    k, v = np.repeat(k, group, axis=0), np.repeat(v, group, axis=0)
    logits = np.einsum("hd,htd->ht", q, k) / np.sqrt(q.shape[-1])
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.einsum("ht,htd->hd", weights / weights.sum(axis=-1, keepdims=True), v)


def merge(first, *others):
    """Attention over the tokens of all partial results (l, m, o) of `Device.partials`, of several cards say. 0 without a token."""
    l, m, o = first
    for more_l, more_m, more_o in others:
        most = np.maximum(m, more_m)
        # Without any token both are -infinity, and there is no difference.
        with np.errstate(invalid="ignore"):
            a, b = (np.where(one == most, np.float32(1), np.exp2(one - most)) for one in (m, more_m))
        l, m, o = l * a + more_l * b, most, o * a[..., None] + more_o * b[..., None]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((l == 0)[..., None], np.float32(0), o / l[..., None])
