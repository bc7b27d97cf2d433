// Repeats after the server stopped or died at any moment, and between servers of one database: no
// key is charged twice, and each repeat gets the answer or the charge that has none.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { and, eq, gt } from 'drizzle-orm';
import { ZERO } from '../../src/core/money.ts';
import { connectDatabase } from '../../src/store/connect.ts';
import { usageRecords } from '../../src/store/money-views.ts';
import { behaviourFor, play } from '../support/behaviours.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import type { Caller } from '../support/client.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import {
  askEnded,
  askKeyed,
  codeOf,
  isReplayed,
  type KeyedAnswer,
  openKeyed,
  spentBy,
} from '../support/keyed.ts';
import { newPostgresUrl } from '../support/postgres-database.ts';
import { USAGE } from '../support/render.ts';
import { describeWithServices } from '../support/services.ts';
import { samples } from '../support/tier.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(120_000);

const CREDIT = 1_000_000;
const PRICE = 16.4;
const STREAM = { stream: true } as const;
const MODELS = ['ok', 'slow-tokens-20-10', 'slow-tokens-60-50', 'stalls-once', 'stops-once'];

const hello = play({ pieces: [{ text: 'Hello' }], finish: 'stop', usage: USAGE });

async function startScripted(): Promise<Upstream> {
  return startUpstream({
    /** The first answer never begins. */
    'stalls-once': (exchange) =>
      exchange.request.earlier === 0 ? exchange.untilGone() : hello(exchange),
    /** The first answer never ends. */
    'stops-once': (exchange) =>
      (exchange.request.earlier === 0 ? behaviourFor('stall') : hello)(exchange),
  });
}

/** How many charged requests there are of each name, which requests carry as their end user. */
async function chargesByName(
  { databasePath, environment }: Gateway,
  account: TestAccount,
): Promise<ReadonlyMap<string, number>> {
  const url = environment['DATABASE_URL'] ?? `sqlite:${databasePath}`;
  const database = connectDatabase({ url, sync: 'normal', readonly: true });
  const rows = await database.db
    .select({ endUser: usageRecords.endUser })
    .from(usageRecords)
    .where(and(eq(usageRecords.accountId, account.id), gt(usageRecords.debited, ZERO)));
  await database.close();
  const charges = new Map<string, number>();
  for (const { endUser } of rows) {
    if (endUser !== null) charges.set(endUser, (charges.get(endUser) ?? 0) + 1);
  }
  return charges;
}

const catalogOf = (upstream: Upstream): string =>
  catalogFor(upstream, MODELS, { plans: { large: LARGE_PLAN } });

