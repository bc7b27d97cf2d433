// Malformed and hostile input over real sockets, as tables. Each refusal has the right code and
// envelope, and charges, holds, stores and logs nothing; the server still serves after every test.
// Runs against the executable.

import { Database } from 'bun:sqlite';
import { afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorCode } from '../../src/core/error.ts';
import { catalogFor, LARGE_PLAN, UPSTREAM_KEY } from '../support/catalog.ts';
import {
  EVERY_FORMAT,
  type EveryFormat,
  get,
  type JsonAnswer,
  PATHS,
  requestBody,
} from '../support/client.ts';
import { held } from '../support/description.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import {
  chunk,
  openConnection,
  type RawAnswer,
  type RawConnection,
  requestHead,
  wholeRequest,
} from '../support/raw.ts';
import { expectRefusal } from '../support/refusal.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

const CHAT: string = PATHS.chat;
const MESSAGES: string = PATHS.messages;

const BODY_MAX = 2_097_152;
/** In every refused request, and in the prompts of served ones: it must not be found anywhere. */
const CANARY = 'hostile-canary-8135';

let upstream: Upstream;
let gateway: Gateway;
/** Only ever refused: its books must stay as they were. */
let refused: TestAccount;
/** Served. */
let customer: TestAccount;
/** Breaks its requests off while they are in progress. */
let leaver: TestAccount;

beforeAll(async () => {
  upstream = await startUpstream();
  const catalog = catalogFor(upstream, ['ok'], {
    model: { context_window: 10_000_000 },
    plans: { large: { ...LARGE_PLAN, max_context: 10_000_000 } },
  });
  gateway = await startGateway({ catalog, environment: { LEDGER_SYNC: 'normal' } });
  [refused, customer, leaver] = await Promise.all([
    gateway.createAccount({ plan: 'large', credit: 50_000_000 }),
    gateway.createAccount({ plan: 'large', credit: 50_000_000 }),
    gateway.createAccount({ plan: 'large', credit: 50_000_000 }),
  ]);
});

/** The process is well, and the account that was only refused has lost and holds nothing. */
afterEach(async () => {
  const served = await send(customer, CHAT, JSON.stringify(requestBody('chat', 'ok')));
  expect(served.status).toBe(200);
  const ready = await fetch(`${gateway.url}/readyz`);
  expect(await ready.json()).toMatchObject({ status: 'ready', problems: [], warnings: [] });
  const { json } = await get(refused, '/v1/account');
  expect(json).toMatchObject({
    balance: { available: '50000000', reserved: '0', total: '50000000' },
    // A refusal uses up a request of the minute, and nothing else.
    usage: { in_flight: 0, tokens_this_minute: { used: 0 } },
  });
});

closeAtEnd(() => [upstream, gateway]);

type Headers = Readonly<Record<string, string>>;

