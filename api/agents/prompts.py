"""Prompts, and the texts of resources."""

from __future__ import annotations

from dataclasses import dataclass

from api.agents.api_calls import ApiCalls
from api.agents.tools import ReadBoard, ReadHistory

MOST_PAGES = 100
"""Pages of history in a chronicle."""


@dataclass(frozen=True)
class PromptText:
    """A prompt with the id of a table in it."""

    description: str
    text: str


PROMPTS = {
    "play_this_seat": PromptText(
        "Play your seat at a table to the end.",
        "Play my seat at the table {game} to the end. Call read_table, and read_rules for what you do not know. While "
        "you must move, call list_options, choose what serves the goal of the game best, and make_move. Then call "
        "wait_for_turn, until the game is over. Tell me in one sentence what each move is for, and the final places.",
    ),
    "explain_my_choices": PromptText(
        "Explain the open decision of your seat.",
        "Explain my open decision at the table {game}. Call read_table, list_options and read_board, and read_rules "
        "for what is unclear. Say what each option is for, what it costs, and which you would take. Make no move.",
    ),
    "sum_up": PromptText(
        "Sum up what happened at a table.",
        "Sum up what happened at the table {game} since my last move: call read_table and summarise_turns. Begin with "
        "what concerns my seat, then say who gained and who lost, and what I must decide now. Make no move.",
    ),
    "check_this_game": PromptText(
        "Look through a game for mistakes and turning points.",
        "Look through the game at the table {game}: call summarise_turns, then read_history where something turned. "
        "Name the three moves that decided most, and say what else could have been done there by the rules.",
    ),
}


def resource_text(name: str, subject: str, api: ApiCalls) -> str:
    """Return the text of a resource: `rules` of a ruleset, `board` or `chronicle` of a table. Raise ToolRefusal."""
    if name == "rules":
        return str(api.get(f"/rulesets/{subject}/rules")["text"])
    if name == "board":
        first = ReadBoard(game=subject).run(api)
        rest = [ReadBoard(game=subject, page=page).run(api) for page in range(2, first["pages"] + 1)]
        return "\n".join(line for page in (first, *rest) for line in page["lines"])
    told, since = [], 0
    for _ in range(MOST_PAGES):
        page = ReadHistory(game=subject, since=since).run(api)
        told += [f"{each['version']}: {' '.join(each['happened'])}" for each in page["since"]]
        if not page["more"]:
            return "\n".join(told)
        since = page["next_since"]
    return "\n".join([*told, f"It goes on: call read_history with `since` {since}."])
