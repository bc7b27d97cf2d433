"""A check of scripts/openapi: a request that the description allows is refused for a rule over several
fields, or over the whole body, and for nothing else. Such rules are not in the description."""

import re

import schemathesis

RULES = re.compile(
    "|".join(
        [
            "^before_id: cannot be combined with after_id",
            "^tool_choice: (names a function that is not in tools|needs tools to choose from)",
            r"^tool_choice\.name: (names a tool that is not in tools|is required)",
            r"^tools\[\d+\]\.function\.name: is the name of an earlier tool too",
            "^messages: must have a ",
            r"^messages\[\d+\]\.content: must have at most 1000000 characters of text",
            "context length|prompt is too long|exceed context limit",
            "^The request body (nests deeper|has more than)",
        ]
    )
)


@schemathesis.check
def refused_by_rule_alone(ctx, response, case):
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if response.status_code != 400:
        return
    message = response.json()["error"]["message"]
    assert RULES.search(message), f"a request that is described was refused: {message}"
