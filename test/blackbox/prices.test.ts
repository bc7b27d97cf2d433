// What a running gateway charges when a model's price has changed or depends on the hour.

import { beforeAll, expect, test } from 'bun:test';
import { catalogFor } from '../support/catalog.ts';
import { generate } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const HOUR = 3_600_000;

let upstream: Upstream;
let gateway: Gateway;
let account: TestAccount;

const served_by = [{ upstream: 'scripted', model: 'ok' }];
const price = { input: '100', output: '100' };
const always = { from: '00:00', to: '24:00' };
const later = (ms: number): string => new Date(Date.now() + ms).toISOString();

beforeAll(async () => {
  upstream = await startUpstream();
  const slugs = ['dated', 'by-the-hour', 'status-503'];
  const catalog = catalogFor(upstream, slugs, {
    models: {
      dated: {
        ...{ served_by, price },
        prices: [
          { valid_from: '2020-01-01T00:00:00Z', input: '2', cached_input: '1', output: '3' },
          { valid_from: later(1_000 * HOUR), ...price },
        ],
      },
      'by-the-hour': {
        served_by,
        price: { ...price, windows: [{ ...always, input: '0.5', output: '1' }] },
      },
      'status-503': { price, fallbacks: ['dated'] },
    },
  });
  gateway = await startGateway({ catalog });
  account = await gateway.createAccount();
});

closeAtEnd(() => [upstream, gateway]);

/** The standard answer has 10 prompt tokens, 4 of them cached, and 5 of output. */
test.each([
  ['dated', '31'],
  ['by-the-hour', '10'],
  ['status-503', '31'],
] as const)('%s costs %s', async (model, debited) => {
  for (const format of ['chat', 'messages'] as const) {
    const { headers } = await generate(account, format, model);
    expect(headers.get('x-svc-tokens-debited')).toBe(debited);
  }
});
