// The size of a prompt, from outside: every character counts, count_tokens and the hold agree, and
// no account has more counted in a minute than its plan allows.

import { beforeAll, describe, expect, test } from 'bun:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { EVERY_FORMAT, generate, get, PATHS, post, requestBody } from '../support/client.ts';
import { explain } from '../support/explain.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const COUNT = `${PATHS.messages}/count_tokens`;

let upstream: Upstream;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    catalog: catalogFor(upstream, ['ok', 'mini', 'usage-300-0-0'], {
      model: { context_window: 10_000_000 },
      models: {
        mini: { image_factor: 33.4, served_by: [{ upstream: 'scripted', model: 'ok' }] },
      },
      plans: { large: LARGE_PLAN, slow: { ...LARGE_PLAN, tokens_per_minute: 10_000 } },
    }),
  });
});

closeAtEnd(() => [upstream, gateway]);

const prompt = (text: string) => ({ messages: [{ role: 'user', content: text }] });

async function counted(account: TestAccount, text: string): Promise<number> {
  const response = await post(account, COUNT, requestBody('messages', 'ok', prompt(text)));
  const body = (await response.json()) as { input_tokens: number };
  return body.input_tokens;
}

/**
 * The words of `text`, with blanks of 512 characters between them wherever 128 samples would look.
 */
function hiddenFrom128Samples(text: string, length: number): string {
  const stride = length / 128;
  let hidden = '';
  for (let sample = 0; sample < 128; sample += 1) {
    hidden += ' '.repeat(512);
    const room = Math.floor((sample + 1) * stride) - hidden.length;
    const from = (sample * stride) % 5;
    hidden += text.repeat(Math.ceil(room / text.length) + 1).slice(from, from + room);
  }
  return hidden;
}

const TEXTS: readonly (readonly [string, string])[] = [
  [
    'text between 128 places full of blanks',
    hiddenFrom128Samples('all the rest is here ', 400_000),
  ],
  ['text in the first tenth', 'dense words '.repeat(4_000) + ' '.repeat(430_000)],
  ['text in the last tenth', ' '.repeat(430_000) + 'dense words '.repeat(4_000)],
  ['two runs of blanks', `${' '.repeat(400_000)}x${' '.repeat(400_000)}`],
];

/** Runs of blanks in one piece take the published tokenizer minutes; 10,000 of them are 79 tokens. */
const real = (text: string): number =>
  countTokens(text.replaceAll(/ {10000}/g, ''), { disallowedSpecial: new Set() });

describe('every character is counted', () => {
  test.each(TEXTS)(
    '%s',
    async (_name, text) => {
      const account = await gateway.createAccount({ plan: 'large', credit: 10_000_000 });
      const tokens = await counted(account, text);
      expect(tokens).toBeGreaterThanOrEqual(0.95 * real(text));
      const body = requestBody('responses', 'ok', prompt(text));
      const same = await post(account, '/v1/responses/input_tokens', body);
      expect(await same.json()).toEqual({ object: 'response.input_tokens', input_tokens: tokens });
      for (const format of EVERY_FORMAT) {
        const answer = await generate(account, format, 'ok', prompt(text));
        expect(answer.status).toBe(200);
        const story = await explain(gateway, answer.headers.get('x-request-id'));
        expect(story.hold['estimated_prompt_tokens']).toBe(tokens);
      }
    },
    30_000,
  );
});

describe('what an account may have counted in a minute', () => {
  test('is eight characters for each token of its plan; then all formats and counts get 429', async () => {
    const account = await gateway.createAccount({ plan: 'slow' });
    const other = await gateway.createAccount({ plan: 'slow' });
    const text = 'a long history '.repeat(10_000);
    const tokens = await counted(account, text);
    const asked = upstream.requests.length;
    const asks = [
      ...EVERY_FORMAT.map((format) => [PATHS[format], format] as const),
      ...[[COUNT, 'messages'] as const, ['/v1/responses/input_tokens', 'responses'] as const],
    ];
    for (const [path, format] of asks) {
      const response = await post(account, path, requestBody(format, 'ok', prompt('new text')));
      expect([path, response.status]).toEqual([path, 429]);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(await response.json()).toMatchObject({
        error: { code: 'rate_limit_exceeded', type: 'rate_limit_error' },
      });
    }
    expect(upstream.requests).toHaveLength(asked);
    // The bodies of the three were read, so they have used up three requests of the minute.
    const { json } = await get(account, '/v1/account');
    expect(json['usage']).toMatchObject({ requests_this_minute: { used: 3 } });
    // What was counted before is not counted again.
    expect(await counted(account, text)).toBe(tokens);
    expect(await counted(other, 'new text')).toBeGreaterThan(0);
  });
});