async function send(
  caller: TestAccount,
  path: string,
  body: string | Uint8Array | ReadableStream<Uint8Array>,
  headers: Headers = {},
): Promise<JsonAnswer> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${caller.key}`,
      'content-type': 'application/json',
      ...headers,
    },
    body,
  });
  const text = await held(response, 'POST').text();
  expectNoLeak(text);
  const { status, headers: answered } = response;
  return { status, headers: answered, json: JSON.parse(text) as Record<string, unknown> };
}

/** No echo of the input, no stack, no path of ours. */
function expectNoLeak(text: string): void {
  expect(text).not.toContain(CANARY);
  expect(text).not.toMatch(/\bat \S+ \(|\$bunfs|node_modules|\.ts:\d|SyntaxError|TypeError/);
}

/** The answer on a raw connection in the shape that the other checks take. */
function toJson(answer: RawAnswer | undefined): JsonAnswer {
  if (answer === undefined) throw new Error('the connection ended without an answer');
  expectNoLeak(answer.text);
  const { status } = answer;
  return { status, headers: new Headers(answer.headers), json: JSON.parse(answer.text) };
}

/** Serves the next request on the same connection, so nothing of the last one is left on it. */
async function expectClean(connection: RawConnection): Promise<void> {
  await connection.write(wholeRequest(customer, CHAT, good('chat')));
  expect((await connection.answer())?.status).toBe(200);
  expect(connection.rest()).toBe('');
}

function good(format: EveryFormat, more: Readonly<Record<string, unknown>> = {}): string {
  const messages = [{ role: 'user', content: CANARY }];
  return JSON.stringify(requestBody(format, 'ok', { messages, ...more }));
}

/** A body with `fields` as they are written here, which JSON.stringify could not. */
function written(format: EveryFormat, fields: string): string {
  const named = fields.replace(
    /"(messages|max_tokens)"(?=:)/g,
    (_, name) => `"${nameIn(format, name)}"`,
  );
  return `${good(format).slice(0, -1)}, ${named}}`;
}

/** What a format calls a field of chat completions. */
function nameIn(format: EveryFormat, name: string): string {
  if (format !== 'responses') return name;
  return name.replace('messages', 'input').replace('max_tokens', 'max_output_tokens');
}

describe('framing that the runtime refuses', () => {
  const head = (headers: readonly string[]) => requestHead(refused, CHAT, headers);
  const length = () => `content-length: ${good('chat').length}`;
  const whole = (headers: readonly string[]) => head([length(), ...headers]) + good('chat');
  const chunked = (encoding: string) => [
    head([`transfer-encoding: ${encoding}`]),
    chunk(good('chat')),
    chunk(''),
  ];
  const sized = (size: string) => [
    head(['transfer-encoding: chunked']),
    `${size}\r\n${CANARY}\r\n0\r\n\r\n`,
  ];

  type Row = readonly [name: string, bytes: () => readonly (string | Uint8Array)[]];
  const ROWS: readonly Row[] = [
    ['both lengths', () => [whole(['transfer-encoding: chunked'])]],
    ['two different lengths', () => [whole(['content-length: 5'])]],
    ...['+5', '5,5', '0x5', '-1', '1e2', '', '99999999999999999999', '5 5'].map(
      (value): Row => [
        `content-length: "${value}"`,
        () => [head([`content-length: ${value}`]), CANARY],
      ],
    ),
    ...['gzip, chunked', 'chunked, gzip', 'xchunked', 'chunked;q=1', 'identity'].map(
      (value): Row => [`transfer-encoding: ${value}`, () => chunked(value)],
    ),
    [
      'transfer-encoding twice',
      () => [head(['transfer-encoding: chunked', 'transfer-encoding: chunked']), chunk('{}')],
    ],
    [
      'transfer-encoding in HTTP/1.0',
      () => [head(['transfer-encoding: chunked']).replace('HTTP/1.1', 'HTTP/1.0'), chunk('{}')],
    ],
    ...['fffffffffffffffff', '-5', '', 'zz', '5 ', ' 5', '0x5'].map(
      (size): Row => [`chunk size "${size}"`, () => sized(size)],
    ),
    ['bare line feeds', () => [whole([]).replaceAll('\r\n', '\n')]],
    ['a folded header', () => [whole(['x-a: 1\r\n folded'])]],
    ['a NUL in a header', () => [whole(['x-a: 1\0'])]],
    ['a bare CR in a header', () => [whole(['x-a: 1\rx-b: 2'])]],
    ['a space before the colon', () => [whole(['x-a : 1'])]],
    ['a header name that is none', () => [whole(['x(a: 1'])]],
    ['no host', () => [whole([]).replace('host: gateway.test\r\n', '')]],
    ['a request target of 64 KiB', () => [requestHead(refused, `/${'a'.repeat(65_536)}`, [])]],
    ['a header of 17 KiB', () => [whole([`x-long: ${'a'.repeat(17_000)}`])]],
    ['250 headers', () => [whole(Array.from({ length: 250 }, (_, index) => `x-${index}: 1`))]],
    ['a body declared above 1 GiB', () => [head(['content-length: 2000000000'])]],
    ['a method that is none', () => [requestHead(refused, CHAT, [], 'GENERATE')]],
    ['the asterisk', () => [requestHead(refused, '*', [], 'OPTIONS')]],
    ['TLS on the clear port', () => [new Uint8Array([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3])]],
    ['HTTP/2 on the clear port', () => ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']],
    ['HTTP/0.9', () => ['GET /\r\n\r\n']],
  ];

  test.each(ROWS)('%s: refused and closed', async (_name, bytes) => {
    const before = upstream.requests.length;
    using connection = await openConnection(gateway.url);
    for (const part of bytes()) await connection.write(part);
    const answer = await connection.answer();
    expect([undefined, 400, 413, 414, 431, 501, 505]).toContain(answer?.status);
    expect(answer?.text ?? '').toBe('');
    await connection.untilClosed();
    expect(upstream.requests.length).toBe(before);
  });

  // These are whole requests before they go wrong, so work on them has begun when they are dropped.
  const one = () => wholeRequest(leaver, CHAT, good('chat'));
  const ABANDONED: readonly (readonly [string, () => Uint8Array])[] = [
    ['more bytes than were declared', () => Buffer.concat([one(), Buffer.from(CANARY)])],
    ['a second request before the answer to the first', () => Buffer.concat([one(), one()])],
    [
      'a last chunk without its end',
      () => {
        const head = requestHead(leaver, CHAT, ['transfer-encoding: chunked']);
        return Buffer.concat([Buffer.from(head), chunk(good('chat')), Buffer.from('0\r\nXX')]);
      },
    ],
  ];
  test.each(ABANDONED)('%s: closed, and nothing is charged', async (_name, bytes) => {
    using connection = await openConnection(gateway.url);
    await connection.write(bytes());
    expect([undefined, 400]).toContain((await connection.answer())?.status);
    await connection.untilClosed();
    let account: JsonAnswer | undefined;
    // The slot is free a moment before the release of the hold is on disk.
    await waitUntil(async () => {
      account = await get(leaver, '/v1/account');
      const { in_flight: inFlight } = account.json['usage'] as { readonly in_flight: number };
      const { reserved } = account.json['balance'] as { readonly reserved: string };
      return inFlight === 0 && reserved === '0';
    });
    expect(account?.json['balance']).toMatchObject({ reserved: '0', total: '50000000' });
  });

  test('a sender that leaves in the middle of its body', async () => {
    const connection = await openConnection(gateway.url);
    await connection.write(requestHead(refused, CHAT, ['content-length: 1000']) + CANARY);
    connection.destroy();
    const chunked = await openConnection(gateway.url);
    await chunked.write(requestHead(refused, CHAT, ['transfer-encoding: chunked']));
    await chunked.write(chunk(CANARY));
    chunked.destroy();
  });
});

describe('odd requests that are served', () => {
  const body = good('chat');
  const length = `content-length: ${body.length}`;
  const head = (headers: readonly string[], target = CHAT) =>
    requestHead(customer, target, headers);

  type Row = readonly [name: string, bytes: () => readonly (string | Uint8Array)[]];
  const ROWS: readonly Row[] = [
    ['the same length twice', () => [head([length, length]), body]],
    [
      'mixed case in transfer-encoding',
      () => [head(['Transfer-Encoding: Chunked']), chunk(body), chunk('')],
    ],
    [
      'a body in single bytes',
      () => [
        head(['transfer-encoding: chunked']),
        ...Array.from(body, (character) => chunk(character)),
        chunk(''),
      ],
    ],
    ['an absolute target', () => [head([length], `http://elsewhere.test${CHAT}`), body]],
    ['a query', () => [head([length], `${CHAT}?beta=true&key=${CANARY}`), body]],
    ['a header of 8 KiB', () => [head([length, `partner-version: ${CANARY.repeat(430)}`]), body]],
    [
      'an upgrade to a web socket',
      () => [head([length, 'connection: Upgrade', 'upgrade: websocket']), body],
    ],
    [
      'an upgrade to HTTP/2',
      () => [head([length, 'connection: Upgrade, HTTP2-Settings', 'upgrade: h2c']), body],
    ],
    ['expect: 100-continue', () => [head([length, 'expect: 100-continue']), body]],
    ['another method in a header', () => [head([length, 'x-http-method-override: DELETE']), body]],
  ];

  test.each(ROWS)('%s', async (_name, bytes) => {
    using connection = await openConnection(gateway.url);
    for (const part of bytes()) await connection.write(part);
    const answer = await connection.answer();
    expect(answer?.status).toBe(200);
    expectNoLeak(answer?.text ?? '');
    await expectClean(connection);
  });

  test('HTTP/1.0 is answered without chunks, and closed', async () => {
    for (const stream of [false, true]) {
      const text = good('chat', { stream });
      const request = requestHead(customer, CHAT, [`content-length: ${text.length}`]);
      using connection = await openConnection(gateway.url);
      await connection.write(request.replace('HTTP/1.1', 'HTTP/1.0') + text);
      const answer = await connection.answer();
      expect(answer?.status).toBe(200);
      expect(answer?.headers['transfer-encoding']).toBeUndefined();
      if (stream) expect(answer?.text.endsWith('data: [DONE]\n\n')).toBe(true);
      await connection.untilClosed();
    }
  });
});

