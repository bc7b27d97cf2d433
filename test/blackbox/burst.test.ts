// A hundred parallel requests of one account whose upstream reports far more than was reserved:
// together they cost the operator no more than one of them, and so do later ones.

import type { Database } from 'bun:sqlite';
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { play } from '../support/behaviours.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { FORMATS, generate } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway } from '../support/gateway.ts';
import { readBooks } from '../support/readable-books.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

setDefaultTimeout(60_000);

/** 8,000 words, about as many tokens; the upstream says that they were 16 times as many. */
const PROMPT = 'word '.repeat(8_000);
const REPORTED = 127_900;

let upstream: Upstream;
let gateway: Gateway;
let books: Database;

beforeAll(async () => {
  upstream = await startUpstream({
    dear: play({
      pieces: [{ text: 'yes' }],
      finish: 'stop',
      usage: { prompt: REPORTED, cached: 0, completion: 1 },
    }),
    fair: play({
      pieces: [{ text: 'yes' }],
      finish: 'stop',
      usage: { prompt: 8_000, cached: 0, completion: 1 },
    }),
  });
  gateway = await startGateway({
    catalog: catalogFor(upstream, ['dear', 'fair'], { plans: { burst: LARGE_PLAN } }),
  });
  books = readBooks(gateway.databasePath);
});

closeAtEnd(() => [upstream, gateway, books]);

const asked = { max_tokens: 50, messages: [{ role: 'user', content: PROMPT }] };

/** In service tokens. */
function lostBy(accountId: string): number {
  const row = books
    .query('select coalesce(sum(loss), 0) as lost from usage_records where account_id = ?')
    .get(accountId) as { readonly lost: number };
  return row.lost / 1e6;
}

describe.each(FORMATS)('%s', (format) => {
  test('a hundred at once lose no more than one, with a balance that covers all of them', async () => {
    const account = await gateway.createAccount({ plan: 'burst', credit: 815_000 });
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => generate(account, format, 'dear', asked)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.every((status) => [200, 402, 429].includes(status))).toBe(true);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(6);
    expect(lostBy(account.id)).toBeLessThanOrEqual(REPORTED + 100);
    for (const { status, headers } of answers) {
      if (status === 429) expect(headers.get('retry-after')).toBe('2');
    }
    // And none after them, regardless of what is left.
    await generate(account, format, 'dear', asked);
    expect(lostBy(account.id)).toBeLessThanOrEqual(REPORTED + 100);
  });

  test('a balance above the worst cases lets in all of them', async () => {
    const account = await gateway.createAccount({ plan: 'burst', credit: 4_000_000 });
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => generate(account, format, 'fair', asked)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(lostBy(account.id)).toBe(0);
  });

  test('after a loss, requests need a balance that covers their worst case', async () => {
    const account = await gateway.createAccount({ plan: 'burst', credit: 16_000 });
    // So long that all of the report is within what a prompt of this model may be.
    const long = { ...asked, messages: [{ role: 'user', content: 'word '.repeat(15_500) }] };
    expect((await generate(account, format, 'dear', long)).status).toBe(200);
    expect(lostBy(account.id)).toBeGreaterThan(110_000);
    await gateway.run('account', 'credit', account.id, '10000');
    const refused = await generate(account, format, 'dear', asked);
    expect(refused.status).toBe(402);
    const { error } = refused.json as { error: { code: string; message: string } };
    expect(error.code).toBe('insufficient_balance');
    expect(error.message).toContain('Earlier charges exceeded the balance');
    // As much as was lost, all credits together, and the account is as any other.
    await gateway.run('account', 'credit', account.id, '110000');
    expect((await generate(account, format, 'fair', asked)).status).toBe(200);
  });
});
