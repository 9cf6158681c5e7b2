"""Models for tests: a twin of `model = table`, which answers what the original answers, bit for
bit, and models that do what a test needs."""

import math
import os
import time
from itertools import product

import numpy as np

import draftlab as dl

LOW, ALL = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
TRAIN = 7  # A table's own numbers have this purpose.


def mix(x):
    x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCD & ALL
    x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53 & ALL
    return x ^ (x >> 33)


def stable_hash(text):
    value = 0xCBF29CE484222325 ^ mix(0)
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & ALL
    return mix(value)


def bits(seed, sequence, position, attempt):
    """The 128 bits of core/prob/chance.cc at an address, as two numbers in [0, 1)."""
    key = mix((seed + 0x9E3779B97F4A7C15) & ALL) ^ sequence
    k0, k1 = key & LOW, key >> 32
    c0, c1, c2, c3 = position & LOW, TRAIN, 0, attempt
    for _ in range(10):
        a, b = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (b >> 32) ^ c1 ^ k0, b & LOW, (a >> 32) ^ c3 ^ k1, a & LOW
        k0, k1 = (k0 + 0x9E3779B9) & LOW, (k1 + 0xBB67AE85) & LOW
    return [((high << 32 | low) >> 11) * 2.0**-53 for low, high in ((c0, c1), (c2, c3))]


def normal(seed, sequence, position, attempt=0):
    u, v = bits(seed, sequence, position, attempt)
    return math.sqrt(-2 * math.log(1 - u)) * math.cos(2 * math.pi * v)


@dl.model("table-twin")
class Table:
    """The kinds joint, ordered and views of `model = table`, without its caches."""

    kind: str = dl.option("ordered", choices=["joint", "ordered", "views"], help="As of table.")
    vocabulary: int = dl.option(3, low=2, high=8, help="Tokens.")
    length: int = dl.option(5, low=2, high=8, help="Positions of the canvas.")
    seed: int = dl.option(7, low=0, high=1e15, help="Of the table.")
    noise: float = dl.option(0.8, low=0, high=10, help="In nats.")
    concentration: float = dl.option(0.7, low=0.01, high=100, help="Of the Dirichlet.")
    forms = ["committed", "chain", "branches", "shallow"]
    family, rows_are_independent = "table", True

    def load(self, machine):
        texts = list(product(range(self.vocabulary), repeat=self.length))
        self.tables = [
            {text: self.gamma(cell, table) for cell, text in enumerate(texts)} for table in (0, 1)
        ]
        self.longest, self.parameters = self.length, len(texts)
        self.known = {}

    def gamma(self, cell, table):
        d = self.concentration + 1 - 1.0 / 3
        c = 1 / math.sqrt(9 * d)
        attempt = 0
        boost = (1 - bits(self.seed, table, cell, attempt)[0]) ** (1 / self.concentration)
        while True:
            x = normal(self.seed, table, cell, attempt + 1)
            v = (1 + c * x) ** 3
            attempt += 2
            u = 1 - bits(self.seed, table, cell, attempt)[0]
            if v > 0 and math.log(u) < x * x / 2 + d - d * v + d * math.log(v):
                return boost * d * v

    def answer(self, questions):
        rows = []
        for question in questions:
            rows += [self.row(question, node, position) for node, position in question.asked]
            question.positions = len(question.nodes) + len(question.asked)
            parents = {node.parent for node in question.nodes}
            if question.view == "causal" and question.nodes:
                question.rows = sum(i not in parents for i in range(len(question.nodes)))
            elif question.nodes:
                question.rows = len({node for node, _ in question.asked})
        return dl.Weights(np.array(rows).reshape(-1, self.vocabulary))

    def row(self, question, node, position):
        tokens = question.canvas.tokens.tolist()
        given = [(int(i), tokens[i]) for i in question.canvas.given]
        made = [(int(i), tokens[i]) for i in question.canvas.order]
        made += [(each.position, each.token) for each in question.path(node)]
        if self.kind == "ordered":
            key = "ordered" + text(given) + " then" + text(made)
            return self.law(key, position, [*given, *made], question.shallow)
        seen, key = dict([*made[::-1], *given]), "set"  # What came first stays.
        if self.kind == "views":
            block = question.block_of()
            mine = np.flatnonzero(block == block[position])
            causal = question.view == "causal" or len(mine) == 1
            until = position if causal else int(mine[-1]) + 1
            seen = {i: token for i, token in seen.items() if i < until}
            key = "causal" if causal else "set"
        known = sorted(seen.items())
        key += text(known)
        return self.law(key, position, known, question.shallow)

    def law(self, key, position, known, shallow):
        key += (" shallow of " if shallow else " of ") + str(position)
        if key not in self.known:
            fixed = dict(known)
            fixed.pop(position, None)
            self.known[key] = [
                self.mass({**fixed, position: token}, shallow) * self.noised(key, token)
                for token in range(self.vocabulary)
            ]
        return self.known[key]

    def noised(self, key, token):
        if self.kind == "joint":
            return 1.0
        return math.exp(self.noise * normal(self.seed, stable_hash(key), token))

    def mass(self, fixed, shallow, begun=()):
        """Summed in the order of the original, so that the last bit is the same."""
        if len(begun) == self.length:
            return self.tables[shallow][begun]
        if len(begun) in fixed:
            return self.mass(fixed, shallow, (*begun, fixed[len(begun)]))
        total = 0.0
        for token in range(self.vocabulary):
            total += self.mass(fixed, shallow, (*begun, token))
        return total


def text(known):
    return "".join(f" {position}:{token}" for position, token in known)


@dl.model("wide")
class Wide:
    """Logits of a large vocabulary, a function of what is committed and asked."""

    vocabulary: int = dl.option(50000, low=2, high=1000000, help="Tokens.")
    slow: float = dl.option(0.0, low=0, high=60, help="Seconds that a forward takes.")
    note: str = dl.option("", help="File to which every forward writes how many it answers.")
    forms = ["committed", "chain"]

    def answer(self, questions):
        time.sleep(self.slow)
        if self.note:
            with open(self.note, "a") as opened:
                opened.write(f"{len({question.sequence for question in questions})}\n")
        rows = []
        for question in questions:
            for node, position in question.asked:
                known = question.tokens(node, 0)
                base = np.arange(self.vocabulary, dtype=np.float32)
                rows.append(np.sin(base * (1 + position) + float(known.sum() % 97)) * 5)
        return np.array(rows, dtype=np.float32)


@dl.model("broken")
class Broken:
    """Answers what is none, in the way that `how` names."""

    how: str = dl.option("shape", choices=["shape", "nan", "none", "raise", "end", "hang", "many"],
                         help="What is wrong.")  # fmt: skip
    vocabulary = 4
    forms = ["committed", "chain", "branches"]

    def answer(self, questions):
        count = sum(len(question.asked) for question in questions)
        if self.how == "raise":
            raise RuntimeError("out of memory")
        if self.how == "end":
            os._exit(3)
        if self.how == "hang":
            time.sleep(1000)
        if self.how == "none":
            return None
        if self.how == "shape":
            return np.zeros((count, 5), np.float32)
        if self.how == "many":
            return np.zeros((count + 1, 4), np.float32)
        return np.full((count, 4), np.nan, np.float32)
