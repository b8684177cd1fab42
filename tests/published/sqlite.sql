-- ledger
CREATE INDEX account_log_account ON account_log (account, id);
CREATE INDEX account_names_account ON account_names (account);
CREATE INDEX account_players_account ON account_players (account);
CREATE INDEX announcements_tournament ON announcements (tournament, at);
CREATE UNIQUE INDEX calendar_keys_id ON calendar_keys (id);
CREATE INDEX challenges_player ON challenges (player);
CREATE INDEX chats_account ON chats (account);
CREATE INDEX chats_webhook ON chats (webhook);
CREATE INDEX deliveries_due ON deliveries (due) WHERE state = 'waiting';
CREATE INDEX deliveries_game ON deliveries (game) WHERE state = 'waiting';
CREATE INDEX deliveries_made ON deliveries (made);
CREATE INDEX deliveries_waiting ON deliveries (webhook, due) WHERE state = 'waiting';
CREATE INDEX deliveries_webhook ON deliveries (webhook, made);
CREATE UNIQUE INDEX errands_motions ON errands (game, version, round);
CREATE INDEX errands_open ON errands (at) WHERE outcome = '';
CREATE UNIQUE INDEX event_claims_hash ON event_claims (hash);
CREATE INDEX event_offers_player ON event_offers (player);
CREATE INDEX followed_series_tournament ON followed_series (tournament);
CREATE INDEX hidden_players_game ON hidden_players (game);
CREATE INDEX imported_games_account ON imported_games (account);
CREATE INDEX mail_asked_mark ON mail_asked (mark, at);
CREATE INDEX mailboxes_next ON mailboxes (next) WHERE next > 0;
CREATE INDEX mailboxes_token ON mailboxes (token);
CREATE INDEX mailboxes_webhook ON mailboxes (webhook);
CREATE INDEX oauth_clients_account ON oauth_clients (account);
CREATE INDEX oauth_grants_account ON oauth_grants (account);
CREATE INDEX oauth_grants_client ON oauth_grants (client);
CREATE INDEX office_offers_player ON office_offers (player);
CREATE INDEX officers_player ON officers (player);
CREATE INDEX personal_tokens_account ON personal_tokens (account);
CREATE INDEX push_devices_account ON push_devices (account);
CREATE UNIQUE INDEX push_devices_mark ON push_devices (mark);
CREATE INDEX reports_account ON reports (account);
CREATE INDEX sessions_account ON sessions (account);
CREATE INDEX standing_orders_acted ON standing_orders (acted_at);
CREATE INDEX standing_orders_ended ON standing_orders (ended);
CREATE INDEX standing_orders_game ON standing_orders (game, seat, at);
CREATE INDEX standing_orders_player ON standing_orders (player);
CREATE INDEX standing_orders_state ON standing_orders (state, game);
CREATE INDEX substitute_offers_player ON substitute_offers (player);
CREATE INDEX talk_answers_reply ON talk_answers (game, reply);
CREATE INDEX talk_disclosures_game ON talk_disclosures (game, at);
CREATE INDEX talk_entries_conversation
  ON talk_entries (game, mailbox, conversation, entry, player, author);
CREATE INDEX talk_entries_player ON talk_entries (player, game, mailbox, entry);
CREATE INDEX talk_held_number ON talk_held (game, number);
CREATE INDEX talk_messages_at ON talk_messages (at);
CREATE INDEX talk_messages_player ON talk_messages (player);
CREATE INDEX talk_messages_request ON talk_messages (game, request);
CREATE INDEX talk_reports_game ON talk_reports (game, at);
CREATE INDEX talk_silences_person ON talk_silences (person);
CREATE INDEX talk_treaties_ends ON talk_treaties (ends);
CREATE INDEX tokens_player ON tokens (player);
CREATE INDEX webhooks_account ON webhooks (account);
CREATE INDEX webhooks_held ON webhooks (held, host);
CREATE TABLE account_invitations (
  hash TEXT PRIMARY KEY, account TEXT NOT NULL, until BIGINT NOT NULL, uses BIGINT NOT NULL);
CREATE TABLE account_log (
  id TEXT PRIMARY KEY, account TEXT NOT NULL, at BIGINT NOT NULL, what TEXT NOT NULL, address TEXT NOT NULL,
  detail TEXT NOT NULL);
