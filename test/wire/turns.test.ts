// Conversations from clients, and what an upstream may receive: examples as a table, then laws for
// every list.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type {
  AssistantTurn,
  SystemTurn,
  ToolTurn,
  Turn,
  UserTurn,
} from '../../src/core/generation.ts';
import { assembleTurns } from '../../src/wire/turns.ts';
import { foldSystem } from '../../src/wire/upstream/fold-system.ts';
import { cpuTimer } from '../support/cpu-time.ts';

const UNANSWERED = 'This tool call was not answered.';
const UNMATCHED = 'Result of a tool call that does not precede it in this conversation:\n';

function user(...texts: string[]): UserTurn {
  return { role: 'user', parts: texts.map((text) => ({ kind: 'text', text })) };
}

function assistant(text: string, ...ids: string[]): AssistantTurn {
  const toolCalls = ids.map((id) => ({ id, name: 'f', arguments: '{}' }));
  return { role: 'assistant', reasoning: '', text, toolCalls };
}

function tool(toolCallId: string, text: string, isError = false): ToolTurn {
  return { role: 'tool', toolCallId, text, isError };
}

function system(text: string): SystemTurn {
  return { role: 'system', text };
}

const IMAGE: UserTurn = { role: 'user', parts: [{ kind: 'image', url: 'https://a.example/b' }] };

type Row = [name: string, entries: Turn[], system: string, turns: Turn[]];

const ROWS: Row[] = [
  ['nothing', [], '', []],
  ['system entries alone', [system('A'), system(''), system('B')], 'A\n\nB', []],
  ['system at the head', [system('A'), user('Q')], 'A', [user('Q')]],
  ['system after a user turn', [user('Q'), system('S')], '', [user('Q\n\nS')]],
  [
    'system after a picture',
    [IMAGE, system('S')],
    '',
    [{ role: 'user', parts: [...IMAGE.parts, ...user('S').parts] }],
  ],
  [
    'system between an answer and a user turn',
    [user('Q'), assistant('A'), system('S'), user('Q2')],
    '',
    [user('Q'), assistant('A'), user('S', 'Q2')],
  ],
  [
    'system between two answers',
    [user('Q'), assistant('A'), system('S'), assistant('B')],
    '',
    [user('Q'), assistant('A'), user('S'), assistant('B')],
  ],
  [
    'system as the last word',
    [user('Q'), assistant('A'), system('S'), system('T')],
    '',
    [user('Q'), assistant('A'), user('S', 'T')],
  ],
  [
    'system between a call and its results',
    [assistant('', 'a', 'b'), system('S'), tool('a', '1'), system('T'), tool('b', '2')],
    '',
    [assistant('', 'a', 'b'), tool('a', '1'), tool('b', '2\n\nS\n\nT')],
  ],
  [
    'system behind a result without text',
    [assistant('', 'a'), tool('a', ''), system('S'), user('Q')],
    '',
    [assistant('', 'a'), tool('a', 'S'), user('Q')],
  ],
  [
    'system behind a call without a result',
    [assistant('', 'a'), system('S')],
    '',
    [assistant('', 'a'), tool('a', `${UNANSWERED}\n\nS`, true)],
  ],
  [
    'results in another order than the calls',
    [assistant('', 'a', 'b'), tool('b', '2'), tool('a', '1', true)],
    '',
    [assistant('', 'a', 'b'), tool('b', '2'), tool('a', '1', true)],
  ],
  ['calls at the very end', [assistant('', 'a')], '', [assistant('', 'a')]],
  [
    'a call without a result before a user turn',
    [assistant('', 'a', 'b'), tool('b', '2'), user('Q')],
    '',
    [assistant('', 'a', 'b'), tool('b', '2'), tool('a', UNANSWERED, true), user('Q')],
  ],
  [
    'a call without a result before an answer',
    [assistant('', 'a'), assistant('A')],
    '',
    [assistant('', 'a'), tool('a', UNANSWERED, true), assistant('A')],
  ],
  [
    'a call without a result beside one that has it, at the end',
    [assistant('', 'a', 'b'), tool('a', '1')],
    '',
    [assistant('', 'a', 'b'), tool('a', '1'), tool('b', UNANSWERED, true)],
  ],
  [
    'calls with the same id',
    [assistant('', 'x', 'x'), tool('x', '1'), tool('x', '2')],
    '',
    [assistant('', 'x', 'x'), tool('x', '1'), tool('x', '2')],
  ],
  [
    'calls with the same id and one result',
    [assistant('', 'x', 'y', 'x'), tool('x', '1')],
    '',
    [
      assistant('', 'x', 'y', 'x'),
      tool('x', '1'),
      tool('y', UNANSWERED, true),
      tool('x', UNANSWERED, true),
    ],
  ],
  ['a result without any call', [tool('a', '1'), user('Q')], '', [user(`${UNMATCHED}1`, 'Q')]],
  [
    'a result of another call',
    [assistant('', 'a'), tool('z', '9'), tool('a', '1'), assistant('A')],
    '',
    [assistant('', 'a'), tool('a', '1'), user(`${UNMATCHED}9`), assistant('A')],
  ],
  [
    'a second result of a call',
    [assistant('', 'a'), tool('a', '1'), tool('a', '2')],
    '',
    [assistant('', 'a'), tool('a', '1'), user(`${UNMATCHED}2`)],
  ],
  [
    'a result that comes after a user turn',
    [assistant('', 'a'), user('Q'), tool('a', '1')],
    '',
    [assistant('', 'a'), tool('a', '1'), user('Q')],
  ],
  [
    'a picture between two results',
    [assistant('', 'a', 'b'), tool('a', '1'), IMAGE, tool('b', '2'), user('Q')],
    '',
    [assistant('', 'a', 'b'), tool('a', '1'), tool('b', '2'), IMAGE, user('Q')],
  ],
  [
    'a result that comes after an answer',
    [assistant('', 'a'), user('Q'), assistant('A'), tool('a', '1')],
    '',
    [
      assistant('', 'a'),
      tool('a', UNANSWERED, true),
      user('Q'),
      assistant('A'),
      user(`${UNMATCHED}1`),
    ],
  ],
  ['two user turns', [user('Q'), user('R')], '', [user('Q'), user('R')]],
];

