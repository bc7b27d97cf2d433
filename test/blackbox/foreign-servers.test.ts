// What servers of models differ in and no profile says, from outside: which histories they refuse, how
// often they want a schema, and where they are.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type Behaviour,
  HELLO,
  play,
  SAYS_HELLO,
  sendText,
  sendWhole,
} from '../support/behaviours.ts';
import { catalogOf, LARGE_PLAN, UPSTREAM_KEY } from '../support/catalog.ts';
import { EVERY_FORMAT, type EveryFormat, FORMATS, generate } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { type Piece, streamFrames, wholeBody } from '../support/render.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

setDefaultTimeout(30_000);

type Json = Readonly<Record<string, unknown>>;

const SIGNATURE = { google: { thought_signature: 'signed-by-the-server' } };
const CALL: Piece = { tool: 0, id: 'call_1', name: 'f', json: '{}' };

/** As Gemini: its calls carry a signature, and a history of calls without one is refused. */
const signs: Behaviour = (exchange) => {
  const { body, model, stream } = exchange.request;
  const calls = messagesOf(body).flatMap(({ tool_calls: made }) => (made ?? []) as Json[]);
  if (calls.length > 0) {
    const isSigned = calls.every((call) => Bun.deepEquals(call['extra_content'], SIGNATURE));
    if (isSigned) return play(SAYS_HELLO)(exchange);
    return sendWhole(exchange, 400, '{"error":{"message":"missing a thought_signature"}}');
  }
  const script = { ...SAYS_HELLO, pieces: [CALL], finish: 'tool_calls' } as const;
  const sign = (text: string): string =>
    text.replace('"function":{', `"extra_content":${JSON.stringify(SIGNATURE)},$&`);
  if (stream) return sendText(exchange, sign(streamFrames('chat', model, script).join('')));
  return sendWhole(exchange, 200, sign(wholeBody('chat', model, script)));
};

/** As servers that declare `content` as a string. */
const wantsStrings: Behaviour = (exchange) => {
  const texts = [exchange.request.body['system'] ?? '', ...contentsOf(exchange.request.body)];
  if (texts.every((text) => typeof text === 'string')) return play(SAYS_HELLO)(exchange);
  return sendWhole(exchange, 500, '{"error":{"message":"content must be a string"}}');
};

const messagesOf = (body: Json): readonly Json[] => body['messages'] as Json[];
const contentsOf = (body: Json): unknown[] => messagesOf(body).map(({ content }) => content);

let upstream: Upstream;
let gateway: Gateway;
let account: TestAccount;

beforeAll(async () => {
  upstream = await startUpstream({
    signs,
    strings: wantsStrings,
  });
  const at = (id: string, more: Json) => ({ id, api_key: UPSTREAM_KEY, ...more });
  const dated = `${upstream.site('dated').baseUrl}/deployments/one/?api-version=2024-10-21&a=b`;
  const served = (slug: string, by: string, more: Json = {}) => ({
    slug,
    served_by: [{ upstream: by, model: slug }],
    ...more,
  });
  const catalog = catalogOf({
    upstreams: [
      at('chat', { dialect: 'chat', base_url: upstream.baseUrl }),
      at('messages', { dialect: 'messages', base_url: upstream.messagesBaseUrl }),
      at('strings', {
        dialect: 'messages',
        base_url: upstream.messagesBaseUrl,
        profile: 'strings',
      }),
      at('dated', { dialect: 'chat', base_url: dated }),
      at('dated-fetch', { dialect: 'chat', base_url: dated, transport: 'fetch' }),
    ],
    models: [
      ...['chat', 'messages', 'strings', 'dated', 'dated-fetch'].map((id) => served(id, id)),
      served('signs', 'chat', { features: ['tools', 'reasoning'] }),
    ],
    plans: { large: LARGE_PLAN },
  });
  const profile = '[profile.strings]\nbase = "messages"\ncontent_parts = "never"\n';
  gateway = await startGateway({ catalog: `${catalog}\n${profile}` });
  account = await gateway.createAccount({ plan: 'large' });
});

closeAtEnd(() => [upstream, gateway]);

