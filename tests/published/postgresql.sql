account_invitations.account text NOT NULL
account_invitations.hash text NOT NULL
account_invitations.until bigint NOT NULL
account_invitations.uses bigint NOT NULL
account_log.account text NOT NULL
account_log.address text NOT NULL
account_log.at bigint NOT NULL
account_log.detail text NOT NULL
account_log.id text NOT NULL
account_log.what text NOT NULL
account_names.account text NOT NULL
account_names.key text NOT NULL
account_names.name text NOT NULL
account_names.since bigint NOT NULL
account_names.until bigint NOT NULL
account_players.account text NOT NULL
account_players.player text NOT NULL
account_players.since bigint NOT NULL
account_settings.account text NOT NULL
account_settings.zone text NOT NULL
accounts.bot integer NOT NULL
accounts.id text NOT NULL
accounts.made bigint NOT NULL
accounts.name text NOT NULL
accounts.player text NOT NULL
accounts.request text NOT NULL
accounts.role text NOT NULL
accounts.state text NOT NULL
accounts.until bigint NOT NULL
agent_seats.game text NOT NULL
agent_seats.player text NOT NULL
agent_seats.seat integer NOT NULL
announcements.at bigint NOT NULL
announcements.game text NOT NULL
announcements.id text NOT NULL
announcements.player text NOT NULL
announcements.said text NOT NULL
announcements.tournament text NOT NULL
archive.first_version bigint NOT NULL
archive.game text NOT NULL
archive.last_version bigint NOT NULL
archive.piece bytea NOT NULL
aside.error character varying NOT NULL
aside.game character varying NOT NULL
aside.gen integer NOT NULL
aside.position bigint NOT NULL
blocks.account text NOT NULL
blocks.player text NOT NULL
blocks.since bigint NOT NULL
boards.doc bytea NOT NULL
boards.game character varying NOT NULL
boards.gen integer NOT NULL
boards.version integer NOT NULL
boards.viewer character varying NOT NULL
calendar_keys.account text NOT NULL
calendar_keys.hash text NOT NULL
calendar_keys.id text NOT NULL
calendar_keys.made bigint NOT NULL
cards.game text NOT NULL
cards.note text NOT NULL
cards.player text NOT NULL
cards.title text NOT NULL
challenges.answer text NOT NULL
challenges.at bigint NOT NULL
challenges.by text NOT NULL
challenges.called text NOT NULL
challenges.game text NOT NULL
challenges.player text NOT NULL
challenges.seat integer NOT NULL
challenges.until bigint NOT NULL
chats.account text NOT NULL
chats.game text NOT NULL
chats.language text NOT NULL
chats.webhook text NOT NULL
checkpoints.at bigint NOT NULL
checkpoints.name text NOT NULL
checkpoints.note text NOT NULL
checkpoints.root text NOT NULL
checkpoints.size bigint NOT NULL
clocks.at bigint NOT NULL
clocks.machine text NOT NULL
clocks.name text NOT NULL
clocks.up bigint NOT NULL
clocks.wall bigint NOT NULL
commands.body_hash text NOT NULL
commands.first_version bigint NOT NULL
commands.game uuid NOT NULL
commands.id text NOT NULL
commands.last_version bigint NOT NULL
consents.agrees bigint NOT NULL
consents.errand text NOT NULL
consents.seat bigint NOT NULL
damages.found bigint NOT NULL
damages.game text NOT NULL
damages.hash text NOT NULL
damages.said text NOT NULL
damages.version bigint NOT NULL
deliveries.box text NOT NULL
deliveries.due bigint NOT NULL
deliveries.game text NOT NULL
deliveries.id text NOT NULL
deliveries.log text NOT NULL
deliveries.made bigint NOT NULL
deliveries.state text NOT NULL
deliveries.tries bigint NOT NULL
deliveries.type text NOT NULL
deliveries.until bigint NOT NULL
deliveries.webhook text NOT NULL
due.at bigint NOT NULL
due.deadline bigint
due.decision character varying NOT NULL
due.game character varying NOT NULL
due.gen integer NOT NULL
due.last bigint
due.work character varying NOT NULL
errands.args text NOT NULL
errands.asked text NOT NULL
errands.at bigint NOT NULL
errands.game text NOT NULL
errands.id text NOT NULL
errands.outcome text NOT NULL
errands.round bigint
errands.version bigint NOT NULL
errands.work text NOT NULL
event_claims.at bigint NOT NULL
event_claims.hash text NOT NULL
event_claims.player text NOT NULL
event_claims.tournament text NOT NULL
event_codes.hash text NOT NULL
event_codes.people bigint NOT NULL
event_codes.tournament text NOT NULL
event_codes.until bigint NOT NULL
event_guests.account text NOT NULL
event_guests.tournament text NOT NULL
event_guests.until bigint NOT NULL
event_offers.at bigint NOT NULL
event_offers.by text NOT NULL
event_offers.part text NOT NULL
event_offers.player text NOT NULL
event_offers.tournament text NOT NULL
factors.account text NOT NULL
factors.id text NOT NULL
factors.kind text NOT NULL
factors.made bigint NOT NULL
factors.secret text NOT NULL
followed_series.account text NOT NULL
followed_series.since bigint NOT NULL
followed_series.tournament text NOT NULL
games.at bigint NOT NULL
games.doc bytea NOT NULL
games.free integer NOT NULL
games.game character varying NOT NULL
games.gen integer NOT NULL
games.listing character varying NOT NULL
games.place bigint NOT NULL
games.ruleset character varying NOT NULL
games.shown_to character varying NOT NULL
games.status character varying NOT NULL
games.version integer NOT NULL
generations.frontier bytea NOT NULL
generations.gen integer NOT NULL DEFAULT nextval('generations_gen_seq'::regclass)
generations.leaves bigint NOT NULL
generations.live boolean NOT NULL
generations.parts integer NOT NULL
generations.place bigint NOT NULL
generations.position bigint NOT NULL
heartbeat.at bigint NOT NULL
heartbeat.name text NOT NULL
held_back.at bigint NOT NULL
held_back.game character varying NOT NULL
held_back.gen integer NOT NULL
held_back.head integer NOT NULL
held_back.shown integer NOT NULL
hidden_players.game text NOT NULL
hidden_players.player text NOT NULL
imported_games.account text NOT NULL
imported_games.at bigint NOT NULL
imported_games.game text NOT NULL
imported_games.piece bytea NOT NULL
imported_games.ruleset text NOT NULL
imported_games.version bigint NOT NULL
invitations.game text NOT NULL
invitations.hash text NOT NULL
keyframes.doc bytea NOT NULL
keyframes.form character varying NOT NULL
keyframes.game character varying NOT NULL
keyframes.gen integer NOT NULL
keyframes.hash character varying NOT NULL
keyframes.reader character varying NOT NULL
keyframes.version integer NOT NULL
keyring.mark text NOT NULL
keyring.number integer NOT NULL
keyring.wrapped text NOT NULL
leaps.began bigint NOT NULL
leaps.leapt bigint NOT NULL
leaps.ms bigint NOT NULL
leaps.position bigint NOT NULL
leaps.stage bigint NOT NULL
leases.name character varying NOT NULL
leases.owner character varying NOT NULL
leases.until bigint NOT NULL
leaves.game character varying NOT NULL
leaves.gen integer NOT NULL
leaves.hash character varying NOT NULL
leaves.leaf bigint NOT NULL
leaves.position bigint NOT NULL
leaves.version integer NOT NULL
mail_asked.at bigint NOT NULL
mail_asked.mark text NOT NULL
mail_unread.account text NOT NULL
mail_unread.at bigint NOT NULL
mail_unread.game text NOT NULL
mail_unread.type text NOT NULL
mailboxes.account text NOT NULL
mailboxes.bounces bigint NOT NULL
mailboxes.code text NOT NULL
mailboxes.digest text NOT NULL
mailboxes.events text NOT NULL
mailboxes.hour bigint NOT NULL
mailboxes.language text NOT NULL
mailboxes.last bigint NOT NULL
mailboxes.made bigint NOT NULL
mailboxes.next bigint NOT NULL
mailboxes.state text NOT NULL
mailboxes.token text NOT NULL
mailboxes.tries bigint NOT NULL
mailboxes.until bigint NOT NULL
mailboxes.webhook text NOT NULL
master_key.id integer NOT NULL
master_key.mark text NOT NULL
nodes.gen integer NOT NULL
nodes.hash bytea NOT NULL
nodes.level integer NOT NULL
nodes.number bigint NOT NULL
notice_position.name text NOT NULL
notice_position.position bigint NOT NULL
oauth_client_rights.client text NOT NULL
oauth_client_rights.grant_types text NOT NULL
oauth_client_rights.scopes text NOT NULL
oauth_clients.account text NOT NULL
oauth_clients.ended bigint NOT NULL
oauth_clients.id text NOT NULL
oauth_clients.made bigint NOT NULL
oauth_clients.name text NOT NULL
oauth_clients.redirects text NOT NULL
oauth_clients.request text NOT NULL
oauth_clients.secret text NOT NULL
oauth_codes.account text NOT NULL
oauth_codes.challenge text NOT NULL
oauth_codes.client text NOT NULL
oauth_codes.given text NOT NULL
oauth_codes.hash text NOT NULL
oauth_codes.redirect text NOT NULL
oauth_codes.scopes text NOT NULL
oauth_codes.until bigint NOT NULL
oauth_devices.account text NOT NULL
oauth_devices.asked bigint NOT NULL
oauth_devices.client text NOT NULL
oauth_devices.code text NOT NULL
oauth_devices.hash text NOT NULL
oauth_devices.pace bigint NOT NULL
oauth_devices.scopes text NOT NULL
oauth_devices.state text NOT NULL
oauth_devices.until bigint NOT NULL
oauth_grants.access text NOT NULL
oauth_grants.access_until bigint NOT NULL
oauth_grants.account text NOT NULL
oauth_grants.allowed text NOT NULL
oauth_grants.client text NOT NULL
oauth_grants.id text NOT NULL
oauth_grants.made bigint NOT NULL
oauth_grants.refresh text NOT NULL
oauth_grants.scopes text NOT NULL
oauth_grants.until bigint NOT NULL
oauth_grants.used bigint NOT NULL
office_offers.at bigint NOT NULL
office_offers.by text NOT NULL
office_offers.game text NOT NULL
office_offers.player text NOT NULL
office_offers.reason text NOT NULL
office_offers.role text NOT NULL
officers.game text NOT NULL
officers.id text NOT NULL
officers.office text NOT NULL
officers.player text NOT NULL
outlines.doc bytea NOT NULL
outlines.form character varying NOT NULL
outlines.game character varying NOT NULL
outlines.gen integer NOT NULL
outlines.hash character varying NOT NULL
outlines.reader character varying NOT NULL
outlines.version integer NOT NULL
page_settings.account text NOT NULL
page_settings.settings text NOT NULL
page_visits.account text NOT NULL
page_visits.at bigint NOT NULL
page_visits.game text NOT NULL
page_visits.seen bigint NOT NULL
page_visits.since bigint NOT NULL
parts.game character varying NOT NULL
parts.gen integer NOT NULL
parts.hash character varying NOT NULL
parts.owner character varying NOT NULL
parts.part integer NOT NULL
parts.position bigint NOT NULL
parts.until bigint NOT NULL
parts.version integer NOT NULL
people.name text NOT NULL
people.player text NOT NULL
personal_news.at bigint NOT NULL
personal_news.data text NOT NULL
personal_news.player text NOT NULL
personal_news.subject text NOT NULL
personal_news.type text NOT NULL
personal_tokens.account text NOT NULL
personal_tokens.ended bigint NOT NULL
personal_tokens.hash text NOT NULL
personal_tokens.id text NOT NULL
personal_tokens.label text NOT NULL
personal_tokens.made bigint NOT NULL
personal_tokens.scopes text NOT NULL
personal_tokens.until bigint NOT NULL
personal_tokens.used bigint NOT NULL
progress.doc bytea NOT NULL
progress.name character varying NOT NULL
push_devices.account text NOT NULL
push_devices.box text NOT NULL
push_devices.key text NOT NULL
push_devices.language text NOT NULL
push_devices.mark text NOT NULL
push_devices.name text NOT NULL
push_devices.webhook text NOT NULL
push_keys.box text NOT NULL
push_keys.id text NOT NULL
push_keys.made bigint NOT NULL
records.notification_id bigint NOT NULL DEFAULT nextval('records_notification_id_seq'::regclass)
records.originator_id uuid NOT NULL
records.originator_version bigint NOT NULL
records.state bytea NOT NULL
records.topic text NOT NULL
relations.account text NOT NULL
relations.player text NOT NULL
relations.since bigint NOT NULL
repairs.at timestamp with time zone NOT NULL DEFAULT now()
repairs.id bigint NOT NULL DEFAULT nextval('repairs_id_seq'::regclass)
repairs.transaction xid8 NOT NULL DEFAULT pg_current_xact_id()
repairs.what text NOT NULL
repairs.who text NOT NULL DEFAULT SESSION_USER
repairs.why text NOT NULL
reports.account text NOT NULL
reports.at bigint NOT NULL
reports.game text NOT NULL
reports.id text NOT NULL
reports.outcome text NOT NULL
reports.player text NOT NULL
reports.said text NOT NULL
reports.settled bigint NOT NULL
results.adopted boolean NOT NULL
results.at bigint NOT NULL
results.by character varying NOT NULL
results.conceded boolean NOT NULL
results.forfeited boolean NOT NULL
results.game character varying NOT NULL
results.gen integer NOT NULL
results.held boolean NOT NULL
results.penalty bigint NOT NULL
results.place integer
results.player character varying NOT NULL
results.points integer
results.reason character varying NOT NULL
results.ruleset character varying NOT NULL
results.seat integer NOT NULL
room.filler text NOT NULL
room.id integer NOT NULL
seated.game character varying NOT NULL
seated.gen integer NOT NULL
seated.player character varying NOT NULL
seated.seat integer NOT NULL
seeds.box bytea NOT NULL
seeds.game text NOT NULL
seeds.nonce bytea NOT NULL
sessions.account text NOT NULL
sessions.factors text NOT NULL
sessions.family text NOT NULL
sessions.hash text NOT NULL
sessions.id text NOT NULL
sessions.label text NOT NULL
sessions.made bigint NOT NULL
sessions.proved bigint NOT NULL
sessions.used bigint NOT NULL
shape.hash character varying NOT NULL
signing_halts.at bigint NOT NULL
signing_halts.reason text NOT NULL
signing_keys.number integer NOT NULL
signing_keys.origin text NOT NULL
signing_keys.reason text NOT NULL
signing_keys.secret text NOT NULL
signing_keys.since bigint NOT NULL
signing_keys.until bigint NOT NULL
signing_keys.vkeys text NOT NULL
signing_server.confirmed bigint NOT NULL
signing_server.name text NOT NULL
signing_server.timeline bigint NOT NULL
silences.began bigint NOT NULL
silences.ended bigint NOT NULL
silences.settled integer NOT NULL
spent_challenges.hash text NOT NULL
spent_challenges.until bigint NOT NULL
standing_orders.acted bigint NOT NULL
standing_orders.acted_at bigint NOT NULL
standing_orders.acts text NOT NULL
standing_orders.at bigint NOT NULL
standing_orders.decision text NOT NULL
standing_orders.ended bigint NOT NULL
standing_orders.game text NOT NULL
standing_orders.id text NOT NULL
standing_orders.player text NOT NULL
standing_orders.reason text NOT NULL
standing_orders.request text NOT NULL
standing_orders.sealed text NOT NULL
standing_orders.seat integer NOT NULL
standing_orders.seen bigint NOT NULL
standing_orders.state text NOT NULL
standing_orders.wake bigint NOT NULL
streams.browser text NOT NULL
streams.hash text NOT NULL
streams.token text NOT NULL
streams.until bigint
substitute_offers.at bigint NOT NULL
substitute_offers.by text NOT NULL
substitute_offers.player text NOT NULL
substitute_offers.tournament text NOT NULL
talk_answers.answer text NOT NULL
talk_answers.game text NOT NULL
talk_answers.number bigint NOT NULL
talk_answers.reply bigint NOT NULL
talk_answers.seat integer NOT NULL
talk_answers.version bigint NOT NULL
talk_disclosures.at bigint NOT NULL
talk_disclosures.entries text NOT NULL
talk_disclosures.game text NOT NULL
talk_disclosures.id text NOT NULL
talk_disclosures.mailbox integer NOT NULL
talk_disclosures.player text NOT NULL
talk_disclosures.shown_to text NOT NULL
talk_entries.author text NOT NULL
talk_entries.conversation text NOT NULL
talk_entries.entry bigint NOT NULL
talk_entries.game text NOT NULL
talk_entries.mailbox integer NOT NULL
talk_entries.number bigint NOT NULL
talk_entries.player text NOT NULL
talk_held.game text NOT NULL
talk_held.number bigint NOT NULL
talk_held.report text NOT NULL
talk_keys.game text NOT NULL
talk_keys.number bigint NOT NULL
talk_keys.sealed text NOT NULL
talk_marks.conversation text NOT NULL
talk_marks.game text NOT NULL
talk_marks.mailbox integer NOT NULL
talk_marks.muted integer NOT NULL
talk_marks.player text NOT NULL
talk_marks.seen bigint NOT NULL
talk_messages.at bigint NOT NULL
talk_messages.commitment text NOT NULL
talk_messages.erased text NOT NULL
talk_messages.game text NOT NULL
talk_messages.number bigint NOT NULL
talk_messages.player text NOT NULL
talk_messages.request text NOT NULL
talk_messages.sealed text NOT NULL
talk_messages.seat integer NOT NULL
talk_messages.version bigint NOT NULL
talk_notes.at bigint NOT NULL
talk_notes.game text NOT NULL
talk_notes.place text NOT NULL
talk_notes.player text NOT NULL
talk_notes.sealed text NOT NULL
talk_reports.at bigint NOT NULL
talk_reports.entries text NOT NULL
talk_reports.game text NOT NULL
talk_reports.handler text NOT NULL
talk_reports.id text NOT NULL
talk_reports.mailbox integer NOT NULL
talk_reports.player text NOT NULL
talk_silences.at bigint NOT NULL
talk_silences.game text NOT NULL
talk_silences.person text NOT NULL
talk_silences.reason text NOT NULL
talk_silences.until bigint NOT NULL
talk_tables.game text NOT NULL
talk_tables.state text NOT NULL
talk_treaties.ends bigint NOT NULL
talk_treaties.game text NOT NULL
talk_treaties.number bigint NOT NULL
talk_treaties.seat integer NOT NULL
texts.hash text NOT NULL
texts.player text NOT NULL
texts.said text NOT NULL
texts.salt text NOT NULL
tickets.hash text NOT NULL
tickets.id text NOT NULL
tickets.token text NOT NULL
tickets.until bigint
timeline.audience character varying NOT NULL
timeline.doc bytea NOT NULL
timeline.game character varying NOT NULL
timeline.gen integer NOT NULL
timeline.version integer NOT NULL
tokens.game text NOT NULL
tokens.hash text NOT NULL
tokens.id text NOT NULL
tokens.player text NOT NULL
tokens.revoked integer NOT NULL
tokens.role text NOT NULL
tournament_tables.attempt integer NOT NULL
tournament_tables.counts boolean NOT NULL
tournament_tables.game character varying NOT NULL
tournament_tables.gen integer NOT NULL
tournament_tables.places character varying NOT NULL
tournament_tables.pod integer NOT NULL
tournament_tables.reported boolean NOT NULL
tournament_tables.round integer NOT NULL
tournament_tables.stage integer NOT NULL
tournament_tables.table_game character varying NOT NULL
tournaments.archived boolean NOT NULL
tournaments.at bigint NOT NULL
tournaments.doc bytea NOT NULL
tournaments.game character varying NOT NULL
tournaments.gen integer NOT NULL
tournaments.listing character varying NOT NULL
tournaments.place bigint NOT NULL
tournaments.ruleset character varying NOT NULL
tournaments.status character varying NOT NULL
tournaments.version integer NOT NULL
watching.account text NOT NULL
watching.game text NOT NULL
watching.since bigint NOT NULL
webhooks.about text NOT NULL
webhooks.account text NOT NULL
webhooks.box text NOT NULL
webhooks.events text NOT NULL
webhooks.failed bigint NOT NULL
webhooks.failing bigint NOT NULL
webhooks.game text NOT NULL
webhooks.held bigint NOT NULL
webhooks.host text NOT NULL
webhooks.id text NOT NULL
webhooks.made bigint NOT NULL
webhooks.ms bigint NOT NULL
webhooks.next bigint NOT NULL
webhooks.since bigint NOT NULL
webhooks.state text NOT NULL
webhooks.used bigint NOT NULL
witness_keys.name text NOT NULL
witness_keys.number integer NOT NULL
witness_keys.secret text NOT NULL
witness_keys.since bigint NOT NULL
witness_keys.until bigint NOT NULL
witness_keys.vkeys text NOT NULL
witness_reports.at bigint NOT NULL
witness_reports.failure text NOT NULL
witness_reports.name text NOT NULL
witness_reports.size bigint NOT NULL
witnessed_logs.at bigint NOT NULL
witnessed_logs.note text NOT NULL
witnessed_logs.origin_hash text NOT NULL
witnessed_logs.root text NOT NULL
witnessed_logs.size bigint NOT NULL
CREATE INDEX account_log_account ON public.account_log USING btree (account, id)
CREATE INDEX account_names_account ON public.account_names USING btree (account)
CREATE INDEX account_players_account ON public.account_players USING btree (account)
CREATE INDEX announcements_tournament ON public.announcements USING btree (tournament, at)
CREATE INDEX challenges_player ON public.challenges USING btree (player)
CREATE INDEX chats_account ON public.chats USING btree (account)
CREATE INDEX chats_webhook ON public.chats USING btree (webhook)
CREATE INDEX deliveries_due ON public.deliveries USING btree (due) WHERE (state = 'waiting'::text)
CREATE INDEX deliveries_game ON public.deliveries USING btree (game) WHERE (state = 'waiting'::text)
CREATE INDEX deliveries_made ON public.deliveries USING btree (made)
CREATE INDEX deliveries_waiting ON public.deliveries USING btree (webhook, due) WHERE (state = 'waiting'::text)
CREATE INDEX deliveries_webhook ON public.deliveries USING btree (webhook, made)
CREATE INDEX due_at ON public.due USING btree (gen, at)
CREATE INDEX errands_open ON public.errands USING btree (at) WHERE (outcome = ''::text)
CREATE INDEX event_offers_player ON public.event_offers USING btree (player)
CREATE INDEX followed_series_tournament ON public.followed_series USING btree (tournament)
CREATE INDEX games_listed ON public.games USING btree (gen, listing, place)
CREATE INDEX held_back_at ON public.held_back USING btree (gen, at)
CREATE INDEX hidden_players_game ON public.hidden_players USING btree (game)
CREATE INDEX imported_games_account ON public.imported_games USING btree (account)
CREATE INDEX leaves_record ON public.leaves USING btree (gen, game, version)
CREATE INDEX mail_asked_mark ON public.mail_asked USING btree (mark, at)
CREATE INDEX mailboxes_next ON public.mailboxes USING btree (next) WHERE (next > 0)
CREATE INDEX mailboxes_token ON public.mailboxes USING btree (token)
CREATE INDEX mailboxes_webhook ON public.mailboxes USING btree (webhook)
CREATE INDEX oauth_clients_account ON public.oauth_clients USING btree (account)
CREATE INDEX oauth_grants_account ON public.oauth_grants USING btree (account)
CREATE INDEX oauth_grants_client ON public.oauth_grants USING btree (client)
CREATE INDEX office_offers_player ON public.office_offers USING btree (player)
CREATE INDEX officers_player ON public.officers USING btree (player)
CREATE INDEX personal_tokens_account ON public.personal_tokens USING btree (account)
CREATE INDEX push_devices_account ON public.push_devices USING btree (account)
CREATE INDEX reports_account ON public.reports USING btree (account)
CREATE INDEX results_player ON public.results USING btree (gen, player, at)
CREATE INDEX seated_player ON public.seated USING btree (gen, player)
CREATE INDEX sessions_account ON public.sessions USING btree (account)
CREATE INDEX standing_orders_acted ON public.standing_orders USING btree (acted_at)
CREATE INDEX standing_orders_ended ON public.standing_orders USING btree (ended)
CREATE INDEX standing_orders_game ON public.standing_orders USING btree (game, seat, at)
CREATE INDEX standing_orders_player ON public.standing_orders USING btree (player)
CREATE INDEX standing_orders_state ON public.standing_orders USING btree (state, game)
CREATE INDEX substitute_offers_player ON public.substitute_offers USING btree (player)
CREATE INDEX talk_answers_reply ON public.talk_answers USING btree (game, reply)
CREATE INDEX talk_disclosures_game ON public.talk_disclosures USING btree (game, at)
CREATE INDEX talk_entries_conversation ON public.talk_entries USING btree (game, mailbox, conversation, entry, player, author)
CREATE INDEX talk_entries_player ON public.talk_entries USING btree (player, game, mailbox, entry)
CREATE INDEX talk_held_number ON public.talk_held USING btree (game, number)
CREATE INDEX talk_messages_at ON public.talk_messages USING btree (at)
CREATE INDEX talk_messages_player ON public.talk_messages USING btree (player)
CREATE INDEX talk_messages_request ON public.talk_messages USING btree (game, request)
CREATE INDEX talk_reports_game ON public.talk_reports USING btree (game, at)
CREATE INDEX talk_silences_person ON public.talk_silences USING btree (person)
CREATE INDEX talk_treaties_ends ON public.talk_treaties USING btree (ends)
CREATE INDEX tokens_player ON public.tokens USING btree (player)
CREATE INDEX tournament_tables_game ON public.tournament_tables USING btree (gen, table_game)
CREATE INDEX tournaments_listed ON public.tournaments USING btree (gen, listing, place)
CREATE INDEX webhooks_account ON public.webhooks USING btree (account)
CREATE INDEX webhooks_held ON public.webhooks USING btree (held, host)
CREATE UNIQUE INDEX account_invitations_pkey ON public.account_invitations USING btree (hash)
CREATE UNIQUE INDEX account_log_pkey ON public.account_log USING btree (id)
CREATE UNIQUE INDEX account_names_pkey ON public.account_names USING btree (key, account, since)
CREATE UNIQUE INDEX account_players_pkey ON public.account_players USING btree (player)
CREATE UNIQUE INDEX account_settings_pkey ON public.account_settings USING btree (account)
CREATE UNIQUE INDEX accounts_pkey ON public.accounts USING btree (id)
CREATE UNIQUE INDEX agent_seats_pkey ON public.agent_seats USING btree (game, seat)
CREATE UNIQUE INDEX announcements_pkey ON public.announcements USING btree (id)
CREATE UNIQUE INDEX archive_pkey ON public.archive USING btree (game, first_version)
CREATE UNIQUE INDEX aside_pkey ON public.aside USING btree (gen, game)
CREATE UNIQUE INDEX blocks_pkey ON public.blocks USING btree (account, player)
CREATE UNIQUE INDEX boards_pkey ON public.boards USING btree (gen, game, viewer)
CREATE UNIQUE INDEX calendar_keys_id ON public.calendar_keys USING btree (id)
CREATE UNIQUE INDEX calendar_keys_pkey ON public.calendar_keys USING btree (account)
CREATE UNIQUE INDEX cards_pkey ON public.cards USING btree (game)
CREATE UNIQUE INDEX challenges_pkey ON public.challenges USING btree (game, called)
CREATE UNIQUE INDEX chats_pkey ON public.chats USING btree (game)
CREATE UNIQUE INDEX checkpoints_pkey ON public.checkpoints USING btree (name)
CREATE UNIQUE INDEX clocks_pkey ON public.clocks USING btree (machine)
CREATE UNIQUE INDEX commands_pkey ON public.commands USING btree (game, id)
CREATE UNIQUE INDEX consents_pkey ON public.consents USING btree (errand, seat)
CREATE UNIQUE INDEX damages_pkey ON public.damages USING btree (game, version)
CREATE UNIQUE INDEX deliveries_pkey ON public.deliveries USING btree (id)
CREATE UNIQUE INDEX due_pkey ON public.due USING btree (gen, game, decision, work)
CREATE UNIQUE INDEX errands_motions ON public.errands USING btree (game, version, round)
CREATE UNIQUE INDEX errands_pkey ON public.errands USING btree (id)
CREATE UNIQUE INDEX event_claims_hash ON public.event_claims USING btree (hash)
CREATE UNIQUE INDEX event_claims_pkey ON public.event_claims USING btree (tournament, player)
CREATE UNIQUE INDEX event_codes_hash_key ON public.event_codes USING btree (hash)
CREATE UNIQUE INDEX event_codes_pkey ON public.event_codes USING btree (tournament)
CREATE UNIQUE INDEX event_guests_pkey ON public.event_guests USING btree (account, tournament)
CREATE UNIQUE INDEX event_offers_pkey ON public.event_offers USING btree (tournament, player, part)
CREATE UNIQUE INDEX factors_pkey ON public.factors USING btree (account, kind, id)
CREATE UNIQUE INDEX followed_series_pkey ON public.followed_series USING btree (account, tournament)
CREATE UNIQUE INDEX games_pkey ON public.games USING btree (gen, game, shown_to)
CREATE UNIQUE INDEX generations_pkey ON public.generations USING btree (gen)
CREATE UNIQUE INDEX heartbeat_pkey ON public.heartbeat USING btree (name)
CREATE UNIQUE INDEX held_back_pkey ON public.held_back USING btree (gen, game)
CREATE UNIQUE INDEX hidden_players_pkey ON public.hidden_players USING btree (player)
CREATE UNIQUE INDEX imported_games_pkey ON public.imported_games USING btree (game)
CREATE UNIQUE INDEX invitations_pkey ON public.invitations USING btree (game)
CREATE UNIQUE INDEX keyframes_pkey ON public.keyframes USING btree (gen, game, version, reader)
CREATE UNIQUE INDEX keyring_pkey ON public.keyring USING btree (number, mark)
CREATE UNIQUE INDEX leaps_pkey ON public.leaps USING btree (began)
CREATE UNIQUE INDEX leases_pkey ON public.leases USING btree (name)
CREATE UNIQUE INDEX leaves_pkey ON public.leaves USING btree (gen, leaf)
CREATE UNIQUE INDEX mail_unread_pkey ON public.mail_unread USING btree (account, game, type)
CREATE UNIQUE INDEX mailboxes_pkey ON public.mailboxes USING btree (account)
CREATE UNIQUE INDEX master_key_pkey ON public.master_key USING btree (id)
CREATE UNIQUE INDEX nodes_pkey ON public.nodes USING btree (gen, level, number)
CREATE UNIQUE INDEX notice_position_pkey ON public.notice_position USING btree (name)
CREATE UNIQUE INDEX oauth_client_rights_pkey ON public.oauth_client_rights USING btree (client)
CREATE UNIQUE INDEX oauth_clients_pkey ON public.oauth_clients USING btree (id)
CREATE UNIQUE INDEX oauth_codes_pkey ON public.oauth_codes USING btree (hash)
CREATE UNIQUE INDEX oauth_devices_code_key ON public.oauth_devices USING btree (code)
CREATE UNIQUE INDEX oauth_devices_pkey ON public.oauth_devices USING btree (hash)
CREATE UNIQUE INDEX oauth_grants_pkey ON public.oauth_grants USING btree (id)
CREATE UNIQUE INDEX office_offers_pkey ON public.office_offers USING btree (game, player)
CREATE UNIQUE INDEX officers_id_key ON public.officers USING btree (id)
CREATE UNIQUE INDEX officers_pkey ON public.officers USING btree (game, player)
CREATE UNIQUE INDEX outlines_pkey ON public.outlines USING btree (gen, game, reader)
CREATE UNIQUE INDEX page_settings_pkey ON public.page_settings USING btree (account)
CREATE UNIQUE INDEX page_visits_pkey ON public.page_visits USING btree (account, game)
CREATE UNIQUE INDEX parts_pkey ON public.parts USING btree (gen, part)
CREATE UNIQUE INDEX people_pkey ON public.people USING btree (player)
CREATE UNIQUE INDEX personal_news_pkey ON public.personal_news USING btree (subject, player)
CREATE UNIQUE INDEX personal_tokens_pkey ON public.personal_tokens USING btree (id)
CREATE UNIQUE INDEX progress_pkey ON public.progress USING btree (name)
CREATE UNIQUE INDEX push_devices_mark ON public.push_devices USING btree (mark)
CREATE UNIQUE INDEX push_devices_pkey ON public.push_devices USING btree (webhook)
CREATE UNIQUE INDEX push_keys_pkey ON public.push_keys USING btree (id)
CREATE UNIQUE INDEX records_notification_id_key ON public.records USING btree (notification_id)
CREATE UNIQUE INDEX records_pkey ON public.records USING btree (originator_id, originator_version)
CREATE UNIQUE INDEX relations_pkey ON public.relations USING btree (account, player)
CREATE UNIQUE INDEX repairs_pkey ON public.repairs USING btree (id)
CREATE UNIQUE INDEX reports_pkey ON public.reports USING btree (id)
CREATE UNIQUE INDEX results_pkey ON public.results USING btree (gen, game, seat, player)
CREATE UNIQUE INDEX room_pkey ON public.room USING btree (id)
CREATE UNIQUE INDEX seated_pkey ON public.seated USING btree (gen, game, seat)
CREATE UNIQUE INDEX seeds_pkey ON public.seeds USING btree (game)
CREATE UNIQUE INDEX sessions_pkey ON public.sessions USING btree (id)
CREATE UNIQUE INDEX shape_pkey ON public.shape USING btree (hash)
CREATE UNIQUE INDEX signing_halts_pkey ON public.signing_halts USING btree (reason)
CREATE UNIQUE INDEX signing_keys_pkey ON public.signing_keys USING btree (number)
CREATE UNIQUE INDEX signing_server_pkey ON public.signing_server USING btree (name)
CREATE UNIQUE INDEX silences_pkey ON public.silences USING btree (began)
CREATE UNIQUE INDEX spent_challenges_pkey ON public.spent_challenges USING btree (hash)
CREATE UNIQUE INDEX standing_orders_pkey ON public.standing_orders USING btree (id)
CREATE UNIQUE INDEX streams_pkey ON public.streams USING btree (hash)
CREATE UNIQUE INDEX substitute_offers_pkey ON public.substitute_offers USING btree (tournament, by, player)
CREATE UNIQUE INDEX talk_answers_pkey ON public.talk_answers USING btree (game, number, seat)
CREATE UNIQUE INDEX talk_disclosures_pkey ON public.talk_disclosures USING btree (id)
CREATE UNIQUE INDEX talk_entries_pkey ON public.talk_entries USING btree (game, mailbox, entry)
CREATE UNIQUE INDEX talk_held_pkey ON public.talk_held USING btree (report, number)
CREATE UNIQUE INDEX talk_keys_pkey ON public.talk_keys USING btree (game, number)
CREATE UNIQUE INDEX talk_marks_pkey ON public.talk_marks USING btree (game, mailbox, player, conversation)
CREATE UNIQUE INDEX talk_messages_pkey ON public.talk_messages USING btree (game, number)
CREATE UNIQUE INDEX talk_notes_pkey ON public.talk_notes USING btree (game, player, place)
CREATE UNIQUE INDEX talk_reports_pkey ON public.talk_reports USING btree (id)
CREATE UNIQUE INDEX talk_silences_pkey ON public.talk_silences USING btree (game, person)
CREATE UNIQUE INDEX talk_tables_pkey ON public.talk_tables USING btree (game)
CREATE UNIQUE INDEX talk_treaties_pkey ON public.talk_treaties USING btree (game, number)
CREATE UNIQUE INDEX texts_pkey ON public.texts USING btree (hash)
CREATE UNIQUE INDEX tickets_pkey ON public.tickets USING btree (id)
CREATE UNIQUE INDEX timeline_pkey ON public.timeline USING btree (gen, game, version, audience)
CREATE UNIQUE INDEX tokens_id_key ON public.tokens USING btree (id)
CREATE UNIQUE INDEX tokens_pkey ON public.tokens USING btree (game, role)
CREATE UNIQUE INDEX tournament_tables_pkey ON public.tournament_tables USING btree (gen, game, stage, round, pod, attempt)
CREATE UNIQUE INDEX tournaments_pkey ON public.tournaments USING btree (gen, game)
CREATE UNIQUE INDEX watching_pkey ON public.watching USING btree (account, game)
CREATE UNIQUE INDEX webhooks_pkey ON public.webhooks USING btree (id)
CREATE UNIQUE INDEX witness_keys_pkey ON public.witness_keys USING btree (number)
CREATE UNIQUE INDEX witness_reports_pkey ON public.witness_reports USING btree (name)
CREATE UNIQUE INDEX witnessed_logs_pkey ON public.witnessed_logs USING btree (origin_hash)
CREATE TRIGGER annals_all BEFORE TRUNCATE ON public.archive FOR EACH STATEMENT EXECUTE FUNCTION annals_refuse()
CREATE TRIGGER annals_all BEFORE TRUNCATE ON public.commands FOR EACH STATEMENT EXECUTE FUNCTION annals_refuse()
CREATE TRIGGER annals_all BEFORE TRUNCATE ON public.records FOR EACH STATEMENT EXECUTE FUNCTION annals_refuse()
CREATE TRIGGER annals_all BEFORE TRUNCATE ON public.repairs FOR EACH STATEMENT EXECUTE FUNCTION annals_refuse()
CREATE TRIGGER annals_rows BEFORE DELETE OR UPDATE ON public.archive FOR EACH ROW EXECUTE FUNCTION annals_refuse()
CREATE TRIGGER annals_rows BEFORE DELETE OR UPDATE ON public.commands FOR EACH ROW EXECUTE FUNCTION annals_refuse()
CREATE TRIGGER annals_rows BEFORE DELETE OR UPDATE ON public.records FOR EACH ROW EXECUTE FUNCTION annals_refuse()
CREATE TRIGGER annals_rows BEFORE DELETE OR UPDATE ON public.repairs FOR EACH ROW EXECUTE FUNCTION annals_refuse()
CREATE OR REPLACE FUNCTION public.annals_append(_game uuid, _expected bigint, _topics text[], _states bytea[], _command text, _hash text)
 RETURNS TABLE(outcome text, hash text, low bigint, high bigint, positions bigint[])
 LANGUAGE plpgsql
 SET lock_timeout TO '10s'