describeOnEachDatabase('a repeat after the server has ended', () => {
  let upstream: Upstream;
  let gateway: Gateway;

  const start = async (): Promise<void> => {
    gateway = await startGateway({ catalog: catalogOf(upstream), directory: gateway.directory });
  };

  /** At the address of the server that runs now. */
  const now = (account: TestAccount): TestAccount => ({ ...account, url: gateway.url });

  beforeAll(async () => {
    upstream = await startScripted();
    gateway = await startGateway({ catalog: catalogOf(upstream) });
  });

  closeAtEnd(() => [upstream, gateway]);

  test('gets the answer of the server before, streamed or not', async () => {
    const account = await gateway.createAccount({ plan: 'large', credit: CREDIT });
    const firsts = [
      await askKeyed(account, 'whole', 'ok'),
      await askKeyed(account, 'stream', 'ok', STREAM),
    ];
    await gateway.stop();
    await start();
    const repeats = [
      await askKeyed(now(account), 'whole', 'ok'),
      await askKeyed(now(account), 'stream', 'ok', STREAM),
    ];
    expect(repeats.map(({ text }) => text)).toEqual(firsts.map(({ text }) => text));
    expect(repeats.map(isReplayed)).toEqual([true, true]);
    expect(await spentBy(now(account), CREDIT)).toBe(2 * PRICE);
  });

  test('gets the answer that a stopping server finished without its client', async () => {
    const account = await gateway.createAccount({ plan: 'large', credit: CREDIT });
    const leave = new AbortController();
    const first = await openKeyed(account, 'left', 'slow-tokens-20-10', {
      ...{ ...STREAM, signal: leave.signal },
    });
    await first.body?.getReader().read();
    leave.abort();
    expect(await gateway.stop()).toBe(0);
    await start();
    const repeat = await askKeyed(now(account), 'left', 'slow-tokens-20-10', STREAM);
    expect([repeat.status, isReplayed(repeat)]).toEqual([200, true]);
    expect(repeat.text).toContain('[DONE]');
    expect(await spentBy(now(account), CREDIT)).toBe(46.4);
  });

  test('is tried again where the server died before content, which cost nothing', async () => {
    const account = await gateway.createAccount({ plan: 'large', credit: CREDIT });
    const before = upstream.requests.length;
    openKeyed(account, 'early', 'stalls-once', STREAM).catch(() => undefined);
    await upstream.waitFor(({ requests }) => requests.length > before);
    await gateway.kill();
    await start();
    const repeat = await askEnded(now(account), 'early', 'stalls-once', STREAM);
    expect([repeat.status, isReplayed(repeat)]).toEqual([200, false]);
    expect(await spentBy(now(account), CREDIT)).toBe(PRICE);
  });

  test('gets 410 with the charge where the server died in the middle, and is charged nothing', async () => {
    const account = await gateway.createAccount({ plan: 'large', credit: CREDIT });
    const first = await openKeyed(account, 'middle', 'stops-once', STREAM);
    const requestId = first.headers.get('x-request-id') ?? '';
    // The first checkpoint is written a moment after the first content.
    await waitUntil(async () => {
      const { hold } = await gateway.run('explain', requestId);
      return (hold as { readonly phase: string }).phase === 'delivering';
    });
    await gateway.kill();
    await start();
    const lost = await askEnded(now(account), 'middle', 'stops-once', STREAM);
    expect([lost.status, codeOf(lost)]).toEqual([410, 'idempotent_answer_lost']);
    const cost = await spentBy(now(account), CREDIT);
    expect(cost).toBeGreaterThan(0);
    const { message } = JSON.parse(lost.text).error;
    expect(message).toContain(`The answer of ${requestId}, the first request`);
    expect(message).toMatch(/ on receipt \d+ of this account\./);
    expect(message).toContain(`was charged ${cost} service tokens`);
    expect(lost.headers['x-should-retry']).toBe('false');
    const fresh = await askKeyed(now(account), 'middle-2', 'stops-once', STREAM);
    expect([fresh.status, isReplayed(fresh)]).toEqual([200, false]);
  });

  test('is never a second charge, at any moment at which the server dies', async () => {
    const account = await gateway.createAccount({ plan: 'large', credit: CREDIT });
    const kinds = new Map<string, number>();
    for (let round = 0; round < samples(4, 40); round += 1) {
      const names = Array.from({ length: 12 }, (_, index) => `round-${round}-${index}`);
      const ask = (caller: Caller, name: string): Promise<KeyedAnswer> =>
        askEnded(caller, name, 'slow-tokens-20-10', { ...STREAM, more: { user: name } });
      const before = upstream.requests.length;
      const dying = names.map((name) => ask(now(account), name).catch(() => undefined));
      await upstream.waitFor(({ requests }) => requests.length > before);
      // Before the first content, twice in the middle, and behind the end of all of them.
      if (round % 4 === 3) await Promise.all(dying);
      await Bun.sleep((round % 4) * 140 + Math.random() * 40);
      await gateway.kill();
      const seen = await Promise.all(dying);
      await start();
      const repeats = await Promise.all(names.map((name) => ask(now(account), name)));
      const again = await Promise.all(names.map((name) => ask(now(account), name)));
      repeats.forEach((repeat, index) => {
        const kind = repeat.status === 200 ? `replayed: ${isReplayed(repeat)}` : repeat.status;
        kinds.set(String(kind), (kinds.get(String(kind)) ?? 0) + 1);
        expect([200, 410]).toContain(repeat.status);
        const first = seen[index];
        if (repeat.status === 200) expect(again[index]?.text).toBe(repeat.text);
        else expect(again[index]?.status).toBe(410);
        // What a client has read to its end stays its answer, or is named as lost.
        if (first?.text.includes('[DONE]') && repeat.status === 200) {
          expect(repeat.text).toBe(first.text);
        }
      });
    }
    const charges = await chargesByName(gateway, account);
    expect([...charges].filter(([, count]) => count > 1)).toEqual([]);
    // Each kind of repeat that was answered has its charge, and there were several kinds.
    expect(charges.size).toBe(12 * samples(4, 40));
    expect(kinds.size).toBeGreaterThan(1);
  });
});

describeWithServices('a repeat at another server of the same database', ['PostgreSQL'], () => {
  let upstream: Upstream;
  let one: Gateway;
  let two: Gateway;
  let account: TestAccount;

  const at = (gateway: Gateway): Caller => ({ url: gateway.url, key: account.key });
  const newAccount = async (): Promise<void> => {
    account = await two.createAccount({ plan: 'large', credit: CREDIT });
  };

  beforeAll(async () => {
    upstream = await startScripted();
    const environment = {
      DATABASE_URL: await newPostgresUrl(),
      SESSION_SECRET: 'one secret of all nodes of these tests',
      OPERATOR_PORT: 'off',
    };
    const start = () => startGateway({ catalog: catalogOf(upstream), environment });
    [one, two] = await Promise.all([start(), start()]);
  });

  closeAtEnd(() => [upstream, two, one]);

  test('learns from the books what became of a first one whose server died', async () => {
    await newAccount();
    const first = await openKeyed(at(one), 'died', 'stops-once', STREAM);
    await first.body?.getReader().read();
    openKeyed(at(one), 'early', 'stalls-once', STREAM).catch(() => undefined);
    await upstream.waitFor(({ requests }) => requests.some(({ model }) => model === 'stalls-once'));
    const ask = (name: string, model: string) => askEnded(at(two), name, model, STREAM);
    const waiting = [ask('died', 'stops-once'), ask('early', 'stalls-once')] as const;
    await Bun.sleep(500);
    await one.kill();
    const [died, early] = await Promise.all(waiting);
    expect([died.status, codeOf(died)]).toEqual([410, 'idempotent_answer_lost']);
    expect([early.status, isReplayed(early)]).toEqual([200, false]);
    const cost = await spentBy(at(two), CREDIT);
    expect(cost).toBeGreaterThan(PRICE);
    expect(died.text).toContain(
      `was charged ${Math.round((cost - PRICE) * 1e6) / 1e6} service tokens`,
    );
  });
});
