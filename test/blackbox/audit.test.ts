// The server audits its own ledger: it stops an account whose figures differ, and serves it again
// once they match. Other accounts do not notice, and the server stays ready.

import { Database } from 'bun:sqlite';
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { catalogFor } from '../support/catalog.ts';
import { FORMATS, generate, openStream } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(30_000);

let upstream: Upstream;
let gateway: Gateway;
let ada: TestAccount;
let bob: TestAccount;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    catalog: catalogFor(upstream, ['ok', 'slow-tokens-20-100']),
    environment: { AUDIT_SECONDS: '0.2', LOG_LEVEL: 'info' },
  });
  ada = await gateway.createAccount();
  bob = await gateway.createAccount();
});

closeAtEnd(() => [upstream, gateway]);

/** Changes the books behind the server's back. */
function tamper(statement: string, accountId: string): void {
  const database = new Database(gateway.databasePath);
  database.run('PRAGMA busy_timeout = 5000');
  database.run(statement, [accountId]);
  database.close();
}

async function ready(): Promise<{ status: number; warnings: string[] }> {
  const response = await fetch(`${gateway.url}/readyz`);
  const { warnings } = (await response.json()) as { warnings: string[] };
  return { status: response.status, warnings };
}

async function warned(count: number): Promise<string[]> {
  let warnings: string[] = [];
  await waitUntil(async () => {
    ({ warnings } = await ready());
    return warnings.length === count;
  });
  return warnings;
}

test('an account with a wrong balance is stopped until it is right, and no other account', async () => {
  expect((await generate(ada, 'chat', 'ok')).status).toBe(200);
  expect(await ready()).toEqual({ status: 200, warnings: [] });
  // It ends while the account is stopped, and settles: what is posted stays the sum of the entries.
  const running = await openStream(ada, 'chat', 'slow-tokens-20-100');

  tamper('UPDATE balances SET held = held + 1 WHERE account_id = ?', ada.id);
  expect(await warned(1)).toEqual(['the audit found 1 × held']);
  expect((await ready()).status).toBe(200);
  for (const format of FORMATS) {
    const refused = await generate(ada, format, 'ok');
    expect(refused.status).toBe(503);
    expect(refused.json).toMatchObject({
      error: {
        code: 'provider_unavailable',
        message: expect.stringContaining('The balance of this account is being checked'),
      },
    });
    expect((await generate(bob, format, 'ok')).status).toBe(200);
  }
  await waitUntil(() => gateway.output().includes(`audit: held of ${ada.id}`));
  // What was in progress when the difference came is answered to its end.
  expect(await running.text()).toContain('[DONE]');

  tamper('UPDATE balances SET held = held - 1 WHERE account_id = ?', ada.id);
  expect(await warned(0)).toEqual([]);
  for (const format of FORMATS) expect((await generate(ada, format, 'ok')).status).toBe(200);
  await waitUntil(() => gateway.output().includes(`audit: ${ada.id} is clean again and served`));
});

test('reports a wrong sum for the balance and for the receipts', async () => {
  tamper('UPDATE balances SET posted = posted + 1 WHERE account_id = ?', ada.id);
  expect(await warned(2)).toEqual(['the audit found 1 × chain', 'the audit found 1 × posted']);
  expect((await generate(ada, 'chat', 'ok')).status).toBe(503);
  tamper('UPDATE balances SET posted = posted - 1 WHERE account_id = ?', ada.id);
  expect(await warned(0)).toEqual([]);
});

test('a difference without an account warns and stops no account', async () => {
  tamper(
    `INSERT INTO movements (transfer_id, account, kind, amount, at, reason, sequence, posted, reserved, hash)
      VALUES (?, 99, 0, 7, 1, 'odd', 1, 7, 0, x'00')`,
    'odd',
  );
  expect(await warned(1)).toEqual(['the audit found 1 × record']);
  for (const account of [ada, bob]) {
    expect((await generate(account, 'chat', 'ok')).status).toBe(200);
  }
});
