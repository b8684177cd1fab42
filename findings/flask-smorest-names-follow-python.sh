#!/usr/bin/env bash
# flask-smorest publishes another OpenAPI document under Python 3.13, from the same program.
#
# Version: flask-smorest 0.47.0 with apispec 6.10.1, under Python 3.11 and 3.13.
# Behaviour:
# An operation with arguments refers to a component for their refusal, status 422. The library takes the component's
# name from `http.HTTPStatus`, and Python 3.13 renamed that member. So clients that are generated from the document get
# another class after an update of Python. Nothing in the program or its libraries has changed.
# Output seen: Python 3.11: UNPROCESSABLE_ENTITY
# Output seen: Python 3.13: UNPROCESSABLE_CONTENT
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/show.py" <<'PYTHON'
import sys

from flask import Flask
from flask_smorest import Api, Blueprint
from marshmallow import Schema, fields

app = Flask("shown")
app.config.update(API_TITLE="Shown", API_VERSION="1", OPENAPI_VERSION="3.1.0")
games = Blueprint("games", "games")


class Page(Schema):
    after = fields.Integer()


@games.route("/games")
@games.arguments(Page, location="query")
def list_games(page):
    return page


api = Api(app)
api.register_blueprint(games)
name = api.spec.to_dict()["paths"]["/games"]["get"]["responses"]["422"]["$ref"].rpartition("/")[2]
print(f"Python {sys.version_info[0]}.{sys.version_info[1]}: {name}")
sys.exit(name != ("UNPROCESSABLE_ENTITY" if sys.version_info < (3, 13) else "UNPROCESSABLE_CONTENT"))
PYTHON
for python in python3 python3.11 python3.13; do
    "$python" -c "import venv" 2> "$folder/missing" || continue
    "$python" -m venv "$folder/$python"
    "$folder/$python/bin/pip" install --quiet --disable-pip-version-check flask-smorest==0.47.0 apispec==6.10.1
    "$folder/$python/bin/python" "$folder/show.py"
done
