"""Passkeys (WebAuthn): keys in an authenticator, bound to the address of the service.

Challenges are not stored: each contains its expiry and a seal, and an answered one is noted until it expires.
"""

from __future__ import annotations

import json
import secrets
from base64 import urlsafe_b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from domain.accounts.account_tables import AccountTable, write
from domain.accounts.second_factors import end_other_sessions
from domain.errors import AccountError, AnnalsError
from domain.kernel.text.message_catalog import Message
from domain.service.database import Execute, Statement
from domain.service.token_text import encode_bytes, hash_secret
from domain.types import Doc

if TYPE_CHECKING:
    from fido2.server import Fido2Server

CHALLENGE_MS = 300_000
"""Lifetime of a challenge, ms."""

MOST_PASSKEYS, LONGEST_ID, LONGEST_KEY = 20, 1023, 4096
"""Passkeys of an account; bytes of an id, and of a public key with its id."""

TABLES = ("CREATE TABLE IF NOT EXISTS spent_challenges (hash TEXT PRIMARY KEY, until BIGINT NOT NULL)",)

_OF = "SELECT id, secret FROM factors WHERE account = ? AND kind = 'passkey'"
_INSERT = "INSERT INTO factors VALUES (?, 'passkey', ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id"
_TURN = "UPDATE factors SET secret = ? WHERE account = ? AND kind = 'passkey' AND id = ? AND secret = ? RETURNING id"
_SPEND = "INSERT INTO spent_challenges VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING hash"


@dataclass(frozen=True)
class VerifiedPasskey:
    """The account and id of a verified passkey."""

    account: str
    id: str
    verified: bool
    """True if the authenticator verified its user by PIN or fingerprint."""


