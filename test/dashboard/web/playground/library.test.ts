// What the playground keeps in the browser: bounded, apart for each account, and without keys.

import '../../../support/english.ts';
import { describe, expect, test } from 'bun:test';
import { NO_ANSWER } from '../../../../src/dashboard/web/customer/playground/answer.ts';
import { EMPTY_DRAFT } from '../../../../src/dashboard/web/customer/playground/draft.ts';
import { markdownOf } from '../../../../src/dashboard/web/customer/playground/export.ts';
import {
  CONVERSATIONS_MAX,
  createLibrary,
  PRESETS_MAX,
  type StoredConversation,
  titleOf,
} from '../../../../src/dashboard/web/customer/playground/library.ts';
import type { Turn } from '../../../../src/dashboard/web/customer/playground/request.ts';

const KEY = `sk-${'aB3d'.repeat(12)}`;

/** Storage with room for `room` characters. */
function storageOf(room = 5_000_000) {
  const items = new Map<string, string>();
  return {
    items,
    getItem: (name: string) => items.get(name) ?? null,
    setItem(name: string, value: string) {
      const others = [...items].filter(([each]) => each !== name);
      const used = others.reduce((sum, [each, text]) => sum + each.length + text.length, 0);
      if (used + name.length + value.length > room) throw new Error('QuotaExceededError');
      items.set(name, value);
    },
  };
}

const said = (text: string): Turn => ({ kind: 'user', text });

const conversation = (id: string, at: number, text = 'Hello?'): StoredConversation => ({
  ...{ id, at, title: text, format: 'chat' },
  lanes: [{ model: 'swift-1', turns: [said(text)] }],
});

describe('conversations', () => {
  test('are listed newest first, renamed, removed, and read again by the next page', () => {
    const storage = storageOf();
    const library = createLibrary(storage, 'acct_1');
    library.save(conversation('one', 1));
    library.save(conversation('two', 2));
    library.save(conversation('one', 3, 'changed'));
    library.rename('two', 'Named');
    const list = () => createLibrary(storage, 'acct_1').conversations();
    expect(list().map(({ id, title }) => [id, title])).toEqual([
      ['one', 'changed'],
      ['two', 'Named'],
    ]);
    expect(createLibrary(storage, 'acct_2').conversations()).toEqual([]);
    library.remove('one');
    expect(list().map(({ id }) => id)).toEqual(['two']);
    library.removeAll();
    expect(list()).toEqual([]);
  });

  test('the oldest ones make room, by number and by size', () => {
    const storage = storageOf(600_000);
    const library = createLibrary(storage, 'acct_1');
    for (let at = 0; at < CONVERSATIONS_MAX + 3; at += 1) library.save(conversation(`c${at}`, at));
    expect(library.conversations()).toHaveLength(CONVERSATIONS_MAX);
    expect(library.conversations().at(-1)?.id).toBe('c3');
    library.save(conversation('large', 100, 'x'.repeat(400_000)));
    library.save(conversation('larger', 101, 'y'.repeat(400_000)));
    expect(library.conversations().map(({ id }) => id)).toEqual(['larger']);
  });

  test('have neither keys nor the data of images', () => {
    const storage = storageOf();
    const library = createLibrary(storage, 'acct_1');
    const pictures = [{ name: 'a.png', type: 'image/png', data: 'QUFB' }];
    library.save({
      ...conversation('one', 1),
      lanes: [{ model: 'm', turns: [{ kind: 'user', text: `My key is ${KEY}`, pictures }] }],
    });
    library.saveDraft({ ...EMPTY_DRAFT, text: KEY });
    library.savePreset({ name: 'p', draft: { system: KEY } });
    const stored = [...storage.items.values()].join();
    expect(stored).not.toContain(KEY);
    expect(stored).not.toContain('QUFB');
    expect(stored).toContain('a.png');
    expect(stored).toContain('sk-…aB3d');
  });

  test('last until the page is left where storage is refused', () => {
    const refuse = (): never => {
      throw new Error('SecurityError');
    };
    const library = createLibrary({ getItem: refuse, setItem: refuse }, 'acct_1');
    expect(library.conversations()).toEqual([]);
    library.save(conversation('one', 1));
    expect(library.readDraft()).toEqual({});
    library.saveDraft(EMPTY_DRAFT);
  });

  test.each([
    '{',
    'null',
    '[]',
    '{"conversations":7}',
    '{"conversations":[{"id":"a","title":"","at":1,"format":"chat","lanes":[{"model":"m","turns":[{"kind":"assistant"}]}]}],"presets":[{"name":1}]}',
  ])('that something else wrote are ignored: %s', (text) => {
    const storage = storageOf();
    storage.items.set('tollgate-playground:acct_1', text);
    storage.items.set('tollgate-playground:acct_1:draft', text);
    const library = createLibrary(storage, 'acct_1');
    expect([library.conversations(), library.presets()]).toEqual([[], []]);
    expect(library.readDraft()).toBeDefined();
  });

  test('have the beginning of the first message as title', () => {
    expect(titleOf([said('  Two\nlines  ')])).toBe('Two lines');
    expect(titleOf([said('x'.repeat(200))])).toHaveLength(80);
    expect(titleOf([])).toBe('');
  });

  test('are exported as Markdown', () => {
    const facts = {
      ...{ requestId: 'req_1', asked: 'a', model: 'swift-1', firstMs: 1, totalMs: 2 },
      end: 'complete' as const,
    };
    const answer = {
      ...NO_ANSWER,
      text: '**Hi.**',
      calls: [{ id: 'c', name: 'f', arguments: '{}' }],
    };
    const turns: readonly Turn[] = [said('Hello?'), { kind: 'assistant', answer, facts }];
    expect(markdownOf({ ...conversation('one', 1), lanes: [{ model: 'a', turns }] })).toBe(
      '# Hello?\n\n### You\n\nHello?\n\n### swift-1\n\n**Hi.**\n\n`f({})`\n',
    );
  });
});

test('presets replace those of the same name, and the oldest ones make room', () => {
  const library = createLibrary(storageOf(), 'acct_1');
  for (let n = 0; n <= PRESETS_MAX; n += 1) library.savePreset({ name: `p${n}`, draft: {} });
  library.savePreset({ name: 'p5', draft: { system: 'Be brief.' } });
  library.savePreset({ name: 'long', draft: { system: 'x'.repeat(20_001) } });
  expect(library.presets()).toHaveLength(PRESETS_MAX);
  expect(library.presets()[0]).toEqual({ name: 'p5', draft: { system: 'Be brief.' } });
  library.removePreset('p5');
  expect(library.presets().map(({ name }) => name)).not.toContain('p5');
});
