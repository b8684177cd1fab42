"""Verify games of an Annals service without its code: this file and Python 3.11 or newer are enough.

    python3 annals_verify.py game.jsonl                     an export alone, of a game or a tournament
    python3 annals_verify.py game.jsonl --head HASH         and its head, which you have from elsewhere
    python3 annals_verify.py game.jsonl --proof record.tlog-proof --key VKEY --witness VKEY
    python3 annals_verify.py --checkpoint new.txt --checkpoint old.txt --consistency path.json --key VKEY

Exit status: 0 everything checked holds, 1 something is false (the first fault is named), 2 wrong use. An export
is one game as JSON lines: a header, a line per record, and in newer files a last line with the head. A record has a
public part and packs, one for each circle of readers; `seals` are the hashes of its packs. The public part names the
hash of the one before (`prev`), so the hash of the last, the head, fixes all. Records of a tournament have no packs.
"""

import argparse
import base64
import hashlib
import hmac
import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

LONGEST = 64 << 20  # bytes of a line


class Fault(Exception):
    """The first thing that is false: its code, and the version of the record (0: the file as a whole)."""

    def __init__(self, code, version=0, detail=""):
        super().__init__((f"record {version}: " if version else "") + code + (f" ({detail})" if detail else ""))
        self.code = code


