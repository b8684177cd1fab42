"""URL rules of all pages."""

from __future__ import annotations

import functools

from flask import Flask, Response

from api.pages.account import account, devices, hand_over, login, mail, moderation_page, notices, programs, security
from api.pages.common.session import page, show_problem_to_browsers
from api.pages.common.static_files import OFFLINE, STATIC, show_worker, static_file
from api.pages.desk import all_tables, around_page, officer_desk
from api.pages.lessons import exercise_page, lesson_page
from api.pages.lobby import absence_page, app_pages, import_page, invitations, lobby, people, player_page
from api.pages.map import board_picture, map_drawing
from api.pages.replay import replay_page
from api.pages.rules import rules
from api.pages.table import charts, chronicle, commands, live, play, region_card, table
from api.pages.talk import talk_page
from api.pages.tournaments import (
    entrant_import_page,
    entrant_pages,
    tournament_acts,
    tournament_around,
    tournament_desk_page,
    tournament_opening,
    tournament_pages,
    tournament_ratings,
    tournament_rulings_page,
)


def register(app: Flask) -> None:
    """Register all pages, and their style sheet and script."""
    app.after_request(show_problem_to_browsers)
    login.register_pages(app)
    app.add_url_rule("/oauth/authorize", "pages.authorize", page(_authorize), methods=["GET", "POST"])
    app.add_url_rule("/device", "pages.device", page(devices.device), methods=["GET", "POST"])
    app.add_url_rule("/account", "pages.account", page(account.show_account), methods=["GET"])
    app.add_url_rule("/account/end", "pages.end", page(account.end_access), methods=["POST"])
    app.add_url_rule("/account/totp", "pages.totp", page(account.set_up_totp), methods=["POST"])
    app.add_url_rule("/account/passkeys", "pages.passkeys", page(account.add_passkey), methods=["POST"])
    app.add_url_rule(hand_over.HERE, "pages.hand_over", page(hand_over.show_link), methods=["POST"])
    app.add_url_rule(hand_over.THERE, "pages.take_over", page(hand_over.take_over), methods=["GET", "POST"])
    app.add_url_rule("/account/settings", "pages.settings", page(account.change_settings), methods=["POST"])
    app.add_url_rule("/account/claims", "pages.claims", page(account.claim_games), methods=["POST"])
    app.add_url_rule("/mail/end", "pages.mail_end", page(mail.end_mail, signed=False), methods=["GET", "POST"])

    _register_acts(app)
    _register_games(app)
    _register_tournaments(app)

    _register_app(app)
    app.add_url_rule(
        "/pages/maps/<ruleset>/<lang>/<digest>.svg", "pages.map", map_drawing.show_drawing, methods=["GET"]
    )
    app.add_url_rule("/pages/shelf/<ruleset>.svg", "pages.shelf", board_picture.show_shelf, methods=["GET"])


def _register_app(app: Flask) -> None:
    """Register static files, and what makes the pages an application that a phone installs."""
    for name, media in STATIC.items():
        view = functools.partial(static_file, name, media)
        vars(view)["any_query"] = True  # the hash of its content
        app.add_url_rule(f"/pages/{name}", f"static.{name}", view, methods=["GET"])
    app.add_url_rule("/worker.js", "static.worker", show_worker, methods=["GET"])
    app.add_url_rule("/pages/<lang>.webmanifest", "static.manifest", app_pages.show_manifest, methods=["GET"])
    app.add_url_rule(app_pages.ADDRESS, "pages.install", page(app_pages.show_install), methods=["GET"])
    app.add_url_rule(OFFLINE, "pages.offline", page(app_pages.show_offline), methods=["GET"])


def _register_acts(app: Flask) -> None:
    """Register the pages with acts: each takes its forms one level below."""
    for address, name, view in (
        (security.ADDRESS, "security", security.show_security),
        (notices.ADDRESS, "notices", notices.show_notices),
        (programs.ADDRESS, "programs", programs.show_programs),
        (people.ADDRESS, "people", people.show_people),
        (moderation_page.ADDRESS, "moderation", moderation_page.show_moderation),
        (all_tables.ADDRESS, "all_tables", all_tables.act_at_all_tables),
        (invitations.INVITATIONS, "invitations", invitations.show_invitations),
        (invitations.REMATCH, "rematch", invitations.play_again),
        ("/players/<player:player>", "player", player_page.show_player),
        ("/games/<game:game>/around", "around", around_page.show_around),
        ("/tournaments/<tournament:tournament>/around", "event_around", tournament_around.show_around),
    ):
        shown = page(view)
        app.add_url_rule(address, f"pages.{name}", shown, methods=["GET"])
        app.add_url_rule(f"{address}/<code:act>", f"pages.{name}.act", shown, methods=["GET", "POST"])
    app.add_url_rule("/account/data", "pages.data", page(security.show_data), methods=["GET"])
    app.add_url_rule("/account/data/file", "pages.data_file", page(security.download_data), methods=["GET"])
    app.add_url_rule("/account/erased", "pages.erased", page(security.tell_erased), methods=["GET"])


