// All client formats over a real socket: what the upstream receives, and what the client gets back,
// whole and streamed. The values of each field are tested in test/wire and in test/conformance.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { REASONING } from '../support/behaviours.ts';
import {
  type EveryFormat,
  generate,
  generateStream,
  get,
  PATHS,
  post,
  requestBody,
} from '../support/client.ts';
import { describeInEveryFormat } from '../support/every-format.ts';
import { explain } from '../support/explain.ts';
import { chatShape } from '../support/formats/chat.ts';
import { messagesShape } from '../support/formats/messages.ts';
import { responsesShape } from '../support/formats/responses.ts';
import {
  ANSWERS,
  answerOf,
  type Fields,
  HELLO_PART,
  type Said,
  type Shape,
} from '../support/formats/shape.ts';
import type { Gateway, TestAccount } from '../support/gateway.ts';
import type { SseEvent } from '../support/sse.ts';
import type { Upstream } from '../support/upstream.ts';
import { SILENT, startWireRig, type WireRig } from '../support/wire-rig.ts';

const SHAPES: Readonly<Record<EveryFormat, Shape>> = {
  chat: chatShape,
  messages: messagesShape,
  responses: responsesShape,
};

let rig: WireRig;
let upstream: Upstream;
let gateway: Gateway;
let account: TestAccount;
let hastyAccount: TestAccount;

beforeAll(async () => {
  const names = [...ANSWERS.map(({ model }) => model), 'plain', 'status-503', ...BREAKING];
  rig = await startWireRig([...names, 'insufficient-late'], {
    'status-503': { fallbacks: ['ok'], price: { input: '9', cached_input: '9', output: '9' } },
  });
  ({ upstream, gateway, account, hastyAccount } = rig);
});

afterAll(() => rig.close());

/** After the whole text. */
const BREAKING = ['cut', 'reset', 'cut-connection', 'error-in-stream'];

const SAYS_HELLO: Said = { parts: [HELLO_PART], finish: 'stop' };

