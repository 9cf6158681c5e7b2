"""The command line of audits: files of samplers, or logs of what an engine decided."""

import argparse
import importlib.util
import json
import os
import sys
from functools import partial
from typing import Any, List, Optional, Tuple

from draftlab.audit.faults import DataError, Unavailable, UsageError, lacks

_USAGE = "draftlab audit FILE.py... | --log FILE.jsonl"


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"draftlab audit: {message}; usage: {_USAGE}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="draftlab audit", usage=_USAGE, allow_abbrev=False,
                     description="Is a speculative sampler exact? Exit status: 0 exact, "
                     "1 biased (or it crashes), 2 not shown; 64 usage, 65 bad file, 69 missing.")
    parser.add_argument("files", nargs="*", metavar="FILE.py",
                        help="samplers that dl.sampler marks")
    parser.add_argument("--log", metavar="FILE.jsonl", help="judge logged decisions instead")
    parser.add_argument("--battery", default="quick", choices=("quick", "full"),
                        help="quick: under 10 s a sampler (default); full: under 5 minutes")
    parser.add_argument("--format", default="text", choices=("text", "json"))
    parser.add_argument("--sampler", metavar="NAME", help="only this one of the file")
    parser.add_argument("--toy", metavar="NAME", help="only the toys of this name")
    parser.add_argument("--k", type=int, default=0, help="only toys of so many drafts (0: all)")
    parser.add_argument("--random-seed", type=int, default=0, help="of the random laws and of what "
                        "is drawn (0: another in each audit, which the report names)")
    parser.add_argument("--seconds", type=float, default=0.0, help="of processor time for a "
                        "sampler, instead of the battery's (0)")
    parser.add_argument("--continue", dest="kept", metavar="FILE", default="", help="keep what "
                        "was found in FILE, and go on from what is there, with twice its time")
    parser.add_argument("--hang", type=float, default=5.0, metavar="SECONDS",
                        help="after which a call that has not returned is ended (default 5)")
    parser.add_argument("--workers", type=int, default=0, help="samplers that are audited side by "
                        "side (0: as many as there are processors; with --continue one)")
    return parser


def load(path: str):
    """The module that a file is, with its generators caught as it makes them."""
    from draftlab.audit.catch import scripted

    if not os.path.isfile(path):
        raise DataError(f"{path}: there is no such file")
    name = "audited_" + "".join(c if c.isalnum() else "_" for c in os.path.basename(path)[:-3])
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: a file of samplers has to end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        with scripted():
            spec.loader.exec_module(module)
    except UsageError as error:
        raise DataError(f"{path}: {error}") from error
    except ModuleNotFoundError as missing:
        raise Unavailable(f"{path}: {missing}") from missing
    except Exception as error:
        raise DataError(f"{path}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)
    return module


def _found(path: str, only: Optional[str]) -> List[Any]:
    """The samplers and models that a file marks, or the one of this name."""
    from draftlab.audit.recurrent import models_of
    from draftlab.audit.sampler import samplers_of

    module = load(path)
    found: List[Any] = [*samplers_of(module), *models_of(module)]
    if not found:
        raise DataError(f"{path}: no sampler; mark one with @dl.sampler(NAME), or a model that "
                        "has a state with @dl.recurrent_model(NAME, vocabulary=V)")
    chosen = [made for made in found if only in (None, made.name)]
    if not chosen:
        raise UsageError(f"{path}: no sampler '{only}'; "
                         f"it has {', '.join(made.name for made in found)}")
    return chosen


def _audit_files(arguments) -> int:
    from draftlab.audit.side_by_side import side_by_side, usable_processors

    jobs = [partial(_said, made, path, arguments)
            for path in arguments.files for made in _found(path, arguments.sampler)]
    # What is kept is one file, which one audit at a time reads and writes.
    workers = 1 if arguments.kept else arguments.workers or usable_processors()
    statuses, samplers = [], []
    for one, said in side_by_side(jobs, workers):
        statuses.append(one)
        samplers.append(said)
        if arguments.format == "text":
            print(said, flush=True)
    status = 1 if 1 in statuses else max(statuses)
    if arguments.format == "json":
        print(json.dumps({"status": status, "samplers": samplers}, allow_nan=False))
    return status


def _said(made, path: str, arguments) -> Tuple[int, Any]:
    """The exit status of one audit, and its report in the form that was asked for."""
    report = _audited(made, path, arguments)
    return report.status, report.to_dict() if arguments.format == "json" else str(report)


def _audited(made, path: str, arguments):
    """The audit of one sampler, which goes on from what is kept of it, or of a model."""
    from draftlab.audit import kept
    from draftlab.audit.recurrent import RecurrentModel, audit_recurrent
    from draftlab.audit.run import Only, audit

    if isinstance(made, RecurrentModel):
        return audit_recurrent(made, arguments.random_seed or 1, arguments.seconds or 60)
    earlier = kept.read(arguments.kept, path, made.name) if arguments.kept else None
    if earlier and (arguments.battery != earlier.battery or
                    arguments.random_seed not in (0, earlier.seed)):
        raise UsageError(f"{arguments.kept}: keeps the {earlier.battery} battery of '{made.name}' "
                         f"with --random-seed {earlier.seed}, and goes on with no other")
    report = audit(made, arguments.battery, seed=arguments.random_seed or None,
                   hang=arguments.hang, seconds=arguments.seconds or None,
                   only=Only(arguments.toy or None, arguments.k or None), earlier=earlier,
                   tell=lambda text: print(text, file=sys.stderr, flush=True))
    if arguments.kept:
        kept.write(arguments.kept, path, report)
    return report


def main(words: Optional[List[str]] = None) -> int:
    try:
        arguments = _parser().parse_args(words)
        if bool(arguments.files) == bool(arguments.log):
            raise UsageError(f"usage: {_USAGE}")
        if arguments.kept and (arguments.toy or arguments.k or arguments.log):
            raise UsageError("draftlab audit: --continue goes on with a whole battery, without "
                             "--toy, --k and --log")
        if arguments.hang <= 0 or min(
                arguments.random_seed, arguments.seconds, arguments.k, arguments.workers) < 0:
            raise UsageError("draftlab audit: --hang has to be above 0, --random-seed, --seconds, "
                             "--k and --workers at least 0")
        if arguments.log:
            from draftlab.audit.log import audit_log

            return audit_log(arguments.log, arguments.format)
        return _audit_files(arguments)
    except UsageError as error:
        print(error, file=sys.stderr)
        return error.status
    except ModuleNotFoundError as missing:
        print(lacks("draftlab audit", missing.name), file=sys.stderr)
        return Unavailable.status