# --- JSON: every document has exactly one form, so equal content has equal bytes ---
def canonical(doc):
    """Return JSON in UTF-8 with sorted keys and no white space."""
    return json.dumps(doc, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


# --- chance: a draw is HMAC-SHA256(key, game | epoch | channel | ordinal | label | try) ---
def below(n, key, *place):
    """Return the number from 0 to n-1 that the key gives for this place."""
    limit, attempt = (1 << 64) // n * n, 0
    while True:
        text = "|".join(map(str, (*place, attempt)))
        value = int.from_bytes(hmac.digest(key, text.encode(), "sha256")[:8], "big")
        if value < limit:
            return value % n
        attempt += 1


def draw_is_right(draw, key, *place):
    """Check a roll [ordinal, label, [lo, hi], value], pick [.., n, value, index] or shuffle [.., n, values, order]."""
    ordinal, label, span, value, *drawn = draw
    if isinstance(span, list):
        return value == span[0] + below(span[1] - span[0] + 1, key, *place, ordinal, label)
    if not isinstance(drawn[0], list):
        return drawn == [below(span, key, *place, ordinal, label)]
    if span != len(drawn[0]):
        return False
    order = list(range(span))
    for i in range(span - 1, 0, -1):
        j = below(i + 1, key, *place, ordinal, f"{label}#{i}")
        order[i], order[j] = order[j], order[i]
    return drawn == [order]


def joint_rounds(doc, game):
    """Return version -> [what is mixed with the seed]; each nonce must fit a commitment made a round before."""
    rounds, due, gone = {}, doc["commitments"], set[str]()
    for number, each in enumerate(doc["rounds"], 1):
        nonces, version, withheld = each["nonces"], each["version"], set(map(str, each["withheld"]))
        shown = {seat: sha256(canonical([game, int(seat), number, nonce])) for seat, nonce in nonces.items()}
        if version in rounds or each["round"] != number or doc["game"] != game:
            raise Fault("round_gap", version)
        if shown != {seat: due[seat] for seat in due.keys() - withheld} or withheld - due.keys():
            raise Fault("nonce_mismatch", version)
        due, gone = each["commitments"], gone | withheld
        if gone & due.keys():
            raise Fault("withheld_before", version)
        rounds[version] = ["joint", number, [[int(seat), nonces[seat]] for seat in sorted(nonces, key=int)]]
    return rounds


# --- one game ---
class Line(NamedTuple):
    """The part of a game that goes back with a rewind."""

    counts: dict  # channel -> number of draws so far
    frames: tuple  # open decisions, the current one last: (number, timer)
    timers: dict  # timer of an open decision -> (time of its first question, ms by which its deadline was moved)
    vacant: frozenset  # seats without a player


class Game:
    """Checks the records of one export in turn, then the whole."""

    def __init__(self, header):
        optional = {"damaged": header.get("records", 0) + 1} if "damaged" in header else {}
        wanted = {name: header.get(name) for name in ("game", "ruleset", "records", "viewer")}
        if header and header != {"annals": 1, **optional, **wanted}:
            raise Fault("header_mismatch", 0, "not the header of an export")
        self.header, self.version, self.time, self.head, self.hashes = header, 0, 0, "", []
        self.line, self.lines, self.seals, self.packs = Line({}, (), {}, frozenset()), {}, [], []
        self.players = {}  # seat -> [hash of its nonce, its nonce]
        self.epoch, self.seed_hash, self.seed, self.lapses, self.untold = 0, "", b"", 0, 0
        self.fastest, self.times_untold, self.started, self.closed = None, False, False, False
        self.drawn = []  # (version, nonces, epoch, channel, draw), recomputed once the seed is known
        self.salts = []  # (version, key, salt), likewise

    def add(self, doc):
        """Check one record; raise Fault."""
        self.version += 1
        public, packs, kind, body = doc["public"], doc["packs"], doc["public"]["kind"], doc["public"].get("body", {})
        self._require(set(doc) == {"public", "packs"} and not self.closed, "malformed")
        self._require(public["v"] == self.version, "version_gap")
        self._require(public["prev"] == self.head, "chain_broken")
        self._require((kind == "opened") == (self.version == 1), "no_beginning")
        self._require(type(public["at"]) is int and public["at"] >= self.time, "time_goes_back")
        self._check_packs(public, packs)
        if kind == "rewound":
            self._require(body["to"] in self.lines, "not_on_line")
            self.line, self.epoch = self.lines[body["to"]], self.epoch + (body["entropy"] == "fresh")
            self.lines = {v: line for v, line in self.lines.items() if v <= body["to"]}
        self._count_draws(public, packs)
        if kind == "lapsed":
            self._check_lapse(public, packs)
        self._follow_seats(kind, public.get("seat"), body)
        self._follow_decisions(kind, public, body)
        self.head, self.time = sha256(canonical(public)), public["at"]
        self.hashes.append(self.head)
        if kind == "closed":
            self.seed, self.closed = bytes.fromhex(body["seed"]), True
            self._require(sha256(self.seed) == self.seed_hash, "seed_mismatch")
        self.lines[self.version] = self.line

    def _require(self, right, code, detail="", version=0):
        if not right:
            raise Fault(code, version or self.version, str(detail)[:80])

    def _check_packs(self, public, packs):
        seals = list(public.get("seals", []))
        self.seals.append(frozenset(seals))
        self.packs.append((self.version, list(packs), len(packs) == len(seals)))
        for key, pack in packs.items():
            seal = sha256(canonical(pack))
            padding = "." * (-len(canonical({**pack, "pad": ""})) % 256)
            self._require(seal in seals and pack["pad"] == padding, "pack_changed", key)
            seals.remove(seal)
            self.salts.append((self.version, key, pack["salt"]))
        for opening in public.get("openings", []):
            at, pack = opening["v"], opening["pack"]
            self._require(1 <= at <= self.version and sha256(canonical(pack)) in self.seals[at - 1], "opening_false")
            self.salts.append((at, opening["key"], pack["salt"]))

    def _count_draws(self, public, packs):
        """Check that no ordinal of a channel is left out or used twice, and keep the draws for the seed."""
        counts = dict(self.line.counts)
        nonces = [[seat, nonce] for seat, (_, nonce) in sorted(self.players.items()) if nonce]
        for channel, part in [("all", public), *packs.items()]:
            for draw in part.get("draws", []):
                self._require(draw[0] == counts.get(channel, 0), "draw_mismatch", f"{draw[1]}: ordinal")
                counts[channel] = draw[0] + 1
                self.drawn.append((self.version, nonces, self.epoch, channel, draw))
        self.line = self.line._replace(counts=counts)

    def _check_lapse(self, public, packs):
        """Check that no default was played before the table's shortest deadline could have passed."""
        seats = {seat for seat, _ in public.get("acts", [])}
        seats |= {seat for pack in packs.values() for _, seat, _ in pack.get("acts", [])}
        present = seats - self.line.vacant
        if not seats or (present and self.times_untold):
            self.untold += 1
        elif present:
            asked_at, moved = self.line.timers[self.line.frames[-1][1]]
            self._require(self.fastest is not None and public["at"] >= asked_at + self.fastest + moved, "lapsed_early")
            self.lapses += 1

    def _follow_seats(self, kind, seat, body):
        if kind == "opened":
            self.seed_hash = body["seed_hash"]
            viewer = self.header["viewer"]
            seated = viewer in ("public", "director") or (viewer.isdecimal() and int(viewer) < body["seats"])
            self._require(seated and all(body[n] == self.header[n] for n in ("game", "ruleset")), "header_mismatch")
        elif kind == "joined":
            self.players[seat] = [body.get("nonce_hash", ""), self.players.get(seat, ["", ""])[1]]
        elif kind == "left" and not self.started:
            self.players.pop(seat, None)
        elif kind == "revealed":
            self.players[seat][1] = body["nonce"]
            self._require(sha256(bytes.fromhex(body["nonce"])) == self.players[seat][0], "nonce_mismatch")
        self.started = self.started or kind == "started"

    def _follow_decisions(self, kind, public, body):
        """Follow the open decisions, the time of each, the vacant seats and the table's shortest deadline."""
        counts, frames, timers, vacant = self.line
        pace = body.get("pace")
        if isinstance(pace, dict) and pace["seconds"]:
            shortest = (min(pace["seconds"].values()) + pace.get("grace", 0)) * 1000
            self.fastest = min(shortest, self.fastest or shortest)
        elif isinstance(pace, str) and pace != "none":
            self.times_untold = True  # the record names a pace, not its seconds
        if kind == "ruled" and body.get("act") == "extend":
            number = int(body["decision"].partition("-")[2])
            for timer in [timer for n, timer in frames if n == number]:  # none that was open when a fork began
                timers = {**timers, timer: (timers[timer][0], timers[timer][1] + body["ms"])}
        for fact in public.get("facts", []):
            if fact["t"] == "asked":
                timer = fact.get("timed_as") or fact["n"]
                frames = (*frames, (fact["n"], timer))
                timers = {**timers, timer: (fact.get("timed_as") and timers.get(timer)) or (public["at"], 0)}
            elif fact["t"] == "ended":
                frames = frames[:-1]
            elif fact["t"] in ("vacated", "seated"):
                vacant = vacant - {fact["seat"]} if fact["t"] == "seated" else vacant | {fact["seat"]}
            elif fact["t"] in ("patched", "restored"):  # a scenario or fork: its decisions may be anything
                self.times_untold = True
        self.line = Line(counts, frames, {timer: timers[timer] for _, timer in frames}, vacant)

    def finish(self, joint=None):
        """Check the length, with every pack at hand that none is missing, and with the seed every draw and salt."""
        self._require(self.version == self.header["records"], "cut_off", "the header announces another number")
        viewer, game = self.header["viewer"], self.header["game"]
        for version, keys, whole in self.packs:
            if self.closed or viewer == "director":
                self._require(whole, "pack_missing", "", version)
            else:
                foreign = any(viewer not in key.partition(":")[0].split(",") for key in keys)
                self._require(not foreign, "header_mismatch", "a pack that the viewer may not read", version)
        rounds = joint and joint_rounds(joint, game)
        for version, nonces, epoch, channel, draw in self.drawn if self.closed else ():
            self._require(not rounds or version in rounds, "round_missing", draw[1], version)
            mixed, place = (rounds[version], (game, 0)) if rounds else (nonces, (game, epoch))
            key = hmac.digest(self.seed, canonical(mixed), "sha256")
            self._require(draw_is_right(draw, key, *place, channel), "draw_mismatch", draw[1], version)
        for version, key, salt in self.salts if self.closed else ():
            right = hmac.digest(self.seed, f"salt|{game}|{version}|{key}".encode(), "sha256").hex()[:32]
            self._require(salt == right, "salt_mismatch", key, version)

    def tell(self):
        """Return what was checked, and what was not."""
        done = [f"the chain of {self.version} records", f"{len(self.salts)} packs against their seals"]
        left = ["the rules: whether each move was allowed", "time banks, holds, vacations, pauses, daily hours"]
        if self.closed:
            done += ["the seed, and every salt", f"{len(self.drawn)} draws"]
        else:
            left.append(f"{len(self.drawn)} draws: the seed is published when the game is closed")
        done += [f"{self.lapses} missed deadlines: none too early"] * (self.lapses > 0)
        return done, left + [f"{self.untold} missed deadlines: the record tells no time"] * (self.untold > 0)


# --- one tournament: everything is public; its pods and standings take the service's own verifier ---
class Tournament:
    """Checks the records of a tournament in turn: their chain, and that of the secrets; nonces; keys of the draws."""

    def __init__(self, header):
        if header != {"annals": 1, "tournament": header["tournament"], "records": header["records"]}:
            raise Fault("header_mismatch", 0, "not the header of an export")
        self.header, self.version, self.time, self.head, self.hashes = header, 0, 0, "", []
        self.secrets, self.present, self.hidden, self.shown, self.status = [], [], {}, {}, "registering"

    def add(self, public):
        """Check one record; raise Fault."""
        self.version += 1
        kind, body = public["kind"].removeprefix("tournament."), public.get("body", {})
        self._require(public["v"] == self.version, "version_gap")
        self._require(public["prev"] == self.head, "chain_broken")
        self._require((kind == "opened") == (self.version == 1), "no_beginning")
        self._require(type(public["at"]) is int and public["at"] >= self.time, "time_goes_back")
        self._follow(kind, body)
        self.head, self.time = sha256(canonical(public)), public["at"]
        self.hashes.append(self.head)

    def _require(self, right, code):
        if not right:
            raise Fault(code, self.version)

    def _follow(self, kind, body):
        if kind == "opened":
            self._require(body["tournament"] == self.header["tournament"], "header_mismatch")
            self.secrets = [body["secret"]]
        elif kind == "entered" and self.status == "running":
            self.present = [*self.present, body["entrant"]]
        elif kind == "checkin_opened":
            self.status, self.hidden, self.shown = "checking", {}, {}
        elif kind == "checked":
            self.hidden[body["entrant"]] = body.get("nonce_hash", "")
        elif kind == "checkin_closed":
            self.status, self.present = "drawing", body["entrants"]
            self._require(set(self.present) <= set(self.hidden), "not_checked_in")
        elif kind == "revealed":
            self._require(sha256(body["nonce"].encode()) == self.hidden[body["entrant"]], "nonce_mismatch")
            self.shown[body["entrant"]] = body["nonce"]
        elif kind == "drawn":
            self._check_draw(body, bytes.fromhex(body["secret"]))
        elif kind == "paired":
            self.status = "running"
        elif kind == "advanced":
            self.present, self.status = body["entrants"], "checking" if self.status == "checking" else "running"
            self.hidden = {entrant: found for entrant, found in self.hidden.items() if entrant in self.present}

    def _check_draw(self, body, secret):
        """Each secret is the SHA-256 of the next; with the nonces it gives the key of its draw."""
        self._require(sha256(secret) == self.secrets[-1] and body["draw"] == len(self.secrets), "secret_mismatch")
        self.secrets.append(body["secret"])
        nonces = sha256(canonical([[entrant, self.shown.get(entrant, "")] for entrant in sorted(self.present)]))
        text = canonical(["annals/draw/1", self.header["tournament"], body["round"], body["draw"], nonces])
        self._require(hmac.digest(secret, text, "sha256").hex() == body["key"], "key_mismatch")

    def finish(self, _):
        """Check the length."""
        self._require(self.version == self.header["records"] > 0, "cut_off")

    def tell(self):
        """Return what was checked, and what was not."""
        done = [f"the chain of {self.version} records", f"the secrets and keys of {len(self.secrets) - 1} draws"]
        return done, ["pods, seats and standings: `annals tournament verify` computes them again"]


def verify_export(lines, head="", joint=None):
    """Check an export, an iterable of lines as bytes, with a transcript of joint chance.

    Return its Game or Tournament; raise Fault.
    """
    game: Game | Tournament = Game({})
    trailer, number = None, 0
    try:
        for number, raw in enumerate(lines):
            doc = json.loads(raw, parse_float=int, parse_constant=int)  # int refuses both
            if canonical(doc) + b"\n" != raw or len(raw) > LONGEST:
                raise Fault("unreadable", number, "not a line of canonical JSON")
            if trailer is not None:
                raise Fault("cut_off", number, "a line after the last")
            if not number:
                game = Tournament(doc) if "tournament" in doc else Game(doc)
            elif "head" in doc:
                trailer = doc
            else:
                game.add(doc)
        game.finish(joint)
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration, ArithmeticError, RuntimeError) as error:
        raise Fault("malformed", number, f"{type(error).__name__}: {error}"[:80]) from None
    if trailer not in (None, {"head": game.head, "records": game.version}) or head not in ("", game.head):
        raise Fault("chain_broken", game.version, "the head, or the number of records, is another")
    return game


