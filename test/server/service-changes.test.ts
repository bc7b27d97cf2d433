// How a running server applies changes made beside it, over a real file with two connections: what
// it reacts to, what it ignores, and what happens when the database fails.

import { afterEach, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { DEMO_CATALOG } from '../../src/catalog/demo-catalog.ts';
import { createLiveCatalog, type LoadedCatalog, loadFound } from '../../src/catalog/live.ts';
import { readCatalogNote } from '../../src/catalog/notes.ts';
import { CatalogError } from '../../src/catalog/source.ts';
import type { Alert } from '../../src/core/alert.ts';
import { say, wordsOf } from '../../src/core/sentence.ts';
import { createAccounts } from '../../src/identity/accounts.ts';
import { type AuditAction, writeAuditEvent } from '../../src/identity/audit.ts';
import type { ChangedAccounts } from '../../src/identity/authenticate.ts';
import { createBlocks } from '../../src/identity/blocks.ts';
import { createKeys } from '../../src/identity/keys.ts';
import { createSettings } from '../../src/identity/settings.ts';
import { resetUpstream } from '../../src/operations/upstreams.ts';
import { CHANGE_EFFECTS, type ChangeEffect } from '../../src/server/change-effects.ts';
import { createServiceStates } from '../../src/server/service-changes.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';
import { waitUntil } from '../support/upstream.ts';

const directory = temporaryDirectory();
const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const found = {
  origin: 'file',
  path: '/catalog.toml',
  text: DEMO_CATALOG,
  environment: {},
} as const;

/** A server's side with everything that it has said, and the operator's side of the same file. */
async function start(read: () => LoadedCatalog = () => loadFound(found, 0)) {
  const name = crypto.randomUUID();
  const database = await newDatabase(directory, name);
  const beside = await newDatabase(directory, name);
  const errors: string[] = [];
  const alerts: Alert[] = [];
  const dropped: (ChangedAccounts | undefined)[] = [];
  let removals = 0;
  const operators = await createServiceStates({
    database,
    live: createLiveCatalog({ first: loadFound(found, 0), read, clock: Date.now }),
    file: { paths: () => [], changedSettings: () => [], isOutdated: () => false },
    clock: Date.now,
    log: { info: () => {}, error: (message) => errors.push(message) },
    alert: (alert) => alerts.push(alert),
    onChange: (changed) => dropped.push(changed),
    onRemoval: () => {
      removals += 1;
    },
  });
  ends.push(operators.watch(), database.close, beside.close);
  const parts = { database: beside, clock: Date.now, randomBytes };
  return {
    operators,
    database,
    beside,
    errors,
    alerts,
    /** What was dropped from the cache of keys; undefined is all of it. */
    dropped,
    changes: () => dropped.length,
    removals: () => removals,
    blocks: createBlocks(parts),
    settings: createSettings(parts),
  };
}

test('one change of an operator is one new state, and the old one stays as it was', async () => {
  const { operators, blocks, settings, changes } = await start();
  const before = operators.current();
  await blocks.add('account', 'acct_a', { reason: '' }, 'operator');
  await waitUntil(() => changes() === 1);
  const between = operators.current();
  await settings.setMaintenance({ on: true, message: 'Soon.' }, 'operator');
  await waitUntil(() => changes() === 2);
  const after = operators.current();
  const blocked = [before, between, after].map(({ blocklist }) =>
    blocklist.accountBlocked('acct_a'),
  );
  expect(blocked).toEqual([false, true, true]);
  expect([before, between, after].map(({ maintenance }) => maintenance)).toEqual([
    { on: false },
    { on: false },
    { on: true, message: 'Soon.' },
  ]);
  expect(Object.isFrozen(after)).toBe(true);
});

test('each upstream that is said to be mended is reported once', async () => {
  const { operators, beside } = await start();
  const mended: string[] = [];
  ends.push(operators.watch((upstream) => mended.push(upstream)));
  const change = { database: beside, clock: Date.now, randomBytes, actor: 'operator' };
  await resetUpstream(change, operators.current().catalog, 'demo');
  await waitUntil(() => mended.length > 0);
  await operators.look();
  await resetUpstream(change, operators.current().catalog, 'demo');
  await operators.look();
  expect(mended).toEqual(['demo', 'demo']);
});

test('a commit that changes nothing of an operator changes nothing here', async () => {
  const { operators, beside, blocks, changes } = await start();
  const before = operators.current();
  // As the ledger does all the time.
  beside.connection.run("INSERT INTO server_notes VALUES ('other', '', 1)");
  await writeAuditEvent(beside, {
    operationId: 'op_1',
    at: Date.now(),
    actor: 'a token',
    action: 'operator_api.called',
    subject: 'a token',
  });
  await Bun.sleep(600);
  expect([changes(), operators.current() === before]).toEqual([0, true]);
  await blocks.add('account', 'acct_a', { reason: '' }, 'operator');
  await waitUntil(() => changes() === 1);
});

test('each action refreshes what depends on it, and one of another version refreshes everything', async () => {
  const { operators, beside, dropped, removals } = await start();

  async function effectOf(action: string, accountId?: string): Promise<ChangeEffect> {
    const before = { state: operators.current(), removals: removals() };
    dropped.length = 0;
    await writeAuditEvent(beside, {
      operationId: 'op_1',
      at: Date.now(),
      actor: 'acct_a',
      action: action as AuditAction,
      ...(accountId !== undefined && { accountId }),
      subject: 'key_1',
    });
    await operators.look();
    const hasRemoved = removals() > before.removals;
    if (operators.current() !== before.state) {
      expect(dropped).toEqual([undefined]);
      return hasRemoved ? 'all' : 'state';
    }
    const [changed] = dropped;
    if (changed === undefined) return 'none';
    expect([...changed.ids]).toEqual(['acct_a']);
    if (changed.hasNewKeys) return 'key';
    return hasRemoved ? 'removal' : 'account';
  }

  const seen: Record<string, ChangeEffect> = {};
  for (const action of [...Object.keys(CHANGE_EFFECTS), 'account.merged']) {
    seen[action] = await effectOf(action, 'acct_a');
  }
  expect(seen).toEqual({ ...CHANGE_EFFECTS, 'account.merged': 'all' });
  expect(await effectOf('api_key.paused')).toBe('state');
});

test('what customers do at will drops nothing of other accounts', async () => {
  const { operators, beside, dropped, removals } = await start();
  const parts = { database: beside, clock: Date.now, randomBytes };
  const plans = () => operators.current().catalog.plans;
  const accounts = createAccounts({ ...parts, plans, openBalance: async () => undefined });
  const keys = createKeys({ ...parts, plans });
  const customer = { email: 'ada@example.com', plan: 'pro', emailVerified: true };
  const { id: accountId } = await accounts.create(customer, 'operator');
  const state = operators.current();
  const ids = new Set([accountId]);
  const { row } = await keys.create({ accountId }, accountId);
  await operators.look();
  expect(dropped.splice(0)).toEqual([{ ids, hasNewKeys: true }]);
  for (const name of ['one', 'two', 'three']) {
    await keys.edit(row.id, { name }, accountId);
    await operators.look();
  }
  expect(dropped).toEqual([]);
  await keys.pause(row.id, 'user', accountId);
  await operators.look();
  await keys.resume(row.id, 'owner', accountId);
  await operators.look();
  const own = { ids, hasNewKeys: false };
  expect([dropped.splice(0), removals()]).toEqual([[own, own], 0]);
  await accounts.changeStanding(accountId, 'pending_deletion', accountId);
  await operators.look();
  expect([dropped, removals()]).toEqual([[own], 1]);
  expect(operators.current()).toBe(state);
});

test('what cannot be read is logged once, and taken up as soon as it can be', async () => {
  const { operators, beside, blocks, errors } = await start();
  await blocks.add('account', 'acct_a', { reason: '' }, 'operator');
  beside.connection.run('ALTER TABLE blocks RENAME TO gone');
  await waitUntil(() => errors.length > 0);
  const { blocklist } = operators.current();
  await Bun.sleep(600);
  expect(errors).toEqual(['changes by operators could not be applied']);
  expect(operators.current().blocklist).toBe(blocklist);
  beside.connection.run('ALTER TABLE gone RENAME TO blocks');
  await waitUntil(() => operators.current().blocklist.accountBlocked('acct_a'));
});

test('a refused catalog is an alert, a line of the log and a note, with the first of its problems', async () => {
  const problems = Array.from({ length: 60 }, (_, at) => `problem ${at}`);
  const { operators, database, errors, alerts } = await start(() => {
    throw new CatalogError(problems.map((problem) => say('{problem}', { problem })));
  });
  const { catalog } = operators.current();
  process.kill(process.pid, 'SIGHUP');
  await waitUntil(() => alerts.length > 0);
  expect(alerts).toEqual([{ kind: 'catalog_refused', problems: 60 }]);
  await waitUntil(async () => (await readCatalogNote(database))?.refused !== null);
  expect(await readCatalogNote(database)).toMatchObject({
    version: 1,
    refused: {
      problems: [...problems.slice(0, 50), 'and 10 more; tollgate catalog check has all'],
    },
  });
  expect(errors[0]).toStartWith('catalog: refused, version 1 stays active: problem 0; problem 1;');
  expect(operators.current().catalog).toBe(catalog);
  expect(operators.warnings().map(wordsOf)).toEqual([
    'the last catalog was refused; the previous one is active',
  ]);
});
