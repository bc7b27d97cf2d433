// Which images reach an upstream: data of four types, and addresses outside of private networks where
// the upstream may fetch them.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { catalogFor, IMAGE_ADDRESSES } from '../support/catalog.ts';
import { EVERY_FORMAT, type EveryFormat, generate, type JsonAnswer } from '../support/client.ts';
import { type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

let upstream: Upstream;
let gateways: readonly Gateway[];
/** Of a gateway whose profiles pass on addresses, and of one without such profiles. */
let account: TestAccount;
let plain: TestAccount;

beforeAll(async () => {
  upstream = await startUpstream();
  const catalog = catalogFor(upstream, ['ok']);
  const started = await Promise.all([
    startGateway({ catalog: `${catalog}${IMAGE_ADDRESSES}` }),
    startGateway({ catalog }),
  ]);
  gateways = started;
  [account, plain] = await Promise.all([
    started[0].createAccount(PLAN),
    started[1].createAccount(PLAN),
  ]);
});

afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway[Symbol.asyncDispose]()));
  await upstream.close();
});

const PLAN = { plan: 'business' };
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk';

function imageOf(format: EveryFormat, url: string): object {
  if (format === 'chat') return { type: 'image_url', image_url: { url } };
  if (format === 'responses') return { type: 'input_image', image_url: url };
  const data = /^data:([^;,]*)(?:;base64)?,(.*)$/.exec(url);
  if (data === null) return { type: 'image', source: { type: 'url', url } };
  const base64 = data[2]?.replace(/[^A-Za-z0-9+/=]/g, 'A');
  return { type: 'image', source: { type: 'base64', media_type: data[1], data: base64 } };
}

/** The second part of the last turn is the image. */
function ask(from: TestAccount, format: EveryFormat, url: string): Promise<JsonAnswer> {
  const text = { type: format === 'responses' ? 'input_text' : 'text', text: 'What is it?' };
  const messages = [{ role: 'user', content: [text, imageOf(format, url)] }];
  return generate(from, format, 'ok', { messages });
}

const messageOf = ({ json }: JsonAnswer): string =>
  (json['error'] as { readonly message: string }).message;

/** What refusals name: the prompt, and in it the address and the type of an image. */
const FIELDS = {
  chat: ['messages', 'image_url.url', 'image_url.url'],
  messages: ['messages', 'source.url', 'source.media_type'],
  responses: ['input', 'image_url', 'image_url'],
} as const;

describe.each(EVERY_FORMAT)('%s', (format) => {
  const [prompt, field, type] = FIELDS[format];

  test.each([
    'data:application/pdf;base64,JVBERi0xLjc=',
    'data:text/html;base64,PGh0bWw+',
    'data:image/svg+xml;base64,PHN2Zz4=',
    'data:application/octet-stream;base64,AAAA',
    'data:image/tiff;base64,SUkqAA==',
  ])('refuses %s before any upstream', async (url) => {
    const before = upstream.requests.length;
    const answer = await ask(account, format, url);
    expect(answer.status).toBe(400);
    expect(messageOf(answer)).toStartWith(`${prompt}[0].content[1].${type}: must be `);
    expect(upstream.requests.length).toBe(before);
  });

  test.each([
    'http://127.0.0.1/a.png',
    'http://127.1/a.png',
    'http://2130706433/a.png',
    'http://0x7f.0.0.1/a.png',
    'http://169.254.169.254/latest/meta-data',
    'https://10.0.0.8:8000/a.png',
    'http://172.31.255.1/a.png',
    'http://192.168.0.1/a.png',
    'http://100.64.0.1/a.png',
    'http://0.0.0.0/a.png',
    'http://[::1]/a.png',
    'http://[::ffff:10.0.0.1]/a.png',
    'http://[::ffff:0:10.0.0.1]/a.png',
    'http://[64:ff9b::a00:1]/a.png',
    'http://[2002:a00:1::]/a.png',
    'http://[2001:0:1::1]/a.png',
    'http://[fd00::1]/a.png',
    'http://[fe80::1]/a.png',
    'http://[::]/a.png',
    'http://localhost/a.png',
    'http://LOCALHOST.:8080/a.png',
    'http://metadata.google.internal/a.png',
    'http://intranet/a.png',
  ])('refuses %s before any upstream, with its field', async (url) => {
    const before = upstream.requests.length;
    const answer = await ask(account, format, url);
    expect(answer.status).toBe(400);
    expect(messageOf(answer)).toStartWith(
      `${prompt}[0].content[1].${field}: must not lead to a private network`,
    );
    expect(upstream.requests.length).toBe(before);
  });

  test.each(['http://a.example\\\\@127.0.0.1/a.png', 'http://user@a.example/a.png'])(
    'refuses %s, which parsers read in different ways',
    async (url) => {
      expect((await ask(account, format, url)).status).toBe(400);
    },
  );

  test.each([
    `data:image/png;base64,${PNG}`,
    'https://93.184.215.14/a.png',
    'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/a.png',
    // A name that does not resolve here.
    'https://images.example/a.png',
  ])('passes on %s', async (url) => {
    expect((await ask(account, format, url)).status).toBe(200);
    const [, payload = url] = url.split('base64,');
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain(payload);
  });

  test('passes on no address to an upstream at a private address without a profile for it', async () => {
    const before = upstream.requests.length;
    const answer = await ask(plain, format, 'https://93.184.215.14/a.png');
    expect(answer.status).toBe(400);
    expect(upstream.requests.length).toBe(before);
    expect((await ask(plain, format, `data:image/png;base64,${PNG}`)).status).toBe(200);
  });

  test('refuses addresses of more than 16 hosts', async () => {
    const content = Array.from({ length: 17 }, (_, at) =>
      imageOf(format, `https://a${at}.example/a.png`),
    );
    const answer = await generate(account, format, 'ok', { messages: [{ role: 'user', content }] });
    expect(answer.status).toBe(400);
    expect(messageOf(answer)).toContain('more than 16 hosts');
  });
});
