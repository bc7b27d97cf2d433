// Lost thinking through the whole program: a model thinks and calls a tool, the client omits the
// thinking in its next request, and the gateway restores it for that upstream and for no other.

import { Database } from 'bun:sqlite';
import { beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { play, REASONING, sendText, sendWhole } from '../support/behaviours.ts';
import { catalogFor } from '../support/catalog.ts';
import {
  EVERY_FORMAT,
  type EveryFormat,
  generate,
  generateStream,
  post,
} from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { USAGE } from '../support/render.ts';
import { type Exchange, startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

const SECRET = 'a secret of thirty-two characters';
const UNIQUE_ID = 'call_00_Xk2Lq8Zp0aVbT3mNwR5yQ1';
const MODELS = ['reasoning-and-tool', 'unique-id'];

/** Thinking as a vendor signs it: in two blocks, one of which is encrypted. */
const SIGNED = [
  { type: 'thinking', thinking: REASONING, signature: 'c2lnbmVkIGJ5IHRoZSBzY3JpcHQ=' },
  { type: 'redacted_thinking', data: 'ZW5jcnlwdGVkIGJ5IHRoZSBzY3JpcHQ=' },
];

type Fields = Readonly<Record<string, unknown>>;

let upstream: Upstream;
let gateway: Gateway;
let account: TestAccount;

beforeAll(async () => {
  upstream = await startUpstream({
    'unique-id': play({
      pieces: [
        { reasoning: REASONING },
        { tool: 0, id: UNIQUE_ID, name: 'get_weather', json: '{"city":"Paris"}' },
      ],
      finish: 'tool_calls',
      usage: USAGE,
    }),
    signing: sendSigned,
    'signing-too': sendSigned,
  });
  gateway = await startGateway({ catalog: catalog(), environment: { SESSION_SECRET: SECRET } });
  // Every test asks as this one, and the minute goes on across restarts.
  account = await gateway.createAccount({ plan: 'pro' });
});

closeAtEnd(() => [upstream, gateway]);

/** The models of a chat upstream, and two that two upstreams of the Messages format serve. */
function catalog(): string {
  const signing = ['signing', 'signing-too'].map(
    (name) => `
[[upstream]]
id = "${name}"
dialect = "messages"
base_url = "${upstream.messagesBaseUrl}"
[[model]]
slug = "${name}"
context_window = 128000
max_output = 8192
features = ["tools", "reasoning"]
price = { input = "1", output = "2" }
served_by = [{ upstream = "${name}", model = "${name}" }]`,
  );
  return [catalogFor(upstream, MODELS), ...signing].join('\n');
}

const TOOL = { name: 'get_weather', parameters: { type: 'object' } };
const TOOLS = {
  chat: [{ type: 'function', function: TOOL }],
  messages: [{ name: TOOL.name, input_schema: TOOL.parameters }],
  responses: [{ type: 'function', ...TOOL }],
};

type History = {
  /** What the user says first: it identifies a conversation. */
  readonly words: string;
  readonly id?: string;
  /** The input as a chat client prints it; every client prints it in its own way. */
  readonly input?: string;
  /** What the client still has of the thinking. */
  readonly thinking?: readonly Fields[];
  readonly reasoning?: string;
};

/** The conversation up to the tool's result, as a client of the format sends it. */
function history(format: EveryFormat, { words, id = 'call_1', ...more }: History): Fields[] {
  const { input = '{ "city" : "Paris" }', thinking = [], reasoning } = more;
  const asked = { role: 'user', content: words };
  if (format === 'messages') {
    const call = { type: 'tool_use', id, name: TOOL.name, input: JSON.parse(input) };
    const result = { type: 'tool_result', tool_use_id: id, content: 'Rain.' };
    return [
      asked,
      { role: 'assistant', content: [...thinking, call] },
      { role: 'user', content: [result] },
    ];
  }
  if (format === 'responses') {
    const summary = reasoning === undefined ? [] : [{ type: 'summary_text', text: reasoning }];
    return [
      asked,
      { type: 'reasoning', id: 'rs_1', summary, encrypted_content: 'tg1.dG9sbGdhdGU=' },
      { type: 'function_call', call_id: id, name: TOOL.name, arguments: input },
      { type: 'function_call_output', call_id: id, output: 'Rain.' },
    ];
  }
  const call = { id, type: 'function', function: { name: TOOL.name, arguments: input } };
  return [
    asked,
    { role: 'assistant', content: null, tool_calls: [call], reasoning_content: reasoning },
    { role: 'tool', tool_call_id: id, content: 'Rain.' },
  ];
}

type Ask = {
  readonly caller?: TestAccount;
  readonly format?: EveryFormat;
  readonly model?: string;
  readonly stream?: boolean;
  readonly more?: Fields;
};

/** Sends messages and reads the answer to its end. */
async function ask(messages: readonly Fields[], options: Ask = {}): Promise<void> {
  const { caller = account, format = 'chat', model = 'reasoning-and-tool', more } = options;
  const body = { messages, tools: TOOLS[format], ...more };
  const send = options.stream === true ? generateStream : generate;
  const { status } = await send(caller, format, model, body);
  expect(status).toBe(200);
}

/** The turn in which the model thinks and calls. */
const first = (words: string, options?: Ask): Promise<void> =>
  ask([{ role: 'user', content: words }], options);

/** What the upstream got last as the assistant's turn. */
function assistantTurn(): Fields {
  const messages = upstream.requests.at(-1)?.body['messages'] as readonly Fields[];
  return messages.find(({ role }) => role === 'assistant') ?? {};
}

/** The thinking that comes to a chat upstream where the client sends this. */
async function restored(words: string, options: Ask & Omit<History, 'words'> = {}) {
  await ask(history(options.format ?? 'chat', { words, ...options }), options);
  return assistantTurn()['reasoning_content'];
}

describe('a client that lost the thinking of a tool turn', () => {
  test.each([
    ['chat', false],
    ['chat', true],
    ['messages', false],
    ['messages', true],
    ['responses', false],
    ['responses', true],
  ] as const)('case 41, 128: %s, streamed: %p', async (format, stream) => {
    const words = `${format} ${stream}`;
    await first(words, { format, stream });
    expect(await restored(words, { format, stream })).toBe(REASONING);
    expect(await restored(words, { format, stream: !stream })).toBe(REASONING);
  });

  test('case 129: on Messages, with any part of the block', async () => {
    const words = 'What is left';
    const mark = 'tg1.dG9sbGdhdGU=';
    await first(words, { format: 'messages' });
    const left = (thinking: readonly Fields[]) => restored(words, { format: 'messages', thinking });
    expect(await left([{ type: 'thinking', thinking: '', signature: mark }])).toBe(REASONING);
    expect(await left([{ type: 'redacted_thinking', data: 'x' }])).toBe(REASONING);
    expect(await left([{ type: 'thinking', thinking: 'Mine.', signature: mark }])).toBe('Mine.');
    expect(await left([{ type: 'thinking', thinking: 'Mine.', signature: 'EqQB' }])).toBe('Mine.');
  });

  test('count_tokens counts what will be put back', async () => {
    const words = 'Count';
    const format = 'messages';
    const model = 'reasoning-and-tool';
    await first(words, { format });
    const count = async (messages: readonly Fields[], more: Fields = {}): Promise<unknown> => {
      const body = { model, messages, tools: TOOLS[format], ...more };
      return (await post(account, '/v1/messages/count_tokens', body)).json();
    };
    const thinking = [{ type: 'thinking', thinking: REASONING, signature: 'x' }];
    const lost = await count(history(format, { words }));
    expect(lost).toEqual(await count(history(format, { words, thinking })));
    const off = { thinking: { type: 'disabled' } };
    expect(lost).not.toEqual(await count(history(format, { words }), off));
  });
});

describe('nothing is put back', () => {
  test('for another account that sends the same', async () => {
    const other = await gateway.createAccount();
    await first('Whose?');
    expect(await restored('Whose?', { caller: other })).toBeUndefined();
    const unique = { model: 'unique-id', id: UNIQUE_ID };
    await first('Whose?', unique);
    expect(await restored('Whose?', { ...unique, caller: other })).toBeUndefined();
    expect(await restored('Whose?', unique)).toBe(REASONING);
  });

  test('into another conversation with the same call', async () => {
    await first('I am Ann.');
    expect(await restored('I am Bob.')).toBeUndefined();
    expect(await restored('I am Ann.', { input: '{"city":"Rome"}' })).toBeUndefined();
  });
});

describe('a Messages upstream', () => {
  test.each(EVERY_FORMAT)(
    'case 162: gets back what it signed, to the letter, and no other gets it (%s)',
    async (format) => {
      const words = `Signed ${format}`;
      const id = `toolu_01A09q90qw90lq917835lq9${format}`;
      const told = [...SIGNED, { type: 'tool_use', id, name: TOOL.name, input: { city: 'Paris' } }];
      for (const stream of [false, true]) {
        await first(words, { format, model: 'signing', stream });
        const own = { words, id, reasoning: 'Edited by the client.' };
        await ask(history(format, own), { format, model: 'signing', stream });
        expect(assistantTurn()['content']).toEqual(told);
        await ask(history(format, own), { format, model: 'signing-too', stream });
        expect(assistantTurn()['content']).toEqual(told.slice(2));
      }
      await ask(history(format, { words, id }), { format });
      expect(assistantTurn()).toMatchObject({ role: 'assistant', reasoning_content: REASONING });
      expect(upstream.requests.at(-1)?.text).not.toContain('c2lnbmVkI');
    },
  );

  test('its signatures reach no client, and those of a client no upstream', async () => {
    const words = 'Foreign';
    const body = { messages: [{ role: 'user', content: words }], tools: TOOLS.messages };
    const { json } = await generate(account, 'messages', 'signing', body);
    const content = json['content'] as readonly Fields[];
    expect(content[0]).toEqual({
      type: 'thinking',
      thinking: REASONING,
      signature: 'tg1.dG9sbGdhdGU=',
    });
    expect(JSON.stringify(json)).not.toContain('redacted');
    const thinking = [{ type: 'thinking', thinking: 'Mine.', signature: 'EqQBCgIYAhIM' }];
    const format = 'messages';
    await ask(history(format, { words, id: 'toolu_of_another_vendor', thinking }), {
      format,
      model: 'signing',
    });
    expect(upstream.requests.at(-1)?.text).not.toMatch(/EqQBCgIYAhIM|tg1\.|Mine\./);
  });
});

test('no thought and no call can be read in the database, its log, or what the server prints', async () => {
  await first('Readable');
  const data = join(gateway.directory, 'data');
  const files = readdirSync(data).map((name) => readFileSync(join(data, name)));
  expect(files.length).toBeGreaterThan(1);
  const everything = Buffer.concat([...files, Buffer.from(gateway.output())]);
  for (const word of [REASONING, 'think about', UNIQUE_ID, 'get_weather', 'Paris', 'c2lnbmVkI']) {
    expect([word, everything.includes(word)]).toEqual([word, false]);
  }
  expect(everything.includes(account.id)).toBe(true);
});

test('a store that cannot be used costs an answer nothing, and the log says so', async () => {
  await first('Trouble');
  const database = new Database(gateway.databasePath);
  // The server writes to the same file, and a new connection waits for no lock.
  database.run('PRAGMA busy_timeout = 10000');
  database.run('ALTER TABLE reasoning RENAME TO away');
  expect(await restored('Trouble')).toBeUndefined();
  await first('More trouble', { stream: true });
  await waitUntil(() => gateway.output().includes('the reasoning store could not be used'));
  database.run('ALTER TABLE away RENAME TO reasoning');
  database.close();
  expect(await restored('Trouble')).toBe(REASONING);
  expect(gateway.output()).not.toContain('think about');
});

describe('from one start to the next', () => {
  const kept = async (): Promise<string> => {
    const { checks } = await gateway.run('doctor');
    const all = checks as readonly { readonly name: string; readonly detail: string }[];
    return all.find(({ name }) => name === 'kept thinking')?.detail ?? '';
  };

  async function restart(environment: Readonly<Record<string, string>>): Promise<void> {
    expect(await gateway.stop()).toBe(0);
    gateway = await startGateway({ directory: gateway.directory, environment });
    account = { ...account, url: gateway.url };
  }

  test('with the same secret thinking is still put back, with others it is as if there was none', async () => {
    await first('Restart');
    await restart({ SESSION_SECRET: SECRET });
    expect(await restored('Restart')).toBe(REASONING);
    expect(await kept()).toMatch(
      /^[1-9]\d* entries of \d+ bytes in all, sealed by SESSION_SECRET$/,
    );
    await restart({ SESSION_SECRET: 'another secret of 32 characters!' });
    expect(await restored('Restart')).toBeUndefined();
    await restart({});
    expect(await restored('Restart')).toBeUndefined();
    await first('Without a secret');
    expect(await restored('Without a secret')).toBe(REASONING);
    expect(await kept()).toContain('SESSION_SECRET is not set');
    expect(gateway.output()).not.toContain('reasoning store');
  });

  test('an account that is marked for deletion takes its thoughts with it', async () => {
    const leaving = await gateway.createAccount();
    await first('Bye', { caller: leaving });
    const before = Number.parseInt(await kept(), 10);
    await gateway.run('account', 'delete', leaving.id);
    expect(Number.parseInt(await kept(), 10)).toBe(before - 1);
  });

  test('switched off, nothing is kept, and what was kept is removed', async () => {
    await restart({ SESSION_SECRET: SECRET, REASONING_STORE: 'off' });
    expect(await restored('Restart')).toBeUndefined();
    await first('Off');
    expect(await restored('Off')).toBeUndefined();
    expect(await kept()).toBe('off; 0 entries of 0 bytes in all, until the next start');
  });
});

/** Thinks, signs it, and calls a tool; the id of the call ends with the format of the question. */
function sendSigned(exchange: Exchange): void {
  const asked = JSON.stringify(exchange.request.body['messages']);
  const format = EVERY_FORMAT.find((each) => asked.includes(`Signed ${each}`)) ?? 'messages';
  const id = `toolu_01A09q90qw90lq917835lq9${format}`;
  const call = { type: 'tool_use', id, name: TOOL.name, input: { city: 'Paris' } };
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', usage };
  if (!exchange.request.stream) {
    const content = [...SIGNED, call];
    const whole = { ...message, content, stop_reason: 'tool_use', stop_sequence: null };
    sendWhole(exchange, 200, JSON.stringify(whole));
    return;
  }
  const [thinking, redacted] = SIGNED;
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    ...block(0, { type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking: REASONING.slice(0, 9) },
      { type: 'thinking_delta', thinking: REASONING.slice(9) },
      { type: 'signature_delta', signature: thinking?.signature },
    ]),
    ...block(1, redacted ?? {}, []),
    ...block(2, { ...call, input: {} }, [
      { type: 'input_json_delta', partial_json: JSON.stringify(call.input) },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  const frames = events.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`);
  sendText(exchange, frames.join(''));
}

function block(index: number, opening: object, deltas: readonly object[]) {
  return [
    { type: 'content_block_start', index, content_block: opening },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}
