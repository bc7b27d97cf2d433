// The HTTP edge: each trap of the runtime and the framework that once broke a gateway, tested
// against the executable. Raw sockets and fetch; the upstream is scripted.

import { beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ErrorCode } from '../../src/core/error.ts';
import { ask } from '../support/answered.ts';
import { type Behaviour, HELLO, play, streamHead } from '../support/behaviours.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import {
  EVERY_FORMAT,
  type EveryFormat,
  generate,
  get,
  type JsonAnswer,
  PATHS,
  post,
  requestBody,
} from '../support/client.ts';
import { held } from '../support/description.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { openConnection, requestHead, wholeRequest } from '../support/raw.ts';
import { expectRefusal } from '../support/refusal.ts';
import { streamFrames, USAGE } from '../support/render.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

const UNICODE = 'Grüße: 😀 ' + '日本語 €\u2028 e\u0301 👩‍👩‍👧 end';
/** Longer than the ten seconds after which the runtime drops a silent connection by default. */
const SILENCE_MS = 10_500;
const FLOOD_PIECE = 'word '.repeat(6_400);
const FLOOD_PIECES = 1_500;
/** More than the 256 outgoing requests of the runtime's default. */
const CROWD = 300;

const unicode = (exchange: Parameters<Behaviour>[0]): string =>
  streamFrames(exchange.request.dialect, exchange.request.model, {
    pieces: [{ text: UNICODE }],
    finish: 'stop',
    usage: USAGE,
  }).join('');

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  'unicode-bytewise': async (exchange) => {
    streamHead(exchange);
    for (const byte of Buffer.from(unicode(exchange))) {
      exchange.write(new Uint8Array([byte]));
      await new Promise((wake) => setImmediate(wake));
    }
    exchange.end();
  },
  'unicode-whole': play({ pieces: [{ text: UNICODE }], finish: 'stop', usage: USAGE }),
  'silent-middle': async (exchange) => {
    const frames = streamFrames(exchange.request.dialect, exchange.request.model, {
      pieces: [{ text: 'Hello ' }, { text: 'from upstream.' }],
      finish: 'stop',
      usage: USAGE,
    });
    const half = Math.ceil(frames.length / 2);
    streamHead(exchange);
    for (const frame of frames.slice(0, half)) exchange.write(frame);
    await exchange.sleep(SILENCE_MS);
    for (const frame of frames.slice(half)) exchange.write(frame);
    exchange.end();
  },
  /** About 48 MB of text, as fast as the other side takes it. */
  flood: play({
    pieces: Array.from({ length: FLOOD_PIECES }, () => ({ text: FLOOD_PIECE })),
    finish: 'stop',
    usage: USAGE,
  }),
};

const MODELS = [
  ...Object.keys(BEHAVIOURS),
  ...['ok', 'stall', 'stall-before', 'stall-after-head', 'slow-first-byte-30000'],
  ...['slow-first-byte-10500', 'reset', 'cut', 'bytewise', 'status-503'],
];

let upstream: Upstream;
let gateway: Gateway;
let account: TestAccount;
/** Started first, because they take long, and judged by the last test. */
let silent: Promise<readonly unknown[]>;

/** With a bound that allows the flood: one that sends far more than it was asked for is cut off. */
const FLOOD_LIMITS = { context_window: 10_000_000, max_output: 5_000_000 };

const catalog = (): string =>
  catalogFor(upstream, MODELS, {
    // All thinking is shown there: nothing is to be read after an answer was left.
    upstream: { profile: 'deepseek' },
    plans: { large: LARGE_PLAN },
    models: { flood: FLOOD_LIMITS },
  });

beforeAll(async () => {
  upstream = await startUpstream(BEHAVIOURS);
  gateway = await startGateway({ catalog: catalog() });
  account = await gateway.createAccount({ plan: 'large', credit: 1_000_000_000 });
  silent = Promise.all(
    EVERY_FORMAT.flatMap((format) => [
      textOf(format, true, 'silent-middle'),
      textOf(format, false, 'slow-first-byte-10500'),
    ]),
  );
  silent.catch(() => {});
});

