"""Swagger UI at /v1/docs, served from its package: pages load nothing from other hosts."""

from __future__ import annotations

from importlib import resources

from flask import Flask, Response, send_from_directory

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Annals: the API</title><link rel="stylesheet" href="/v1/docs/assets/swagger-ui.css"></head>
<body><div id="docs"></div>
<script src="/v1/docs/assets/swagger-ui-bundle.js"></script><script src="/v1/docs/start.js"></script></body>
</html>
"""
_START = """SwaggerUIBundle({url: "/v1/openapi.json", dom_id: "#docs", validatorUrl: null, deepLinking: true});
"""
# Swagger UI sets styles by script and loads icons from data: URLs.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)


def register(app: Flask) -> None:
    """Register the documentation page, its start script and its assets."""
    assets = str(resources.files("flask_swagger_ui") / "dist")

    @app.get("/v1/docs")
    def docs() -> Response:
        response = Response(_PAGE, content_type="text/html; charset=utf-8")
        response.headers["Content-Security-Policy"] = _POLICY
        return response

    @app.get("/v1/docs/start.js")
    def docs_start() -> Response:
        return Response(_START, content_type="text/javascript; charset=utf-8")

    @app.get("/v1/docs/assets/<path:name>")
    def docs_assets(name: str) -> Response:
        return send_from_directory(assets, name, max_age=86_400)
