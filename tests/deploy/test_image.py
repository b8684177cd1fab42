"""What is deployed elsewhere: the image holds all that the service needs, and the files name only what there is."""

from __future__ import annotations

import re
import select
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.deploy.harness import PATIENCE, ROOT, environment
from workers.notifications.smtp_settings import parse_smtp_url

DEPLOY = ROOT / "deploy"
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
METRIC = re.compile(r"\bannals_[a-z_]+")


def copied() -> list[tuple[str, ...]]:
    """Sources and target of each COPY out of the repository."""
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    return [tuple(line.split()[1:]) for line in lines if line.startswith("COPY ") and "--from" not in line]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the image's working directory, and nothing else of the project."""
    root = tmp_path_factory.mktemp("image")
    for *sources, target in copied():
        for source in sources if not target.startswith("/") else ():
            there = root / (f"{target}/{source}" if len(sources) > 1 else target)
            there.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, there, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, there)
    return root


@pytest.fixture(scope="module")
def api(image: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The service as the image starts it."""
    data = tmp_path_factory.mktemp("data")
    args = [sys.executable, "-P", "-m", "deploy", "serve", "--port", "0", "--data", str(data)]
    env = environment(PYTHONPATH=str(image))
    with subprocess.Popen(args, cwd=image, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert select.select([process.stdout], [], [], PATIENCE)[0]
            with httpx.Client(base_url=process.stdout.readline().split()[1], timeout=10) as client:
                yield client
        finally:
            process.terminate()
            process.wait(PATIENCE)


@pytest.mark.xdist_group("image")
def test_the_image_serves_every_game_with_its_rules(api: httpx.Client) -> None:
    rulesets = api.get("/v1/rulesets").json()["items"]
    assert rulesets
    for doc in rulesets:
        assert api.get(f"/v1/rulesets/{doc['name']}/rules").status_code == 200
    assert api.get("/v1/docs").status_code == 200


@pytest.mark.xdist_group("image")
def test_alarms_ask_for_figures_that_there_are(api: httpx.Client) -> None:
    text = api.get("/metrics").text
    given = {re.sub("_total$", "", name) for name in re.findall(r"^# HELP (\S+)", text, re.MULTILINE)}
    (group,) = yaml.safe_load((DEPLOY / "alarms.yaml").read_text())["groups"]
    for rule in group["rules"]:
        for name in METRIC.findall(rule["expr"]):
            assert re.sub("_(total|bucket)$", "", name) in given


def test_every_alarm_is_in_the_runbook() -> None:
    (group,) = yaml.safe_load((DEPLOY / "alarms.yaml").read_text())["groups"]
    assert re.findall(r"^\| `(Annals\w+)` \|", OPERATIONS, re.MULTILINE) == [rule["alert"] for rule in group["rules"]]


def test_the_build_is_sent_what_it_copies_and_nothing_else() -> None:
    sent = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert sorted(sent) == sorted(source for *sources, _ in copied() for source in sources)


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "kubernetes/annals.yaml", "kubernetes/migrate.yaml"])
def test_only_settings_that_there_are_are_set(name: str) -> None:
    """ANNALS_PORT of the compose file is the host's own."""
    known = set(re.findall(r"^\| `(ANNALS_\w+)` \|", OPERATIONS, re.MULTILINE))
    assert set(re.findall(r"\bANNALS_[A-Z_]+", (DEPLOY / name).read_text())) <= known


def test_every_process_of_the_runbook_is_deployed() -> None:
    """By compose and by the manifests, with the same commands."""
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"].values()
    one = sorted(" ".join(service["command"]) for service in compose if service.get("image") == "annals")
    docs = [*yaml.safe_load_all((DEPLOY / "kubernetes" / "annals.yaml").read_text())]
    docs += yaml.safe_load_all((DEPLOY / "kubernetes" / "migrate.yaml").read_text())
    pods = [doc["spec"]["template"]["spec"] for doc in docs if doc and doc["kind"] in ("Deployment", "Job")]
    assert sorted(" ".join(pod["containers"][0]["args"]) for pod in pods) == one
    for command in one:
        assert f"annals {command}" in OPERATIONS


def _pods() -> list[dict[str, Any]]:
    files = ("annals.yaml", "migrate.yaml")
    docs = [doc for name in files for doc in yaml.safe_load_all((DEPLOY / "kubernetes" / name).read_text())]
    return [doc["spec"]["template"]["spec"] for doc in docs if doc and doc["kind"] in ("Deployment", "Job")]


def test_every_pod_has_bounds_and_no_more_rights_than_it_needs() -> None:
    for pod in _pods():
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            assert container["resources"]["limits"].keys() == {"cpu", "memory"}
            own = container["securityContext"]
            assert (own["readOnlyRootFilesystem"], own["allowPrivilegeEscalation"]) == (True, False)
            assert own["capabilities"] == {"drop": ["ALL"]}


def test_every_image_can_be_named_by_its_digest() -> None:
    """No digest stands in the files: which one is good is for who has checked it, and it would grow old unseen."""
    recipe = (DEPLOY / "Dockerfile").read_text()
    assert {line.split()[1] for line in recipe.splitlines() if line.startswith("FROM ")} == {"${BASE}"}
    others = [
        service["image"]
        for service in yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"].values()
        if "build" not in service
    ]
    assert len(others) == 2
    assert all(re.fullmatch(r"\$\{[A-Z]+_IMAGE:-[a-z/]+:\d+-\w+\}", image) for image in others)
    assert {container["image"] for pod in _pods() for container in pod["containers"]} == {
        f"registry.example/annals:{VERSION}"
    }
    for name in ("--build-arg BASE=", "POSTGRES_IMAGE", "REDIS_IMAGE"):
        assert name in OPERATIONS


def test_every_pod_insists_on_stores_that_prove_who_they_are() -> None:
    """By TLS, with certificates of an authority that each of them is given."""
    (config,) = (
        doc["data"]
        for doc in yaml.safe_load_all((DEPLOY / "kubernetes" / "annals.yaml").read_text())
        if doc and doc["kind"] == "ConfigMap"
    )
    for pod in _pods():
        (container,) = pod["containers"]
        own = {each["name"]: each["value"] for each in container.get("env", ())}
        told = own if {"configMapRef": {"name": "annals"}} not in container["envFrom"] else config
        assert told["ANNALS_STORES"] == "verified"
        (mount,) = (each for each in container["volumeMounts"] if each["name"] == "stores")
        assert Path(told["ANNALS_STORES_CA"]).parent == Path(mount["mountPath"])
        assert {"name": "stores", "configMap": {"name": "annals-stores"}} in pod["volumes"]


def test_every_container_of_the_compose_file_has_them_too() -> None:
    for name, service in yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"].items():
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"]), name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert {"mem_limit", "cpus", "pids_limit"} <= service.keys(), name


def test_pods_are_spoken_to_and_speak_only_where_they_must() -> None:
    docs = [*yaml.safe_load_all((DEPLOY / "kubernetes" / "annals.yaml").read_text())]
    everybody, api, webhooks, mail = [doc["spec"] for doc in docs if doc and doc["kind"] == "NetworkPolicy"]
    assert everybody["policyTypes"] == ["Ingress", "Egress"]
    assert "ingress" not in everybody
    ports = {port["port"] for rule in everybody["egress"] for port in rule["ports"]}
    assert ports == {53, 5432, 6379}
    assert all(rule["to"] for rule in everybody["egress"]), "a rule without places is one for all of them"
    assert api["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "api"
    for policy in (webhooks, mail):
        assert policy["podSelector"]["matchExpressions"] == [
            {"key": "app.kubernetes.io/component", "operator": "In", "values": ["turns", "pump"]}
        ]
        ((rule,),) = (policy["egress"],)
        four, six = (place["ipBlock"] for place in rule["to"])
        closed = {"10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"}
        assert set(four["except"]) == closed | {"0.0.0.0/8"}
        assert six["cidr"] == "2000::/3"
    (rule,) = mail["egress"]
    assert {port["port"] for port in rule["ports"]} == {
        parse_smtp_url(f"{name}://mail.example").port for name in ("smtp", "smtps")
    }


def test_only_migrating_is_told_the_owner_of_the_tables() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    told = {name for name, service in compose.items() if "ANNALS_MIGRATE_URL" in service.get("environment", {})}
    assert told == {"migrate"}
    named = {pod["containers"][0]["args"][0]: str(pod["containers"][0]["envFrom"]) for pod in _pods()}
    assert [command for command, secrets in named.items() if "annals-migrate" in secrets] == ["migrate"]
