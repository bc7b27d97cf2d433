// `tollgate prices publish` and `tollgate upstream`, as an operator runs them: drafts in both
// forms, what is written, and what is refused without a change.

import { expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEMO_CATALOG } from '../../src/catalog/demo-catalog.ts';
import { temporaryDirectory } from '../support/database.ts';
import { createTollgate } from './tollgate.ts';

setDefaultTimeout(60_000);

const root = temporaryDirectory();

function start(name: string) {
  const directory = join(root, name);
  mkdirSync(directory);
  writeFileSync(join(directory, 'catalog.toml'), DEMO_CATALOG);
  writeFileSync(
    join(directory, 'draft.toml'),
    '[[add]]\nmodel = "demo"\nvalid_from = 2099-01-01T00:00:00Z\ninput = "0.2"\noutput = "0.7"\n',
  );
  return {
    directory,
    read: () => readFileSync(join(directory, 'catalog.toml'), 'utf8'),
    ...createTollgate(directory),
  };
}

test('a draft is tried, printed, and published once', async () => {
  const { directory, read, json, refusal } = start('draft');
  const tried = await json('prices', 'preview', '--draft', 'draft.toml', '--month', '2026-10');
  expect(tried).toMatchObject({ prices_at: '2099-01-01T00:00:00.000Z', later_prices: [] });
  const dry = await json('prices', 'publish', 'draft.toml', '--dry-run');
  expect(read()).toBe(DEMO_CATALOG);
  const published = await json('prices', 'publish', 'draft.toml');
  expect(read()).toBe(String(dry['text']));
  expect(readFileSync(String(published['backup']), 'utf8')).toBe(DEMO_CATALOG);
  const { models } = await json('prices', 'show', '--model', 'demo');
  expect(models).toMatchObject([
    { prices: [{ valid_from: null }, { valid_from: '2099-01-01T00:00:00.000Z', input: '0.2' }] },
  ]);
  expect(await refusal('prices', 'publish', 'draft.toml')).toEqual([1, 'invalid_catalog']);
  expect(await refusal('prices', 'publish', 'gone.toml')).toEqual([1, 'no_draft']);
  const both = ['--draft', 'draft.toml', '--catalog', 'catalog.toml'];
  expect(await refusal('prices', 'preview', ...both)).toEqual([1, 'no_candidate']);
  const withdraw = { withdraw: [{ model: 'demo', valid_from: '2099-01-01T00:00:00Z' }] };
  writeFileSync(join(directory, 'back.json'), JSON.stringify(withdraw));
  await json('prices', 'publish', 'back.json');
  expect(read()).toBe(DEMO_CATALOG);
});

test('upstreams are listed, taken out of service and put back', async () => {
  const { json, run, refusal } = start('upstreams');
  expect(await json('upstream', 'list')).toEqual({
    upstreams: [
      { id: 'demo', dialect: 'demo', base_url: null, models: ['demo-chat', 'demo-reasoner'] },
    ],
    disabled: [],
  });
  const place = ['demo', '--model', 'demo', '--reason', 'slow'];
  expect(await json('upstream', 'disable', ...place)).toEqual({
    disabled: { upstream: 'demo', model: 'demo-chat', reason: 'slow', since: expect.any(String) },
  });
  const { stdout } = await run('upstream', 'list');
  expect(stdout).toMatch(/^demo +demo +- +demo-chat, demo-reasoner +demo-chat$/m);
  const enable = () => json('upstream', 'enable', 'demo', '--model', 'demo-chat');
  expect([await enable(), await enable()]).toEqual([{ enabled: true }, { enabled: false }]);
  expect(await json('upstream', 'reset', 'demo')).toEqual({ reset: 'demo' });
  expect(await refusal('upstream', 'disable', 'gone')).toEqual([1, 'upstream_not_found']);
  expect(await refusal('upstream', 'disable', 'demo', '--model', 'gone')).toEqual([
    1,
    'model_not_found',
  ]);
});