CREATE TABLE account_names (
  key TEXT NOT NULL, account TEXT NOT NULL, name TEXT NOT NULL, since BIGINT NOT NULL, until BIGINT NOT NULL,
  PRIMARY KEY (key, account, since));
CREATE TABLE account_players (
  player TEXT PRIMARY KEY, account TEXT NOT NULL, since BIGINT NOT NULL);
CREATE TABLE account_settings (account TEXT PRIMARY KEY, zone TEXT NOT NULL);
CREATE TABLE accounts (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, player TEXT NOT NULL, state TEXT NOT NULL, until BIGINT NOT NULL,
  role TEXT NOT NULL, bot INTEGER NOT NULL, made BIGINT NOT NULL, request TEXT NOT NULL);
CREATE TABLE agent_seats (
  game TEXT NOT NULL, seat INTEGER NOT NULL, player TEXT NOT NULL, PRIMARY KEY (game, seat));
CREATE TABLE announcements (
  id TEXT PRIMARY KEY, tournament TEXT NOT NULL, game TEXT NOT NULL, player TEXT NOT NULL, said TEXT NOT NULL,
  at BIGINT NOT NULL);
CREATE TABLE archive (
  game TEXT NOT NULL, first_version INTEGER NOT NULL, last_version INTEGER NOT NULL, piece BLOB NOT NULL,
  PRIMARY KEY (game, first_version));
CREATE TABLE blocks (
  account TEXT NOT NULL, player TEXT NOT NULL, since BIGINT NOT NULL, PRIMARY KEY (account, player));
CREATE TABLE calendar_keys (
  account TEXT PRIMARY KEY, id TEXT NOT NULL, hash TEXT NOT NULL, made BIGINT NOT NULL);
CREATE TABLE cards (
  game TEXT PRIMARY KEY, player TEXT NOT NULL, title TEXT NOT NULL, note TEXT NOT NULL);
CREATE TABLE challenges (
  game TEXT NOT NULL, called TEXT NOT NULL, player TEXT NOT NULL, seat INTEGER NOT NULL, by TEXT NOT NULL,
  at BIGINT NOT NULL, until BIGINT NOT NULL, answer TEXT NOT NULL, PRIMARY KEY (game, called));
CREATE TABLE chats (
  game TEXT PRIMARY KEY, account TEXT NOT NULL, webhook TEXT NOT NULL, language TEXT NOT NULL);
CREATE TABLE checkpoints (
  name TEXT PRIMARY KEY, size BIGINT NOT NULL, root TEXT NOT NULL, note TEXT NOT NULL, at BIGINT NOT NULL);
CREATE TABLE clocks (
  machine TEXT PRIMARY KEY, name TEXT NOT NULL, at BIGINT NOT NULL, wall BIGINT NOT NULL, up BIGINT NOT NULL);
CREATE TABLE commands (
  game TEXT NOT NULL, id TEXT NOT NULL, body_hash TEXT NOT NULL,
  first_version INTEGER NOT NULL, last_version INTEGER NOT NULL, PRIMARY KEY (game, id)) WITHOUT ROWID;
CREATE TABLE consents (
  errand TEXT NOT NULL, seat BIGINT NOT NULL, agrees BIGINT NOT NULL, PRIMARY KEY (errand, seat));
CREATE TABLE damages (
  game TEXT NOT NULL, version INTEGER NOT NULL, hash TEXT NOT NULL, said TEXT NOT NULL, found BIGINT NOT NULL,
  PRIMARY KEY (game, version));
CREATE TABLE deliveries (
  id TEXT PRIMARY KEY, webhook TEXT NOT NULL, type TEXT NOT NULL, game TEXT NOT NULL, box TEXT NOT NULL,
  state TEXT NOT NULL, made BIGINT NOT NULL, due BIGINT NOT NULL, until BIGINT NOT NULL, tries BIGINT NOT NULL,
  log TEXT NOT NULL);
CREATE TABLE errands (
  id TEXT PRIMARY KEY, work TEXT NOT NULL, game TEXT NOT NULL, version BIGINT NOT NULL, round BIGINT,
  args TEXT NOT NULL, asked TEXT NOT NULL, at BIGINT NOT NULL, outcome TEXT NOT NULL);
CREATE TABLE event_claims (
  tournament TEXT NOT NULL, player TEXT NOT NULL, hash TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (tournament, player));
CREATE TABLE event_codes (
  tournament TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, people BIGINT NOT NULL, until BIGINT NOT NULL);
