import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { DEMO_CATALOG } from '../../src/catalog/demo-catalog.ts';
import { findCatalog, parseToml } from '../../src/catalog/source.ts';
import { cpuTimer } from '../support/cpu-time.ts';

describe('findCatalog', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'tollgate-catalog-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));
  const environment = { A: '1' };

  test('falls back to the built-in catalog, which loads', () => {
    const found = findCatalog({ environment, directory });
    expect(found).toEqual({ origin: 'built-in', text: DEMO_CATALOG, environment });
    const catalog = loadCatalog({ ...found, nowMs: 0 });
    expect(catalog.models.map((model) => [model.slug, ...model.aliases])).toEqual([
      ['demo-chat', 'demo'],
      ['demo-reasoner', 'demo-thinking'],
    ]);
  });

  test('takes catalog.toml where there is one, and a configured file before it', () => {
    writeFileSync(join(directory, 'catalog.toml'), 'first');
    writeFileSync(join(directory, 'other.toml'), 'second');
    expect(findCatalog({ environment, directory })).toEqual({
      origin: 'file',
      path: join(directory, 'catalog.toml'),
      text: 'first',
      environment,
    });
    expect(findCatalog({ path: 'other.toml', environment, directory }).text).toBe('second');
  });

  test('refuses a configured file that is missing', () => {
    expect(() => findCatalog({ path: 'none.toml', environment, directory })).toThrow(
      `CATALOG names a file that does not exist: ${join(directory, 'none.toml')}`,
    );
  });

  test('refuses a file that cannot be read, configured or not', () => {
    mkdirSync(join(directory, 'catalog.toml'));
    expect(() => findCatalog({ environment, directory })).toThrow('cannot be read');
  });
});

test('a mistake at the top of a long file is found in a moment', () => {
  const model =
    '[[model]]\nslug = "m"\nfeatures = ["tools"]\nprice = { input = "1", output = "2" }\n';
  const text = `x = 1\ny = sk-hidden\n${model.repeat(2_000)}`;
  const cpuMs = cpuTimer();
  expect(() => parseToml(text, 'catalog.toml')).toThrow('catalog.toml: line 2, column 5:');
  // One parse a line would take more than a minute.
  expect(cpuMs()).toBeLessThan(2_000);
});