describe('tool calls whose thinking is missing', () => {
  /** Turns of eight calls. */
  const calls = (name: string, turns: number) => ({
    tools: [{ name: 'find', input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: 'Look it up.' },
      ...Array.from({ length: turns }, (_, turn) => {
        const ids = Array.from({ length: 8 }, (_call, index) => `${name}_${turn}_${index}`);
        const use = ids.map((id) => ({ type: 'tool_use', id, name: 'find', input: {} }));
        const results = ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'x' }));
        return [
          { role: 'assistant', content: use },
          { role: 'user', content: results },
        ];
      }).flat(),
    ],
  });

  test('are counted as often as the tokens of the plan allow, also without a balance', async () => {
    const account = await gateway.createAccount({ plan: 'slow', credit: '0.5' });
    const large = await gateway.createAccount({ plan: 'large', credit: '0.5' });
    const count = (of: TestAccount, asked: Readonly<Record<string, unknown>>) =>
      post(of, COUNT, requestBody('messages', 'ok', asked));
    // A request may exceed what is left: 250, by 10,000 tokens a minute.
    expect((await count(account, calls('a', 40))).status).toBe(200);
    const refused = await count(account, calls('b', 1));
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({
      error: { message: expect.stringContaining('more than 250 tool calls in a minute') },
    });
    expect((await count(account, prompt('without tools'))).status).toBe(200);
    for (const name of ['a', 'b']) {
      expect((await count(large, calls(name, 40))).status).toBe(200);
    }
  });
});

describe('an account without a balance', () => {
  test('is refused before its prompt is counted, in every format', async () => {
    const account = await gateway.createAccount({ plan: 'slow', credit: '0.5' });
    // Counted, each of these would use up what the account may have counted in many minutes.
    for (const format of EVERY_FORMAT) {
      const answer = await generate(
        account,
        format,
        'ok',
        prompt(`${format} ${'text '.repeat(99_999)}`),
      );
      expect([format, answer.status]).toEqual([format, 402]);
      expect(answer.json['error']).toMatchObject({
        code: 'insufficient_balance',
        message:
          'The available balance is 0.5 service tokens, and this request has to reserve at least 1. Top up the account.',
      });
    }
    // Nothing was counted: there is room for this.
    expect(await counted(account, 'a short question')).toBeGreaterThan(0);
    await gateway.run('account', 'credit', account.id, '1000000');
    expect((await generate(account, 'chat', 'ok')).status).toBe(200);
  });

  test('is refused as soon as its last request has taken all of it', async () => {
    const account = await gateway.createAccount({ plan: 'slow', credit: 300 });
    const spent = { max_tokens: 5, ...prompt('word '.repeat(250)) };
    expect((await generate(account, 'chat', 'usage-300-0-0', spent)).status).toBe(200);
    for (let time = 0; time < 3; time += 1) {
      const answer = await generate(
        account,
        'chat',
        'ok',
        prompt(`${time} ${'text '.repeat(99_999)}`),
      );
      expect(answer.status).toBe(402);
    }
    expect(await counted(account, 'a short question')).toBeGreaterThan(0);
  });
});

/** Of a request with one message. */
const FRAME_TOKENS = 7;

describe('images', () => {
  /** A PNG's header: nothing more is read of it here. */
  const png = (width: number, height: number): string => {
    const header = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
    const size = Buffer.alloc(13);
    size.writeUInt32BE(width, 0);
    size.writeUInt32BE(height, 4);
    return Buffer.concat([header, size]).toString('base64');
  };
  const image = (source: Readonly<Record<string, string>>) => ({
    messages: [{ role: 'user', content: [{ type: 'image', source }] }],
  });
  const data = (base64: string) => image({ type: 'base64', media_type: 'image/png', data: base64 });

  test('cost what their size costs at the upstream, in count_tokens and in the hold', async () => {
    const account = await gateway.createAccount({ plan: 'large', credit: 10_000_000 });
    const cost = async (model: string, body: Readonly<Record<string, unknown>>) => {
      const response = await post(account, COUNT, requestBody('messages', model, body));
      const { input_tokens: tokens } = (await response.json()) as { input_tokens: number };
      const answer = await generate(account, 'messages', model, body);
      const story = await explain(gateway, answer.headers.get('x-request-id'));
      expect(story.hold['estimated_prompt_tokens']).toBe(tokens);
      return tokens - FRAME_TOKENS;
    };
    const address = image({ type: 'url', url: 'https://images.example/large.png' });
    expect(await cost('ok', data(png(500, 400)))).toBe(255);
    expect(await cost('ok', data(png(1_024, 1_024)))).toBe(765);
    expect(await cost('ok', address)).toBe(1_445);
    expect(await cost('mini', data(png(1_024, 1_024)))).toBe(Math.ceil(765 * 33.4));
    expect(await cost('mini', address)).toBe(Math.ceil(1_445 * 33.4));
  });
});
