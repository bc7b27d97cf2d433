// Traffic between gateway and upstream beside the answer, through either HTTP client: headers,
// bytes without a request, unrequested compression, and images by URL.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Behaviour, HELLO, play, sendWhole } from '../../support/behaviours.ts';
import { catalogOf, UPSTREAM_KEY } from '../../support/catalog.ts';
import { EVERY_FORMAT, generate, type JsonAnswer } from '../../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../../support/gateway.ts';
import { USAGE, wholeBody } from '../../support/render.ts';
import { type Exchange, startUpstream, type Upstream } from '../../support/upstream.ts';

setDefaultTimeout(60_000);

const TRANSPORTS = ['sockets', 'fetch'] as const;

const says = (text: string) => ({ pieces: [{ text }], finish: 'stop', usage: USAGE }) as const;

function whole({ request: { dialect, model } }: Exchange, text = HELLO): string {
  return wholeBody(dialect, model, says(text));
}

/** A whole HTTP answer. */
function answer(body: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

const STOLEN = 'This is the answer to another customer.';

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  'with-headers': (exchange) =>
    sendWhole(exchange, 200, whole(exchange), 'application/json', {
      server: 'leaked',
      'set-cookie': 'session=leaked',
      'x-request-id': 'leaked',
      'x-svc-balance': 'leaked',
      'x-svc-tokens-debited': 'leaked',
      'x-ratelimit-remaining-requests': 'leaked',
      'cf-ray': 'leaked',
    }),
  /** The next request on this connection must not get the second one. */
  'answers-twice': (exchange) => {
    exchange.raw(answer(whole(exchange)) + answer(whole(exchange, STOLEN)));
    exchange.end();
  },
  /** The same a moment later, when the connection is idle. */
  'answers-late': async (exchange) => {
    exchange.raw(answer(whole(exchange)));
    await exchange.sleep(20);
    exchange.raw(answer(whole(exchange, STOLEN)));
    exchange.end();
  },
  /** A megabyte of compressed zeros for each kilobyte. */
  bomb: (exchange) => {
    const zeros = Bun.gzipSync(new Uint8Array(100_000_000));
    exchange.head(200, {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'content-length': String(zeros.length),
    });
    exchange.write(zeros);
    exchange.end();
  },
  'cut-once': (exchange) =>
    exchange.request.earlier === 0 ? exchange.reset() : play(says(HELLO))(exchange),
  'fails-twice': (exchange) =>
    exchange.request.earlier < 2 ? sendWhole(exchange, 500, '{}') : play(says(HELLO))(exchange),
  'busy-once': (exchange) =>
    exchange.request.earlier < 1
      ? sendWhole(exchange, 429, '{}', 'application/json', { 'retry-after': '1' })
      : play(says(HELLO))(exchange),
};

let upstream: Upstream;
let gateway: Gateway;
let customer: TestAccount;

beforeAll(async () => {
  upstream = await startUpstream(BEHAVIOURS);
  gateway = await startGateway({
    catalog: catalogOf({
      upstreams: TRANSPORTS.map((transport) => ({
        id: transport,
        dialect: 'chat',
        base_url: upstream.site(transport).baseUrl,
        api_key: UPSTREAM_KEY,
        transport,
      })),
      models: TRANSPORTS.flatMap((transport) =>
        [...Object.keys(BEHAVIOURS), 'ok'].map((model) => ({
          slug: `${model}-${transport}`,
          served_by: [{ upstream: transport, model }],
        })),
      ),
    }),
  });
  customer = await gateway.createAccount({ plan: 'business', credit: 10_000_000 });
});

closeAtEnd(() => [upstream, gateway]);

function textOf({ json }: JsonAnswer): unknown {
  const [choice] = (json['choices'] ?? []) as {
    readonly message?: { readonly content?: unknown };
  }[];
  return choice?.message?.content;
}

describe.each(TRANSPORTS)('by %s', (transport) => {
  const asked = (name: string) =>
    upstream.asked(transport).filter(({ model }) => model === name).length;

  test('the headers of an answer are our own', async () => {
    const [plain, dressed] = await Promise.all([
      generate(customer, 'chat', `ok-${transport}`),
      generate(customer, 'chat', `with-headers-${transport}`),
    ]);
    const names = [...dressed.headers.keys()];
    expect(names).toEqual([...plain.headers.keys()]);
    expect(JSON.stringify([...dressed.headers])).not.toContain('leaked');
  });

  test('a request has our headers, and the key in one of them alone', async () => {
    await generate(customer, 'chat', `ok-${transport}`, { user: 'an end user' });
    const last = upstream.asked(transport).findLast(({ model }) => model === 'ok');
    if (last === undefined) throw new Error('the upstream was not asked');
    const { headers, path, text } = last;
    const withKey = Object.entries(headers).filter(([, value]) => value.includes(UPSTREAM_KEY));
    expect(withKey).toEqual([['authorization', `Bearer ${UPSTREAM_KEY}`]]);
    expect([path, text].join('\n')).not.toContain(UPSTREAM_KEY);
    expect(text).not.toContain('an end user');
    const known =
      /^(host|connection|authorization|content-type|content-length|accept|accept-encoding|user-agent)$/;
    expect(Object.keys(headers).filter((name) => !known.test(name))).toEqual([]);
    expect(headers['accept-encoding'] ?? 'identity').toBe('identity');
  });

  test.each(['answers-twice', 'answers-late'])(
    'an unrequested response is delivered to no request: %s',
    async (name) => {
      for (let round = 0; round < 10; round += 1) {
        const slug = round % 2 === 0 ? `${name}-${transport}` : `ok-${transport}`;
        const given = await generate(customer, 'chat', slug);
        expect([given.status, textOf(given)]).toEqual([200, HELLO]);
        // Before the next question: behind it, they could not be distinguished from its answer.
        await Bun.sleep(40);
      }
    },
  );

  test('compression that was not requested is not unpacked without end', async () => {
    const { status } = await generate(customer, 'chat', `bomb-${transport}`);
    expect(status).toBe(503);
  });

  test.each([
    ['cut-once', 2],
    ['fails-twice', 3],
    ['busy-once', 2],
  ])('what passes by itself is waited for: %s', async (name, questions) => {
    const answer = await generate(customer, 'chat', `${name}-${transport}`);
    expect([answer.status, textOf(answer), asked(name)]).toEqual([200, HELLO, questions]);
  });

  test.each(EVERY_FORMAT)(
    'pictures at an address are never fetched, and refused at a private one, %s',
    async (format) => {
      let fetched = 0;
      using pictures = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        fetch() {
          fetched += 1;
          return new Response();
        },
      });
      const url = `http://127.0.0.1:${pictures.port}/picture.png`;
      const part = {
        chat: { type: 'image_url', image_url: { url } },
        messages: { type: 'image', source: { type: 'url', url } },
        responses: { type: 'input_image', image_url: url },
      }[format];
      const messages = [{ role: 'user', content: [part] }];
      const { status } = await generate(customer, format, `ok-${transport}`, { messages });
      expect([status, fetched]).toEqual([400, 0]);
      expect(upstream.asked(transport).some(({ text }) => text.includes('picture.png'))).toBe(
        false,
      );
    },
  );
});
