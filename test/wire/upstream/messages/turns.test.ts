// How a conversation is written for a Messages upstream: order, merging, thinking, images, and the
// bytes of tool inputs.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Turn } from '../../../../src/core/generation.ts';
import type { MessagesProfile } from '../../../../src/core/profile.ts';
import { valueSources } from '../../../../src/wire/json-source.ts';
import { assembleTurns } from '../../../../src/wire/turns.ts';
import { toolIdFor } from '../../../../src/wire/upstream/tool-id.ts';
import { cpuTimer } from '../../../support/cpu-time.ts';
import { jsonObjectText } from '../../messages/fixtures.ts';
import {
  assistant,
  calling,
  picture,
  result,
  SIGNED_BLOCKS,
  signedBy,
  system,
  user,
  write,
  written,
} from './support.ts';

const text = (of: string): object => ({ type: 'text', text: of });
const asked = (...texts: string[]): object => ({ role: 'user', content: texts.map(text) });
const said = (...blocks: object[]): object => ({ role: 'assistant', content: blocks });
const use = (id: string): object => ({ type: 'tool_use', id, name: 'f', input: { a: 1 } });
const answered = (id: string, content?: string, isError = false): object => ({
  type: 'tool_result',
  tool_use_id: id,
  ...(content === undefined ? {} : { content }),
  ...(isError ? { is_error: true } : {}),
});

type Row = [
  name: string,
  profile: Partial<MessagesProfile>,
  turns: readonly Turn[],
  messages: readonly object[],
];

const WORD_ID = toolIdFor('word', 'functions.f:0');

