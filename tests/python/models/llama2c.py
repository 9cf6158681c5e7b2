"""A second implementation of llama2.c's program, in numpy, from its description.

The network is Llama's (Touvron et al., 2023): RMSNorm with 1e-5, rotary positions of base 10000
that turn neighbours, grouped queries, SwiGLU. The vocabulary is sentencepiece's byte-pair kind:
neighbours are merged by the best score. No line is shared with draftlab.

    python3 llama2c.py MODEL.bin VOCABULARY.bin [BEGINNING]    goes on with a text
    python3 llama2c.py --beginnings                            writes data/corpora/beginnings.txt
"""

import random
import struct
import sys
from pathlib import Path

import numpy as np

BEGIN = 1
SHAPE = ("width", "inner", "layers", "heads", "groups", "words", "positions")


class Vocabulary:
    def __init__(self, path):
        data, at = Path(path).read_bytes(), 4
        self.pieces, self.scores = [], []
        while at < len(data):
            score, length = struct.unpack_from("<fi", data, at)
            self.pieces.append(data[at + 8 : at + 8 + length])
            self.scores.append(score)
            at += 8 + length
        self.ids = {piece: i for i, piece in reversed(list(enumerate(self.pieces)))}

    def encode(self, text):
        tokens = [BEGIN]
        for character in (" " + text) if text else "":
            raw = character.encode()
            tokens += [self.ids[raw]] if raw in self.ids else [3 + byte for byte in raw]
        while True:
            found = []
            for i, (left, right) in enumerate(zip(tokens, tokens[1:])):
                whole = self.ids.get(self.pieces[left] + self.pieces[right])
                if whole is not None:
                    found.append((-self.scores[whole], i, whole))
            if not found:
                return tokens
            _, i, whole = min(found)
            tokens[i : i + 2] = [whole]

    def decode(self, tokens):
        text = b""
        for before, token in zip(tokens, tokens[1:]):
            piece = self.pieces[token]
            if 3 <= token < 259:
                piece = bytes([token - 3])
            elif before == BEGIN and piece.startswith(b" "):
                piece = piece[1:]
            text += piece
        return text.decode(errors="replace")


