"""URL rules of all pages."""

from __future__ import annotations

from flask import Flask, Response

from api.pages import account, devices, login, mail
from api.pages.session import page, static_file


def register(app: Flask) -> None:
    """Register all pages, and their style sheet and script."""
    login.register_pages(app)
    app.add_url_rule("/oauth/authorize", "pages.authorize", page(_authorize), methods=["GET", "POST"])
    app.add_url_rule("/device", "pages.device", page(devices.device), methods=["GET", "POST"])
    app.add_url_rule("/account", "pages.account", page(account.show_account), methods=["GET"])
    app.add_url_rule("/account/end", "pages.end", page(account.end_access), methods=["POST"])
    app.add_url_rule("/account/totp", "pages.totp", page(account.set_up_totp), methods=["POST"])
    app.add_url_rule("/account/passkeys", "pages.passkeys", page(account.add_passkey), methods=["POST"])
    app.add_url_rule("/mail/end", "pages.mail_end", page(mail.end_mail, signed=False), methods=["GET", "POST"])

    @app.get("/pages/style.css")
    def style() -> Response:
        return static_file("style.css", "text/css; charset=utf-8")

    @app.get("/pages/passkey.js")
    def script() -> Response:
        return static_file("passkey.js", "text/javascript; charset=utf-8")


def _authorize() -> Response:
    from api.pages.consent import authorize  # noqa: PLC0415 - few processes ever need the library

    return authorize()
