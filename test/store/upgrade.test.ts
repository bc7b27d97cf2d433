// A database with books of an older build, brought up to date: nothing of it is lost, what was
// under way is recovered, and the guards that came since are there.

import { expect, test } from 'bun:test';
import { micro, pico, usdRate } from '../../src/core/money.ts';
import { audit } from '../../src/ledger/audit.ts';
import { createBooks } from '../../src/ledger/books.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { recoverAll } from '../../src/ledger/recover.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import { challenges, secondFactors, sessions, users } from '../../src/store/sign-in-tables.ts';
import { temporaryDirectory } from '../support/database.ts';

const directory = temporaryDirectory();

/** A credit of 100, a request that cost 20 and one under way that holds 30. */
const OLD_BOOKS = [
  "INSERT INTO accounts VALUES ('ada', 'ada@example.org', 'pro', 1, 'active', 1, 1)",
  "INSERT INTO balances VALUES ('ada', 80, 30)",
  "INSERT INTO price_versions VALUES ('p1', 'swift-1', 150000, 30000, 600000, 1)",
  "INSERT INTO holds (request_id, account_id, key_id, model, price_version, amount, prompt_tokens, output_bound, phase, created_at, ended_at) VALUES ('r1', 'ada', 'k', 'swift-1', 'p1', 30, 100, 64, 'settled', 1, 2)",
  "INSERT INTO holds (request_id, account_id, key_id, model, price_version, amount, prompt_tokens, output_bound, phase, created_at, ended_at) VALUES ('r2', 'ada', 'k', 'swift-1', 'p1', 30, 100, 64, 'dispatched', 1, null)",
  "INSERT INTO ledger_entries VALUES (null, 'credit:c1', 'customer:ada', 100, 'credit', 1, 'gift')",
  "INSERT INTO ledger_entries VALUES (null, 'credit:c1', 'operator:credits', -100, 'credit', 1, 'gift')",
  "INSERT INTO ledger_entries VALUES (null, 'settle:r1', 'operator:revenue', 20, 'settle', 2, null)",
  "INSERT INTO ledger_entries VALUES (null, 'settle:r1', 'customer:ada', -20, 'settle', 2, null)",
  "INSERT INTO usage_records (request_id, account_id, key_id, format, stream, model_requested, model_served, upstream, outcome, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, usage_basis, estimated_prompt_tokens, price_version_requested, price_version_served, held, charged, debited, loss, attempts, started_at, ended_at) VALUES ('r1', 'ada', 'k', 'chat', 1, 'swift-1', 'swift-1', 'demo', 'completed', 100, 0, 8, 0, 'reported', 100, 'p1', 'p1', 30, 20, 20, 0, '[]', 1, 2)",
];

test('books of 0003 are whole after the upgrade, and what was under way is recovered', async () => {
  const database = openDatabase({ url: `sqlite:${directory}/old.db`, sync: 'normal' });
  const old = MIGRATIONS.sqlite.findIndex(({ tag }) => tag === '0003_reasoning') + 1;
  await migrate(database, MIGRATIONS.sqlite.slice(0, old));
  for (const statement of OLD_BOOKS) database.connection.run(statement);
  expect(await migrate(database)).toEqual(MIGRATIONS.sqlite.slice(old).map(({ tag }) => tag));

  const books = createBooks(database);
  const ledger = createLedger({ database });
  expect(await books.balance('ada')).toEqual({
    posted: micro(80n),
    held: micro(30n),
    available: micro(50n),
  });
  expect((await books.explain('r1'))?.prices).toEqual([
    {
      version: 'p1',
      model: 'swift-1',
      input: pico(150_000n),
      cachedInput: pico(30_000n),
      // What was written to a cache cost what the rest of the prompt did.
      cacheWrite: pico(150_000n),
      output: pico(600_000n),
      firstUsedAt: 1,
    },
  ]);
  const command = {
    live: [],
    createdBefore: 5,
    phase: 'ended',
    usdPerMillion: usdRate(1n),
    nowMs: 9,
  } as const;
  expect(await recoverAll(ledger, command)).toEqual([
    { requestId: 'r2', accountId: 'ada', debited: micro(15n) },
  ]);
  expect(await books.balance('ada')).toEqual({
    posted: micro(65n),
    held: micro(0n),
    available: micro(65n),
  });
  expect((await books.explain('r2'))?.record).toMatchObject({
    usageBasis: 'recovered',
    outcome: 'gateway_failed',
    modelServed: 'swift-1',
    inputTokens: 100,
    outputTokens: 0,
    debited: micro(15n),
  });
  const credit = { creditId: 'c2', accountId: 'ada', kind: 'credit', amount: micro(5n) } as const;
  await ledger.credit({ ...credit, reason: 'gift', nowMs: 10 });
  expect(await audit(database)).toEqual([]);
  expect(() => database.connection.run('DELETE FROM usage_records')).toThrow('append-only');
  await ledger.close();
  await database.close();
});

