"""Nodes of a sight as HTML. A board has a thousand of them: by macros of templates they would take most of a page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup, escape

from api.http import i18n
from api.pages.common.owners import Owner
from api.pages.player_view.view_nodes import Node, Panel
from api.pages.player_view.widgets import Matrix
from domain.kernel.text.grammar import GRAMMARS
from domain.kernel.text.message_catalog import Message

_PIPS = {
    1: ((12, 12),),
    2: ((7, 7), (17, 17)),
    3: ((7, 7), (12, 12), (17, 17)),
    4: ((7, 7), (17, 7), (7, 17), (17, 17)),
    5: ((7, 7), (17, 7), (12, 12), (7, 17), (17, 17)),
    6: ((7, 7), (17, 7), (7, 12), (17, 12), (7, 17), (17, 17)),
}
"""Middles of the pips on the faces of a die."""


@dataclass(frozen=True)
class NodeWriter:
    """Writes nodes in a language. `audit`: the address of the proof of draws, or an empty text."""

    lang: str
    audit: str = ""
    form: str = ""
    """Id of the form for reasons."""

    def write_panel(self, panel: Panel) -> Markup:
        """Return a panel, or an empty text for one with nothing to show."""
        if panel.node.empty:
            return Markup()
        node = self._write(panel.node, False)
        if not panel.title:
            return _mark(f'<div class="panel broad">{node}</div>')
        name, broad = f"panel-{panel.part}-{panel.member}", " broad" if panel.is_broad else ""
        return _mark(
            f'<details id="{escape(name)}" class="panel{broad}"{"" if panel.is_long else " open"}>'
            f"<summary>{escape(panel.title)}</summary>{node}</details>"
        )

    def write_node(self, node: Node) -> Markup:
        """Return a node, or an empty text for one with nothing to show."""
        return Markup() if node.empty else _mark(self._write(node, False))

    def _write(self, node: Node, tokens: bool) -> str:
        """Return a node. `tokens`: single values have the token of their owner."""
        kind = node.kind
        if kind == "text":
            return _write_text(node, tokens) + self._ask(node, node.text)
        return (_write_matrix(node.matrix, kind == "matrix") if node.matrix else "") + self._write_group(node, tokens)

    def _write_group(self, node: Node, tokens: bool) -> str:
        match node.kind:
            case "table":
                return self._write_table(node, tokens)
            case "cards":
                cards = "".join(
                    f"<li>{_write_card(name, each)}{self._ask(node, name or each.text)}</li>"
                    for name, each in node.entries
                )
                return f'<ul class="cards">{cards}</ul>'
            case "dice":
                return self._write_dice(node)
            case "display":
                return self._write_display(node)
            case "sheets":
                return self._write_sheets(node)
            case "list" | "auction" | "lines":
                return self._write_list(node, tokens)
        return ""

    def _ask(self, node: Node, text: str) -> str:
        """Return the button for the reason of a missing thing, or an empty text for any other text of the node."""
        if text not in node.asks or not self.form:
            return ""
        why = i18n.translate(Message("Why is this not offered?"), self.lang)
        label = escape(GRAMMARS[self.lang].punctuate(f"{text}: {why}"))
        return (
            f' <button form="{self.form}" name="thing" value="{escape(node.asks[text])}" class="quiet ask"'
            f' aria-label="{label}" title="{escape(why)}">?</button>'
        )

    def _write_list(self, node: Node, tokens: bool) -> str:
        if not node.entries[0][0]:
            words = (f"<li>{self._write(each, tokens)}{self._ask(node, each.text)}</li>" for _, each in node.entries)
            return f'<ul class="words">{"".join(words)}</ul>'
        tokens = tokens or node.form == "auction"
        pairs = "".join(
            _write_pair(name, self._write(each, tokens) + self._ask(node, name)) for name, each in node.entries
        )
        if node.form == "lines":
            name = i18n.translate(Message("Sum"), self.lang)
            pairs += _write_pair(name, escape(node.note), ' class="sum"')
        return f"<dl{_class(node.form)}>{pairs}</dl>"

    def _write_table(self, node: Node, tokens: bool) -> str:
        is_head, is_side = node.named and node.turned, node.named and not node.turned
        heads = "".join(
            f'<th scope="col">{_name_row(name, is_head)}{self._ask(node, name)}</th>' for name in node.columns
        )
        rows = "".join(
            f'<tr><th scope="row">{_name_row(name, is_side)}{self._ask(node, name)}</th>'
            f"{''.join([f'<td>{self._write(each, tokens)}</td>' for each in cells])}</tr>\n"
            for name, cells in node.rows
        )
        return _scroll(f"<table{_class('turned' if node.turned else '')}>", heads, rows)

    def _write_display(self, node: Node) -> str:
        groups: dict[str, str] = {}
        for name, each in node.entries:
            value = self._write(each, True) + self._ask(node, name)
            place = _write_pair(name, value, ' class="free"' if each.empty else "")
            groups[each.note] = groups.get(each.note, "") + place
        return "".join(
            (f'<p class="group">{escape(group)}</p>' if group else "") + f'<dl class="display">{places}</dl>'
            for group, places in groups.items()
        )

    def _write_sheets(self, node: Node) -> str:
        sheets = "".join(
            f'<section class="sheet" id="empire-{each.owner.tint}" tabindex="-1"><h3>{_write_token(each.owner)}'
            f"{_name_row(name, each.named)}</h3>{self._write(each, True) if each.entries else ''}</section>"
            for name, each in node.entries
            if each.owner
        )
        return f'<div class="sheets">{sheets}</div>'

    def _write_dice(self, node: Node) -> str:
        dice = "".join(f"<li>{write_die(int(each.text))}{_write_text(each, False)}</li>" for _, each in node.entries)
        proof = escape(i18n.translate(Message("proof of the draws"), self.lang))
        link = f'<a href="{escape(self.audit)}">{proof}</a>'
        return f'<ul class="words">{dice}{f"<li>{link}</li>" if self.audit else ""}</ul>'


def _mark(html: str) -> Markup:
    return Markup(html)  # noqa: S704 - names and texts in it are escaped


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _write_pair(name: str, value: str, attributes: str = "") -> str:
    return f"<div{attributes}><dt>{escape(name)}</dt><dd>{value}</dd></div>"


def _name_row(name: str, is_value: bool) -> str:
    return f'<span class="v">{escape(name)}</span>' if is_value else escape(name)


def _write_card(name: str, node: Node) -> str:
    name = f'<span class="name">{escape(name)}</span> ' if name else ""
    note = f" <small>{escape(node.note)}</small>" if node.note else ""
    return f"{name}{_write_text(node, True)}{note}"


def _scroll(table: str, heads: str, rows: Iterable[str]) -> str:
    return (
        f'<div class="scroll" tabindex="0">{table}\n<thead><tr><td></td>{heads}</tr></thead>\n'
        f"<tbody>\n{''.join(rows)}</tbody>\n</table></div>\n"
    )


def _write_text(node: Node, tokens: bool) -> str:
    text = f'<span class="{"empty" if node.empty else "v"}">{escape(node.text)}</span>'
    if tokens and node.owner:
        text = _write_token(node.owner) + text
    if node.bar is None:
        return text
    bar = f'<rect width="{node.bar}" height="10"/>'
    return f'<svg class="share" viewBox="0 0 60 10" aria-hidden="true">{bar}</svg> {text}'


def _write_token(owner: Owner) -> str:
    return f'<i class="token tint-{owner.tint}" aria-hidden="true">{escape(owner.letter)}</i> '


def write_die(face: int) -> Markup:
    """Return a common die as a picture."""
    pips = "".join(f'<circle cx="{x}" cy="{y}" r="2"/>' for x, y in _PIPS[face])
    square = '<rect x="1" y="1" width="22" height="22" rx="4"/>'
    return _mark(f'<svg class="die" viewBox="0 0 24 24" aria-hidden="true">{square}{pips}</svg>')


def _write_matrix(matrix: Matrix, alone: bool) -> str:
    """Return pairs as a triangle. `alone`: nothing else shows their values."""
    heads = "".join(
        f'<th scope="col">{_write_token(owner)}<span class="heard">{escape(owner.name)}</span></th>'
        for owner in matrix.heads
    )
    rows = []
    for owner, cells in matrix.rows:
        pairs = "".join(
            f"<td{_class('unusual' if text != matrix.usual else '')}>{_name_row(text, alone and bool(text))}</td>"
            for text in cells
        )
        rows.append(f'<tr><th scope="row">{_write_token(owner)}{escape(owner.name)}</th>{pairs}</tr>\n')
    return _scroll('<table class="matrix">', heads, rows)
