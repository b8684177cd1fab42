"""Figures of the service as a whole, read from the stores at each scrape: every process gives the same."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from api.services import Services
from domain.errors import StoreUnavailable

MOST = 1000
"""Records behind, and work due, are counted up to here."""


class Stores(Collector):
    """How far the views are behind, which games are set aside, what work waits. Times in seconds."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def collect(self) -> Iterator[Metric]:
        """The gauges; only which servers are up where a store does not answer."""
        try:
            found = self._read()
        except StoreUnavailable:
            found = []
        yield GaugeMetricFamily("annals_stores_up", "1 while the stores answer", float(bool(found)))
        streams = self._services.streams()
        yield GaugeMetricFamily(
            "annals_streams_up", "1 while the process for streams answers", float(streams is not None)
        )
        yield GaugeMetricFamily("annals_streams", "Streams that are open at this server", streams or 0)
        yield GaugeMetricFamily("annals_redis_up", "1 while Redis answers", float(self._services.redis_up()))
        yield from found

    def _read(self) -> list[Metric]:
        s, now = self._services, self._services.clock()
        behind = s.ledger.log(s.reader.position(), MOST)
        due = s.reader.due(now, MOST)
        since = now - behind[0].record.public["at"] if behind else 0
        waits = now - due[0].at if due else 0
        errands = [e for e in s.errands.standing() if e.ready]
        asked = max((now - e.at for e in errands), default=0)
        silent = now - (s.outages.beaten() or now)
        return [
            GaugeMetricFamily("annals_silence_seconds", "Since the log was last written to for a probe", silent / 1000),
            GaugeMetricFamily("annals_views_behind", f"Records that no view shows yet, up to {MOST}", len(behind)),
            GaugeMetricFamily("annals_views_behind_seconds", "Age of the first of them", max(since, 0) / 1000),
            GaugeMetricFamily("annals_games_set_aside", "Games whose record could not be shown", len(s.reader.aside())),
            *self._damage(now),
            GaugeMetricFamily("annals_due_work", f"Work that is due and not done, up to {MOST}", len(due)),
            GaugeMetricFamily("annals_due_work_seconds", "For how long the oldest of it is due", waits / 1000),
            GaugeMetricFamily("annals_errands", "Errands that can be done and are not", len(errands)),
            GaugeMetricFamily("annals_errands_seconds", "Age of the oldest of them", asked / 1000),
            CounterMetricFamily("annals_clock_jumps", "How often a clock was set forward", s.clocks.jumps()),
            self._offsets(),
        ]

    def _offsets(self) -> GaugeMetricFamily:
        family = GaugeMetricFamily(
            "annals_clock_offset_seconds", "Time of the service less that of a machine's clock", labels=["machine"]
        )
        for machine in self._services.clocks.machines():
            family.add_metric([machine.name], machine.offset / 1000)
        return family

    def _damage(self, now: int) -> list[GaugeMetricFamily]:
        """What is damaged, how the log is read against its tree, and how old the running backup is."""
        s = self._services
        scrub, backup = s.reader.progress("scrub"), s.reader.progress("backup")
        whole = scrub.get("whole") or scrub.get("began") or now
        copied = backup.get("upto") or backup.get("since") or now
        at = scrub.get("at") or now
        took = (scrub.get("took") or 0) / 1000
        return [
            GaugeMetricFamily("annals_records_damaged", "Records and seeds that are damaged", len(s.damages.all())),
            GaugeMetricFamily("annals_pages_damaged", "Complaints of the database in a round", scrub.get("pages") or 0),
            GaugeMetricFamily("annals_scrub_records", "Records looked at in the round at hand", scrub.get("leaf", 0)),
            GaugeMetricFamily("annals_scrub_round_seconds", "How long the last whole round took", took),
            GaugeMetricFamily("annals_scrub_age_seconds", "Since the last whole round", max(now - whole, 0) / 1000),
            GaugeMetricFamily("annals_scrub_silence_seconds", "Since the last slice of it", max(now - at, 0) / 1000),
            GaugeMetricFamily(
                "annals_backup_age_seconds", "What the running backup lacks", max(now - copied, 0) / 1000
            ),
        ]
