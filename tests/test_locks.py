"""The locks in requirements/ are what pyproject.toml asks for. Compiling them needs a package registry."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("serve", "test", "chaos", "lint", "maps", "build")
PIN = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)
ENTRY = re.compile(r"[\w.-]+==[^\\]+\\(?:\n    --hash=sha256:[0-9a-f]{64}(?: \\)?)+")


def check_locks(root: Path) -> subprocess.CompletedProcess[str]:
    tools = [str(path) for path in ROOT.glob(".tools/*/bin")]  # a copy need not fetch its own
    env = {**os.environ, "PATH": os.pathsep.join([*tools, os.environ["PATH"]])}
    command = [sys.executable, "run", "lock", "--check"]
    return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)


def pins(name: str) -> dict[str, str]:
    return dict(PIN.findall((ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")))


PLATFORMS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
NEEDED = (("serve", "test"), ("serve",))
SERVED = "3.15"
"""A Python for which only the service is locked whole: PyYAML, which tests need, has no wheel for it yet."""


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("python", [*PYTHONS, SERVED])
def test_every_package_has_a_wheel(python: str, platform: str, tmp_path: Path) -> None:
    """For each supported Python and platform, of what is served and tested: nobody needs a compiler."""
    uv = next((str(path) for path in ROOT.glob(".tools/*/bin/uv")), shutil.which("uv") or "uv")
    wheels = ("--only-binary", ":all:", "--python-version", python, "--python-platform", platform)
    locks = [part for name in NEEDED[python == SERVED] for part in ("-r", f"requirements/{name}.txt")]
    command = [uv, "pip", "install", "--dry-run", "--quiet", *locks, *wheels, "--target", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_python_that_is_too_new_is_told() -> None:
    script = runpy.run_path(str(ROOT / "run"))
    newest = ".".join(map(str, script["NEWEST_PYTHON"]))
    assert newest == PYTHONS[-1]
    assert script["describe_newer_python"](script["NEWEST_PYTHON"]) == ""
    assert f"python{newest} run" in script["describe_newer_python"]((3, 99))


def test_the_locks_match_pyproject() -> None:
    result = check_locks(ROOT)
    assert result.returncode == 0, result.stderr


def test_a_changed_dependency_without_its_lock_is_told(tmp_path: Path) -> None:
    shutil.copy(ROOT / "run", tmp_path)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    changed = re.sub(r'^  "granian.*\n', "", text, flags=re.MULTILINE)
    assert changed != text
    (tmp_path / "pyproject.toml").write_text(changed, encoding="utf-8")
    result = check_locks(tmp_path)
    assert result.returncode == 1
    assert "Out of date with pyproject.toml: requirements/serve.txt" in result.stderr


@pytest.mark.parametrize(("small", "large"), [("serve", "test"), ("test", "lint"), ("serve", "maps")])
def test_a_lock_repeats_the_pins_of_the_one_before(small: str, large: str) -> None:
    assert pins(small).items() <= pins(large).items()


@pytest.mark.parametrize("name", LOCKS)
def test_every_pin_has_a_hash_and_no_address(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\w)", text.strip())
    assert all(ENTRY.fullmatch(entry) for entry in entries)


def test_what_the_service_is_made_of_can_be_listed() -> None:
    """As CycloneDX, with the hashes of the lock, and nothing that is another each time."""
    made = subprocess.run([sys.executable, "run", "sbom"], cwd=ROOT, capture_output=True, check=True)
    doc = json.loads(made.stdout)
    assert doc["bomFormat"] == "CycloneDX"
    assert "serialNumber" not in doc
    assert "timestamp" not in doc["metadata"]
    assert {part["name"]: part["version"] for part in doc["components"]} == pins("serve")
    assert all(part["externalReferences"][0]["hashes"] for part in doc["components"])
