"""Files with master keys."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from deploy.config.environment import SettingsError
from deploy.config.setting_values import KEY_PATTERN, read_text


def read_key(path: Path) -> bytes:
    """Read a master key. Raises SettingsError if the file has none."""
    text = read_text(path)
    if not KEY_PATTERN.fullmatch(text):
        raise SettingsError(f"{path} does not hold 64 hex digits")
    return bytes.fromhex(text)


def sync_folder(folder: Path) -> None:
    """Write a folder to disk: otherwise new file names can be lost in a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_key(path: Path) -> None:
    make_file(path, secrets.token_hex(32) + "\n")


def make_file(path: Path, text: str) -> None:
    """Create a file as a whole, and keep one that another process has created meanwhile."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        path.hardlink_to(draft)
    except FileExistsError:
        pass
    except OSError as error:
        raise SettingsError(f"{path} cannot be made: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)
