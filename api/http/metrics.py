"""Metrics of the whole service, read from the stores at each scrape: all processes report the same values."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from api.services import ApiServices
from domain.errors import StoreUnavailable

COUNT_LIMIT = 1000
"""Highest reported count of unread records and due work."""


class StoreCollector(Collector):
    """Metrics of projection lag, quarantined games and pending work. Times in seconds."""

    def __init__(self, services: ApiServices) -> None:
        self._services = services

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; only the `up` metrics if a store is unavailable."""
        try:
            metrics = self._read_stores()
        except StoreUnavailable:
            metrics = []
        yield GaugeMetricFamily("annals_stores_up", "1 while the stores answer", float(bool(metrics)))
        streams = self._services.streams()
        yield GaugeMetricFamily(
            "annals_streams_up", "1 while the process for streams answers", float(streams is not None)
        )
        yield GaugeMetricFamily("annals_streams", "Streams that are open at this server", streams or 0)
        yield GaugeMetricFamily("annals_redis_up", "1 while Redis answers", float(self._services.redis_up()))
        yield from metrics

    def _read_stores(self) -> list[Metric]:
        s, now = self._services, self._services.clock()
        behind = s.ledger.log(s.reader.read_position(), COUNT_LIMIT)
        due = s.reader.list_due(now, COUNT_LIMIT)
        lag = now - behind[0].record.public["at"] if behind else 0
        overdue = now - due[0].at if due else 0
        errands = [e for e in s.job_requests.list_open() if e.is_ready]
        waiting = max((now - e.at for e in errands), default=0)
        silent = now - (s.heartbeat.last_beat() or now)
        return [
            GaugeMetricFamily("annals_silence_seconds", "Since the log was last written to for a probe", silent / 1000),
            GaugeMetricFamily(
                "annals_views_behind", f"Records that no view shows yet, up to {COUNT_LIMIT}", len(behind)
            ),
            GaugeMetricFamily("annals_views_behind_seconds", "Age of the first of them", max(lag, 0) / 1000),
            GaugeMetricFamily(
                "annals_games_set_aside", "Games whose record could not be shown", len(s.reader.list_quarantined())
            ),
            *self._integrity_metrics(now),
            GaugeMetricFamily("annals_due_work", f"Work that is due and not done, up to {COUNT_LIMIT}", len(due)),
            GaugeMetricFamily("annals_due_work_seconds", "For how long the oldest of it is due", overdue / 1000),
            GaugeMetricFamily("annals_errands", "Errands that can be done and are not", len(errands)),
            GaugeMetricFamily("annals_errands_seconds", "Age of the oldest of them", waiting / 1000),
            CounterMetricFamily("annals_clock_jumps", "How often a clock was set forward", s.clock_rows.count_jumps()),
            self._clock_offsets(),
        ]

    def _clock_offsets(self) -> GaugeMetricFamily:
        family = GaugeMetricFamily(
            "annals_clock_offset_seconds", "Time of the service less that of a machine's clock", labels=["machine"]
        )
        for machine in self._services.clock_rows.list_machines():
            family.add_metric([machine.name], machine.offset / 1000)
        return family

    def _integrity_metrics(self, now: int) -> list[GaugeMetricFamily]:
        """Return metrics of damaged records, the running scrub and the continuous backup."""
        s = self._services
        scrub, backup = s.reader.load_progress("scrub"), s.reader.load_progress("backup")
        whole = scrub.get("whole") or scrub.get("began") or now
        copied = backup.get("upto") or backup.get("since") or now
        at = scrub.get("at") or now
        took = (scrub.get("took") or 0) / 1000
        return [
            GaugeMetricFamily(
                "annals_records_damaged", "Records and seeds that are damaged", len(s.corrupt_records.list_all())
            ),
            GaugeMetricFamily("annals_pages_damaged", "Complaints of the database in a round", scrub.get("pages") or 0),
            GaugeMetricFamily("annals_scrub_records", "Records looked at in the round at hand", scrub.get("leaf", 0)),
            GaugeMetricFamily("annals_scrub_round_seconds", "How long the last whole round took", took),
            GaugeMetricFamily("annals_scrub_age_seconds", "Since the last whole round", max(now - whole, 0) / 1000),
            GaugeMetricFamily("annals_scrub_silence_seconds", "Since the last slice of it", max(now - at, 0) / 1000),
            GaugeMetricFamily(
                "annals_backup_age_seconds", "What the running backup lacks", max(now - copied, 0) / 1000
            ),
        ]
