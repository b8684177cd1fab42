"""The image is built by the recipe that a user builds with, and run as the compose file and the manifests say.

`./run chaos image`, as root on Linux with Debian's buildah, podman, crun and mmdebstrap; ten minutes. No registry
of images is needed: the base is made of Debian's packages (`--build-arg BASE=`). Containers run in a user namespace,
read-only, without capabilities. Limits of memory and processors are not tried: they need a machine with one kind of
control groups. Checkov, a linter for manifests, comes from PyPI.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests import postgres, valkey
from tests.chaos.cluster import until
from tests.chaos.network import NoNamespaces, report
from tests.deploy.harness import ROOT

PACKAGES = {"buildah": "buildah", "podman": "podman", "crun": "crun", "mmdebstrap": "mmdebstrap"}
BASE, IMAGE, NEXT = "localhost/base", "localhost/annals", "localhost/annals:next"
LARGEST = 180
"""MB of the compressed image, at most."""

CHECKOV = "checkov==3.3.30"
SKIPPED = {
    "CKV_K8S_9": "only the API takes requests, so only it has a readiness probe",
    "CKV_K8S_15": "an image named by its digest is the same wherever it was pulled",
    "CKV_K8S_35": "secrets may be files too, by `_FILE`",
    "CKV_K8S_43": "the digest is that of the user's own registry",
}
"""Checks that are not made, and why."""

PORTS = range(8760, 8800)
"""Of this machine."""

KEY = "5a" * 32

IN_CGROUPS = 'mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null; exec "$@"'
"""crun takes no machine with both kinds of control groups, so it sees one kind."""

USERS = ["--uidmap", "0:200000:65536", "--gidmap", "0:200000:65536"]
"""Root of the container is nobody here."""

LISTING = "import importlib.metadata as m; print(*sorted(f'{d.name}=={d.version}' for d in m.distributions()))"

COMPOSE: Mapping[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))
MANIFESTS = [
    doc for doc in yaml.safe_load_all((ROOT / "deploy" / "kubernetes" / "annals.yaml").read_text("utf-8")) if doc
]


@dataclass
class Images:
    """Buildah's and podman's images and containers in one folder, and what does not hold."""

    folder: Path
    faults: list[str] = field(default_factory=list)

    def command(self, program: str, *args: str) -> list[str]:
        """The command line of buildah or podman, with its own storage."""
        options = ["--root", str(self.folder / "images"), "--runroot", str(self.folder / "run")]
        managed = ["--cgroup-manager", "cgroupfs"] if program == "podman" else []
        return ["unshare", "--mount", "sh", "-c", IN_CGROUPS, "sh", program, *options, *managed, *args]

    def call(self, program: str, *args: str) -> str:
        """What it prints; its complaints if it fails."""
        done = subprocess.run(self.command(program, *args), cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{program} {args[0]}: {done.stdout[-2000:]}{done.stderr[-4000:]}")
        return done.stdout

    # --- building

    def build(self) -> None:
        """The base from Debian's packages, then the image by the recipe."""
        tar = self.folder / "base.tar"
        if not tar.exists():
            include = "--include=python3,python3-venv,ca-certificates"
            release = dict(
                line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line
            )
            suite = release["VERSION_CODENAME"].strip('"')
            command = ["mmdebstrap", "--quiet", "--variant=apt", include, suite, str(tar)]
            subprocess.run(command, check=True, stdout=sys.stderr)
        container = self.call("buildah", "from", "scratch").strip()
        self.call("buildah", "add", container, str(tar), "/")
        self.call("buildah", "commit", "--rm", container, BASE)
        # Certificates of this machine, in case that its package registry is reached by a proxy of its own.
        options = ["--format", "docker", "--isolation", "chroot", "--network", "host"]
        options += ["--volume", "/etc/ssl/certs:/etc/ssl/certs:ro", "--build-arg", f"BASE={BASE}"]
        self.call("buildah", "build", *options, "--file", "deploy/Dockerfile", "--tag", IMAGE, ".")
        container = self.call("buildah", "from", IMAGE).strip()
        self.call("buildah", "config", "--label", "next=yes", container)
        self.call("buildah", "commit", "--rm", container, NEXT)

    def size(self) -> int:
        """Bytes of the image, compressed as a registry holds it."""
        archive = self.folder / "annals"
        shutil.rmtree(archive, ignore_errors=True)
        self.call("buildah", "push", IMAGE, f"oci:{archive}")
        found = sum(file.stat().st_size for file in archive.glob("blobs/sha256/*"))
        shutil.rmtree(archive)
        return found

    def packages(self) -> set[str]:
        """The libraries in it, as `name==version`."""
        options = [*self._confined([]), "--entrypoint", "/opt/venv/bin/python", IMAGE, "-P", "-c", LISTING]
        return {_normal(word) for word in self.call("podman", "run", "--rm", *options).split()}

    # --- running

    def _confined(self, volumes: Sequence[str]) -> list[str]:
        """As the compose file confines each process of the service."""
        api = COMPOSE["services"]["api"]
        assert api["read_only"]
        assert api["init"]
        kept = any("/var/lib/annals" in volume for volume in volumes)
        options = ["--read-only", "--init", "--network", "host", "--cgroups", "disabled", *USERS]
        options += ["--ulimit", "nofile=4096:4096", "--ulimit", f"nproc={4096}:{4096}"]
        for name in api["cap_drop"]:
            options += ["--cap-drop", name.lower()]
        for option in api["security_opt"]:
            options += ["--security-opt", option.partition(":")[0]]
        for place in () if kept else (place.partition(":")[0] for place in api["tmpfs"]):
            options += ["--tmpfs", place]
        for place in api["volumes"]:
            options += ["--tmpfs", place]
        for volume in volumes:
            options += ["--volume", volume]
        return options

    @contextmanager
    def running(
        self, *args: str, image: str = IMAGE, volumes: Sequence[str] = (), env: Mapping[str, str] | None = None
    ) -> Iterator[Container]:
        """A container; killed at the end unless it has ended."""
        name = f"annals-{os.getpid()}-{time.monotonic_ns()}"
        options = [*self._confined(volumes), "--name", name]
        for key, value in (env or {}).items():
            options += ["--env", f"{key}={value}"]
        log = self.folder / f"{name}.log"
        with log.open("w") as output:
            process = subprocess.Popen(
                self.command("podman", "run", "--rm", *options, image, *args),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        container = Container(self, name, process, log)
        try:
            yield container
        except Exception:
            print(f"--- {' '.join(args)}", *log.read_text().splitlines()[-40:], sep="\n", file=sys.stderr)
            raise
        finally:
            if process.poll() is None:
                with suppress(RuntimeError):
                    self.call("podman", "kill", name)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(20)
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)