# --- Ed25519 (RFC 8032), verification alone; points in extended coordinates (X, Y, Z, T) ---
P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def _add(a, b):
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    g, h = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = f - e, h - g, h + g, f + e
    return e * f % P, g * h % P, f * g % P, e * h % P


def _times(n, point):
    out = (0, 1, 1, 0)
    while n:
        out, point, n = _add(out, point) if n & 1 else out, _add(point, point), n >> 1
    return out


def _point(data):
    """Return the point of 32 bytes; raise ValueError if there is none."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x * pow(2, (P - 1) // 4, P) % P if (x * x - square) % P else x
    if y >= P or (x * x - square) % P or (not x and sign):
        raise ValueError("no point")
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


BASE = _point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def ed25519_is_valid(key, message, signature):
    """Return whether 64 bytes are this key's signature of the message."""
    try:
        s, a, r = int.from_bytes(signature[32:], "little"), _point(key), _point(signature[:32])
    except ValueError:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little")
    left, right = _times(s, BASE), _add(r, _times(k % L, a))
    same = all((left[i] * right[2] - right[i] * left[2]) % P == 0 for i in (0, 1))
    return same and s < L and len(key) == 32 and len(signature) == 64


# --- checkpoints of the log of all games: signed-note, tlog-checkpoint, tlog-cosignature and tlog-proof of C2SP ---
class Checkpoint:
    """A checkpoint signed by at least one of the verifier keys, and by every witness; `signers` names them."""

    def __init__(self, note, vkeys, witnesses=()):
        body, separator, lines = note.rpartition("\n\n")
        try:
            self.origin, size, root, *_ = body.split("\n")
            self.size, self.root = int(size), base64.b64decode(root, validate=True)
            signatures = [(*line.split(" "),) for line in lines.splitlines()]
            signatures = [(dash, name, base64.b64decode(data, validate=True)) for dash, name, data in signatures]
            if str(self.size) != size or len(self.root) != 32 or not separator:
                raise ValueError
        except ValueError:
            raise Fault("checkpoint_malformed") from None
        self.signers, self.unchecked, known = [], [], dict(map(read_vkey, vkeys))
        for dash, name, data in signatures:
            kind, key = known.get((name, data[:4]), (0, b"")) if dash == "\u2014" else (0, b"")
            text, signature = f"{body}\n".encode(), data[4:]
            if kind == 4:  # a witness signs the time as well
                time, signature = int.from_bytes(signature[:8], "big"), signature[8:]
                text = f"cosignature/v1\ntime {time}\n".encode() + text
            if kind == 6:  # ML-DSA-44 is not in the standard library
                self.unchecked.append(name)
            elif kind and not ed25519_is_valid(key, text, signature):
                raise Fault("signature_false", 0, name)
            elif kind:
                self.signers.append(name)
        if not self.signers:
            raise Fault("not_signed", 0, "no Ed25519 signature by " + " or ".join(v.split("+")[0] for v in vkeys))
        self.signers += [name for vkey in witnesses for name in Checkpoint(note, [vkey]).signers]


