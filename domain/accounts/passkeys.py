"""Passkeys: keys that an authenticator keeps and proves to have, bound to the address of the service (WebAuthn).

Challenges are not kept: each carries its end and a seal, and one that was answered is written down until then.
"""

from __future__ import annotations

import json
import secrets
from base64 import urlsafe_b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from domain.accounts.account_tables import Rows, digest, encoded, write
from domain.accounts.second_factors import others_out
from domain.errors import AccountError, AnnalsError
from domain.kernel.text.message_catalog import Message
from domain.service.database import Execute, Statement
from domain.types import Doc

if TYPE_CHECKING:
    from fido2.server import Fido2Server

CHALLENGE_MS = 300_000
"""For how long a challenge may be answered, ms."""

MOST_PASSKEYS, LONGEST_ID, LONGEST_KEY = 20, 1023, 4096
"""How many an account has, and bytes of an id, and of a public key with it."""

TABLES = ("CREATE TABLE IF NOT EXISTS spent_challenges (hash TEXT PRIMARY KEY, until BIGINT NOT NULL)",)

_OF = "SELECT id, secret FROM factors WHERE account = ? AND kind = 'passkey'"
_INSERT = "INSERT INTO factors VALUES (?, 'passkey', ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id"
_TURN = "UPDATE factors SET secret = ? WHERE account = ? AND kind = 'passkey' AND id = ? AND secret = ? RETURNING id"
_SPEND = "INSERT INTO spent_challenges VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING hash"


@dataclass(frozen=True)
class Shown:
    """Whose passkey was shown."""

    account: str
    id: str
    verified: bool
    """Whether the authenticator has made sure who uses it, by a PIN or a finger."""