/** What the upstream receives of the richest request that all formats have. */
const ASKED = {
  max_tokens: 8,
  temperature: 0.5,
  top_p: 1,
  stop: ['a', 'b'],
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
        { type: 'image_url', image_url: { url: 'https://images.example/a.png' } },
      ],
    },
    {
      role: 'assistant',
      content: 'Let me look.',
      reasoning_content: REASONING,
      tool_calls: [
        {
          id: 'call_1',
          type: 'function',
          function: { name: 'get_weather', arguments: '{"10":1,"2":12345678901234567890}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
  ],
  tools: [
    {
      type: 'function',
      function: {
        name: 'get_weather',
        description: 'Weather.',
        parameters: { type: 'object', properties: {} },
      },
    },
  ],
  tool_choice: { type: 'function', function: { name: 'get_weather' } },
  thinking: { type: 'enabled' },
  reasoning_effort: 'high',
};

describeInEveryFormat('a request', (format) => {
  const shape = SHAPES[format];

  /** Sends a request and returns what the model was asked. Tests here run one after the other. */
  async function asked(body: string): Promise<Fields> {
    const response = await post(account, PATHS[format], body);
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    return upstream.requests.at(-1)?.body ?? {};
  }

  const bodyOf = (model: string, more: Fields) => JSON.stringify(requestBody(format, model, more));

  test('reaches the model with every field', async () => {
    expect(await asked(shape.everything('ok'))).toEqual({
      model: 'ok',
      ...ASKED,
      ...shape.askedBesides,
    });
  });

  test('to a model that does not reason has no thinking', async () => {
    const { thinking: _, reasoning_effort: __, messages, ...rest } = ASKED;
    const withoutThoughts = messages.map(({ reasoning_content: ___, ...message }) => message);
    expect(await asked(shape.everything('plain'))).toEqual({
      model: 'plain',
      ...rest,
      messages: withoutThoughts,
      ...shape.askedBesides,
    });
  });

  test('has at most the output that the model has, and above a slice it is streamed', async () => {
    expect(await asked(bodyOf('ok', { max_tokens: 9_000 }))).toEqual({
      model: 'ok',
      messages: [{ role: 'user', content: 'Hello?' }],
      max_tokens: 8_192,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test('with ignored fields and nulls is the same to the byte', async () => {
    const texts: (string | undefined)[] = [];
    for (const more of [{}, shape.ignored]) {
      await asked(bodyOf('ok', { max_tokens: 100, ...more }));
      texts.push(upstream.requests.at(-1)?.text);
    }
    expect(texts[1]).toBe(texts[0] as string);
  });

  test('keeps its end user with the record, of at most 256 characters, and nowhere else', async () => {
    const answer = await generate(account, format, 'ok', shape.endUser);
    const story = await explain(gateway, answer.headers.get('x-request-id'));
    expect(story.request?.['end_user']).toBe('u'.repeat(256));
    expect(upstream.requests.at(-1)?.text).not.toContain('uuu');
  });

  test('for an alias is served by its model, which the answer names', async () => {
    const answer = await generate(account, format, 'alias-of-ok');
    expect([answer.json['model'], answer.headers.get('x-svc-model')]).toEqual(['ok', 'ok']);
    expect(upstream.requests.at(-1)?.model).toBe('ok');
  });

  test.each([{ temperature: 2.01 }, { messages: [{ role: 'wizard', content: 'a' }] }])(
    'that is wrong is refused with its field, and no upstream is asked: %j',
    async (more) => {
      const before = upstream.requests.length;
      const answer = await generate(account, format, 'ok', more);
      const prompt = format === 'responses' ? 'input' : 'messages';
      const param = 'temperature' in more ? 'temperature' : `${prompt}[0].role`;
      expect([answer.status, answer.json]).toEqual([
        400,
        shape.refusal({
          message: expect.stringContaining(param),
          type: 'invalid_request_error',
          code: 'invalid_request',
          request_id: answer.headers.get('x-request-id'),
          param,
        }),
      ]);
      expect(upstream.requests).toHaveLength(before);
    },
  );

  test.each(shape.required)('is refused without %s', async (field) => {
    const body = requestBody(format, 'ok');
    delete body[field];
    const response = await post(account, PATHS[format], body);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { param: field } },
    ]);
  });

  test('that is refused before its stream has a status and no events', async () => {
    const answer = await generateStream(account, format, 'no-such-model');
    expect([answer.status, answer.events]).toEqual([404, []]);
    expect(answer.headers.get('content-type')).toBe('application/json');
  });
});

describeInEveryFormat('an answer', (format) => {
  const { whole, stream, ignored } = SHAPES[format];

  test.each(ANSWERS)('whole: $model', async ({ model, ...said }) => {
    const more = { ...ignored, max_tokens: 100 };
    const { json, headers } = await generate(account, format, model, more);
    expect(json).toEqual(whole(model, said, more));
    const seconds = Date.now() / 1_000;
    expect(Number(json['created'] ?? seconds)).toBeWithin(seconds - 60, seconds + 1);
    expect(headers.get('x-svc-tokens-debited')).toBe('16.4');
    expect(headers.get('x-svc-balance')).toMatch(/^\d+(\.\d+)?$/);
    expect(headers.get('x-svc-model')).toBe(model);
    expect(headers.get('request-id')).toBe(headers.get('x-request-id'));
  });

  test('whole: above the first slice it is the same', async () => {
    const more = { max_tokens: 8_000 };
    const { json } = await generate(account, format, 'two-tools', more);
    expect(json).toEqual(whole('two-tools', answerOf('two-tools'), more));
  });

  test.each(ANSWERS)('streamed, event by event: $model', async ({ model, ...said }) => {
    const { events, headers } = await generateStream(account, format, model);
    expect(dataOf(events)).toEqual(stream(model, said));
    expect(headers.get('content-type')).toStartWith('text/event-stream');
    expect(headers.get('x-svc-tokens-debited')).toBeNull();
    expect(headers.get('x-svc-balance')).toBeNull();
  });

  test('of a fallback names it, and is charged at the lower price', async () => {
    const more = { max_tokens: 100 };
    const { json, headers } = await generate(account, format, 'status-503', more);
    expect(json).toEqual(whole('status-503', SAYS_HELLO, more));
    expect(headers.get('x-svc-model')).toBe('ok');
    const streamed = await generateStream(account, format, 'status-503');
    expect(streamed.headers.get('x-svc-model')).toBe('ok');
    expect(dataOf(streamed.events)).toEqual(stream('status-503', SAYS_HELLO, { fallback: true }));
  });

  /** Those before the text, and three pieces. */
  const TEXT_EVENTS = SHAPES[format].opening.text + 3;
  const breaking = format === 'chat' ? BREAKING : [...BREAKING, 'insufficient-late'];
  test.each(breaking)('that breaks ends with an error event and its bill: %s', async (model) => {
    const { events, headers } = await generateStream(account, format, model);
    const seen = dataOf(events);
    expect(seen.slice(0, TEXT_EVENTS)).toEqual(stream(model, SAYS_HELLO).slice(0, TEXT_EVENTS));
    expect(SHAPES[format].failure(seen)).toEqual({
      type: 'overloaded_error',
      message: expect.stringMatching(/^The model stopped before its answer was complete\./),
      code: 'provider_unavailable',
      request_id: headers.get('request-id'),
      svc_tokens_debited: expect.stringMatching(/^[1-9]\d*(\.\d+)?$/),
      svc_cost_usd: expect.stringMatching(/^0\.\d+$/),
      svc_balance_tokens: expect.stringMatching(/^\d+(\.\d+)?$/),
      svc_outcome: 'upstream_failed',
    });
    if (format === 'chat') expect(seen.at(-1)).toBe('[DONE]');
    const text = events.map(({ event, data }) => `${event} ${data}`).join('');
    expect(text).not.toMatch(/"finish_reason":"|message_delta|message_stop|response\.completed/);
  });
});

/** The data of each event. Checks that events are named as their data says, and have one id. */
function dataOf(events: readonly SseEvent[]): unknown[] {
  expect(new Set(events.flatMap(({ json }) => json?.['id'] ?? [])).size).toBeLessThan(2);
  const numbers = events.flatMap(({ json }) => json?.['sequence_number'] ?? []);
  expect(numbers).toEqual(numbers.map((_, index) => index));
  return events.map(({ event, data, json }) => {
    expect(event).toBe(String(json?.['type'] ?? ''));
    return json ?? data;
  });
}

describeInEveryFormat('headers', (format) => {
  const common = {
    'x-request-id': expect.stringMatching(/^req_\w+$/),
    'request-id': expect.stringMatching(/^req_\w+$/),
    'x-svc-model': 'ok',
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-limit-tokens': '200000',
    'x-ratelimit-reset-requests': expect.stringMatching(/^([1-9]|[1-5]\d|60)s$/),
  };

  /** All headers but those of the transport. */
  function headersOf(headers: Headers): Fields {
    const { date: _date, connection: _connection, ...rest } = Object.fromEntries(headers);
    delete rest['content-length'];
    delete rest['transfer-encoding'];
    return rest;
  }

  test('of whole answers and of streams, and what they count', async () => {
    const fresh = await gateway.createAccount({ credit: 1_000 });
    const first = await generate(fresh, format, 'ok', { max_tokens: 100 });
    const story = await explain(gateway, first.headers.get('x-request-id'));
    const taken = Number(story.hold['estimated_prompt_tokens']) + 100;
    expect(headersOf(first.headers)).toEqual({
      ...common,
      'content-type': 'application/json',
      'x-svc-tokens-debited': '16.4',
      'x-svc-balance': '983.6',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-remaining-tokens': String(200_000 - taken),
    });
    expect(first.headers.get('request-id')).toBe(first.headers.get('x-request-id'));

    const second = await generateStream(fresh, format, 'ok', { max_tokens: 100 });
    expect(headersOf(second.headers)).toEqual({
      ...common,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-ratelimit-remaining-requests': '58',
      'x-ratelimit-remaining-tokens': String(200_000 - 2 * taken),
    });
    const end = second.events.slice(-2).map(({ data }) => data);
    expect(end.join('')).toContain('"svc_balance_tokens":"967.2"');
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
  });
});

describeInEveryFormat('a silent upstream', (format) => {
  const { stream, isBeat, failure, opening } = SHAPES[format];
  const withoutBeats = (data: readonly unknown[]) => data.filter((each) => !isBeat(each));

  test('cases 69 and 154: heartbeats follow the first event, and then the answer', async () => {
    const seen = dataOf(await rig.afterBeats(format));
    const begin = new Array(opening.answer).fill(false);
    expect(seen.slice(0, opening.answer + 2).map(isBeat)).toEqual([...begin, true, true]);
    expect(withoutBeats(seen)).toEqual(stream(SILENT, SAYS_HELLO));
  });

  test('that never begins ends the stream in an error that costs nothing', async () => {
    const { status, events, headers } = await generateStream(hastyAccount, format, 'stall-before');
    expect([status, headers.get('x-svc-model')]).toEqual([200, null]);
    const seen = dataOf(events);
    expect(seen.filter(isBeat).length).toBeGreaterThan(1);
    const { json } = await get(hastyAccount, '/v1/account');
    const rest = withoutBeats(seen);
    expect(rest.slice(0, opening.answer)).toEqual(
      stream('stall-before', SAYS_HELLO).slice(0, opening.answer),
    );
    expect(failure(rest)).toEqual({
      type: 'overloaded_error',
      message: expect.any(String),
      code: 'provider_unavailable',
      request_id: headers.get('request-id'),
      svc_tokens_debited: '0',
      svc_cost_usd: '0',
      svc_balance_tokens: (json['balance'] as Fields)['available'],
      svc_outcome: 'upstream_failed',
    });
    expect(rest).toHaveLength(opening.answer + { chat: 2, messages: 1, responses: 2 }[format]);
  });

  test('in the middle is waited for until it is given up, and what it said is charged', async () => {
    const { events } = await generateStream(hastyAccount, format, 'stall');
    const seen = dataOf(events);
    expect(seen.filter(isBeat).length).toBeGreaterThan(2);
    const error = Object(failure(seen));
    expect(error).toMatchObject({ code: 'provider_unavailable', svc_outcome: 'upstream_failed' });
    expect(Number(error['svc_tokens_debited'])).toBeGreaterThan(0);
  });

  test('delays a whole answer, or fails it with a status', async () => {
    const [slow, never] = await Promise.all([
      generate(hastyAccount, format, 'slow-first-byte-300'),
      generate(hastyAccount, format, 'stall-before'),
    ]);
    expect([slow.status, never.status]).toEqual([200, 503]);
    expect(never.json).toMatchObject({ error: { code: 'provider_unavailable' } });
  });
});

describe('the chat format alone', () => {
  test('without usage the bill is still the last event', async () => {
    const more = { stream_options: { include_usage: false } };
    const { events } = await generateStream(account, 'chat', 'ok', more);
    const seen = dataOf(events);
    const { usage: _usage, ...bill } = chatShape.stream('ok', SAYS_HELLO).at(-2) as Fields;
    expect(seen.at(-2)).toEqual({ ...bill, object: 'chat.completion.billing' });
    expect(events.filter(({ json }) => json?.['usage'] !== undefined)).toEqual([]);
  });

  test('has a reason for an upstream that ran out of resources', async () => {
    const { json } = await generate(account, 'chat', 'insufficient-late');
    const finish = 'insufficient_system_resource';
    expect(json).toEqual(chatShape.whole('insufficient-late', { ...SAYS_HELLO, finish }));
  });
});

describe('count_tokens', () => {
  const count = async (body: unknown, path = '/v1/messages/count_tokens') => {
    const response = await post(account, path, body);
    return { status: response.status, json: await response.json() };
  };
  const { model: _model, ...everything } = JSON.parse(messagesShape.everything('ok'));

  test.each<[name: string, more: Fields]>([
    ['a word', {}],
    ['a system prompt', { system: [{ type: 'text', text: 'Be brief. '.repeat(50) }] }],
    ['tools', { tools: everything.tools, tool_choice: { type: 'auto' } }],
    ['an image and a tool round with thinking', everything],
    [
      'a long text',
      { messages: [{ role: 'user', content: 'All work and no play. '.repeat(900) }] },
    ],
  ])('%s: what is counted is what is reserved', async (_name, more) => {
    const body = requestBody('messages', 'ok', more);
    const counted = await count(body);
    const answer = await generate(account, 'messages', 'ok', more);
    const story = await explain(gateway, answer.headers.get('request-id'));
    const tokens = story.hold['estimated_prompt_tokens'];
    expect(counted).toEqual({ status: 200, json: { input_tokens: tokens } });
    const { max_tokens: _bound, ...without } = body;
    expect(await count(without)).toEqual(counted);
    const streamed = { ...body, stream: true };
    expect(await count(streamed, '/v1/messages/count_tokens?beta=true')).toEqual(counted);
  });

  test('it is free, needs no balance and takes nothing from the limits', async () => {
    const poor = await gateway.createAccount({ credit: 1 });
    const usage = async () => {
      const { json } = await get(poor, '/v1/account');
      return { balance: json['balance'], usage: json['usage'] };
    };
    const before = await usage();
    const asks = upstream.requests.length;
    const response = await post(poor, '/v1/messages/count_tokens', requestBody('messages', 'ok'));
    expect(response.status).toBe(200);
    expect(await usage()).toEqual(before);
    expect(upstream.requests).toHaveLength(asks);
  });

  test('its refusals are those of the format', async () => {
    const refused = await count(requestBody('messages', 'no-such-model'));
    expect(refused).toMatchObject({
      status: 404,
      json: { type: 'error', error: { type: 'not_found_error', code: 'model_not_found' } },
    });
  });
});
