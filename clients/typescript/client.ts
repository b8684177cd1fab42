// A client of Annals in one file, with fetch and nothing else: Node 20 or newer, or a browser.
//
//   const annals = new Annals("http://127.0.0.1:8000");
//   await annals.register("Marta", "a river of green glass");
//   const table = await annals.open("struggle_of_empires@1", 3);
//   await table.seatBot(1);
//   await table.seatBot(2);
//   const seat = await table.join(0);
//   await seat.start();
//   await seat.play(atRandom);
//
// Every write has a key of its own and is sent again with it when the connection breaks, or when the service asks to be
// left alone for a while, so that it is done once. The types are those of the service's document, generated into
// annals.d.ts (README.md says how).
import type { components } from "./annals.js";

type Schemas = components["schemas"];
export type Board = Schemas["Board"];
export type Choice = Schemas["Choice"];
export type Move = Schemas["Move"];
export type StreamEvent = Schemas["StreamEvent"];
/** The pick: a value of one option, a list of them, or a number, by the question's `kind`. */
export type Choose = (board: Board, choice: Choice) => unknown;

/** What a player is told whose answer came after the game had gone on: look again. */
const OVERTAKEN = new Set([
  "stale_version", "decision_closed", "already_answered", "not_your_decision", "wrong_phase", "not_offered",
]);

const OVER = new Set(["game_over", "not_running"]);
const PAUSE_MS = 30_000; // until the next look in a pause with an end, which no event tells

/** The service does not answer, though it was asked again for as long as the client has patience. */
export class Unreachable extends Error {}

/** The service says no: `status`, `code` for programs, and the whole problem. */
export class Refused extends Error {
  readonly code: string;

  constructor(
    readonly status: number,
    readonly problem: Record<string, unknown>,
    readonly retryAfter: string,
  ) {
    super(`${status} ${problem["code"] ?? ""} ${problem["detail"] ?? problem["title"] ?? ""}`);
    this.code = String(problem["code"] ?? "");
  }

  /** Whether the same request may be sent again; a damaged record waits for an operator. */
  get passing(): boolean {
    return (this.status === 429 || this.status === 503) && this.code !== "record_damaged";
  }
}

export interface Terms {
  token?: string;
  /** For who is several things at a table: `director`, or a seat's number. */
  role?: string;
  /** Milliseconds for which a request is sent again before the client gives up. */
  patience?: number;
  /** Milliseconds without a sign of life after which a connection counts as broken. */
  timeout?: number;
}

interface Sent {
  body?: unknown;
  headers?: Record<string, string>;
  key?: string;
  version?: number;
}

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Milliseconds to wait: what the service asks for, else longer each time; a little by chance keeps clients apart. */
export function pause(attempt: number, wanted = ""): number {
  const wait = /^\d+$/.test(wanted) ? Number(wanted) * 1000 : / GMT$/.test(wanted) ? Date.parse(wanted) - Date.now() : NaN;
  return (Number.isNaN(wait) ? Math.min(100 * 2 ** attempt, 5000) : Math.min(Math.max(wait, 0), 2 ** 31 - 200)) + Math.random() * 100;
}

async function refusal(answer: Response): Promise<Refused> {
  let problem: unknown = null;
  try {
    problem = await answer.json();
  } catch {
    // What stands before the service may answer with something else than a problem.
  }
  const known = typeof problem === "object" && problem !== null && !Array.isArray(problem);
  const said = known ? (problem as Record<string, unknown>) : { title: answer.statusText };
  return new Refused(answer.status, said, answer.headers.get("Retry-After") ?? "");
}

/** Requests to one service as one caller. */
export class Wire {
  readonly address: string;

  constructor(address: string, readonly terms: Terms = {}) {
    this.address = address.replace(/\/+$/, "");
  }

  get patience(): number {
    return this.terms.patience ?? 60_000;
  }

  get timeout(): number {
    return this.terms.timeout ?? 30_000;
  }

  /** The same service, as another caller. */
  as(terms: Terms): Wire {
    return new Wire(this.address, { ...this.terms, ...terms });
  }

  async get<Doc>(path: string, query: Record<string, string | number> = {}): Promise<Doc> {
    const sent = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
    return JSON.parse(await this.text("GET", path + (sent ? `?${sent}` : ""))) as Doc;
  }

