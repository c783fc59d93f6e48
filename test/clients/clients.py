"""The Python packages that applications use, against a gateway: `clients.py <url> <API key> <access key id>`."""

import os
import sys

URL, KEY, ACCESS_KEY_ID = sys.argv[1:4]
# What leads clients here to which no base URL is given; some read it when they are imported.
os.environ.update(
    CO_API_URL=URL,
    MIXEDBREAD_BASE_URL=URL,
    ZEROENTROPY_BASE_URL=f"{URL}/v1",
    ISAACUS_BASE_URL=f"{URL}/v1",
    PINECONE_CONTROLLER_HOST=URL,
    FIREWORKS_API_BASE=f"{URL}/inference/v1",
    AWS_ENDPOINT_URL=URL,
    AWS_ACCESS_KEY_ID=ACCESS_KEY_ID,
    AWS_SECRET_ACCESS_KEY=KEY,
)

import any_llm
import boto3
import botocore.exceptions
import cohere
import dashscope
import isaacus
import mixedbread
import pinecone
import requests
import voyageai
import zeroentropy

WRONG_KEY = "sk-" + "x" * 48
QUERY = "Which planet has the most moons?"
DOCUMENTS = [
    "Mercury has no moons at all.",
    "Bread is baked from flour and water.",
    "Saturn is the planet with the most moons.",
]
BEST = 2


def rejected(kind, work):
    try:
        work()
    except kind as error:
        return error
    raise AssertionError(f"not rejected with {kind}")


def try_cohere():
    def ask(key):
        client = cohere.ClientV2(key, base_url=URL)
        return client.rerank(model="local", query=QUERY, documents=DOCUMENTS, top_n=2)

    results = ask(KEY).results
    assert [len(results), results[0].index] == [2, BEST]
    rejected(cohere.UnauthorizedError, lambda: ask(WRONG_KEY))


def try_jina():
    """As pymilvus-model's Jina reranker does it, whose other dependencies would take gigabytes."""

    def ask(key):
        headers = {"Authorization": f"Bearer {key}", "Accept-Encoding": "identity"}
        body = {"query": QUERY, "documents": DOCUMENTS, "model": "local", "top_n": 2}
        reply = requests.post(f"{URL}/jina/v1/rerank", json=body, headers=headers).json()
        if "results" not in reply:
            raise RuntimeError(reply["detail"])
        return [(row["document"]["text"], row["relevance_score"], row["index"]) for row in reply["results"]]

    results = ask(KEY)
    assert [len(results), results[0][0], results[0][2]] == [2, DOCUMENTS[BEST], BEST]
    assert "API key" in str(rejected(RuntimeError, lambda: ask(WRONG_KEY)))


def try_vllm():
    """As MaxKB's vLLM model did it: Cohere's client, whose replies it takes to have documents."""
    client = cohere.Client(KEY, base_url=f"{URL}/vllm")
    results = client.rerank(model="local", query=QUERY, documents=DOCUMENTS, top_n=2).results
    assert [len(results), results[0].document.text] == [2, DOCUMENTS[BEST]]


def try_fireworks():
    """any-llm, which reads `data`."""

    def ask(key):
        return any_llm.rerank(
            "local",
            QUERY,
            DOCUMENTS,
            provider="fireworks",
            api_key=key,
            api_base=f"{URL}/inference/v1",
            top_n=2,
        )

    results = ask(KEY).results
    assert [len(results), results[0].index] == [2, BEST]
    assert "API key" in str(rejected(Exception, lambda: ask(WRONG_KEY)))


def try_voyage():
    def ask(key, **more):
        client = voyageai.Client(api_key=key, base_url=f"{URL}/v1", max_retries=0)
        return client.rerank(QUERY, DOCUMENTS, model="local", **more)

    results = ask(KEY, top_k=2).results
    assert [len(results), results[0].index, results[0].document] == [2, BEST, DOCUMENTS[BEST]]
    assert ask(KEY).results[0].index == BEST
    rejected(voyageai.error.AuthenticationError, lambda: ask(WRONG_KEY))


def try_mixedbread():
    def ask(key):
        client = mixedbread.Mixedbread(api_key=key, base_url=URL, max_retries=0)
        return client.rerank(model="local", query=QUERY, input=DOCUMENTS, top_k=2, return_input=True)

    data = ask(KEY).data
    assert [len(data), data[0].index, data[0].input] == [2, BEST, DOCUMENTS[BEST]]
    rejected(mixedbread.AuthenticationError, lambda: ask(WRONG_KEY))


