// What the search of the documentation finds, and in which order.

import { expect, test } from 'bun:test';
import type { DocPage, DocSection } from '../../src/docs/page.ts';
import { createDocSearch } from '../../src/docs/search.ts';

function page(name: string, sections: readonly DocSection[]): DocPage {
  const text = { title: name, summary: '', markdown: '', html: '' };
  return { part: 'customers', topic: name, name, ...text, sections };
}

const section = (heading: string, text: string): DocSection => ({ anchor: heading, heading, text });

const PAGES = [
  page('limits', [
    section('plans', 'A plan has limits. The hold is not one of them.'),
    section('sizes', 'Bodies have sizes.'),
  ]),
  page('bill', [section('the hold', 'Money is reserved.'), section('other', 'hold hold hold')]),
];

const found = (query: string): string[] =>
  createDocSearch(PAGES)(query).map((hit) => `${hit.page.topic} ${hit.section.heading}`);

test('a heading outranks the text, and more matches outrank one', () => {
  expect(found('hold')).toEqual(['bill the hold', 'bill other', 'limits plans']);
});

test('a section has to have every word, in any case', () => {
  expect(found('HOLD plan')).toEqual(['limits plans']);
  expect(found('hold bodies')).toEqual([]);
  expect(found('   ')).toEqual([]);
});

test('an excerpt begins near the first match', () => {
  const long = page('long', [
    section('x', `${'before '.repeat(100)}needle ${'after '.repeat(100)}`),
  ]);
  const [hit] = createDocSearch([long])('needle');
  expect(hit?.excerpt).toContain('needle');
  expect(hit?.excerpt).toStartWith('… before');
  expect(hit?.excerpt).toEndWith(' …');
  expect(hit?.excerpt.length).toBeLessThan(180);
});

test('a long query is cut, and finds at most twenty sections', () => {
  const many = page(
    'many',
    Array.from({ length: 50 }, (_, at) => section(`s${at}`, 'word')),
  );
  const search = createDocSearch([many]);
  expect(search('word')).toHaveLength(20);
  expect(search('word '.repeat(10_000))).toHaveLength(20);
});

test('looks for the first six distinct words of a query, however long it is', () => {
  const page = { ...PAGES[0], topic: 'six', sections: [] } as unknown as DocPage;
  const section = { anchor: '', heading: 'Words', text: 'one two three four five six' };
  const search = createDocSearch([{ ...page, sections: [section] }]);
  expect(search('one one two three four five six seven')).toHaveLength(1);
  expect(search('one two three four five seven')).toEqual([]);
});