closeAtEnd(() => [upstream, gateway]);

async function textOf(format: EveryFormat, stream: boolean, model: string): Promise<string> {
  return (await ask(account, format, stream, model)).said.text;
}

async function inFlight(caller: TestAccount): Promise<unknown> {
  const { json } = await get(caller, '/v1/account');
  return (json['usage'] as { readonly in_flight: number }).in_flight;
}

/** The slot is free at once, the money when the ledger has written the end. */
async function nothingLeft(caller: TestAccount): Promise<boolean> {
  const { json } = await get(caller, '/v1/account');
  const { reserved } = json['balance'] as { readonly reserved: string };
  const { in_flight } = json['usage'] as { readonly in_flight: number };
  return in_flight === 0 && reserved === '0';
}

async function requestsUsed(caller: TestAccount): Promise<number> {
  const { json } = await get(caller, '/v1/account');
  const usage = json['usage'] as { readonly requests_this_minute: { readonly used: number } };
  return usage.requests_this_minute.used;
}

test('connections that are reset right after their request leave nothing behind', async () => {
  const caller = await gateway.createAccount({ plan: 'large' });
  const asked = EVERY_FORMAT.flatMap((format) => [
    wholeRequest(caller, PATHS[format], JSON.stringify(requestBody(format, 'stall'))),
    wholeRequest(
      caller,
      PATHS[format],
      JSON.stringify(requestBody(format, 'ok', { stream: true })),
    ),
  ]);
  await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const connection = await openConnection(gateway.url);
      await connection.write(asked[index % asked.length] ?? '');
      connection.destroy();
    }),
  );
  // They have been let in, all or most of them, and then nothing of them is left.
  await waitUntil(async () => (await requestsUsed(caller)) > 100);
  await waitUntil(() => nothingLeft(caller));
  expect((await generate(caller, 'chat', 'ok')).status).toBe(200);
});

describe('bytes of a stream', () => {
  const ENDS = {
    chat: /data: \[DONE\]\n\n$/,
    messages: /"message_stop"\}\n\n$/,
    responses: /\nevent: response\.completed\ndata: .*\n\n$/,
  };

  test.each(EVERY_FORMAT)('%s: characters that arrive in pieces leave whole', async (format) => {
    expect(await textOf(format, true, 'unicode-bytewise')).toBe(UNICODE);
    expect(await textOf(format, false, 'unicode-whole')).toBe(UNICODE);
  });

  test.each(EVERY_FORMAT)(
    '%s: a stream has one framing and the headers of a stream',
    async (format) => {
      const body = JSON.stringify(requestBody(format, 'ok', { stream: true }));
      using connection = await openConnection(gateway.url);
      await connection.write(wholeRequest(account, PATHS[format], body));
      await waitUntil(() => connection.rest().includes('\r\n\r\n'));
      const [head = ''] = connection.rest().split('\r\n\r\n');
      const names = head
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(':')[0]?.toLowerCase());
      expect(names.toSorted()).toEqual(
        [
          'cache-control',
          'content-type',
          'date',
          'request-id',
          'transfer-encoding',
          'x-accel-buffering',
          'x-ratelimit-limit-requests',
          'x-ratelimit-limit-tokens',
          'x-ratelimit-remaining-requests',
          'x-ratelimit-remaining-tokens',
          'x-ratelimit-reset-requests',
          'x-request-id',
          'x-svc-model',
        ].toSorted(),
      );
      expect(head).toMatch(/content-type: text\/event-stream; charset=utf-8/i);
      const answer = await connection.answer();
      expect(answer?.text).toMatch(ENDS[format]);
      // The connection is good for another one.
      await connection.write(wholeRequest(account, PATHS[format], body));
      expect((await connection.answer())?.status).toBe(200);
    },
  );

  test.each(EVERY_FORMAT)(
    '%s: a whole answer has a length and no other framing',
    async (format) => {
      using connection = await openConnection(gateway.url);
      const body = JSON.stringify(requestBody(format, 'ok'));
      await connection.write(wholeRequest(account, PATHS[format], body));
      const answer = await connection.answer();
      expect(answer?.headers['content-length']).toBe(String(Buffer.byteLength(answer?.text ?? '')));
      expect(answer?.headers['transfer-encoding']).toBeUndefined();
      expect(answer?.headers['content-type']).toBe('application/json');
    },
  );
});