describe('the size of the body', () => {
  const padded = (format: EveryFormat, bytes: number) => good(format).padEnd(bytes, ' ');

  /** The same bytes without a declared length. */
  function streamed(text: string): ReadableStream<Uint8Array> {
    const bytes = Buffer.from(text);
    let sent = 0;
    return new ReadableStream({
      pull(controller) {
        if (sent >= bytes.length) return controller.close();
        controller.enqueue(bytes.subarray(sent, sent + 65_536));
        sent += 65_536;
      },
    });
  }

  test.each(EVERY_FORMAT)(
    'case 18: 2,097,152 bytes are served, one more is refused, %s',
    async (format) => {
      const path = PATHS[format];
      const most = padded(format, BODY_MAX);
      expect((await send(customer, path, most)).status).toBe(200);
      expect((await send(customer, path, streamed(most))).status).toBe(200);
      const more = `${most} `;
      expectRefusal(await send(refused, path, more), format, 'payload_too_large');
      expectRefusal(await send(refused, path, streamed(more)), format, 'payload_too_large');
    },
  );

  test('count_tokens has the same limit', async () => {
    const path = `${MESSAGES}/count_tokens`;
    expect((await send(customer, path, padded('messages', BODY_MAX))).status).toBe(200);
    const answer = await send(refused, path, padded('messages', BODY_MAX + 1));
    expectRefusal(answer, 'messages', 'payload_too_large');
  });

  test('a declared size that is too large is refused before any of it is sent', async () => {
    using connection = await openConnection(gateway.url);
    await connection.write(
      requestHead(refused, CHAT, ['content-length: 3000000', 'expect: 100-continue']),
    );
    expectRefusal(toJson(await connection.answer()), 'chat', 'payload_too_large');
  });

  type Upload = readonly [declared: boolean, path: string, key: boolean, code: ErrorCode];
  const UPLOADS: readonly Upload[] = [true, false].flatMap((declared): Upload[] => [
    [declared, CHAT, true, 'payload_too_large'],
    [declared, CHAT, false, 'invalid_api_key'],
    [declared, '/v1/nowhere', true, 'not_found'],
    [declared, '/v1/models', true, 'method_not_allowed'],
  ]);
  const PIECE = Buffer.alloc(1_000_000, CANARY);
  const PIECES = 50;

  test.each(UPLOADS)(
    '50 MB (declared: %p) to %s (key: %p): %s',
    async (declared, path, key, code) => {
      const caller = key ? refused : { ...refused, key: 'sk-none' };
      // As fetch sends it.
      const body = declared ? Buffer.alloc(50_000_000, CANARY) : streamed(CANARY.repeat(2_700_000));
      expectRefusal(await send(caller, path, body), 'chat', code);
      // As a client sends it that reads nothing before it has written everything.
      const size = declared
        ? `content-length: ${PIECE.length * PIECES}`
        : 'transfer-encoding: chunked';
      for (const connects of ['keep-alive', 'close']) {
        using connection = await openConnection(gateway.url);
        await connection.write(requestHead(caller, path, [size, `connection: ${connects}`]));
        for (let sent = 0; sent < PIECES; sent += 1) {
          expect(connection.closed()).toBe(false);
          await connection.write(declared ? PIECE : chunk(PIECE));
        }
        if (!declared) await connection.write(chunk(''));
        expectRefusal(toJson(await connection.answer()), 'chat', code);
        if (connects === 'close') await connection.untilClosed();
        else await expectClean(connection);
      }
    },
  );

  test('refused uploads do not stay in memory', async () => {
    const residentMb = () => {
      const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
    };
    const before = residentMb();
    using connection = await openConnection(gateway.url);
    await connection.write(requestHead(refused, CHAT, ['transfer-encoding: chunked']));
    const piece = chunk(PIECE);
    for (let sent = 0; sent < 300; sent += 1) await connection.write(piece);
    expect(residentMb() - before).toBeLessThan(150);
  });

  test('a body inside a refused request is not the next request', async () => {
    const inner = `GET /v1/account HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${customer.key}\r\n\r\n`;
    for (const path of [CHAT, '/nowhere', '/v1/models']) {
      for (const caller of [refused, { ...refused, key: '' }]) {
        using connection = await openConnection(gateway.url);
        await connection.write(wholeRequest(caller, path, inner));
        expect((await connection.answer())?.status).toBeGreaterThanOrEqual(400);
        await expectClean(connection);
        await connection.write(requestHead(caller, path, ['transfer-encoding: chunked']));
        await connection.write(Buffer.concat([chunk(inner), chunk('')]));
        expect((await connection.answer())?.status).toBeGreaterThanOrEqual(400);
        await expectClean(connection);
      }
    }
  });
});