def _register_games(app: Flask) -> None:
    """Register the pages of games, and the first page: for programs it leads to the API's documentation."""
    app.add_url_rule("/", "index", page(functools.partial(lobby.index, _to_docs)), methods=["GET"])
    app.add_url_rule("/play", "pages.play_now", page(lobby.play_now), methods=["GET", "POST"])
    app.add_url_rule("/games", "pages.lobby", page(lobby.show_lobby), methods=["GET"])
    app.add_url_rule("/games/mine/live", "pages.live_tables", page(live.follow_own_tables), methods=["GET"])
    app.add_url_rule("/games/new", "pages.new_table", page(lobby.new_table), methods=["GET", "POST"])
    imports = import_page.accept_export(page(import_page.show_imports, media="multipart/form-data"))
    app.add_url_rule(import_page.ADDRESS, "pages.imports", imports, methods=["GET", "POST"])
    app.add_url_rule(absence_page.ADDRESS, "pages.absence", page(absence_page.be_away), methods=["GET", "POST"])
    app.add_url_rule("/learn/<ruleset:ruleset>", "pages.learn", page(rules.show_introduction), methods=["GET"])
    app.add_url_rule("/learn/<ruleset:ruleset>/rules", "pages.rules_of", page(rules.show_rules_of), methods=["GET"])
    index_of = page(rules.show_index_of)
    app.add_url_rule("/learn/<ruleset:ruleset>/rules/index", "pages.index_of", index_of, methods=["GET"])
    for path, name, lesson_view, verb in (
        ("", "lesson", lesson_page.show_lesson, "GET"),
        ("", "turn_lesson", lesson_page.turn_lesson, "POST"),
        ("/play", "play_lesson", lesson_page.play_lesson, "POST"),
        ("/play", "reopen_lesson", lesson_page.reopen_lesson, "GET"),
    ):
        app.add_url_rule(f"/learn/<ruleset:ruleset>/game{path}", f"pages.{name}", page(lesson_view), methods=[verb])
    exercise = page(exercise_page.show_exercise)
    app.add_url_rule("/learn/<ruleset:ruleset>/exercises/<version:number>", "pages.exercise", exercise, methods=["GET"])
    app.add_url_rule("/desk", "pages.desk", page(officer_desk.show_desk), methods=["GET", "POST"])
    app.add_url_rule("/games/<game:game>/desk", "pages.direct", page(officer_desk.direct), methods=["GET", "POST"])
    for path, name, view, method in (
        ("", "table", table.show_table, "GET"),
        ("/live", "live", live.follow_table, "GET"),
        ("/talk", "talk", talk_page.show_talk, "GET"),
        ("/talk/mailbox", "mailbox", talk_page.download_mailbox, "GET"),
        ("/talk/disclosures/<disclosure:disclosure>", "disclosure", talk_page.download_disclosure, "GET"),
        ("/talk", "write_talk", talk_page.write_talk, "POST"),
        ("/chronicle", "chronicle", chronicle.show_chronicle, "GET"),
        ("/replay", "replay", replay_page.show_replay, "GET"),
        ("/charts", "charts", charts.show_charts, "GET"),
        ("/board.svg", "picture", board_picture.show_picture, "GET"),
        ("/board.png", "png", board_picture.show_png, "GET"),
        ("/regions/<region>", "region", region_card.show_region, "GET"),
        ("/rules", "rules", rules.show_rules, "GET"),
        ("/rules/index", "rules_index", rules.show_index, "GET"),
        ("/invitation", "invitation", commands.confirm_invitation, "GET"),
        ("/play", "play", play.play, "POST"),
        ("/play", "answer", play.reopen_answer, "GET"),
        ("/commands", "commands", commands.command, "POST"),
        ("/commands", "command", play.reopen_answer, "GET"),
    ):
        app.add_url_rule(f"/games/<game:game>{path}", f"pages.{name}", page(view), methods=[method])


def _register_tournaments(app: Flask) -> None:
    """Register the pages of tournaments."""
    one = "/tournaments/<tournament:tournament>"
    app.add_url_rule("/tournaments", "pages.tournaments", page(tournament_pages.list_tournaments), methods=["GET"])
    app.add_url_rule(one, "pages.tournament", page(tournament_pages.show_tournament), methods=["GET"])
    app.add_url_rule(f"{one}/places", "pages.places", page(entrant_pages.explain_places), methods=["GET"])
    entrants = page(entrant_pages.show_entrant)
    app.add_url_rule(f"{one}/entrants/<entrant:entrant>", "pages.entrant", entrants, methods=["GET"])
    app.add_url_rule(f"{one}/meetings", "pages.meetings", page(entrant_pages.show_meetings), methods=["GET"])
    opening = page(tournament_opening.open_from_example)
    app.add_url_rule(tournament_opening.ADDRESS, "pages.new_tournament", opening, methods=["GET", "POST"])
    rulings = f"{one}/rulings"
    app.add_url_rule(rulings, "pages.rulings", page(tournament_rulings_page.show_rulings), methods=["GET"])
    app.add_url_rule(rulings, "pages.rule", page(tournament_rulings_page.act_on_rulings), methods=["POST"])
    app.add_url_rule("/ratings", "pages.all_ratings", page(tournament_ratings.list_ratings), methods=["GET"])
    lists = "/ratings/<family:family>"
    app.add_url_rule(lists, "pages.ratings", page(tournament_ratings.list_ratings), methods=["GET"])
    rating = page(tournament_ratings.explain_rating)
    app.add_url_rule(f"{lists}/players/<player:player>", "pages.rating", rating, methods=["GET"])
    listed = page(entrant_import_page.import_list, media="multipart/form-data")
    app.add_url_rule(f"{one}/import", "pages.event_import", listed, methods=["GET", "POST"])
    code = page(entrant_import_page.use_code)
    app.add_url_rule(entrant_import_page.CODE_ADDRESS, "pages.event_code", code, methods=["GET", "POST"])
    desk = page(tournament_desk_page.show_event_desk)
    app.add_url_rule(f"{one}/desk", "pages.event_desk", desk, methods=["GET"])
    app.add_url_rule(f"{one}/acts", "pages.acts", page(tournament_acts.act_in_tournament), methods=["POST"])


def _to_docs() -> Response:
    return Response(status=302, headers={"Location": "/v1/docs"})


def _authorize() -> Response:
    from api.pages.account.consent import authorize  # noqa: PLC0415 - few processes ever need the library

    return authorize()
