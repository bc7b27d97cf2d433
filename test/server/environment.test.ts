import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { ConfigError } from '../../src/config/read.ts';
import { parseEnvFile, readEnvironment } from '../../src/server/environment.ts';
import { thrownBy } from '../support/thrown.ts';

const problemsOf = (action: () => unknown): readonly string[] =>
  thrownBy(ConfigError, action)?.problems ?? [];

describe('parseEnvFile', () => {
  const cases: readonly (readonly [string, string, Record<string, string>])[] = [
    ['plain, empty and spaced', 'A=1\nB=\n  C = two words \n', { A: '1', B: '', C: 'two words' }],
    [
      'comments and blank lines',
      '# c\n\n   # d\nA=1 # e\nB=a#b\nC=#\n',
      { A: '1', B: 'a#b', C: '' },
    ],
    ['export', 'export A=1\nexport\tB=2', { A: '1', B: '2' }],
    ['carriage returns and a byte order mark', '\uFEFFA=1\r\nB="2"\r\n', { A: '1', B: '2' }],
    ['single quotes take everything', `A='x # \\n $B "y"' # c`, { A: 'x # \\n $B "y"' }],
    ['double quotes and escapes', 'A="x # \\n\\t\\"\\\\ \\q $B"', { A: 'x # \n\t"\\ \\q $B' }],
    ['values over lines', 'A="1\n2"\nB=\'3\n4\'\n', { A: '1\n2', B: '3\n4' }],
    [
      'nothing is expanded or executed',
      'A=$HOME\nB=$(id)\nC=`id`',
      { A: '$HOME', B: '$(id)', C: '`id`' },
    ],
    ['equals signs and quotes inside', `A=a=b\nB=it's "so"`, { A: 'a=b', B: `it's "so"` }],
    ['the last one wins', 'A=1\nA=2', { A: '2' }],
    [
      'names of object members',
      '__proto__=1\nconstructor=2',
      Object.fromEntries([
        ['__proto__', '1'],
        ['constructor', '2'],
      ]),
    ],
    ['an empty file', '', {}],
  ];
  for (const [name, source, expected] of cases) {
    test(name, () => {
      expect(Object.entries(parseEnvFile(source, '.env'))).toEqual(Object.entries(expected));
    });
  }

  test('reports every line that is no assignment, and shows none of them', () => {
    const source = 'A=1\nsk-secret\nB="open\n=x\n1A=2\nC=3\nD="x" y\n';
    const problem = (line: number) =>
      `.env, line ${line}: must be NAME=value, or a comment that starts with #.`;
    expect(problemsOf(() => parseEnvFile(source, '.env'))).toEqual([2, 3, 4, 5, 7].map(problem));
  });

  test('reads back any text in single or double quotes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const value = text.replaceAll("'", '').replaceAll('\r', '');
        const escaped = text.replace(/[\\"]/g, '\\$&').replaceAll('\r', '\\r');
        expect(parseEnvFile(`A='${value}'\nB="${escaped}"\nC=3`, '.env')).toEqual({
          A: value,
          B: text,
          C: '3',
        });
      }),
    );
  });
});

describe('readEnvironment', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'tollgate-environment-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  test('lays the process environment over the file and returns the names of the file', () => {
    writeFileSync(join(directory, '.env'), 'PORT=1\nHOST=file\n');
    expect(readEnvironment({ PORT: '2', PATH: '/bin', NONE: undefined }, directory)).toEqual({
      variables: { PORT: '2', HOST: 'file', PATH: '/bin' },
      namesInFile: ['PORT', 'HOST'],
    });
  });

  test('does without a file', () => {
    expect(readEnvironment({ A: '1' }, directory)).toEqual({
      variables: { A: '1' },
      namesInFile: [],
    });
  });

  test('reads another file when one is named, relative to the directory', () => {
    writeFileSync(join(directory, '.env'), 'A=1');
    writeFileSync(join(directory, 'other.env'), 'A=2');
    const { variables } = readEnvironment({ TOLLGATE_ENV_FILE: 'other.env' }, directory);
    expect(variables).toEqual({ A: '2', TOLLGATE_ENV_FILE: 'other.env' });
  });

  test('refuses a named file that is missing', () => {
    expect(problemsOf(() => readEnvironment({ TOLLGATE_ENV_FILE: 'none' }, directory))).toEqual([
      `TOLLGATE_ENV_FILE names a file that does not exist: ${join(directory, 'none')}`,
    ]);
  });

  test('refuses a file that cannot be read', () => {
    mkdirSync(join(directory, '.env'));
    expect(problemsOf(() => readEnvironment({}, directory))).toEqual([
      `${join(directory, '.env')} cannot be read. Check that it is a file and that its permissions allow it.`,
    ]);
  });

  test.skipIf(process.getuid?.() === 0)('refuses a file without permission', () => {
    writeFileSync(join(directory, '.env'), 'A=1');
    chmodSync(join(directory, '.env'), 0);
    expect(problemsOf(() => readEnvironment({}, directory))).toHaveLength(1);
  });
});
