// The rows over a real database: who may claim, who may read, what is dropped when room is short,
// and what is never dropped before it.

import { expect, setDefaultTimeout, test } from 'bun:test';
import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { createRequestId } from '../../src/core/id.ts';
import { BODY_KEY } from '../../src/core/idempotency-key.ts';
import type { IdempotencyBounds } from '../../src/idempotency/room.ts';
import {
  BOUNDS,
  createIdempotencyStore,
  forgetIdempotent,
  keptAnswers,
} from '../../src/idempotency/store.ts';
import { nodes } from '../../src/store/cluster-tables.ts';
import type { Database, Query } from '../../src/store/contract.ts';
import { PostgresFailure } from '../../src/store/postgres/error.ts';
import { idempotentRequests } from '../../src/store/tables.ts';
import {
  countQueries,
  describeOnEachDatabase,
  newDatabase,
  temporaryDirectory,
} from '../support/database.ts';
import { samples } from '../support/tier.ts';

// The first one starts PostgreSQL.
setDefaultTimeout(30_000);

const directory = temporaryDirectory();
const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));
const DAY = 24 * 3_600_000;
const NOW = 1_795_000_000_000;

type Options = {
  readonly clock?: () => number;
  readonly secret?: string;
  readonly incarnation?: string;
  readonly bounds?: Partial<IdempotencyBounds>;
  readonly sleep?: (ms: number) => Promise<void>;
  readonly onTrouble?: (error: unknown) => void;
};

function open(database: Database, options: Options = {}) {
  const { clock = () => NOW, secret = 's'.repeat(32), incarnation = 'boot_own' } = options;
  return createIdempotencyStore({
    ...{ database, clock, randomBytes, secret, incarnation: () => incarnation },
    bounds: { ...BOUNDS, ...options.bounds },
    onTrouble(error) {
      throw error;
    },
    ...(options.sleep && { sleep: options.sleep }),
    ...(options.onTrouble && { onTrouble: options.onTrouble }),
  });
}

const newId = (): string => createRequestId(NOW, randomBytes);
const ASKER = { accountId: 'acct_a', keyId: 'key_a' };

type Store = ReturnType<typeof open>;

async function claimed(store: Store, name: string, asker = ASKER) {
  const lookup = store.lookup(asker, name);
  const requestId = newId();
  expect(await store.claim(lookup, store.fingerprint('chat', name), requestId)).toBe(true);
  return { lookup, requestId };
}

async function kept(store: Store, name: string, answer: Uint8Array, asker = ASKER) {
  const { lookup, requestId } = await claimed(store, name, asker);
  await store.keep(lookup, requestId, answer);
  return lookup;
}