  /** A write is done once; `version`: only if the game stands there (412 otherwise). */
  async write<Doc>(path: string, body: unknown, more: { version?: number; key?: string; method?: string } = {}): Promise<Doc> {
    const { method = "POST", ...rest } = more;
    const text = await this.text(method, path, { body, key: crypto.randomUUID().replaceAll("-", ""), ...rest });
    return (text ? JSON.parse(text) : null) as Doc;
  }

  /** The text of an answer, asked for again while that may help. Throws Refused, Unreachable. */
  async text(method: string, path: string, sent: Sent = {}): Promise<string> {
    const end = Date.now() + this.patience;
    for (let attempt = 0; ; attempt++) {
      let failure: Refused | Unreachable;
      try {
        const answer = await this.open(method, path, sent, AbortSignal.timeout(this.timeout));
        return await answer.text();
      } catch (error) {
        if (error instanceof Refused && !error.passing) throw error;
        failure = error instanceof Refused ? error : new Unreachable(`${method} ${path}: ${error}`);
      }
      const wait = pause(attempt, failure instanceof Refused ? failure.retryAfter : "");
      if (Date.now() + wait > end) throw failure;
      await sleep(wait);
    }
  }

  /** An answer whose body is still to be read. A token goes where it was meant to go: redirects are failures. */
  async open(method: string, path: string, sent: Sent, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { ...sent.headers };
    if (this.terms.token) headers["Authorization"] = `Bearer ${this.terms.token}`;
    if (this.terms.role) headers["Annals-Role"] = this.terms.role;
    if (sent.key) headers["Idempotency-Key"] = sent.key;
    if (sent.version !== undefined) headers["If-Match"] = `"${sent.version}"`;
    if (sent.body !== undefined) headers["Content-Type"] = "application/json";
    const body = sent.body === undefined ? null : JSON.stringify(sent.body);
    const answer = await fetch(`${this.address}/v1${path}`, { method, headers, body, signal, redirect: "error" });
    if (!answer.ok) throw await refusal(answer);
    return answer;
  }
}

/** One person, or nobody yet, at one service. */
export class Annals {
  private wire: Wire;

  constructor(address: string, terms: Terms = {}) {
    this.wire = new Wire(address, terms);
  }

  /** Open an account and act as it from now on. Keep the recovery `codes`: they are shown this once. */
  async register(name: string, password: string, more: Partial<Schemas["NewAccount"]> = {}): Promise<Schemas["Registered"]> {
    return this.entered(await this.wire.write<Schemas["Registered"]>("/accounts", { name, password, ...more }));
  }

  /** Another session. */
  async logIn(name: string, password: string): Promise<Schemas["Entered"]> {
    return this.entered(await this.wire.write<Schemas["Entered"]>("/sessions", { name, password }));
  }

  /** A new password for a recovery code; all other sessions end. */
  async recover(name: string, code: string, password: string): Promise<Schemas["Entered"]> {
    return this.entered(await this.wire.write<Schemas["Entered"]>("/recovery", { name, code, password }));
  }

  private entered<Doc extends { token: string }>(answer: Doc): Doc {
    this.wire = this.wire.as({ token: answer.token });
    return answer;
  }

  /** One's own tables, page by page. */
  async *myGames(query: { turn?: "mine"; status?: string } = {}): AsyncGenerator<Schemas["Mine"]> {
    const first = new URLSearchParams({ ...query }).toString();
    for (let next: string | null = `/v1/me/games${first && `?${first}`}`; next !== null; ) {
      const page: Schemas["MyGames"] = await this.wire.get<Schemas["MyGames"]>(next.replace(/^\/v1/, ""));
      yield* page.items;
      next = page.next;
    }
  }

  /** The unfinished tables that the account directs, and what waits there for an officer. */
  desk(query: { needs?: string; office?: string; status?: string; limit?: number; cursor?: string } = {}): Promise<Schemas["Desk"]> {
    return this.wire.get("/me/desk", query);
  }

  /** Pause all running tables that the account directs, or some of them (`games`); or end their pauses. */
  pauseGames(pause: Partial<Schemas["ManyPauses"]> = {}, ends = false): Promise<Schemas["ManyRuled"]> {
    return this.wire.write(ends ? "/me/resumptions" : "/me/pauses", pause);
  }

  /** Accept a role as an officer. */
  acceptOffice = (game: string) => this.wire.write<Schemas["Written"]>(`/me/offices/${game}`, {}, { method: "PUT" });

  /** What can be played. */
  rulesets = () => this.wire.get<Schemas["Rulesets"]>("/rulesets");

