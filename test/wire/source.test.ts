// The bytes of tool inputs, found in bodies that are laid out in every way JSON allows.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { AssertionError } from '../../src/core/assert.ts';
import { toolInputSources } from '../../src/wire/source.ts';
import { jsonObjectText, jsonText } from './messages/fixtures.ts';

type Row = [name: string, text: string, inputs: (string | undefined)[][]];

const ROWS: Row[] = [
  ['nothing in it', '{}', []],
  ['no list of messages', ' {"messages" : {"content":[{"input":1}]} } ', []],
  [
    'an input of integer-like keys',
    '{"messages":[{"content":[{"input":{"2":1, "1":2}}]}]}',
    [['{"2":1, "1":2}']],
  ],
  ['an escaped key', '{"messages":[{"content":[{"\\u0069nput":{"a":1}}]}]}', [['{"a":1}']]],
  ['an input twice', '{"messages":[{"content":[{"input":{},"input":{"b":0}}]}]}', [['{"b":0}']]],
  ['a content twice', '{"messages":[{"content":[{"input":1},{"input":2}],"content":[{}]}]}', [[]]],
  [
    'a content that becomes a string',
    '{"messages":[{"content":[{"input":1}],"content":"x"}]}',
    [[]],
  ],
  ['messages twice', '{"messages":[{"content":[{"input":1}]}],"messages":[]}', []],
  ['an input elsewhere', '{"input":1,"a":[{"messages":[{"content":[{"input":1}]}]}]}', []],
  [
    'brackets and quotes in strings',
    '{"x":"\\"}]","messages":[{"content":[{"t":"\\\\","input":{"a":"}\\"]"}}]}]}',
    [['{"a":"}\\"]"}']],
  ],
];

describe('the sources of tool inputs', () => {
  test.each(ROWS)('in a body with %s', (_name, text, inputs) => {
    expect(toolInputSources(text)).toEqual(inputs);
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
        expect(toolInputSources(text)).toEqual(
          messages.map((blocks) => blocks.map(([, input]) => input)),
        );
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
        const sources = toolInputSources(text);
        for (const [index, { content }] of messages.entries()) {
          if (!Array.isArray(content)) continue;
          for (const [place, value] of content.entries()) {
            const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
            const source = sources[index]?.[place];
            const found = source === undefined ? undefined : JSON.parse(source);
            expect(found).toEqual(isObject ? value.input : undefined);
          }
        }
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
    const started = performance.now();
    expect(toolInputSources(text)[0]?.length).toBe(40_000);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

/** What a torn text gives does not matter; that the scan comes back does. */
function outcome(text: string): string {
  try {
    toolInputSources(text);
  } catch (error) {
    if (!(error instanceof AssertionError)) throw error;
  }
  return 'ended';
}

function list(items: readonly string[]): string {
  return `[${items.join(',')}]`;
}
