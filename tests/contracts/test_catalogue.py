"""Which rulesets there are."""

from dataclasses import replace
from typing import Any

import pytest

from domain.errors import UnknownRuleset
from domain.kernel.rules.ruleset import Ruleset
from domain.ruleset_registry import SHIPPED, RulesetRegistry, load_shipped
from tests.kernel.flows import orders, skirmish


def named(name: str) -> Ruleset[Any]:
    return replace(skirmish.RULESET, meta=replace(skirmish.RULESET.meta, ruleset=name))


class TestCatalogue:
    def test_a_ruleset_is_found_by_its_name(self) -> None:
        catalogue = RulesetRegistry([skirmish.RULESET, orders.RULESET])
        assert catalogue.get("orders@1") is orders.RULESET

    @pytest.mark.parametrize("name", ["", "orders", "orders@2", "chess@1"])
    def test_another_name_is_unknown(self, name: str) -> None:
        with pytest.raises(UnknownRuleset):
            RulesetRegistry([orders.RULESET]).get(name)

    def test_the_latest_of_a_game_has_the_highest_number(self) -> None:
        catalogue = RulesetRegistry([named("skirmish@10"), named("skirmish@2"), named("orders@3")])
        assert catalogue.latest("skirmish").meta.ruleset == "skirmish@10"
        with pytest.raises(UnknownRuleset):
            catalogue.latest("chess")

    def test_names_are_in_order_of_game_and_version(self) -> None:
        catalogue = RulesetRegistry([named("skirmish@10"), named("skirmish@2"), named("orders@3")])
        assert catalogue.names() == ["orders@3", "skirmish@2", "skirmish@10"]

    @pytest.mark.parametrize("rulesets", [["orders@1", "orders@1"], ["orders"], ["Orders@1"], ["orders@0"]])
    def test_a_name_is_well_formed_and_comes_once(self, rulesets: list[str]) -> None:
        with pytest.raises(ValueError, match="ruleset"):
            RulesetRegistry(map(named, rulesets))

    def test_what_is_shipped_can_be_imported(self) -> None:
        assert {name.split("@")[0] for name in load_shipped().names()} == set(SHIPPED)