  /** Open a table, and direct it. */
  async open(ruleset: string, seats: number, terms: Partial<Schemas["NewGame"]> = {}): Promise<Table> {
    const made = await this.wire.write<Schemas["NewGameDoc"]>("/games", { ruleset, seats, ...terms });
    const wire = made.token ? this.wire.as({ token: made.token }) : this.wire;
    return new Table(wire, made.game, null, made.position, made.invitation);
  }

  /** A table that there is. */
  table(game: string, role = ""): Table {
    return new Table(this.wire.as({ role }), game, /^\d+$/.test(role) ? Number(role) : null);
  }

  /** Open an analysis from a version of a closed game; for accounts. */
  fork = (game: string, version: number, seat: number | null = null) =>
    this.wire.write<Schemas["ForkDoc"]>(`/games/${game}/forks`, { version, seat });
  importGame = (export_: string) => this.wire.write<Schemas["ImportDoc"]>("/imports", { export: export_ });

  /** Open a tournament, and direct it. */
  openTournament(terms: unknown): Promise<Schemas["TournamentWritten"]> {
    return this.wire.write("/tournaments", terms);
  }

  /** A tournament, or one of its views: `/standings`, `/explain`, `/stages/1/rounds/1`. */
  tournament<Doc = Schemas["Tournament"]>(tournament: string, view = "", query: Record<string, string | number> = {}): Promise<Doc> {
    return this.wire.get<Doc>(`/tournaments/${tournament}${view}`, query);
  }

  /** Act in a tournament: `/entrants`, `/checkin`, `/nonce`; as its organiser `/phases`, `/close`, .. */
  act(tournament: string, path: string, body: unknown = {}): Promise<Schemas["TournamentWritten"]> {
    return this.wire.write(`/tournaments/${tournament}${path}`, body);
  }
}

/** The service shows another game than before. Keep both heads: together they prove it. */
export class Forked extends Error {}

/** Hashes of a game's records as the service has shown them: another hash later is a fork. */
export class Heads {
  readonly seen = new Map<number, string>();

  /** Keep the hash of a version. Throws Forked if it was another one before. */
  note(version: number, head: string): void {
    const before = this.seen.get(version) ?? head;
    if (before !== head) throw new Forked(`version ${version}: first ${before}, now ${head}`);
    this.seen.set(version, head);
    const [oldest] = this.seen.keys();
    if (this.seen.size > 1000 && oldest !== undefined) this.seen.delete(oldest);
  }
}

/** A game as one caller meets it: a seat, its director, or the public. */
export class Table {
  /** The version at which it was looked last whose turn it is. */
  private looked = 0;

  constructor(
    readonly wire: Wire,
    readonly game: string,
    readonly seat: number | null = null,
    /** Of the last write: reads wait for it. */
    private position = 0,
    private readonly invitation?: string,
    private readonly heads = new Heads(),
  ) {}

  private get<Doc>(path: string): Promise<Doc> {
    return this.wire.get<Doc>(`/games/${this.game}${path}`, { wait: this.position });
  }

  private async write<Doc extends { position: number; version: number; head: string }>(path: string, body: unknown, version?: number): Promise<Doc> {
    const more = version === undefined ? {} : { version };
    const answer = await this.wire.write<Doc>(`/games/${this.game}${path}`, body, more);
    this.position = answer.position;
    this.heads.note(answer.version, answer.head);
    return answer;
  }

  /** Ask for the newest record that was seen. Throws Forked if the service has another one, or none. */
  async checkHead(): Promise<void> {
    const newest = Math.max(0, ...this.heads.seen.keys());
    const query = { after: newest - 1, limit: 1, wait: this.position };
    const page = newest && (await this.wire.get<Schemas["Timeline"]>(`/games/${this.game}/timeline`, query));
    if (page) this.heads.note(newest, page.items[0]?.head ?? "none");
  }

  /** The terms of talk, and your conversations with their last messages. */
  talk = () => this.get<Schemas["Talk"]>("/talk");

  /** The messages after a place in your mailbox, in order. */
  messages(after = 0, limit = 50): Promise<Schemas["Messages"]> {
    return this.wire.get<Schemas["Messages"]>(`/games/${this.game}/talk/messages`, { after, limit });
  }

  /** The treaties that may be proposed to these seats, or to the table. */
  treaties = (to: number[] = []) => this.wire.get<Schemas["TreatyKinds"]>(`/games/${this.game}/talk/treaties`, { to: to.join(",") });

  /** Write a letter to these seats, or without any to the table: also a treaty, or the answer to one. */
  say(text: string, to: number[] = [], more: Partial<Schemas["NewMessage"]> = {}): Promise<Schemas["Message"]> {
    return this.wire.write<Schemas["Message"]>(`/games/${this.game}/talk/messages`, { to, text, ...more });
  }

