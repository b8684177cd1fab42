"""What is owed to webhooks: made of the log, once, whatever is killed; and nothing that the receiver may not know."""

from __future__ import annotations

import json
from typing import Any

import pytest

from domain.accounts.account_tables import DAY
from domain.accounts.social import Challenge
from domain.command_handler import GameConditions, new_game_id
from domain.errors import AccountError, VerificationError
from domain.kernel.game.appeal_commands import AnswerAppeals, AppealAct
from domain.kernel.game.director_commands import Extend, Hold, Rewind
from domain.kernel.game.officers import Officer
from domain.kernel.game.play_commands import Play
from domain.kernel.game.table_commands import Close, Leave
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import decisions
from domain.notifications import outbox as outboxes
from domain.notifications.webhooks import MOST, OVERLAP, Webhook, WebhookRequest
from domain.service.job_requests import JobRequest, JobRequests, new_id
from tests.notifications.conftest import CATALOGUE, Office
from workers.notifications.producer import NEAR_MS, NotificationProducer

URL = "http://127.0.0.1:9/x"
PACE: dict[str, Any] = {"pace": {"seconds": {"turn": 86_400}}}


def bodies(office: Office, hook: Webhook) -> list[dict[str, Any]]:
    rows = office.context.ledger.execute(
        "SELECT id, box FROM deliveries WHERE webhook = ? ORDER BY made, id", (hook.id,)
    )
    return [json.loads(office.context.ledger.keys.open("notices", f"delivery|{i}", bytes.fromhex(b))) for i, b in rows]


def decision(office: Office, game: str) -> str:
    p = office.context.commands.game(game)
    return decisions(CATALOGUE.get(p.ruleset), p.state, p.lasting.rewinds.count)[0].id


def submit(office: Office, game: str, *seats: int) -> None:
    asked = decision(office, game)
    for seat in seats:
        office.context.commands.handle(game, Play(seat, [{"type": "submit"}], decision=asked))


