// Prompt caches of Messages upstreams, through the whole program: an upstream that counts as Anthropic
// does, and tool loops of clients that set no marks. What is charged follows what it reports.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type AnswerContent, readAnswerContent, usageIn } from '../support/answer.ts';
import { type Behaviour, play, sendWhole } from '../support/behaviours.ts';
import { catalogOf, LARGE_PLAN } from '../support/catalog.ts';
import { EVERY_FORMAT, type EveryFormat, PATHS, post, requestBody } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { createPromptCache, type PromptCache } from '../support/prompt-cache.ts';
import type { Piece } from '../support/render.ts';
import { parseEvents } from '../support/sse.ts';
import { type RecordedRequest, startUpstream, type Upstream } from '../support/upstream.ts';

setDefaultTimeout(60_000);

type Json = Readonly<Record<string, unknown>>;

const TURNS = 30;
const OUTPUT = 10;
const SYSTEM = 'You work on a repository and use your tools. '.repeat(150);
const PARAMETERS = { type: 'object', properties: { path: { type: 'string' } } };
const DESCRIPTION = 'Reads one file of the repository and returns its text. '.repeat(20);

/** More blocks in one round than an upstream searches before a mark. */
const callsOf = (turn: number): number => (turn % 7 === 3 ? 14 : 1 + (turn % 2));

let cache: PromptCache;
let upstream: Upstream;
let one: Gateway;
let many: Gateway;
/** A site that answers 503. */
let broken = '';

/** Calls tools for ever, with thoughts where it may have any. */
const loop: Behaviour = (exchange) => {
  const { request } = exchange;
  if (request.site === broken) return sendWhole(exchange, 503, '{"error":{"message":"busy"}}');
  const usage = { ...cache.count(request), completion: OUTPUT };
  const turn = (request.body['messages'] as Json[]).filter(
    ({ role }) => role === 'assistant',
  ).length;
  const calls = Array.from({ length: callsOf(turn) }, (_, at): Piece => {
    const json = `{"path":"src/${turn}/${at}.ts"}`;
    return { tool: at, id: `toolu_${turn}_${at}`, name: 'read_file', json };
  });
  const { type: thinks } = (request.body['thinking'] ?? {}) as Json;
  const thoughts: Piece[] = thinks === 'enabled' ? [{ reasoning: `Thought ${turn}.` }] : [];
  const pieces = [...thoughts, { text: `Step ${turn}.` }, ...calls];
  return play({ pieces, finish: 'tool_calls', usage })(exchange);
};

const once: Behaviour = (exchange) => {
  const usage = { ...cache.count(exchange.request), completion: OUTPUT };
  return play({ pieces: [{ text: 'Yes.' }], finish: 'stop', usage })(exchange);
};

function catalog(sites: readonly string[], keys: readonly string[]): string {
  const upstreams = sites.map((site) => ({
    id: site,
    dialect: 'messages',
    base_url: upstream.site(site).messagesBaseUrl,
    api_keys: keys.map((key) => `${site}-${key}`),
    cool_down_seconds: 0,
  }));
  const models = ['loop', 'once'].map((slug) => ({
    slug,
    context_window: 1_000_000,
    price: { input: '1', cached_input: '0.1', cache_write: '1.25', output: '2' },
    served_by: sites.map((site) => ({ upstream: site, model: slug })),
  }));
  return catalogOf({ upstreams, models, plans: { roomy: { name: 'Roomy', ...LARGE_PLAN } } });
}

beforeAll(async () => {
  cache = createPromptCache();
  upstream = await startUpstream({ loop, once });
  one = await startGateway({ catalog: catalog(['alone'], ['a']) });
  many = await startGateway({
    catalog: catalog(['east', 'west'], ['a', 'b']),
  });
});

closeAtEnd(() => [upstream, many, one]);

type Bill = { prompt: number; cached: number; written: number; debited: number };

