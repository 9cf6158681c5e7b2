"""The wire (docs/WIRE.md): length, MessagePack header, raw arrays.

A message is `u32 bytes of the header, u64 bytes of the arrays, header, arrays`, little-endian. The
header's `arrays` lists [name, numpy type, shape] of each array, which begin at multiples of 8. An
array that stands within a header is sent with these, and its name stands in its place.
"""

import array
import os
import socket
import struct
import time
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import msgpack
import numpy as np

VERSION = 2
MOST_HEADER, MOST_PAYLOAD = 16 << 20, 1 << 30  # This side accepts no more bytes.
_PREFIX = struct.Struct("<IQ")
_TYPES = {"<i4": 4, "<i8": 8, "<f4": 4, "<f8": 8, "|u1": 1, "|b1": 1}
_BUFFER = 64 << 10
_AWAKE = 30e-6  # Draftlab answers an effect in fewer seconds, and being woken takes as long.
_LATE = 0.5e-3  # On a busy core, whoever lets others in comes back as many seconds later.
_ASLEEP = 0.1  # For so many seconds it then waits asleep, since who sleeps is woken before others.


class Closed(Exception):
    """The other side has closed the connection."""


class MalformedMessage(Exception):
    """A message that breaks the rules of the wire."""


class Arrays(Mapping[str, np.ndarray]):
    """The arrays of a message, made when they are asked for: a part reads few of them. They are the
    reader's own, to be written to as well."""

    def __init__(self, listed: Sequence[Any], payload: Any) -> None:
        self._listed, self._payload = listed, payload
        self._made: Dict[str, np.ndarray] = {}
        self._places: Dict[str, Tuple[str, Sequence[int], int, int]] = {}

    def copy(self) -> "Arrays":
        """The same arrays as they were sent, whatever is written to these."""
        return Arrays(self._listed, bytearray(self._payload))

    def _find(self) -> None:
        """Notes where each array is."""
        at = 0
        for name, kind, shape in self._listed:
            count = 1
            for size in shape:
                count *= size
            at = (at + 7) // 8 * 8
            if kind not in _TYPES or count < 0 or at + count * _TYPES[kind] > len(self._payload):
                raise MalformedMessage(f"array '{name}' of type {kind} and shape {shape}")
            self._places[name] = (kind, shape, count, at)
            at += count * _TYPES[kind]

    def __getitem__(self, name: str) -> np.ndarray:
        made = self._made.get(name)
        if made is None:
            if not self._places:
                self._find()
            kind, shape, count, at = self._places[name]
            made = np.frombuffer(self._payload, kind, count, at)
            if len(shape) != 1:
                made = made.reshape(shape)
            self._made[name] = made
        return made

    def __iter__(self) -> Iterator[str]:
        return (each[0] for each in self._listed)

    def __len__(self) -> int:
        return len(self._listed)


NO_ARRAYS = Arrays((), b"")
Message = Tuple[Dict[str, Any], Arrays]


