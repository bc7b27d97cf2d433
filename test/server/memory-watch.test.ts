import { expect, test } from 'bun:test';
import { createMemoryWatch } from '../../src/server/memory-watch.ts';

const MB = 1_024 * 1_024;

type Look = readonly [inFlight: number, megabytes: number, minutes?: number, cpuMinutes?: number];

/** Which of the looks collect, and which of them drop compiled code as well. */
function play(looks: readonly Look[]): { collecting: number[]; shrinking: number[] } {
  let [inFlight, megabytes, minutes, cpuMinutes] = [0, 0, 0, 0];
  const [collecting, shrinking]: [number[], number[]] = [[], []];
  let index = 0;
  const look = createMemoryWatch({
    inFlight: () => inFlight,
    residentBytes: () => megabytes * MB,
    monotonic: () => minutes * 60_000,
    cpuSeconds: () => cpuMinutes * 60,
    collect: () => void collecting.push(index),
    shrink: () => void shrinking.push(index),
  });
  for (const next of looks) {
    [inFlight, megabytes, minutes = minutes, cpuMinutes = cpuMinutes] = next;
    look();
    index += 1;
  }
  return { collecting, shrinking };
}

test('collects after the start, and then where a little has grown and nothing is in flight twice', () => {
  const looks: Look[] = [
    [0, 30],
    [0, 30],
    [0, 30],
    [1, 60],
    [0, 60],
    [0, 60],
    [0, 60],
  ];
  expect(play(looks)).toEqual({ collecting: [1, 5], shrinking: [] });
});

test('collects under load where much has grown, and what is left once the load is over', () => {
  const looks: Look[] = [
    [1, 300],
    [9, 330],
    [9, 500],
    [9, 510],
    [1, 500],
    [0, 500],
    [0, 500],
  ];
  expect(play(looks)).toEqual({ collecting: [0, 2, 6], shrinking: [] });
});

test('measures growth from the least since a collection: memory goes back some time after it', () => {
  const looks: Look[] = [
    [0, 300],
    [0, 300],
    [0, 120],
    [0, 140],
    [0, 145],
    [0, 145],
  ];
  expect(play(looks)).toEqual({ collecting: [0, 1, 4], shrinking: [] });
});

test('collects every five minutes in any case, as the heap grows for hours', () => {
  const looks: Look[] = [
    [0, 100, 0, 0],
    [0, 100, 0, 0],
    [1, 101, 4, 4],
    [1, 101, 5, 5],
    [0, 101, 6, 6],
    [0, 101, 6, 6],
    [0, 101, 9, 9],
    [0, 102, 11, 11],
    [3, 104, 15, 15],
    [3, 104, 16, 16],
  ];
  expect(play(looks)).toEqual({ collecting: [1, 3, 5, 7, 9], shrinking: [] });
});

test('drops compiled code after a minute of less than an eighth of one processor', () => {
  const looks: Look[] = [
    [1, 100, 0.5, 0],
    [1, 100, 1, 0.1],
    [1, 100, 1.9, 0.1],
    [1, 100, 2, 0.3],
    [1, 100, 3, 0.4],
  ];
  expect(play(looks)).toEqual({ collecting: [], shrinking: [1, 4] });
});

test('drops no code before it has worked for two seconds since the last drop', () => {
  const looks: Look[] = [
    [1, 100, 1, 0.02],
    [1, 100, 2, 0.04],
    [1, 100, 3, 0.06],
    [1, 100, 4, 0.06],
    [1, 100, 4.9, 0.1],
  ];
  expect(play(looks)).toEqual({ collecting: [], shrinking: [1] });
});

test('collects between where something has grown, which puts off no drop of code', () => {
  const looks: Look[] = [
    [0, 100, 0, 0],
    [0, 100, 0, 0],
    [0, 130, 0.5, 0],
    [0, 130, 1, 0.1],
  ];
  expect(play(looks)).toEqual({ collecting: [1, 2], shrinking: [3] });
});

test('drops compiled code once a day at any load', () => {
  const hours = [1, 2, 23, 24, 25, 47, 48];
  const looks = hours.map((hour): Look => [9, 100, hour * 60, hour * 60]);
  expect(play(looks)).toEqual({ collecting: [0, 1, 2, 4, 5], shrinking: [3, 6] });
});
