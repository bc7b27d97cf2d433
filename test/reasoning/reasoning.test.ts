// The store over a real database: which requests find what, its bounds in size and age, and that
// its failures stay inside.

import { afterAll, describe, expect, test } from 'bun:test';
import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { LookupBudget } from '../../src/reasoning/lookup.ts';
import {
  type CallingTurn,
  createReasoningStore,
  forgetThinking,
  keptThinking,
  type ReasoningStore,
  type Thinking,
} from '../../src/reasoning/reasoning.ts';
import type { Bounds } from '../../src/reasoning/rows.ts';
import type { SqliteDatabase } from '../../src/store/database.ts';
import { reasoning } from '../../src/store/tables.ts';
import {
  countQueries,
  describeOnEachDatabase,
  newDatabase,
  sqliteTest,
  tamper,
  temporaryDirectory,
  testDialect,
} from '../support/database.ts';

const directory = temporaryDirectory();
const SECRET = 's'.repeat(32);
const HOUR = 3_600_000;
const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));

const BOUNDS: Bounds = { entryBytes: 800, accountBytes: 3_000, totalBytes: 7_000, ageMs: HOUR };

type Options = {
  readonly database: SqliteDatabase;
  readonly clock?: () => number;
  readonly secret?: string | undefined;
  readonly onTrouble?: (error: unknown) => void;
};

function open({ database, clock = () => 1_000, secret = SECRET, onTrouble }: Options) {
  const fail = (error: unknown): void => {
    throw error;
  };
  const bounds = BOUNDS;
  return createReasoningStore({
    ...{ database, clock, randomBytes, secret, bounds },
    onTrouble: onTrouble ?? fail,
  });
}

function turn(accountId: string, ...ids: string[]): CallingTurn {
  const toolCalls = ids.map((each) => {
    return { id: each, name: 'read', arguments: '{}' };
  });
  return { accountId, toolCalls, preceding: () => 'before', budget: new LookupBudget() };
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => `call_n${n}`);

const thought = (reasoning: string): Thinking => ({ reasoning });

