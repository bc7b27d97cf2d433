// Keys over a real database: what is stored, the caps, and the law of rotation.

import { afterAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asc, eq } from 'drizzle-orm';
import fc from 'fast-check';
import { isWellFormedKey } from '../../src/core/id.ts';
import { listOf } from '../../src/identity/key-bounds.ts';
import { digestKey } from '../../src/identity/key-digest.ts';
import type { KeyListState, PlacedKey } from '../../src/identity/key-list.ts';
import { type ApiKey, keyRecord } from '../../src/identity/key-record.ts';
import { createQueries } from '../../src/store/database.ts';
import { apiKeys, auditEvents } from '../../src/store/tables.ts';
import { accountEvents } from '../support/audit.ts';
import {
  describeOnEachDatabase,
  newDatabase,
  sqliteTest,
  temporaryDirectory,
} from '../support/database.ts';
import { addAccount, createIdentity, START_MS } from './fixtures.ts';

/** The columns of a key without bounds. */
const UNBOUND = {
  ...{ family: null, models: null, networks: null },
  ...{ pausedAt: null, pausedReason: null, isGuarded: true },
};

describeOnEachDatabase('keys', async () => {
  const digestOf = (text: string): string =>
    new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 16);

  const directory = temporaryDirectory();
  const database = await newDatabase(directory, 'keys');
  const identity = createIdentity(database);
  const { keys } = identity;
  afterAll(() => database.close());

  const HOUR_MS = 3_600_000;

  /** The `code` that `work` throws. */
  async function codeOf(work: () => Promise<unknown>): Promise<unknown> {
    try {
      await work();
    } catch (error) {
      return error instanceof Error && 'code' in error ? error.code : error;
    }
    return 'nothing was thrown';
  }

  describe('creation', () => {
    test('stores a digest and a masked form, and writes one audit event', async () => {
      const account = await addAccount(identity);
      const { row, key } = await keys.create(
        { accountId: account.id, name: ' laptop ' },
        'operator',
      );
      expect(isWellFormedKey(key)).toBe(true);
      expect(row).toEqual({
        id: row.id,
        accountId: account.id,
        digest: new Bun.CryptoHasher('sha256').update(key).digest('hex'),
        masked: `${key.slice(0, 7)}…${key.slice(-4)}`,
        name: 'laptop',
        createdAt: START_MS,
        expiresAt: null,
        revokedAt: null,
        revokedReason: null,
        rotatedFrom: null,
        replacedBy: null,
        lastUsedAt: null,
        lastUsedAddress: null,
        ...UNBOUND,
      });
      expect(await keys.list(account.id)).toEqual([row]);
      const [event] = await accountEvents(database, account.id, 1);
      expect(event).toMatchObject({
        action: 'api_key.created',
        actor: 'operator',
        subject: row.id,
      });
    });

    test('is recorded with its bounds, and so is its replacement', async () => {
      const { id: accountId } = await addAccount(identity);
      const expiresAt = START_MS + 40 * 86_400_000;
      const bounds = { expiresAt, models: '["swift-1"]', networks: ['192.0.2.7'] };
      const facts = { accountId, ...bounds, isGuarded: false };
      const { row } = await keys.create(facts, 'operator');
      await keys.rotate(row.id, 'operator', HOUR_MS);
      const made = (await accountEvents(database, accountId, 3)).filter(
        ({ action }) => action === 'api_key.created',
      );
      const detail = {
        ...{ expires_at: new Date(expiresAt).toISOString(), models: '["swift-1"]' },
        ...{ networks: '["192.0.2.7/32"]', runaway_guard: 'off' },
      };
      expect(made.map((event) => JSON.parse(event.detail))).toMatchObject([detail, detail]);
    });

    test('leaves the beginning and the count of long lists in the trail', async () => {
      const { id: accountId } = await addAccount(identity);
      const { row } = await keys.create({ accountId }, 'operator');
      const networks = Array.from({ length: 50 }, (_, at) => `2001:db8::${at + 1}`);
      const models = JSON.stringify(Array.from({ length: 200 }, (_, at) => `model-${at}`));
      const edited = await keys.edit(row.id, { networks, models }, accountId);
      expect([edited.models, listOf(edited.networks)?.length]).toEqual([models, 50]);
      const [event] = await accountEvents(database, accountId, 1);
      const detail = JSON.parse(event?.detail ?? '');
      expect(detail).toEqual({
        masked: row.masked,
        models: `${models.slice(0, 300)}… (200, sha256 ${digestOf(models)})`,
        networks: `${edited.networks?.slice(0, 300)}… (50, sha256 ${digestOf(edited.networks ?? '')})`,
      });
    });

    sqliteTest('it looks into a file')(
      'the key is nowhere in the files of the database',
      async () => {
        const account = await addAccount(identity);
        const { key, row } = await keys.create({ accountId: account.id }, 'operator');
        const bytes = ['keys.db', 'keys.db-wal'].map((name) =>
          readFileSync(join(directory, name)).toString('latin1'),
        );
        expect(bytes.some((text) => text.includes(row.digest))).toBe(true);
        expect(bytes.some((text) => text.includes(key.slice(3)))).toBe(false);
        expect(bytes.some((text) => text.includes(key.slice(8, 24)))).toBe(false);
      },
    );

    test('is refused beyond the plan, and a revoked or expired key makes room', async () => {
      const account = await addAccount(identity, 'starter');
      const create = (expiresAt?: number) =>
        keys.create({ accountId: account.id, ...(expiresAt ? { expiresAt } : {}) }, 'operator');
      const [first] = await Promise.all([1, 2, 3, 4].map(() => create()));
      await create(identity.clock() + 1_000);
      expect(await codeOf(create)).toBe('key_limit_reached');
      await keys.revoke(first?.row.id ?? '', 'operator', 'operator');
      await create();
      expect(await codeOf(create)).toBe('key_limit_reached');
      identity.advance(1_000);
      await create();
      expect(await codeOf(create)).toBe('key_limit_reached');
      expect(await keys.countActive(account.id)).toBe(5);
    });

    test('is refused from the 21st within an hour on, rotations counted', async () => {
      const account = await addAccount(identity);
      const create = () => keys.create({ accountId: account.id }, 'operator');
      let id = (await create()).row.id;
      for (let made = 1; made < 20; made += 1)
        id = (await keys.rotate(id, 'operator')).created.row.id;
      expect(await codeOf(create)).toBe('key_creation_limit_reached');
      expect(await codeOf(() => keys.rotate(id, 'operator'))).toBe('key_creation_limit_reached');
      await expect(create()).rejects.toMatchObject({ retryAfterSeconds: 3_600 });
      identity.advance(HOUR_MS - 1);
      expect(await codeOf(create)).toBe('key_creation_limit_reached');
      await expect(create()).rejects.toMatchObject({ retryAfterSeconds: 1 });
      identity.advance(1);
      expect((await create()).row.accountId).toBe(account.id);
    });

    test('refuses a bad name, a past expiry and an unknown account, and stores nothing', async () => {
      const account = await addAccount(identity);
      const create = (facts: object) => () =>
        keys.create({ accountId: account.id, ...facts }, 'operator');
      expect(await codeOf(create({ name: 'x'.repeat(101) }))).toBe('invalid_key_name');
      for (const name of ['two\nlines', 'half \ud800', 'turned \u202e', 'two\u2028lines']) {
        expect(await codeOf(create({ name }))).toBe('invalid_key_name');
      }
      expect(await codeOf(create({ expiresAt: identity.clock() }))).toBe('invalid_expiry');
      expect(await codeOf(create({ expiresAt: Number.NaN }))).toBe('invalid_expiry');
      expect(await codeOf(create({ expiresAt: Date.UTC(9999, 11, 31) }))).toBe('invalid_expiry');
      expect(await codeOf(create({ accountId: 'acct_nobody' }))).toBe('account_not_found');
      expect(await keys.list(account.id)).toEqual([]);
      expect((await create({ name: 'x'.repeat(100) })()).row.name).toHaveLength(100);
    });
  });

  describe('rotation', () => {
    test('revokes and creates in one operation that the audit trail shows as a pair', async () => {
      const account = await addAccount(identity);
      const expiresAt = identity.clock() + HOUR_MS;
      const old = (await keys.create({ accountId: account.id, name: 'ci', expiresAt }, 'operator'))
        .row;
      const { replaced, created } = await keys.rotate(old.id, 'user-session');
      const now = identity.clock();
      expect(replaced).toEqual({
        ...old,
        revokedAt: now,
        revokedReason: 'rotated',
        replacedBy: created.row.id,
      });
      expect(created.row).toMatchObject({ name: 'ci', expiresAt, rotatedFrom: old.id });
      expect(await keys.find(created.key)).toEqual(created.row);
      const events = (
        await database.db
          .select()
          .from(auditEvents)
          .where(eq(auditEvents.accountId, account.id))
          .orderBy(asc(auditEvents.id))
          .all()
      ).slice(-2);
      expect(events.map(({ action, subject, actor }) => ({ action, subject, actor }))).toEqual([
        { action: 'api_key.created', subject: created.row.id, actor: 'user-session' },
        { action: 'api_key.revoked', subject: old.id, actor: 'user-session' },
      ]);
      expect(new Set(events.map((event) => event.operationId)).size).toBe(1);
    });

    test('is possible at the cap, and refused for keys that are revoked or expired', async () => {
      const account = await addAccount(identity, 'starter');
      const made = await Promise.all(
        [1, 2, 3, 4, 5].map(
          async () => (await keys.create({ accountId: account.id }, 'operator')).row.id,
        ),
      );
      const first = made[0] ?? '';
      await keys.rotate(first, 'operator');
      expect(await codeOf(() => keys.rotate(first, 'operator'))).toBe('key_not_active');
      expect(await keys.countActive(account.id)).toBe(5);
      const other = await addAccount(identity);
      const expiresAt = identity.clock() + 1;
      const short = (await keys.create({ accountId: other.id, expiresAt }, 'operator')).row.id;
      identity.advance(1);
      expect(await codeOf(() => keys.rotate(short, 'operator'))).toBe('key_not_active');
    });

    test('with a grace period lets the old key expire, and the audit trail shows both', async () => {
      const account = await addAccount(identity);
      const old = (await keys.create({ accountId: account.id, name: 'ci' }, 'operator')).row;
      const { replaced, created } = await keys.rotate(old.id, 'user-session', HOUR_MS);
      const expiresAt = identity.clock() + HOUR_MS;
      expect(replaced).toEqual({ ...old, expiresAt, replacedBy: created.row.id });
      expect(await keys.find(old.id)).toEqual(replaced);
      expect(created.row).toMatchObject({ name: 'ci', expiresAt: null, rotatedFrom: old.id });
      expect(await keys.countActive(account.id)).toBe(2);
      const [replacement, creation] = await accountEvents(database, account.id, 2);
      expect(replacement).toMatchObject({
        ...{ action: 'api_key.replaced', subject: old.id },
        operationId: creation?.operationId,
        detail: JSON.stringify({
          masked: old.masked,
          replaced_by: created.row.id,
          works_until: new Date(expiresAt).toISOString(),
        }),
      });
      expect(creation).toMatchObject({ action: 'api_key.created', subject: created.row.id });
      // Its successor can be rotated; it cannot be rotated again, and revoking keeps the successor.
      expect(await codeOf(() => keys.rotate(old.id, 'operator'))).toBe('key_not_active');
      expect(await keys.revoke(old.id, 'user', 'operator')).toMatchObject({
        replacedBy: created.row.id,
        revokedReason: 'user',
      });
      identity.advance(HOUR_MS);
      expect((await keys.rotate(created.row.id, 'operator')).replaced.revokedReason).toBe(
        'rotated',
      );
    });

    test('with a grace period never lets a key work longer than before, or than seven days', async () => {
      const account = await addAccount(identity);
      const expiresAt = identity.clock() + 1_000;
      const { row } = await keys.create({ accountId: account.id, expiresAt }, 'operator');
      for (const graceMs of [-1, 0.5, Number.NaN, 7 * 24 * HOUR_MS + 1]) {
        expect(await codeOf(() => keys.rotate(row.id, 'operator', graceMs))).toBe('invalid_grace');
      }
      const { replaced } = await keys.rotate(row.id, 'operator', 7 * 24 * HOUR_MS);
      expect(replaced.expiresAt).toBe(expiresAt);
    });

    test('leaves no way to make an expired key active again, or to extend its grace', async () => {
      const account = await addAccount(identity);
      const expiresAt = identity.clock() + 1_000;
      const { row } = await keys.create({ accountId: account.id, expiresAt }, 'operator');
      const { row: old } = await keys.create({ accountId: account.id }, 'operator');
      const { replaced } = await keys.rotate(old.id, 'operator', HOUR_MS);
      const edit = (id: string, to: number | null) => keys.edit(id, { expiresAt: to }, 'operator');
      const grace = replaced.expiresAt ?? 0;
      for (const later of [null, grace + 1]) {
        expect(await codeOf(() => edit(old.id, later))).toBe('invalid_expiry');
      }
      expect((await edit(old.id, grace - 1)).expiresAt).toBe(grace - 1);
      identity.advance(1_000);
      for (const later of [null, identity.clock() + HOUR_MS]) {
        expect(await codeOf(() => edit(row.id, later))).toBe('key_not_active');
      }
      expect((await keys.edit(row.id, { name: 'old' }, 'operator')).expiresAt).toBe(expiresAt);
    });

    test('with a grace period needs room below the cap, because both keys count', async () => {
      const account = await addAccount(identity, 'starter');
      const ids: string[] = [];
      for (let made = 0; made < 5; made += 1) {
        ids.push((await keys.create({ accountId: account.id }, 'operator')).row.id);
      }
      const [first = '', second = ''] = ids;
      expect(await codeOf(() => keys.rotate(first, 'operator', 1))).toBe('key_limit_reached');
      expect((await keys.find(first)).replacedBy).toBeNull();
      await keys.revoke(second, 'user', 'operator');
      await keys.rotate(first, 'operator', HOUR_MS);
      expect(await keys.countActive(account.id)).toBe(5);
    });

    test('for any order of operations, every rotated key has exactly one successor', async () => {
      const operation = fc.record({
        kind: fc.constantFrom('create', 'rotate', 'grace', 'revoke'),
        pick: fc.nat(30),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { maxLength: 25 }), async (operations) => {
          const account = await addAccount(identity, 'starter');
          const ids: string[] = [];
          for (const { kind, pick } of operations) {
            const id = ids[pick % Math.max(1, ids.length)] ?? '';
            const code = await codeOf(async () => {
              if (kind === 'revoke') await keys.revoke(id, 'user', 'operator');
              if (kind === 'rotate' || kind === 'grace') {
                const graceMs = kind === 'grace' ? HOUR_MS : 0;
                ids.push((await keys.rotate(id, 'operator', graceMs)).created.row.id);
              }
              if (kind === 'create')
                ids.push((await keys.create({ accountId: account.id }, 'operator')).row.id);
            });
            expect(String(code)).toMatch(/^(?:nothing was thrown|key_[a-z_]+)$/);
          }
          const rows = await keys.list(account.id);
          expect(rows.map((row) => row.id).sort()).toEqual([...ids].sort());
          expect(rows.filter((row) => row.revokedAt === null).length).toBeLessThanOrEqual(5);
          expect(rows.length).toBeLessThanOrEqual(20);
          for (const row of rows) {
            const successors = rows.filter((other) => other.rotatedFrom === row.id);
            if (row.revokedReason === 'rotated') expect(row.replacedBy).not.toBeNull();
            const expected = row.replacedBy === null ? [] : [row.replacedBy];
            expect(successors.map((other) => other.id)).toEqual(expected);
          }
        }),
        { numRuns: 40 },
      );
    });
  });

  describe('revocation', () => {
    test('counts once: the second changes nothing and leaves no event', async () => {
      const account = await addAccount(identity);
      const { row, key } = await keys.create({ accountId: account.id }, 'operator');
      const revoked = await keys.revoke(key, 'leak_report', 'operator');
      expect(revoked).toEqual({
        ...row,
        revokedAt: identity.clock(),
        revokedReason: 'leak_report',
      });
      const events = await accountEvents(database, account.id, 100);
      identity.advance(1_000);
      expect(await keys.revoke(row.id, 'user', 'operator')).toEqual(revoked);
      expect(await accountEvents(database, account.id, 100)).toEqual(events);
      expect(await codeOf(() => keys.revoke('key_nobody', 'user', 'operator'))).toBe(
        'key_not_found',
      );
      expect(await codeOf(() => keys.find(row.masked))).toBe('key_not_found');
    });

    test('of several keys leaves revoked ones as they are, and writes nothing when repeated', async () => {
      const account = await addAccount(identity);
      const create = async () => (await keys.create({ accountId: account.id }, 'operator')).row;
      const old = await keys.revoke((await create()).id, 'leak_report', 'operator');
      const rows = [await create(), await create()];
      const ids = [rows[0]?.id ?? '', old.id, rows[1]?.id ?? ''];
      identity.advance(1_000);
      const at = identity.clock();
      const [first, kept, last] = await keys.revokeOwn(account.id, ids, account.id);
      expect([first, last]).toEqual(
        rows.map((row) => ({ ...row, revokedAt: at, revokedReason: 'user' as const })),
      );
      expect(kept).toEqual(old);
      const events = await accountEvents(database, account.id, 100);
      const revoked = events.filter(({ at: then }) => then === at);
      expect(revoked.map(({ subject }) => subject).toSorted()).toEqual(
        rows.map(({ id }) => id).toSorted(),
      );
      expect(revoked[0]).toMatchObject({ actor: account.id, action: 'api_key.revoked' });
      expect(JSON.parse(revoked[0]?.detail ?? '')).toEqual({
        masked: rows.find(({ id }) => id === revoked[0]?.subject)?.masked,
        reason: 'user',
        replaced_by: null,
      });
      const idle = createIdentity({
        ...database,
        transaction: () => Promise.reject(new Error('a transaction was opened')),
      });
      expect(await idle.keys.revokeOwn(account.id, ids, account.id)).toHaveLength(3);
      const tooMany = [...ids, 'key_nobody'];
      expect(await codeOf(() => keys.revokeOwn(account.id, tooMany, account.id))).toBe(
        'key_not_found',
      );
      expect(await accountEvents(database, account.id, 100)).toEqual(events);
    });

    sqliteTest('it reads a plan of SQLite')(
      'of several keys takes few statements, which do not read the others',
      async () => {
        const account = await addAccount(identity);
        const ids = await Promise.all(
          [1, 2, 3, 4].map(async () => {
            return (await keys.create({ accountId: account.id }, 'operator')).row.id;
          }),
        );
        const asked: string[] = [];
        const { db } = createQueries((ask) => {
          asked.push(ask.text);
          return database.ask(ask);
        });
        await createIdentity({ ...database, db }).keys.revokeOwn(account.id, ids, account.id);
        expect(asked).toHaveLength(4);
        for (const text of asked.filter((statement) => !statement.startsWith('insert'))) {
          using explained = database.connection.prepare<{ detail: string }, []>(
            `explain query plan ${text}`,
          );
          expect(explained.all()[0]?.detail).toMatch(/^SEARCH api_keys USING INDEX \w+ \(id=\?\)$/);
        }
      },
    );
  });

  describe('renaming', () => {
    test('changes the name alone, with one audit event, and the same name changes nothing', async () => {
      const account = await addAccount(identity);
      const { row } = await keys.create({ accountId: account.id, name: 'laptop' }, 'operator');
      const renamed = await keys.edit(row.id, { name: '  desktop ' }, account.id);
      expect(renamed).toEqual({ ...row, name: 'desktop' });
      expect(await keys.list(account.id)).toEqual([renamed]);
      await keys.edit(row.id, { name: 'desktop' }, account.id);
      expect((await keys.edit(row.id, { name: null }, account.id)).name).toBeNull();
      expect(await codeOf(() => keys.edit(row.id, { name: 'two\nlines' }, account.id))).toBe(
        'invalid_key_name',
      );
      const events = await accountEvents(database, account.id, 2);
      expect(
        events.map(({ action, actor, detail }) => [action, actor, JSON.parse(detail)]),
      ).toEqual([
        ['api_key.renamed', account.id, { masked: row.masked, from: 'desktop', to: null }],
        ['api_key.renamed', account.id, { masked: row.masked, from: 'laptop', to: 'desktop' }],
      ]);
    });
  });

  describe('what belongs to an account', () => {
    test('a key of another account is as unknown as none, and so is a whole key', async () => {
      const [mine, other] = [await addAccount(identity), await addAccount(identity)];
      const { row, key } = await keys.create({ accountId: mine.id }, 'operator');
      expect(await keys.findOwn(mine.id, row.id)).toEqual(row);
      const refusal = async (accountId: string, id: string): Promise<string> => {
        try {
          return (await keys.findOwn(accountId, id)).id;
        } catch (error) {
          return String(error);
        }
      };
      const unknown = await refusal(mine.id, 'key_nobody');
      expect(unknown).toStartWith('IdentityError: There is no such key.');
      expect(await refusal(other.id, row.id)).toBe(unknown);
      expect(await refusal(mine.id, key)).toBe(unknown);
    });

    test('the creations of the last hour say when there is room again', async () => {
      const account = await addAccount(identity, 'business');
      const create = () => keys.create({ accountId: account.id }, 'operator');
      expect(await keys.creations(account.id)).toEqual({ made: 0, limit: 20, nextAt: undefined });
      const first = identity.clock();
      await create();
      identity.advance(60_000);
      for (let made = 1; made < 20; made += 1) await create();
      expect(await keys.creations(account.id)).toEqual({
        made: 20,
        limit: 20,
        nextAt: first + HOUR_MS,
      });
      identity.advance(HOUR_MS - 60_001);
      expect(await codeOf(create)).toBe('key_creation_limit_reached');
      identity.advance(1);
      expect(await keys.creations(account.id)).toEqual({ made: 19, limit: 20, nextAt: undefined });
    });
  });

  describe('pages', () => {
    test('of any size have every key once, newest first, also where many are of one instant', async () => {
      const [mine, other] = [await addAccount(identity, 'business'), await addAccount(identity)];
      await keys.create({ accountId: other.id }, 'operator');
      const order = { field: 'created', descending: true } as const;
      for (let made = 0; made < 20; made += 1) {
        await keys.create({ accountId: mine.id }, 'operator');
        if (made % 7 === 0) identity.advance(1);
      }
      const all = await keys.list(mine.id);
      for (const limit of [1, 3, 19, 20, 50]) {
        const seen: PlacedKey[] = [];
        for (;;) {
          const page = await keys.page(mine.id, { limit, order, after: seen.at(-1)?.place });
          seen.push(...page);
          if (page.length < limit) break;
        }
        expect(seen.map(({ row }) => row)).toEqual(all);
      }
    });
  });

  describe('the list of an API', () => {
    test('has every active key and the newest others, and says that there are more', async () => {
      const { id: accountId } = await addAccount(identity, 'business');
      const oldest = (await keys.create({ accountId }, 'operator')).row;
      expect(await keys.listed(accountId)).toEqual({ rows: [oldest], isCut: false });
      const ended = Array.from({ length: 510 }, (_, n) => ({
        ...oldest,
        ...{ id: `key_ended_${n}`, digest: `ended ${n}` },
        ...{ createdAt: oldest.createdAt + 1 + n, revokedAt: oldest.createdAt + 600 },
      }));
      await database.db.insert(apiKeys).values(ended);
      const { rows, isCut } = await keys.listed(accountId);
      const newest = ended.slice(-499).toReversed();
      expect(rows.map(({ id }) => id)).toEqual([...newest, oldest].map(({ id }) => id));
      expect(isCut).toBe(true);
    });
  });

  describe('the filtered list', () => {
    const order = fc.record({
      field: fc.constantFrom('created', 'name', 'last_used', 'expires'),
      descending: fc.boolean(),
    });
    const state = fc.constantFrom('all', 'kept', 'active', 'expiring', 'expired', 'revoked');

    test('law: pages of any order and filter have each matching key once, in order', async () => {
      const account = await addAccount(identity, 'business');
      const names = ['ci', 'Ci', 'laptop', null, 'ci-2', 'x%_', 'ci', null];
      for (const [index, name] of names.entries()) {
        const expiresAt = [undefined, HOUR_MS, 30 * 24 * HOUR_MS, 1][index % 4];
        const { row } = await keys.create(
          {
            ...{ accountId: account.id, name },
            expiresAt: expiresAt === undefined ? undefined : identity.clock() + expiresAt,
          },
          'operator',
        );
        const lastUsedAt = index % 3 === 0 ? null : START_MS + (index % 2);
        await database.db.update(apiKeys).set({ lastUsedAt }).where(eq(apiKeys.id, row.id)).run();
        if (index > 5) await keys.revoke(row.id, 'user', 'operator');
      }
      await addAccount(identity).then(({ id }) => keys.create({ accountId: id }, 'operator'));
      identity.advance(2);
      const now = identity.clock();
      const all = await keys.list(account.id);
      const isIn = (row: ApiKey, asked: KeyListState): boolean => {
        const { status } = keyRecord(row, now);
        if (asked === 'all') return true;
        if (asked === 'kept') return status !== 'revoked';
        if (asked === 'expiring') {
          return status === 'active' && (row.expiresAt ?? Infinity) <= now + 7 * 24 * HOUR_MS;
        }
        return status === asked;
      };
      await fc.assert(
        fc.asyncProperty(
          order,
          state,
          fc.constantFrom('', 'CI', '%', 'sk-', 'nothing'),
          fc.integer({ min: 1, max: 4 }),
          async (by, asked, text, limit) => {
            const placed: PlacedKey[] = [];
            for (;;) {
              const after = placed.at(-1)?.place;
              const filter = { state: asked, text };
              const page = await keys.page(account.id, { limit, order: by, after }, filter);
              placed.push(...page);
              if (page.length < limit) break;
            }
            const found = placed.map(({ row }) => row);
            const matching = all.filter(
              (row) =>
                isIn(row, asked) &&
                [row.name ?? '', row.masked].some((part) =>
                  part.toLowerCase().includes(text.toLowerCase()),
                ),
            );
            expect(found.map(({ id }) => id).sort()).toEqual(matching.map(({ id }) => id).sort());
            const values = found.map((row) =>
              by.field === 'name'
                ? (row.name ?? '').toLowerCase()
                : ({
                    created: row.createdAt,
                    last_used: row.lastUsedAt ?? 0,
                    expires: row.expiresAt ?? Number.MAX_SAFE_INTEGER,
                  }[by.field] ?? 0),
            );
            const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
            expect(values).toEqual(by.descending ? sorted.reverse() : sorted);
            const ids = await keys.matching(account.id, { state: asked, text });
            expect(ids.map(({ id }) => id).sort()).toEqual(matching.map(({ id }) => id).sort());
            expect((await keys.countStates(account.id))[asked]).toBe(
              all.filter((row) => isIn(row, asked)).length,
            );
          },
        ),
        { numRuns: 40 },
      );
    });
  });

  describe('keyRecord', () => {
    test('shows every field, the status of the moment, and no secret', () => {
      const row = {
        id: 'key_a',
        accountId: 'acct_a',
        digest: digestKey('sk-secret'),
        masked: 'sk-abcd…wxyz',
        name: null,
        createdAt: START_MS,
        expiresAt: START_MS + 1_000,
        revokedAt: null,
        revokedReason: null,
        rotatedFrom: 'key_z',
        replacedBy: null,
        lastUsedAt: START_MS + 500,
        lastUsedAddress: '203.0.113.9',
        ...UNBOUND,
      };
      const record = {
        id: 'key_a',
        object: 'api_key' as const,
        name: null,
        masked: 'sk-abcd…wxyz',
        status: 'active' as const,
        created_at: '2026-11-21T12:00:00.000Z',
        expires_at: '2026-11-21T12:00:01.000Z',
        last_used_at: '2026-11-21T12:00:00.500Z',
        revoked_at: null,
        revoked_reason: null,
        rotated_from: 'key_z',
        replaced_by: null,
        models: null,
        networks: null,
        paused_at: null,
        paused_reason: null,
        runaway_guard: true,
        current: true,
      };
      expect(keyRecord(row, START_MS + 999, 'key_a')).toEqual(record);
      expect(keyRecord(row, START_MS + 1_000, 'key_b')).toEqual({
        ...record,
        status: 'expired',
        current: false,
      });
      const revoked = { ...row, revokedAt: START_MS + 2_000, revokedReason: 'user' as const };
      expect(keyRecord(revoked, START_MS + 3_000)).toEqual({
        ...record,
        status: 'revoked',
        revoked_at: '2026-11-21T12:00:02.000Z',
        revoked_reason: 'user',
        current: false,
      });
    });
  });
});