describe('what the body is said to be', () => {
  const SERVED: readonly Headers[] = [
    { 'content-type': 'application/json; charset=utf-8' },
    { 'content-type': 'APPLICATION/JSON;Charset="UTF-8"' },
    { 'content-type': 'application/json;' },
    { 'content-type': 'text/plain' },
    { 'content-encoding': 'identity' },
  ];
  test.each(SERVED)('%j is served', async (headers) => {
    for (const format of EVERY_FORMAT) {
      expect((await send(customer, PATHS[format], good(format), headers)).status).toBe(200);
    }
  });

  test('case 20: no content-type is served', async () => {
    using connection = await openConnection(gateway.url);
    const request = wholeRequest(customer, CHAT, good('chat')).toString();
    await connection.write(request.replace('content-type: application/json\r\n', ''));
    expect((await connection.answer())?.status).toBe(200);
  });

  const REFUSED: readonly Headers[] = [
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-type': 'text/plain; charset=iso-8859-1' },
    { 'content-type': 'multipart/form-data; boundary=x' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'application/json, text/html' },
    { 'content-type': `application/${CANARY}` },
    { 'content-type': ';;;' },
    ...['gzip', 'br', 'zstd', 'deflate', 'gzip, gzip', CANARY].map((encoding) => ({
      'content-encoding': encoding,
    })),
  ];
  test.each(REFUSED)('%j is refused', async (headers) => {
    for (const format of EVERY_FORMAT) {
      const answer = await send(refused, PATHS[format], good(format), headers);
      expectRefusal(answer, format, 'unsupported_media_type');
    }
  });

  test('a compressed body is not inflated', async () => {
    const bomb = Bun.gzipSync(Buffer.alloc(200_000_000));
    const answer = await send(refused, CHAT, bomb, { 'content-encoding': 'gzip' });
    expectRefusal(answer, 'chat', 'unsupported_media_type');
  });
});

