// DeepSeek V4, chat completions. messages-hosts.ts has its Messages endpoint.
//
// Refuses: a forced tool while it thinks; efforts outside of its words (`none` is one of Responses alone)
// and unknown types of thinking, with 422; turns with calls and no reasoning_content while it thinks (an empty one is accepted); a
// `prefix` outside of /beta; json_schema; a request for JSON without that word; images.
// From: the thinking_mode page of api-docs.deepseek.com; @ai-sdk/deepseek 3.0.56 (28 November 2026).

import { chatVendor, checkJsonWord, checkNames, checkTextOnly, forces, usual } from './chat.ts';
import { type ChatBody, callTurnWithout, prefillOf } from './chat-body.ts';
import { refusalOf } from './script.ts';
import { Refusal, type Seen } from './server.ts';
import { inField } from './thinking-forms.ts';

const FAULTS: Readonly<Record<string, () => Refusal>> = {
  401: () => refusalOf('Your api key is invalid', { status: 401, type: 'authentication_error' }),
  402: () => refusalOf('Insufficient Balance', { status: 402, type: 'unknown_error' }),
  429: () => refusalOf('Rate Limit Reached', { status: 429, type: 'rate_limit_error' }),
  500: () => refusalOf('Internal Server Error', { status: 500, type: 'server_error' }),
  503: () => refusalOf('Server overloaded', { status: 503, type: 'service_unavailable_error' }),
  long: () =>
    refusalOf(
      "This model's maximum context length is 1048576 tokens. However, you requested 1300000 tokens.",
    ),
  filter: () => refusalOf('Content Exists Risk'),
};

const TYPES = ['enabled', 'disabled', 'adaptive'];
const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

const thinks = ({ thinking }: ChatBody): boolean => thinking?.type !== 'disabled';

function check(body: ChatBody, seen: Seen): void {
  const { thinking, reasoning_effort: effort } = body;
  const unprocessable = (text: string) => refusalOf(text, { status: 422 });
  if (thinking !== undefined && !TYPES.includes(thinking.type ?? '')) {
    throw unprocessable('unknown variant for thinking.type');
  }
  if (effort != null && !EFFORTS.includes(effort)) {
    throw unprocessable(`unknown variant ${effort} for reasoning_effort`);
  }
  if (thinks(body) && forces(body)) {
    throw refusalOf('Thinking mode does not support this tool_choice');
  }
  const lost = callTurnWithout(body, (turn) => typeof turn.reasoning_content !== 'string');
  if (thinks(body) && lost !== -1) {
    throw refusalOf('The `reasoning_content` in the thinking mode must be passed back to the API.');
  }
  if (body.messages.at(-1)?.prefix === true && !seen.path.startsWith('/beta')) {
    throw refusalOf('prefix is a beta feature: use the base URL with /beta');
  }
  if (body.response_format?.type === 'json_schema') {
    throw refusalOf('This response_format type is unavailable now');
  }
  checkTextOnly(body, () => refusalOf('unknown variant `image_url`, expected `text`'));
  checkJsonWord(body, () => refusalOf("Prompt must contain the word 'json' in some form."));
  checkNames(body, /^[a-zA-Z0-9_-]{1,64}$/, (name) => {
    return refusalOf(`Invalid 'tools[0].function.name': ${name} does not match pattern.`);
  });
}

/** The vendor's chat completions. */
export const deepseek = chatVendor({
  unknownPath: () => new Refusal(404, ''),
  faults: FAULTS,
  check,
  thinks,
  thinking: inField('reasoning_content'),
  prefill: prefillOf,
  usage: (counts) => ({
    ...usual(counts),
    prompt_cache_hit_tokens: counts.cached,
    prompt_cache_miss_tokens: counts.prompt - counts.cached,
  }),
});