describe('paths and methods', () => {
  type Row = readonly [
    method: string,
    path: string,
    code: ErrorCode,
    format: EveryFormat,
    allow?: string,
  ];
  const OF_OTHERS = [
    ...['/v1/embeddings', '/v1/images/generations', '/v1/audio/speech', '/v1/files'],
    ...['/v1/completions', '/v1/messages/batches'],
  ];
  const ROWS: readonly Row[] = [
    ...['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'].flatMap(
      (method): Row[] => [
        [method, '/v1/chat/completions', 'method_not_allowed', 'chat', 'POST'],
        [method, '/v1/messages', 'method_not_allowed', 'messages', 'POST'],
        // Its envelope is that of chat.
        [method, '/v1/responses', 'method_not_allowed', 'chat', 'POST'],
        [method, '/v1/responses/input_tokens', 'method_not_allowed', 'chat', 'POST'],
        [method, '/v1/messages/count_tokens', 'method_not_allowed', 'messages', 'POST'],
      ],
    ),
    ['POST', '/v1/models', 'method_not_allowed', 'chat', 'GET'],
    ['DELETE', '/v1/models/ok', 'method_not_allowed', 'chat', 'GET'],
    ['DELETE', '/v1/models/vendor/ok', 'method_not_allowed', 'chat', 'GET'],
    ['POST', '/v1/account', 'method_not_allowed', 'chat', 'GET'],
    ['POST', '/v1/receipts/req_1', 'method_not_allowed', 'chat', 'GET'],
    ['GET', '/v1/receipts/', 'not_found', 'chat'],
    ['POST', '/healthz', 'method_not_allowed', 'chat', 'GET'],
    ['POST', '/readyz', 'method_not_allowed', 'chat', 'GET'],
    ['POST', '/', 'method_not_allowed', 'chat', 'GET, HEAD'],
    ...['/v1/api-keys', '/v1/api-keys/', '/v1/api-keys/key_1', '/v1/api-keys/key_1/rotate'].flatMap(
      (path) =>
        ['POST', 'PUT', 'PATCH', 'DELETE'].map(
          (method): Row => [method, path, 'session_required', 'chat'],
        ),
    ),
    ...[
      '/v1/chat/completions/',
      '//v1/chat/completions',
      '/v1//chat/completions',
      '/V1/chat/completions',
      '/v1/%63hat/completions',
      '/v1/chat%2fcompletions',
      '/v1/chat/completions;x=1',
      '/v1/chat/completions%00',
      '/chat/completions',
      '/v1/v1/chat/completions',
      ...OF_OTHERS.filter((path) => !path.includes('messages')),
      '/v1/account/',
      '/v1/models/',
      '/v2/models',
      '/metrics/',
      '/.env',
      '/favicon.ico',
    ].flatMap((path): Row[] => [
      ['POST', path, 'not_found', 'chat'],
      ['GET', path, 'not_found', 'chat'],
    ]),
    ['POST', '/v1/messages/', 'not_found', 'messages'],
    ['POST', '/v1/v1/messages', 'not_found', 'messages'],
    ['POST', '/messages', 'not_found', 'messages'],
    ['GET', '/v1/messages/batches', 'not_found', 'messages'],
    ['GET', '/v1/models/no-such-model', 'model_not_found', 'chat'],
    ['GET', '/v1/models/vendor/no-such-model', 'model_not_found', 'chat'],
    ['GET', '/v1/models/ok/', 'model_not_found', 'chat'],
    ['GET', '/v1/models/%zz', 'model_not_found', 'chat'],
    ['GET', '/v1/models/..%2fok', 'model_not_found', 'chat'],
  ];

  test('each has its refusal, in the envelope of the clients that would ask', async () => {
    for (const [method, path, code, format, allow] of ROWS) {
      using connection = await openConnection(gateway.url);
      await connection.write(requestHead(account, path, ['content-length: 0'], method));
      const raw = await connection.answer();
      const answer: JsonAnswer = {
        status: raw?.status ?? 0,
        headers: new Headers(raw?.headers),
        json: JSON.parse(raw?.text || 'null'),
      };
      const error = answer.json?.['error'] as { readonly code: string } | undefined;
      expect({ method, path, code: error?.code }).toEqual({ method, path, code });
      const param = code === 'model_not_found' ? { param: 'model' } : {};
      const message = OF_OTHERS.includes(path) ? { message: /not offered/ } : {};
      expectRefusal(answer, format, code, { ...param, ...message });
      expect(answer.headers.get('allow')).toBe(allow ?? null);
    }
  });

  test('HEAD has no body: 200 at the root, 405 where only POST is served', async () => {
    for (const [path, status] of [
      ['/', 200],
      ['/v1/messages', 405],
      ['/nowhere', 404],
    ] as const) {
      using connection = await openConnection(gateway.url);
      await connection.write(requestHead(account, path, [], 'HEAD'));
      expect((await connection.answer('HEAD'))?.status).toBe(status);
      await connection.write(requestHead(account, '/healthz', [], 'GET'));
      expect((await connection.answer())?.status).toBe(200);
      expect(connection.rest()).toBe('');
    }
  });

  test('the open paths answer without a key', async () => {
    for (const [path, expected] of [
      ['/', { service: 'tollgate', version: expect.any(String), docs: '/docs' }],
      ['/healthz', { status: 'ok', version: expect.any(String) }],
      ['/readyz', { status: 'ready', problems: [], warnings: [], detail: expect.any(Object) }],
    ] as const) {
      const response = held(await fetch(`${gateway.url}${path}?x=1`), 'GET');
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual(expected);
    }
  });

  test('a query changes nothing, and dots in a path are resolved as the URL standard says', async () => {
    const body = JSON.stringify(requestBody('messages', 'ok'));
    for (const path of [
      '/v1/messages?beta=true',
      '/v1/messages?',
      '/v1/./messages',
      '/v1/x/../messages',
    ]) {
      using connection = await openConnection(gateway.url);
      await connection.write(wholeRequest(account, path, body));
      expect((await connection.answer())?.status).toBe(200);
    }
  });

  test('any name of the host will do', async () => {
    const hosts = ['gw', 'gw:3000', 'localhost', '127.0.0.1', '[::1]:80', 'api.example.com', 'a_b'];
    for (const host of hosts) {
      using connection = await openConnection(gateway.url);
      for (const format of EVERY_FORMAT) {
        const body = JSON.stringify(requestBody(format, 'ok'));
        const request = wholeRequest(account, PATHS[format], body).toString();
        await connection.write(request.replace('host: gateway.test', `host: ${host}`));
        expect({ host, status: (await connection.answer())?.status }).toEqual({
          host,
          status: 200,
        });
      }
      const list = requestHead(account, '/v1/models', [], 'GET');
      await connection.write(list.replace('host: gateway.test', `host: ${host}`));
      expect((await connection.answer())?.status).toBe(200);
    }
  });

  test('a host that is none changes no answer, and nothing of its request is logged', async () => {
    for (const host of ['[::bad', 'a b', '%%%', 'x:y:z', '[]', 'xn--a']) {
      using connection = await openConnection(gateway.url);
      const to = (path: string) =>
        connection.write(
          requestHead(account, path, [], 'GET').replace('host: gateway.test', `host: ${host}`),
        );
      for (const [path, status, shown] of [
        ['/v1/messages/nowhere?key=host-canary', 404, '/v1/messages/nowhere'],
        ['/v1/messages?key=host-canary', 405, '"type":"error"'],
        ['/v1/models', 200, '"list"'],
      ] as const) {
        await to(path);
        const answer = await connection.answer();
        expect({ host, path, status: answer?.status }).toEqual({ host, path, status });
        expect(answer?.text).toContain(shown);
      }
    }
    expect(gateway.output()).not.toMatch(/host-canary|Invalid URL/);
  });

  test('requests in one write are answered in order', async () => {
    using connection = await openConnection(gateway.url);
    const paths = ['/healthz', '/v1/models/ok', '/nowhere', '/v1/account', '/'];
    await connection.write(paths.map((path) => requestHead(account, path, [], 'GET')).join(''));
    const statuses: unknown[] = [];
    for (const _ of paths) statuses.push((await connection.answer())?.status);
    expect(statuses).toEqual([200, 200, 404, 200, 200]);
  });
});