class Passkeys(AccountTable):
    """Rows of passkeys; `address` is the service's, such as `https://play.example`. May raise StoreUnavailable."""

    # --- challenges

    def _make_challenge(self, use: str) -> bytes:
        payload = (self._now() + CHALLENGE_MS).to_bytes(8, "big") + secrets.token_bytes(16)
        return payload + self._seal(use, payload)

    def _seal(self, use: str, payload: bytes) -> bytes:
        return bytes.fromhex(self._keyed_hash("challenge", use, payload.hex()))[:16]

    def _is_own_challenge(self, use: str, challenge: bytes) -> bool:
        payload, seal = challenge[:24], challenge[24:]
        late = int.from_bytes(payload[:8], "big") <= self._now()
        return len(challenge) == 40 and secrets.compare_digest(seal, self._seal(use, payload)) and not late

    def _spend(self, execute: Execute, challenge: bytes) -> bool:
        """Note a challenge as answered; return whether it is the first answer."""
        execute("DELETE FROM spent_challenges WHERE until < ?", (self._now(),))
        return bool(execute(_SPEND, (hash_secret(challenge.hex()), int.from_bytes(challenge[:8], "big"))))

    # --- a new one

    def creation_options(self, account: str, name: str, address: str) -> Doc:
        """Return the JSON for `navigator.credentials.create`."""
        from fido2.webauthn import ResidentKeyRequirement, UserVerificationRequirement  # noqa: PLC0415 - see _server

        user = {"id": account.encode(), "name": name, "displayName": name}
        excluded = [{"type": "public-key", "id": _decode(id_)} for id_, _ in self._database.execute(_OF, (account,))]
        options, _ = _make_server(address).register_begin(
            user,  # type: ignore[arg-type] # it takes a mapping too
            excluded,  # type: ignore[arg-type] # likewise
            ResidentKeyRequirement.REQUIRED,
            UserVerificationRequirement.PREFERRED,
            challenge=self._make_challenge(f"create {account}"),
        )
        return _to_json(dict(options))

    def add(
        self, account: str, label: str, response: Doc, address: str, session: str, extra_statements: Sequence[Statement]
    ) -> str:
        """Store a new passkey of this account; return its id. Raises AccountError for an invalid one, or too many."""
        try:
            id_and_count, challenge, key = self._parse_registration(account, response, address)
        except AnnalsError:
            raise
        except Exception as error:
            raise AccountError("wrong_credentials", "This passkey is not valid for this account.") from error
        doc = {"key": key.hex(), "count": id_and_count[1], "label": label, "used": 0}
        id_, now = encode_bytes(id_and_count[0]), self._now()

        def work(execute: Execute) -> str:
            if not self._spend(execute, challenge):
                raise AccountError("wrong_credentials", "This passkey is not valid for this account.")
            existing = execute(_OF, (account,))
            if len(existing) >= MOST_PASSKEYS:
                raise AccountError("too_many", Message("An account has {most} passkeys at most.", most=MOST_PASSKEYS))
            if not execute(_INSERT, (account, id_, json.dumps(doc), now)):
                raise AccountError("wrong_credentials", "This passkey is not valid for this account.")
            write(execute, [*([] if existing else [end_other_sessions(account, session)]), *extra_statements])
            return id_

        return self._for_account(account, work, session)

    def _parse_registration(self, account: str, response: Doc, address: str) -> tuple[tuple[bytes, int], bytes, bytes]:
        """Return id and counter, challenge and key of a valid response; raise any error otherwise."""
        from fido2.webauthn import RegistrationResponse  # noqa: PLC0415 - see _server

        parsed = RegistrationResponse.from_dict(response)
        challenge = parsed.response.client_data.challenge
        if not self._is_own_challenge(f"create {account}", challenge) or parsed.response.client_data.cross_origin:
            raise ValueError("no challenge of ours")
        verified = _make_server(address).register_complete(_library_state(challenge), parsed)
        key = verified.credential_data
        if (
            key is None
            or len(key.credential_id) > LONGEST_ID
            or len(key) > LONGEST_KEY
            or key.credential_id != parsed.raw_id
        ):
            raise ValueError("no key")
        return (key.credential_id, verified.counter), challenge, bytes(key)

    # --- showing one

    def request_options(self, address: str) -> Doc:
        """Return the JSON for `navigator.credentials.get`, for any passkey of this service."""
        from fido2.webauthn import UserVerificationRequirement  # noqa: PLC0415 - see _server

        options, _ = _make_server(address).authenticate_begin(
            user_verification=UserVerificationRequirement.PREFERRED, challenge=self._make_challenge("get")
        )
        return _to_json(dict(options))

    def verify(self, response: Doc, address: str) -> VerifiedPasskey | None:
        """Return the passkey behind a valid response, or None; a response counts once, counters only rise."""
        try:
            account, id_, verified, count, challenge, document = self._parse_assertion(response, address)
        except AnnalsError:
            raise
        except Exception:  # noqa: BLE001 - whatever a stranger's bytes make the library raise
            return None
        doc = json.loads(document)
        if (count or doc["count"]) and count <= doc["count"]:
            return None  # a copy of the authenticator was used meanwhile
        after = json.dumps({**doc, "count": count, "used": self._now()})

        def work(execute: Execute) -> bool:
            return self._spend(execute, challenge) and bool(execute(_TURN, (after, account, id_, document)))

        return VerifiedPasskey(account, id_, verified) if self._in_transaction(work) else None

    def _parse_assertion(self, response: Doc, address: str) -> tuple[str, str, bool, int, bytes, str]:
        """Return account, id, user verification, counter, challenge and stored document of a valid response."""
        from fido2.webauthn import AttestedCredentialData, AuthenticationResponse  # noqa: PLC0415 - see _server

        parsed = AuthenticationResponse.from_dict(response)
        challenge, data = parsed.response.client_data.challenge, parsed.response.authenticator_data
        if not self._is_own_challenge("get", challenge) or parsed.response.client_data.cross_origin:
            raise ValueError("no challenge of ours")
        account, id_ = (parsed.response.user_handle or b"").decode("ascii"), encode_bytes(parsed.raw_id)
        if not account.isalnum():
            raise ValueError("no account of ours")
        statement = "SELECT secret FROM factors WHERE account = ? AND kind = 'passkey' AND id = ?"
        ((document,),) = self._database.execute(statement, (account, id_))
        key = AttestedCredentialData(bytes.fromhex(json.loads(document)["key"]))
        _make_server(address).authenticate_complete(_library_state(challenge), [key], parsed)
        return account, id_, data.is_user_verified(), data.counter, challenge, document


def _make_server(address: str) -> Fido2Server:
    """Return the library's verifier of signatures and origins for this address."""
    from fido2.server import Fido2Server  # noqa: PLC0415 - 60 ms that few processes need
    from fido2.webauthn import PublicKeyCredentialRpEntity  # noqa: PLC0415

    entity = PublicKeyCredentialRpEntity(id=urlsplit(address).hostname or "", name="Annals")
    return Fido2Server(entity, verify_origin=lambda origin: origin == address)


def _library_state(challenge: bytes) -> Doc:
    return {"challenge": encode_bytes(challenge), "user_verification": None}


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "==")


def _to_json(options: Doc) -> Doc:
    """Return the library's options as plain JSON."""
    doc: Doc = json.loads(json.dumps(options, default=dict))
    return doc
