"""draftlab as a model of lm-evaluation-harness (docs/PYTHON.md).

    lm_eval --model draftlab --model_args config=my.ini --tasks lambada_openai
    python -m draftlab.harness --model draftlab ...    # the same from a source tree

Texts are decoded by the config's decoder, and their likelihoods are those of its target in the
causal view, in which its verifier asks. The package lm_eval is imported by `model` alone.
"""
