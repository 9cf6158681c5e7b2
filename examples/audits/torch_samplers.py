"""Samplers in torch, which draw by themselves as engines do: torch.rand for the tests, multinomial
or a race of exponentials for the replacement. They are audited where torch for Python is installed.

A race of exponentials (the largest of p / e) has no thresholds to bisect, but a law in closed form,
so that the walk chooses its winner. One number for all tests of a chain is right for one draft and
wrong for two: a rejection at the second says that the number was large, and the first test had said
that it was small.
"""

import torch

import draftlab as dl


def tested(target, drawn_from, drafts, numbers, replace):
    for i, x in enumerate(drafts.tolist()):
        if numbers[i] * drawn_from[i, x] >= target[i, x]:
            rest = torch.clamp(target[i] - drawn_from[i], min=0)
            return drafts[:i].tolist() + [replace(rest)]
    return drafts.tolist() + [replace(target[len(drafts)])]


def multinomial(weights):
    return torch.multinomial(weights, 1).item()


def race(weights):
    return torch.argmax(weights / torch.empty_like(weights).exponential_(1.0)).item()


@dl.sampler("torch-multinomial", drafts=2, tensors="torch")
def torch_multinomial(target, drawn_from, drafts):
    return tested(target, drawn_from, drafts, torch.rand(len(drafts)), multinomial)


@dl.sampler("torch-race", drafts=1, tensors="torch")
def torch_race(target, drawn_from, drafts):
    return tested(target, drawn_from, drafts, torch.rand(len(drafts)), race)


@dl.sampler("torch-one-number", drafts=2, tensors="torch")
def torch_one_number(target, drawn_from, drafts):
    return tested(target, drawn_from, drafts, torch.rand(()).repeat(len(drafts)), multinomial)