describe('case 19: what is not JSON, or too much of it', () => {
  const DEEP = 'The request body nests deeper than 64 levels.';
  const MANY =
    'The request body has more than 50000 object members; a name that is a number counts as up to 1,000.';
  const VARIED =
    'The request body has more than 10000 different names of members and short strings.';
  const INVALID = 'The request body is not valid JSON.';
  const NO_OBJECT = 'The request body must be a JSON object.';
  const NOT_UTF8 = 'The request body is not valid UTF-8. Send JSON in UTF-8.';

  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  const members = (count: number) =>
    `{${Array.from({ length: count }, (_, index) => `"${index}":0`).join()}}`;

  const pairs = (count: number) => Array(count).fill('{"a":0,"b":0}').join();

  type Row = readonly [
    name: string,
    body: (format: EveryFormat) => string | Uint8Array,
    message: string,
  ];
  const ROWS: readonly Row[] = [
    ['nothing', () => '', 'The request body is empty. Send a JSON object.'],
    ['white space', () => ' \n\t', INVALID],
    ['null', () => 'null', NO_OBJECT],
    ['an array', () => `["${CANARY}"]`, NO_OBJECT],
    ['a string', () => `"${CANARY}"`, NO_OBJECT],
    ['a number', () => '1', NO_OBJECT],
    ['a boolean', () => 'true', NO_OBJECT],
    ['a truncated body', (format) => good(format).slice(0, -1), INVALID],
    ['a trailing comma', (format) => `${good(format).slice(0, -1)},}`, INVALID],
    ['a comment', (format) => `/* ${CANARY} */${good(format)}`, INVALID],
    ['single quotes', () => `{'model': '${CANARY}'}`, INVALID],
    ['NaN', (format) => written(format, '"temperature": NaN'), INVALID],
    ['a leading zero', (format) => written(format, '"max_tokens": 010'), INVALID],
    ['a plus sign', (format) => written(format, '"max_tokens": +1'), INVALID],
    ['two documents', (format) => good(format) + good(format), INVALID],
    ['a raw line break in a string', (format) => written(format, `"user": "a\nb"`), INVALID],
    ['a raw NUL', (format) => written(format, '"user": "a\0b"'), INVALID],
    ['a broken escape', (format) => written(format, '"user": "\\x41"'), INVALID],
    ['a form', () => `model=${CANARY}&messages=x`, INVALID],
    ['bytes that are not UTF-8', () => Buffer.from('{"model":"\xff\xfe"}', 'latin1'), NOT_UTF8],
    ['an overlong encoding', () => Buffer.from('{"model":"\xc0\xaf"}', 'latin1'), NOT_UTF8],
    ['half a surrogate as UTF-8', () => Buffer.from('{"a":"\xed\xa0\x80"}', 'latin1'), NOT_UTF8],
    ['UTF-16 with its mark', (format) => Buffer.from(`\ufeff${good(format)}`, 'utf16le'), NOT_UTF8],
    ['65 levels', (format) => written(format, `"ignored": ${nested(64)}`), DEEP],
    ['1,000 levels', (format) => written(format, `"metadata": ${nested(1_000)}`), DEEP],
    ['200,000 levels', () => nested(200_000), DEEP],
    ['2 MB of open brackets', () => '['.repeat(BODY_MAX), DEEP],
    ['2 MB of nested objects', () => '{"a":'.repeat(BODY_MAX / 5), DEEP],
    [
      '50,001 members',
      (f) => written(f, `"x": [${'{"a":0},'.repeat(25_001)}${pairs(12_501)}]`),
      MANY,
    ],
    [
      'members with numbers for names',
      (f) => written(f, `"x": [${'{"999":0},'.repeat(51)}0]`),
      MANY,
    ],
    ['25,000 different names', (f) => written(f, `"x": ${members(25_000)}`), VARIED],
  ];

  test.each(ROWS)('%s', async (_name, body, message) => {
    for (const format of EVERY_FORMAT) {
      const answer = await send(refused, PATHS[format], body(format));
      expectRefusal(answer, format, 'invalid_request', { message });
    }
  });

  type Served = readonly [name: string, body: (format: EveryFormat) => string];
  const SERVED: readonly Served[] = [
    ['a byte-order mark', (format) => `\ufeff${good(format)}`],
    ['64 levels', (format) => written(format, `"ignored": ${nested(63)}`)],
    ['white space around it', (format) => `\r\n\t ${good(format)} \n`],
    [
      'brackets and colons inside a text',
      (f) => good(f, { messages: [{ role: 'user', content: '{"[:'.repeat(30_000) }] }),
    ],
    ['2 MB of escapes', (f) => written(f, `"ignored": "${'\\u0041'.repeat(340_000)}"`)],
    ['2 MB of backslashes', (f) => written(f, `"ignored": "${'\\\\'.repeat(1_000_000)}"`)],
    ['1 MB of digits', (f) => written(f, `"ignored": ${'9'.repeat(1_000_000)}`)],
    [
      'fields of all kinds',
      (f) => written(f, '"store": [], "seed": "x", "logprobs": {}, "x": null'),
    ],
  ];
  test.each(SERVED)('%s is served', async (_name, body) => {
    for (const format of EVERY_FORMAT) {
      expect((await send(customer, PATHS[format], body(format))).status).toBe(200);
    }
  });
});