def read_vkey(vkey):
    """Return ((name, key id), (kind, key)) of a verifier key, `name+id+base64`; raise Fault."""
    try:
        name, key_id, data = vkey.split("+", 2)
        kind, *key = base64.b64decode(data, validate=True)
        right = hashlib.sha256(name.encode() + b"\n" + bytes([kind, *key])).digest()[:4]
        if bytes.fromhex(key_id) != right or kind not in (1, 4, 6):
            raise ValueError
    except ValueError:
        raise Fault("key_malformed", 0, vkey[:80]) from None
    return (name, right), (kind, bytes(key))


def _climb(fn, sn, node, path):
    """Return the roots of the old and the new tree that a path leads to (RFC 9162, sections 2.1.3.2 and 2.1.4.2)."""
    before = after = node
    for step in path:
        if sn == 0:
            return b"", b""
        left = fn & 1 or fn == sn
        after = hashlib.sha256(b"\x01" + (step + after if left else after + step)).digest()
        before = hashlib.sha256(b"\x01" + step + before).digest() if left else before
        while left and not fn & 1 and fn:
            fn, sn = fn >> 1, sn >> 1
        fn, sn = fn >> 1, sn >> 1
    return (b"", b"") if sn else (before, after)


def consistency_is_valid(old, new, path):
    """Return whether the path proves that the new log begins with the old one."""
    if old.size == new.size or not 0 < old.size < new.size or not path:
        return old.size == new.size and old.root == new.root and not path
    fn, sn = old.size - 1, new.size - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    first, *path = path if fn else [old.root, *path]
    return _climb(fn, sn, first, path) == (old.root, new.root)