describeOnEachDatabase('requests with an Idempotency-Key in the store', () => {
  test('one claim wins, of any number at the same time', async () => {
    await using database = await newDatabase(directory);
    const stores = [open(database), open(database, { incarnation: 'boot_other' })];
    const wins = await Promise.all(
      Array.from({ length: 10 }, (_, index) => {
        const store = stores[index % 2] as Store;
        return store.claim(store.lookup(ASKER, 'k'), store.fingerprint('chat', 'b'), newId());
      }),
    );
    expect(wins.filter(Boolean)).toHaveLength(1);
  });

  test('an answer is kept, and a free one removed, once the database is back', async () => {
    await using database = await newDatabase(directory);
    let failures = 0;
    const pauses: number[] = [];
    const flaky: Database = {
      ...database,
      prepare<Values extends object, Row extends readonly unknown[]>(query: Query) {
        const statement = database.prepare<Values, Row>(query);
        const fails =
          <T>(go: (values: Values) => T) =>
          (values: Values): T => {
            if (failures > 0) {
              failures -= 1;
              throw new PostgresFailure('57P03', 'The database is starting.');
            }
            return go(values);
          };
        return { ...statement, run: fails(statement.run), get: fails(statement.get) };
      },
    };
    const troubles: unknown[] = [];
    const store = open(flaky, {
      sleep: async (ms) => void pauses.push(ms),
      onTrouble: (error) => void troubles.push(error),
    });
    const first = await claimed(store, 'k');
    failures = 3;
    await store.keep(first.lookup, first.requestId, Buffer.from('the answer'));
    expect(Buffer.from((await store.find(first.lookup))?.answer ?? []).toString()).toBe(
      'the answer',
    );
    expect([pauses, troubles]).toEqual([[100, 200, 400], []]);
    const second = await claimed(store, 'free');
    failures = 1;
    await store.release(second.lookup, second.requestId);
    expect(await store.find(second.lookup)).toBeUndefined();
    // One that stays away is reported once, before other nodes decide by the books.
    const third = await claimed(store, 'lost');
    pauses.length = 0;
    failures = 9;
    await store.keep(third.lookup, third.requestId, Buffer.from('x'));
    expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(20_000);
    expect(troubles).toHaveLength(1);
  });

  test('the answer is found by its API key alone, and not with another secret', async () => {
    await using database = await newDatabase(directory);
    const store = open(database);
    const lookup = await kept(store, 'k', Buffer.from('the answer'));
    const found = await store.find(lookup);
    expect([found?.state, Buffer.from(found?.answer ?? []).toString()]).toEqual([
      'kept',
      'the answer',
    ]);
    const others = [
      store.lookup({ ...ASKER, keyId: 'key_b' }, 'k'),
      store.lookup({ ...ASKER, accountId: 'acct_b' }, 'k'),
      store.lookup(ASKER, 'K'),
      open(database, { secret: 'o'.repeat(32) }).lookup(ASKER, 'k'),
    ];
    expect(await store.has(lookup)).toBe(true);
    for (const other of others) {
      expect([await store.find(other), await store.has(other)]).toEqual([undefined, false]);
    }
  });

  test('an answer that has expired is missing, and one whose request runs is not', async () => {
    await using database = await newDatabase(directory);
    let now = 1_000 * DAY;
    const store = open(database, { clock: () => now });
    const old = await kept(store, 'k', Buffer.from('the answer'));
    const { lookup: running } = await claimed(store, 'running');
    now += DAY - 1;
    expect([await store.has(old), await store.has(running)]).toEqual([true, true]);
    now += 1;
    expect([await store.has(old), await store.has(running)]).toEqual([false, true]);
    expect([await store.find(old), await store.has(old)]).toEqual([undefined, false]);
  });

  test('nothing of key, body and answer is in the row, and a moved or changed row opens for no request', async () => {
    await using database = await newDatabase(directory);
    const store = open(database);
    const [one, two] = [
      await kept(store, 'canary-key', Buffer.from('canary-answer')),
      await kept(store, 'two', Buffer.from('second')),
    ];
    const rows = await database.db.select().from(idempotentRequests).orderBy(idempotentRequests.id);
    for (const row of rows) {
      const all = Buffer.concat([row.digest, row.fingerprint, row.sealed ?? Buffer.alloc(0)]);
      expect(all.includes('canary')).toBe(false);
    }
    const [first, second] = rows;
    if (first === undefined || second === undefined) throw new Error('rows are missing');
    const { sealed } = second;
    await database.db
      .update(idempotentRequests)
      .set({ sealed })
      .where(eq(idempotentRequests.id, first.id))
      .run();
    expect(await store.find(one)).toMatchObject({ state: 'kept', answer: undefined });
    expect((await store.find(two))?.answer).toBeDefined();
  });

  test('a released row is claimed again; one that another request took over is not touched', async () => {
    await using database = await newDatabase(directory);
    const store = open(database);
    const { lookup, requestId } = await claimed(store, 'k');
    await store.release(lookup, requestId);
    expect(await store.find(lookup)).toBeUndefined();
    const second = await claimed(store, 'k');
    await store.release(lookup, requestId);
    await store.keep(lookup, requestId, Buffer.from('late'));
    expect(await store.find(lookup)).toMatchObject({
      state: 'running',
      requestId: second.requestId,
    });
  });

  test('an answer that is too large is lost, and its row stays', async () => {
    await using database = await newDatabase(directory);
    const store = open(database, { bounds: { entryBytes: 100 } });
    expect((await store.find(await kept(store, 'a', randomBytes(101))))?.state).toBe('lost');
    expect((await store.find(await kept(store, 'b', randomBytes(100))))?.state).toBe('kept');
    const { lookup, requestId } = await claimed(store, 'c');
    await store.keep(lookup, requestId, undefined);
    expect((await store.find(lookup))?.state).toBe('lost');
  });

  test('rows last for a day, running ones until they are swept', async () => {
    await using database = await newDatabase(directory);
    let now = NOW;
    const store = open(database, { clock: () => now });
    const lookup = await kept(store, 'k', Buffer.from('x'));
    const running = await claimed(store, 'r');
    now += DAY - 1;
    await store.sweep();
    expect((await store.find(lookup))?.state).toBe('kept');
    now += 1;
    expect(await store.find(lookup)).toBeUndefined();
    expect((await store.find(running.lookup))?.state).toBe('running');
    await store.sweep();
    expect(await keptAnswers(database)).toEqual({ rows: 0, bytes: 0 });
  });

  test('a request that is named by its body is found for ten minutes, by the same body alone', async () => {
    await using database = await newDatabase(directory);
    let now = NOW;
    const store = open(database, { clock: () => now });
    const fingerprint = store.fingerprint('chat', 'the body');
    const lookup = store.lookupBody(ASKER, fingerprint);
    const requestId = newId();
    await store.claim(lookup, fingerprint, requestId);
    await store.keep(lookup, requestId, Buffer.from('x'));
    const others = [
      store.lookupBody(ASKER, store.fingerprint('chat', 'another body')),
      store.lookupBody(ASKER, store.fingerprint('messages', 'the body')),
      store.lookupBody({ ...ASKER, keyId: 'key_b' }, fingerprint),
      store.lookup(ASKER, BODY_KEY),
    ];
    for (const other of others) expect(await store.find(other)).toBeUndefined();
    now += 10 * 60_000 - 1;
    expect((await store.find(lookup))?.state).toBe('kept');
    now += 1;
    expect(await store.find(lookup)).toBeUndefined();
  });

  test('a clock that is set back expires no answer, unless it was wrong by a day', async () => {
    await using database = await newDatabase(directory);
    let now = NOW;
    const store = open(database, { clock: () => now });
    const fingerprint = store.fingerprint('chat', 'the body');
    const lookups = [store.lookupBody(ASKER, fingerprint), store.lookup(ASKER, 'k')];
    for (const lookup of lookups) {
      const requestId = newId();
      await store.claim(lookup, fingerprint, requestId);
      await store.keep(lookup, requestId, Buffer.from('x'));
    }
    const states = async () =>
      (await Promise.all(lookups.map(store.find, store))).map((row) => row?.state);
    for (const back of [10 * 60_000, DAY - 1]) {
      now = NOW - back;
      await store.sweep();
      expect(await states()).toEqual(['kept', 'kept']);
    }
    now = NOW - DAY;
    expect(await states()).toEqual([undefined, undefined]);
  });

  test('the time of an answer begins when it is complete, however long it took', async () => {
    await using database = await newDatabase(directory);
    let now = NOW;
    const store = open(database, { clock: () => now });
    const fingerprint = store.fingerprint('chat', 'the body');
    for (const answer of [Buffer.from('x'), undefined]) {
      const lookup = store.lookupBody(ASKER, fingerprint);
      const requestId = newId();
      await store.claim(lookup, fingerprint, requestId);
      now += 11 * 60_000;
      await store.keep(lookup, requestId, answer);
      now += 10 * 60_000 - 1;
      expect((await store.find(lookup))?.state).toBe(answer ? 'kept' : 'lost');
      now += 1;
      expect(await store.find(lookup)).toBeUndefined();
    }
  });

  test('another node is found alive or gone by its registration', async () => {
    await using database = await newDatabase(directory);
    const row = {
      ...{ node: 'node_x', host: 'h', pid: 1, version: '1', addresses: '[]', redis: 'off' },
      ...{ state: 'serving' as const, limits: 'own', catalogVersion: 1, catalogDigest: '' },
      ...{ inFlight: 0, clockOffsetMs: 0, startedAt: 1, heartbeatAt: 1, seenAt: 1 },
    };
    await database.db.insert(nodes).values({ ...row, boot: 'boot_live', deadAt: null });
    await database.db.insert(nodes).values({ ...row, boot: 'boot_dead', deadAt: 2 });
    const store = open(database);
    const owners = ['boot_live', 'boot_dead', 'boot_gone', 'boot_own'];
    const elsewhere = owners.map((owner) => store.isElsewhere({ owner }));
    expect(await Promise.all(elsewhere)).toEqual([true, false, false, false]);
  });

  test('an account is forgotten alone', async () => {
    await using database = await newDatabase(directory);
    const store = open(database);
    const own = await kept(store, 'k', Buffer.from('x'));
    const other = await kept(store, 'k', Buffer.from('y'), { ...ASKER, accountId: 'acct_b' });
    await forgetIdempotent(database, 'acct_a');
    expect([await store.find(own), (await store.find(other))?.state]).toEqual([undefined, 'kept']);
  });

  test('an account of many rows is forgotten at most 1,000 at a time', async () => {
    await using database = await newDatabase(directory);
    const row = {
      fingerprint: randomBytes(32),
      owner: 'boot_own',
      state: 'lost',
      size: 0,
    } as const;
    for (const accountId of ['acct_a', 'acct_a', 'acct_b']) {
      const rows = Array.from({ length: 1_200 }, () => {
        return { ...row, accountId, digest: randomBytes(32), requestId: newId(), createdAt: NOW };
      });
      await database.db.insert(idempotentRequests).values(rows);
    }
    // Two full steps and a last one, a read before each, and one that finds no more.
    expect(await countQueries(() => forgetIdempotent(database, 'acct_a'))).toBe(7);
    expect((await keptAnswers(database)).rows).toBe(1_200);
  });

  test('the oldest answer of a full account is dropped, its row stays, and no other account is hit', async () => {
    await using database = await newDatabase(directory);
    const store = open(database, { bounds: { accountBytes: 900 } });
    const other = await kept(store, 'k', randomBytes(400), { ...ASKER, accountId: 'acct_b' });
    const own = [];
    for (const name of ['a', 'b', 'c']) own.push(await kept(store, name, randomBytes(400)));
    const found = await Promise.all([other, ...own].map(store.find));
    expect(found.map((row) => row?.state)).toEqual(['kept', 'lost', 'kept', 'kept']);
  });

  const overhead = 28;
  const account = fc.constantFrom('acct_a', 'acct_b', 'acct_c');
  const once = fc.constant(1);
  const answers = fc.record({
    ...{ account, times: once, recount: fc.boolean() },
    size: fc.integer({ min: 1, max: 400 }),
  });
  const small = fc.record({
    ...{ account, times: fc.constant(150), recount: fc.boolean() },
    size: fc.integer({ min: 1, max: 3 }),
  });
  const large = fc.record({
    ...{ account, times: once, recount: fc.boolean() },
    size: fc.integer({ min: 3_000, max: 4_000 }),
  });
  test.each([
    [
      'with similar sizes',
      {
        ...{ entryBytes: 400, accountBytes: 900, totalBytes: 1_600 },
        ...{ accountRows: 6, totalRows: 10, ageMs: DAY, bodyAgeMs: DAY },
      },
      fc.array(answers, { maxLength: 25 }),
    ],
    [
      'where one needs the room of a hundred',
      {
        ...{ entryBytes: 4_000, accountBytes: 4_500, totalBytes: 6_000 },
        ...{ accountRows: 10_000, totalRows: 10_000, ageMs: DAY, bodyAgeMs: DAY },
      },
      fc.array(fc.oneof(small, large), { maxLength: 5 }),
    ],
  ])(
    'the bounds hold after each answer, %s: its oldest answers go first, then the oldest rows',
    async (_name, bounds, all) => {
      await fc.assert(
        fc.asyncProperty(all, async (commands) => {
          await using database = await newDatabase(directory);
          const store = open(database, { bounds });
          let model: { account: string; name: string; bytes: number }[] = [];
          const each = commands.flatMap(({ times, ...command }) =>
            Array.from({ length: times }, () => command),
          );
          for (const [index, { account, size, recount }] of each.entries()) {
            if (recount) store.recount();
            const asker = { accountId: account, keyId: 'key' };
            await kept(store, String(index), randomBytes(size), asker);
            model.push({ account, name: String(index), bytes: size + overhead });
            model = shrunk(model, bounds, account);
          }
          for (const { account, name, bytes } of model) {
            const found = await store.find(
              store.lookup({ accountId: account, keyId: 'key' }, name),
            );
            expect(found?.state).toBe(bytes > 0 ? 'kept' : 'lost');
          }
          expect(await keptAnswers(database)).toEqual({
            rows: model.length,
            bytes: model.reduce((sum, { bytes }) => sum + bytes, 0),
          });
        }),
        { numRuns: samples(8, 100) },
      );
    },
    120_000,
  );
});

type Modelled = { account: string; name: string; bytes: number };

/** What is left after the bounds of an account, then those of all, were applied in turn. */
function shrunk(
  model: readonly Modelled[],
  bounds: IdempotencyBounds,
  account: string,
): Modelled[] {
  let rows = [...model];
  const scopes = [
    [(row: Modelled) => row.account === account, bounds.accountBytes, bounds.accountRows],
    [() => true, bounds.totalBytes, bounds.totalRows],
  ] as const;
  for (const [isIn, bytesMax, rowsMax] of scopes) {
    const bytes = () => rows.filter(isIn).reduce((sum, row) => sum + row.bytes, 0);
    while (bytes() > bytesMax) {
      const oldest = rows.find((row) => isIn(row) && row.bytes > 0);
      rows = rows.map((row) => (row === oldest ? { ...row, bytes: 0 } : row));
    }
    for (;;) {
      const oldest = rows.find((row) => isIn(row) && row.bytes === 0);
      if (rows.filter(isIn).length <= rowsMax || oldest === undefined) break;
      rows = rows.filter((row) => row !== oldest);
    }
  }
  return rows;
}
