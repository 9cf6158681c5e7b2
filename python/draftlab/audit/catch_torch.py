"""The functions of torch that make numbers; used by `catch` where torch is loaded."""

import numpy as np
import torch

from draftlab.audit import noise_torch

# The random bits of torch.rand in types that are narrower than float64.
_BITS = {torch.float32: 24, torch.float16: 11, torch.bfloat16: 8}


def put_all(put, asked) -> None:
    """Replaces them by `put(owner, name, value)`; `asked[-1]` answers while there is one."""

    def tensor(values, like=None, dtype=None):
        made = torch.as_tensor(np.asarray(values))
        if like is not None:
            return made.to(dtype=dtype or like.dtype, device=like.device)
        return made.to(dtype=dtype or torch.get_default_dtype())

    def uniforms(shape, dtype):
        """Numbers in [0, 1) as torch makes them: multiples of 2^-24 for float32, never 1."""
        values = asked[-1].uniform(tuple(shape))
        bits = _BITS.get(dtype)
        return values if bits is None else np.floor(values * 2.0**bits) / 2.0**bits

    def uniform_noise(like):
        """Uniform numbers of the shape and type of `like`: noise in float64, which torch does not
        cut; what it cuts to fewer bits is numbers, since 0 is then one of them."""
        cells = getattr(asked[-1], "cells", None)
        if cells is None or like.dim() == 0 or like.dtype in _BITS:
            return tensor(uniforms(like.shape, like.dtype), like)
        return noise_torch.new(cells, "uniform", like)

    def rand(real):
        def function(*size, dtype=None, **named):
            if not asked:
                return real(*size, dtype=dtype, **named)
            shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
            dtype = dtype or torch.get_default_dtype()
            return uniform_noise(torch.empty(tuple(shape), dtype=dtype))

        return function

    def rand_like(real):
        def function(like, dtype=None, **named):
            if not asked:
                return real(like, dtype=dtype, **named)
            return uniform_noise(torch.empty_like(like, dtype=dtype or like.dtype))

        return function

    def multinomial(real):
        def function(weights, num_samples, replacement=False, **named):
            if not asked:
                return real(weights, num_samples, replacement, **named)
            rows = []
            for row in weights.reshape(-1, weights.shape[-1]).double().numpy():
                left, tokens = row.copy(), []
                for _ in range(num_samples):
                    tokens.append(asked[-1].draw(left))
                    if not replacement:
                        left[tokens[-1]] = 0
                rows.append(tokens)
            return torch.tensor(rows).reshape(*weights.shape[:-1], num_samples)

        return function

    def bernoulli(real):
        def function(p, *arguments, **named):
            if not asked:
                return real(p, *arguments, **named)
            hits = [float(asked[-1].below(value)) for value in p.reshape(-1).tolist()]
            return torch.tensor(hits, dtype=p.dtype).reshape(p.shape)

        return function

    def in_place(real, answer):
        def function(self, *arguments, **named):
            if not asked:
                return real(self, *arguments, **named)
            named.pop("generator", None)
            made = answer(tuple(self.shape), self.dtype, *arguments, **named)
            return self.copy_(tensor(made, self))

        return function

    def exponential_(real):
        drawn = in_place(real, exponential)

        def function(self, lambd=1.0, *, generator=None):
            cells = getattr(asked[-1], "cells", None) if asked else None
            if cells is not None and self.dim() and \
                    noise_torch.renew(self, cells, "exponential", 1 / lambd):
                return self
            if not asked:
                return real(self, lambd, generator=generator)
            return drawn(self, lambd)

        return function

    def exponential(shape, dtype, lambd=1.0):
        return asked[-1].exponential(shape) / lambd

    def uniform(shape, dtype, low=0.0, high=1.0):
        return low + (high - low) * uniforms(shape, dtype)

    for name, wrap in (("rand", rand), ("rand_like", rand_like), ("multinomial", multinomial),
                       ("bernoulli", bernoulli)):
        put(torch, name, wrap(getattr(torch, name)))
    put(torch.Tensor, "multinomial", multinomial(torch.Tensor.multinomial))
    put(torch.Tensor, "bernoulli", bernoulli(torch.Tensor.bernoulli))
    put(torch.Tensor, "exponential_", exponential_(torch.Tensor.exponential_))
    put(torch.Tensor, "uniform_", in_place(torch.Tensor.uniform_, uniform))
    seed = torch.manual_seed
    put(torch, "manual_seed", lambda value: None if asked else seed(value))
