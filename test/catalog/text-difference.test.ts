// Differences between texts, and two changes of one text made together.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { mergedText, textDifference } from '../../src/catalog/text-difference.ts';

const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd', ''), { maxLength: 12 });
const textOf = (list: readonly string[]) => list.map((line) => `${line}\n`).join('');

test('shows each changed line, with three lines around it', () => {
  const before = textOf(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
  expect(textDifference(before, before.replace('5', 'five'))).toEqual([
    { kind: 'gap', line: 0, text: '' },
    { kind: 'same', line: 2, text: '2' },
    { kind: 'same', line: 3, text: '3' },
    { kind: 'same', line: 4, text: '4' },
    { kind: 'removed', line: 5, text: '5' },
    { kind: 'added', line: 5, text: 'five' },
    { kind: 'same', line: 6, text: '6' },
    { kind: 'same', line: 7, text: '7' },
    { kind: 'same', line: 8, text: '8' },
    { kind: 'gap', line: 0, text: '' },
  ]);
  expect(textDifference(before, before)).toEqual([]);
});

test('law: removed and added lines make the one text from the other', () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const difference = textDifference(textOf(before), textOf(after));
      const count = (kind: string) => difference.filter((each) => each.kind === kind).length;
      expect(count('added') - count('removed')).toBe(after.length - before.length);
      for (const { kind, line, text } of difference) {
        const lineOf: readonly string[] = kind === 'removed' ? before : after;
        if (kind !== 'gap') expect(lineOf[line - 1]).toBe(text);
      }
    }),
  );
});

test('law: what one side alone changed is merged as it is', () => {
  fc.assert(
    fc.property(lines, lines, (base, changed) => {
      const [old, now] = [textOf(base), textOf(changed)];
      expect(mergedText(old, now, old)).toBe(now);
      expect(mergedText(old, old, now)).toBe(now);
      expect(mergedText(old, now, now)).toBe(now);
    }),
  );
});

test('changes of different lines are merged, and those of one line are marked', () => {
  const base = 'a = 1\n\nb = 1\n';
  expect(mergedText(base, 'a = 2\n\nb = 1\n', 'a = 1\n\nb = 3\n')).toBe('a = 2\n\nb = 3\n');
  expect(mergedText('a = 1\nb = 1', 'a = 2\nb = 1', 'a = 1\nb = 3')).toBe('a = 2\nb = 3');
  expect(mergedText(base, 'a = 2\n\nb = 1\n', 'a = 3\n\nb = 1\n')).toBe(
    '<<<<<<< file\na = 2\n=======\na = 3\n>>>>>>> draft\n\nb = 1\n',
  );
});
