// Where a Messages request marks its prompt for caching, and in which requests.

import { describe, expect, test } from 'bun:test';
import type { GenerationRequest, Tool, Turn } from '../../../../src/core/generation.ts';
import type { MessagesProfile } from '../../../../src/core/profile.ts';
import { assistant, calling, result, SIGNED_BLOCKS, signedBy, user, written } from './support.ts';

const TOOL: Tool = { name: 'f', parameters: { type: 'object' } };
const ASKED = user('A', 'B');
const LOOP = [ASKED, calling(['a', 'b']), result('a', '1'), result('b', '2')];

type Request = Partial<GenerationRequest>;

/** The places of the marks, such as `messages.0.1`: the second block of the first message. */
function marksOf(request: Request, cacheMarks: MessagesProfile['cacheMarks']): string[] {
  const places: string[] = [];
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, member] of Object.entries(value)) {
      if (key === 'cache_control') {
        expect(member).toEqual({ type: 'ephemeral' });
        places.push(path.slice(1));
      } else walk(member, key === 'content' ? path : `${path}.${key}`);
    }
  };
  walk(written(request, { cacheMarks }), '');
  return places.toSorted();
}

describe('the marks of a conversation', () => {
  test.each<[string, Request, string[]]>([
    [
      'an answered turn',
      { turns: [user('A'), assistant('B'), user('C')] },
      ['messages.0.0', 'messages.2.0'],
    ],
    [
      'its system prompt',
      { system: 'S', turns: [user('A'), assistant('B'), user('C')] },
      ['messages.0.0', 'messages.2.0', 'system.0'],
    ],
    ['tools alone', { tools: [TOOL, TOOL], turns: [ASKED] }, ['messages.0.1', 'tools.1']],
    [
      'a round of tools',
      { tools: [TOOL], system: 'S', turns: LOOP },
      ['messages.0.1', 'messages.2.1', 'system.0', 'tools.0'],
    ],
    [
      'a second round: the first turn has none',
      { tools: [TOOL], turns: [...LOOP, calling(['c']), result('c', '3')] },
      ['messages.2.1', 'messages.4.0', 'tools.0'],
    ],
    [
      'called tools without definitions',
      { turns: LOOP },
      ['messages.0.1', 'messages.2.1', 'tools.0'],
    ],
    [
      'words behind the results',
      { turns: [...LOOP, user('C')] },
      ['messages.0.1', 'messages.2.2', 'tools.0'],
    ],
    [
      'an answer to go on with',
      { turns: [user('A'), assistant('B'), user('C'), assistant('D')] },
      ['messages.0.0', 'messages.2.0'],
    ],
    [
      'an answer at the front',
      { turns: [assistant('A'), user('B')] },
      ['messages.0.0', 'messages.2.0'],
    ],
  ])('%s', (_, request, places) => {
    expect(marksOf(request, 'conversations')).toEqual(places);
    expect(marksOf(request, 'always')).toEqual(places);
    expect(marksOf(request, 'none')).toEqual([]);
  });

  test('thinking, which takes none, has none', () => {
    const turns: Turn[] = [
      user('A'),
      { ...calling(['a']), signed: signedBy('here') },
      result('a', '1'),
    ];
    const request: Request = { tools: [TOOL], reasoning: 'on', turns };
    expect(JSON.stringify(written(request, { cacheMarks: 'conversations' }))).toContain(
      JSON.stringify(SIGNED_BLOCKS[0]).slice(0, 20),
    );
    expect(marksOf(request, 'conversations')).toEqual(['messages.0.0', 'messages.2.0', 'tools.0']);
  });
});

describe('a request that no other one follows has none, unless all have', () => {
  test.each<[string, Request]>([
    ['one question', { system: 'S', turns: [ASKED] }],
    ['a question with the beginning of its answer', { turns: [user('A'), assistant('{')] }],
    ['a forced tool', { tools: [TOOL], toolChoice: { kind: 'tool', name: 'f' }, turns: [ASKED] }],
    ['any forced tool', { tools: [TOOL], toolChoice: { kind: 'required' }, turns: [ASKED] }],
    ['forbidden tools', { tools: [TOOL], toolChoice: { kind: 'none' }, turns: [ASKED] }],
  ])('%s', (_, request) => {
    expect(marksOf(request, 'conversations')).toEqual([]);
    expect(marksOf(request, 'always')).not.toEqual([]);
  });
});
