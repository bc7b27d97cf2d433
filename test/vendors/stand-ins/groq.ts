// Groq's chat completions: gpt-oss and Qwen.
//
// Refuses with 400: members that it does not know, reasoning_content in messages among them; efforts that
// a model does not have (gpt-oss: low, medium, high; Qwen: none, default). Thinking comes and returns as
// `reasoning`. Qwen writes it as think tags in the text, unless `reasoning_format` says otherwise or the
// request has tools or wants JSON.
// From: groq-sdk 1.6.0 and @ai-sdk/groq 3.0.71 (28 November 2026).

import { chatVendor, checkJsonWord, checkNames, checkTextOnly, usual } from './chat.ts';
import type { ChatBody } from './chat-body.ts';
import { refusalOf } from './script.ts';
import type { Refusal } from './server.ts';
import { inField, inTags } from './thinking-forms.ts';

const FAULTS: Readonly<Record<string, () => Refusal>> = {
  401: () => refusalOf('Invalid API Key', { status: 401, code: 'invalid_api_key' }),
  402: () => refusalOf('Organization has been restricted.', { code: 'organization_restricted' }),
  429: () => refusalOf('Rate limit reached', { status: 429, code: 'rate_limit_exceeded' }),
  500: () => refusalOf('Internal Server Error', { status: 500, type: 'internal_server_error' }),
  498: () => refusalOf('Flex tier capacity exceeded', { status: 498, code: 'capacity_exceeded' }),
  long: () =>
    refusalOf('Please reduce the length of the messages or completion.', {
      param: 'messages',
      code: 'context_length_exceeded',
    }),
};

const MEMBERS = new Set([
  ...['model', 'messages', 'temperature', 'top_p', 'max_tokens', 'max_completion_tokens', 'stop'],
  ...['stream', 'stream_options', 'response_format', 'tools', 'tool_choice', 'seed', 'user', 'n'],
  ...['parallel_tool_calls', 'presence_penalty', 'frequency_penalty', 'reasoning_effort'],
  ...['reasoning_format', 'include_reasoning', 'service_tier', 'logprobs', 'top_logprobs'],
  ...['logit_bias', 'metadata', 'store', 'documents', 'citation_options', 'compound_custom'],
]);
const TURN_MEMBERS = new Set([
  ...['role', 'content', 'name', 'tool_calls', 'tool_call_id', 'reasoning'],
]);

const isQwen = ({ model }: ChatBody): boolean => model.includes('qwen');

function check(body: ChatBody): void {
  const unknown = Object.keys(body).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) throw refusalOf(`property '${unknown}' is unsupported`);
  for (const [index, turn] of body.messages.entries()) {
    const member = Object.keys(turn).find((name) => !TURN_MEMBERS.has(name));
    if (member === undefined) continue;
    throw refusalOf(`'messages.${index}' : property '${member}' is unsupported`);
  }
  const efforts = isQwen(body) ? ['none', 'default'] : ['low', 'medium', 'high'];
  const effort = body.reasoning_effort;
  if (effort != null && !efforts.includes(effort)) {
    throw refusalOf(`\`reasoning_effort\` must be one of ${efforts.join(', ')}`);
  }
  if (body['include_reasoning'] !== undefined && body['reasoning_format'] !== undefined) {
    throw refusalOf('cannot specify both `include_reasoning` and `reasoning_format`');
  }
  checkTextOnly(body, () => refusalOf('messages content must be a string'));
  checkJsonWord(body, () => refusalOf("'messages' must contain the word 'json' in some form."));
  checkNames(body, /^[a-zA-Z0-9_-]{1,64}$/, (name) => refusalOf(`invalid tool name ${name}`));
}

/** The vendor. */
export const groq = chatVendor({
  unknownPath: (path) => refusalOf(`Unknown request URL: POST ${path}.`, { status: 404 }),
  faults: FAULTS,
  check,
  thinks: (body) => body.reasoning_effort !== 'none',
  thinking: (body) => {
    const { tools = [], response_format: format } = body;
    const isRaw = isQwen(body) && tools.length === 0 && format === undefined;
    if (body['include_reasoning'] === false) return undefined;
    return isRaw && body['reasoning_format'] === undefined
      ? inTags('reasoning')
      : inField('reasoning');
  },
  usage: usual,
});
