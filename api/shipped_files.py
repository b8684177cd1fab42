"""Files of other folders, read by the service: beside the packages in a clone, inside this one in a wheel."""

from pathlib import Path

_INSTALLED = Path(__file__).parent / "_shipped"
_ROOT = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[1]

DOCS = _ROOT / "docs"
VERIFIER = _ROOT / "clients" / "verifier" / "annals_verify.py"
