// What the search of the documentation finds, and in which order.

import { beforeAll, describe, expect, test } from 'bun:test';
import type { DocPage, DocSection } from '../../src/docs/page.ts';
import { renderDocs } from '../../src/docs/render.ts';
import { createDocSearch, type SearchDocs } from '../../src/docs/search.ts';

function page(name: string, sections: readonly DocSection[]): DocPage {
  const text = { title: name, summary: '', markdown: '', features: [], html: '' };
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
  createDocSearch(PAGES)(query).hits.map((hit) => `${hit.page.topic} ${hit.section.heading}`);

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
  const [hit] = createDocSearch([long])('needle').hits;
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
  expect(search('word').hits).toHaveLength(20);
  expect(search('word '.repeat(10_000)).hits).toHaveLength(20);
});

test('looks for the first six distinct words of a query, however long it is', () => {
  const page = { ...PAGES[0], topic: 'six', sections: [] } as unknown as DocPage;
  const section = { anchor: '', heading: 'Words', text: 'one two three four five six' };
  const search = createDocSearch([{ ...page, sections: [section] }]);
  expect(search('one one two three four five six seven').hits).toHaveLength(1);
  expect(search('one two three four five seven').hits).toEqual([]);
});

describe('in the customers’ pages', () => {
  let search: SearchDocs;
  let searchOperators: SearchDocs;

  beforeAll(async () => {
    const { pages } = await renderDocs();
    search = createDocSearch(pages.filter(({ part }) => part === 'customers'));
    searchOperators = createDocSearch(pages.filter(({ part }) => part === 'operators'));
  });

  const first = (query: string, searched = search): string | undefined => {
    const [hit] = searched(query).hits;
    return hit && `${hit.page.topic}#${hit.section.anchor}`;
  };

  test.each([
    ['insufficient_balance', 'errors#insufficient_balance'],
    ['Insufficient Balance', 'errors#insufficient_balance'],
    ['max_tokens', 'chat-completions#max_tokens'],
    ['x-ratelimit-reset-requests', 'back-off#x-ratelimit-reset-requests'],
  ])('%s leads to its own row', (query, place) => expect(first(query)).toBe(place));

  test.each([
    ['function calling', 'tools'],
    ['tool calls', 'tools'],
    ['rate limiting', 'limits'],
    ['invoices', 'bill'],
    ['GDPR', 'privacy'],
    ['delete my data', 'privacy'],
    ['structured output', 'json'],
    ['vision', 'images'],
    ['reasoning', 'thinking'],
    ['prompt cache', 'caching'],
    ['cached prompts', 'caching'],
    ['receits', 'receipts'],
    ['top up', 'dashboard'],
    ['streming', 'streaming'],
    ['idempotensy', 'idempotency'],
  ])('%s is found as the field calls it, inflects it or misspells it', (query, topic) => {
    const topics = search(query)
      .hits.slice(0, 3)
      .map(({ page }) => page.topic);
    expect(topics.map((each) => each.replace('-messages', ''))).toContain(topic);
  });

  test.each([
    ['how do I get an API key?', 'keys#'],
    ['how to stream responses', 'streaming#'],
    ['how much does a request cost', 'bill#'],
    ['what models are available', 'models#'],
    ['function calling example', 'tools#'],
    ['python example', 'quickstart#'],
    ['claude code setup', 'agents#'],
    ['vercel ai sdk', 'agents#opencode'],
    ['cursor', 'agents#'],
    ['duplicate charge', 'idempotency#'],
    ['add balance', 'dashboard#top-up'],
    ['payment', 'dashboard#top-up'],
    ['refund', 'dashboard#top-up'],
    ['connection lost mid stream', 'streaming#stopping'],
    ['do you train on my data?', 'privacy#'],
    ['close my account', 'privacy#'],
    ['cache discount', 'caching#'],
    ['check my balance', 'account#'],
    ['spending limit', 'keys#budget'],
    ['IP allowlist', 'keys#networks'],
    ['authentication', 'keys#'],
  ])('the question "%s" leads to its answer', (query, place) => {
    expect(first(query)).toStartWith(place);
  });

  test.each([
    ['how do I add a model?', 'catalog#'],
    ['kubernetes', 'releases#container'],
    ['nginx reverse proxy', 'configuration#TRUSTED_PROXIES'],
    ['slack', 'configuration#ALERT_WEBHOOK_URL'],
    ['smtp settings', 'configuration#SMTP_URL'],
    ['disable sign-up', 'configuration#SIGNUP'],
    ['stripe', 'operator-api#top-ups'],
  ])('the question "%s" of an operator leads to its answer', (query, place) => {
    expect(first(query, searchOperators)).toStartWith(place);
  });

  test('words that only ask are looked for where there are no others', () => {
    expect(first('which')).toBe('errors#which-code-comes-first');
  });

  test('whole words are marked, and no part of another word', () => {
    const { isMatch } = search('rate limit');
    expect(['Limits', 'limit', 'Generates', 'unlimited'].map(isMatch)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test('a name that is not there is not taken for another one', () => {
    expect(search('bluetooth')).toMatchObject({ hits: [] });
    expect(search('zzzz limit').hits).toEqual([]);
  });
});
