"""The Python of docs/quickstarts.md as it is printed, against a gateway: `quickstarts.py <url> <API key>`."""

import os
import pathlib
import re
import sys

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

URL, KEY = sys.argv[1:3]
PAGE = pathlib.Path(__file__).parents[2] / "docs" / "quickstarts.md"
QUERY = "Which planet has the most moons?"
DOCUMENTS = [
    "Mercury has no moons at all.",
    "Bread is baked from flour and water.",
    "Saturn is the planet with the most moons.",
]
BEST = DOCUMENTS[2]


def run_section(title, names):
    """What the Python of a section defines, for this gateway and key."""
    section = re.search(rf"^## {title}$(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S)[1]
    (code,) = re.findall(r"^```python\n(.*?)^```$", section, re.M | re.S)
    exec(code.replace("{root}", URL).replace("sk-...", KEY), names)
    return names


class Index:
    """What the page takes for granted."""

    def as_query_engine(self, node_postprocessors, **_):
        return node_postprocessors


def try_llama_index():
    from llama_index.core.schema import NodeWithScore, TextNode

    [reranker] = run_section("LlamaIndex", {"index": Index()})["query_engine"]
    nodes = [NodeWithScore(node=TextNode(text=text), score=0.5) for text in DOCUMENTS]
    ranked = reranker.postprocess_nodes(nodes, query_str=QUERY)
    assert [len(ranked), ranked[0].node.get_content()] == [3, BEST], ranked


def try_haystack():
    from haystack import Document

    ranker = run_section("Haystack", {})["ranker"]
    documents = [Document(content=text) for text in DOCUMENTS]
    ranked = ranker.run(query=QUERY, documents=documents)["documents"]
    assert [len(ranked), ranked[0].content] == [3, BEST], ranked


for tries in [try_llama_index, try_haystack]:
    tries()
    print(f"ok {tries.__name__.removeprefix('try_')}")
