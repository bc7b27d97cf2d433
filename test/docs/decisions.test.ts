// Decisions keep to one form: number, title, status and date. The index lists each of them as it is.

import { describe, expect, test } from 'bun:test';
import { DECISIONS, ROOT, read } from './documents.ts';

const INDEX = 'src/decisions/README.md';
const THEMES = 'src/decisions/themes.md';
const FORM =
  /^# (\d{4}): (\S.*)\n\n- Status: (.+)\n- Date: (\d{4}-\d\d-\d\d)\n(?:- Amended by: (.+)\n)?\n\S/;
const STATUS = /^(?:accepted|superseded by (\d{4}))$/;

type Decision = {
  readonly path: string;
  readonly number: string;
  readonly title: string;
  readonly status: string;
  readonly date: string;
  readonly amendedBy: readonly string[];
};

/** The head of a decision, or undefined where it does not have the form. */
function parse(path: string, text: string): Decision | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const [, number = '', title = '', status = '', date = '', amendedBy] = match;
  return { path, number, title, status, date, amendedBy: amendedBy?.split(', ') ?? [] };
}

const decisions = DECISIONS.flatMap((path) => parse(path, read(path)) ?? []);

/** Successors that are not a later decision. */
function danglingSuccessors(all: readonly Decision[]): string[] {
  return all.flatMap(({ number, status, amendedBy }) => {
    const successor = STATUS.exec(status)?.[1];
    return [...amendedBy, ...(successor === undefined ? [] : [successor])]
      .filter((other) => other <= number || !all.some((decision) => decision.number === other))
      .map((other) => `${number} names ${other}`);
  });
}

const row = ({ path, number, title, date, status }: Decision): string =>
  `| [${number}](${path.split('/').at(-1)}) | ${title} | ${date} | ${status} |`;

const sample: Decision = {
  ...{ path: 'src/decisions/0001-a.md', number: '0001', title: 'A', status: 'accepted' },
  ...{ date: '2026-01-01', amendedBy: [] },
};

describe('decisions', () => {
  test('each has a number, a title, a status and a date', () => {
    const formless = DECISIONS.filter((path) => parse(path, read(path)) === undefined);
    expect(formless).toEqual([]);
    expect(parse('a', '# 0001: A\n\n- Status: accepted\n\nText.')).toBeUndefined();
  });

  test('each status is accepted or names a successor', () => {
    expect(decisions.filter(({ status }) => !STATUS.test(status))).toEqual([]);
    expect('rejected').not.toMatch(STATUS);
  });

  test('a decision is superseded or amended by a later one that exists', () => {
    expect(danglingSuccessors(decisions)).toEqual([]);
    const lost = { ...sample, status: 'superseded by 0002', amendedBy: ['0001'] };
    expect(danglingSuccessors([lost])).toEqual(['0001 names 0001', '0001 names 0002']);
  });

  test('numbers begin the file names, without a gap, in order of dates', () => {
    expect(decisions.map(({ number }) => number)).toEqual(
      decisions.map((_, at) => String(at + 1).padStart(4, '0')),
    );
    const misnamed = decisions.filter(
      ({ path, number }) => !path.startsWith(`src/decisions/${number}-`),
    );
    expect(misnamed).toEqual([]);
    const dates = decisions.map(({ date }) => date);
    expect(dates).toEqual(dates.toSorted());
  });

  test('the index lists each with number, title, date and status', () => {
    const rows = read(INDEX)
      .split('\n')
      .filter((line) => line.startsWith('| ['));
    expect(rows).toEqual(decisions.map(row));
  });

  test('each stands under one theme, by its title and where it leads', () => {
    const listed = read(THEMES)
      .split('\n')
      .filter((line) => line.startsWith('- ['));
    const line = ({ path, number, title, status }: Decision): string =>
      `- [${number}](${path.split('/').at(-1)}) ${title}${status === 'accepted' ? '' : ` (${status})`}`;
    expect(listed.toSorted()).toEqual(decisions.map(line));
  });

  test('no Markdown beside the guide to the code holds more of them', () => {
    const inFolder = (pattern: string) => [...new Bun.Glob(pattern).scanSync({ cwd: ROOT })];
    expect(inFolder('src/*.md')).toEqual(['src/README.md']);
    expect(inFolder('src/decisions/*').toSorted()).toEqual([...DECISIONS, INDEX, THEMES]);
  });

  test('each has at most 40 lines', () => {
    const long = DECISIONS.filter((path) => read(path).trimEnd().split('\n').length > 40);
    expect(long).toEqual([]);
  });
});