const ROWS: Row[] = [
  [
    'a conversation',
    {},
    [user('A'), assistant('B'), user('C')],
    [asked('A'), said(text('B')), asked('C')],
  ],
  [
    'calls that share an id, in one turn and in the next',
    {},
    [
      ...[user('A'), calling(['a', 'a', 'a-2']), result('a', '1'), result('a', '2')],
      ...[result('a-2', '3'), calling(['a']), result('a', '4')],
    ],
    [
      asked('A'),
      said(use('a'), use('a-2'), use('a-2-2')),
      { role: 'user', content: [answered('a', '1'), answered('a-2', '2'), answered('a-2-2', '3')] },
      said(use('a-3')),
      { role: 'user', content: [answered('a-3', '4')] },
    ],
  ],
  [
    'case 163: results, then the words of the user',
    {},
    [user('A'), calling(['a', 'b']), result('a', '1'), result('b', '2'), user('C')],
    [
      asked('A'),
      said(use('a'), use('b')),
      { role: 'user', content: [answered('a', '1'), answered('b', '2'), text('C')] },
    ],
  ],
  ['two user turns', {}, [user('A'), user('B')], [asked('A', 'B')]],
  [
    'two assistant turns',
    {},
    [user('A'), assistant('B'), assistant('C'), user('D')],
    [asked('A'), said(text('B'), text('C')), asked('D')],
  ],
  [
    'an assistant turn first',
    {},
    [assistant('A'), user('B')],
    [asked('Continue.'), said(text('A')), asked('B')],
  ],
  ['an answer that was begun', {}, [user('A'), assistant('B: \n')], [asked('A'), said(text('B:'))]],
  [
    'an answer that was begun, and a turn of white space',
    {},
    [user('A'), assistant('B: '), user(' ')],
    [asked('A'), said(text('B:'))],
  ],
  ['an answer begun with white space', {}, [user('A'), assistant(' ')], [asked('A')]],
  [
    'white space in the middle stays',
    {},
    [user(' A '), assistant('B '), user('C')],
    [asked(' A '), said(text('B ')), asked('C')],
  ],
  [
    'blank texts',
    {},
    [user('A', '', ' \n'), assistant('\n'), user(''), user('B')],
    [asked('A', 'B')],
  ],
  ['nothing but blank texts', {}, [user('')], [asked('Continue.')]],
  [
    'blank text beside a call',
    {},
    [user('A'), calling(['a'], { text: '\n\n' }), result('a', '1')],
    [asked('A'), said(use('a')), { role: 'user', content: [answered('a', '1')] }],
  ],
  [
    'text and a call',
    {},
    [user('A'), calling(['a'], { text: 'B' }), result('a', '1')],
    [asked('A'), said(text('B'), use('a')), { role: 'user', content: [answered('a', '1')] }],
  ],
  [
    'a result that is an error',
    {},
    [user('A'), calling(['a']), result('a', 'no', true)],
    [asked('A'), said(use('a')), { role: 'user', content: [answered('a', 'no', true)] }],
  ],
  [
    'results that say nothing',
    {},
    [user('A'), calling(['a', 'b']), result('a', ' '), result('b', '', true)],
    [
      asked('A'),
      said(use('a'), use('b')),
      { role: 'user', content: [answered('a'), answered('b', 'The tool failed.', true)] },
    ],
  ],
  [
    'emptyToolResult',
    { emptyToolResult: '(none)' },
    [user('A'), calling(['a', 'b']), result('a', ''), result('b', '', true)],
    [
      asked('A'),
      said(use('a'), use('b')),
      { role: 'user', content: [answered('a', '(none)'), answered('b', '(none)', true)] },
    ],
  ],
  [
    'toolIds word',
    {},
    [user('A'), calling(['functions.f:0']), result('functions.f:0', '1')],
    [asked('A'), said(use(WORD_ID)), { role: 'user', content: [answered(WORD_ID, '1')] }],
  ],
  [
    'toolIds any',
    { toolIds: 'any' },
    [user('A'), calling(['functions.f:0']), result('functions.f:0', '1')],
    [
      asked('A'),
      said(use('functions.f:0')),
      { role: 'user', content: [answered('functions.f:0', '1')] },
    ],
  ],
  [
    'case 161: system text in the middle, folded',
    {},
    [user('A'), system('S'), assistant('B'), system('T'), user('C')],
    [asked('A\n\nS'), said(text('B')), asked('T', 'C')],
  ],
  [
    'case 161: system text behind results, folded',
    {},
    [user('A'), calling(['a']), result('a', '1'), system('S'), user('C')],
    [asked('A'), said(use('a')), { role: 'user', content: [answered('a', '1\n\nS'), text('C')] }],
  ],
  [
    'case 161: system text in the middle, kept',
    { systemInMiddle: 'keep' },
    [user('A'), system('S'), system('T'), assistant('B')],
    [asked('A'), { role: 'system', content: [text('S'), text('T')] }, said(text('B'))],
  ],
  [
    'case 161: kept system text never comes first',
    { systemInMiddle: 'keep' },
    [user(' '), system('S'), user('A')],
    [asked('Continue.'), { role: 'system', content: [text('S')] }, asked('A')],
  ],
];

describe('the messages of', () => {
  test.each(ROWS)('%s', (_name, profile, turns, messages) => {
    expect(written({ turns }, profile)['messages']).toEqual(messages);
  });
});

const THOUGHT = { type: 'thinking', thinking: 'hm', signature: '' };
const signed = signedBy('here');
const ON = { reasoning: 'on' as const };

describe('earlier thinking', () => {
  const turns = (more: Parameters<typeof calling>[1]): Turn[] => [
    user('A'),
    calling(['a'], { reasoning: 'hm', ...more }),
    result('a', '1'),
  ];
  const rows: [string, Partial<MessagesProfile>, Parameters<typeof calling>[1], object[]][] = [
    ['signed here goes back as it came', {}, { signed }, SIGNED_BLOCKS],
    ['case 162: unsigned is left out', {}, {}, []],
    ['signed elsewhere is left out', {}, { signed: signedBy('there') }, []],
    ['in any form, signed here', { thinkingHistory: 'any' }, { signed }, SIGNED_BLOCKS],
    [
      'in any form, signed elsewhere',
      { thinkingHistory: 'any' },
      { signed: signedBy('there') },
      [THOUGHT],
    ],
    ['in any form, unsigned', { thinkingHistory: 'any' }, {}, [THOUGHT]],
    ['in any form, none', { thinkingHistory: 'any' }, { reasoning: '' }, []],
    ['in no form', { thinkingHistory: 'none' }, { signed }, []],
  ];

  test.each(rows)('%s', (_name, profile, more, thinking) => {
    expect(written({ turns: turns(more), ...ON }, profile)['messages']).toEqual([
      asked('A'),
      said(...thinking, use('a')),
      { role: 'user', content: [answered('a', '1')] },
    ]);
  });

  test('goes to no model that cannot reason', () => {
    const request = { turns: turns({ signed }), ...ON };
    for (const thinkingHistory of ['signed', 'any'] as const) {
      const { messages } = written(request, { thinkingHistory }, { reasons: false });
      expect(messages).toEqual([
        asked('A'),
        said(use('a')),
        { role: 'user', content: [answered('a', '1')] },
      ]);
    }
  });

  test('alone is no message, and none goes into an answer that was begun', () => {
    const alone = [user('A'), assistant('', { signed }), user('B')];
    expect(written({ turns: alone })['messages']).toEqual([asked('A', 'B')]);
    const begun = [user('A'), assistant('B', { signed })];
    expect(written({ turns: begun })['messages']).toEqual([asked('A'), said(text('B'))]);
  });
});