describeOnEachDatabase('stored reasoning', async () => {
  const shared = await newDatabase(directory);
  afterAll(() => shared.close());

  describe('what is found', () => {
    test('is what was kept, signed blocks included, after a restart too', async () => {
      const thinking: Thinking = {
        reasoning: 'Hm. ¿Qué? 🤔',
        signed: {
          upstream: 'a',
          blocks: [
            { kind: 'thinking', text: 'Hm. ¿Qué? 🤔', signature: 'c2ln' },
            { kind: 'redacted', data: 'ZGF0YQ==' },
          ],
        },
      };
      await (await open({ database: shared })).keep(turn('acct_a', 'call_0', 'call_1'), thinking);
      expect(await (await open({ database: shared })).find(turn('acct_a', 'call_0'))).toEqual(
        thinking,
      );
    });

    test('is looked for under each call of the turn', async () => {
      const store = await open({ database: shared });
      await store.keep(turn('acct_calls', 'call_3', 'call_4'), thought('T'));
      expect(await store.find(turn('acct_calls', 'call_9', 'call_3'))).toEqual(thought('T'));
      expect(await store.find(turn('acct_calls', 'call_4'))).toBeUndefined();
      expect(await store.find({ ...turn('acct_calls', 'call_3'), toolCalls: [] })).toBeUndefined();
    });

    test('is looked for under 1,024 calls of a request and no more', async () => {
      const store = await open({ database: shared });
      await store.keep(turn('acct_many', 'call_0'), thought('T'));
      const { budget } = turn('acct_many', 'call_1');
      const miss = { ...turn('acct_many', ...numbered(8)), budget };
      for (let times = 0; times < 127; times += 1) await store.find(miss);
      await store.find({ ...turn('acct_many', ...numbered(7)), budget });
      const kept = { ...turn('acct_many', 'call_0'), budget };
      expect(await store.find(kept)).toEqual(thought('T'));
      expect(await store.find(kept)).toBeUndefined();
    });

    test('is the newest', async () => {
      const store = await open({ database: shared });
      await store.keep(turn('acct_newest', 'call_0'), thought('one'));
      await store.keep(turn('acct_newest', 'call_0'), thought('two'));
      expect(await store.find(turn('acct_newest', 'call_0'))).toEqual(thought('two'));
    });

    test('is found for no other owner: not for another account, another call, another conversation', async () => {
      const store = await open({ database: shared });
      await store.keep(turn('acct_own', 'call_0'), thought('T'));
      const own = turn('acct_own', 'call_0');
      expect(await store.find(own)).toEqual(thought('T'));
      expect(await store.find(turn('acct_other', 'call_0'))).toBeUndefined();
      expect(await store.find(turn('acct_own', 'call_1'))).toBeUndefined();
      expect(await store.find({ ...own, preceding: () => 'something else' })).toBeUndefined();
    });

    test('cannot be found with another secret, nor with the next one that was made up', async () => {
      await (await open({ database: shared })).keep(turn('acct_secret', 'call_0'), thought('T'));
      const other = await open({ database: shared, secret: 'other'.repeat(8) });
      expect(await other.find(turn('acct_secret', 'call_0'))).toBeUndefined();
      const made = { ...(await openMadeUp()), again: await openMadeUp() };
      await made.keep(turn('acct_made', 'call_0'), thought('T'));
      expect(await made.find(turn('acct_made', 'call_0'))).toEqual(thought('T'));
      expect(await made.again.find(turn('acct_made', 'call_0'))).toBeUndefined();
    });

    test('is nothing where a row was changed, or moved under another digest or account', async () => {
      await using database = await newDatabase(directory);
      const store = await open({ database });
      await store.keep(turn('acct_a', 'call_0'), thought('A'));
      await store.keep(turn('acct_b', 'call_0'), thought('B'));
      await tamper(
        database,
        'UPDATE reasoning SET sealed = (SELECT sealed FROM reasoning WHERE id = 1) WHERE id = 2',
      );
      expect(await store.find(turn('acct_b', 'call_0'))).toBeUndefined();
      expect(await store.find(turn('acct_a', 'call_0'))).toEqual(thought('A'));
      await database.db
        .update(reasoning)
        .set({ sealed: Uint8Array.of(0) })
        .where(eq(reasoning.id, 1));
      expect(await store.find(turn('acct_a', 'call_0'))).toBeUndefined();
    });
  });

  async function openMadeUp(): Promise<ReasoningStore> {
    const clock = () => 1_000;
    const onTrouble = (): void => {};
    return createReasoningStore({
      database: shared,
      clock,
      randomBytes,
      secret: undefined,
      onTrouble,
    });
  }

  test('age: an entry is found until its time is over, and swept behind it', async () => {
    await using database = await newDatabase(directory);
    let now = 10 * HOUR;
    const store = await open({ database, clock: () => now });
    await store.keep(turn('acct_a', 'call_0'), thought('T'));
    now += HOUR - 1;
    await store.sweep();
    expect(await store.find(turn('acct_a', 'call_0'))).toEqual(thought('T'));
    now += 1;
    expect(await store.find(turn('acct_a', 'call_0'))).toBeUndefined();
    expect((await keptThinking(database)).entries).toBe(1);
    await store.sweep();
    expect(await keptThinking(database)).toEqual({ entries: 0, bytes: 0 });
  });

  test('age: what a wrong clock has dated into the future does not stay for ever', async () => {
    await using database = await newDatabase(directory);
    let now = 1_000 * HOUR;
    const store = await open({ database, clock: () => now });
    await store.keep(turn('acct_a', 'call_0'), thought('T'));
    now = 10 * HOUR;
    await store.keep(turn('acct_a', 'call_1'), thought('T'));
    await store.sweep();
    expect(await store.find(turn('acct_a', 'call_1'))).toEqual(thought('T'));
    expect((await keptThinking(database)).entries).toBe(1);
  });

  test('a sweep removes a few rows only, and the next ones the rest', async () => {
    await using database = await newDatabase(directory);
    let now = 10 * HOUR;
    const store = await open({ database, clock: () => now });
    for (let n = 0; n < 100; n += 1) {
      const row = { accountId: 'acct_a', createdAt: now, size: 300, sealed: Uint8Array.of(0) };
      await database.db.insert(reasoning).values({ ...row, digest: randomBytes(32) });
    }
    now += 2 * HOUR;
    await store.sweep();
    expect((await keptThinking(database)).entries).toBeGreaterThan(50);
    for (let n = 0; n < 10; n += 1) await store.sweep();
    expect((await keptThinking(database)).entries).toBe(0);
  });

  type Entry = { readonly account: string; readonly id: string; readonly at: number; text: string };

  /** What a row of this thought is counted as: its JSON, sealed, and the row around it. */
  const sizeOf = (text: string): number => JSON.stringify(thought(text)).length + 28 + 256;

  const sum = (entries: readonly Entry[]): number =>
    entries.reduce((bytes, { text }) => bytes + sizeOf(text), 0);

  const keep = fc.record({
    do: fc.constant('keep' as const),
    account: fc.constantFrom('acct_a', 'acct_b', 'acct_c', 'acct_d'),
    id: fc.integer({ min: 0, max: 9 }).map((n) => `call_${n}`),
    length: fc.integer({ min: 1, max: 900 }),
  });
  const wait = fc.record({ do: fc.constant('wait' as const), ms: fc.nat({ max: HOUR }) });
  const forget = fc.record({
    do: fc.constant('forget' as const),
    account: fc.constantFrom('acct_a', 'acct_b'),
  });
  const other = fc.record({ do: fc.constantFrom('sweep' as const, 'restart' as const) });

  /** Enough of them to fill accounts and table, several times over. */
  const commands = fc.array(
    fc.oneof(
      { weight: 24, arbitrary: keep },
      { weight: 2, arbitrary: wait },
      { weight: 3, arbitrary: other },
      { weight: 1, arbitrary: forget },
    ),
    { minLength: 40, maxLength: 120, size: 'max' },
  );

  test('law: for any calls, the bounds hold, the oldest go first, and what is left is found', async () => {
    await using database = await newDatabase(directory);
    await fc.assert(
      fc.asyncProperty(commands, async (all) => {
        await forgetThinking(database);
        let now = 10 * HOUR;
        let model: Entry[] = [];
        let store = await open({ database, clock: () => now });
        for (const command of all) {
          switch (command.do) {
            case 'keep': {
              const { account, id, length } = command;
              const text = 'x'.repeat(length);
              await store.keep(turn(account, id), thought(text));
              if (sizeOf(text) - 256 > BOUNDS.entryBytes) break;
              model = model.filter((entry) => entry.account !== account || entry.id !== id);
              model.push({ account, id, at: now, text });
              const ofAccount = (): Entry[] => model.filter((entry) => entry.account === account);
              while (sum(ofAccount()) > BOUNDS.accountBytes) {
                const [oldest] = ofAccount();
                model = model.filter((entry) => entry !== oldest);
              }
              while (sum(model) > BOUNDS.totalBytes) model.shift();
              break;
            }
            case 'wait':
              now += command.ms;
              break;
            case 'sweep':
              await store.sweep();
              model = model.filter((entry) => entry.at > now - HOUR);
              break;
            case 'restart':
              store = await open({ database, clock: () => now });
              break;
            case 'forget':
              await forgetThinking(database, command.account);
              model = model.filter((entry) => entry.account !== command.account);
              store.recount();
              break;
          }
          expect(await keptThinking(database)).toEqual({
            entries: model.length,
            bytes: sum(model),
          });
        }
        for (const { account, id, at, text } of model) {
          const found = at > now - HOUR ? thought(text) : undefined;
          expect(await store.find(turn(account, id))).toEqual(found);
        }
      }),
      { numRuns: testDialect() === 'postgres' ? 10 : 60 },
    );
  });

  test('rows that another process has removed are no longer counted', async () => {
    await using database = await newDatabase(directory);
    const store = await open({ database });
    const text = 'x'.repeat(400);
    for (let n = 0; n < 4; n += 1) await store.keep(turn('acct_a', `call_${n}`), thought(text));
    await forgetThinking(database, 'acct_a');
    store.recount();
    for (let n = 0; n < 4; n += 1) await store.keep(turn('acct_a', `call_${n}`), thought(text));
    expect((await keptThinking(database)).entries).toBe(4);
  });

  test('an account of many rows is forgotten at most 1,000 at a time', async () => {
    await using database = await newDatabase(directory);
    for (const accountId of ['acct_a', 'acct_a', 'acct_b']) {
      const rows = Array.from({ length: 1_200 }, () => ({
        ...{ accountId, createdAt: 1_000, size: 256 },
        ...{ digest: Buffer.from(randomBytes(32)), sealed: Buffer.from(randomBytes(1)) },
      }));
      await database.db.insert(reasoning).values(rows);
    }
    // Two full steps and a last one, a read before each, and one that finds no more.
    expect(await countQueries(() => forgetThinking(database, 'acct_a'))).toBe(7);
    expect((await keptThinking(database)).entries).toBe(1_200);
  });

  test('far too many rows, which others have put there, go in portions', async () => {
    await using database = await newDatabase(directory);
    const rows = Array.from({ length: 1_600 }, () => ({
      ...{ accountId: 'acct_b', createdAt: 1_000, size: 256 },
      ...{ digest: Buffer.from(randomBytes(32)), sealed: Buffer.from(randomBytes(1)) },
    }));
    await database.db.insert(reasoning).values(rows);
    const store = await open({ database });
    await store.keep(turn('acct_a', 'call_0'), thought('a'));
    expect((await keptThinking(database)).entries).toBe(601);
    await store.keep(turn('acct_a', 'call_1'), thought('b'));
    const { bytes } = await keptThinking(database);
    expect(bytes).toBeLessThanOrEqual(BOUNDS.totalBytes);
  });

  sqliteTest('it makes a connection refuse')(
    'a database that refuses is reported once a call, and nothing throws',
    async () => {
      await using database = await newDatabase(directory);
      const troubles: unknown[] = [];
      const store = await open({ database, onTrouble: (error) => troubles.push(error) });
      await store.keep(turn('acct_a', 'call_0'), thought('a secret thought'));
      database.connection.run('PRAGMA query_only = ON');
      await store.keep(turn('acct_a', 'call_1'), thought('a secret thought'));
      expect(await store.find(turn('acct_a', 'call_0'))).toEqual(thought('a secret thought'));
      database.connection.run('PRAGMA query_only = OFF');
      database.connection.run('DROP TABLE reasoning');
      await store.keep(turn('acct_a', 'call_1'), thought('a secret thought'));
      expect(await store.find(turn('acct_a', 'call_0'))).toBeUndefined();
      await store.sweep();
      expect(troubles).toHaveLength(4);
      expect(Bun.inspect(troubles)).not.toContain('a secret thought');
    },
  );

  sqliteTest('it looks into a file')(
    'neither the file nor the log beside it has a readable thought',
    async () => {
      const path = `${directory}/clear.db`;
      await using database = await newDatabase(directory, 'clear');
      await (await open({ database })).keep(
        turn('acct_a', 'call_readable_id'),
        thought('a readable thought'),
      );
      for (const file of [path, `${path}-wal`]) {
        const content = Buffer.from(await Bun.file(file).arrayBuffer());
        for (const word of ['readable', 'thought', 'call_']) {
          expect([file, word, content.includes(word)]).toEqual([file, word, false]);
        }
      }
    },
  );
});