describe('a client that does not read', () => {
  const residentMb = () => {
    const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
  };

  test('costs bounded memory, delays no other client, and is released when it leaves', async () => {
    const slow = await gateway.createAccount({ plan: 'large', credit: 1_000_000_000 });
    const before = residentMb();
    const body = JSON.stringify(requestBody('chat', 'flood', { stream: true }));
    const connections = await Promise.all([1, 2, 3].map(() => openConnection(gateway.url)));
    for (const connection of connections) {
      connection.pause();
      await connection.write(wholeRequest(slow, PATHS.chat, body));
    }
    await waitUntil(async () => (await inFlight(slow)) === connections.length);
    for (let round = 0; round < 20; round += 1) {
      expect((await generate(account, 'chat', 'ok')).status).toBe(200);
      await Bun.sleep(50);
    }
    expect(await inFlight(slow)).toBe(connections.length);
    expect(residentMb() - before).toBeLessThan(60);
    for (const connection of connections) connection.destroy();
    await waitUntil(() => nothingLeft(slow));
  });
});

const executable = resolve(import.meta.dir, '../../dist/tollgate');
const fromSource = process.env['TOLLGATE_TEST_SOURCE'] === '1';

test('more upstream requests run at once than the runtime allows by itself', async () => {
  const crowd = await gateway.createAccount({ plan: 'large', credit: 1_000_000_000 });
  const before = upstream.requests.length;
  const body = JSON.stringify({
    model: 'stall-before',
    stream: true,
    messages: [{ role: 'user', content: 'Hello?' }],
  });
  // By hand, because the runtime of this test has the same cap.
  const connections = await Promise.all(
    Array.from({ length: CROWD }, () => openConnection(gateway.url)),
  );
  for (const connection of connections) {
    await connection.write(wholeRequest(crowd, PATHS.chat, body));
  }
  await upstream.waitFor(({ requests }) => requests.length >= before + CROWD);
  for (const connection of connections) connection.destroy();
  await waitUntil(async () => (await inFlight(crowd)) === 0);
});

