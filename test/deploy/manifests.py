"""Renders the Helm chart with Helm's own engine, and holds it and the plain manifests to the schemas of Kubernetes.

usage: manifests.py DEPLOY_FOLDER OUT_FOLDER    (OUT_FOLDER gets the settings that the chart renders)
"""

import pathlib
import sys

import helm_python as helm
import kubernetes_validate
import yaml

KUBERNETES = "1.33"
# Kinds of others, for which Kubernetes has no schema.
FOREIGN = {"ServiceMonitor", "Kustomization"}
SECRETS = {"REDIS_URL": "redis://redis:6379", "ENCRYPTION_KEY": "0" * 64, "ROOT_PASSWORD": "not-a-password"}
EVERYTHING = {
    "secrets": SECRETS | {"METRICS_TOKEN": "0" * 32},
    "env": {"LOG_LEVEL": "debug"},
    "imagePullSecrets": [{"name": "registry"}],
    "ingress": {"enabled": True, "className": "nginx", "tlsSecret": "tls", "annotations": {"a": "b"}},
    "serviceMonitor": {"enabled": True},
    "podAnnotations": {"a": "b"},
    "nodeSelector": {"a": "b"},
    "tolerations": [{"key": "a", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "config": {"channels": [{"name": "local", "provider": "local", "models": ["local"]}]},
}
deploy, out = map(pathlib.Path, sys.argv[1:])


def check(where: str, text: str) -> list[dict]:
    objects = [document for document in yaml.safe_load_all(text) if document]
    for document in objects:
        if document["kind"] not in FOREIGN:
            kubernetes_validate.validate(document, KUBERNETES, strict=True)
        name = document.get("metadata", {}).get("name", where)
        print(f"{where}: {document['kind']} {name}")
    return objects


def render(chart: helm.Chart, values: dict, name: str) -> dict[str, list[dict]]:
    rendered = chart.render(values, name=name, namespace="search")
    return {file: check(file, text) for file, text in rendered.items() if file.endswith(".yaml")}


folder = str(deploy / "helm" / "rerank-gateway")
with helm.Chart.load(folder) as chart:
    render(chart, {"secrets": SECRETS}, "rerank-gateway")
    render(chart, {"existingSecret": "made-elsewhere"}, "search")
    for file, objects in render(chart, EVERYTHING, "x" * 53).items():
        for document in objects:
            assert len(document["metadata"]["name"]) <= 63, document["metadata"]["name"]
            if document["kind"] == "ConfigMap":
                (out / "chart.yaml").write_text(document["data"]["gateway.yaml"])
    try:
        render(chart, {}, "gateway")
    except helm.HelmRenderError as error:
        assert "secrets.REDIS_URL" in str(error), error
    else:
        raise AssertionError("A chart without secrets renders.")

plain = deploy / "kubernetes"
listed = yaml.safe_load((plain / "kustomization.yaml").read_text())["resources"]
assert sorted(listed) == sorted(p.name for p in plain.glob("*.yaml") if p.stem not in ("kustomization", "gateway"))
for file in listed:
    check(file, (plain / file).read_text())
