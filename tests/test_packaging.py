"""The wheel and the source archive hold all that the service reads, and an installed wheel needs no clone."""

from __future__ import annotations

import runpy
import select
import subprocess
import sys
import tarfile
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.harness import PATIENCE, environment
from tests.deploy.test_image import copied
from tests.test_locks import ROOT, pins

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WHEEL = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
SHIPPED = "api/_shipped/"
INFO = f"annals_game_service-{PROJECT['project']['version']}.dist-info/"

pytestmark = pytest.mark.xdist_group("packaging")


def build(folder: Path) -> tuple[Path, Path]:
    """The wheel and the source archive of the tree."""
    subprocess.run([sys.executable, "run", "build", "-d", str(folder)], cwd=ROOT, check=True, capture_output=True)
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, archive


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(tmp_path_factory.mktemp("dist"))


def wanted() -> Iterator[str]:
    """Every file of the packages, and of other folders what the service reads."""
    for package in WHEEL["packages"]:
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(ROOT).as_posix()
    for source, target in WHEEL["force-include"].items():
        assert target == SHIPPED + source
        found = [ROOT / source] if (ROOT / source).is_file() else (ROOT / source).iterdir()
        yield from (SHIPPED + path.relative_to(ROOT).as_posix() for path in found)


def test_wheel_holds_packages_with_their_data_and_nothing_else(built: tuple[Path, Path]) -> None:
    """Texts, templates, maps and scripts of pages are data; licences stand beside the metadata."""
    names = set(zipfile.ZipFile(built[0]).namelist())
    assert {name for name in names if not name.startswith(INFO)} == set(wanted())
    assert {INFO + name for name in ("licenses/LICENSE", "licenses/NOTICE", "entry_points.txt")} <= names


def test_the_source_archive_holds_what_the_wheel_is_made_of(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    sources = {name.removeprefix(SHIPPED) for name in wanted()}
    assert sources <= names
    assert {"pyproject.toml", "LICENSE", "NOTICE", "run", "requirements/serve.txt", "maps/board.py"} <= names


def test_wheel_and_image_hold_the_same() -> None:
    """A file that one of them lacks is missed only when it is asked for."""
    image = {source for *sources, _ in copied() for source in sources} - {"requirements/serve.txt"}
    files = {source if (ROOT / source).is_dir() else str(Path(source).parent) for source in WHEEL["force-include"]}
    assert image == {*WHEEL["packages"], *files, *PROJECT["project"]["license-files"]}
    assert set(WHEEL["packages"]) == set(PROJECT["tool"]["importlinter"]["root_packages"])


def test_the_tool_that_builds_is_the_locked_one() -> None:
    """Others build with the version that they read in pyproject.toml."""
    assert PROJECT["build-system"]["requires"] == [f"hatchling=={pins('build')['hatchling']}"]


def test_a_build_is_the_same_each_time(built: tuple[Path, Path], tmp_path: Path) -> None:
    assert [path.read_bytes() for path in build(tmp_path)] == [path.read_bytes() for path in built]


def test_installed_wheel_plays_proves_and_serves_without_clone(built: tuple[Path, Path], tmp_path: Path) -> None:
    """In an environment of its own with the locked libraries, from an empty folder."""
    script = runpy.run_path(str(ROOT / "run"))
    venv, here = tmp_path / "venv", tmp_path / "empty"
    script["build"](venv, ROOT / "requirements" / "serve.txt", tmp_path / "stamp")
    uv, python = script["find_uv"](), str(venv / "bin" / "python")
    pip = [str(uv), "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]
    subprocess.run([*pip, "--no-deps", str(built[0])], check=True, capture_output=True)
    here.mkdir()
    env = {name: value for name, value in environment().items() if name != "PYTHONPATH"}
    annals = str(venv / "bin" / "annals")

    def run(*args: str) -> str:
        return subprocess.run([annals, *args], cwd=here, env=env, check=True, capture_output=True, text=True).stdout

    assert run("--help").startswith("usage: annals")
    run("simulate", "seven_empires", "--games", "1", "--bot", "heuristic", "--export", "games")
    assert run("verify", "games/seven_empires-0-0.jsonl").startswith("verified: true")
    assert "La partie est terminée." in run("show", "games/seven_empires-0-0.jsonl", "--lang", "fr")
    args = [annals, "serve", "--port", "0", "--data", "data"]
    with subprocess.Popen(args, cwd=here, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert select.select([process.stdout], [], [], PATIENCE)[0]
            address = process.stdout.readline().split()[1]
            for path in ("/login", "/v1/rulesets/egc@1/rules", "/v1/rulesets/egc@1/geometry", "/v1/verifier.py"):
                with urllib.request.urlopen(address + path, timeout=PATIENCE) as answer:  # noqa: S310 - our own address
                    assert answer.read(), path
        finally:
            process.terminate()
            process.wait(PATIENCE)
    assert sorted(path.name for path in here.iterdir()) == ["data", "games"]
