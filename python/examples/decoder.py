"""A decoder of the library transformers with its attention on a meshkv device, beside the library's own attention.

    meshkv card python/examples/decoder.toml -- python3 python/examples/decoder.py [--tokens N] [--batch B] [--seed S]

The model is transformers' Llama with the heads and layers of the design and random weights of the seed. transformers' own
`generate` decodes greedily, for a batch of prompts of different lengths, padded on the left. It does so twice: with the
library's attention in FP32, and with the device's for each step. The prompts' own attention is the library's both times;
their keys and values go to the device. Exit code 1 if a token differs.

The last lines say how much that shows: the least distance between the logit of a chosen token and the next one, how far the
logits of both runs differ, and how many tokens would be others without attention. Needs torch and transformers.
"""

import argparse
import os
import sys
import time

import torch
from transformers import AttentionInterface, AttentionMaskInterface, LlamaConfig, LlamaForCausalLM
from transformers.masking_utils import sdpa_mask

import meshkv

VOCABULARY = 256
# Of the first sixty seeds that whose logits are furthest apart, so that FP16 outputs change no token: 0.015.
SEED = 23


class OnDevice:
    """Attention of transformers for a batch whose row b is stream b of a device."""

    def __init__(self, device):
        self.device = device
        self.cycles = 0

    def begin(self, rows):
        """Begins a stream for each row."""
        for row in range(rows):
            self.device.begin(row)

    def end(self, rows):
        """Ends them."""
        for row in range(rows):
            self.device.end(row)

    def __call__(self, module, query, key, value, attention_mask, scaling, **kwargs):
        """Attention of one layer, as transformers calls it.

        query: [row][head][new token][dim]; key and value: [row][KV head][token][dim], of all tokens so far. Returns outputs
        [row][new token][head][dim], and None for the weights.
        """
        rows, _, new, dim = query.shape
        if scaling != dim**-0.5:
            raise ValueError(f"the model scales logits by {scaling}, and this design by {dim**-0.5}: kv.scales = \"head\" takes any")
        if new > 1:
            return self.prompt(module, query, key, value, attention_mask, scaling, **kwargs)
        q, k, v = (tensor[:, :, -1].half().contiguous() for tensor in (query, key, value))
        out = torch.empty_like(q)
        # Tensors in and out without a copy; rows in any order, of any lengths.
        self.device.append_and_attend(module.layer_idx, range(rows), q, k, v, out=out)
        self.cycles += self.device.cycles
        return out[:, None].to(query.dtype), None

    def prompt(self, module, query, key, value, attention_mask, scaling, **kwargs):
        """Puts the prompts' tokens, without those of the padding, into the streams, and leaves their attention to the library."""
        for row in range(len(query)):
            # The last token sees all but the padding before its prompt.
            padding = 0 if attention_mask is None else int((~attention_mask[row, 0, -1]).sum())
            self.device.append(module.layer_idx, row, key[row, :, padding:], value[row, :, padding:])
        return AttentionInterface()["sdpa"](module, query, key, value, attention_mask, scaling=scaling, **kwargs)


def nothing(module, query, key, value, attention_mask, **kwargs):
    """Attention that gives zeros."""
    return torch.zeros_like(query).transpose(1, 2), None


