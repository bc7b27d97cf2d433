// A request all the way through the executable, one file a case: what a client of each format
// sends, what the upstream is asked, what it answers, what each client gets, and what is booked.
// A file is read from its three input sections; the others are held against what happens.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sendWhole, streamHead } from '../support/behaviours.ts';
import { catalogFor } from '../support/catalog.ts';
import { type Format, post } from '../support/client.ts';
import { explain, type Story } from '../support/explain.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type Recording, recordings } from '../support/golden.ts';
import { type Exchange, startUpstream, type Upstream } from '../support/upstream.ts';

let upstream: Upstream;
let gateway: Gateway;
/** What the upstream answers while one case runs: a status, a type, an empty line and the body. */
let answer = '';

beforeAll(async () => {
  upstream = await startUpstream({ golden: (exchange) => sendRecorded(exchange, answer) });
  gateway = await startGateway({ catalog: catalogFor(upstream, ['golden']) });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream.close();
});

/** A comment that says pause lets what stands before it arrive on its own. */
const PAUSE = ': pause\n\n';

async function sendRecorded(exchange: Exchange, recorded: string): Promise<void> {
  const [head = '', ...rest] = recorded.split('\n\n');
  const [status, type] = head.split(' ');
  const body = rest.join('\n\n');
  if (type !== 'text/event-stream') return sendWhole(exchange, Number(status), body);
  streamHead(exchange);
  const [first = '', ...later] = body.split(PAUSE);
  exchange.write(first);
  for (const piece of later) {
    await exchange.sleep(50);
    exchange.write(piece);
  }
  exchange.end();
}

const cases = recordings('pipeline', 'txt');

test('there are cases', () => expect(cases.length).toBeGreaterThan(10));

test.each(cases.map((recording) => [recording.title, recording] as const))(
  '%s',
  async (_title, recording) => {
    const given = readSections(recording);
    answer = given.get('upstream bytes') ?? '';
    const chat = await run('chat', given.get('client request (chat)'));
    const messages = await run('messages', given.get('client request (messages)'));
    const written = [
      ['client request (chat)', given.get('client request (chat)')],
      ['client request (messages)', given.get('client request (messages)')],
      ...both('upstream request', chat?.asked, messages?.asked),
      ['upstream bytes', answer],
      ['chat answer', chat?.answered],
      ['Messages answer', messages?.answered],
      ...both('ledger effect', chat?.booked, messages?.booked),
    ];
    recording.expectSelf(
      written
        .flatMap(([name, text]) => (text === undefined ? [] : `=== ${name} ===\n${text}`))
        .join(''),
    );
  },
);

function readSections({ bytes }: Recording): ReadonlyMap<string, string> {
  const [, ...parts] = Buffer.from(bytes)
    .toString()
    .split(/^=== (.+) ===\n/m);
  const sections = new Map<string, string>();
  for (let at = 0; at < parts.length; at += 2) sections.set(parts[at] ?? '', parts[at + 1] ?? '');
  return sections;
}

/** One section where both formats have the same, as they should wherever they can; else two. */
function both(name: string, chat: string | undefined, messages: string | undefined) {
  if (messages === undefined || chat === messages) return [[name, chat]] as const;
  return [
    [`${name} (chat)`, chat],
    [`${name} (messages)`, messages],
  ] as const;
}

const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages' };

/** Sends one request as an account of its own, and tells what came of it. */
async function run(format: Format, body: string | undefined) {
  if (body === undefined) return undefined;
  const account = await gateway.createAccount({ credit: 10_000 });
  const response = await post(account, PATHS[format], body);
  const text = await response.text();
  const heads = ['content-type', 'x-svc-model', 'x-svc-tokens-debited', 'x-svc-balance'].map(
    (name) => `${name}: ${response.headers.get(name) ?? 'none'}\n`,
  );
  const story = await explain(gateway, response.headers.get('x-request-id'));
  return {
    asked: pretty(upstream.requests.at(-1)?.text ?? ''),
    answered: `${response.status}\n${heads.join('')}\n${normal(readable(response, text))}`,
    booked: effect(story),
  };
}

function readable(response: Response, text: string): string {
  return response.headers.get('content-type') === 'application/json' ? pretty(text) : text;
}

/** Indented without going through values, which would round large numbers and move members. */
function pretty(json: string): string {
  let depth = 0;
  return `${json.replace(/"(?:[^"\\]|\\.)*"|\s+|\{\}|\[\]|[{}[\],:]/g, (token) => {
    const line = () => `\n${'  '.repeat(depth)}`;
    switch (token) {
      case '{':
      case '[':
        depth += 1;
        return token + line();
      case '}':
      case ']':
        depth -= 1;
        return line() + token;
      case ',':
        return token + line();
      case ':':
        return ': ';
      default:
        return token.trim();
    }
  })}\n`;
}

/** What differs from run to run: ids and the time. */
function normal(text: string): string {
  return text
    .replace(/\b(chatcmpl-|msg_|req_)\w{24}\b/g, '$1ID')
    .replace(/("created": ?)\d{10}\b/g, '$10');
}

function effect({ hold, usage, request, booked, ...story }: Story): string {
  const attempts = story['attempts'] as readonly { readonly failure?: string }[];
  const facts = {
    outcome: request?.['outcome'],
    'hold phase': hold['phase'],
    'hold amount': hold['amount'],
    'estimated prompt tokens': hold['estimated_prompt_tokens'],
    'output bound': hold['output_bound'],
    'usage basis': usage?.['basis'],
    'input tokens': usage?.['input_tokens'],
    'cached input tokens': usage?.['cached_input_tokens'],
    'output tokens': usage?.['output_tokens'],
    'reasoning tokens': usage?.['reasoning_tokens'],
    charged: booked?.['charged'],
    debited: booked?.['debited'],
    'debited in USD': booked?.['debited_usd'],
    loss: booked?.['loss'],
    'balance after': booked?.['balance_after'],
    'end user': request?.['end_user'],
    attempts: attempts.map(({ failure }) => failure ?? 'served').join(', '),
  };
  return Object.entries(facts)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');
}