describe('whether a model with a budget is asked to think', () => {
  const bare = calling(['a']);
  const own = calling(['a'], { signed });
  const foreign = calling(['a'], { signed: signedBy('there') });
  const one = result('a', '1');
  const rows: [string, readonly Turn[], boolean][] = [
    ['a first question', [user('A')], true],
    ['a loop that begins with thinking of its own', [user('A'), own, one], true],
    ['a loop without thinking', [user('A'), bare, one], false],
    ["a loop with another upstream's thinking", [user('A'), foreign, one], false],
    ['a loop whose later steps had none', [user('A'), own, one, bare, one], true],
    ['a loop whose first step had none', [user('A'), bare, one, own, one], false],
    [
      'a loop without thinking and words beside its results',
      [user('A'), bare, one, user('B')],
      false,
    ],
    [
      'a loop without thinking and two turns of words beside its results',
      [user('A'), bare, one, user('B'), user('C')],
      false,
    ],
    ['a loop that is over', [user('A'), bare, one, assistant('B'), user('C')], true],
    ['a loop with system text behind it', [user('A'), bare, one, system('S')], false],
    ['an answer that the client has begun', [user('A'), assistant('B')], false],
    ['an answer begun, and white space', [user('A'), assistant('B'), user(' ')], false],
  ];

  test.each(rows)('%s', (_name, turns, thinks) => {
    const { thinking } = written({ turns, ...ON }, {}, { maxOutputTokens: 50_000 });
    expect(thinking).toEqual(
      thinks ? { type: 'enabled', budget_tokens: 16_384 } : { type: 'disabled' },
    );
  });

  test.each(['adaptive', 'type'] as const)('with the switch %s it always is', (thinkingSwitch) => {
    for (const [, turns] of rows) {
      const { thinking } = written({ turns, ...ON }, { thinkingSwitch });
      expect(thinking).not.toEqual({ type: 'disabled' });
    }
  });
});

describe('a server that refuses an array as content', () => {
  const never = { contentParts: 'never', cacheMarks: 'always', thinkingHistory: 'any' } as const;

  test('gets text as one string, without marks and earlier thinking', () => {
    const turns = [user('A'), user('B'), assistant('C', { reasoning: 'hm' }), user('D')];
    expect(written({ turns, system: 'S', ...ON }, never)).toMatchObject({
      system: 'S',
      messages: [
        { role: 'user', content: 'A\nB' },
        { role: 'assistant', content: 'C' },
        { role: 'user', content: 'D' },
      ],
    });
  });

  test('gets calls and results in the array that they need', () => {
    const turns = [user('A'), calling(['a']), result('a', '1')];
    expect(written({ turns }, never)['messages']).toEqual([
      { role: 'user', content: 'A' },
      said(use('a')),
      { role: 'user', content: [answered('a', '1')] },
    ]);
  });

  test('gets no images', () => {
    const turns = [picture('data:image/png;base64,aGk=')];
    expect(write({ turns }, never)).toMatchObject({ class: 'unsupported' });
  });
});

