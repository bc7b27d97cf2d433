// The last conversation in the browser's storage: one for each account, without keys and images.

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import {
  readLastConversation,
  storeLastConversation,
} from '../../../src/web/customer/playground/last-conversation.ts';
import type { Turn } from '../../../src/web/customer/playground/request.ts';

const KEY = `sk-${'aB3d'.repeat(12)}`;

const items = new Map<string, string>();

const storage = {
  getItem: (name: string) => items.get(name) ?? null,
  setItem: (name: string, text: string) => void items.set(name, text),
  removeItem: (name: string) => void items.delete(name),
};

const before = Reflect.get(globalThis, 'localStorage');
beforeAll(() => void Reflect.set(globalThis, 'localStorage', storage));
afterAll(() => void Reflect.set(globalThis, 'localStorage', before));
afterEach(() => items.clear());

const said = (text: string): readonly Turn[] => [{ kind: 'user', text, pictures: [] }];

test('each account has one, until it has no turns', () => {
  const one = { format: 'chat', lanes: [{ model: 'swift-1', turns: said('Hello?') }] } as const;
  storeLastConversation('acct_1', one);
  expect(readLastConversation('acct_1')).toEqual(one);
  expect(readLastConversation('acct_2')).toBeUndefined();
  const two = {
    format: 'messages',
    lanes: [
      { model: 'swift-1', turns: said('More?') },
      { model: '', turns: [] },
    ],
  } as const;
  storeLastConversation('acct_1', two);
  expect(readLastConversation('acct_1')).toEqual({ ...two, lanes: two.lanes.slice(0, 1) });
  storeLastConversation('acct_1', { ...two, lanes: [{ model: 'swift-1', turns: [] }] });
  expect([...items.keys()]).toEqual([]);
});

test('it has neither keys nor the data of images', () => {
  const pictures = [{ name: 'a.png', type: 'image/png', data: 'QUFB' }];
  const turns: readonly Turn[] = [{ kind: 'user', text: `My key is ${KEY}`, pictures }];
  storeLastConversation('acct_1', { format: 'chat', lanes: [{ model: 'm', turns }] });
  expect(readLastConversation('acct_1')?.lanes).toEqual([
    {
      model: 'm',
      turns: [
        {
          ...{ kind: 'user', text: 'My key is sk-…aB3d' },
          pictures: [{ name: 'a.png', type: 'image/png', data: '' }],
        },
      ],
    },
  ]);
});
