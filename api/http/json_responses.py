"""Responses with a declared document."""

from __future__ import annotations

from typing import Generic, TypeVar

from flask import Response

Document_co = TypeVar("Document_co", covariant=True)


class JsonResponse(Response, Generic[Document_co]):
    """A response with a declared document.

    A view returns `JsonResponse[BoardDoc]`. From this the OpenAPI document takes the schema of the response, and mypy
    checks the document.
    """