@dataclass
class Container:
    """One process of the service in its container."""

    images: Images
    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def exec(self, *command: str) -> int:
        """The status of a command in the container, as probes run it."""
        done = subprocess.run(
            self.images.command("podman", "exec", self.name, *command), capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(done.stdout, done.stderr, file=sys.stderr)
        return done.returncode

    def end(self, grace: float) -> float:
        """Tell it to end, as engines do; the seconds that it took. It may take `grace`."""
        begun = time.monotonic()
        self.images.call("podman", "kill", "--signal", "TERM", self.name)
        try:
            status = self.process.wait(grace + 5)
        except subprocess.TimeoutExpired:
            status = -1
        taken = time.monotonic() - begun
        if status or taken > grace:
            said = self.log.read_text()[-500:]
            self.images.faults.append(f"{self.log.name}: ended with {status} after {taken:.1f} s: {said}")
        return taken


def _normal(package: str) -> str:
    name, _, version = package.partition("==")
    return f"{name.lower().replace('_', '-').replace('.', '-')}=={version}"


def listed() -> set[str]:
    """The components that `./run sbom` prints, as `name==version`."""
    done = subprocess.run([sys.executable, "run", "sbom"], cwd=ROOT, capture_output=True, text=True, check=True)
    return {_normal(f"{each['name']}=={each['version']}") for each in json.loads(done.stdout)["components"]}


def is_up(url: str, path: str = "/readyz") -> bool:
    """Whether a probe says so."""
    with suppress(httpx.HTTPError):
        return httpx.get(url + path, timeout=5).status_code == 200
    return False


@contextmanager
def demo(url: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A whole game at a service, by people's own program."""
    command = [sys.executable, "-P", "-m", "deploy", "demo", "--url", url, "--ruleset", "struggle_of_empires"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def play_game(images: Images, url: str, folder: Path) -> Path | None:
    """The export of a game that was played there, proved."""
    folder.mkdir()
    with demo(url, folder) as process:
        said, _ = process.communicate(timeout=300)
    exports = [*folder.glob("**/*.jsonl")]
    if process.returncode or not exports:
        images.faults.append(f"no game at {url}: {said[-500:]}")
        return None
    verify = [sys.executable, "-P", "-m", "deploy", "verify", str(exports[0])]
    proved = subprocess.run(
        verify, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False
    )
    if proved.returncode:
        images.faults.append(f"{exports[0]} is not proved: {proved.stdout!r}")
    return exports[0]


# --- what is tried


def contents(images: Images) -> None:
    """Its size, and that the SBOM lists what it holds."""
    size = images.size() / 1e6
    print(f"compressed: {size:.0f} MB", flush=True)
    if size > LARGEST:
        images.faults.append(f"the image has {size:.0f} MB, at most {LARGEST} were wanted")
    inside, told = images.packages(), listed()
    print(f"libraries: {len(inside)}, components of the SBOM: {len(told)}", flush=True)
    if inside - told:
        images.faults.append(f"not in the SBOM: {sorted(inside - told)}")


def manifests(images: Images) -> None:
    """What a linter made for manifests says of them."""
    place = images.folder / "checkov"
    if not place.exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        install = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", CHECKOV]
        subprocess.run(install, check=True, stdout=sys.stderr)
    command = [
        str(place / "bin" / "checkov"),
        "--directory",
        str(ROOT / "deploy" / "kubernetes"),
        "--quiet",
        "--compact",
    ]
    command += ["--framework", "kubernetes", "--skip-download", "--skip-check", ",".join(SKIPPED), "--output", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    summary = json.loads(done.stdout)["summary"]
    print(f"checkov: {summary['passed']} checks passed, {summary['failed']} failed", flush=True)
    if done.returncode or summary["failed"] or not summary["passed"]:
        images.faults.append(f"checkov: {done.stdout[-3000:]}")


def alone(images: Images) -> None:
    """One container with a volume, as the recipe says: played, ended under load, replaced by the next image."""
    volume, games = images.folder / "volume", images.folder / "games"
    volume.mkdir()
    games.mkdir()
    url = f"http://127.0.0.1:{PORTS[0]}"
    env = {"ANNALS_PORT": str(PORTS[0]), "ANNALS_PLAIN_HTTP": "yes", "ANNALS_HOST": "127.0.0.1"}
    mounted = [f"{volume}:/var/lib/annals:U"]
    check = COMPOSE["services"]["api"]["healthcheck"]["test"][1:]
    with images.running("serve", volumes=mounted, env=env) as container:
        until(lambda: is_up(url), why="the first container")
        if not is_up(url, "/healthz") or container.exec(*check):
            images.faults.append("a probe does not answer")
        export = play_game(images, url, games / "first")
        (games / "second").mkdir()
        with demo(url, games / "second"):
            time.sleep(4)
            taken = container.end(10)
        print(f"serve under load ended after {taken:.1f} s", flush=True)
    with images.running("serve", image=NEXT, volumes=mounted, env=env) as container:
        until(lambda: is_up(url), why="the next image")
        if export is not None:
            game = json.loads(export.read_text().splitlines()[0])["game"]
            again = httpx.get(f"{url}/v1/games/{game}/export", timeout=30)
            if again.text != export.read_text():
                images.faults.append("after the replacement a game has another export")
        taken = container.end(10)
        print(f"the next image has the games of the first; it ended after {taken:.1f} s", flush=True)


def pods(images: Images) -> None:
    """Each process of the manifests in a container of its own, on PostgreSQL and Valkey: probes, a game, their ends."""
    config = next(doc["data"] for doc in MANIFESTS if doc["kind"] == "ConfigMap")
    with ExitStack() as stack:
        server = stack.enter_context(postgres.new_server(more=f"-h 127.0.0.1 -p {PORTS[1]}"))
        with (server.data / "pg_hba.conf").open("a") as file:
            file.write("host all all 127.0.0.1/32 trust\n")
        server.call("pg_ctl", "reload")
        database = stack.enter_context(postgres.new_database(f"{server.dsn} port={PORTS[1]}"))
        name = database.removeprefix("postgresql:///").partition("?")[0]
        stack.enter_context(valkey.new_server("--port", str(PORTS[2]), "--bind", "127.0.0.1"))
        env = {k: str(v) for k, v in config.items() if not k.startswith("ANNALS_STORES")}  # they have no TLS here
        env |= {"ANNALS_KEY": KEY, "ANNALS_PORT": str(PORTS[3]), "ANNALS_HOST": "127.0.0.1", "ANNALS_RATE": "0"}
        env["ANNALS_DATABASE_URL"] = f"postgresql://postgres@127.0.0.1:{PORTS[1]}/{name}"
        env["ANNALS_REDIS_URL"] = f"redis://127.0.0.1:{PORTS[2]}/0"
        with images.running("migrate", env=env) as container:
            if container.process.wait(120):
                images.faults.append(f"migrate: {container.log.read_text()[-500:]}")
        url = f"http://127.0.0.1:{PORTS[3]}"
        found = []
        for doc in (doc for doc in MANIFESTS if doc["kind"] == "Deployment"):
            pod = doc["spec"]["template"]["spec"]
            (spec,) = pod["containers"]
            container = stack.enter_context(images.running(*spec["args"], env=env))
            found.append((spec, pod.get("terminationGracePeriodSeconds", 30), container))
        until(lambda: is_up(url), why="the API")
        play_game(images, url, images.folder / "games" / "pods")
        for spec, _, container in found:
            probe = spec["livenessProbe"]
            well = (
                is_up(url, probe["httpGet"]["path"])
                if "httpGet" in probe
                else not container.exec(*probe["exec"]["command"])
            )
            if not well:
                images.faults.append(f"{spec['name']}: its probe fails")
        (images.folder / "games" / "load").mkdir()
        with demo(url, images.folder / "games" / "load"):
            time.sleep(4)
            for spec, grace, container in found:
                print(f"{spec['name']} ended after {container.end(grace):.1f} s, of {grace} s", flush=True)


def play(folder: Path | None) -> list[str]:
    """All of it, printed; what does not hold."""
    missing = [package for program, package in PACKAGES.items() if not shutil.which(program)]
    if os.geteuid() or missing:
        raise NoNamespaces(f"this needs root, and Debian's {', '.join(missing or PACKAGES.values())}")
    with ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="annals-image-")))
        place.mkdir(exist_ok=True)
        images = Images(place)
        begun = time.monotonic()
        images.build()
        print(f"built in {time.monotonic() - begun:.0f} s", flush=True)
        for trial in (contents, manifests, alone, pods):
            trial(images)
        images.call("podman", "rmi", "--all", "--force")
    return images.faults


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was seen; status 1 if anything does not hold, 2 if this machine cannot."""
    about = __doc__.splitlines()[0] if __doc__ else ""
    parser = argparse.ArgumentParser(prog="./run chaos image", description=about)
    parser.add_argument("--folder", type=Path, help="keep the base there for the next run")
    args = parser.parse_args(argv)
    return report(lambda: play(args.folder))


if __name__ == "__main__":
    raise SystemExit(main())