def verify_proof(text, vkeys, hashes, witnesses=()):
    """Check a tlog-proof of one of these records; return its Checkpoint and the record's version. Raise Fault."""
    head, _, note = text.partition("\n\n")
    try:
        first, index, *path = [line for line in head.split("\n") if not line.startswith("extra ")]
        word, _, number = index.partition(" ")
        if (first, word) != ("c2sp.org/tlog-proof@v1", "index") or len(path) > 63:
            raise ValueError
        number, path = int(number), [base64.b64decode(line, validate=True) for line in path]
    except ValueError:
        raise Fault("proof_malformed") from None
    checkpoint = Checkpoint(note, vkeys, witnesses)
    for version in range(len(hashes), 0, -1):
        leaf = hashlib.sha256(b"\0" + bytes.fromhex(hashes[version - 1])).digest()
        if 0 <= number < checkpoint.size and _climb(number, checkpoint.size - 1, leaf, path)[1] == checkpoint.root:
            return checkpoint, version
    raise Fault("proof_false", 0, "no record of this export is at that place of the log")


# --- the command line ---
def verify(args):
    """Return what was checked, what was not, and the game; raise Fault."""
    done, left, game, notes, hashes = [], [], None, [], []
    if args.export:
        with Path(args.export).open("rb") if args.export != "-" else sys.stdin.buffer as file:
            lines = iter(lambda: file.readline(LONGEST + 1), b"")
            game = verify_export(lines, args.head, args.joint and json.loads(Path(args.joint).read_bytes()))
        (done, left), hashes = game.tell(), game.hashes
    if args.proof:
        proved, version = verify_proof(Path(args.proof).read_text(), args.key, hashes, args.witness)
        done.append(f"record {version} is in the log of {proved.size} records")
        notes.append(proved)
    notes += [Checkpoint(Path(name).read_text(), args.key, args.witness) for name in args.checkpoint]
    for note in notes:
        done += [f"the checkpoint of {note.origin} with {note.size} records: signed by {name}" for name in note.signers]
        left += [f"the ML-DSA signature of {name}" for name in note.unchecked]
    path = json.loads(Path(args.consistency).read_text())["path"] if args.consistency else []
    for old, new in pairwise(sorted(notes, key=lambda note: note.size)):
        nodes = [] if old.size == new.size else [bytes.fromhex(node) for node in path]
        if old.origin != new.origin or not consistency_is_valid(old, new, nodes):
            raise Fault("forked", 0, f"no proof that the logs of {old.size} and {new.size} records are one")
        done.append(f"the log of {new.size} records begins with that of {old.size}")
    if game and not (args.head or args.proof):
        left.append("whether this game was played: without a head from elsewhere a file proves only itself")
    return done, left, game