/** What an answer says of its usage, in any format. */
function billOf(format: EveryFormat, text: string): Bill {
  const answers = text.startsWith('{')
    ? [JSON.parse(text) as Json]
    : parseEvents(text).map(({ json }) => (json ?? {}) as Json);
  const usages = answers.map((answer) => usageIn(answer) ?? {});
  const usage = usages.findLast((each) => each['svc_tokens_debited'] !== undefined) ?? {};
  const count = (name: string): number => Number(usage[name]);
  const debited = count('svc_tokens_debited');
  if (format === 'chat') {
    const cached = count('prompt_cache_hit_tokens');
    expect(count('prompt_cache_miss_tokens') + cached).toBe(count('prompt_tokens'));
    return { prompt: count('prompt_tokens'), cached, written: 0, debited };
  }
  if (format === 'responses') {
    const details = usage['input_tokens_details'] as Readonly<Record<string, number>>;
    const { cached_tokens: cached = Number.NaN, cache_write_tokens: written = Number.NaN } =
      details;
    return { prompt: count('input_tokens'), cached, written, debited };
  }
  const cached = count('cache_read_input_tokens');
  const prompt = count('input_tokens') + cached;
  return { prompt, cached, written: count('cache_creation_input_tokens'), debited };
}

/** What a client sends back of an answer, and the results of its calls. */
function nextTurns(format: EveryFormat, said: AnswerContent): Json[] {
  const result = ({ json }: AnswerContent['calls'][number]): string =>
    `Text of ${json}. `.repeat(20);
  if (format === 'chat') {
    const calls = said.calls.map(({ id, name, json }) => {
      return { id, type: 'function', function: { name, arguments: json } };
    });
    return [
      { role: 'assistant', content: said.text, tool_calls: calls },
      ...said.calls.map((call) => ({
        ...{ role: 'tool', tool_call_id: call.id, content: result(call) },
      })),
    ];
  }
  if (format === 'responses') {
    return [
      { role: 'assistant', content: [{ type: 'output_text', text: said.text }] },
      ...said.calls.map(({ id, name, json }) => ({
        ...{ type: 'function_call', call_id: id, name, arguments: json },
      })),
      ...said.calls.map((call) => ({
        ...{ type: 'function_call_output', call_id: call.id, output: result(call) },
      })),
    ];
  }
  const calls = said.calls.map(({ id, name, json }) => {
    return { type: 'tool_use', id, name, input: JSON.parse(json) };
  });
  const results = said.calls.map((call) => {
    return { type: 'tool_result', tool_use_id: call.id, content: result(call) };
  });
  return [
    { role: 'assistant', content: [{ type: 'text', text: said.text }, ...calls] },
    { role: 'user', content: results },
  ];
}

type LoopOptions = {
  readonly caller: TestAccount;
  readonly format: EveryFormat;
  readonly question: string;
  readonly stream?: boolean;
  readonly thinks?: boolean;
  readonly before?: (turn: number) => void;
};

/** A loop of 30 turns as an agent has it; the sum of its bills. */
async function runLoop({ caller, format, question, ...more }: LoopOptions): Promise<Bill> {
  const { stream = false, thinks = false, before } = more;
  const messages: Json[] = [{ role: 'user', content: question }];
  if (format === 'chat') messages.unshift({ role: 'system', content: SYSTEM });
  const tool = { name: 'read_file', description: DESCRIPTION };
  const own = {
    chat: {
      tools: [{ type: 'function', function: { ...tool, parameters: PARAMETERS } }],
      ...(thinks ? { reasoning_effort: 'high' } : {}),
    },
    messages: {
      system: SYSTEM,
      tools: [{ ...tool, input_schema: PARAMETERS }],
      ...(thinks ? { thinking: { type: 'enabled' } } : {}),
    },
    responses: {
      instructions: SYSTEM,
      tools: [{ type: 'function', ...tool, parameters: PARAMETERS }],
      ...(thinks ? { reasoning: { effort: 'high' } } : {}),
    },
  }[format];
  const sum: Bill = { prompt: 0, cached: 0, written: 0, debited: 0 };
  for (let turn = 0; turn < TURNS; turn += 1) {
    before?.(turn);
    const body = requestBody(format, 'loop', { max_tokens: 4_000, stream, messages, ...own });
    const response = await post(caller, PATHS[format], body);
    const text = await response.text();
    expect([turn, response.status, response.status === 200 ? '' : text]).toEqual([turn, 200, '']);
    const bill = billOf(format, text);
    for (const key of ['prompt', 'cached', 'written', 'debited'] as const) sum[key] += bill[key];
    messages.push(...nextTurns(format, readAnswerContent(format, text)));
  }
  return sum;
}