def model_of(shape, seed):
    """transformers' Llama with the shape of the design and weights drawn from a seed, large enough that tokens depend on them."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=shape.query_heads * shape.head_dim,
        intermediate_size=2 * shape.query_heads * shape.head_dim,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.query_heads,
        num_key_value_heads=shape.kv_heads,
        head_dim=shape.head_dim,
        max_position_embeddings=shape.max_tokens,
        initializer_range=0.1,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=None,  # All rows have all their tokens.
    )
    return LlamaForCausalLM(config).eval()


def prompts_of(batch):
    """Prompts of 5, 11, 17, ... tokens as rows of one length, and their mask: 0 for the padding on their left."""
    lengths = torch.tensor([5 + 6 * row for row in range(batch)])
    longest = int(lengths.max())
    mask = (torch.arange(longest)[None] >= longest - lengths[:, None]).long()
    return torch.randint(1, VOCABULARY, mask.shape) * mask, mask


def decode(model, attention, prompts, mask, tokens):
    """Tokens [row][token] and their logits [token][row][vocabulary], greedily, with an attention of this name."""
    model.set_attn_implementation(attention)
    options = {"do_sample": False, "max_new_tokens": tokens, "output_logits": True, "return_dict_in_generate": True}
    with torch.no_grad():
        made = model.generate(prompts, attention_mask=mask, **options)
    return made.sequences[:, prompts.shape[1] :], torch.stack(made.logits)


def report(own, on_device, without):
    """Says how both runs compare, and returns what is wrong with them, or None."""
    (tokens, logits), (found, found_logits) = own, on_device
    most = logits.topk(2, dim=-1).values
    margin = float((most[..., 0] - most[..., 1]).min())
    differ = int((tokens != without).sum())
    if not torch.equal(tokens, found):
        row, at = (int(place) for place in (tokens != found).nonzero()[0])
        return (
            f"token {at} of stream {row} is {int(found[row, at])} on the device, and {int(tokens[row, at])} with the library's attention; "
            f"there the first logit is {float(most[at, row, 0] - most[at, row, 1]):.4f} before the second"
        )
    print(f"{tokens.shape[1]} tokens of {tokens.shape[0]} streams: equal to those of the library's attention in FP32")
    print(f"least distance of the first logit from the second: {margin:.4f}; logits differ by {float((logits - found_logits).abs().max()):.4f} at most")
    print(f"without attention {differ} of {tokens.numel()} tokens are others")
    return None if differ else "attention decides no token of this seed: choose another"


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default=os.environ.get("MESHKV_LIBRARY"), help="libmeshkv.so of the design (default: MESHKV_LIBRARY)")
    parser.add_argument("--xclbin", default=os.environ.get("MESHKV_XCLBIN"), help="bitstream of the design (default: MESHKV_XCLBIN)")
    parser.add_argument("--tokens", type=int, default=64, help="tokens of each stream (default: 64)")
    parser.add_argument("--batch", type=int, default=3, help="streams (default: 3)")
    parser.add_argument("--seed", type=int, default=SEED, help=f"seed of weights and prompts (default: {SEED})")
    parser.add_argument("--limit", type=float, default=600, help="seconds after which a run of the device is cut off (default: 600)")
    args = parser.parse_args()
    if not args.library or not args.xclbin:
        parser.error("no library and bitstream: run this by `meshkv card`, or give --library and --xclbin")
    return args


def main():
    args = arguments()
    with meshkv.Device(args.library, args.xclbin, limit=args.limit) as device:
        shape = device.shape
        if not 1 <= args.batch <= shape.max_streams:
            sys.exit(f"error: --batch is {args.batch}, and the design has 1 to {shape.max_streams} streams")
        model = model_of(shape, args.seed)
        prompts, mask = prompts_of(args.batch)
        if args.tokens < 2 or prompts.shape[1] + args.tokens > shape.max_tokens + 1:
            sys.exit(f"error: --tokens is {args.tokens}: 2 to {shape.max_tokens + 1 - prompts.shape[1]} are possible, for the longest prompt has {prompts.shape[1]}")
        attention = OnDevice(device)
        AttentionInterface.register("meshkv", attention)
        AttentionInterface.register("nothing", nothing)
        for name in ("meshkv", "nothing"):
            AttentionMaskInterface.register(name, sdpa_mask)
        own = decode(model, "sdpa", prompts, mask, args.tokens)
        without, _ = decode(model, "nothing", prompts, mask, args.tokens)
        attention.begin(args.batch)
        begun = time.monotonic()
        found = decode(model, "meshkv", prompts, mask, args.tokens)
        seconds = time.monotonic() - begun
        lengths = [device.length(row, 0) for row in range(args.batch)]
        print(f"streams of {', '.join(map(str, lengths))} tokens in {shape.layers} layers: {attention.cycles} cycles of the device, {seconds:.0f} s")
        if shape.pages:
            indptr, _, last = device.tables(0, range(args.batch))
            print(f"page tables of layer 0: indptr {indptr.tolist()}, last_page_len {last.tolist()}; {device.free_pages} of {shape.pages} pages are free")
        attention.end(args.batch)
    wrong = report(own, found, without)
    if wrong:
        sys.exit(f"error: {wrong}")


if __name__ == "__main__":
    try:
        main()
    except (meshkv.Failed, OSError, ValueError) as why:
        sys.exit(f"error: {why}")
