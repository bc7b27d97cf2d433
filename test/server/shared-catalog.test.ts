// The shared catalog of a cluster: which node publishes, which nodes follow, and that neither an
// outdated file nor a text that one node cannot use affects the others.

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLiveCatalog } from '../../src/catalog/live.ts';
import { createContext } from '../../src/cli/context.ts';
import { wordsOf } from '../../src/core/sentence.ts';
import { requestReload } from '../../src/operations/catalog.ts';
import { preparePrices, publishPrices } from '../../src/operations/publish-prices.ts';
import { createCatalogFile } from '../../src/server/catalog-file.ts';
import { createServiceStates } from '../../src/server/service-changes.ts';
import { createSharedCatalog } from '../../src/server/shared-catalog.ts';
import type { Database } from '../../src/store/contract.ts';
import { auditEvents } from '../../src/store/tables.ts';
import { catalogOf } from '../support/catalog.ts';
import { connectAgain, newDatabase, temporaryDirectory } from '../support/database.ts';

const root = temporaryDirectory();
let first: Awaited<ReturnType<typeof newDatabase>>;
let opened: Database[];

beforeEach(async () => {
  first = await newDatabase(root);
  opened = [first];
});

afterEach(async () => {
  for (const database of opened) await database.close();
});

/** A catalog whose one model has this name, and whose upstream has a key of each node's own. */
function catalogWith(slug: string, key = 'KEY'): string {
  return catalogOf({
    upstreams: [
      { id: 'far', dialect: 'chat', base_url: 'http://127.0.0.1:9/v1', api_key: `\${${key}}` },
    ],
    models: [{ slug, served_by: [{ upstream: 'far', model: 'ok' }] }],
  });
}

/** A node that starts with `text` in its file, or without a file, and looks on request. */
async function startNode(text: string | undefined, { alone = false, key = 'of-this-node' } = {}) {
  const database = connectAgain(first);
  opened.push(database);
  const directory = join(root, crypto.randomUUID());
  mkdirSync(directory);
  const write = (next: string) => writeFileSync(join(directory, 'catalog.toml'), next);
  if (text !== undefined) write(text);
  const context = createContext({ KEY: key }, directory);
  const file = createCatalogFile(context);
  const clock = Date.now;
  const live = createLiveCatalog({ first: context.loadedCatalog(), read: file.read, clock });
  const errors: string[] = [];
  const change = { database, clock, randomBytes, actor: 'system' };
  const shared = createSharedCatalog({ change, file, isAnybodyElse: () => !alone });
  const operators = await createServiceStates({
    ...{ database, live, file, shared, clock },
    log: { info: () => {}, error: (message) => errors.push(message) },
    alert: () => {},
    onChange: () => {},
    onRemoval: () => {},
  });
  return {
    ...{ change, database, errors, file, live, operators, write },
    /** The file has to be seen twice in the same state. */
    async look() {
      for (let times = 0; times < 3; times += 1) await operators.look();
    },
    sells: () => live.current().models.map(({ slug }) => slug),
    credential: () => live.current().upstreams.get('far'),
    warnings: () =>
      errors.filter((message) => message.includes('differs from the published catalog')),
  };
}

/** Two nodes that sell the same. */
async function startTwo() {
  return [await startNode(catalogWith('a')), await startNode(catalogWith('a'))] as const;
}

const operator = () => ({ database: first, clock: Date.now, randomBytes, actor: 'operator' });

async function publications(): Promise<number> {
  const events = await first.db.select({ action: auditEvents.action }).from(auditEvents).all();
  return events.filter(({ action }) => action === 'catalog.published').length;
}