describe('names that mean something to JavaScript', () => {
  test('at the top they are unknown fields', async () => {
    const fields = [
      '"__proto__": {"model": 1, "stream": true}',
      '"constructor": {"prototype": {"x": 1}}',
      '"toString": 1, "hasOwnProperty": 1, "valueOf": null',
      '"prototype": {"__proto__": {"polluted": true}}',
    ];
    for (const format of EVERY_FORMAT) {
      const body = written(format, fields.join());
      expect((await send(customer, PATHS[format], body)).status).toBe(200);
    }
  });

  test('what is only inherited is not there', async () => {
    for (const format of EVERY_FORMAT) {
      const body = `{"__proto__": ${good(format)}}`;
      expectRefusal(await send(refused, PATHS[format], body), format, 'invalid_request', {
        param: 'model',
        message: 'model: is required',
      });
    }
  });

  test('inside a message and inside a schema they are data or nothing', async () => {
    const message = `{"role": "user", "content": "hi", "__proto__": {"role": "tool"}}`;
    const schema = `{"type": "object", "__proto__": {"x": 1}, "properties": {"constructor": {}}}`;
    const tools = {
      chat: `[{"type": "function", "function": {"name": "t", "parameters": ${schema}}}]`,
      messages: `[{"name": "t", "input_schema": ${schema}}]`,
      responses: `[{"type": "function", "name": "t", "parameters": ${schema}}]`,
    };
    for (const format of EVERY_FORMAT) {
      const body = written(format, `"messages": [${message}], "tools": ${tools[format]}`);
      expect((await send(customer, PATHS[format], body)).status).toBe(200);
      const sent = upstream.requests.at(-1)?.text ?? '';
      expect(sent).toContain('"constructor":{}');
      expect(sent).toContain('"role":"user"');
    }
  });
});

describe('the same field twice', () => {
  test('the last one is checked, billed and sent', async () => {
    for (const format of EVERY_FORMAT) {
      const fields = `"model": "no-such-model", "max_tokens": 900, "m\\u006fdel": "ok", "max_tokens": 7`;
      const body = `{"model": "${CANARY}", ${written(format, fields).slice(1)}`;
      expect((await send(customer, PATHS[format], body)).status).toBe(200);
      const sent = upstream.requests.at(-1);
      expect({ model: sent?.model, bound: sent?.body['max_tokens'] }).toEqual({
        model: 'ok',
        bound: 7,
      });
    }
  });

  test('a wrong last one is refused, a wrong first one is not', async () => {
    for (const format of EVERY_FORMAT) {
      const wrongLast = written(format, '"max_tokens": 1, "max_tokens": 0');
      expectRefusal(await send(refused, PATHS[format], wrongLast), format, 'invalid_request', {
        param: nameIn(format, 'max_tokens'),
        message: /^max_(output_)?tokens: must be a whole number/,
      });
      const wrongFirst = written(format, '"max_tokens": 0, "max_tokens": 1');
      expect((await send(customer, PATHS[format], wrongFirst)).status).toBe(200);
    }
  });
});