/** What an upstream is given that takes system text only at the front. */
function assembleFolded(entries: readonly Turn[]): ReturnType<typeof assembleTurns> {
  const { system: prompt, turns } = assembleTurns(entries);
  return { system: prompt, turns: foldSystem(turns) };
}

describe('a conversation', () => {
  test.each(ROWS)('with %s', (_name, entries, prompt, turns) => {
    expect(assembleFolded(entries)).toEqual({ system: prompt, turns });
  });

  test('keeps system text in the middle, behind the results of a call', () => {
    const [call, result] = [assistant('', 'a'), tool('a', '1')];
    expect(assembleTurns([user('Q'), system('S'), call, system('T'), result, user('R')])).toEqual({
      system: '',
      turns: [user('Q'), system('S'), call, result, system('T'), user('R')],
    });
  });
});

test('many system turns after a turn with many parts are folded at once', () => {
  const texts = Array.from({ length: 49_000 }, () => '');
  const turns = [user(...texts), ...Array.from({ length: 10_000 }, () => system('S'))];
  const cpuMs = cpuTimer();
  const folded = foldSystem(turns);
  expect(cpuMs()).toBeLessThan(1_000);
  expect(folded).toHaveLength(1);
  // The request itself stays as it is: another upstream may take its system turns.
  expect(turns[0]).toEqual(user(...texts));
});

const ids = fc.subarray(['a', 'b', 'c']);

/** Every text is unique, so that one that got lost is seen. */
const conversation: fc.Arbitrary<Turn[]> = fc
  .array(
    fc.oneof(
      fc.constant((text: string): Turn => system(text)),
      fc.constant((text: string): Turn => user(text)),
      ids.map(
        (some) =>
          (text: string): Turn =>
            assistant(text, ...some),
      ),
      fc.constantFrom('a', 'b', 'c', 'd').map(
        (id) =>
          (text: string): Turn =>
            tool(id, text),
      ),
    ),
    { maxLength: 12 },
  )
  .map((makers) => makers.map((make, index) => make(`text-${index};`)));

describe.each([
  ['as it is', assembleTurns],
  ['folded', assembleFolded],
])('every conversation, %s,', (_name, assemble) => {
  test('keeps results right behind their calls, and leaves no call open but at the end', () => {
    fc.assert(
      fc.property(conversation, (entries) => {
        const { turns } = assemble(entries);
        let open: string[] = [];
        for (const turn of turns) {
          if (turn.role === 'tool') {
            expect(open).toContain(turn.toolCallId);
            open.splice(open.indexOf(turn.toolCallId), 1);
            continue;
          }
          expect(open).toEqual([]);
          if (turn.role === 'assistant') open = turn.toolCalls.map((call) => call.id);
        }
        if (open.length > 0) expect(turns.at(-1)?.role).toBe('assistant');
      }),
    );
  });

  test('loses no text', () => {
    fc.assert(
      fc.property(conversation, (entries) => {
        const output = JSON.stringify(assemble(entries));
        entries.forEach((_entry, index) => {
          expect(output).toContain(`text-${index};`);
        });
      }),
    );
  });

  test('gives the same turns again when an answer and more follow', () => {
    fc.assert(
      fc.property(conversation, ids, conversation, (before, calls, after) => {
        const first = assemble(before);
        const second = assemble([...before, assistant('answer', ...calls), ...after]);
        expect(second.turns.slice(0, first.turns.length)).toEqual([...first.turns]);
        expect(second.system).toBe(first.system);
      }),
    );
  });
});