test('all nodes sell by a change of one file, each with its own secrets', async () => {
  const one = await startNode(catalogWith('a'), { key: 'first' });
  const two = await startNode(catalogWith('a'), { key: 'second' });
  expect(await publications()).toBe(1);
  one.write(catalogWith('b'));
  await one.look();
  await two.look();
  expect([one.sells(), two.sells()]).toEqual([['b'], ['b']]);
  expect([one.credential(), two.credential()]).toMatchObject([
    { credentials: [{ apiKey: 'first' }] },
    { credentials: [{ apiKey: 'second' }] },
  ]);
  await one.look();
  expect([await publications(), one.warnings(), two.warnings().length]).toEqual([2, [], 1]);
  // Its file comes later, as from a deployment; then there is nothing to report.
  two.write(catalogWith('b'));
  await two.look();
  await one.look();
  expect([one.sells(), two.sells(), await publications()]).toEqual([['b'], ['b'], 2]);
});

test('a node that cannot use it keeps what it has, and takes nothing from the others', async () => {
  const [one, two] = await startTwo();
  one.write(catalogWith('b'));
  await one.look();
  two.write(catalogWith('c', 'NOT_HERE'));
  await two.look();
  // Its own file is refused, and what was published in between is not.
  expect([one.sells(), two.sells()]).toEqual([['b'], ['b']]);
  expect(two.operators.warnings().map(wordsOf)).toContain(
    'the last catalog was refused; the previous one is active',
  );
  await requestReload(operator());
  await two.look();
  await one.look();
  expect([one.sells(), two.sells(), await publications()]).toEqual([['b'], ['b'], 2]);
});

test.each([
  ['an earlier one, with others there', 'a', false, 'b'],
  ['an earlier one, with no other node', 'a', true, 'a'],
  ['one that no node has seen', 'c', false, 'c'],
  ['none', undefined, false, 'b'],
  ['none, with no other node', undefined, true, 'b'],
])('a node that starts with %s', async (_, own, alone, sold) => {
  const one = await startNode(catalogWith('a'));
  one.write(catalogWith('b'));
  await one.look();
  const late = await startNode(own === undefined ? undefined : catalogWith(own), { alone });
  await late.look();
  await one.look();
  expect([one.sells(), late.sells()]).toEqual([[sold], [sold]]);
  expect(late.operators.current().catalog).toBe(late.live.current());
  expect(late.warnings().length).toBe(own === 'a' && !alone ? 1 : 0);
});

test('a file that is out of date becomes the catalog of all where an operator says so', async () => {
  const [one, two] = await startTwo();
  one.write(catalogWith('b'));
  await one.look();
  await two.look();
  await two.operators.reloadCatalog();
  await one.look();
  expect([one.sells(), two.sells()]).toEqual([['a'], ['a']]);
  await requestReload(operator(), catalogWith('b'));
  await one.look();
  await two.look();
  expect([one.sells(), two.sells(), await publications()]).toEqual([['b'], ['b'], 4]);
});

test('what cannot be published yet is published before anything else is followed', async () => {
  const [one, two] = await startTwo();
  first.connection.run(
    "CREATE TRIGGER refuse BEFORE INSERT ON audit_events BEGIN SELECT raise(ABORT, 'full'); END",
  );
  one.write(catalogWith('b'));
  await one.look();
  expect([one.sells(), two.sells()]).toEqual([['b'], ['a']]);
  first.connection.run('DROP TRIGGER refuse');
  await one.look();
  await two.look();
  expect([one.sells(), two.sells(), await publications()]).toEqual([['b'], ['b'], 2]);
});

test('prices are published to all nodes, and never out of a file that they do not sell by', async () => {
  const [one, two] = await startTwo();
  const price = { model: 'a', valid_from: '2099-01-01T00:00:00Z', input: '3', output: '4' };
  const publish = async ({ file, change }: typeof one) => {
    const found = file.find();
    const prepared = preparePrices(found, { add: [price] }, Date.now());
    return publishPrices(change, found, prepared, {});
  };
  await publish(one);
  await one.look();
  await two.look();
  const pricesOf = ({ live }: typeof one) => live.current().models[0]?.prices.length;
  expect([pricesOf(one), pricesOf(two)]).toEqual([2, 2]);
  expect(await publish(two).catch((error: { code: string }) => error.code)).toBe('catalog_changed');
  expect(await publications()).toBe(2);
});