AS $function$
BEGIN
  RETURN QUERY SELECT * FROM public.annals_append(_game, _expected, _topics, _states, _command, _hash, NULL);
END $function$

CREATE OR REPLACE FUNCTION public.annals_append(_game uuid, _expected bigint, _topics text[], _states bytea[], _command text, _hash text, _server text)
 RETURNS TABLE(outcome text, hash text, low bigint, high bigint, positions bigint[])
 LANGUAGE plpgsql
 SET lock_timeout TO '10s'
AS $function$
DECLARE _head bigint; _damaged bigint; _there text;
BEGIN
  PERFORM pg_advisory_xact_lock(107126926175347);
  IF _server IS NOT NULL THEN
    LOCK TABLE public.records IN ROW EXCLUSIVE MODE;
    _there := (
SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()),
  to_regclass('public.records')::oid, pg_relation_filepath(to_regclass('public.records'))));
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
END $function$

CREATE OR REPLACE FUNCTION public.annals_refuse()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog'
AS $function$
BEGIN
  IF TG_TABLE_NAME <> 'repairs'
  AND EXISTS (SELECT 1 FROM public.repairs r WHERE r.transaction = pg_current_xact_id()
    AND btrim(r.what) <> '' AND btrim(r.why) <> '') THEN
    RETURN coalesce(NEW, OLD);
  END IF;
  RAISE EXCEPTION 'the log is append-only' USING ERRCODE = 'restrict_violation';
END $function$

