"""Parts of a tournament's page that are alike for many readers, rendered once and kept."""

from __future__ import annotations

from collections.abc import Hashable
from threading import Lock
from typing import Any

from cachetools import LRUCache, cached
from markupsafe import Markup

from api.pages.common.session import render_fragment

KEPT_CHARACTERS = 4 << 20
"""Of all parts in memory: the list of 200 entrants has 30,000."""


@cached(
    LRUCache(KEPT_CHARACTERS, getsizeof=len), key=lambda template, lang, key, **_: (template, lang, key), lock=Lock()
)
def keep_fragment(template: str, lang: str, key: Hashable, **values: Any) -> Markup:
    """Return a rendered part. `key`: all that `values` can differ by.

    Of 200 entrants, the list and the chart took half of the page's CPU time in each view. The pods of a drawn round
    took two fifths of the rest.
    """
    html = render_fragment(template, lang, **values)
    return Markup(html)  # noqa: S704 - by a template that has escaped
