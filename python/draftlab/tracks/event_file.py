"""TensorBoard's event files: records with checksums, each a protocol buffer of a few fields. What
is known of both formats stands here, since Debian packages no program that writes them."""

import struct
from typing import BinaryIO, List

import numpy as np


def _table() -> List[int]:
    """The bytewise table of CRC-32C (Castagnoli, reflected)."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _table()


def masked_crc(data: bytes) -> int:
    """CRC-32C, rotated and shifted so that checksums of checksums are no weak ones."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _block(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def scalar(tag: str, value: float) -> bytes:
    """A value of a summary: its tag, and its number as a float of 32 bits."""
    number = struct.pack("<f", float(np.float32(value)))
    return _block(1, _block(1, tag.encode()) + _varint(2 << 3 | 5) + number)


def text(tag: str, words: str) -> bytes:
    """A text of a summary: a tensor of one string, marked as meant for the page of texts."""
    tensor = _varint(1 << 3) + _varint(7) + _block(2, _block(2, _varint(1 << 3) + _varint(1)))
    tensor += _block(8, words.encode())
    return _block(1, _block(1, tag.encode()) + _block(8, tensor) +
                  _block(9, _block(1, _block(1, b"text"))))


class EventFile:
    """Writes events to an open file, the first of which says the format's version."""

    def __init__(self, file: BinaryIO, began: float) -> None:
        self._file, self._began = file, began
        self._record(self._when(0) + _block(3, b"brain.Event:2"))

    def add(self, summary: bytes, step: int, seconds: float) -> None:
        """An event at a step, so many seconds after the beginning."""
        self._record(self._when(seconds) + _varint(2 << 3) + _varint(step) + _block(5, summary))

    def _when(self, seconds: float) -> bytes:
        return _varint(1 << 3 | 1) + struct.pack("<d", self._began + seconds)

    def _record(self, event: bytes) -> None:
        length = struct.pack("<Q", len(event))
        self._file.write(length + struct.pack("<I", masked_crc(length)) + event +
                         struct.pack("<I", masked_crc(event)))
