// What is done with a gateway before its books are recorded: accounts in each standing, keys in each
// state, answers of each kind, movements, and streams that are open when it is killed.

import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { type Caller, generate, generateStream, openStream } from '../support/client.ts';
import type { Gateway } from '../support/gateway.ts';
import type { Upstream } from '../support/upstream.ts';

const MODELS = ['ok', 'reasoning', 'tool', 'no-usage', 'reset', 'late-cut', 'stall'] as const;

export const SECRET = 'one secret of the recorded versions';

/** What the books hold, for a later version to find again. */
export type Facts = {
  readonly accounts: readonly AccountFacts[];
  readonly revokedKey: string;
  readonly codes: number;
};

export type AccountFacts = {
  readonly id: string;
  readonly email: string;
  readonly key: string;
  /** Service tokens, settled alone; of the account with open holds, before they end. */
  readonly posted: string;
  readonly holds: number;
  /** What `GET /v1/chat/completions` answers to the key. */
  readonly status: number;
  /** As `receipts export` writes them. */
  readonly receipts: string;
};

/** The catalog of the recording and of the version that serves it later. */
export function upgradeCatalog(upstream: Upstream): string {
  return catalogFor(upstream, MODELS, {
    plans: { business: LARGE_PLAN },
    models: { reset: { fallbacks: ['ok'] } },
  });
}

/** Leaves two streams of the last account open. */
export async function makeTraffic(gateway: Gateway): Promise<Facts> {
  const plan = 'business';
  const [busy, suspended, open] = [
    await gateway.createAccount({ email: 'busy@example.com', plan, credit: '100000.5' }),
    await gateway.createAccount({ email: 'suspended@example.com', plan, credit: 70_000 }),
    await gateway.createAccount({ email: 'open@example.com', plan, credit: 500_000 }),
  ];
  for (const caller of [busy, suspended, open]) await answersOf(caller);
  await gateway.run('account', 'adjust', busy.id, '-12.5', '--reason', 'wrong', '--id', 'fix-1');
  await gateway.run('account', 'grant', open.id, '7', '--reason', 'welcome');
  const codes = await gateway.run(
    'code',
    'create',
    '--amount',
    '50',
    '--count',
    '2',
    '--reason',
    'spring',
  );
  const [{ code }] = codes['data'] as [{ code: string }];
  await gateway.run('code', 'redeem', code, '--account', busy.id);
  const spare = await gateway.run('key', 'create', busy.id, '--name', 'spare');
  await gateway.run('key', 'revoke', String(spare['key']));
  await gateway.run('operator', 'create', 'operator@example.com');
  await gateway.run('account', 'suspend', suspended.id);
  for (const format of ['chat', 'messages'] as const) {
    const { status } = await openStream(open, format, 'stall');
    if (status !== 200) throw new Error(`a stream began with ${status}`);
  }
  const factsOf = async (caller: typeof busy, holds: number, status: number) => ({
    ...{ id: caller.id, email: caller.email, key: caller.key, holds, status },
    posted: await postedOf(gateway, caller.id),
    receipts: await receiptsOf(gateway, caller.id),
  });
  return {
    accounts: [
      await factsOf(busy, 0, 200),
      await factsOf(suspended, 0, 403),
      await factsOf(open, 2, 200),
    ],
    revokedKey: String(spare['key']),
    codes: 2,
  };
}

async function answersOf(caller: Caller): Promise<void> {
  for (const format of ['chat', 'messages'] as const) {
    const { status, json } = await generate(caller, format, 'ok');
    if (status !== 200) throw new Error(`an answer has ${status}: ${JSON.stringify(json)}`);
    await generate(caller, format, 'tool');
    await generateStream(caller, format, 'reasoning');
    await generateStream(caller, format, 'no-usage');
    await generateStream(caller, format, 'reset');
    await generateStream(caller, format, 'late-cut');
  }
}

/** The settled balance of an account, in service tokens. */
export async function postedOf(gateway: Gateway, account: string): Promise<string> {
  const { account: record } = await gateway.run('account', 'show', account);
  return (record as { balance: { total: string } }).balance.total;
}

/** The receipts of an account, one JSON document a line, without the last line, which counts them. */
export async function receiptsOf(gateway: Gateway, account: string): Promise<string> {
  const file = `receipts-${crypto.randomUUID()}.jsonl`;
  await gateway.run('receipts', 'export', '--account', account, '--out', file);
  const text = await Bun.file(`${gateway.directory}/${file}`).text();
  return text.slice(0, text.lastIndexOf('\n{"end":') + 1);
}
