// The source bytes of values, above all tool inputs, in bodies with every layout that JSON allows.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { AssertionError } from '../../src/core/assert.ts';
import { valueSources } from '../../src/wire/json-source.ts';
import { cpuTimer } from '../support/cpu-time.ts';
import { jsonObjectText, jsonText } from './messages/fixtures.ts';

const INPUTS = ['messages', '*', 'content', '*', 'input'] as const;

type Row = [name: string, text: string, inputs: Record<string, string>];

const ROWS: Row[] = [
  ['nothing in it', '{}', {}],
  ['no list of messages', ' {"messages" : {"content":[{"input":1}]} } ', {}],
  [
    'an input of integer-like keys',
    '{"messages":[{"content":[{"input":{"2":1, "1":2}}]}]}',
    { '0.0': '{"2":1, "1":2}' },
  ],
  ['an escaped key', '{"messages":[{"content":[{"\\u0069nput":{"a":1}}]}]}', { '0.0': '{"a":1}' }],
  [
    'an input twice',
    '{"messages":[{"content":[{"input":{},"input":{"b":0}}]}]}',
    { '0.0': '{"b":0}' },
  ],
  [
    'a content twice',
    '{"messages":[{"content":[{"input":1},{"input":2}],"content":[{},{"input":3}]}]}',
    { '0.1': '3' },
  ],
  [
    'a content that becomes a string',
    '{"messages":[{"content":[{"input":0}]},{"content":[{"input":1}],"content":"x"}]}',
    { '0.0': '0' },
  ],
  ['messages twice', '{"messages":[{"content":[{"input":1}]}],"messages":[]}', {}],
  ['an input elsewhere', '{"input":1,"a":[{"messages":[{"content":[{"input":1}]}]}]}', {}],
  [
    'brackets and quotes in strings',
    '{"x":"\\"}]","messages":[{"content":[{"t":"\\\\","input":{"a":"}\\"]"}}]}]}',
    { '0.0': '{"a":"}\\"]"}' },
  ],
  [
    'inputs in several places',
    '{"messages":[{"content":[]},{"content":[{},{"input":[]},7]},[],{"content":[{"input":null}]}]}',
    { '1.1': '[]', '3.0': 'null' },
  ],
];

const PATHS: [text: string, path: string[], found: Record<string, string>][] = [
  [' {"a":1} ', [], { '': '{"a":1}' }],
  ['{"b":2,"a":{"b":1.0}}', ['a', 'b'], { '': '1.0' }],
  ['[1e3,"x",[ ]]', ['*'], { '0': '1e3', '1': '"x"', '2': '[ ]' }],
  [
    '{"content":[{"input":{"a":1}},{"input":{}}]}',
    ['content', '*', 'input'],
    { '0': '{"a":1}', '1': '{}' },
  ],
  ['[[1,2],3,[[4]]]', ['*', '*'], { '0.0': '1', '0.1': '2', '2.0': '[4]' }],
  ['{"*":1,"a":2}', ['*'], {}],
];

describe('the sources of values', () => {
  test.each(ROWS)('in a body with %s', (_name, text, inputs) => {
    expect(Object.fromEntries(valueSources(text, INPUTS))).toEqual(inputs);
  });

  test.each(PATHS)('in %p at %p', (text, path, found) => {
    expect(Object.fromEntries(valueSources(text, path))).toEqual(found);
  });

  test('are the bytes that the body was written with', () => {
    const members = fc.array(fc.tuple(fc.constantFrom('type', 'name', 'x'), jsonText), {
      maxLength: 2,
    });
    const block = fc.tuple(members, jsonObjectText, members);
    fc.assert(
      fc.property(fc.array(fc.array(block, { maxLength: 3 }), { maxLength: 3 }), (messages) => {
        const spelled = (list: [string, string][]): string[] => list.map(([k, v]) => `"${k}":${v}`);
        const contents = messages.map((blocks) => {
          const texts = blocks.map(([before, input, after]) =>
            [...spelled(before), `"input": ${input} `, ...spelled(after)].join(' ,\n'),
          );
          return `{"role":"assistant","content":[${texts.map((text) => `{${text}}`).join(',')}]}`;
        });
        const text = `{"model":"m","messages":[${contents.join(', ')}]}`;
        JSON.parse(text);
        const written = messages.flatMap((blocks, index) => {
          return blocks.map(
            ([, input], place): [string, string] => [`${index}.${place}`, input] as const,
          );
        });
        expect([...valueSources(text, INPUTS)]).toEqual(written);
      }),
    );
  });

  test('agree with the parser on any body', () => {
    const anyBlock = fc.oneof(jsonObjectText, jsonText);
    const anyContent = fc.oneof(jsonText, fc.array(anyBlock, { maxLength: 3 }).map(list));
    const body = fc
      .array(fc.tuple(fc.constantFrom('messages', 'x'), fc.array(anyContent, { maxLength: 3 })))
      .map((members) => {
        const texts = members.map(([name, contents]) => {
          return `"${name}":${list(contents.map((content) => `{"content":${content}}`))}`;
        });
        return `{${texts.join(',')}}`;
      });
    fc.assert(
      fc.property(body, (text) => {
        const { messages = [] } = JSON.parse(text);
        const parsed = new Map<string, unknown>();
        for (const [index, { content }] of messages.entries()) {
          if (!Array.isArray(content)) continue;
          for (const [place, value] of content.entries()) {
            const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
            if (isObject && 'input' in value) parsed.set(`${index}.${place}`, value.input);
          }
        }
        const sources = [...valueSources(text, INPUTS)];
        expect(new Map(sources.map(([key, source]) => [key, JSON.parse(source)]))).toEqual(parsed);
      }),
    );
  });

  test('are not looked for past the end of a text that is not JSON', () => {
    const text = '{"messages":[{"content":[{"input":{"a":["b\\"",1]}}]}]}';
    for (let end = 1; end < text.length; end += 1) {
      const torn = text.slice(0, end);
      expect([torn, outcome(torn)]).toEqual([torn, 'ended']);
    }
  });

  test('take one pass, also over a body made to be slow', () => {
    const calls = '{"input":{}},'.repeat(40_000);
    const repeats = '"content":[],'.repeat(70_000);
    const text = `{"messages":[{"content":[${calls}{}]},{${repeats}"x":"${'\\\\'.repeat(300_000)}"}]}`;
    const cpuMs = cpuTimer();
    expect(valueSources(text, INPUTS).size).toBe(40_000);
    expect(cpuMs()).toBeLessThan(2_000);
  });

  test('are not slowed down, nor their stack used up, by depth that is skipped', () => {
    const deep = '['.repeat(300_000) + ']'.repeat(300_000);
    expect(Object.fromEntries(valueSources(`{"x":${deep},"a":[${deep}]}`, ['a', '*']))).toEqual({
      '0': deep,
    });
  });
});

/** What a torn text gives does not matter; that the scan comes back does. */
function outcome(text: string): string {
  try {
    valueSources(text, INPUTS);
  } catch (error) {
    if (!(error instanceof AssertionError)) throw error;
  }
  return 'ended';
}

function list(items: readonly string[]): string {
  return `[${items.join(',')}]`;
}
