// Messages endpoints of vendors other than Anthropic: DeepSeek and MiniMax, under /anthropic.
//
// Both take any signature of thinking, temperature with top_p, and a last assistant turn, and ignore
// budgets and cache marks. DeepSeek refuses a forced tool while it thinks, and turns with calls that lost
// their thinking, and images. MiniMax M3.1 ignores `disabled` and thinks.
// From: api-docs.deepseek.com, thinking_mode; platform.minimax.io, and aihubmix of 19 October 2026.

import { refusal } from './anthropic-generations.ts';
import { answerMessage } from './messages-answer.ts';
import { askOf, blocksOf, imagesOf, type MessagesBody } from './messages-body.ts';
import { countsOf, decide, fresh, provoke, readPrefix } from './script.ts';
import type { Refusal, Vendor } from './server.ts';

type Host = {
  readonly thinks: (body: MessagesBody) => boolean;
  readonly check: (body: MessagesBody, thinks: boolean) => void;
};

const FAULTS: Readonly<Record<string, () => Refusal>> = {
  401: () => refusal('invalid api key', { status: 401, type: 'authentication_error' }),
  402: () => refusal('Insufficient Balance', { status: 402, type: 'billing_error' }),
  429: () => refusal('Rate limit reached', { status: 429, type: 'rate_limit_error' }),
  500: () => refusal('Internal server error', { status: 500, type: 'api_error' }),
  long: () => refusal('prompt is too long: 1200000 tokens > 1000000 maximum'),
};

const isThinking = ({ type }: { readonly type: string }): boolean => type.endsWith('thinking');

const DEEPSEEK: Host = {
  thinks: ({ thinking }) => thinking?.type !== 'disabled',
  check: ({ messages, tool_choice: choice }, thinks) => {
    if (JSON.stringify(messages).includes('"type":"image"')) {
      throw refusal('messages.content: image is not supported');
    }
    if (!thinks) return;
    if (choice?.type === 'any' || choice?.type === 'tool') {
      throw refusal('Thinking mode does not support this tool_choice');
    }
    for (const { role, content } of messages) {
      const blocks = blocksOf(content);
      const calls = role === 'assistant' && blocks.some((block) => block.type === 'tool_use');
      if (calls && !blocks.some(isThinking)) {
        throw refusal(
          'The `content[].thinking` in the thinking mode must be passed back to the API.',
        );
      }
    }
  },
};

const MINIMAX: Host = { thinks: () => true, check: () => undefined };

function messagesHost(host: Host): Vendor {
  return (seen) => {
    const body = seen.body as MessagesBody;
    if (seen.path !== '/anthropic/v1/messages') {
      throw refusal('Not Found', { status: 404, type: 'not_found_error' });
    }
    const { 'x-api-key': key, authorization } = seen.headers;
    if (key === undefined && authorization === undefined) throw FAULTS['401']?.();
    seen.thought = host.thinks(body);
    const ask = askOf(body, seen.thought);
    provoke(seen, ask.last, FAULTS);
    if (typeof body.max_tokens !== 'number') throw refusal('max_tokens: Field required');
    host.check(body, seen.thought);
    for (const block of body.messages.flatMap((turn) => blocksOf(turn.content))) {
      if (isThinking(block)) seen.returned.push(block.thinking ?? '');
    }
    seen.images = imagesOf(body);
    const turn = decide(ask, () => fresh('call_'));
    const prompt = JSON.stringify([body.tools, body.system, body.messages]);
    for (const item of turn.items) if (item.kind === 'thought') seen.given.push(item.text);
    return answerMessage({
      model: body.model ?? '',
      stream: body.stream === true,
      turn,
      counts: countsOf(seen, ask, turn, () => readPrefix(seen.mark, prompt)),
      shown: true,
      sign: () => fresh('sig'),
    });
  };
}

/** DeepSeek's Messages endpoint. */
export const deepseekMessages = messagesHost(DEEPSEEK);

/** MiniMax's Messages endpoint. */
export const minimaxMessages = messagesHost(MINIMAX);
