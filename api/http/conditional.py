"""Conditions of a read (RFC 9110, 13): what the client has is not sent again."""

from __future__ import annotations

from flask import Response, request

from api.http.problems import Problem


def conditional(made: Response) -> Response:
    """An answer with a strong tag, or 304 where the client has it; raises Problem where it wants another one."""
    match = request.if_match
    if match and not match.star_tag and not match.contains(made.get_etag()[0] or ""):
        raise Problem("precondition_failed")
    # The framework would answer what is seen to above with 412 and the document, `*` too.
    without = {name: value for name, value in request.environ.items() if name != "HTTP_IF_MATCH"} if match else request
    made.make_conditional(without)
    return made