describe('images', () => {
  const PNG = 'iVBORw0KGgoAAAANSUhEUg==';
  const JPEG = '/9j/4AAQ';
  const base64 = (media_type: string, data: string): object => ({
    type: 'base64',
    media_type,
    data,
  });
  const rows: [string, string, object][] = [
    ['an address', 'https://a.example/b.png', { type: 'url', url: 'https://a.example/b.png' }],
    ['a PNG', `data:image/png;base64,${PNG}`, base64('image/png', PNG)],
    ['a PNG in capitals', `DATA:Image/PNG;BASE64,${PNG}`, base64('image/png', PNG)],
    ['a type with parameters', `data:image/png;name=a.png;base64,${PNG}`, base64('image/png', PNG)],
    ['a type that is wrong', `data:image/png;base64,${JPEG}`, base64('image/jpeg', JPEG)],
    ['no type', `data:;base64,${JPEG}`, base64('image/jpeg', JPEG)],
    [
      'a type that says nothing',
      `data:application/octet-stream;base64,${PNG}`,
      base64('image/png', PNG),
    ],
    ['a WebP', 'data:image/webp;base64,UklGRgAA', base64('image/webp', 'UklGRgAA')],
    ['a GIF', 'data:image/gif;base64,R0lGODlh', base64('image/gif', 'R0lGODlh')],
    ['another name of a type', 'data:image/jpg;base64,AAAA', base64('image/jpeg', 'AAAA')],
    ['the other alphabet', 'data:image/png;base64,-_8=', base64('image/png', '+/8=')],
    ['escapes and line breaks', 'data:image/png;base64,AA%2B\nA', base64('image/png', 'AA+A')],
    ['letters of both alphabets', 'data:image/png;base64,-_ %5F\t%2b', base64('image/png', '+//+')],
    ['percent-encoded bytes', 'data:image/gif,GIF89a%00%ff', base64('image/gif', 'R0lGODlhAP8=')],
    ['bytes after invalid escapes', 'data:image/gif,%%4g%4', base64('image/gif', 'JSU0ZyU0')],
  ];

  test.each(rows)('%s', (_name, url, source) => {
    const turns = [
      { role: 'user', parts: [...user('A').parts, ...picture(url).parts, ...user('B').parts] },
    ] as const;
    expect(written({ turns })['messages']).toEqual([
      { role: 'user', content: [text('A'), { type: 'image', source }, text('B')] },
    ]);
  });

  test.each([
    'data:image/svg+xml;base64,PHN2Zz4=',
    'data:image/svg+xml,<svg/>',
    'data:text/plain,hello',
    'data:image/png;base64,',
    'data:image/png;base64,????',
    'data:image/png,',
    'data:image/png;base64',
    'data:image/png,Ł',
    'data:image/png;base64,AA-Ł',
    `data:image/png;name=${'a'.repeat(256)};base64,AAAA`,
  ])('%s is not taken', (url) => {
    expect(write({ turns: [user('A'), picture(url)] })).toEqual({
      class: 'unsupported',
      detail: 'an image that is no PNG, JPEG, GIF or WebP',
    });
  });

  const LENGTH = 2_000_000;

  test.each<[string, string, string | undefined]>([
    ['parameters', `data:${';'.repeat(LENGTH)},`, undefined],
    ['escapes', `data:,${'%41'.repeat(LENGTH / 3)}`, undefined],
    ['escapes in base64', `data:image/png;base64,${'%41'.repeat(LENGTH / 3)}`, 'image/png'],
    ['line breaks in base64', `data:image/png;base64,${'A\n'.repeat(LENGTH / 2)}`, 'image/png'],
  ])('2 MB of %s are read at once', (_name, url, type) => {
    const cpuMs = cpuTimer();
    const output = write({ turns: [user('A'), picture(url)] });
    expect(cpuMs()).toBeLessThan(1_000);
    if (type === undefined) expect(output).toMatchObject({ class: 'unsupported' });
    else expect(output).toContain(`"media_type":"${type}"`);
  });

  test('an image is read once for each request', () => {
    let reads = 0;
    const part = {
      kind: 'image' as const,
      get url() {
        reads += 1;
        return `data:image/png;base64,${PNG}`;
      },
    };
    expect(write({ turns: [{ role: 'user', parts: [part] }] })).toContain(PNG);
    expect(reads).toBe(1);
  });

  test('imageUrls data takes no address', () => {
    const profile: Partial<MessagesProfile> = { imageUrls: 'data' };
    expect(write({ turns: [picture('https://a.example/b.png')] }, profile)).toEqual({
      class: 'unsupported',
      detail: 'this upstream takes images only as data',
    });
    expect(typeof write({ turns: [picture(`data:image/png;base64,${PNG}`)] }, profile)).toBe(
      'string',
    );
  });
});

