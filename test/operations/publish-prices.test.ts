// Publishing prices to a real file: what is written, what is backed up beside it, and what is
// refused without a change.

import { afterAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DEMO_CATALOG } from '../../src/catalog/demo-catalog.ts';
import { catalogDigest } from '../../src/catalog/live.ts';
import type { PriceDraft } from '../../src/catalog/price-draft.ts';
import { type FoundCatalog, findCatalog } from '../../src/catalog/source.ts';
import { OperationError } from '../../src/operations/error.ts';
import { whyNotWritable } from '../../src/operations/publish-catalog.ts';
import {
  draftSummary,
  lastStart,
  preparePrices,
  publishPrices,
} from '../../src/operations/publish-prices.ts';
import { auditEvents } from '../../src/store/tables.ts';
import {
  describeOnEachDatabase,
  newDatabase,
  sqliteTest,
  temporaryDirectory,
} from '../support/database.ts';
import { rejectionOf } from '../support/thrown.ts';

describeOnEachDatabase('publishing prices', async () => {
  const directory = temporaryDirectory();
  const database = await newDatabase(directory);
  afterAll(() => database.close());
  const NOW = Date.parse('2026-11-21T12:00:00Z');
  const change = { database, clock: () => NOW, randomBytes, actor: 'operator' };

  const DRAFT: PriceDraft = {
    add: [
      { model: 'demo', valid_from: '2026-12-01T00:00:00Z', input: '0.2', output: '0.7' },
      { model: 'demo', valid_from: '2026-12-02T00:00:00Z', input: '0.3', output: '0.8' },
    ],
  };

  async function fileOf(name: string): Promise<FoundCatalog> {
    const folder = join(directory, name);
    mkdirSync(folder);
    await Bun.write(join(folder, 'catalog.toml'), DEMO_CATALOG);
    return findCatalog({ environment: {}, directory: folder });
  }

  const codeOf = async (work: () => Promise<unknown>): Promise<string> =>
    (await rejectionOf(OperationError, work))?.code ?? 'done';

  test('the file is replaced whole, its rights stay, and what was there is beside it', async () => {
    const found = await fileOf('plain');
    const path = found.path ?? '';
    chmodSync(path, 0o640);
    const prepared = preparePrices(found, DRAFT, NOW);
    expect(prepared.catalog.resolve('demo-chat')?.prices).toHaveLength(3);
    const published = await publishPrices(change, found, prepared, draftSummary(DRAFT));
    expect(published).toEqual({
      path,
      backup: `${path}.20261121T120000Z-${catalogDigest(DEMO_CATALOG).slice(0, 8)}.bak`,
      digest: catalogDigest(prepared.text),
    });
    expect(readFileSync(path, 'utf8')).toBe(prepared.text);
    expect(readFileSync(published.backup, 'utf8')).toBe(DEMO_CATALOG);
    expect(statSync(path).mode & 0o777).toBe(0o640);
    expect(readdirSync(join(directory, 'plain'))).toHaveLength(2);
    const [event] = await database.db.select().from(auditEvents).all();
    expect([event?.action, JSON.parse(event?.detail ?? '')]).toEqual([
      'prices.published',
      { added: 2, withdrawn: 0, models: 'demo', digest: published.digest },
    ]);
    expect(lastStart(DRAFT)).toBe(Date.parse('2026-12-02T00:00:00Z'));
  });

  test('a link stays a link, and the file that it leads to is written', async () => {
    const real = await fileOf('real');
    const linked = join(directory, 'linked');
    mkdirSync(linked);
    symlinkSync(real.path ?? '', join(linked, 'catalog.toml'));
    const found = findCatalog({ environment: {}, directory: linked });
    const prepared = preparePrices(found, DRAFT, NOW);
    expect((await publishPrices(change, found, prepared, {})).path).toBe(real.path ?? '');
    expect(readFileSync(real.path ?? '', 'utf8')).toBe(prepared.text);
  });

  test('a file that has changed in the meantime is not written', async () => {
    const found = await fileOf('changed');
    const prepared = preparePrices(found, DRAFT, NOW);
    await Bun.write(found.path ?? '', `${DEMO_CATALOG}# changed\n`);
    const now = findCatalog({ environment: {}, directory: join(directory, 'changed') });
    expect(await codeOf(() => publishPrices(change, now, prepared, {}))).toBe('catalog_changed');
    expect(readdirSync(join(directory, 'changed'))).toEqual(['catalog.toml']);
  });

  test('the built-in catalog has no file, and says so', async () => {
    const found = findCatalog({ environment: {}, directory: join(directory, 'nowhere') });
    expect(whyNotWritable(found)?.text).toStartWith('The built-in demonstration catalog');
    const prepared = preparePrices(found, DRAFT, NOW);
    expect(await codeOf(() => publishPrices(change, found, prepared, {}))).toBe(
      'catalog_not_writable',
    );
  });

  sqliteTest('it renames a table of a file of its own')(
    'where the audit event cannot be written, the file is not either',
    async () => {
      const found = await fileOf('unaudited');
      const prepared = preparePrices(found, DRAFT, NOW);
      const closed = await newDatabase(directory, 'closed');
      closed.connection.run('ALTER TABLE audit_events RENAME TO gone');
      await expect(
        publishPrices({ ...change, database: closed }, found, prepared, {}),
      ).rejects.toThrow();
      await closed.close();
      expect(readFileSync(found.path ?? '', 'utf8')).toBe(DEMO_CATALOG);
      expect(readdirSync(join(directory, 'unaudited'))).toEqual(['catalog.toml']);
    },
  );

  test('where the event is lost after the file was written, the file is put back', async () => {
    const found = await fileOf('undone');
    const prepared = preparePrices(found, DRAFT, NOW);
    await using failing = await newDatabase(directory, 'failing');
    const lost = {
      ...failing,
      transaction: async <T>(work: Parameters<typeof failing.transaction<T>>[0]): Promise<T> =>
        failing.transaction(async (tx) => {
          await work(tx);
          throw new Error('the disk is full');
        }),
    };
    const publish = () => publishPrices({ ...change, database: lost }, found, prepared, {});
    expect(publish).toThrow('the disk is full');
    expect(readFileSync(found.path ?? '', 'utf8')).toBe(DEMO_CATALOG);
    expect(readdirSync(join(directory, 'undone'))).toEqual(['catalog.toml']);
    expect(await failing.db.select().from(auditEvents).all()).toEqual([]);
  });

  test('a draft that makes the catalog invalid is refused with its reasons', async () => {
    const found = await fileOf('invalid');
    const draft: PriceDraft = {
      add: [
        {
          model: 'demo-chat',
          valid_from: '2026-12-01T00:00:00Z',
          input: '0.1',
          cached_input: '0.2',
          output: '1',
        },
      ],
    };
    expect(() => preparePrices(found, draft, NOW)).toThrow('must not be above input');
  });
});
