"""Tables, triggers and functions of the ledger on PostgreSQL."""

from __future__ import annotations

from psycopg.sql import SQL, Literal

from domain.ledger import store

LOCK = 0x616E6E616C73  # "annals"; a constant unused by other programs of this database for advisory locks

TABLES = SQL("""
CREATE TABLE IF NOT EXISTS public.records (
  originator_id uuid NOT NULL, originator_version bigint NOT NULL, topic text NOT NULL, state bytea NOT NULL,
  notification_id bigserial UNIQUE, PRIMARY KEY (originator_id, originator_version));
CREATE TABLE IF NOT EXISTS public.commands (
  game uuid NOT NULL, id text NOT NULL, body_hash text NOT NULL,
  first_version bigint NOT NULL, last_version bigint NOT NULL, PRIMARY KEY (game, id));
CREATE TABLE IF NOT EXISTS public.archive (
  game text NOT NULL, first_version bigint NOT NULL, last_version bigint NOT NULL, piece bytea NOT NULL,
  PRIMARY KEY (game, first_version));
CREATE TABLE IF NOT EXISTS public.imported_games (
  game text PRIMARY KEY, account text NOT NULL, ruleset text NOT NULL, version bigint NOT NULL, at bigint NOT NULL,
  piece bytea NOT NULL);
CREATE INDEX IF NOT EXISTS imported_games_account ON public.imported_games (account);
CREATE TABLE IF NOT EXISTS public.seeds (game text PRIMARY KEY, nonce bytea NOT NULL, box bytea NOT NULL);
CREATE TABLE IF NOT EXISTS public.damages (
  game text NOT NULL, version bigint NOT NULL, hash text NOT NULL, said text NOT NULL, found bigint NOT NULL,
  PRIMARY KEY (game, version));
CREATE TABLE IF NOT EXISTS public.master_key (id integer PRIMARY KEY, mark text NOT NULL);
CREATE TABLE IF NOT EXISTS public.keyring (
  number integer NOT NULL, mark text NOT NULL, wrapped text NOT NULL, PRIMARY KEY (number, mark));
CREATE TABLE IF NOT EXISTS public.repairs (
  id bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(), who text NOT NULL DEFAULT session_user,
  transaction xid8 NOT NULL DEFAULT pg_current_xact_id(), what text NOT NULL, why text NOT NULL);
""").format()

# Only a transaction with a row in `repairs`, with reasons, may change the log; rows of `repairs` never change. The
# functions called are PostgreSQL's own, in any search path of a session.
REFUSE_CHANGES = SQL("""
CREATE OR REPLACE FUNCTION public.annals_refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF TG_TABLE_NAME <> 'repairs'
  AND EXISTS (SELECT 1 FROM public.repairs r WHERE r.transaction = pg_current_xact_id()
    AND btrim(r.what) <> '' AND btrim(r.why) <> '') THEN
    RETURN coalesce(NEW, OLD);
  END IF;
  RAISE EXCEPTION {append_only} USING ERRCODE = 'restrict_violation';
END $$""").format(append_only=Literal(store.APPEND_ONLY))

GUARDED = ("records", "commands", "archive", "repairs")

GUARD = SQL("""
DO $$ BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = {name}::regclass AND tgname = 'annals_rows') THEN
    CREATE TRIGGER annals_rows BEFORE UPDATE OR DELETE ON {table}
      FOR EACH ROW EXECUTE FUNCTION public.annals_refuse();
    CREATE TRIGGER annals_all BEFORE TRUNCATE ON {table}
      FOR EACH STATEMENT EXECUTE FUNCTION public.annals_refuse();
  END IF;
END $$""")

GUARDS = """
SELECT count(*) FROM pg_trigger WHERE tgenabled IN ('O', 'A') AND tgname IN ('annals_rows', 'annals_all')
AND tgrelid IN (SELECT to_regclass('public.' || name) FROM unnest(?::text[]) name)"""

# Triggers of any table and rules of tables, unless migration makes them. The services of several versions share both.
FOREIGN_TRIGGERS = """
SELECT tgname FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
WHERE relnamespace = 'public'::regnamespace AND NOT tgisinternal
AND NOT (tgname IN ('annals_rows', 'annals_all') AND tgfoid = to_regproc('public.annals_refuse'))
UNION ALL SELECT rulename FROM pg_rewrite r JOIN pg_class c ON c.oid = ev_class
WHERE relnamespace = 'public'::regnamespace AND relkind <> 'v' AND relkind <> 'm' ORDER BY 1"""

# The path of a table's file contains the numbers of its database and file: they differ for another database of the same
# name, even in the same run of a server, and for a table that was recreated or truncated. They also change after VACUUM
# FULL, where everything is read again needlessly.
LOG_ID = """
SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()),
  to_regclass('public.records')::oid, pg_relation_filepath(to_regclass('public.records')))"""

