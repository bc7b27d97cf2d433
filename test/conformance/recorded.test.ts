// One recorded request through the executable, one file a case: what a client of each format sends,
// what the upstream receives and answers, what each client gets, and what is booked. The input
// sections of a file are played; the others are compared with the result. The sections `upstream`
// and `model` are catalog lines for this case alone.

import { beforeAll, expect, test } from 'bun:test';
import { sendWhole, streamHead } from '../support/behaviours.ts';
import { type Books, openBooks } from '../support/books.ts';
import { type EveryFormat, PATHS, post } from '../support/client.ts';
import type { Story } from '../support/explain.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { recordings } from '../support/golden.ts';
import { type Exchange, startUpstream, type Upstream } from '../support/upstream.ts';
import { type RecordedCatalog, recordedCatalog } from './catalog.ts';
import { readSections } from './sections.ts';

const cases = recordings('cases', 'txt').map((recording) => {
  return { recording, given: readSections(recording) };
});

let upstream: Upstream;
let catalog: RecordedCatalog;
let gateway: Gateway;
let books: Books;
let account: TestAccount;
/** What the upstream answers while one case runs: a status, a type, an empty line and the body. */
let answer = '';
/** The answer that one case waits for: the head of a stream comes with its first content. */
let begun: Promise<unknown> | undefined;

beforeAll(async () => {
  upstream = await startUpstream({ golden: (exchange) => sendRecorded(exchange, answer) });
  catalog = recordedCatalog(
    upstream,
    cases.map(({ given }) => given),
  );
  gateway = await startGateway({ catalog: catalog.text });
  account = await gateway.createAccount({ plan: 'large' });
  books = openBooks(gateway);
});

closeAtEnd(() => [upstream, gateway, books]);

/** Comments of a recorded stream that are done and not sent; a pause ends with the client's head. */
const PAUSE = ': pause\n\n';
const CUT = ': cut\n\n';
const RESET = ': reset\n\n';

/** A section of a file ends with a line end; this line takes the last one back. */
const NO_LINE_END = '\n\\ no newline at the end\n';

async function sendRecorded(exchange: Exchange, recorded: string): Promise<void> {
  const [head = '', ...rest] = recorded.split('\n\n');
  const [status, type] = head.split(' ');
  const body = rest.join('\n\n').replace(NO_LINE_END, '');
  if (type !== 'text/event-stream') return sendWhole(exchange, Number(status), body, type);
  streamHead(exchange);
  const [first = '', ...later] = body.replace(CUT, '').replace(RESET, '').split(PAUSE);
  exchange.write(first);
  for (const piece of later) {
    await Promise.race([begun, exchange.untilGone()]);
    exchange.write(piece);
  }
  if (body.endsWith(CUT)) exchange.cut();
  else if (body.endsWith(RESET)) exchange.reset();
  else exchange.end();
}

test('there are cases', () => expect(cases.length).toBeGreaterThan(10));

test.each(cases.map(({ recording, given }) => [recording.title, recording, given] as const))(
  '%s',
  async (_title, recording, given) => {
    answer = given.get('upstream bytes') ?? '';
    const model = catalog.modelFor(given);
    const chat = await run('chat', given.get('client request (chat)'), model);
    const messages = await run('messages', given.get('client request (messages)'), model);
    // Cases of this format have no other one, since its answers have more that a server invents.
    const responses = await run('responses', given.get('client request (responses)'), model);
    const written = [
      ['note', given.get('note')],
      ['upstream', given.get('upstream')],
      ['model', given.get('model')],
      ['client request (chat)', given.get('client request (chat)')],
      ['client request (messages)', given.get('client request (messages)')],
      ['client request (responses)', given.get('client request (responses)')],
      ...both('upstream request', chat?.asked ?? responses?.asked, messages?.asked),
      ['upstream bytes', given.get('upstream bytes')],
      ['chat answer', chat?.answered],
      ['Messages answer', messages?.answered],
      ['Responses answer', responses?.answered],
      ...both('ledger effect', chat?.booked ?? responses?.booked, messages?.booked),
    ];
    recording.expectSelf(
      written
        .flatMap(([name, text]) => (text === undefined ? [] : `=== ${name} ===\n${text}`))
        .join(''),
    );
  },
);

/** One section where both formats have the same, as they should wherever they can; else two. */
function both(name: string, chat: string | undefined, messages: string | undefined) {
  if (chat === undefined || messages === undefined || chat === messages) {
    return [[name, chat ?? messages]] as const;
  }
  return [
    [`${name} (chat)`, chat],
    [`${name} (messages)`, messages],
  ] as const;
}

/** Sends one request and returns the outcome. `model` stands in for the name in the recording. */
async function run(format: EveryFormat, body: string | undefined, model: string) {
  if (body === undefined) return undefined;
  const before = upstream.requests.length;
  const sent = body.replace(/("model": ?)"golden"/, (_all, key) => `${key}"${model}"`);
  const posted = post(account, PATHS[format], sent);
  begun = posted;
  const response = await posted;
  const text = await response.text();
  const heads = HEADS.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : `${name}: ${value}\n`;
  });
  const story = await books.story(response.headers.get('x-request-id'));
  const asked = upstream.requests.slice(before).map((request) => normal(pretty(request.text)));
  const all = `${response.status}\n${heads.join('')}\n${normal(readable(response, text))}`;
  const balance = String(story?.booked?.['balance_after']);
  return {
    asked: asked.length === 0 ? 'nothing was sent\n' : withoutRepetitions(asked).join(''),
    answered: all.replaceAll(model, 'golden').replaceAll(balance, 'BALANCE'),
    booked: story === undefined ? 'nothing was booked\n' : effect(story),
  };
}

/** How often the same is asked again is a matter of budgets and pauses, and of no format. */
function withoutRepetitions(all: readonly string[]): string[] {
  return all.filter((each, index) => each !== all[index - 1]);
}

const HEADS = [
  ...['content-type', 'x-svc-model', 'x-svc-tokens-debited', 'x-svc-balance'],
  'x-should-retry',
];

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

/** What differs from run to run: ids, the time, and the key of an account's conversation. */
function normal(text: string): string {
  return text
    .replace(/\b(chatcmpl-|msg_|resp_)\w{24}(\d*)\b/g, '$1ID$2')
    .replace(/\breq_[0-9a-f]{32}\b/g, 'req_ID')
    .replace(/("(?:created|created_at|completed_at)": ?)\d{10}\b/g, '$10')
    .replace(/("prompt_cache_key": ?)"[0-9a-z]+"/g, '$1"KEY"');
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
    'end user': request?.['end_user'],
    attempts: withoutRepetitions(attempts.map(({ failure }) => failure ?? 'served')).join(', '),
  };
  return Object.entries(facts)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');
}
