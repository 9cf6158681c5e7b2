"""Runs lm_eval's own command with the model `draftlab` known to it."""

import sys

if __name__ == "__main__":
    try:
        import draftlab.harness.model  # noqa: F401  # It registers the model.
        from lm_eval.__main__ import cli_evaluate
    except ModuleNotFoundError as error:
        print(f"draftlab: this command needs the Python package lm_eval, and '{error.name}' is not "
              "installed", file=sys.stderr)
        sys.exit(69)
    cli_evaluate()