describe('odd values', () => {
  /** Numbers that JSON.stringify would not write, and values that a refusal must not repeat. */
  const ROWS: readonly (readonly [fields: string, param: string])[] = [
    ...['1e400', '-0', '9007199254740993', '1e-7', '9'.repeat(1_000)].map(
      (value) => [`"max_tokens": ${value}`, 'max_tokens'] as const,
    ),
    ['"temperature": 1e999', 'temperature'],
    [`"messages": {"${CANARY}": 1}`, 'messages'],
    [`"messages": [["${CANARY}"]]`, 'messages[0]'],
    [`"messages": [{"role": "${CANARY}", "content": "x"}]`, 'messages[0].role'],
    [`"messages": [${'{"role":"user","content":"x"},'.repeat(200)}{}]`, 'messages'],
    ['"Model": "ok", "model": {}', 'model'],
  ];

  test.each(EVERY_FORMAT)(
    'each is refused by its own field, without a word of it: %s',
    async (format) => {
      for (const [fields, named] of ROWS) {
        const param = nameIn(format, named);
        const answer = await send(refused, PATHS[format], written(format, fields));
        const error = answer.json['error'] as { readonly param?: string } | undefined;
        expect({ fields, param: error?.param }).toEqual({ fields, param });
        expectRefusal(answer, format, 'invalid_request', {
          param,
          message: new RegExp(`^${RegExp.escape(param)}: `),
        });
      }
    },
  );

  const SERVED: readonly string[] = [
    '"max_tokens": 1E1',
    '"max_tokens": 10.0',
    '"temperature": 1e-400',
    '"temperature": -0.0',
    '"temperature": null, "top_p": null, "stream": null, "tools": null',
    '"top_p": 1',
    `"max_tokens": 8192`,
  ];
  test.each(SERVED)('%s is served', async (fields) => {
    for (const format of EVERY_FORMAT) {
      const answer = await send(customer, PATHS[format], written(format, fields));
      expect({ format, status: answer.status }).toEqual({ format, status: 200 });
    }
  });

  test('control characters in names of models and users reach no header and no log line', async () => {
    for (const format of EVERY_FORMAT) {
      const body = good(format, { model: `ok\r\nx-evil: ${CANARY}` });
      const answer = await send(refused, PATHS[format], body);
      expectRefusal(answer, format, 'model_not_found', { param: 'model' });
      expect(answer.headers.get('x-evil')).toBeNull();
      const user = `a\r\n{"level":60}\u2028`;
      const fields = format === 'messages' ? { metadata: { user_id: user } } : { user };
      expect((await send(customer, PATHS[format], good(format, fields))).status).toBe(200);
    }
    expect(gateway.output()).not.toContain('{"level":60}');
  });

  test('control characters and halves of surrogate pairs in a text are sent on well-formed', async () => {
    for (const format of EVERY_FORMAT) {
      const text = '\\ud800 a \\udc00 b \\ud83d\\ude00 c \\u0000 \\u2028';
      const body = written(format, `"messages": [{"role": "user", "content": "${text}"}]`);
      expect((await send(customer, PATHS[format], body)).status).toBe(200);
      const sent = upstream.requests.at(-1)?.body['messages'];
      expect(JSON.stringify(sent)).toContain(
        JSON.stringify('\ufffd a \ufffd b 😀 c \0 \u2028').slice(1, -1),
      );
    }
  });

  test('names of models that look like paths or like others are unknown', async () => {
    const names = [
      '../ok',
      'ok/',
      ' ok',
      'OK',
      'ok\u200b',
      '\u043ek',
      'x'.repeat(10_000),
      '\ud800',
    ];
    for (const format of EVERY_FORMAT) {
      for (const model of names) {
        const answer = await send(refused, PATHS[format], good(format, { model }));
        expectRefusal(answer, format, 'model_not_found', { param: 'model' });
      }
    }
  });
});