  /** The `kinds` of standing orders that you may give, and your `items` with their moves and ends. */
  standingOrders = () => this.wire.get<Schemas["StandingOrders"]>(`/games/${this.game}/standing-orders`);

  /** Decide beforehand, with the fields of the kind; `times`, `turn`, `chance`, `stops`. */
  order(kind: string, values: Record<string, unknown> = {}, more: Partial<Schemas["NewOrder"]> = {}): Promise<Schemas["StandingOrder"]> {
    return this.wire.write(`/games/${this.game}/standing-orders`, { ...more, kind, values });
  }

  /** Revoke an order. Its moves stay. */
  revoke(order: string): Promise<null> {
    return this.wire.write(`/games/${this.game}/standing-orders/${order}`, null, { method: "DELETE" });
  }

  /** Take a seat; the table as that seat has it, with its own token for guests. */
  async join(seat?: number, more: { name?: string; invitation?: string } = {}): Promise<Table> {
    const body = { ...(this.invitation ? { invitation: this.invitation } : {}), ...more, ...(seat === undefined ? {} : { seat }) };
    const taken = await this.write<Schemas["SeatDoc"]>("/seats", body);
    const role = String(taken.seat);
    const wire = this.wire.as(taken.token ? { token: taken.token, role } : { role });
    return new Table(wire, this.game, taken.seat, this.position, undefined, this.heads);
  }

  /** Seat a bot of the service; for directors. */
  seatBot = (seat: number, bot: "heuristic" | "builder" = "heuristic") => this.write<Schemas["SeatDoc"]>("/seats", { seat, bot });

  /** Offer an account a role as an officer, or the table itself (`owner`); for officers. */
  offerOffice(name: string, role: Schemas["NewOfficer"]["role"], reason = ""): Promise<Schemas["OfferDoc"]> {
    return this.wire.write(`/games/${this.game}/officers`, { name, role, ...(reason ? { reason } : {}) });
  }

  /** Stop the time of all seats; for officers. */
  pauseGame(pause: Partial<Schemas["Pause"]> = {}): Promise<Schemas["Written"]> {
    return this.write("/pauses", pause);
  }

  /** End the pause of the game; for officers. */
  resumeGame(reason = ""): Promise<Schemas["Written"]> {
    return this.write("/resumptions", reason ? { reason } : {});
  }

  /** Close the game, or end it by a ruling; for officers. */
  close(reason: Schemas["Close"]["reason"], result: Partial<Schemas["Close"]> = {}): Promise<Schemas["Written"]> {
    return this.write("/close", { ...result, reason });
  }

  /** Withdraw the ruling of a version within a day; for officers. */
  withdrawRuling(version: number, reason = ""): Promise<Schemas["Written"]> {
    return this.write(`/rulings/${version}/withdrawal`, reason ? { reason } : {});
  }

  /** Leave the seat for good. */
  concede = () => this.write<Schemas["Written"]>(`/seats/${this.seat}/concession`, {});

  /** Begin, once every seat is taken. */
  start = () => this.write<Schemas["Written"]>("/start", {});

  /** Who sits where, and what was agreed. */
  summary = () => this.get<Schemas["Summary"]>("");

  /** The board and what is to be decided, at once. */
  resume = () => this.get<Schemas["Resume"]>("/resume");

  scores = () => this.get<Schemas["Scores"]>("/scores");

  /** The records that one may read, as lines; `annals verify` proves them. */
  export(): Promise<string> {
    return this.wire.text("GET", `/games/${this.game}/export`);
  }

  /** The builder's next question, or the finished move. */
  ask(picks: unknown[]): Promise<Schemas["Next"]> {
    return this.wire.write(`/games/${this.game}/choices`, { picks });
  }

  /** A finished move, of what `choose` picks. */
  async build(choose: Choose, board: Board): Promise<Move> {
    const picks: unknown[] = [];
    for (;;) {
      const answer = await this.ask(picks);
      if (answer.move !== null) return answer.move;
      if (answer.choice === null) throw new Error("the builder neither asks nor answers");
      picks.push(choose(board, answer.choice));
    }
  }

  /** Answer a decision, or move on a version. Throws Refused: the rules' own codes, `decision_closed` .. */
  move(move: Move, where: { decision?: string; version?: number }): Promise<Schemas["Moved"]> {
    const body = where.decision === undefined ? { move } : { move, decision: where.decision };
    return this.write("/moves", body, where.version);
  }

