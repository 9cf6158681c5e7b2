"""The calls of one connection, answered by the parts that this process has."""

import contextlib
import os
import sys
import threading
import traceback
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from draftlab import instances, laws, memory, models, options, own_chance, parts, sharing
from draftlab import steps, tasks
from draftlab import wire as wires

Reply = Tuple[Dict[str, Any], Any]  # A header, and the arrays behind it or None.


class Dialogue:
    """A generator that waits: what it yielded so far and what it was told, to be told again."""

    def __init__(self, part: Any, method: str, call: Tuple[Any, Any], scope: Any) -> None:
        self.part, self.method, self.call, self.scope = part, method, call, scope
        self.generator: Any = None
        self.said: List[Tuple[Any, Any]] = []  # (effect, raw value)


class Faulty(Exception):
    """A part broke a rule that is checked here; the sentence says which."""


class Worker:
    """Answers the calls of one connection."""

    def __init__(
        self, wire: wires.Wire, twice: bool, lock: Any = None, shared_models: Any = None
    ) -> None:
        self.wire, self.twice = wire, twice
        self._lock = lock or threading.Lock()  # Several connections share one.
        # Several connections share generators of numbers: whose draw it was cannot be told there.
        self._watch = own_chance.Watch() if lock is None else None
        self._shared_models = shared_models  # Those that connections share.
        self.parts: Dict[int, Any] = {}
        self.lent = memory.Lent(wire)
        self.dialogues: Dict[int, Dialogue] = {}

    def run(self) -> None:
        while True:
            try:
                header, arrays = self.wire.receive()
            except wires.Closed:
                return
            with self._turn(header):
                reply = self.dispatch(header, arrays)
            if reply is not None:  # Nobody else waits while a client is slow to read.
                self.send(reply)

    def _turn(self, header: Dict[str, Any]) -> Any:
        """Calls of several connections take turns; a shared model sees to that by itself."""
        shared = isinstance(self.parts.get(header.get("id", 0)), sharing.Handle)
        alone = shared or header.get("c") == "memory"
        return contextlib.nullcontext() if alone else self._lock

    def close(self) -> None:
        """The connection has ended: shared models forget its sequences."""
        for part in self.parts.values():
            if isinstance(part, sharing.Handle):
                part.close()

    # One message, and its reply where it has one.

    def dispatch(self, header: Dict[str, Any], arrays: Any) -> Optional[Reply]:
        """What is to be answered; None where nothing is, or is no more."""
        what = header.get("c")
        if what == "memory":
            self.lent.take(header)
            return None
        if what not in ("call", "new", "begin", "del", "drop", "forget"):
            raise wires.MalformedMessage(f"the unknown message {what!r:.40}")
        try:
            if what == "call":
                return self.call(header, arrays)
            if what == "new":
                if not self.wire.is_local:
                    cls = parts.registered(header["kind"], header["name"])
                    options.check_distant(cls, header["options"])
                shared = self._shared_models is not None and header["kind"] == "model"
                make = self._shared_models.take if shared else instances.create
                self.parts[header["id"]] = make(header)
                return {"r": True}, None
            if what == "begin":
                instances.begin(self.parts[header["id"]], header)
            elif what == "del":
                part = self.parts.pop(header["id"], None)
                if isinstance(part, sharing.Handle):
                    part.close()
            elif what == "drop":
                self.dialogues.pop(header["call"], None)
            elif what == "forget":
                models.forget(self.parts[header["id"]], header["sequence"])
        except wires.Closed:
            raise
        except BaseException as error:  # A part may even call sys.exit.
            if what in ("call", "new"):
                return failure(error, what == "new")
            print(described(error), file=sys.stderr)
        return None

    def send(self, reply: Reply) -> None:
        try:
            self.wire.send(*reply)
        except (OSError, wires.Closed):
            raise
        except Exception as error:  # It holds what cannot be sent.
            self.wire.send(*failure(error, False))

    def call(self, header: Dict[str, Any], arrays: Any) -> Reply:
        method, part = header["m"], self.parts[header["id"]]
        if method == "resume":
            dialogue = self.dialogues.pop(header["call"])
            return self.advance(dialogue, header["call"], header["value"], True)
        if method == "load":
            if part.draftlab_kind == "model":
                return models.load(part, header["machine"])
            return {"r": tasks.load(part)}, None
        if method == "answer":
            return models.answer(part, header, arrays, self.lent)
        if method in tasks.CALLS:
            return {"r": tasks.CALLS[method](part, header, arrays)}, None
        vocabulary = header["step"][2] if "call" in header else 0
        scope = laws.Scope(self.ask, header.get("scope", 0), vocabulary, self.twice)
        laws.active.scope = scope
        before = instances.state_of(part) if self.twice and method not in CHANGES else ""
        unread = arrays.copy() if self.twice else arrays  # As no part has written to them yet.
        given = self.watched(part, method, lambda: self.run_method(method, part, header, arrays))
        if hasattr(given, "send") and hasattr(given, "throw"):
            if "call" not in header:
                given.close()
                raise Faulty(f"{method} yields something; only propose and judge may ask and draw")
            dialogue = Dialogue(part, method, (header, unread), scope)
            dialogue.generator = given
            return self.advance(dialogue, header["call"], None, False)
        reply = self.reply(method, given)
        if self.twice and method not in CHANGES:
            scope.repeat()
            again = self.run_method(method, part, header, unread)
            same(method, part, reply, self.reply(method, again), before)
        return reply

    @staticmethod
    def run_method(method: str, part: Any, header: Dict[str, Any], arrays: Any) -> Any:
        return instances.CALLS[method](part, header, arrays, laws.active.scope)

    def watched(self, part: Any, method: str, run: Callable[[], Any]) -> Any:
        """What `run` returns; says so where the part draws random numbers of its own in it."""
        if self._watch is None:
            return run()
        before = self._watch.before(part, method)
        try:
            return run()
        finally:
            self._watch.after(part, method, before)

    @staticmethod
    def reply(method: str, given: Any) -> Tuple[Any, Any]:
        if method == "alpha":
            column = np.asarray(given, dtype=np.float64)
            if column.ndim != 1:
                raise instances.wrong("alpha", given, "it returns one probability a draft")
            return {}, [("r", column)]
        return {"r": instances.SENDS[method](given)}, None

    def advance(self, dialogue: Dialogue, call: int, value: Any, told: bool) -> Reply:
        """Runs a generator to its next effect, or its end."""
        laws.active.scope = dialogue.scope
        if told:
            effect, _ = dialogue.said[-1]
            dialogue.said[-1] = (effect, value)
            value = effect.result(dialogue.scope, value)
        try:
            effect = self.watched(
                dialogue.part, dialogue.method, lambda: dialogue.generator.send(value)
            )
        except StopIteration as stop:
            reply = self.reply(dialogue.method, stop.value)
            if self.twice:
                self.replay(dialogue, reply)
            return reply
        if not isinstance(effect, (steps.Ask, steps.Draw)):
            raise instances.wrong(
                dialogue.method,
                effect,
                "it may yield what step.ask, step.draw, " "step.below and step.normal make",
            )
        dialogue.said.append((effect, None))
        self.dialogues[call] = dialogue
        return {"y": effect.effect}, None

    def replay(self, dialogue: Dialogue, reply: Tuple[Any, Any]) -> None:
        """The same call once more, told the same: it must say and return the same."""
        part, method = dialogue.part, dialogue.method
        before = instances.state_of(part)
        dialogue.scope.repeat()
        again = instances.CALLS[method](part, *dialogue.call, dialogue.scope)
        value = None
        for effect, told in dialogue.said:
            try:
                second = again.send(value)
            except StopIteration:
                raise Faulty(differs(method)) from None
            same(method, part, effect.effect, getattr(second, "effect", None), before)
            value = second.result(dialogue.scope, told)
        try:
            again.send(value)
        except StopIteration as stop:
            same(method, part, reply, self.reply(method, stop.value), before)
            return
        raise Faulty(differs(method))

    def ask(self, query: Dict[str, Any]) -> Tuple[Any, Any]:
        """A question to draftlab within a call; meanwhile it may call another part. Others have
        their turn until it answers."""
        reply: Optional[Reply] = (query, None)
        while True:
            self._lock.release()
            try:
                if reply is not None:
                    self.send(reply)
                header, arrays = self.wire.receive()
            finally:
                self._lock.acquire()
            if "a" in header:
                if "e" in header:
                    raise Faulty(header["e"])
                return header, arrays
            current = laws.active.scope
            reply = self.dispatch(header, arrays)
            laws.active.scope = current