class Wire:
    """One end of a connection: whole messages, one after another."""

    def __init__(self, connection: socket.socket, alone: bool = False) -> None:
        """`alone`: nobody else in this process has work, so that a while may be waited awake."""
        self.connection, self._alone = connection, alone
        self._asleep_until = 0.0
        self.most_header, self.most_payload = MOST_HEADER, MOST_PAYLOAD
        self.their_header, self.their_payload = MOST_HEADER, MOST_PAYLOAD
        self._buffer = bytearray(_BUFFER)
        self._view = memoryview(self._buffer)
        self._begin = self._end = 0
        self._lifted: List[Tuple[str, np.ndarray]] = []  # Arrays of the header that is being sent.
        self._names = 0  # No two arrays of a connection that stand within headers have one name.
        self._packer = msgpack.Packer(default=self._lift, autoreset=False)

    def limit(self, header: int, payload: int) -> None:
        """Sets what this side accepts from now on, in bytes."""
        self.most_header, self.most_payload = header, payload

    def heed(self, limits: Any) -> None:
        """Sets what the other side announced that it accepts, in bytes."""
        try:
            self.their_header, self.their_payload = int(limits["header"]), int(limits["payload"])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise MalformedMessage(f"limits {limits!r:.80}, which are none") from None

    @property
    def is_local(self) -> bool:
        """Whether the other end is a process on this machine: only a Unix socket carries
        descriptors."""
        return self.connection.family == socket.AF_UNIX

    def _check(self, header: int, payload: int) -> None:
        if header > self.their_header or payload > self.their_payload:
            raise MalformedMessage(
                f"a message of {header + payload} bytes, more than draftlab accepts"
            )

    def _receive(self, into: memoryview) -> int:
        now = time.perf_counter()
        if self._alone and now >= self._asleep_until:
            until = now + _AWAKE
            while now < until:
                try:
                    return self.connection.recv_into(into, 0, socket.MSG_DONTWAIT)
                except BlockingIOError:
                    os.sched_yield()
                now = time.perf_counter()
            if now > until + _LATE:
                self._asleep_until = now + _ASLEEP
        return self.connection.recv_into(into)

    def _fill(self, into: memoryview) -> None:
        while len(into):
            if self._begin < self._end:
                count = min(len(into), self._end - self._begin)
                into[:count] = self._view[self._begin : self._begin + count]
                self._begin += count
                into = into[count:]
                continue
            if len(into) >= _BUFFER:  # A large array is not copied twice.
                count = self._receive(into)
                into = into[count:]
            else:
                count = self._receive(self._view)
                self._begin, self._end = 0, count
            if count == 0:
                raise Closed()

    def _bytes(self, count: int) -> memoryview:
        """The next bytes; those of the buffer are valid until the next message."""
        if self._end - self._begin >= count:
            self._begin += count
            return self._view[self._begin - count : self._begin]
        whole = memoryview(bytearray(count))
        self._fill(whole)
        return whole

    def receive(self) -> Message:
        """The header and its arrays, which may be kept."""
        header_size, payload_size = _PREFIX.unpack(self._bytes(_PREFIX.size))
        if header_size > self.most_header or payload_size > self.most_payload:
            raise MalformedMessage(
                f"a message of {header_size + payload_size} bytes, more than is accepted"
            )
        try:
            header = msgpack.unpackb(self._bytes(header_size), strict_map_key=False)
        except Exception as error:
            raise MalformedMessage(f"a header that is no MessagePack: {error}") from None
        if not isinstance(header, dict):
            raise MalformedMessage("a header that is no map")
        listed = header.get("arrays")
        if not payload_size and not listed:
            return header, NO_ARRAYS
        payload = self._bytes(payload_size)
        if payload.obj is self._buffer:  # The next message will stand there.
            payload = memoryview(bytearray(payload))
        return header, Arrays(listed or (), payload)

    def _lift(self, value: Any) -> str:
        """The name of an array, in place of the array within a header."""
        if not isinstance(value, np.ndarray):
            raise TypeError(f"a {type(value).__name__} cannot be sent")
        self._names += 1
        self._lifted.append((f"array {self._names}", value))
        return self._lifted[-1][0]

    def _packed(self, header: Dict[str, Any]) -> bytes:
        """The pairs of a map, without the byte in front that counts them."""
        try:
            for key, value in header.items():
                self._packer.pack(key)
                self._packer.pack(value)
            return self._packer.bytes()
        finally:
            self._packer.reset()

    def receive_descriptor(self) -> int:
        """The descriptor that the other side sends beside one byte, and that the caller closes.
        One that comes where none is awaited never arrives: the system closes it."""
        if self._begin < self._end:
            raise MalformedMessage("more than was asked for")
        size = array.array("i", [0]).itemsize
        byte, passed, flags, _ = self.connection.recvmsg(1, socket.CMSG_SPACE(size))
        if not byte:
            raise Closed()
        descriptors = array.array("i")
        for level, kind, data in passed:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                descriptors.frombytes(data[: len(data) - len(data) % size])
        if len(descriptors) != 1 or flags & socket.MSG_CTRUNC:
            for each in descriptors:
                os.close(each)
            raise MalformedMessage(f"{len(descriptors)} descriptors where one stands")
        return descriptors[0]

    def send(
        self, header: Dict[str, Any], arrays: Optional[Sequence[Tuple[str, np.ndarray]]] = None
    ) -> None:
        """Sends one message; arrays are (name, array) pairs of the wire's types, and more of them
        may stand within the header."""
        self._lifted = []
        packed = self._packed(header)
        pieces, listed, at = [], [], 0
        for name, each in [*(arrays or ()), *self._lifted]:
            each = np.ascontiguousarray(each)
            if each.dtype.str not in _TYPES:
                raise MalformedMessage(f"array '{name}' of type {each.dtype}, which the wire lacks")
            pad = -at % 8
            if pad:
                pieces.append(b"\0" * pad)
            pieces.append(memoryview(each.data).cast("B") if each.size else b"")
            listed.append([name, each.dtype.str, list(each.shape)])
            at += pad + each.nbytes
        if listed:
            packed += self._packed({"arrays": listed})
        packed = _map(len(header) + bool(listed)) + packed
        self._check(len(packed), at)
        self.connection.sendall(_PREFIX.pack(len(packed), at) + packed)
        for piece in pieces:
            self.connection.sendall(piece)


def _map(count: int) -> bytes:
    """How MessagePack begins a map of so many pairs."""
    return bytes([0x80 | count]) if count < 16 else b"\xde" + struct.pack(">H", count)
