"""URL converters for games, seats, versions, rulesets, players and codes. Other values give 404."""

from __future__ import annotations

from collections.abc import Callable

from flask import Flask
from werkzeug.routing import BaseConverter, Rule, ValidationError

from domain.types import Doc, is_tournament_id


class GameConverter(BaseConverter):
    regex = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

    def to_python(self, value: str) -> str:
        if is_tournament_id(value):
            raise ValidationError
        return value


class TournamentConverter(BaseConverter):
    """Ids of tournaments: UUIDs of version 8."""

    regex = "[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"


class SeatConverter(BaseConverter):
    regex = "[0-9]{1,2}"

    def to_python(self, value: str) -> int:
        return int(value)


class EntrantConverter(SeatConverter):
    """Numbers of entrants, from 0."""

    regex = "(?:0|[1-9][0-9]{0,5})"


class VersionConverter(SeatConverter):
    regex = "[1-9][0-9]{0,8}"


class RulesetConverter(BaseConverter):
    regex = "[a-z][a-z0-9_]{0,60}@[1-9][0-9]{0,5}"


class FamilyConverter(BaseConverter):
    """Names of rulesets without versions."""

    regex = "[a-z][a-z0-9_]{0,60}"


class PlayerConverter(BaseConverter):
    regex = "[A-Za-z0-9_-]{1,80}"


class AccountConverter(BaseConverter):
    regex = "[0-9a-f]{16}"


class ReportConverter(BaseConverter):
    regex = "[0-9a-f]{24}"


class DisclosureConverter(ReportConverter):
    """Id of a disclosure."""


class OrderConverter(ReportConverter):
    """Id of a standing order."""


class PasskeyConverter(BaseConverter):
    regex = "[A-Za-z0-9_-]{1,1364}"


class DeliveryConverter(BaseConverter):
    regex = "msg_[0-9a-f]{32}"


class CodeConverter(BaseConverter):
    regex = "[a-z][a-z0-9_]{0,60}"


class ProposalConverter(BaseConverter):
    regex = "proposal-[0-9a-f]{24}"


class RewindConverter(BaseConverter):
    regex = "rewind-[0-9a-f]{24}"


class JobConverter(BaseConverter):
    regex = f"(?:rewind|proposal|audit|rebuild)-[0-9a-f]{{24}}|resolve-{GameConverter.regex}-[0-9]{{1,9}}-[0-9]{{1,9}}"


class OriginConverter(BaseConverter):
    regex = "[0-9a-f]{64}"


CONVERTERS: dict[str, type[BaseConverter]] = {
    "game": GameConverter,
    "tournament": TournamentConverter,
    "seat": SeatConverter,
    "disclosure": DisclosureConverter,
    "entrant": EntrantConverter,
    "version": VersionConverter,
    "ruleset": RulesetConverter,
    "family": FamilyConverter,
    "player": PlayerConverter,
    "account": AccountConverter,
    "credential": AccountConverter,
    "passkey": PasskeyConverter,
    "report": ReportConverter,
    "order": OrderConverter,
    "webhook": AccountConverter,
    "delivery": DeliveryConverter,
    "code": CodeConverter,
    "rewind": RewindConverter,
    "proposal": ProposalConverter,
    "job": JobConverter,
    "origin": OriginConverter,
}


class LazyRule(Rule):
    """A rule that compiles its URL builder on first use, since no route here builds URLs.

    Compiling all of them would take longer than the rest of the application's setup.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        compiled = super()._compile_builder

        def build(rule: Rule, **values: object) -> tuple[str, str]:
            return compiled(append_unknown)(rule, **values)

        return build


def register(app: Flask) -> None:
    """Register the converters. Call it before adding routes."""
    app.url_rule_class = LazyRule
    app.url_map.converters.update(CONVERTERS)


def converter_schema(converter: BaseConverter) -> Doc:
    """Return the JSON Schema of a converter's values."""
    if isinstance(converter, VersionConverter):
        return {"type": "integer", "minimum": 1, "maximum": 999_999_999}
    if isinstance(converter, EntrantConverter):
        return {"type": "integer", "minimum": 0, "maximum": 999_999}
    if isinstance(converter, SeatConverter):
        return {"type": "integer", "minimum": 0, "maximum": 99}
    return {"type": "string", "pattern": f"^(?:{converter.regex})$"}
