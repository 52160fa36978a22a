"""Attention of a real model on the device, beside numpy, and torch if it is installed.

    python3 attention.py --library build/libmeshkv.so --xclbin build/meshkv.xclbin --tensors FILE [--layer L] [--tokens N]

FILE is a safetensors file with queries [head][position][dim], keys and values [KV head][token][dim] under the names
`layers.N.q`, `.k` and `.v`, or those of --names. The last query attends to all tokens. A design with fewer heads takes the
first ones. All tokens but some are a prompt; the rest is appended one by one, with attention after each. Exit code 1 if an
output is further from attention in float64 than --most.
"""

import argparse
import os
import sys

import numpy as np

import meshkv


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    # `meshkv card` sets both variables.
    for name, what in (("library", "libmeshkv.so"), ("xclbin", "bitstream")):
        variable = os.environ.get(f"MESHKV_{name.upper()}")
        parser.add_argument(f"--{name}", default=variable, required=variable is None, help=f"{what} of the design (default: MESHKV_{name.upper()})")
    parser.add_argument("--tensors", required=True, help="safetensors file")
    parser.add_argument("--names", nargs=3, metavar=("Q", "K", "V"), help="names of the tensors instead of layers.N.q, .k, .v")
    parser.add_argument("--layer", type=int, default=0, help="layer of the model whose tensors are read (default: 0)")
    parser.add_argument("--tokens", type=int, help="tokens of the file to attend to (default: all that the design takes)")
    parser.add_argument("--steps", type=int, default=2, help="tokens that are appended one by one (default: 2)")
    parser.add_argument("--most", type=float, default=2e-3, help="largest error, of outputs about 1 (default: 2e-3)")
    parser.add_argument("--limit", type=float, default=10, help="seconds after which a run is cut off (default: 10)")
    args = parser.parse_args()
    if args.steps < 1:
        parser.error("--steps is at least 1")
    names = args.names or [f"layers.{args.layer}.{name}" for name in "qkv"]
    queries, keys, values = meshkv.load(args.tensors, names)
    with meshkv.Device(args.library, args.xclbin, limit=args.limit) as device:
        shape = device.shape
        if keys.shape[-1] != shape.head_dim or keys.shape[0] < shape.kv_heads or queries.shape[0] < shape.query_heads:
            sys.exit(f"error: the design has {shape.query_heads} heads of {shape.head_dim}, {shape.kv_heads} of them KV; q is {queries.shape}, k {keys.shape}")
        tokens = min(args.tokens or shape.max_tokens, keys.shape[1], shape.max_tokens)
        prompt = max(tokens - args.steps, 0)
        q = meshkv.half(queries[: shape.query_heads, -1], names[0])
        k, v = (meshkv.half(array[: shape.kv_heads, :tokens], name) for array, name in ((keys, names[1]), (values, names[2])))
        device.begin(0)
        device.append(0, 0, k[:, :prompt], v[:, :prompt])
        worst, scale = 0.0, 0.0
        for token in range(prompt, tokens):
            out = device.append_and_attend(0, [0], q[None], k[None, :, token], v[None, :, token])[0]
            wanted = meshkv.attention(q, k[:, : token + 1], v[:, : token + 1], shape.window)
            error = np.abs(out - wanted).max()
            worst, scale = max(worst, error), max(scale, np.abs(wanted).max())
            print(f"{token + 1} tokens: {device.cycles} cycles, largest error {error:.1e} of outputs up to {np.abs(wanted).max():.2f}")
        # The same in halves whose partial results merge.
        k, v = k[:, -shape.window :], v[:, -shape.window :]
        half = k.shape[1] // 2
        device.end(0)
        device.begin(0)
        device.append(0, 0, k[:, :half], v[:, :half])
        parts = [device.partials(0, [0], q[None])]
        device.end(0)
        device.begin(0)
        device.append(0, 0, k[:, half:], v[:, half:])
        parts.append(device.partials(0, [0], q[None]))
        error = np.abs(meshkv.merge(*parts)[0] - meshkv.attention(q, k, v)).max()
        worst = max(worst, error)
        print(f"{k.shape[1]} tokens in two halves, merged: largest error {error:.1e}")
    try:
        import torch
    except ImportError:
        pass
    else:
        group = shape.query_heads // shape.kv_heads
        as_torch = [torch.from_numpy(np.ascontiguousarray(array, np.float32)) for array in (q[:, None], np.repeat(k, group, 0), np.repeat(v, group, 0))]
        torch_out = torch.nn.functional.scaled_dot_product_attention(*as_torch)[:, 0].numpy()
        error = np.abs(out - torch_out).max()
        worst = max(worst, error)
        print(f"beside torch in FP32: largest error {error:.1e}")
    if not worst <= args.most * max(scale, 1):
        sys.exit(f"error: the largest error is {worst:.1e}, beyond {args.most:.1e}")


if __name__ == "__main__":
    try:
        main()
    except (meshkv.Failed, OSError, ValueError) as why:
        sys.exit(f"error: {why}")