def try_pinecone():
    client = pinecone.Pinecone(api_key=KEY, host=URL)
    reply = client.inference.rerank(model="local", query=QUERY, documents=DOCUMENTS, top_n=2)
    assert [len(reply.data), reply.data[0].index] == [2, BEST]
    assert reply.data[0].document["text"] == DOCUMENTS[BEST]


def try_zeroentropy():
    def ask(key):
        client = zeroentropy.ZeroEntropy(api_key=key, base_url=f"{URL}/v1", max_retries=0)
        return client.models.rerank(model="local", query=QUERY, documents=DOCUMENTS, top_n=2)

    results = ask(KEY).results
    assert [len(results), results[0].index] == [2, BEST]
    rejected(zeroentropy.AuthenticationError, lambda: ask(WRONG_KEY))


def try_isaacus():
    def ask(key):
        client = isaacus.Isaacus(api_key=key, base_url=f"{URL}/v1", max_retries=0)
        return client.rerankings.create(model="local", query=QUERY, texts=DOCUMENTS, top_n=2)

    results = ask(KEY).results
    assert [len(results), results[0].index] == [2, BEST]
    rejected(isaacus.AuthenticationError, lambda: ask(WRONG_KEY))


def try_dashscope():
    dashscope.base_http_api_url = f"{URL}/api/v1"

    def ask(key):
        return dashscope.TextReRank.call(
            model="local",
            query=QUERY,
            documents=DOCUMENTS,
            top_n=2,
            return_documents=True,
            api_key=key,
        )

    results = ask(KEY).output.results
    assert [len(results), results[0].index] == [2, BEST]
    assert results[0]["document"] == {"text": DOCUMENTS[BEST]}
    refused = ask(WRONG_KEY)
    assert [refused.status_code, refused.code] == [401, "InvalidApiKey"]


def try_boto3():
    def ask(secret):
        client = boto3.client(
            "bedrock-agent-runtime",
            region_name="eu-west-1",
            endpoint_url=URL,
            aws_access_key_id=ACCESS_KEY_ID,
            aws_secret_access_key=secret,
        )
        return client.rerank(
            queries=[{"type": "TEXT", "textQuery": {"text": QUERY}}],
            sources=[
                {
                    "type": "INLINE",
                    "inlineDocumentSource": {"type": "TEXT", "textDocument": {"text": text}},
                }
                for text in DOCUMENTS
            ],
            rerankingConfiguration={
                "type": "BEDROCK_RERANKING_MODEL",
                "bedrockRerankingConfiguration": {
                    "numberOfResults": 2,
                    "modelConfiguration": {
                        "modelArn": "arn:aws:bedrock:eu-west-1::foundation-model/local"
                    },
                },
            },
        )

    results = ask(KEY)["results"]
    assert [len(results), results[0]["index"]] == [2, BEST]
    error = rejected(botocore.exceptions.ClientError, lambda: ask(WRONG_KEY))
    assert error.response["Error"]["Code"] == "InvalidSignatureException"


def try_environment():
    """Clients that an application gives no base URL."""
    ask = {"model": "local", "query": QUERY, "documents": DOCUMENTS}
    body = '{"query": "moons", "documents": ["a", "b"], "api_version": 2}'
    cohere.ClientV2(KEY).rerank(**ask)
    mixedbread.Mixedbread(api_key=KEY).rerank(model="local", query=QUERY, input=DOCUMENTS)
    zeroentropy.ZeroEntropy(api_key=KEY).models.rerank(**ask)
    isaacus.Isaacus(api_key=KEY).rerankings.create(model="local", query=QUERY, texts=DOCUMENTS)
    pinecone.Pinecone(api_key=KEY).inference.rerank(**ask)
    any_llm.rerank("local", QUERY, DOCUMENTS, provider="fireworks", api_key=KEY)
    boto3.client("bedrock-runtime", region_name="eu-west-1").invoke_model(modelId="local", body=body)


failed = 0
for name, attempt in list(globals().items()):
    if not name.startswith("try_"):
        continue
    try:
        attempt()
        print(f"ok {name[4:]}")
    except Exception as error:  # One client that fails does not keep the others from being tried.
        failed += 1
        print(f"not ok {name[4:]}: {type(error).__name__}: {error}")
sys.exit(1 if failed else 0)
