"""LangChain's standard suite for chat models, over the gateway."""

import base64
import os

import httpx
import pytest
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ChatModelIntegrationTests

URL = os.environ["CLIENTS_URL"]
KEY = os.environ["CLIENTS_KEY"]


# One pixel.
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/"
    "yQALCAABAAEBAREA/8wABgAQEAX/2gAIAQEAAD8A0s8g/9k="
)


class OverGateway(ChatModelIntegrationTests):
    """What both classes have in common. Audio and PDF are not offered."""

    @pytest.fixture(autouse=True)
    def pictures(self, monkeypatch):
        """The suite fetches its picture from the web; this one is here."""
        request = httpx.Request("GET", "http://127.0.0.1/")
        monkeypatch.setattr(httpx, "get", lambda *_, **__: httpx.Response(200, content=JPEG, request=request))

    model_override_value = "swift-2"
    supports_image_inputs = True
    supports_image_tool_message = False
    supports_json_mode = True


class TestChatOpenAI(OverGateway):
    chat_model_class = ChatOpenAI
    chat_model_params = {"model": "swift-1", "base_url": f"{URL}/v1", "api_key": KEY, "max_retries": 0}


class TestChatOpenAIByFunctions(TestChatOpenAI):
    """Structured output by a forced tool instead of a schema."""

    structured_output_kwargs = {"method": "function_calling"}


class TestChatOpenAIResponses(TestChatOpenAI):
    """The Responses format. A schema is its way to JSON."""

    chat_model_params = {**TestChatOpenAI.chat_model_params, "use_responses_api": True}


class TestChatAnthropic(OverGateway):
    chat_model_class = ChatAnthropic
    chat_model_params = {"model": "swift-1", "base_url": URL, "api_key": KEY, "max_retries": 0, "max_tokens": 1000}
    supports_json_mode = False
    supports_anthropic_inputs = True
    supports_image_tool_message = True


class TestChatAnthropicBySchema(TestChatAnthropic):
    """Structured output by a schema instead of a forced tool."""

    structured_output_kwargs = {"method": "json_schema"}
