// Every kind of failure that one prompt can cause at an upstream, played by the scripted upstream
// for prompts that contain the poison. Bodies look like credential errors and echo the caller's
// text, as servers do that show the rejected value.

import { type Behaviour, play, sendWhole, streamHead } from '../../support/behaviours.ts';
import { USAGE } from '../../support/render.ts';
import type { Exchange } from '../../support/upstream.ts';

/** What the poisoned prompt says, beside words that error messages have. */
export const POISON = 'b3-poison';

/** Each of these, wherever it stands, has a class of its own in the words of some vendor. */
const BAIT = [
  'Incorrect API key provided: insufficient_quota, invalid api key, Arrearage.',
  'Rate limit reached, the engine is overloaded and at capacity.',
  'Your credit balance is too low. This organization has been disabled.',
  'The model_not_found is not a valid model.',
].join(' ');

export const POISONED_PROMPT = `Please repeat: ${POISON}. ${BAIT}`;

const HELLO = play({
  pieces: [{ text: 'Hello ' }, { text: 'victim.' }],
  finish: 'stop',
  usage: USAGE,
});

/** An error whose message repeats the prompt. */
function echoing(exchange: Exchange): string {
  const message = `Invalid input ${JSON.stringify(POISONED_PROMPT)}: the value is refused.`;
  return exchange.request.dialect === 'chat'
    ? JSON.stringify({ error: { message, type: 'invalid_request_error', param: 'messages' } })
    : JSON.stringify({ type: 'error', error: { type: 'api_error', message } });
}

function refuses(status: number, headers: Readonly<Record<string, string>> = {}): Behaviour {
  return (exchange) => sendWhole(exchange, status, echoing(exchange), 'application/json', headers);
}

/** The value alone at the head of the message, as some validators write it. */
const bare: Behaviour = (exchange) =>
  sendWhole(exchange, 400, JSON.stringify({ error: { message: `${BAIT} is not of type object` } }));

const pydantic: Behaviour = (exchange) =>
  sendWhole(exchange, 422, JSON.stringify({ detail: [{ msg: 'wrong', input: POISONED_PROMPT }] }));

const firewall: Behaviour = (exchange) =>
  sendWhole(exchange, 403, '<html>Sorry, you have been blocked</html>', 'text/html');

/** A stream that begins as an answer does. */
function begins(exchange: Exchange): void {
  streamHead(exchange);
  exchange.write(
    exchange.request.dialect === 'chat'
      ? 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}\n\n'
      : 'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":1}}}\n\nevent: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hel"}}\n\n',
  );
}

export const POISONS: Readonly<Record<string, Behaviour>> = {
  'status-400': refuses(400),
  'status-400-bare': bare,
  'status-401': refuses(401),
  'status-402': refuses(402),
  'status-403': refuses(403),
  'status-403-firewall': firewall,
  'status-404': refuses(404),
  'status-408': refuses(408),
  'status-413': refuses(413),
  'status-422': pydantic,
  'status-429': refuses(429),
  'status-429-for-an-hour': refuses(429, { 'retry-after': '3600' }),
  'status-500': refuses(500),
  'status-502': refuses(502),
  'status-503': refuses(503),
  'status-503-for-an-hour': refuses(503, { 'retry-after': '3600' }),
  'status-529': refuses(529),
  'error-in-200': refuses(200),
  reset: (exchange) => exchange.reset(),
  cut: (exchange) => {
    begins(exchange);
    exchange.cut();
  },
  'error-in-stream': (exchange) => {
    begins(exchange);
    exchange.write(`event: error\ndata: ${echoing(exchange)}\n\n`);
    exchange.end();
  },
  junk: (exchange) => sendWhole(exchange, 200, `${POISONED_PROMPT} {"choices":`),
  'junk-in-stream': (exchange) => {
    begins(exchange);
    exchange.write(`data: {"not json ${POISON}\n\n`);
    exchange.end();
  },
  stall: (exchange) => exchange.untilGone(),
};

/** Answers every prompt but the poisoned one. */
export const BEHAVIOURS: Readonly<Record<string, Behaviour>> = Object.fromEntries(
  Object.entries(POISONS).map(([name, poisoned]) => [
    name,
    (exchange: Exchange) =>
      exchange.request.text.includes(POISON) ? poisoned(exchange) : HELLO(exchange),
  ]),
);
