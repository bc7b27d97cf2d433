// The database's time, carried forward by a monotonic clock.

import { expect, test } from 'bun:test';
import { createDatabaseClock } from '../../src/cluster/clock.ts';

const HOUR_MS = 3_600_000;

function start() {
  const time = { wall: 1_000_000, monotonic: 50 };
  const clock = createDatabaseClock({ wall: () => time.wall, monotonic: () => time.monotonic });
  const pass = (ms: number): void => {
    time.wall += ms;
    time.monotonic += ms;
  };
  return { time, clock, pass };
}

test('before it knows better, it is the clock of the machine', () => {
  const { clock, pass } = start();
  expect([clock.now(), clock.offsetMs()]).toEqual([1_000_000, 0]);
  pass(500);
  expect([clock.now(), clock.offsetMs()]).toEqual([1_000_500, 0]);
});

test('an answer is about the middle of its way', () => {
  const { clock, pass } = start();
  pass(100);
  clock.learn({ databaseMs: 2_000_000, sentAt: 50, receivedAt: 150 });
  expect(clock.now()).toBe(2_000_050);
  expect(clock.offsetMs()).toBe(1_000_100 - 2_000_050);
});

test('a jump of the machine moves nothing but the offset', () => {
  const { time, clock, pass } = start();
  clock.learn({ databaseMs: 1_000_000, sentAt: 50, receivedAt: 50 });
  time.wall += HOUR_MS;
  pass(1_000);
  expect([clock.now(), clock.offsetMs()]).toEqual([1_001_000, HOUR_MS]);
});

test('it does not tremble with the way, and believes no answer that took long', () => {
  const { clock, pass } = start();
  clock.learn({ databaseMs: 1_000_000, sentAt: 50, receivedAt: 50 });
  pass(1_000);
  clock.learn({ databaseMs: 1_001_015, sentAt: 1_050, receivedAt: 1_050 });
  expect(clock.now()).toBe(1_001_000);
  clock.learn({ databaseMs: 9_000_000, sentAt: 0, receivedAt: 1_001 });
  expect(clock.now()).toBe(1_001_000);
});

test('it follows the database where that is set', () => {
  const { clock, pass } = start();
  clock.learn({ databaseMs: 1_000_000, sentAt: 50, receivedAt: 50 });
  pass(1_000);
  clock.learn({ databaseMs: 1_000_000 + HOUR_MS, sentAt: 1_050, receivedAt: 1_050 });
  expect(clock.now()).toBe(1_000_000 + HOUR_MS);
});