class Passkeys(Rows):
    """At the address of the service, `https://play.example`; may raise StoreUnavailable."""

    # --- challenges

    def _challenge(self, use: str) -> bytes:
        told = (self._now() + CHALLENGE_MS).to_bytes(8, "big") + secrets.token_bytes(16)
        return told + self._seal(use, told)

    def _seal(self, use: str, told: bytes) -> bytes:
        return bytes.fromhex(self._mark("challenge", use, told.hex()))[:16]

    def _ours(self, use: str, challenge: bytes) -> bool:
        told, seal = challenge[:24], challenge[24:]
        late = int.from_bytes(told[:8], "big") <= self._now()
        return len(challenge) == 40 and secrets.compare_digest(seal, self._seal(use, told)) and not late

    def _spend(self, execute: Execute, challenge: bytes) -> bool:
        """Whether nobody has answered it before."""
        execute("DELETE FROM spent_challenges WHERE until < ?", (self._now(),))
        return bool(execute(_SPEND, (digest(challenge.hex()), int.from_bytes(challenge[:8], "big"))))

    # --- a new one

    def invite(self, account: str, name: str, address: str) -> Doc:
        """What a browser passes to `navigator.credentials.create`, as JSON."""
        from fido2.webauthn import ResidentKeyRequirement, UserVerificationRequirement  # noqa: PLC0415 - see _server

        user = {"id": account.encode(), "name": name, "displayName": name}
        known = [{"type": "public-key", "id": _bytes(id_)} for id_, _ in self._database.execute(_OF, (account,))]
        options, _ = _server(address).register_begin(
            user,  # type: ignore[arg-type] # it takes a mapping too
            known,  # type: ignore[arg-type] # likewise
            ResidentKeyRequirement.REQUIRED,
            UserVerificationRequirement.PREFERRED,
            challenge=self._challenge(f"create {account}"),
        )
        return _json(dict(options))

    def add(
        self, account: str, label: str, response: Doc, address: str, session: str, beside: Sequence[Statement]
    ) -> str:
        """The id of a passkey that was made for this account. Raises AccountError for what is none, or too many."""
        try:
            made, challenge, key = self._made(account, response, address)
        except AnnalsError:
            raise
        except Exception as error:
            raise AccountError("wrong_credentials", "That is no passkey for this account.") from error
        doc = {"key": key.hex(), "count": made[1], "label": label, "used": 0}
        id_, now = encoded(made[0]), self._now()

        def work(execute: Execute) -> str:
            if not self._spend(execute, challenge):
                raise AccountError("wrong_credentials", "That is no passkey for this account.")
            known = execute(_OF, (account,))
            if len(known) >= MOST_PASSKEYS:
                raise AccountError("too_many", Message("An account has {most} passkeys at most.", most=MOST_PASSKEYS))
            if not execute(_INSERT, (account, id_, json.dumps(doc), now)):
                raise AccountError("wrong_credentials", "That is no passkey for this account.")
            write(execute, [*([] if known else [others_out(account, session)]), *beside])
            return id_

        return self._on(account, work, session)

    def _made(self, account: str, response: Doc, address: str) -> tuple[tuple[bytes, int], bytes, bytes]:
        """Id and counter, challenge and key; raises whatever for what does not hold."""
        from fido2.webauthn import RegistrationResponse  # noqa: PLC0415 - see _server

        read = RegistrationResponse.from_dict(response)
        challenge = read.response.client_data.challenge
        if not self._ours(f"create {account}", challenge) or read.response.client_data.cross_origin:
            raise ValueError("no challenge of ours")
        found = _server(address).register_complete(_state(challenge), read)
        key = found.credential_data
        if (
            key is None
            or len(key.credential_id) > LONGEST_ID
            or len(key) > LONGEST_KEY
            or key.credential_id != read.raw_id
        ):
            raise ValueError("no key")
        return (key.credential_id, found.counter), challenge, bytes(key)

    # --- showing one

    def ask(self, address: str) -> Doc:
        """What a browser passes to `navigator.credentials.get`, as JSON: any passkey of this service."""
        from fido2.webauthn import UserVerificationRequirement  # noqa: PLC0415 - see _server

        options, _ = _server(address).authenticate_begin(
            user_verification=UserVerificationRequirement.PREFERRED, challenge=self._challenge("get")
        )
        return _json(dict(options))

    def shown(self, response: Doc, address: str) -> Shown | None:
        """Whose passkey has answered; None for anything else. An answer counts once, and a counter never goes back."""
        try:
            account, id_, verified, count, challenge, kept = self._answered(response, address)
        except AnnalsError:
            raise
        except Exception:  # noqa: BLE001 - whatever a stranger's bytes make the library raise
            return None
        doc = json.loads(kept)
        if (count or doc["count"]) and count <= doc["count"]:
            return None  # a copy of the authenticator has been used meanwhile
        after = json.dumps({**doc, "count": count, "used": self._now()})

        def work(execute: Execute) -> bool:
            return self._spend(execute, challenge) and bool(execute(_TURN, (after, account, id_, kept)))

        return Shown(account, id_, verified) if self._together(work) else None

    def _answered(self, response: Doc, address: str) -> tuple[str, str, bool, int, bytes, str]:
        """Whose passkey, its id, whether its user was verified, its counter, the challenge, and what is kept of it."""
        from fido2.webauthn import AttestedCredentialData, AuthenticationResponse  # noqa: PLC0415 - see _server

        read = AuthenticationResponse.from_dict(response)
        challenge, data = read.response.client_data.challenge, read.response.authenticator_data
        if not self._ours("get", challenge) or read.response.client_data.cross_origin:
            raise ValueError("no challenge of ours")
        account, id_ = (read.response.user_handle or b"").decode("ascii"), encoded(read.raw_id)
        if not account.isalnum():
            raise ValueError("no account of ours")
        statement = "SELECT secret FROM factors WHERE account = ? AND kind = 'passkey' AND id = ?"
        ((kept,),) = self._database.execute(statement, (account, id_))
        key = AttestedCredentialData(bytes.fromhex(json.loads(kept)["key"]))
        _server(address).authenticate_complete(_state(challenge), [key], read)
        return account, id_, data.is_user_verified(), data.counter, challenge, kept


def _server(address: str) -> Fido2Server:
    """The library's part: signatures, origins, the address in whose name a key was made."""
    from fido2.server import Fido2Server  # noqa: PLC0415 - 60 ms that few processes need
    from fido2.webauthn import PublicKeyCredentialRpEntity  # noqa: PLC0415

    entity = PublicKeyCredentialRpEntity(id=urlsplit(address).hostname or "", name="Annals")
    return Fido2Server(entity, verify_origin=lambda origin: origin == address)


def _state(challenge: bytes) -> Doc:
    return {"challenge": encoded(challenge), "user_verification": None}


def _bytes(text: str) -> bytes:
    return urlsafe_b64decode(text + "==")


def _json(options: Doc) -> Doc:
    """The library's options as plain JSON."""
    doc: Doc = json.loads(json.dumps(options, default=dict))
    return doc