CREATE TABLE event_guests (
  account TEXT NOT NULL, tournament TEXT NOT NULL, until BIGINT NOT NULL, PRIMARY KEY (account, tournament));
CREATE TABLE event_offers (
  tournament TEXT NOT NULL, player TEXT NOT NULL, part TEXT NOT NULL, by TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (tournament, player, part));
CREATE TABLE factors (
  account TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, secret TEXT NOT NULL, made BIGINT NOT NULL,
  PRIMARY KEY (account, kind, id));
CREATE TABLE followed_series (
  account TEXT NOT NULL, tournament TEXT NOT NULL, since BIGINT NOT NULL, PRIMARY KEY (account, tournament));
CREATE TABLE heartbeat (name TEXT PRIMARY KEY, at BIGINT NOT NULL);
CREATE TABLE hidden_players (player TEXT PRIMARY KEY, game TEXT NOT NULL);
CREATE TABLE imported_games (
  game TEXT PRIMARY KEY, account TEXT NOT NULL, ruleset TEXT NOT NULL, version INTEGER NOT NULL, at BIGINT NOT NULL,
  piece BLOB NOT NULL);
CREATE TABLE invitations (game TEXT PRIMARY KEY, hash TEXT NOT NULL);
CREATE TABLE keyring (
  number INTEGER NOT NULL, mark TEXT NOT NULL, wrapped TEXT NOT NULL, PRIMARY KEY (number, mark));
CREATE TABLE leaps (
  began BIGINT PRIMARY KEY, ms BIGINT NOT NULL, stage BIGINT NOT NULL, position BIGINT NOT NULL,
  leapt BIGINT NOT NULL);
CREATE TABLE mail_asked (mark TEXT NOT NULL, at BIGINT NOT NULL);
CREATE TABLE mail_unread (
  account TEXT NOT NULL, game TEXT NOT NULL, type TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (account, game, type));
CREATE TABLE mailboxes (
  account TEXT PRIMARY KEY, webhook TEXT NOT NULL, state TEXT NOT NULL, events TEXT NOT NULL, digest TEXT NOT NULL,
  hour BIGINT NOT NULL, language TEXT NOT NULL, token TEXT NOT NULL, code TEXT NOT NULL, until BIGINT NOT NULL,
  tries BIGINT NOT NULL, made BIGINT NOT NULL, next BIGINT NOT NULL, last BIGINT NOT NULL, bounces BIGINT NOT NULL);
CREATE TABLE master_key (id INTEGER PRIMARY KEY, mark TEXT NOT NULL);
CREATE TABLE notice_position (name TEXT PRIMARY KEY, position BIGINT NOT NULL);
CREATE TABLE oauth_client_rights (
  client TEXT PRIMARY KEY, grant_types TEXT NOT NULL, scopes TEXT NOT NULL);
CREATE TABLE oauth_clients (
  id TEXT PRIMARY KEY, account TEXT NOT NULL, name TEXT NOT NULL, redirects TEXT NOT NULL, secret TEXT NOT NULL,
  made BIGINT NOT NULL, ended BIGINT NOT NULL, request TEXT NOT NULL);
CREATE TABLE oauth_codes (
  hash TEXT PRIMARY KEY, account TEXT NOT NULL, client TEXT NOT NULL, scopes TEXT NOT NULL, redirect TEXT NOT NULL,
  challenge TEXT NOT NULL, until BIGINT NOT NULL, given TEXT NOT NULL);
CREATE TABLE oauth_devices (
  hash TEXT PRIMARY KEY, code TEXT NOT NULL UNIQUE, client TEXT NOT NULL, scopes TEXT NOT NULL, until BIGINT NOT NULL,
  asked BIGINT NOT NULL, pace BIGINT NOT NULL, state TEXT NOT NULL, account TEXT NOT NULL);
CREATE TABLE oauth_grants (
  id TEXT PRIMARY KEY, account TEXT NOT NULL, client TEXT NOT NULL, scopes TEXT NOT NULL, made BIGINT NOT NULL,
  used BIGINT NOT NULL, access TEXT NOT NULL, allowed TEXT NOT NULL, access_until BIGINT NOT NULL,
  refresh TEXT NOT NULL, until BIGINT NOT NULL);
