// Mistral's chat completions: Large 4, Medium 3.5 and Small 4.
//
// Refuses with 422: members that it does not know, in the request and in its messages. Refuses with 400:
// efforts that a model does not have, ids of calls other than nine letters and digits, and a user turn
// directly behind tool results. Thinking comes and returns as parts of the content. `prefix: true` marks a
// beginning.
// From: @mistralai/mistralai 2.7.0, @ai-sdk/mistral 4.0.87 (28 November 2026); docs.mistral.ai. Whether
// thinking can be turned off at Large 4 is open: the AI SDK says no, LiteLLM's map says yes.

import { chatVendor, checkNames, usual } from './chat.ts';
import { type ChatBody, prefillOf } from './chat-body.ts';
import { fresh, pieces } from './script.ts';
import { type Json, Refusal } from './server.ts';
import type { ThinkingForm } from './thinking-forms.ts';

function refuse(message: string, status = 400, code = '3051'): Refusal {
  const type = 'invalid_request_error';
  return new Refusal(status, { object: 'error', message, type, param: null, code });
}

function unprocessable(loc: readonly (string | number)[]): Refusal {
  const detail = { type: 'extra_forbidden', loc, msg: 'Extra inputs are not permitted' };
  return new Refusal(422, { detail: [detail] });
}

const FAULTS: Readonly<Record<string, () => Refusal>> = {
  401: () => new Refusal(401, { detail: 'Unauthorized' }),
  402: () => refuse('Payment required', 402, '1500'),
  429: () => refuse('Rate limit exceeded', 429, '1300'),
  500: () => refuse('Service unavailable', 500, '1000'),
  long: () =>
    refuse('Prompt contains 300000 tokens, too large for model with 262144 maximum context length'),
};

const MEMBERS = new Set([
  ...['model', 'messages', 'temperature', 'top_p', 'max_tokens', 'stream', 'stop', 'random_seed'],
  ...['response_format', 'tools', 'tool_choice', 'parallel_tool_calls', 'presence_penalty', 'n'],
  ...['frequency_penalty', 'prediction', 'prompt_mode', 'safe_prompt', 'reasoning_effort'],
  ...['metadata', 'guardrails', 'prompt_cache_key'],
]);
const TURN_MEMBERS = new Set(['role', 'content', 'tool_calls', 'tool_call_id', 'prefix']);

function effortsOf(model: string): readonly string[] {
  return model.includes('large-4') ? ['low', 'medium', 'high'] : ['none', 'high'];
}

function check(body: ChatBody): void {
  const unknown = Object.keys(body).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) throw unprocessable(['body', unknown]);
  for (const [index, turn] of body.messages.entries()) {
    const member = Object.keys(turn).find(
      (name) => !TURN_MEMBERS.has(name) && turn.role !== 'tool',
    );
    if (member !== undefined) throw unprocessable(['body', 'messages', index, turn.role, member]);
    if (turn.role === 'user' && body.messages[index - 1]?.role === 'tool') {
      throw refuse("Unexpected role 'user' after role 'tool'");
    }
    const ids = [turn.tool_call_id, ...(turn.tool_calls ?? []).map((call) => call.id)];
    const wrong = ids.find((id) => id !== undefined && !/^[a-zA-Z0-9]{9}$/.test(id));
    if (wrong !== undefined) throw refuse(`Tool call id was ${wrong} but must be a-z, A-Z, 0-9`);
  }
  const effort = body.reasoning_effort;
  if (effort != null && !effortsOf(body.model).includes(effort)) {
    throw refuse(`reasoning_effort ${effort} is not supported for this model`);
  }
  checkNames(body, /^[a-zA-Z0-9_-]{1,64}$/, (name) => {
    return refuse(
      `Function name was ${name} but must be a-z, A-Z, 0-9, with a maximum length of 64`,
    );
  });
}

const thinkingPart = (text: string): Json => {
  return { type: 'thinking', thinking: [{ type: 'text', text }] };
};

const PARTS: ThinkingForm = {
  whole: (thought, text) => {
    const said = text === '' ? [] : [{ type: 'text', text }];
    return { content: [thinkingPart(thought), ...said] };
  },
  deltas: (thought) => pieces(thought).map((piece) => ({ content: [thinkingPart(piece)] })),
  returned: ({ content }) => {
    const parts = typeof content === 'string' ? [] : (content ?? []);
    const thoughts = parts.filter((part) => part.type === 'thinking');
    return thoughts.map((part) => (part.thinking ?? []).map((each) => each.text).join(''));
  },
};

/** The vendor. */
export const mistral = chatVendor({
  unknownPath: () => new Refusal(404, { detail: 'Not Found' }),
  faults: FAULTS,
  check,
  thinks: ({ model, reasoning_effort: effort }) => {
    return model.includes('large-4') || effort === 'high';
  },
  thinking: PARTS,
  prefill: (body) => (body.messages.at(-1)?.prefix === true ? prefillOf(body) : ''),
  usage: usual,
  usageUnasked: true,
  callId: () => fresh('').slice(-8).padStart(9, 'c'),
});