# What a role without rights may see. A standby that is away leaves its slot; a backup under way counts as a standby.
# `remote_write` would survive the death of a process, but not of a machine.
REPLICATION = """
SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int,
  current_setting('synchronous_standby_names') <> ''
  AND current_setting('synchronous_commit') IN ('on', 'remote_apply'),
  EXISTS (SELECT FROM pg_stat_get_wal_senders())
  OR EXISTS (SELECT FROM pg_replication_slots WHERE slot_type = 'physical' AND NOT temporary)"""

# Positions come from a sequence; without the lock a later position could be committed first, and a reader at the end of
# the log would skip the gap and miss a record. The lock is released after the commit has become visible. Every
# statement of the function sees all commits before it began, so the checks see all earlier appends. Refusals are rows,
# not exceptions, so they use up no position. The table is locked before its id is read, or it could be replaced before
# the checks. Older versions of the service call the function without `_server`, and recreate theirs when they migrate:
# it is a separate function. `_server` has no default, or theirs would be ambiguous.
APPEND = SQL("""
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_proc WHERE pronargdefaults > 0 AND oid = to_regprocedure({append})) THEN
    DROP FUNCTION public.annals_append(uuid, bigint, text[], bytea[], text, text, text);
  END IF;
END $$;
CREATE OR REPLACE FUNCTION public.annals_append(
  _game uuid, _expected bigint, _topics text[], _states bytea[], _command text, _hash text, _server text)
RETURNS TABLE (outcome text, hash text, low bigint, high bigint, positions bigint[])
LANGUAGE plpgsql SET lock_timeout = '10s' AS $$
DECLARE _head bigint; _damaged bigint; _there text;
BEGIN
  PERFORM pg_advisory_xact_lock({lock});
  IF _server IS NOT NULL THEN
    LOCK TABLE public.records IN ROW EXCLUSIVE MODE;
    _there := ({server});
    IF _there <> _server THEN
      RETURN QUERY SELECT 'replaced', _there, NULL::bigint, NULL::bigint, NULL::bigint[];
      RETURN;
    END IF;
  END IF;
  IF _command IS NOT NULL THEN
    RETURN QUERY SELECT 'known', c.body_hash, c.first_version, c.last_version, ARRAY(
        SELECT r.notification_id FROM public.records r WHERE r.originator_id = _game
        AND r.originator_version BETWEEN c.first_version AND c.last_version ORDER BY r.originator_version)
      FROM public.commands c WHERE c.game = _game AND c.id = _command;
    IF FOUND THEN RETURN; END IF;
  END IF;
  SELECT min(d.version) INTO _damaged FROM public.damages d WHERE d.game = _game::text;
  IF _damaged IS NOT NULL THEN
    RETURN QUERY SELECT 'damaged', NULL::text, _damaged, _damaged, NULL::bigint[];
    RETURN;
  END IF;
  SELECT coalesce(max(r.originator_version), 0) INTO _head FROM public.records r WHERE r.originator_id = _game;
  IF _head <> _expected THEN
    RETURN QUERY SELECT 'stale', NULL::text, _head, _head, NULL::bigint[];
    RETURN;
  END IF;
  IF _command IS NOT NULL THEN
    INSERT INTO public.commands VALUES (_game, _command, _hash, _head + 1, _head + cardinality(_topics));
  END IF;
  RETURN QUERY WITH stored AS (
      INSERT INTO public.records AS r (originator_id, originator_version, topic, state)
      SELECT _game, _head + u.n, u.topic, u.state FROM unnest(_topics, _states) WITH ORDINALITY u (topic, state, n)
      ORDER BY u.n RETURNING r.notification_id)
    SELECT 'stored', NULL::text, _head + 1, _head + cardinality(_topics),
      (SELECT array_agg(s.notification_id ORDER BY s.notification_id) FROM stored s);
END $$;
CREATE OR REPLACE FUNCTION public.annals_append(
  _game uuid, _expected bigint, _topics text[], _states bytea[], _command text, _hash text)
RETURNS TABLE (outcome text, hash text, low bigint, high bigint, positions bigint[])
LANGUAGE plpgsql SET lock_timeout = '10s' AS $$
BEGIN
  RETURN QUERY SELECT * FROM public.annals_append(_game, _expected, _topics, _states, _command, _hash, NULL);
END $$""").format(
    lock=Literal(LOCK),
    server=SQL(LOG_ID),
    append=Literal("public.annals_append(uuid, bigint, text[], bytea[], text, text, text)"),
)

APPEND_LOCKS = (
    SQL("SET LOCAL lock_timeout = '2s'"),
    SQL("SELECT pg_advisory_xact_lock({lock})").format(lock=Literal(LOCK)),
    SQL("LOCK TABLE public.records IN ROW EXCLUSIVE MODE"),
)

# An append that stores nothing, and a check of the privileges that a real one needs.
CHECK_APPEND = """
SELECT outcome = 'stale' AND has_table_privilege('public.records', 'INSERT')
  AND has_table_privilege('public.commands', 'INSERT')
  AND has_sequence_privilege(pg_get_serial_sequence('public.records', 'notification_id'), 'USAGE') IS NOT FALSE
FROM public.annals_append('00000000-0000-0000-0000-000000000000', -1, '{}', '{}', '', '', NULL)"""