CREATE TABLE office_offers (
  game TEXT NOT NULL, player TEXT NOT NULL, role TEXT NOT NULL, by TEXT NOT NULL, reason TEXT NOT NULL,
  at BIGINT NOT NULL, PRIMARY KEY (game, player));
CREATE TABLE officers (
  game TEXT NOT NULL, player TEXT NOT NULL, office TEXT NOT NULL, id TEXT NOT NULL UNIQUE,
  PRIMARY KEY (game, player));
CREATE TABLE page_settings (account TEXT PRIMARY KEY, settings TEXT NOT NULL);
CREATE TABLE page_visits (
  account TEXT NOT NULL, game TEXT NOT NULL, seen BIGINT NOT NULL, since BIGINT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (account, game));
CREATE TABLE people (player TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE personal_news (
  subject TEXT NOT NULL, player TEXT NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (subject, player));
CREATE TABLE personal_tokens (
  id TEXT PRIMARY KEY, hash TEXT NOT NULL, account TEXT NOT NULL, label TEXT NOT NULL, scopes TEXT NOT NULL,
  made BIGINT NOT NULL, used BIGINT NOT NULL, until BIGINT NOT NULL, ended BIGINT NOT NULL);
CREATE TABLE push_devices (
  webhook TEXT PRIMARY KEY, account TEXT NOT NULL, mark TEXT NOT NULL, name TEXT NOT NULL, language TEXT NOT NULL,
  key TEXT NOT NULL, box TEXT NOT NULL);
CREATE TABLE push_keys (id TEXT PRIMARY KEY, box TEXT NOT NULL, made BIGINT NOT NULL);
CREATE TABLE records (
  rowid INTEGER PRIMARY KEY, originator_id TEXT NOT NULL, originator_version INTEGER NOT NULL,
  topic TEXT NOT NULL, state BLOB NOT NULL, UNIQUE (originator_id, originator_version));
CREATE TABLE relations (
  account TEXT NOT NULL, player TEXT NOT NULL, since BIGINT NOT NULL, PRIMARY KEY (account, player));
CREATE TABLE repairs (
  id INTEGER PRIMARY KEY, at INTEGER NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, why TEXT NOT NULL);
CREATE TABLE reports (
  id TEXT PRIMARY KEY, account TEXT NOT NULL, at BIGINT NOT NULL, player TEXT NOT NULL, game TEXT NOT NULL,
  said TEXT NOT NULL, outcome TEXT NOT NULL, settled BIGINT NOT NULL);
CREATE TABLE room (id INTEGER PRIMARY KEY, filler TEXT NOT NULL);
CREATE TABLE seeds (game TEXT PRIMARY KEY, nonce BLOB NOT NULL, box BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, hash TEXT NOT NULL, account TEXT NOT NULL, label TEXT NOT NULL, factors TEXT NOT NULL,
  family TEXT NOT NULL, made BIGINT NOT NULL, proved BIGINT NOT NULL, used BIGINT NOT NULL);
CREATE TABLE signing_halts (reason TEXT PRIMARY KEY, at BIGINT NOT NULL);
CREATE TABLE signing_keys (
  number INTEGER PRIMARY KEY, origin TEXT NOT NULL, secret TEXT NOT NULL, vkeys TEXT NOT NULL,
  since BIGINT NOT NULL, until BIGINT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE signing_server (
  name TEXT PRIMARY KEY, timeline BIGINT NOT NULL, confirmed BIGINT NOT NULL);
CREATE TABLE silences (
  began BIGINT PRIMARY KEY, ended BIGINT NOT NULL, settled INTEGER NOT NULL);
CREATE TABLE spent_challenges (hash TEXT PRIMARY KEY, until BIGINT NOT NULL);
CREATE TABLE standing_orders (
  id TEXT PRIMARY KEY, game TEXT NOT NULL, seat INTEGER NOT NULL, player TEXT NOT NULL, at BIGINT NOT NULL,
  request TEXT NOT NULL, sealed TEXT NOT NULL, acts TEXT NOT NULL, acted BIGINT NOT NULL, acted_at BIGINT NOT NULL,
  state TEXT NOT NULL, reason TEXT NOT NULL, ended BIGINT NOT NULL,
  decision TEXT NOT NULL, wake BIGINT NOT NULL, seen BIGINT NOT NULL);
CREATE TABLE streams (
  hash TEXT PRIMARY KEY, token TEXT NOT NULL, browser TEXT NOT NULL, until BIGINT);
CREATE TABLE substitute_offers (
  tournament TEXT NOT NULL, by TEXT NOT NULL, player TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (tournament, by, player));
CREATE TABLE talk_answers (
  game TEXT NOT NULL, number BIGINT NOT NULL, seat INTEGER NOT NULL, answer TEXT NOT NULL, reply BIGINT NOT NULL,
  version BIGINT NOT NULL, PRIMARY KEY (game, number, seat));
CREATE TABLE talk_disclosures (
  id TEXT PRIMARY KEY, game TEXT NOT NULL, mailbox INTEGER NOT NULL, player TEXT NOT NULL, shown_to TEXT NOT NULL,
  entries TEXT NOT NULL, at BIGINT NOT NULL);
CREATE TABLE talk_entries (
  game TEXT NOT NULL, mailbox INTEGER NOT NULL, entry BIGINT NOT NULL, number BIGINT NOT NULL,
  conversation TEXT NOT NULL, player TEXT NOT NULL, author TEXT NOT NULL, PRIMARY KEY (game, mailbox, entry));
CREATE TABLE talk_held (
  report TEXT NOT NULL, game TEXT NOT NULL, number BIGINT NOT NULL, PRIMARY KEY (report, number));
CREATE TABLE talk_keys (
  game TEXT NOT NULL, number BIGINT NOT NULL, sealed TEXT NOT NULL, PRIMARY KEY (game, number));
CREATE TABLE talk_marks (
  game TEXT NOT NULL, mailbox INTEGER NOT NULL, player TEXT NOT NULL, conversation TEXT NOT NULL,
  seen BIGINT NOT NULL, muted INTEGER NOT NULL, PRIMARY KEY (game, mailbox, player, conversation));
CREATE TABLE talk_messages (
  game TEXT NOT NULL, number BIGINT NOT NULL, request TEXT NOT NULL, seat INTEGER NOT NULL, player TEXT NOT NULL,
  version BIGINT NOT NULL, at BIGINT NOT NULL, commitment TEXT NOT NULL, sealed TEXT NOT NULL, erased TEXT NOT NULL,
  PRIMARY KEY (game, number));
CREATE TABLE talk_notes (
  game TEXT NOT NULL, player TEXT NOT NULL, place TEXT NOT NULL, sealed TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (game, player, place));
CREATE TABLE talk_reports (
  id TEXT PRIMARY KEY, game TEXT NOT NULL, mailbox INTEGER NOT NULL, player TEXT NOT NULL, handler TEXT NOT NULL,
  entries TEXT NOT NULL, at BIGINT NOT NULL);
CREATE TABLE talk_silences (
  game TEXT NOT NULL, person TEXT NOT NULL, until BIGINT NOT NULL, reason TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (game, person));
CREATE TABLE talk_tables (game TEXT PRIMARY KEY, state TEXT NOT NULL);
CREATE TABLE talk_treaties (
  game TEXT NOT NULL, number BIGINT NOT NULL, seat INTEGER NOT NULL, ends BIGINT NOT NULL,
  PRIMARY KEY (game, number));
CREATE TABLE texts (
  hash TEXT PRIMARY KEY, player TEXT NOT NULL, salt TEXT NOT NULL, said TEXT NOT NULL);
CREATE TABLE tickets (id TEXT PRIMARY KEY, hash TEXT NOT NULL, token TEXT NOT NULL, until BIGINT);
CREATE TABLE tokens (
  game TEXT NOT NULL, role TEXT NOT NULL, id TEXT NOT NULL UNIQUE, hash TEXT NOT NULL, player TEXT NOT NULL,
  revoked INTEGER NOT NULL, PRIMARY KEY (game, role));
CREATE TABLE watching (
  account TEXT NOT NULL, game TEXT NOT NULL, since BIGINT NOT NULL, PRIMARY KEY (account, game));
CREATE TABLE webhooks (
  id TEXT PRIMARY KEY, account TEXT NOT NULL, about TEXT NOT NULL, game TEXT NOT NULL, events TEXT NOT NULL,
  host TEXT NOT NULL, box TEXT NOT NULL, state TEXT NOT NULL, made BIGINT NOT NULL, since BIGINT NOT NULL,
  failed BIGINT NOT NULL, failing BIGINT NOT NULL, ms BIGINT NOT NULL, next BIGINT NOT NULL, held BIGINT NOT NULL,
  used BIGINT NOT NULL);
CREATE TABLE witness_keys (
  number INTEGER PRIMARY KEY, name TEXT NOT NULL, secret TEXT NOT NULL, vkeys TEXT NOT NULL,
  since BIGINT NOT NULL, until BIGINT NOT NULL);
CREATE TABLE witness_reports (
  name TEXT PRIMARY KEY, size BIGINT NOT NULL, at BIGINT NOT NULL, failure TEXT NOT NULL);
CREATE TABLE witnessed_logs (
  origin_hash TEXT PRIMARY KEY, size BIGINT NOT NULL, root TEXT NOT NULL, note TEXT NOT NULL, at BIGINT NOT NULL);
CREATE TRIGGER archive_not_deleted BEFORE DELETE ON archive BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER archive_not_replaced BEFORE INSERT ON archive WHEN EXISTS (SELECT 1 FROM archive WHERE game = NEW.game AND first_version = NEW.first_version) BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER archive_not_updated BEFORE UPDATE ON archive BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER commands_not_deleted BEFORE DELETE ON commands BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER commands_not_replaced BEFORE INSERT ON commands WHEN EXISTS (SELECT 1 FROM commands WHERE game = NEW.game AND id = NEW.id) BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER commands_not_updated BEFORE UPDATE ON commands BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER records_not_deleted BEFORE DELETE ON records BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER records_not_replaced BEFORE INSERT ON records WHEN EXISTS (SELECT 1 FROM records WHERE rowid = NEW.rowid OR (originator_id = NEW.originator_id AND originator_version = NEW.originator_version)) BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER records_not_updated BEFORE UPDATE ON records BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER repairs_not_deleted BEFORE DELETE ON repairs BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER repairs_not_replaced BEFORE INSERT ON repairs WHEN EXISTS (SELECT 1 FROM repairs WHERE id = NEW.id) BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER repairs_not_updated BEFORE UPDATE ON repairs BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
-- views
CREATE INDEX due_at ON due (gen, at);
CREATE INDEX games_listed ON games (gen, listing, place);
CREATE INDEX held_back_at ON held_back (gen, at);
CREATE INDEX leaves_record ON leaves (gen, game, version);
CREATE INDEX results_player ON results (gen, player, at);
CREATE INDEX seated_player ON seated (gen, player);
CREATE INDEX tournament_tables_game ON tournament_tables (gen, table_game);
CREATE INDEX tournaments_listed ON tournaments (gen, listing, place);
CREATE TABLE aside (
	gen INTEGER NOT NULL, 
	game VARCHAR(36) NOT NULL, 
	position BIGINT NOT NULL, 
	error VARCHAR(200) NOT NULL, 
	PRIMARY KEY (gen, game)
);
CREATE TABLE boards (
	gen INTEGER NOT NULL, 
	game VARCHAR(36) NOT NULL, 
	viewer VARCHAR(10) NOT NULL, 
	version INTEGER NOT NULL, 
	doc BLOB NOT NULL, 
	PRIMARY KEY (gen, game, viewer)
);
CREATE TABLE due (
	gen INTEGER NOT NULL, 
	game VARCHAR(36) NOT NULL, 
	decision VARCHAR(24) NOT NULL, 
	work VARCHAR(10) NOT NULL, 
	at BIGINT NOT NULL, 
	deadline BIGINT, 
	last BIGINT, 
	PRIMARY KEY (gen, game, decision, work)
);
CREATE TABLE games (
	gen INTEGER NOT NULL, 
	game VARCHAR(36) NOT NULL, 
	shown_to VARCHAR(6) NOT NULL, 
	place BIGINT NOT NULL, 
	version INTEGER NOT NULL, 
	ruleset VARCHAR(80) NOT NULL, 
	status VARCHAR(10) NOT NULL, 
	listing VARCHAR(10) NOT NULL, 
	free INTEGER NOT NULL, 
	at BIGINT NOT NULL, 
	doc BLOB NOT NULL, 
	PRIMARY KEY (gen, game, shown_to)
);
CREATE TABLE generations (
	gen INTEGER NOT NULL, 
	position BIGINT NOT NULL, 
	live BOOLEAN NOT NULL, 
	parts INTEGER NOT NULL, 
	leaves BIGINT NOT NULL, 
	frontier BLOB NOT NULL, 
	place BIGINT NOT NULL, 
	PRIMARY KEY (gen)
);
CREATE TABLE held_back (
	gen INTEGER NOT NULL, 
	game VARCHAR(36) NOT NULL, 
	shown INTEGER NOT NULL, 
	head INTEGER NOT NULL, 
	at BIGINT NOT NULL, 
	PRIMARY KEY (gen, game)
);
CREATE TABLE keyframes (
	gen INTEGER NOT NULL, 
	game VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	reader VARCHAR(10) NOT NULL, 
	form VARCHAR(16) NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	doc BLOB NOT NULL, 
	PRIMARY KEY (gen, game, version, reader)
);
CREATE TABLE leases (
	name VARCHAR(40) NOT NULL, 
	owner VARCHAR(80) NOT NULL, 
	until BIGINT NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE leaves (
	gen INTEGER NOT NULL, 
	leaf BIGINT NOT NULL, 
	game VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	position BIGINT NOT NULL, 
	PRIMARY KEY (gen, leaf)
);
CREATE TABLE nodes (
	gen INTEGER NOT NULL, 
	level INTEGER NOT NULL, 
	number BIGINT NOT NULL, 
	hash BLOB NOT NULL, 
	PRIMARY KEY (gen, level, number)
);
CREATE TABLE outlines (
	gen INTEGER NOT NULL, 
	game VARCHAR(36) NOT NULL, 
	reader VARCHAR(12) NOT NULL, 
	version INTEGER NOT NULL, 
	form VARCHAR(16) NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	doc BLOB NOT NULL, 
	PRIMARY KEY (gen, game, reader)
);
CREATE TABLE parts (
	gen INTEGER NOT NULL, 
	part INTEGER NOT NULL, 
	owner VARCHAR(80) NOT NULL, 
	until BIGINT NOT NULL, 
	position BIGINT NOT NULL, 
	game VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	PRIMARY KEY (gen, part)
);
CREATE TABLE progress (
	name VARCHAR(40) NOT NULL, 
	doc BLOB NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE results (
	gen INTEGER NOT NULL, 
	game VARCHAR(36) NOT NULL, 
	seat INTEGER NOT NULL, 
	player VARCHAR(80) NOT NULL, 
	ruleset VARCHAR(80) NOT NULL, 
	place INTEGER, 
	points INTEGER, 
	reason VARCHAR(40) NOT NULL, 
	"by" VARCHAR(10) NOT NULL, 
	conceded BOOLEAN NOT NULL, 
	forfeited BOOLEAN NOT NULL, 
	penalty BIGINT NOT NULL, 
	held BOOLEAN NOT NULL, 
	adopted BOOLEAN NOT NULL, 
	at BIGINT NOT NULL, 
	PRIMARY KEY (gen, game, seat, player)
);
CREATE TABLE seated (
	gen INTEGER NOT NULL, 
	game VARCHAR(36) NOT NULL, 
	seat INTEGER NOT NULL, 
	player VARCHAR(80) NOT NULL, 
	PRIMARY KEY (gen, game, seat)
);
CREATE TABLE shape (
	hash VARCHAR(64) NOT NULL, 
	PRIMARY KEY (hash)
);
CREATE TABLE timeline (
	gen INTEGER NOT NULL, 
	game VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	audience VARCHAR(40) NOT NULL, 
	doc BLOB NOT NULL, 
	PRIMARY KEY (gen, game, version, audience)
);
CREATE TABLE tournament_tables (
	gen INTEGER NOT NULL, 
	game VARCHAR(36) NOT NULL, 
	stage INTEGER NOT NULL, 
	round INTEGER NOT NULL, 
	pod INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	table_game VARCHAR(36) NOT NULL, 
	reported BOOLEAN NOT NULL, 
	counts BOOLEAN NOT NULL, 
	places VARCHAR(40) NOT NULL, 
	PRIMARY KEY (gen, game, stage, round, pod, attempt)
);
CREATE TABLE tournaments (
	gen INTEGER NOT NULL, 
	game VARCHAR(36) NOT NULL, 
	place BIGINT NOT NULL, 
	version INTEGER NOT NULL, 
	ruleset VARCHAR(80) NOT NULL, 
	status VARCHAR(12) NOT NULL, 
	listing VARCHAR(10) NOT NULL, 
	at BIGINT NOT NULL, 
	archived BOOLEAN NOT NULL, 
	doc BLOB NOT NULL, 
	PRIMARY KEY (gen, game)
);