describe('the executable', () => {
  /** What a request was answered with, without what differs from one run to the next. */
  async function replay(url: string, key: string): Promise<unknown[]> {
    const caller = { url, key };
    const normalise = (text: string) =>
      text
        .replaceAll(/(req_|chatcmpl-|msg_|resp_|rs_|key_|acct_|fp_)[A-Za-z0-9_]+/g, '$1…')
        .replaceAll(/"(created|created_at)":\d+/g, '"$1":0')
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
        .replaceAll(/"masked":"[^"]*"/g, '"masked":""')
        .replaceAll('"last_used_at":"time"', '"last_used_at":null')
        .replaceAll(/"version":"[^"]*"/g, '"version":""')
        .replaceAll(/"resets_in_s":\d+/g, '"resets_in_s":0');
    const asks: (() => Promise<Response>)[] = EVERY_FORMAT.flatMap((format) => [
      ...['ok', 'bytewise', 'reset', 'cut', 'status-503', 'no-such-model'].flatMap((model) => [
        () => post(caller, PATHS[format], requestBody(format, model)),
        () => post(caller, PATHS[format], requestBody(format, model, { stream: true })),
      ]),
      () => post(caller, PATHS[format], requestBody(format, 'ok', { max_tokens: 0 })),
      () => post(caller, PATHS[format], '{"model":'),
      () => post(caller, PATHS[format], ' '.repeat(2_097_153)),
      () => post({ url, key: 'sk-none' }, PATHS[format], '{}'),
      () => fetch(`${url}${PATHS[format]}`, { method: 'PUT' }),
      () => post(caller, `${PATHS[format]}/count_tokens`, requestBody(format, 'ok')),
    ]);
    const gets = ['/', '/v1/models', '/v1/models/ok', '/v1/api-keys', '/v1/account', '/nowhere'];
    for (const path of gets) {
      asks.push(async () => {
        return held(await fetch(`${url}${path}`, { headers: { 'x-api-key': key } }), 'GET');
      });
    }
    const answers: unknown[] = [];
    for (const ask of asks) {
      const response = await ask();
      const headers = Object.fromEntries(response.headers);
      delete headers['date'];
      // Lengths follow the texts that were normalised.
      delete headers['content-length'];
      delete headers['x-ratelimit-reset-requests'];
      const body = normalise(await response.text());
      answers.push({ status: response.status, headers: normalise(JSON.stringify(headers)), body });
    }
    return answers;
  }

  test.skipIf(fromSource || !existsSync(executable))('answers as the source does', async () => {
    process.env['TOLLGATE_TEST_SOURCE'] = '1';
    const starting = startGateway({ catalog: catalog() });
    delete process.env['TOLLGATE_TEST_SOURCE'];
    await using source = await starting;
    const key = await createKey(source, true);
    const [fromBinary, expected] = await Promise.all([
      replay(gateway.url, await createKey(gateway, false)),
      replay(source.url, key),
    ]);
    expect(fromBinary).toEqual(expected);
  });

  /** The command line is run by the same program as the server. */
  async function createKey(of: Gateway, source: boolean): Promise<string> {
    if (source) process.env['TOLLGATE_TEST_SOURCE'] = '1';
    const creating = of.createAccount({ plan: 'large', email: 'same@example.com' });
    delete process.env['TOLLGATE_TEST_SOURCE'];
    return (await creating).key;
  }

  test.skipIf(fromSource)('runs no code that lies in its working directory', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'tollgate-'));
    const mark = join(directory, 'executed');
    await Bun.write(
      join(directory, 'planted.ts'),
      `require('node:fs').writeFileSync(${JSON.stringify(mark)}, 'yes'); process.exit(9);`,
    );
    await Bun.write(
      join(directory, 'bunfig.toml'),
      'preload = ["./planted.ts"]\n[test]\npreload = ["./planted.ts"]\n',
    );
    await Bun.write(
      join(directory, '.env'),
      'BUN_OPTIONS="--preload ./planted.ts"\nLOG_LEVEL=warn\n',
    );
    await Bun.write(join(directory, 'package.json'), '{"main":"./planted.ts","type":"module"}');
    await Bun.write(
      join(directory, 'tsconfig.json'),
      '{"compilerOptions":{"paths":{"*":["./planted.ts"]}}}',
    );
    await using planted = await startGateway({ catalog: catalog(), directory });
    const caller = await planted.createAccount();
    expect((await generate(caller, 'chat', 'ok')).status).toBe(200);
    expect(existsSync(mark)).toBe(false);
    // The program did read the file as settings.
    expect(planted.output()).not.toContain('"level":30');
  });
});

test('a stream and an answer that are silent for longer than the runtime waits arrive whole', async () => {
  expect(await silent).toEqual(Array(2 * EVERY_FORMAT.length).fill(HELLO));
}, 20_000);
