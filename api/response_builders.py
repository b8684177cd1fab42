"""What answers have in common: tags, versions, positions, and reads that wait for one's own writes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar
from urllib.parse import urlencode

from flask import Response, g

from api.authorization import principal
from api.http.conditional import conditional
from api.http.problems import Problem, lost
from api.services import Doc, services
from api.visibility import sight
from domain.command_handler import Answer
from domain.errors import StoreDamaged, VerificationError
from domain.kernel.game.game import AnyGame
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.canonical_json import canonical
from domain.types import Json

Found = TypeVar("Found")
View = TypeVar("View", bound=Callable[..., Any])

PRIVATE = "private, no-cache"
SECRET = "no-store"  # noqa: S105 - a directive for caches
OPEN = "public, max-age=86400"
"""What changes with a version of the service alone; it has a tag."""
FIXED = "public, max-age=31536000, immutable"
"""What never changes, and is the same for everybody."""
OWN = "private, max-age=31536000, immutable"
"""What never changes, for who has asked."""


def cut(
    found: Sequence[Found], limit: int, path: str, cursor: Callable[[Found], object], **kept: str
) -> tuple[Sequence[Found], str | None]:
    """A page of what was read one further than was asked for, and the address of the next one, if there is one.

    `cursor` of the last one of a page begins the next one, which is asked for with what is `kept` and not empty.
    """
    if len(found) <= limit:
        return found, None
    more = {name: value for name, value in kept.items() if value}
    return found[:limit], f"{path}?" + urlencode({**more, "limit": limit, "cursor": cursor(found[limit - 1])})


def paged(items: Sequence[Json], address: str | None, **more: Json) -> Response:
    """A page, with the address of the next one."""
    made = answer({**more, "items": items, "next": address}, cache=PRIVATE)
    if address:
        made.headers["Link"] = f'<{address}>; rel="next"'
    return made


def answer(doc: Json, status: int = 200, cache: str = SECRET, **headers: str) -> Response:
    """A JSON document, its keys sorted so that a repetition gets the same bytes; `_` in the name of a header is `-`."""
    made = Response(canonical(doc), status, content_type="application/json")
    made.headers.add("Cache-Control", cache)
    for name, value in headers.items():
        made.headers.add(name.replace("_", "-"), value)
    return made


def tagged(raw: bytes, version: int | None = None, cache: str = PRIVATE, media: str = "application/json") -> Response:
    """A document with a strong tag of its bytes: whatever it depends on, another document has another tag. Or 304."""
    made = Response(raw, content_type=media)
    made.set_etag(hashlib.blake2b(raw, digest_size=16).hexdigest())
    made.headers["Cache-Control"] = cache
    if version is not None:
        made.headers["Annals-Version"] = str(version)
    return conditional(made)


def wanted(match: str) -> int | None:
    """The version that If-Match names."""
    return None if not match else int(match.strip('"'))


def wait(position: int) -> None:
    """Returns once the views have read that position; raises Problem for one that is none, or after some patience."""
    s = services()
    if not position or s.reader.position() >= position:
        return
    if not s.ledger.log(position - 1, 1):
        raise Problem("unknown_position")
    if not s.reader.wait(position, s.settings.patience):
        raise Problem("views_behind", headers={"Retry-After": "1"})


def command(key: str) -> str | None:
    """The command's id for an Idempotency-Key: each caller has keys of its own, and the key itself is kept nowhere."""
    if not key:
        return None
    mine = principal()
    return services().access.named("act", mine.game, str(mine.role), mine.player, key)


def table(game: str) -> tuple[AnyRuleset, AnyGame]:
    """The rules of a game, and the game as it is; raises UnknownGame."""
    s = services()
    found = s.commands.game(game)
    return s.catalogue.get(found.ruleset), found


def terms(game: str) -> Doc:
    """What the table agreed when it was opened."""
    (opened,) = services().ledger.read(game, 0, 1) or (None,)
    return opened.body if opened else {}


def written(stored: Answer, doc: Doc | None = None, status: int = 201, **headers: str) -> Response:
    """The answer to a write; the doorbell rings for what is new."""
    body = told(stored) | (doc or {})
    version = str(body["version"])
    made = answer(body, status, Annals_Version=version, Annals_Position=str(stored.position), **headers)
    if stored.replayed:
        made.headers["Idempotency-Replayed"] = "true"
    return made


def told(stored: Answer) -> Doc:
    """What every write is told; the doorbell rings for what is new."""
    if not stored.replayed:
        services().notify(stored.position)
    g.position = stored.position
    return {"game": stored.game, "version": stored.versions[-1], "position": stored.position}


def head_of(game: str) -> tuple[int, bool]:
    """The newest version of a game that can be shown to whoever asks, 0 for none, and whether the next is damaged.

    Raises Problem.
    """
    s = services()
    head, damaged = s.ledger.version(game), s.damages.first(game)
    if damaged == 1:
        raise lost(1)
    found = min(head, damaged - 1) if damaged else head
    upto = sight(game).upto if head else None
    if upto is not None and upto < found:
        return upto, False
    return found, bool(damaged)


def fixed(game: str) -> str:
    """For how long what never changes of a game may be kept, and by whom: others may not see it yet."""
    return OWN if sight(game).apart else FIXED


DAMAGED = "Annals-Damaged"
"""The header of what ends before its end: the version that is damaged."""


def judged(view: View) -> View:
    """A view over the records of a game: where one cannot be read, it is asked again once that is known."""

    @wraps(view)
    def asked(*args: Any, **kwargs: Any) -> Any:
        try:
            return view(*args, **kwargs)
        except (StoreDamaged, VerificationError):
            if services().inspect(kwargs["game"]) is None:
                raise
            return view(*args, **kwargs)

    return asked  # type: ignore[return-value] # the view with the same signature


def behind(game: str) -> Problem | None:
    """Why the views know nothing of a game that exists; None if it does not exist."""
    if services().ledger.version(game):
        if services().damages.first(game) == 1:  # nothing of it can be shown
            return lost(1)
        return Problem("views_behind", headers={"Retry-After": "1"})
    return None


def missing_game(game: str) -> Problem:
    """The problem for a game that the views do not know."""
    return behind(game) or Problem("unknown_game")


def forgotten(made: Response) -> Response:
    """The same answer to who has logged out: what the browser keeps of this service is to go, but for its cookies.

    They end one by one: that by which a browser is known again opens nothing, and stays.
    """
    made.headers["Clear-Site-Data"] = '"cache", "storage"'
    return made
