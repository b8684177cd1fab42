"""Conditional reads (RFC 9110, 13)."""

from __future__ import annotations

from flask import Response, request

from api.http.problems import Problem


def conditional(response: Response) -> Response:
    """Return 304 if the client has the current document. Raise Problem if If-Match names another one.

    The response needs a strong ETag.
    """
    match = request.if_match
    if match and not match.star_tag and not match.contains(response.get_etag()[0] or ""):
        raise Problem("precondition_failed")
    # Checked above. The framework would send 412 with the document, also for `*`.
    without = {name: value for name, value in request.environ.items() if name != "HTTP_IF_MATCH"} if match else request
    response.make_conditional(without)
    return response
