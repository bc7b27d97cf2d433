// Every link of the documents leads somewhere, every page is reached from an index, and the pages
// keep to their form: a title, a sentence that says what the page has, at most 250 lines.

import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OPERATOR_PAGES, REFERENCE_PAGES } from '../../scripts/reference.ts';
import { AVOIDED_WORDS } from '../support/plain-words.ts';
import {
  anchors,
  blocks,
  CUSTOMERS,
  DOCUMENTS,
  links,
  OPERATORS,
  PAGES,
  ROOT,
  read,
  withoutBlocks,
} from './documents.ts';

const isOutside = (target: string): boolean => /^[a-z]+:/.test(target);

/** The document that a link of another one leads to. */
function targetOf(document: string, target: string): string {
  const [path = ''] = target.split('#');
  return path === '' ? document : join(dirname(document), path);
}

describe('every document', () => {
  test.each(DOCUMENTS)('%s: each relative link leads to a file or a heading', (document) => {
    const broken = links(read(document)).filter((target) => {
      if (isOutside(target)) return false;
      const [, anchor] = target.split('#');
      const file = targetOf(document, target);
      if (!existsSync(join(ROOT, file))) return true;
      return anchor !== undefined && !anchors(read(file)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test.each(DOCUMENTS)('%s: each path that is named exists', (document) => {
    const paths = [
      ...read(document).matchAll(/(?<![\w./-])(?:src|test|scripts|drizzle)\/[\w./-]*/g),
    ];
    const named = paths.map(([path]) => path.replace(/[./]+$/, ''));
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test.each(DOCUMENTS)('%s: JSON blocks parse', (document) => {
    for (const block of blocks(read(document), 'json'))
      expect(() => JSON.parse(block)).not.toThrow();
  });

  test('has no anchor twice, so that a link means one place', () => {
    const twice = DOCUMENTS.filter((document) => {
      const all = anchors(read(document));
      return new Set(all).size < all.length;
    });
    expect(twice).toEqual([]);
  });
});

describe('pages', () => {
  test.each([
    ['src/docs/README.md', PAGES],
    [`${CUSTOMERS}/README.md`, PAGES.filter((page) => page.startsWith(CUSTOMERS))],
    [`${OPERATORS}/README.md`, PAGES.filter((page) => page.startsWith(OPERATORS))],
  ])('%s links to each page of its part, directly or through another index', (index, pages) => {
    const direct = links(read(index)).map((target) => targetOf(index, target));
    const indexes = direct.filter((document) => document.endsWith('/README.md'));
    const reached = indexes.flatMap((document) =>
      links(read(document)).map((target) => targetOf(document, target)),
    );
    const known = new Set([index, ...direct, ...(index === 'src/docs/README.md' ? reached : [])]);
    expect(pages.filter((page) => !known.has(page))).toEqual([]);
  });

  test("a customer's page links to customers' pages alone: it is served without the others", () => {
    const foreign = PAGES.filter((page) => page.startsWith(CUSTOMERS)).flatMap((page) =>
      links(read(page)).filter(
        (target) => !isOutside(target) && !targetOf(page, target).startsWith(CUSTOMERS),
      ),
    );
    expect(foreign).toEqual([]);
  });

  test.each(PAGES)('%s: one title, then a sentence, and at most 250 lines', (page) => {
    const text = read(page);
    const [title, empty, summary = ''] = text.split('\n');
    expect([title, empty]).toEqual([expect.stringMatching(/^# \S/), '']);
    expect(summary).toMatch(/^[A-Z`]/);
    expect(withoutBlocks(text).match(/^# /gm)).toHaveLength(1);
    // References are made from the source, for looking things up.
    const references: readonly string[] = [...Object.values(REFERENCE_PAGES), ...OPERATOR_PAGES];
    const most = references.includes(page) ? 800 : 250;
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(most);
  });

  test('keep to the words of the field', () => {
    const found = DOCUMENTS.flatMap((page) =>
      withoutBlocks(read(page))
        .split('\n')
        .filter((line) => AVOIDED_WORDS.test(line))
        .map((line) => `${page}: ${line}`),
    );
    expect(found).toEqual([]);
  });
});
