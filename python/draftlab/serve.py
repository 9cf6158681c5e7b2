"""Holds parts or models of a file for many processes.

    python -m draftlab.serve my_model.py --listen unix:PATH
    python -m draftlab.serve my_model.py --listen tcp:HOST:PORT --secret FILE
    python -m draftlab.serve my_model.py --listen unix:PATH --set model.NAME.OPTION=VALUE

At a Unix socket it serves processes of its own user alone. Over TCP clients name a secret; where no
--secret is given, one is made and shown.
"""

import argparse
import signal
import sys
from typing import List, Optional


def preset(words: List[str]) -> None:
    """Options as `--set KIND.NAME.OPTION=VALUE` gives them."""
    from draftlab import options, parts

    for word in words:
        key, equals, value = word.partition("=")
        names = key.split(".")
        if not equals or len(names) != 3:
            raise ValueError(f"--set {word} is not of the form KIND.NAME.OPTION=VALUE")
        if (names[0], names[1]) not in parts.REGISTERED:
            raise ValueError(f"--set {word}: the file has no {names[0]} '{names[1]}'")
        options.preset(parts.REGISTERED[names[0], names[1]], names[2], value)


def main(words: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m draftlab.serve", description=__doc__)
    parser.add_argument("file", help="Python file with the classes to serve")
    parser.add_argument("--listen", required=True, help="unix:PATH or tcp:HOST:PORT")
    parser.add_argument("--secret", help="file whose first line clients must name")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KIND.NAME.OPTION=VALUE",
        help="an option of what is served; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--gather", type=float, default=0.002, metavar="SECONDS",
        help="how long a client's question waits for those of other clients, so that one forward "
        "answers them all (default %(default)s)",
    )  # fmt: skip
    arguments = parser.parse_args(words)
    from draftlab import calls, loading, serving

    try:
        secret = ""
        if arguments.secret:
            with open(arguments.secret) as opened:
                secret = opened.readline().strip()
            if not secret:
                raise ValueError(f"{arguments.secret} holds no secret in its first line")
        loading.load(arguments.file)
        preset(arguments.set)
        listener = serving.Listener(arguments.listen, secret, arguments.file, arguments.gather)
    except Exception as error:
        print(calls.described(error), file=sys.stderr)
        return 78
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print(f"serving {arguments.file} at {listener.address}", flush=True)
    if listener.secret and not secret:
        print(f"its secret, for a file that clients name: {listener.secret}", flush=True)
    try:
        listener.run()
    except KeyboardInterrupt:
        return 130
    finally:
        listener.close()
    return 0


if __name__ == "__main__":
    from draftlab.serve import main as entry

    sys.exit(entry())
