// The catalog of a running server: what a reload replaces, what it rejects, and what its status
// reports.

import { expect, test } from 'bun:test';
import { DEMO_CATALOG } from '../../src/catalog/demo-catalog.ts';
import { createLiveCatalog, type LoadedCatalog, loadFound } from '../../src/catalog/live.ts';
import { CatalogError } from '../../src/catalog/source.ts';
import { say, wordsOf } from '../../src/core/sentence.ts';

const NOON = Date.UTC(2026, 10, 21, 12);

const file = (slug: string): LoadedCatalog =>
  loadFound(
    {
      origin: 'file',
      path: '/somewhere/catalog.toml',
      text: DEMO_CATALOG.replaceAll('demo-chat', slug),
      environment: {},
    },
    NOON,
  );

const BUILT_IN = loadFound({ origin: 'built-in', text: DEMO_CATALOG, environment: {} }, NOON);

const said = (problem: string) => say('{problem}', { problem });

function refused(...problems: string[]): never {
  throw new CatalogError(problems.map(said));
}

/** A live catalog whose next reads are taken from the end of `reads`. */
function start(first: LoadedCatalog, ...reads: (() => LoadedCatalog)[]) {
  let now = NOON;
  const live = createLiveCatalog({
    first,
    read: () => (reads.pop() ?? refused('nothing is left to read'))(),
    clock: () => now++,
  });
  return { live, slug: () => live.current().models[0]?.slug };
}

test('a valid catalog takes the place of the old one as a whole, and the old one stays as it was', () => {
  const one = file('one');
  const { live, slug } = start(one, () => file('two'));
  const before = live.current();
  expect(live.status()).toEqual({
    version: 1,
    origin: 'file',
    path: '/somewhere/catalog.toml',
    digest: one.digest,
    loadedAt: NOON,
  });
  expect(live.reload()).toEqual({ ...live.status(), version: 2, loadedAt: NOON + 1 });
  expect([slug(), before.models[0]?.slug]).toEqual(['two', 'one']);
  expect(before).toBe(one.catalog);
  expect(live.status().digest).not.toBe(one.digest);
});

test('an invalid one is refused whole with all its problems, until one is accepted', () => {
  const { live, slug } = start(
    file('one'),
    () => file('three'),
    () => refused('a', 'b'),
  );
  const { version, digest } = live.status();
  expect(live.reload()).toMatchObject({
    version,
    digest,
    refused: { at: NOON + 1, problems: [said('a'), said('b')] },
  });
  expect(slug()).toBe('one');
  expect(live.reload()).not.toHaveProperty('refused');
  expect([slug(), live.status().version]).toEqual(['three', 2]);
});

test('a file that is gone keeps the last catalog; the demonstration never takes its place', () => {
  const { live, slug } = start(file('one'), () => BUILT_IN);
  expect(live.reload().refused?.problems.map(wordsOf)).toEqual([
    '/somewhere/catalog.toml no longer exists. Put it back, or restart the server.',
  ]);
  expect(slug()).toBe('one');
});

test('the demonstration makes room for a file', () => {
  const { live, slug } = start(BUILT_IN, () => file('one'));
  live.reload();
  expect([slug(), live.status().origin]).toEqual(['one', 'file']);
});

test('what is no problem of the catalog is not taken for one', () => {
  const { live } = start(file('one'), () => {
    throw new RangeError('ours');
  });
  expect(() => live.reload()).toThrow(RangeError);
  expect(live.status()).not.toHaveProperty('refused');
});

test('the digest is that of the text', () => {
  const digest = new Bun.CryptoHasher('sha256').update(DEMO_CATALOG).digest('hex');
  expect(BUILT_IN.digest).toBe(digest);
});
