"""A client that openapi-python-client generated from the gateway's OpenAPI document, used against the gateway."""

import sys

from generated_client.api.logs import list_audit
from generated_client.api.playground import rank_for_comparison
from generated_client.api.rerank import rerank
from generated_client.api.sessions import login
from generated_client.api.tokens import create_token, list_tokens
from generated_client.client import AuthenticatedClient, Client
from generated_client.models import (
    CreateTokenBody,
    Failure,
    LoginBody,
    RankForComparisonBody,
    RerankBody,
)

DOCUMENTS = [
    "Mercury has no moons at all.",
    "Bread is baked from flour and water.",
    "Saturn is the planet with the most moons.",
]

url, password = sys.argv[1:]
visitor = Client(base_url=url)
entered = login.sync_detailed(client=visitor, body=LoginBody(username="root", password=password))
assert entered.parsed.data.username == "root", entered
cookie = entered.headers["set-cookie"].split(";")[0]
root = Client(base_url=url, headers={"cookie": cookie})

made = create_token.sync(client=root, body=CreateTokenBody(name="generated", unlimited_quota=True))
listed = list_tokens.sync(client=root, page_size=5)
assert "generated" in [token.name for token in listed.data.items], listed

refused = list_tokens.sync(client=Client(base_url=url))
assert isinstance(refused, Failure) and refused.code == "unauthorized", refused

written = list_audit.sync(client=root, page_size=5)
assert ("token.create", "root") in [(entry.action, entry.actor) for entry in written.data.items], written

compared = rank_for_comparison.sync(
    client=root,
    body=RankForComparisonBody(model="local", query="Which planet has moons?", documents=DOCUMENTS),
)
assert compared.data.results[0].index == 2, compared

caller = AuthenticatedClient(base_url=url, token=made.data.key)
asked = RerankBody(
    model="local", query="Which planet has the most moons?", documents=DOCUMENTS, top_n=1
)
ranked = rerank.sync(client=caller, body=asked)
assert [row.index for row in ranked.results] == [2], ranked
print("openapi-python-client: a client was generated and used")