test('passwords of 0014 still sign in after the upgrade; its sessions and second factors do not', async () => {
  const database = openDatabase({ url: `sqlite:${directory}/users.db`, sync: 'normal' });
  const old = MIGRATIONS.sqlite.findIndex(({ tag }) => tag === '0014_worst_case') + 1;
  await migrate(database, MIGRATIONS.sqlite.slice(0, old));
  for (const statement of [
    "INSERT INTO sign_in_users VALUES ('ada', 'operator', 'ada@example.org', 1, 1, null, 1, 1)",
    "INSERT INTO sign_in_users VALUES ('bob', 'operator', 'bob@example.org', 1, 0, null, 1, 1)",
    "INSERT INTO sign_in_credentials VALUES ('c1', 'operator', 'ada', 'ada', 'credential', '$argon2id$', 1, 1)",
    "INSERT INTO sign_in_credentials VALUES ('c2', 'operator', 'bob', 'bob', 'credential', null, 1, 1)",
    "INSERT INTO sign_in_second_factors VALUES ('f1', 'operator', 'ada', 'sealed', 'sealed', 1, 0, null)",
    "INSERT INTO sign_in_sessions VALUES ('s1', 'operator', 'ada', 'digest', 1, 1, 1, 1, 9, '', '')",
    "INSERT INTO sign_in_challenges VALUES ('ch1', 'operator', 'digest', 'ada', 1, 1, 9)",
  ]) {
    database.connection.run(statement);
  }
  await migrate(database);
  const { db } = database;
  const facts = { id: users.id, password: users.password, twoFactor: users.twoFactorEnabled };
  expect(await db.select(facts).from(users).orderBy(users.id).all()).toEqual([
    // Without the factor that the password alone must not replace: the operator resets it.
    { id: 'ada', password: '$argon2id$', twoFactor: true },
    { id: 'bob', password: null, twoFactor: false },
  ]);
  for (const table of [sessions, challenges, secondFactors]) {
    expect(await db.select().from(table).all()).toEqual([]);
  }
  await database.close();
});

test('a clock that is set back at the upgrade makes no difference of what was booked before', async () => {
  const database = openDatabase({ url: `sqlite:${directory}/back.db`, sync: 'normal' });
  const old = MIGRATIONS.sqlite.findIndex(({ tag }) => tag === '0003_reasoning') + 1;
  await migrate(database, MIGRATIONS.sqlite.slice(0, old));
  for (const statement of OLD_BOOKS) database.connection.run(statement);
  await migrate(database);
  const ledger = createLedger({ database });
  const command = {
    live: [],
    createdBefore: 5,
    phase: 'ended',
    usdPerMillion: usdRate(1n),
  } as const;
  // Before all that the old books say.
  await recoverAll(ledger, { ...command, nowMs: 0 });
  const credit = { creditId: 'c2', accountId: 'ada', kind: 'credit', amount: micro(5n) } as const;
  await ledger.credit({ ...credit, reason: 'gift', nowMs: 0 });
  expect(await audit(database)).toEqual([]);
  await ledger.close();
  await database.close();
});