  /** One move, if this seat owes one; whether to look again: it was made, or the game had gone on meanwhile. */
  async turn(choose: Choose): Promise<boolean> {
    const now = await this.resume();
    this.looked = now.version;
    const owed = now.decisions.find((decision) => this.seat !== null && decision.must.includes(this.seat));
    if (owed === undefined) return false;
    try {
      await this.move(await this.build(choose, now.board), { decision: owed.id });
    } catch (error) {
      if (error instanceof Refused && error.code === "game_paused") {
        const ends = Boolean((error.problem["figures"] as { until?: number } | undefined)?.until);
        if (ends) await sleep(PAUSE_MS);
        return ends;
      }
      if (!(error instanceof Refused && (OVERTAKEN.has(error.code) || OVER.has(error.code)))) throw error;
      await sleep(pause(0));
      return OVERTAKEN.has(error.code);
    }
    return true;
  }

  /** Play to the end: whatever comes over the stream is a reason to look whose turn it is. */
  async play(choose: Choose): Promise<void> {
    for await (const event of this.follow()) {
      const told = event.event === "board" || event.event === "timeline";
      if (told && event.data.version > this.looked) while (await this.turn(choose));
    }
  }

  /**
   * Everything that comes, from a version on, until the game is closed; the client comes back by itself. An entry of
   * the timeline may come twice. Throws Refused where the stream will never open again, Unreachable after the patience,
   * Forked for another game.
   */
  async *follow(last = 0): AsyncGenerator<StreamEvent> {
    let since = Date.now();
    for (let failures = 0; ; failures++) {
      let wanted = "";
      await this.checkHead();
      const guard = new AbortController();
      const cut = () => setTimeout(() => guard.abort(), this.wire.timeout);
      let timer = cut();
      const alive = () => {
        clearTimeout(timer);
        timer = cut();
      };
      try {
        const headers: Record<string, string> = last ? { "Last-Event-ID": String(last) } : {};
        const answer = await this.wire.open("GET", `/games/${this.game}/stream`, { headers }, guard.signal);
        for await (const event of readEvents(answer, alive)) {
          failures = 0;
          since = Date.now();
          last = Number(event.id ?? last);
          if (event.event === "bye") break;
          const told = event.data as { version: number; head: string };
          if (event.event === "board" || event.event === "timeline") this.heads.note(told.version, told.head);
          yield event as StreamEvent;
          if (event.event === "end") return;
        }
      } catch (error) {
        if (error instanceof Forked || (error instanceof Refused && !error.passing)) throw error;
        if (error instanceof Refused) wanted = error.retryAfter;
        else if (Date.now() - since > this.wire.patience) throw new Unreachable(`the stream: ${error}`);
      } finally {
        clearTimeout(timer);
        guard.abort();
      }
      await sleep(pause(failures, wanted));
    }
  }
}

type Read = { event: string; data: unknown; id?: string };

/** Server-sent events with their documents; one that was cut off is none. */
export async function* readEvents(answer: Response, alive: () => void = () => {}): AsyncGenerator<Read> {
  if (answer.body === null) return;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    alive();
    const parts = (rest + value).split(/\r?\n\r?\n/);
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const fields: Record<string, string> = {};
      for (const line of part.split(/\r?\n/)) {
        const [, name = "", text = ""] = /^(\w+): ?(.*)$/.exec(line) ?? [];
        if (name) fields[name] = name in fields && name === "data" ? `${fields[name]}\n${text}` : text;
      }
      if (fields["data"] !== undefined) yield { event: "message", ...fields, data: JSON.parse(fields["data"]) };
    }
  }
}

/** A pick for any question of any ruleset; what brings the game on is preferred a little. */
export function atRandom(_: Board, choice: Choice): unknown {
  const lo = choice.lo ?? 0;
  if (choice.kind === "range") return lo + Math.floor(Math.random() * ((choice.hi ?? lo) - lo + 1));
  const values = (choice.options ?? []).map((option) => option.value);
  if (choice.kind === "some") {
    const most = Math.min(choice.hi ?? lo, values.length);
    const count = lo + Math.floor(Math.random() * (most - lo + 1));
    return values.sort(() => Math.random() - 0.5).slice(0, count);
  }
  const ends = (choice.options ?? []).filter((option) => option.ends).map((option) => option.value);
  const from = ends.length && Math.random() < 0.35 ? ends : values;
  return from[Math.floor(Math.random() * from.length)];
}