describe('header forms of the key', () => {
  type Row = readonly [lines: (key: string) => readonly string[], code: ErrorCode | 200];
  const bearer = (value: string) => `authorization: Bearer ${value}`;
  const ROWS: readonly Row[] = [
    [() => [], 'missing_api_key'],
    [() => ['authorization: Bearer'], 'missing_api_key'],
    [() => ['authorization:'], 'missing_api_key'],
    [() => ['x-api-key:   '], 'missing_api_key'],
    [() => [bearer(CANARY)], 'invalid_api_key'],
    [() => [`x-api-key: ${CANARY}`], 'invalid_api_key'],
    [(key) => [bearer(key.slice(0, 20))], 'invalid_api_key'],
    [(key) => [bearer(key.slice(0, -1))], 'invalid_api_key'],
    [(key) => [bearer(`${key}a`)], 'invalid_api_key'],
    [(key) => [bearer(`${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`)], 'invalid_api_key'],
    [(key) => [bearer(key.toUpperCase())], 'invalid_api_key'],
    [() => [bearer("sk-' OR 1=1; DROP TABLE accounts; --")], 'invalid_api_key'],
    [() => [bearer(`sk-${'%27'.repeat(16)}`)], 'invalid_api_key'],
    [() => [bearer(`sk-${'x'.repeat(10_000)}`)], 'invalid_api_key'],
    [(key) => [`authorization: Basic ${btoa(`${key}:`)}`], 'invalid_api_key'],
    [(key) => [`authorization: Token ${key}`], 'invalid_api_key'],
    [(key) => [`authorization: ${key}`], 'invalid_api_key'],
    [(key) => [bearer(`${key}, ${key}`)], 'invalid_api_key'],
    [(key) => [bearer(key), bearer(key)], 'invalid_api_key'],
    [(key) => [`x-api-key: ${key}`, `x-api-key: ${key}`], 'invalid_api_key'],
    [(key) => [bearer(key), `x-api-key: ${CANARY}`], 'invalid_api_key'],
    [(key) => [bearer(CANARY), `x-api-key: ${key}`], 'invalid_api_key'],
    [(key) => [bearer(key), `x-api-key: ${refused.key}`], 'invalid_api_key'],
    [(key) => [bearer(`"${key}"`)], 'invalid_api_key'],
    [(key) => [bearer(key)], 200],
    [(key) => [`x-api-key: ${key}`], 200],
    [(key) => [`AUTHORIZATION: bearer   ${key}   `], 200],
    [(key) => [bearer(key), `x-api-key: ${key}`], 200],
    [(key) => ['authorization: Bearer ', `x-api-key: ${key}`], 200],
  ];

  test('cases 7 and 8: each has its answer on every path', async () => {
    for (const [lines, expected] of ROWS) {
      for (const path of [...Object.values(PATHS), `${MESSAGES}/count_tokens`]) {
        const format = EVERY_FORMAT.find((each) => PATHS[each] === path) ?? 'messages';
        const body = good(format);
        const head = [
          `POST ${path}?api_key=${customer.key} HTTP/1.1`,
          'host: gateway.test',
          ...lines(customer.key),
          `content-length: ${Buffer.byteLength(body)}`,
        ];
        using connection = await openConnection(gateway.url);
        await connection.write(`${head.join('\r\n')}\r\n\r\n${body}`);
        const answer = toJson(await connection.answer());
        if (expected === 200)
          expect({ head, status: answer.status }).toEqual({ head, status: 200 });
        else expectRefusal(answer, format, expected);
      }
    }
  });

  test('headers and fields that try to choose the upstream or our own headers change nothing', async () => {
    const headers = {
      'x-portkey-custom-host': 'http://127.0.0.1:9',
      'x-base-url': 'http://127.0.0.1:9',
      'x-request-id': 'req_mine',
      'x-svc-model': 'mine',
      'x-svc-balance': '1',
      'x-ratelimit-limit-requests': '1',
    };
    for (const format of EVERY_FORMAT) {
      const fields = { base_url: 'http://127.0.0.1:9', api_key: 'mine', api_base: 'http://x' };
      const answer = await send(customer, PATHS[format], good(format, fields), headers);
      expect(answer.status).toBe(200);
      const sent = upstream.requests.at(-1);
      expect(sent?.headers['authorization']).toBe(`Bearer ${UPSTREAM_KEY}`);
      expect(JSON.stringify(sent?.headers)).not.toMatch(/portkey|req_mine|base-url/);
      expect(sent?.text).not.toMatch(/base_url|api_key|api_base/);
      expect(answer.headers.get('x-request-id')).toMatch(/^req_(?!mine)/);
      expect(answer.headers.get('x-svc-model')).toBe('ok');
      expect(answer.headers.get('x-svc-balance')).not.toBe('1');
      expect(answer.headers.get('x-ratelimit-limit-requests')).toBe('100000');
    }
  });
});

test('nothing of all this is in the log, in the database or beside it', async () => {
  const database = new Database(gateway.databasePath, { readonly: true });
  const ofRefused = (table: string) =>
    database.query(`SELECT * FROM ${table} WHERE account_id = ?`).all(refused.id);
  expect(ofRefused('usage_records')).toEqual([]);
  expect(ofRefused('holds')).toEqual([]);
  database.close();

  expect(gateway.output()).not.toContain(CANARY);
  expect(gateway.output()).not.toContain(customer.key);
  expect(gateway.output()).not.toContain('internal error');
  const data = join(gateway.directory, 'data');
  const files = readdirSync(data);
  expect(files).toContain('tollgate.db');
  for (const file of files) {
    expect(readFileSync(join(data, file)).includes(CANARY)).toBe(false);
    expect(readFileSync(join(data, file)).includes(customer.key)).toBe(false);
  }
});