describe('tool inputs', () => {
  const INPUTS = ['messages', '*', 'content', '*', 'input'];
  const withArguments = (json: string): Turn[] => [
    user('A'),
    assistant('', { toolCalls: [{ id: 'a', name: 'f', arguments: json }] }),
    result('a', '1'),
  ];
  const inputOf = (json: string): string | undefined => {
    const body = write({ turns: withArguments(json) });
    if (typeof body !== 'string') throw new Error(body.detail);
    JSON.parse(body);
    return valueSources(body, INPUTS).get('1.0');
  };

  test('are the bytes that the client sent', () => {
    fc.assert(
      fc.property(jsonObjectText, (json) => {
        expect(inputOf(json)).toBe(json);
      }),
    );
  });

  test.each([
    ['', '{}'],
    ['{"a":', '{}'],
    ['[1, 2]', '{"value":[1, 2]}'],
    ['"{\\"2\\":1}"', '{"2":1}'],
  ])('%p is sent as %p', (json, input) => {
    expect(inputOf(json)).toBe(input);
  });
});

const anyTurn: fc.Arbitrary<Turn> = fc.oneof(
  fc.array(fc.constantFrom('', ' ', 'A', 'B\n'), { maxLength: 2 }).map((texts) => user(...texts)),
  fc.constantFrom('', '\n', 'C ', 'D').map((said) => assistant(said)),
  fc.uniqueArray(fc.constantFrom('a', 'b', 'c.1'), { minLength: 1 }).map((ids) => calling(ids)),
  fc.constantFrom('a', 'b', 'c.1').map((id) => result(id, '1')),
  fc.constantFrom('', 'S').map(system),
);

type Block = { readonly type: string; readonly [member: string]: unknown };
type Message = { readonly role: string; readonly content: readonly Block[] };

function ids(message: Message | undefined, member: 'id' | 'tool_use_id'): unknown[] {
  return (message?.content ?? []).flatMap((block) => (member in block ? [block[member]] : []));
}

test('the vendor accepts the request for any client input', () => {
  fc.assert(
    fc.property(fc.array(anyTurn), fc.constantFrom('fold', 'keep'), (entries, systemInMiddle) => {
      const { turns } = assembleTurns([...entries, user('E')]);
      const { messages } = written({ turns }, { systemInMiddle }) as { messages: Message[] };
      expect(messages[0]?.role).toBe('user');
      messages.forEach((message, index) => {
        expect(message.role).not.toBe(messages[index - 1]?.role);
        expect(message.content.length).toBeGreaterThan(0);
        // Every call is answered in the message behind it, before anything else is said there.
        const results = ids(message, 'tool_use_id');
        expect(results.toSorted()).toEqual(ids(messages[index - 1], 'id').toSorted());
        const first = message.content.slice(0, results.length);
        expect(first.every((block) => block.type === 'tool_result')).toBe(true);
        for (const block of message.content) {
          if (block.type === 'text') expect(String(block['text']).trim()).not.toBe('');
        }
      });
    }),
    { numRuns: 1_000 },
  );
});

test('when a conversation goes on, the bytes of what came before stay', () => {
  fc.assert(
    fc.property(fc.array(anyTurn, { maxLength: 8 }), (entries) => {
      const before = assembleTurns([user('A'), ...entries, user('E')]).turns;
      const after = [...before, assistant('F'), user('G')];
      const [short, long] = [write({ turns: before }), write({ turns: after })];
      if (typeof short !== 'string' || typeof long !== 'string') throw new Error('refused');
      // Up to the brackets that close the list and the body.
      expect(long.startsWith(short.slice(0, -2))).toBe(true);
    }),
  );
});
