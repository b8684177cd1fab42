"""A browser for the tests: an installed one, or the one of a package of npm; and a service as people have it."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.test_npm_clients import tools
from tests.deploy.harness import SHIPPED, Doc, Service, serving

__all__ = ["tools"]

HERE = Path(__file__).parent
INSTALLED = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
PATIENCE = 580

FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{folder}/fonts</dir><cachedir>{folder}/cache</cachedir></fontconfig>
"""
"""Fonts of the package alone: pictures are alike everywhere."""


@pytest.fixture(scope="module")
def program(tools: Path) -> tuple[str, str]:
    """The path of a browser, and of its libraries: `ANNALS_TEST_BROWSER`, an installed one, or the package's."""
    named = os.environ.get("ANNALS_TEST_BROWSER") or next(filter(None, map(shutil.which, INSTALLED)), None)
    if named:
        return named, os.environ.get("LD_LIBRARY_PATH", "")
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        pytest.skip("there is no browser here")
    folder = tools.parents[1] / "browser"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        (folder / "fonts.conf").write_text(FONTS.format(folder=folder))
        found = run_node("inflate", tools.parent, str(tools.parent), TMPDIR=str(folder))
    for libraries in ("", str(folder / "al2023" / "lib")):  # the system's own, else those of the package
        env = {**os.environ, "LD_LIBRARY_PATH": libraries}
        if subprocess.run([found, "--version"], env=env, capture_output=True, check=False).returncode == 0:
            return found, libraries
    pytest.skip("the browser of the package does not start here")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service as people have it, with the games that are shipped."""
    with serving(tmp_path_factory.mktemp("browser") / "data", program=SHIPPED) as found:
        yield found


Scenario = Callable[..., Doc]
"""Runs a scenario with the members that it reads, and returns the document that it prints."""


@pytest.fixture
def scenario(program: tuple[str, str], tools: Path, service: Service) -> Scenario:
    """A scenario in a browser. It fails for any error of a page, refusal of its policy, or request to others."""

    def play(name: str, /, **given: Any) -> Doc:
        modules = tools.parent
        asked = {"url": service.url, "modules": str(modules), "browser": program[0], "libraries": program[1], **given}
        found: Doc = json.loads(run_node(name, modules, said=json.dumps(asked)))
        assert not found["faults"], "\n".join(found["faults"])
        return found

    return play


def run_node(name: str, modules: Path, *args: str, said: str = "", **more: str) -> str:
    """What a program of this folder prints."""
    fonts = modules.parent / "browser" / "fonts.conf"
    env = {**os.environ, **({"FONTCONFIG_FILE": str(fonts)} if fonts.exists() else {}), **more}
    command = ["node", str(HERE / f"{name}.mjs"), *args]
    done = subprocess.run(command, env=env, input=said, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout
