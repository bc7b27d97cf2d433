// What must be true of books after an upgrade, asked of the newer executable that serves them.

import { expect } from 'bun:test';
import { generate, generateStream } from '../support/client.ts';
import { type Gateway, runCommand, startGateway } from '../support/gateway.ts';
import { startUpstream, waitUntil } from '../support/upstream.ts';
import type { Place, Recording } from './recording.ts';
import { type AccountFacts, postedOf, receiptsOf, upgradeCatalog } from './traffic.ts';

/** What the scripted answer costs by the catalog of `upgradeCatalog`, in service tokens. */
const CHARGE = '16.4';

/** Serves the recorded books with `binary`: it migrates, recovers, audits, and goes on with them. */
export async function expectServed(
  binary: string,
  place: Place,
  { facts }: Recording,
): Promise<void> {
  await using upstream = await startUpstream();
  // Not disposed of, which would remove the database.
  const gateway = await startGateway({ binary, ...place, catalog: upgradeCatalog(upstream) });
  try {
    await waitUntil(async () => (await openHolds(gateway)) === 0, 30_000);
    await expectAudited(gateway);
    for (const account of facts.accounts) await expectKept(gateway, account);
    for (const account of facts.accounts) await expectSold(gateway, account);
    const caller = { url: gateway.url, key: facts.revokedKey };
    expect((await generate(caller, 'chat', 'ok')).status).toBe(401);
    const codes = (await gateway.run('code', 'list'))['data'] as readonly unknown[];
    expect(codes).toHaveLength(facts.codes);
    await expectAudited(gateway);
    expect(await gateway.stop()).toBe(0);
  } finally {
    await gateway.kill();
  }
}

async function openHolds(gateway: Gateway): Promise<number> {
  const { data } = (await gateway.run('account', 'list')) as {
    data: readonly { balance: { reserved: string } }[];
  };
  return data.filter(({ balance }) => balance.reserved !== '0').length;
}

async function expectAudited(gateway: Gateway): Promise<void> {
  const { checks } = (await gateway.run('doctor')) as {
    checks: readonly { ok: boolean; name: string; detail: string }[];
  };
  expect(checks.filter(({ ok }) => !ok)).toEqual([]);
  await gateway.run('receipts', 'verify', '--all');
}

/** Settled money is the same to the last digit, and the chain goes on where it was. */
async function expectKept(gateway: Gateway, account: AccountFacts): Promise<void> {
  const receipts = await receiptsOf(gateway, account.id);
  expect(receipts.startsWith(account.receipts)).toBe(true);
  const lines = (text: string): number => text.split('\n').length;
  // A stream that was open at the kill is charged if its content was on disk, and released otherwise.
  const charged = lines(receipts) - lines(account.receipts);
  expect(charged).toBeWithin(0, account.holds + 1);
  const posted = await postedOf(gateway, account.id);
  if (charged === 0) expect(posted).toBe(account.posted);
  else expect(Number(posted)).toBeLessThan(Number(account.posted));
}

async function expectSold(gateway: Gateway, account: AccountFacts): Promise<void> {
  const caller = { url: gateway.url, key: account.key };
  const before = await postedOf(gateway, account.id);
  const whole = await generate(caller, 'chat', 'ok');
  expect(whole.status).toBe(account.status);
  const stream = await generateStream(caller, 'messages', 'ok');
  expect(stream.status).toBe(account.status);
  const sold = account.status === 200 ? 2 * Number(CHARGE) : 0;
  if (sold > 0) expect(whole.headers.get('x-svc-tokens-debited')).toBe(CHARGE);
  expect(Number(await postedOf(gateway, account.id))).toBeCloseTo(Number(before) - sold, 6);
}

/** Expects that `binary` refuses the database of `place`, and returns what it says. */
export async function refusalOf(
  binary: string,
  { directory, environment }: Place,
): Promise<string> {
  const settings = { PATH: process.env['PATH'] ?? '', PORT: '0', ...environment };
  const { code, stderr } = await runCommand(directory, settings, ['serve'], { binary });
  expect(code).toBe(1);
  return stderr;
}
