// Taking upstreams out of service: what is refused, what the audit trail records, and that an
// upstream missing from the catalog can be restored.

import { afterAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { DEMO_CATALOG } from '../../src/catalog/demo-catalog.ts';
import { readDisabled } from '../../src/catalog/disabled.ts';
import { OperationError } from '../../src/operations/error.ts';
import {
  disabledPlaces,
  disablePlace,
  enablePlace,
  resetUpstream,
} from '../../src/operations/upstreams.ts';
import { auditEvents } from '../../src/store/tables.ts';
import { describeOnEachDatabase, newDatabase, temporaryDirectory } from '../support/database.ts';
import { rejectionOf } from '../support/thrown.ts';

describeOnEachDatabase('upstreams', async () => {
  const database = await newDatabase(temporaryDirectory());
  afterAll(() => database.close());
  const change = { database, clock: () => 7_000, randomBytes, actor: 'operator' };
  const catalog = loadCatalog({ text: DEMO_CATALOG, environment: {}, nowMs: 0 });
  const empty = { ...catalog, upstreams: new Map() };

  const codeOf = async (work: () => Promise<unknown>): Promise<string> =>
    (await rejectionOf(OperationError, work))?.code ?? 'done';

  test('a place is found by the alias of its model; unknown ones and bad reasons change nothing', async () => {
    const out = (place: { upstream: string; model?: string }, reason = '') =>
      codeOf(() => disablePlace(change, catalog, place, reason));
    expect([
      await out({ upstream: 'gone' }),
      await out({ upstream: 'demo', model: 'gone' }),
      await out({ upstream: 'demo' }, 'two\nlines'),
      await out({ upstream: 'demo' }, 'x'.repeat(201)),
    ]).toEqual(['upstream_not_found', 'model_not_found', 'invalid_reason', 'invalid_reason']);
    expect(await disabledPlaces({ database }, catalog)).toEqual([]);
    expect(await out({ upstream: 'demo', model: 'demo' }, ' slow ')).toBe('done');
    expect(await disabledPlaces({ database }, catalog)).toEqual([
      { upstream: 'demo', model: 'demo-chat', reason: 'slow', since: 7_000, known: true },
    ]);
    expect((await disabledPlaces({ database }, empty)).map(({ known }) => known)).toEqual([false]);
    expect(await enablePlace(change, empty, { upstream: 'demo', model: 'demo-chat' })).toBe(true);
    expect(await enablePlace(change, catalog, { upstream: 'demo', model: 'demo' })).toBe(false);
    expect((await readDisabled(database))('demo', 'demo-chat')).toBe(false);
    const events = await database.db.select().from(auditEvents).all();
    expect(events.map(({ action, subject, detail }) => [action, subject, detail])).toEqual([
      ['upstream.disabled', 'demo', '{"model":"demo-chat","reason":"slow"}'],
      ['upstream.enabled', 'demo', '{"model":"demo-chat"}'],
    ]);
  });

  test('a reset is in the audit trail, where the server reads it', async () => {
    expect(await codeOf(() => resetUpstream(change, catalog, 'gone'))).toBe('upstream_not_found');
    await resetUpstream(change, catalog, 'demo');
    const last = (await database.db.select().from(auditEvents).orderBy(auditEvents.id)).at(-1);
    expect([last?.action, last?.subject]).toEqual(['upstream.reset', 'demo']);
  });
});