/** A whole answer, and what its upstream was asked. */
async function ask(format: EveryFormat, model: string, more: Json = {}) {
  const { status, json } = await generate(account, format, model, more);
  expect([status, json]).toEqual([200, json]);
  const asked = upstream.requests.at(-1);
  if (asked === undefined) throw new Error('no upstream was asked');
  return { json, asked };
}

describe.each(EVERY_FORMAT)('%s', (format) => {
  test('a schema for the answer is in the prompt once', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } } };
    const written = JSON.stringify(schema);
    const type = 'json_schema';
    const wanted = {
      chat: { response_format: { type, json_schema: { name: 'place', schema } } },
      messages: { output_config: { format: { type, schema } } },
      responses: { text: { format: { type, name: 'place', schema } } },
    }[format];
    const own = [{ role: 'user', content: `Where? ${JSON.stringify(schema, null, 2)}` }];
    for (const dialect of FORMATS) {
      const withSchema = await ask(format, dialect, { ...wanted, messages: own });
      const without = await ask(format, dialect, wanted);
      const copies = [withSchema, without].map(({ asked }) => {
        const prompt = JSON.stringify([asked.body['system'], asked.body['messages']]);
        return prompt.replace(/\\n|\\|\s/g, '').split(written).length - 1;
      });
      expect(copies).toEqual([1, 1]);
    }
  });

  test('ids of calls that come again are distinct at every upstream', async () => {
    const messages = [asking(), ...round(format, 'f:0'), ...round(format, 'f:0')];
    for (const dialect of FORMATS) {
      const { asked } = await ask(format, dialect, { messages, tools: [toolOf(format, {})] });
      const written = JSON.stringify(asked.body['messages']);
      const ids = [...written.matchAll(/"(?:id|tool_call_id|tool_use_id)":"([^"]+)"/g)].map(
        ([, id]) => id,
      );
      expect(ids).toHaveLength(4);
      expect(new Set(ids).size).toBe(2);
      expect([ids[0], ids[2]]).toEqual([ids[1], ids[3]]);
    }
  });

  test('the signature of a call returns with it', async () => {
    const tools = [toolOf(format, {})];
    const { json } = await ask(format, 'signs', { tools });
    expect(JSON.stringify(json)).not.toContain('thought_signature');
    const id = /:"((?:call|toolu)_[^"]+)"/.exec(JSON.stringify(json))?.[1] ?? '';
    const messages = [asking(), ...round(format, id)];
    const { json: last } = await ask(format, 'signs', { messages, tools });
    expect(JSON.stringify(last)).toContain(HELLO);
  });

  test('a server that refuses arrays gets text as a string', async () => {
    const type = format === 'responses' ? 'input_text' : 'text';
    const parts = ['Hello', 'there'].map((text) => ({ type, text }));
    const messages = [
      { role: 'user', content: parts },
      { role: 'assistant', content: 'Yes?' },
      asking(),
    ];
    const { json } = await ask(format, 'strings', {
      messages,
      tools: [toolOf(format, {})],
    });
    expect(JSON.stringify(json)).toContain(HELLO);
  });

  test.each(['dated', 'dated-fetch'])(
    'the query of an address follows the path, %s',
    async (id) => {
      const { asked } = await ask(format, id);
      expect(asked.path).toBe(
        '/dated/v1/deployments/one/chat/completions?api-version=2024-10-21&a=b',
      );
    },
  );
});

const asking = (): Json => ({ role: 'user', content: 'Hello?' });

function toolOf(format: EveryFormat, schema: Json): Json {
  return {
    chat: { type: 'function', function: { name: 'f', parameters: schema } },
    messages: { name: 'f', input_schema: schema },
    responses: { type: 'function', name: 'f', parameters: schema },
  }[format];
}

/** A call and its result, as the clients of a format send them back. */
function round(format: EveryFormat, id: string): Json[] {
  if (format === 'chat') {
    const call = { id, type: 'function', function: { name: 'f', arguments: '{}' } };
    return [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: id, content: 'ok' },
    ];
  }
  if (format === 'responses') {
    return [
      { type: 'function_call', call_id: id, name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: id, output: 'ok' },
    ];
  }
  return [
    { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
  ];
}