class Model:
    def __init__(self, path):
        data = Path(path).read_bytes()
        shape = dict(zip(SHAPE, struct.unpack_from("<7i", data)))
        self.__dict__.update(shape)
        numbers, at = np.frombuffer(data, np.float32, offset=28), 0

        def take(*size):
            nonlocal at
            count = int(np.prod(size))
            at += count
            return numbers[at - count : at].reshape(size)

        d, layers, inner = self.width, self.layers, self.inner
        self.head = d // self.heads
        shared = self.groups * self.head
        self.embedding = take(abs(self.words), d)
        self.attention_norm = take(layers, d)
        self.q, self.k = take(layers, d, d), take(layers, shared, d)
        self.v, self.o = take(layers, shared, d), take(layers, d, d)
        self.inner_norm = take(layers, d)
        self.gate, self.down = take(layers, inner, d), take(layers, d, inner)
        self.up, self.norm = take(layers, inner, d), take(d)
        take(2, self.positions, self.head // 2)
        self.output = self.embedding if self.words > 0 else take(-self.words, d)
        assert at == len(numbers)
        turns = 10000.0 ** (-np.arange(0, self.head, 2) / self.head)
        angles = (np.arange(self.positions)[:, None] * turns).astype(np.float32)
        self.cosine, self.sine = np.cos(angles), np.sin(angles)

    @staticmethod
    def normed(x, weight):
        return x / np.sqrt((x * x).mean() + np.float32(1e-5)) * weight

    def turned(self, rows, position):
        """Neighbours turn into one another, in each head."""
        pairs = rows.reshape(-1, self.head // 2, 2)
        a, b = pairs[..., 0], pairs[..., 1]
        cosine, sine = self.cosine[position], self.sine[position]
        return np.stack([a * cosine - b * sine, a * sine + b * cosine], -1).reshape(-1, self.head)

    def forward(self, token, position, memory):
        """The logits behind a token; `memory` has keys and values [2, layers, positions, ...]."""
        x = self.embedding[token].copy()
        each = self.heads // self.groups
        for i in range(self.layers):
            a = self.normed(x, self.attention_norm[i])
            memory[0, i, position] = self.turned(self.k[i] @ a, position)
            memory[1, i, position] = (self.v[i] @ a).reshape(self.groups, self.head)
            q = self.turned(self.q[i] @ a, position).reshape(self.groups, each, self.head)
            keys, values = memory[:, i, : position + 1]
            scores = np.einsum("ged,pgd->gep", q, keys) / np.sqrt(np.float32(self.head))
            share = np.exp(scores - scores.max(-1, keepdims=True))
            share /= share.sum(-1, keepdims=True)
            x = x + self.o[i] @ np.einsum("gep,pgd->ged", share, values).reshape(-1)
            b = self.normed(x, self.inner_norm[i])
            gate = self.gate[i] @ b
            x = x + self.down[i] @ (gate / (1 + np.exp(-gate)) * (self.up[i] @ b))
        return self.output @ self.normed(x, self.norm)

    def greedy(self, tokens, length):
        """Goes on until there are `length` tokens, or until the next text would begin."""
        tokens = list(tokens)
        memory = np.zeros((2, self.layers, length, self.groups, self.head), np.float32)
        for position in range(length - 1):
            logits = self.forward(tokens[position], position, memory)
            if position + 1 < len(tokens):
                continue
            following = int(np.argmax(logits))
            if following == BEGIN:
                break
            tokens.append(following)
        return tokens


def beginnings(count=100, seed=260):
    """A list of beginnings of stories, and of what is none; the same for a seed anywhere."""
    draw = random.Random(seed)
    names = ["Lily", "Tom", "Sue", "Max", "Anna", "Ben", "Mia", "Timmy", "Zoe", "Sam"]
    things = ["ball", "red car", "big box", "book", "shiny rock", "cookie", "blue hat", "kite"]
    animals = ["cat", "dog", "bird", "little bear", "frog", "old horse", "bunny", "fish"]
    places = ["park", "forest", "beach", "shop", "garden", "school", "zoo"]
    moods = ["happy", "sad", "very tired", "scared", "excited", "angry"]
    forms = [
        "Once upon a time, there was a {animal} named {name}.",
        "Once upon a time, in the {place}, a {animal} found a {thing}.",
        "One day, {name} went to the {place} with a {animal}.",
        "{name} and {other} wanted to play with the {thing}.",
        '"Look at my {thing}!" said {name}.',
        "The {animal} was {mood} because",
        "{name} was {mood}. {other} gave {name} a {thing}",
        "It was a sunny day and {name}",
        "Mom said, \"{name}, don't touch the {thing}",
        "There were {number} {animal}s in the {place}",
        "{name} asked: why is the {thing} so",
        "The end of the {place}",
    ]
    odd = ["x", "HELLO WORLD", "Žofie café", "3 + 4 = ", "... and then", "\U0001f409 roared",
           "a  b"]
    made = list(odd)
    while len(made) < count:
        name, other = draw.sample(names, 2)
        text = draw.choice(forms).format(
            name=name, other=other, thing=draw.choice(things), animal=draw.choice(animals),
            place=draw.choice(places), mood=draw.choice(moods), number=draw.randint(2, 99),
        )  # fmt: skip
        if text not in made:
            made.append(text)
    draw.shuffle(made)
    return made


if __name__ == "__main__":
    if sys.argv[1:] == ["--beginnings"]:
        folder = Path(__file__).resolve().parents[3] / "data/corpora"
        (folder / "beginnings.txt").write_text("\n".join(beginnings()) + "\n", encoding="utf-8")
    else:
        vocabulary = Vocabulary(sys.argv[2])
        text = vocabulary.encode(" ".join(sys.argv[3:]))
        print(vocabulary.decode(Model(sys.argv[1]).greedy(text, 257)))