class TestTurns:
    def test_who_owes_a_decision_is_told_once(self, office: Office) -> None:
        anne = office.person("Anne")
        hook = office.hook(anne, URL)
        game = office.table(anne)
        for _ in range(3):
            office.owing.produce()
        (told,) = bodies(office, hook)
        assert told["type"] == "turn.due"
        assert told["data"] == {
            "game": game,
            "ruleset": "orders@1",
            "version": 5,
            "status": "running",
            "seat": 0,
            "decision": decision(office, game),
            "deadline": None,
        }

    def test_a_fork_owes_nobody_anything(self, office: Office) -> None:
        """Its maker looks at a line, and knows that it goes on."""
        anne = office.person("Anne")
        office.hook(anne, URL)
        game, fork = office.table(anne), new_game_id()
        office.context.commands.handle(game, Close("void", "director"))
        office.owing.produce()
        before = office.rows()
        rows = office.access.issue(fork, 0, anne.player, office.access.make_token().token, account=True)
        office.context.commands.fork(fork, game, 5, anne.player, {"several": True}, extra_statements=lambda _: rows)
        office.owing.produce()
        assert decision(office, fork)
        assert office.rows() == before

    def test_who_was_told_before_kill_is_told_nothing_else_after_it(self, office: Office) -> None:
        anne = office.person("Anne")
        office.hook(anne, URL)
        office.table(anne)
        office.owing.produce()
        before = office.rows()
        office.context.ledger.execute(
            "DELETE FROM notice_position"
        )  # as if it had been killed before it wrote that down
        office.again()
        office.owing.produce()
        assert office.rows() == before

    @pytest.mark.parametrize("at", range(1, 8))
    def test_a_kill_at_any_statement_loses_and_doubles_nothing(
        self, office: Office, monkeypatch: pytest.MonkeyPatch, at: int
    ) -> None:
        anne = office.person("Anne")
        office.hook(anne, URL)
        office.table(anne)
        real, left = type(office.context.ledger).run_in_append_order, [at]

        def cut(ledger: Any, work: Any) -> None:
            def counted(execute: Any) -> None:
                def one(statement: str, params: Any) -> Any:
                    left[0] -= 1
                    if left[0] == 0:
                        raise KeyboardInterrupt
                    return execute(statement, params)

                work(one)

            real(ledger, counted)

        with monkeypatch.context() as patched:
            patched.setattr(type(office.context.ledger), "run_in_append_order", cut)
            try:
                office.owing.produce()
            except KeyboardInterrupt:
                assert office.rows() == []
        office.again()
        office.owing.produce()
        assert office.types() == ["turn.due"]

    def test_of_two_that_read_the_same_one_writes(self, office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is to be told later stays as the newest record has it, whoever is late."""
        anne = office.person("Anne")
        hook = office.hook(anne, URL, "mine", "", "deadline.near")
        game = office.table(anne, **PACE)
        real = outboxes.Outbox.enqueue

        def late(outbox: outboxes.Outbox, *made: Any) -> None:
            monkeypatch.undo()
            office.context.commands.handle(game, Extend(decision(office, game), 3_600_000))
            NotificationProducer(office.context, office.notices.outbox).produce()
            real(outbox, *made)

        monkeypatch.setattr(outboxes.Outbox, "enqueue", late)
        office.owing.produce()
        assert [each["data"]["deadline"] for each in bodies(office, hook)] == [office.time[0] + DAY + 3_600_000]

    def test_another_decision_is_another_turn(self, office: Office) -> None:
        anne = office.person("Anne")
        hook = office.hook(anne, URL)
        game = office.table(anne)
        submit(office, game, 0)
        office.owing.produce()
        assert len(bodies(office, hook)) == 1

    def test_others_are_not_told(self, office: Office) -> None:
        anne, bob = office.person("Anne"), office.person("Bob")
        hook = office.hook(bob, URL)
        office.table(anne)
        office.owing.produce()
        assert bodies(office, hook) == []

    def test_it_is_told_of_what_comes_after_it_was_made(self, office: Office) -> None:
        anne = office.person("Anne")
        old = office.table(anne)
        hook = office.hook(anne, URL)
        office.owing.produce()
        new = office.table(anne)
        office.owing.produce()
        assert [each["data"]["game"] for each in bodies(office, hook)] == [new] != [old]

    def test_one_that_was_off_is_told_nothing_of_that_time(self, office: Office) -> None:
        anne = office.person("Anne")
        hook, wanted = office.hook(anne, URL), WebhookRequest(URL, "mine")
        office.notices.webhooks.update(anne.id, hook.id, wanted, "loopback", office.head(), on=False)
        office.table(anne)
        office.owing.produce()
        office.notices.webhooks.update(anne.id, hook.id, wanted, "loopback", office.head(), on=True)
        office.owing.produce()
        assert bodies(office, hook) == []

    def test_a_rewind_asks_anew(self, office: Office) -> None:
        anne = office.person("Anne")
        hook = office.hook(anne, URL)
        game = office.table(anne)
        submit(office, game, 0)
        office.context.commands.handle(game, Rewind(5, by="director", seat=None, consent=(), reason="", fresh=False))
        office.owing.produce()
        found = [each["data"] for each in bodies(office, hook)]
        assert sorted((each["version"], each["decision"][0]) for each in found) == [(5, "0"), (7, "1")]

    def test_unreadable_game_keeps_no_other_from_being_told(
        self, office: Office, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        anne = office.person("Anne")
        hook = office.hook(anne, URL)
        bad, good = office.table(anne), office.table(anne)
        real = NotificationProducer._load_step

        def step(owing: NotificationProducer, entry: Any) -> Any:
            return 1 / 0 if entry.game == bad else real(owing, entry)

        monkeypatch.setattr(NotificationProducer, "_load_step", step)
        office.owing.produce()
        assert [each["data"]["game"] for each in bodies(office, hook)] == [good]


class TestDeadlines:
    def test_one_that_is_near_is_told_an_hour_before(self, office: Office) -> None:
        anne = office.person("Anne")
        hook = office.hook(anne, URL, "mine", "", "deadline.near")
        game = office.table(anne, **PACE)
        office.owing.produce()
        (told,) = bodies(office, hook)
        assert told["data"]["deadline"] == office.time[0] + DAY
        assert office.notices.outbox.list_deliveries(hook.id)[0].due == office.time[0] + DAY - NEAR_MS
        assert not office.notices.outbox.has_due()
        office.time[0] += DAY - NEAR_MS
        assert office.notices.outbox.has_due()
        submit(office, game, 0)
        office.owing.produce()
        assert office.rows() == []

    def test_one_that_is_moved_is_told_anew(self, office: Office) -> None:
        anne = office.person("Anne")
        hook = office.hook(anne, URL, "mine", "", "deadline.near")
        game = office.table(anne, **PACE)
        office.owing.produce()
        office.context.commands.handle(game, Extend(decision(office, game), 3_600_000))
        office.owing.produce()
        (told,) = bodies(office, hook)
        assert told["data"]["deadline"] == office.time[0] + DAY + 3_600_000

    def test_who_has_left_is_not_told(self, office: Office) -> None:
        anne = office.person("Anne")
        office.hook(anne, URL, "mine", "", "deadline.near")
        game = office.table(anne, **PACE)
        office.owing.produce()
        ended = office.access.revoke(game, 0)
        office.context.commands.handle(game, Leave(0, 0), GameConditions(extra_statements=lambda _: ended))
        office.owing.produce()
        assert office.rows() == []

    def test_one_that_has_passed_is_told_to_nobody(self, office: Office) -> None:
        anne = office.person("Anne")
        hook = office.hook(anne, URL, "mine", "", "deadline.near")
        office.table(anne, **PACE)
        office.owing.produce()
        office.time[0] += DAY
        assert office.deliver() == 1
        assert [each.state for each in office.notices.outbox.list_deliveries(hook.id)] == ["expired"]


class TestOthers:
    def test_table_is_told_of_every_record_to_who_has_a_role_there(self, office: Office) -> None:
        anne, bob = office.person("Anne"), office.person("Bob")
        game = office.table(anne)
        hook, other = office.hook(anne, URL, "table", game), office.hook(bob, URL, "table", game)
        submit(office, game, 0, 1)
        office.owing.produce()
        assert sorted(each["data"]["version"] for each in bodies(office, hook)) == [6, 7]
        assert {each["data"]["kind"] for each in bodies(office, hook)} == {"moved"}
        assert bodies(office, other) == []

    def test_the_lobby_is_told_of_public_tables_alone(self, office: Office) -> None:
        anne = office.person("Anne")
        hook = office.hook(anne, URL, "lobby")
        game = office.table()
        for listing in ("unlisted", "invitation"):
            office.table(listing=listing)
        office.table(delay=60)
        office.context.commands.handle(game, Close("abandoned", "director"))
        office.owing.produce()
        found = bodies(office, hook)
        assert sorted(each["type"] for each in found) == ["table.closed", "table.opened", "table.started"]
        assert {each["data"]["game"] for each in found} == {game}

    def test_the_end_is_told(self, office: Office) -> None:
        anne = office.person("Anne")
        hook = office.hook(anne, URL, "mine", "", "game.over")
        game = office.table(anne)
        office.context.commands.handle(game, Close("abandoned", "director"))
        office.owing.produce()
        assert [(each["type"], each["data"]["status"]) for each in bodies(office, hook)] == [("game.over", "closed")]

    def test_appeals_are_told_to_officers_and_answers_to_players(self, office: Office) -> None:
        anne, olga = office.person("Anne"), office.person("Olga")
        hooks = [office.hook(who, URL, "mine", "", "appeal.made", "appeal.answered") for who in (anne, olga)]
        game = office.table(anne, appeals={"appeal": 60, "answer": 60})
        for statement, row in office.access.issue(
            game, "director", olga.player, office.access.make_token().token, account=True
        ):
            office.context.ledger.execute(statement, row)
        owner, handle = Officer(olga.player, "owner"), office.context.commands.handle
        version = handle(game, Hold(1, 60), GameConditions(author=owner)).versions[-1]
        handle(game, AppealAct(version, 0))
        handle(game, AnswerAppeals(version, "upheld"), GameConditions(author=owner))
        office.owing.produce()
        (answered,), (made,) = (bodies(office, hook) for hook in hooks)
        assert (made["type"], made["data"]["contested"]) == ("appeal.made", version)
        assert (answered["type"], answered["data"]["outcome"]) == ("appeal.answered", "upheld")

    def test_a_challenge_is_told_once(self, office: Office) -> None:
        anne, bob = office.person("Anne"), office.person("Bob")
        hook = office.hook(anne, URL)
        game = office.table()
        now = office.time[0]
        office.people.social_graph.send_challenge(Challenge(game, "Anne", anne.player, 1, bob.player, now, now + DAY))
        for _ in range(2):
            office.owing.produce()
        (told,) = bodies(office, hook)
        assert (told["type"], told["data"]) == ("challenge.made", {"game": game, "seat": 1, "until": now + DAY})

    def propose(self, office: Office, game: str) -> None:
        players = {str(seat): player.id for seat, player in office.context.commands.game(game).players.items()}
        args = {"seat": 0, "act": {"act": "pause", "moves": False}, "players": players}
        request = JobRequest(new_id("proposal"), "proposal", game, 5, args, (1, 2), office.time[0])
        JobRequests(office.context.ledger).submit(request)

    def test_a_proposal_is_told_once_to_the_seats_with_a_vote(self, office: Office) -> None:
        anne, bob = office.person("Anne"), office.person("Bob")
        hooks = [office.hook(who, URL, "mine", "", "proposal.made") for who in (anne, bob)]
        self.propose(office, office.table(anne, bob))
        for _ in range(2):
            office.owing.produce()
        assert bodies(office, hooks[0]) == []
        (told,) = bodies(office, hooks[1])
        assert (told["type"], told["data"]["seat"], told["data"]["act"]) == ("proposal.made", 1, "pause")

    def test_a_proposal_at_a_damaged_game_holds_up_nobody(
        self, office: Office, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        anne, bob = office.person("Anne"), office.person("Bob")
        hook = office.hook(bob, URL, "mine", "", "proposal.made")
        damaged, sound = (office.table(anne, bob) for _ in range(2))
        for game in (damaged, sound):
            self.propose(office, game)
        read = office.context.ledger.read

        def read_sound(game: str, *args: int) -> list[Record]:
            if game == damaged:
                raise VerificationError("unreadable", 1, "")
            return read(game, *args)

        monkeypatch.setattr(office.context.ledger, "read", read_sound)
        office.owing.produce()
        assert [told["data"]["game"] for told in bodies(office, hook)] == [sound]

    def test_a_challenge_of_who_is_blocked_is_not_told(self, office: Office) -> None:
        anne, bob = office.person("Anne"), office.person("Bob")
        office.people.accounts.claim(bob.id, "bobasguest", [])
        hook = office.hook(anne, URL)
        office.people.social_graph.block(anne.id, bob.player)
        game, now = office.table(), office.time[0]
        office.people.social_graph.send_challenge(Challenge(game, "Anne", anne.player, 1, "bobasguest", now, now + DAY))
        office.owing.produce()
        assert bodies(office, hook) == []


class TestRows:
    def test_there_are_so_many_and_no_more(self, office: Office) -> None:
        anne = office.person("Anne")
        for _ in range(MOST):
            office.hook(anne, URL)
        with pytest.raises(AccountError):
            office.hook(anne, URL)

    def test_a_request_that_is_repeated_makes_one(self, office: Office) -> None:
        anne = office.person("Anne")
        wanted = WebhookRequest(URL, "mine")
        made = [office.notices.webhooks.create(anne.id, wanted, "loopback", 0, [], "key") for _ in range(2)]
        assert made[0] == made[1]
        assert len(office.notices.webhooks.list_by_account(anne.id)) == 1
        turned = [office.notices.webhooks.rotate_secret(anne.id, made[0][0].id, "again") for _ in range(2)]
        assert turned[0] == turned[1] != made[0][1]
        (hook,) = office.notices.webhooks.list_by_account(anne.id)
        assert hook.secrets == ((turned[0], 0), (made[0][1], office.time[0] + OVERLAP))

    def test_nothing_that_opens_anything_is_kept_in_plain_form(self, office: Office) -> None:
        anne = office.person("Anne")
        hook = office.hook(anne, URL + "?token=abcdef")
        office.table(anne)
        office.owing.produce()
        kept = repr(office.context.ledger.execute("SELECT * FROM webhooks")) + repr(
            office.context.ledger.execute("SELECT * FROM deliveries")
        )
        assert not any(word in kept for word in ("abcdef", hook.secrets[0][0], "decision"))
        assert "abcdef" not in repr(hook)
        assert hook.secrets[0][0] not in repr(hook)

    def test_too_many_that_wait_are_dead_at_once(self, office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(outboxes, "MOST_WAITING", 1)
        anne = office.person("Anne")
        hook = office.hook(anne, URL)
        office.table(anne)
        office.table(anne)
        office.owing.produce()
        assert sorted(each.state for each in office.notices.outbox.list_deliveries(hook.id)) == ["dead", "waiting"]

    def test_what_is_old_is_forgotten(self, office: Office) -> None:
        anne = office.person("Anne")
        hook = office.hook(anne, URL)
        office.notices.outbox.send_test(hook)
        office.context.ledger.execute("UPDATE deliveries SET state = 'delivered'")
        office.time[0] += outboxes.KEPT + 1
        office.again()
        office.owing.produce()
        assert office.rows() == []

    def test_with_the_account_all_of_it_is_gone(self, office: Office) -> None:
        anne = office.person("Anne")
        office.hook(anne, URL)
        game = office.table(anne)
        office.owing.produce()
        office.people.accounts.erase(anne.id, lambda _: office.notices.webhooks.erase(anne.id))
        assert (office.rows(), office.notices.webhooks.list_by_account(anne.id)) == ([], [])
        with pytest.raises(AccountError):
            office.hook(anne, URL, "table", game)
