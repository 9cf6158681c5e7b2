"""Loading a file of parts, and what is said of it when a connection begins."""

import hashlib
import importlib.machinery
import importlib.util
import os
import platform
import sys
from types import CodeType
from typing import Any, Dict, Optional

from draftlab import parts
from draftlab import wire as wires


class Source(importlib.machinery.SourceFileLoader):
    """Compiles the text that stands in the file now, and keeps nothing beside it. Python's own
    loader takes the compiled copy of another text of the same second and length."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def load(file: str) -> Any:
    """Imports the file as a module of its own name; its folder is on the path, as of a script."""
    folder = os.path.dirname(os.path.abspath(file))
    if folder not in sys.path:
        sys.path.insert(1, folder)
    name = os.path.splitext(os.path.basename(file))[0].replace("-", "_")
    spec = importlib.util.spec_from_file_location(name, file, loader=Source(name, file))
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def runtime(file: Optional[str]) -> str:
    """Returns the interpreter, the packages that are loaded, the file and its digest."""
    text = f"python {platform.python_version()}"
    for name in ("numpy", "msgpack", "torch", "transformers"):
        version = (
            getattr(sys.modules.get(name), "__version__", None) if name in sys.modules else None
        )
        if name == "msgpack":
            version = ".".join(map(str, sys.modules[name].version))
        if version:
            text += f", {name} {version}"
    if file is None:
        return text
    with open(file, "rb") as opened:
        digest = hashlib.sha256(opened.read()).hexdigest()
    return f"{text}; {os.path.basename(file)} sha256 {digest[:16]}"


def shares_memory(wire: wires.Wire, hello: Dict[str, Any]) -> bool:
    """Says whether this process will write into memory that the other one lends."""
    return wire.is_local and hello.get("shares_memory") is True


def greet(wire: wires.Wire, hello: Dict[str, Any], file: Optional[str]) -> None:
    if "limits" in hello:
        wire.heed(hello["limits"])
    wire.send(
        {
            "draftlab": "wire",
            "version": wires.VERSION,
            "limits": {"header": wires.MOST_HEADER, "payload": wires.MOST_PAYLOAD},
            "shares_memory": shares_memory(wire, hello),
            "runtime": runtime(file),
            "parts": parts.all_announced(),
        }
    )