# Methods that may change a part, or look at what it is.
CHANGES = ("observe", "state", "check")


def differs(method: str) -> str:
    return (
        f"{method} was called twice with the same step and gave two results; a part draws with "
        "step.draw, step.below and step.normal, never by itself"
    )


def same(method: str, part: Any, first: Any, second: Any, before: str) -> None:
    if instances.state_of(part) != before:
        raise Faulty(f"{method} changed what the part keeps; a part changes in observe only")
    if not equal(first, second):
        raise Faulty(differs(method))


def equal(first: Any, second: Any) -> bool:
    """Equal as they are sent; NaN equals NaN."""
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return len(first) == len(second) and all(map(equal, first, second))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(equal(first[k], second[k]) for k in first)
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return np.array_equal(first, second, equal_nan=True)
    return first == second or (first != first and second != second)


def failure(error: BaseException, of_config: bool) -> Reply:
    kind = "config" if of_config or isinstance(error, parts.ConfigError) else ""
    text = described(error).encode(errors="backslashreplace").decode()
    return {"e": {"text": text, "kind": kind}}, None


def described(error: BaseException) -> str:
    """The exception, the line of the user's file, and the traceback without this package."""
    if isinstance(error, (Faulty, wires.MalformedMessage)):
        return str(error)
    here = os.path.dirname(os.path.abspath(__file__)) + os.sep
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not os.path.abspath(frame.filename).startswith(here)
    ]
    words = "".join(traceback.format_exception_only(type(error), error)).strip()
    if not frames:
        return words
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}"
    lines = "".join(traceback.format_list(frames)).rstrip()
    return f"{words}{where}\n{lines}"
