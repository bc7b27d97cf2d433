// Z.ai's chat completions under /api/paas/v4, GLM-4.6 to 5.3.
//
// Refuses: thinking off and efforts other than low, high and max at 5.3; any tool_choice but `auto`;
// max_completion_tokens; more than one stop sequence; json_schema; max_tokens above 131,072; images;
// requests without a user message. Without `tool_stream` a call stays silent until it is whole. Earlier thinking is
// read only with `clear_thinking: false`.
// From: the docs.bigmodel.cn reference; reports of agentscope, aihubmix (14 August 2026) and opencrabs.
// Whether a forced choice is refused or ignored is not documented.

import { chatVendor, checkNames, checkTextOnly, stopsOf, usual } from './chat.ts';
import type { ChatBody } from './chat-body.ts';
import { Refusal } from './server.ts';
import { inField } from './thinking-forms.ts';

function refuse(code: string, message: string, status = 400): Refusal {
  return new Refusal(status, { error: { code, message } });
}

function parameter(text: string): Refusal {
  return refuse('1210', `Invalid API parameter: ${text}`);
}

const FAULTS: Readonly<Record<string, () => Refusal>> = {
  401: () => refuse('1001', 'Authentication parameter not received in Header', 401),
  402: () => refuse('1113', 'Insufficient balance or no resource package. Please recharge.', 429),
  429: () => refuse('1302', 'Rate limit reached for requests', 429),
  500: () => refuse('1234', 'Network error, please try again later', 500),
  529: () => refuse('1305', 'The service may be temporarily overloaded', 429),
  long: () => refuse('1261', 'Prompt exceeds max length'),
  filter: () => refuse('1301', 'System detected potentially unsafe or sensitive content in input.'),
};

function check(body: ChatBody): void {
  const effort = body.reasoning_effort;
  if (body.model.includes('glm-5.3')) {
    if (body.thinking?.type === 'disabled') throw parameter('thinking.type only supports enabled');
    if (effort != null && !['low', 'high', 'max'].includes(effort)) {
      throw parameter('reasoning_effort only supports low, high and max for this model');
    }
  }
  if (body.tool_choice != null && body.tool_choice !== 'auto') {
    throw parameter('tool_choice only supports auto');
  }
  if (body.max_completion_tokens != null) throw parameter('max_completion_tokens');
  if (stopsOf(body).length > 1) throw parameter('stop supports one sequence');
  if (body.response_format?.type === 'json_schema') {
    throw parameter('response_format.type only supports text and json_object');
  }
  if ((body.max_tokens ?? 0) > 131_072) throw parameter('max_tokens, range [1,131072]');
  if (!body.messages.some((turn) => turn.role === 'user')) {
    throw refuse('1214', 'messages illegal: no user message');
  }
  checkTextOnly(body, () => parameter('messages.content.type'));
  checkNames(body, /^[a-zA-Z0-9_-]{1,64}$/, (name) => parameter(`tools.function.name ${name}`));
}

const streamsCalls = (body: ChatBody): boolean => body['tool_stream'] === true;

/** The vendor. */
export const zai = chatVendor({
  unknownPath: (path) => new Refusal(404, { status: 404, error: 'Not Found', path }),
  faults: FAULTS,
  check,
  thinks: ({ thinking, reasoning_effort: effort }) => {
    return thinking?.type !== 'disabled' && !['none', 'minimal'].includes(effort ?? '');
  },
  thinking: (body) => {
    const form = inField('reasoning_content');
    const keeps = body.thinking?.['clear_thinking'] === false;
    return keeps ? form : { ...form, returned: () => [] };
  },
  usage: usual,
  usageUnasked: true,
  wholeCalls: (body) => !streamsCalls(body),
  before: async (body, turn) => {
    const calls = turn.items.some((item) => item.kind === 'call');
    if (calls && body.stream === true && !streamsCalls(body)) await Bun.sleep(1_500);
  },
  filtered: 'sensitive',
});