/** The places that were asked for a conversation, such as `east key-a`. */
function placesOf(question: string): string[] {
  const asked = upstream.requests.filter(({ text }) => text.includes(JSON.stringify(question)));
  return asked.map((request: RecordedRequest) => `${request.site} ${request.headers['x-api-key']}`);
}

const ACCOUNT = { plan: 'roomy', credit: 100_000_000 };

describe('a tool loop of 30 turns pays the cached price for 90 % of its input', () => {
  const kinds = EVERY_FORMAT.flatMap((format) =>
    [false, true].flatMap((stream) =>
      [false, true].map((thinks) => [format, stream, thinks] as const),
    ),
  );
  test.each(kinds)('%s, streamed %p, with thinking %p', async (format, stream, thinks) => {
    const caller = await one.createAccount(ACCOUNT);
    const question = `Read everything, ${crypto.randomUUID()}.`;
    const sum = await runLoop({ caller, format, question, stream, thinks });
    expect(sum.cached / sum.prompt).toBeGreaterThanOrEqual(0.9);
    // Nearly all of the rest is written to the cache; the bill has each part at its own price.
    const written = format === 'chat' ? sum.prompt - sum.cached : sum.written;
    const plain = sum.prompt - sum.cached - written;
    const price = plain + sum.cached * 0.1 + written * 1.25 + TURNS * OUTPUT * 2;
    expect(sum.debited).toBeCloseTo(price, 3);
    if (format !== 'chat') expect(sum.written).toBeGreaterThan(0);
  });
});

test('with two placements of two keys, conversations keep to their caches', async () => {
  const caller = await many.createAccount(ACCOUNT);
  const used = new Set<string>();
  const questions = Array.from({ length: 8 }, () => `Read everything, ${crypto.randomUUID()}.`);
  const sums = await Promise.all(
    questions.map((question, at) =>
      runLoop({ caller, format: EVERY_FORMAT[at % 3] ?? 'chat', question, stream: at % 2 === 0 }),
    ),
  );
  for (const [at, sum] of sums.entries()) {
    expect(sum.cached / sum.prompt).toBeGreaterThanOrEqual(0.9);
    const places = new Set(placesOf(questions[at] ?? ''));
    expect(places.size).toBe(1);
    for (const place of places) used.add(place);
  }
  // All eight at one of the four places: once in 16,000 runs.
  expect(used.size).toBeGreaterThan(1);
});

test('a conversation goes elsewhere while its placement fails, and returns', async () => {
  const caller = await many.createAccount(ACCOUNT);
  const question = `Read everything, ${crypto.randomUUID()}.`;
  const places: string[] = [];
  const before = (turn: number): void => {
    const [home = ''] = placesOf(question);
    if (turn === 10) broken = home.split(' ')[0] ?? '';
    if (turn === 12) broken = '';
  };
  const sum = await runLoop({ caller, format: 'messages', question, before });
  places.push(...placesOf(question));
  const [home = '', ...later] = places;
  expect(later.slice(-18)).toEqual(Array(18).fill(home));
  expect(later.filter((place) => place.split(' ')[0] !== home.split(' ')[0])).toHaveLength(2);
  // The other cache is written once, and its home's is still there.
  expect(sum.cached / sum.prompt).toBeGreaterThan(0.8);
});

test.each(EVERY_FORMAT)(
  'a question without tools pays nothing for a cache (%s)',
  async (format) => {
    const caller = await one.createAccount(ACCOUNT);
    const messages: Json[] = [
      { role: 'user', content: `Is this long? ${'Very long. '.repeat(2_000)}` },
    ];
    const own = {
      chat: { messages: [{ role: 'system', content: SYSTEM }, ...messages] },
      messages: { system: SYSTEM, messages },
      responses: { instructions: SYSTEM, messages },
    }[format];
    const asked = requestBody(format, 'once', { max_tokens: 100, ...own });
    const text = await (await post(caller, PATHS[format], asked)).text();
    const { prompt, cached, written, debited } = billOf(format, text);
    expect({ cached, written, debited }).toEqual({
      cached: 0,
      written: 0,
      debited: prompt + OUTPUT * 2,
    });
  },
);
