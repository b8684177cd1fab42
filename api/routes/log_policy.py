"""Verifier keys of the log and its policy, at well-known addresses."""

from __future__ import annotations

from flask import Flask, Response

from api.http import public_url
from api.response_builders import etag_response, json_response
from api.services import services
from domain.types import Doc

KEYS, POLICY = "/.well-known/annals-log-keys", "/.well-known/annals-log-policy"
_MINUTES = "public, max-age=300"


def register(app: Flask) -> None:
    """Register both addresses."""

    @app.get(KEYS)
    def log_keys() -> Response:
        items = [
            {
                "origin": key.origin,
                "vkeys": list(map(str, key.keys)),
                "since": key.since,
                **({"until": key.until, "reason": key.reason} if key.until else {}),
            }
            for key in services().checkpoints.keys
        ]
        halts, witness = services().checkpoints.halts, _describe_witness()
        extra: Doc = {**({"halted": halts} if halts else {}), **({"witness": witness} if witness else {})}
        response = json_response({"items": items, **extra})
        response.headers["Cache-Control"] = _MINUTES
        return response

    @app.get(POLICY)
    def log_policy() -> Response:
        store = services().checkpoints
        logs = [
            f"log {vkey} {public_url.base_url()}/v1/log" for key in store.keys if not key.until for vkey in key.keys
        ]
        keys = [(vkey, each.url) for each in services().settings.witnesses for vkey in each.keys]
        witnesses = [f"witness w{i} {vkey} {url}" for i, (vkey, url) in enumerate(keys, 1)]
        names = " ".join(f"w{i}" for i in range(1, len(witnesses) + 1))
        quorum = [f"group witnesses any {names}", "quorum witnesses"] if witnesses else ["quorum none"]
        text = "".join(f"{line}\n" for line in [*logs, *witnesses, *quorum])
        return etag_response(text.encode(), cache=_MINUTES, media="text/plain; charset=utf-8")


def _describe_witness() -> Doc | None:
    """Return this service as a witness: keys, prefix of its addresses, names of the logs that it cosigns."""
    logs = services().settings.witnessed_logs
    key = services().witness.key if logs else None
    if key is None:
        return None
    return {"vkeys": list(map(str, key.keys)), "url": f"{public_url.base_url()}/v1/witness", "logs": sorted(logs)}
