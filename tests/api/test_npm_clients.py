"""A client in TypeScript is generated from the document and type-checked; two linters have nothing to say.

The tools are locked in tests/npm and installed, by the lock alone, where no one else looks.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.api.conftest import ROOT
from tests.api.played import published
from tests.api.test_clients import SMALL

NPM = ROOT / "tests" / "npm"
FILES = ("package.json", "package-lock.json", ".npmrc")

pytestmark = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not there")


def run(*command: str, cwd: Path) -> str:
    """What a program says, with whatever it complains of; it must end well."""
    plain = {
        **os.environ,
        "NO_COLOR": "1",
        "CI": "1",
        "REDOCLY_TELEMETRY": "off",
        "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
    }
    done = subprocess.run(command, cwd=cwd, env=plain, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def tools() -> Path:
    """The programs, installed once for each state of the lock; those who come meanwhile wait."""
    state = hashlib.sha256(b"".join((NPM / name).read_bytes() for name in FILES)).hexdigest()[:16]
    folder = ROOT / ".tools" / f"npm-{state}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not (folder / "stamp").exists():
            for name in FILES:
                shutil.copy(NPM / name, folder)
            run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)
            (folder / "stamp").touch()
    return folder / "node_modules" / ".bin"


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(tmp_path_factory)


@pytest.mark.parametrize(
    ("folder", "group"), [(NPM, "devDependencies"), (ROOT / "tests" / "perf" / "npm", "dependencies")]
)
def test_a_lock_names_every_version_and_no_registry(folder: Path, group: str) -> None:
    wanted = json.loads((folder / "package.json").read_text("utf-8"))[group]
    assert all(version.replace(".", "").isdigit() for version in wanted.values())
    locked = json.loads((folder / "package-lock.json").read_text("utf-8"))["packages"]
    assert locked.pop("")[group] == wanted
    assert all("integrity" in package and "resolved" not in package for package in locked.values())


def test_a_client_in_typescript_is_made_and_its_types_hold(tools: Path, document: Path, tmp_path: Path) -> None:
    said = run(str(tools / "openapi-typescript"), str(document), "--output", "annals.d.ts", cwd=tmp_path)
    assert not any(sign in said.lower() for sign in ("\u26a0", "warn", "error", "invalid")), said
    shutil.copy(NPM / "client.ts", tmp_path)
    run(str(tools / "tsc"), "--noEmit", "--strict", "client.ts", cwd=tmp_path)


def test_openapi_typescript_requires_what_has_a_default(tools: Path, tmp_path: Path) -> None:
    """It reads a discriminator, and no pattern. So our document has no defaults."""
    run(str(tools / "openapi-typescript"), str(SMALL), "--output", str(tmp_path / "pets.d.ts"), cwd=tmp_path)
    said = (tmp_path / "pets.d.ts").read_text("utf-8")
    assert "legs: number;" in said
    assert "name?: string;" in said
    assert 'type: "dog";' in said


def test_redocly_has_nothing_to_say(tools: Path, document: Path) -> None:
    said = run(
        str(tools / "redocly"), "lint", str(document), "--config", str(NPM / "redocly.yaml"), cwd=document.parent
    )
    assert "Your API description is valid" in said
    assert "You have" not in said, said  # warnings


def test_spectral_has_nothing_to_say(tools: Path, document: Path) -> None:
    options = ["--ruleset", str(NPM / "spectral.yaml"), "--fail-severity", "hint"]
    said = run(str(tools / "spectral"), "lint", *options, str(document), cwd=document.parent)
    assert "No results" in said, said


def test_javascript_reads_every_pattern(document: Path) -> None:
    assert int(run("node", str(NPM / "patterns.mjs"), str(document), cwd=document.parent)) > 20
