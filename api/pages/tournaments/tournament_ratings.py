"""Ratings on pages: the list of a game or of all games, and the tables behind one person's rating."""

from __future__ import annotations

from fractions import Fraction
from urllib.parse import urlencode

from flask import Response, request

from api.http import i18n
from api.pages.common import clocks
from api.pages.common.in_process import read_document
from api.pages.common.session import render_games_page
from api.schemas.history_responses import RulesetsDoc
from api.schemas.rating_schemas import RatingExplanationDoc, RatingListDoc
from domain.kernel.text.message_catalog import load_texts
from domain.ratings import OVERALL


def _decimal(value: float) -> str:
    """Return a rating with one decimal, as the visitor's language writes it."""
    return load_texts("domain.tournaments", i18n.request_language()).grammar.decimal(Fraction(str(value)), 1)


def _read_page() -> str:
    """Return the query for the requested page of the list."""
    cursor = request.args.get("cursor", "")
    return "?" + urlencode({"cursor": cursor}) if cursor else ""


def list_ratings(family: str = OVERALL) -> Response:
    """Show the ratings of a game, or of all games together."""
    found = read_document(RatingListDoc, f"/ratings/{family}{_read_page()}")
    return render_games_page(
        "tournament_ratings",
        found=found,
        families={
            each["name"].partition("@")[0]: each["title"] for each in read_document(RulesetsDoc, "/rulesets")["items"]
        },
        decimal=_decimal,
        more=(found["next"] or "").partition("cursor=")[2],
    )


def explain_rating(family: str, player: str) -> Response:
    """Show what each table did to a person's rating."""
    found = read_document(RatingExplanationDoc, f"/ratings/{family}/players/{player}{_read_page()}")
    return render_games_page(
        "tournament_rating",
        found=found,
        decimal=_decimal,
        more=(found["next"] or "").partition("cursor=")[2],
        times=clocks.Times.of_visitor(),
    )
