// Jobs that start and stop with leadership.

import { expect, test } from 'bun:test';
import { createDuties } from '../../src/cluster/duties.ts';

test('jobs start once with leadership, stop with it, and start again', () => {
  const told: string[] = [];
  let leads = false;
  const job = (name: string) => () => {
    told.push(`begin ${name}`);
    return () => void told.push(`end ${name}`);
  };
  const duties = createDuties(() => leads, [job('one'), job('two')]);
  const settle = (): string[] => {
    duties.settle();
    return told.splice(0);
  };
  expect(settle()).toEqual([]);
  leads = true;
  expect(settle()).toEqual(['begin one', 'begin two']);
  expect(settle()).toEqual([]);
  leads = false;
  expect(settle()).toEqual(['end one', 'end two']);
  expect(settle()).toEqual([]);
  leads = true;
  expect(settle()).toEqual(['begin one', 'begin two']);
  duties.close();
  expect(told.splice(0)).toEqual(['end one', 'end two']);
  expect(settle()).toEqual([]);
});
