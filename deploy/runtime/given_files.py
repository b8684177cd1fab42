"""Reads the files of a command, also after other programs have changed their letters or line ends."""

from __future__ import annotations

import codecs
import sys
from pathlib import Path

from domain.errors import VerificationError

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
EXPORT = b'{"annals":'
"""Each export begins with this."""


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, - for standard input."""
    return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()


def read_note(path: Path) -> str:
    """Return the text of a checkpoint or a proof, with one newline at its end."""
    return f"{_decode(read_bytes(path)).strip()}\n"


def read_export(path: Path, kind: str = "game") -> bytes:
    """Return an export as the service wrote it; raise VerificationError for a file of another kind."""
    data = read_bytes(path)
    if data.startswith((*_UTF_16, codecs.BOM_UTF8)) or b"\r" in data or not data.endswith(b"\n"):
        text = "".join(f"{line}\n" for line in _decode(data).split("\n") if line.strip())
        data = text.encode() if text.endswith("}\n") else text.encode()[:-1]  # a line that is cut off stays so
    if not data.startswith(EXPORT):
        raise VerificationError("unreadable", 0, f"no export, or packed: download /v1/{kind}s/ID/export again")
    if (b'"tournament":' in data.partition(b"\n")[0]) != (kind == "tournament"):
        command = "verify" if kind == "tournament" else "tournament verify"
        raise VerificationError("header_mismatch", 0, f"not the export of a {kind}: try annals {command}")
    return data


def _decode(data: bytes) -> str:
    text = data.decode("utf-16" if data.startswith(_UTF_16) else "utf-8-sig", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")
