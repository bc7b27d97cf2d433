// Servers of open models that an operator runs: vLLM, SGLang, llama.cpp, Ollama and LM Studio.
//
// vLLM reads and writes `reasoning`, has the template's switch for thinking, takes low, medium and high
// (other words since May 2026 only) and continues a turn only with `continue_final_message`. SGLang has
// the template's switch and names thinking reasoning_content in both directions. llama.cpp refuses a last
// assistant turn while it thinks, and reads a choice by name as `auto`. Ollama reads no tool_choice,
// never fetches an image, answers 400 to efforts that it does not know, and reads `reasoning`. LM Studio
// reads an effort only for gpt-oss.
// From: the vendors section of the servers' own documentation and releases up to November 2026; vLLM
// 0.16 and later.

import { type ChatRules, chatVendor, usual } from './chat.ts';
import { type ChatBody, partsOf, prefillOf } from './chat-body.ts';
import { refusalOf } from './script.ts';
import type { Refusal } from './server.ts';
import { inField, underEither } from './thinking-forms.ts';

const FAULTS: Readonly<Record<string, () => Refusal>> = {
  401: () => refusalOf('Unauthorized', { status: 401 }),
  429: () => refusalOf('Too many requests', { status: 429 }),
  500: () => refusalOf('Internal server error', { status: 500, type: 'server_error' }),
  long: () =>
    refusalOf(
      "This model's maximum context length is 131072 tokens. However, your request has 140000 input tokens.",
    ),
};

/** What the template's switch says; a model that can be switched thinks unless it is turned off. */
function templateThinks(body: ChatBody): boolean {
  const template = (body['chat_template_kwargs'] ?? {}) as { readonly enable_thinking?: boolean };
  return template.enable_thinking !== false;
}

function checkEffort(body: ChatBody, efforts: readonly string[]): void {
  const effort = body.reasoning_effort;
  if (effort != null && !efforts.includes(effort)) {
    throw refusalOf(`reasoning_effort: Input should be ${efforts.join(', ')}, not ${effort}`);
  }
}

function local(rules: Partial<ChatRules>) {
  return chatVendor({
    unknownPath: () => refusalOf('Not Found', { status: 404 }),
    faults: FAULTS,
    check: () => undefined,
    thinks: templateThinks,
    thinking: inField('reasoning_content'),
    usage: usual,
    ...rules,
  });
}

/** vLLM 0.16 and later. */
export const vllm = local({
  check: (body) => checkEffort(body, ['low', 'medium', 'high']),
  thinking: inField('reasoning'),
  prefill: (body) => (body['continue_final_message'] === true ? prefillOf(body) : ''),
});

/** SGLang. */
export const sglang = local({ check: (body) => checkEffort(body, ['low', 'medium', 'high']) });

/** llama.cpp's llama-server. */
export const llamaCpp = local({
  check: (body) => {
    if (prefillOf(body) !== '' && templateThinks(body)) {
      throw refusalOf('Assistant response prefill is incompatible with enable_thinking.');
    }
  },
  forced: (body) => (body.tool_choice === 'required' ? 'any' : undefined),
});

/** Ollama. */
export const ollama = local({
  check: (body) => {
    checkEffort(body, ['none', 'low', 'medium', 'high']);
    const addresses = partsOf(body, 'image_url').map((part) => part.image_url?.url ?? '');
    if (addresses.some((url) => !url.startsWith('data:'))) {
      throw refusalOf('image URLs are not currently supported, please use base64 encoded data');
    }
  },
  forced: () => undefined,
  ignoresChoice: true,
  thinks: (body) => body.reasoning_effort !== 'none',
  thinking: inField('reasoning'),
});

/** LM Studio. */
export const lmStudio = local({
  check: (body) => {
    if (body.model.includes('gpt-oss')) checkEffort(body, ['low', 'medium', 'high']);
  },
  thinks: () => true,
  thinking: underEither('reasoning'),
});
