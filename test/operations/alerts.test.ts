// Alerts as the console keeps them: grouped over nodes and restarts, acknowledged, bounded.

import { expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import type { Alert } from '../../src/core/alert.ts';
import { createRaisedAlerts } from '../../src/observe/raised-alerts.ts';
import {
  acknowledgeAlert,
  alertRecord,
  countOpenAlerts,
  listAlerts,
  REOPENED_AFTER_MS,
  sweepAlerts,
} from '../../src/operations/alerts.ts';
import { createHeardGroups } from '../../src/operations/upstream-words.ts';
import { createAlertKeeper } from '../../src/server/alert-keeper.ts';
import type { Database } from '../../src/store/contract.ts';
import { describeOnEachDatabase, newDatabase, temporaryDirectory } from '../support/database.ts';

const START = 1_800_000_000_000;
const DAY = 86_400_000;
const OPENED: Alert = { kind: 'breaker_opened', upstream: 'east', model: 'swift-1' };

describeOnEachDatabase('alerts', () => {
  async function open(database?: Database) {
    const own = database ?? (await newDatabase(temporaryDirectory()));
    let now = START;
    const raised = createRaisedAlerts({ clock: () => now });
    const errors: string[] = [];
    const store = createAlertKeeper({
      ...{ database: own, raised, heard: createHeardGroups(), randomBytes },
      log: { error: (message) => errors.push(message) },
    });
    const actor = { name: 'operator:ada@example.com', address: '203.0.113.7' };
    const change = { database: own, clock: () => now, randomBytes, actor };
    return {
      database: own,
      ...{ raised, store, errors, change },
      pass(ms: number): void {
        now += ms;
      },
      async records() {
        await store();
        return (await listAlerts(own)).map(alertRecord);
      },
    };
  }

  test('of one kind and subject are one row, over batches, nodes and restarts', async () => {
    const one = await open();
    for (let n = 0; n < 50; n += 1) one.raised.raise(OPENED);
    await one.store();
    one.pass(5_000);
    one.raised.raise(OPENED);
    one.raised.raise({ ...OPENED, model: 'swift-2' });
    const other = await open(one.database);
    other.raised.raise(OPENED);
    await Promise.all([one.store(), other.store()]);
    const records = await other.records();
    expect(records.map(({ count, first_at, last_at }) => [count, first_at, last_at])).toEqual(
      expect.arrayContaining([
        [52, new Date(START).toISOString(), new Date(START + 5_000).toISOString()],
        [1, new Date(START + 5_000).toISOString(), new Date(START + 5_000).toISOString()],
      ]),
    );
    expect(records).toHaveLength(2);
  });

  test('are acknowledged with who and when, and come back when they are raised for long', async () => {
    const rig = await open();
    rig.raised.raise(OPENED);
    const [seen] = await rig.records();
    if (seen === undefined) throw new Error('there is no alert');
    rig.pass(1_000);
    const row = await acknowledgeAlert(rig.change, seen.id, Date.parse(seen.last_at));
    expect(alertRecord(row)).toEqual({
      ...seen,
      open: false,
      acknowledged: {
        at: new Date(START + 1_000).toISOString(),
        by: 'operator:ada@example.com',
      },
    });
    rig.pass(REOPENED_AFTER_MS - 1);
    rig.raised.raise(OPENED);
    expect((await rig.records())[0]).toMatchObject({ open: false, count: 2 });
    expect(await countOpenAlerts(rig.database)).toBe(0);
    rig.pass(1);
    rig.raised.raise(OPENED);
    expect((await rig.records())[0]).toMatchObject({ open: true, count: 3 });
    expect(await countOpenAlerts(rig.database)).toBe(1);
  });

  test('are not acknowledged unseen', async () => {
    const rig = await open();
    rig.raised.raise(OPENED);
    const [seen] = await rig.records();
    rig.pass(60_000);
    rig.raised.raise(OPENED);
    await rig.store();
    const id = seen?.id ?? '';
    await expect(acknowledgeAlert(rig.change, id, START)).rejects.toMatchObject({
      code: 'alert_raised_again',
    });
    await expect(acknowledgeAlert(rig.change, 'alrt_x', START)).rejects.toMatchObject({
      code: 'alert_not_found',
    });
    expect((await rig.records())[0]).toMatchObject({ open: true, acknowledged: null });
  });

  test('of a kind that strangers can raise take no room from others, and old ones go', async () => {
    const rig = await open();
    rig.raised.raise(OPENED);
    await rig.store();
    rig.pass(1);
    for (let n = 0; n < 5; n += 1) {
      for (let account = 0; account < 60; account += 1) {
        const accountId = `acct_${n}_${account}`;
        rig.raised.raise({ kind: 'account_restricted', accountId, requestId: 'req_1' });
      }
      await rig.store();
      rig.pass(1);
    }
    await sweepAlerts(rig.database, START + 100);
    const kinds = (await rig.records()).map(({ kind }) => kind);
    expect(kinds).toHaveLength(101);
    expect(kinds.filter((kind) => kind === 'breaker_opened')).toHaveLength(1);
    await sweepAlerts(rig.database, START + 31 * DAY);
    expect(await rig.records()).toEqual([]);
  });

  test('that cannot be stored wait, bounded, and are stored later', async () => {
    const rig = await open();
    const failing = await newDatabase(temporaryDirectory());
    await failing.close();
    const store = createAlertKeeper({
      ...{ database: failing, raised: rig.raised, heard: createHeardGroups(), randomBytes },
      log: { error: (message) => rig.errors.push(message) },
    });
    for (let n = 0; n < 1_000; n += 1) {
      rig.raised.raise({ kind: 'account_restricted', accountId: `acct_${n}`, requestId: 'req_1' });
    }
    rig.raised.raise(OPENED);
    await store();
    rig.raised.raise(OPENED);
    expect(rig.errors).toHaveLength(1);
    const records = await rig.records();
    expect(records).toHaveLength(101);
    expect(records.find(({ kind }) => kind === 'breaker_opened')?.count).toBe(2);
  });
});
