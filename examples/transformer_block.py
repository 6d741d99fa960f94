"""The forward pass of one block of a transformer: attention and a feed-forward layer, float32.

Layer norm, eight attention heads (queries, keys and values by matmul, softmax over the keys), then
layer norm and two dense layers with GELU between them, both parts added to their input.

Sources: A. Vaswani et al., "Attention is all you need" (2017); layer norm before each part and the
tanh form of GELU as in GPT-2 (A. Radford et al., 2019).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
Parameters = dict[str, FloatArray]

HEADS = 8
WIDTH = 128


def layer_norm(x: FloatArray, gain: FloatArray, bias: FloatArray) -> FloatArray:
    mean = x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True)
    return gain * (x - mean) / np.sqrt(variance + 1e-5) + bias


def softmax(x: FloatArray) -> FloatArray:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def gelu(x: FloatArray) -> FloatArray:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def split_heads(x: FloatArray) -> FloatArray:
    """(tokens, width) -> (heads, tokens, width / heads)"""
    tokens, width = x.shape
    return x.reshape(tokens, HEADS, width // HEADS).transpose(1, 0, 2)


def attention(x: FloatArray, p: Parameters) -> FloatArray:
    query = split_heads(x @ p["query"])
    key = split_heads(x @ p["key"])
    value = split_heads(x @ p["value"])
    scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
    mixed = softmax(scores) @ value
    return mixed.transpose(1, 0, 2).reshape(x.shape) @ p["output"]


def transformer_block(x: FloatArray, p: Parameters) -> FloatArray:
    """(tokens, width) -> (tokens, width)"""
    x = x + attention(layer_norm(x, p["gain1"], p["bias1"]), p)
    hidden = gelu(layer_norm(x, p["gain2"], p["bias2"]) @ p["dense1"] + p["offset1"])
    return x + hidden @ p["dense2"] + p["offset2"]


PROGRAM = transformer_block
SIZE = 512
QUICK_SIZE = 24
CALLS = 1
# exp and tanh may differ from NumPy's by 2 ulp, which the sums and the products of matrices
# that follow add up; counted in ulps of the largest value of the result.
MAX_ULPS = 16
FALLBACKS = ()


def describe(size: int) -> str:
    return f"{size} tokens x {WIDTH}, {HEADS} heads, float32"


def make_inputs(size: int) -> tuple[Any, ...]:
    random = np.random.default_rng(2017)

    def normal(*shape: int, scale: float = 1.0) -> FloatArray:
        return (scale * random.standard_normal(shape)).astype(np.float32)

    square = {
        name: normal(WIDTH, WIDTH, scale=WIDTH**-0.5)
        for name in ("query", "key", "value", "output")
    }
    parameters = square | {
        "gain1": 1 + normal(WIDTH, scale=0.1),
        "bias1": normal(WIDTH, scale=0.1),
        "gain2": 1 + normal(WIDTH, scale=0.1),
        "bias2": normal(WIDTH, scale=0.1),
        "dense1": normal(WIDTH, 4 * WIDTH, scale=WIDTH**-0.5),
        "offset1": normal(4 * WIDTH, scale=0.1),
        "dense2": normal(4 * WIDTH, WIDTH, scale=(4 * WIDTH) ** -0.5),
        "offset2": normal(WIDTH, scale=0.1),
    }
    return normal(size, WIDTH), parameters