def main(argv):
    """Verify the files that the arguments name, print the result, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("export", nargs="?", help="export of a game, - for standard input")
    parser.add_argument("--head", default="", help="hash of its last record, from elsewhere")
    parser.add_argument("--proof", help="tlog-proof of one of its records")
    parser.add_argument("--key", action="append", default=[], help="verifier key of the log")
    parser.add_argument("--witness", action="append", default=[], help="verifier key of a witness that must sign")
    parser.add_argument("--checkpoint", action="append", default=[], help="checkpoint of the log, from elsewhere")
    parser.add_argument("--joint", help="transcript of joint chance beside the export")
    parser.add_argument("--consistency", help="path between two checkpoints: the answer of /v1/log?since=SIZE")
    args = parser.parse_args(argv)
    if not (args.export or args.checkpoint) or (args.proof and not args.export):
        parser.error("name an export, or a checkpoint")
    try:
        done, left, game = verify(args)
    except (Fault, OSError, ValueError, KeyError, TypeError) as error:
        print(f"FALSE: {error if isinstance(error, Fault) else f'unreadable ({error})'}")
        return 1
    names = [f"{word} {game.header[word]}" for word in ("game", "tournament") if word in game.header] if game else []
    title = f"HOLDS: {names[0]}, head {game.head}" if game else "HOLDS"
    print(title, *(f"  checked: {text}" for text in done), *(f"  not checked: {text}" for text in left), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
