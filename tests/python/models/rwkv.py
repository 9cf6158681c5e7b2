"""RWKV 5.2 and 7 in numpy, one token at a time, from the published equations (arXiv 2404.05892 and
2503.14456). No line is shared with draftlab. Tensors have the names and shapes of rwkv.cpp's files.

    python3 rwkv.py MODEL.bin [BEGINNING]    goes on with a text, greedily, for 100 bytes
"""

import struct
import sys

import numpy as np

# What the decay of version 7 is at least: e^(-e^(-1/2)).
SLOWEST = -0.606531


def read(path):
    """The tensors of a file of rwkv.cpp, in f32."""
    with open(path, "rb") as file:
        data = file.read()
    tensors, at = {}, 24
    while at < len(data):
        dimensions, length, kind = struct.unpack_from("<3i", data, at)
        shape = struct.unpack_from(f"<{dimensions}i", data, at + 12)[::-1]
        at += 12 + 4 * dimensions
        name, at = data[at : at + length].decode(), at + length
        number = np.dtype("<f4" if kind == 0 else "<f2")
        count = int(np.prod(shape))
        tensors[name] = np.frombuffer(data, number, count, at).astype("f4").reshape(shape)
        at += count * number.itemsize
    return tensors


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def normed(x, weight, bias, groups=1, epsilon=1e-5):
    grouped = x.reshape(groups, -1)
    centred = grouped - grouped.mean(1, keepdims=True)
    deviation = np.sqrt((centred * centred).mean(1, keepdims=True) + x.dtype.type(epsilon))
    return (centred / deviation).reshape(-1) * weight + bias


def mixed(row, before, share):
    """Version 5.2's mixture of a row and the one before; version 7 has the shares of the latter."""
    return row * share + before * (1 - share)


class Rwkv:
    """A state has a list for each layer: the row before in attention, the row before in the
    feed-forward network, and a memory for each head."""

    def __init__(self, tensors, number=np.float32):
        self.w = {name: np.squeeze(tensor.astype(number)) for name, tensor in tensors.items()}
        self.vocabulary, self.width = self.w["emb.weight"].shape
        self.layers = 1 + max(int(name.split(".")[1]) for name in tensors if "blocks." in name)
        self.seven = "blocks.0.att.r_k" in tensors
        self.heads = len(tensors["blocks.0.att." + ("r_k" if self.seven else "time_decay")])
        self.number = number
        self.of = [self._layer(i) for i in range(self.layers)]
        # The value of the first layer, as the last token left it.
        self.first = None

    def _layer(self, i):
        start = f"blocks.{i}."
        return {name[len(start) :]: self.w[name] for name in self.w if name.startswith(start)}

    def fresh(self):
        size = self.width // self.heads

        def zeros(*shape):
            return np.zeros(shape, self.number)

        return [[zeros(self.width), zeros(self.width), zeros(self.heads, size, size)]
                for _ in range(self.layers)]

    def step(self, token, state, first=None):
        """Returns the logits behind a token, and changes the state. `first` takes the place of the
        first layer's value."""
        w = self.w
        x = normed(w["emb.weight"][token], w["blocks.0.ln0.weight"], w["blocks.0.ln0.bias"])
        self.first = first
        for own, held in zip(self.of, state):
            y = normed(x, own["ln1.weight"], own["ln1.bias"])
            x = x + (self.attend7 if self.seven else self.attend5)(own, y, held)
            held[0] = y
            y = normed(x, own["ln2.weight"], own["ln2.bias"])
            x = x + self.feed_forward(own, y, held[1])
            held[1] = y
        return w["head.weight"] @ normed(x, w["ln_out.weight"], w["ln_out.bias"])

    def feed_forward(self, own, y, before):
        share = 1 - own["ffn.x_k"] if self.seven else own["ffn.time_mix_k"]
        inner = np.maximum(own["ffn.key.weight"] @ mixed(y, before, share), 0)
        given = own["ffn.value.weight"] @ (inner * inner)
        if self.seven:
            return given
        return given * sigmoid(own["ffn.receptance.weight"]
                               @ mixed(y, before, own["ffn.time_mix_r"]))

    def attend5(self, own, y, held):
        def project(name, mix):
            return own[f"att.{name}.weight"] @ mixed(y, held[0], own[f"att.time_mix_{mix}"])

        r, k, v = (project(name, name[0]).reshape(self.heads, -1)
                   for name in ("receptance", "key", "value"))
        gate = project("gate", "g")
        outer = k[:, :, None] * v[:, None]  # [heads, keys, values]
        seen = own["att.time_faaaa"][:, :, None] * outer + held[2]
        held[2] = outer + own["att.time_decay"][:, :, None] * held[2]
        out = np.einsum("hk,hkv->hv", r, seen).reshape(-1)
        out = normed(out, own["att.ln_x.weight"], own["att.ln_x.bias"], self.heads)
        return own["att.output.weight"] @ (out * gate * sigmoid(gate))

    def attend7(self, own, y, held):
        shares = own["att.x_rwkvag"]
        mix = dict(zip("rwkvag", y + (held[0] - y) * shares))

        def through(name, curve=lambda x: x):
            return own[f"att.{name}2"] @ curve(own[f"att.{name}1"] @ mix[name])

        r, k, v = (own[f"att.{name}.weight"] @ mix[name[0]]
                   for name in ("receptance", "key", "value"))
        if "att.v0" not in own and self.first is None:
            self.first = v
        elif "att.v0" in own:
            v = v + (self.first - v) * sigmoid(own["att.v0"] + through("v"))
        decay = np.exp(self.number(SLOWEST) * sigmoid(own["att.w0"] + through("w", np.tanh)))
        rate = sigmoid(own["att.a0"] + through("a"))
        gate = through("g", sigmoid)
        removed = (k * own["att.k_k"]).reshape(self.heads, -1)
        removed = removed / np.linalg.norm(removed, axis=1, keepdims=True)
        k = k * (1 + (rate - 1) * own["att.k_a"])
        r, k, v, decay, rate = (x.reshape(self.heads, -1) for x in (r, k, v, decay, rate))
        memory = held[2]  # [heads, values, keys]
        gone = (memory @ removed[:, :, None]) * (removed * rate)[:, None]
        held[2] = memory * decay[:, None] - gone + v[:, :, None] * k[:, None]
        out = (held[2] @ r[:, :, None]).reshape(-1)
        out = normed(out, own["att.ln_x.weight"], own["att.ln_x.bias"], self.heads, 64e-5)
        along = (r * k * own["att.r_k"]).sum(1, keepdims=True) * v
        return own["att.output.weight"] @ ((out + along.reshape(-1)) * gate)

    def greedy(self, given, count):
        """The most probable `count` tokens behind those given, one after another."""
        state, tokens = self.fresh(), []
        for token in given:
            logits = self.step(token, state)
        while True:
            tokens.append(int(np.argmax(logits)))
            if len(tokens) == count:
                return tokens
            logits = self.step(tokens[-1], state)


if __name__ == "__main__":
    beginning = (" ".join(sys.argv[2:]) or "The ").encode()
    written = bytes(Rwkv(read(sys.argv[1])).greedy(beginning, 100))
    print((beginning + written).decode(errors="replace"))
