import { expect, test } from 'bun:test';
import { createMemoryWatch } from '../../src/server/memory-watch.ts';

const MB = 1_024 * 1_024;

type Look = readonly [inFlight: number, megabytes: number, minutes?: number];

/** Which of the looks collect. */
function play(looks: readonly Look[]): number[] {
  let [inFlight, megabytes, minutes] = [0, 0, 0];
  let collections = 0;
  const look = createMemoryWatch({
    inFlight: () => inFlight,
    residentBytes: () => megabytes * MB,
    monotonic: () => minutes * 60_000,
    collect: () => {
      collections += 1;
    },
  });
  const collecting: number[] = [];
  for (const [index, next] of looks.entries()) {
    [inFlight, megabytes, minutes = minutes] = next;
    const before = collections;
    look();
    if (collections > before) collecting.push(index);
  }
  return collecting;
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
  expect(play(looks)).toEqual([1, 5]);
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
  expect(play(looks)).toEqual([0, 2, 6]);
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
  expect(play(looks)).toEqual([0, 1, 4]);
});

test('collects every five minutes in any case, as the heap grows for hours', () => {
  const looks: Look[] = [
    [0, 100, 0],
    [0, 100, 0],
    [1, 101, 4],
    [1, 101, 5],
    [0, 101, 6],
    [0, 101, 6],
    [0, 101, 9],
    [0, 102, 11],
    [3, 104, 15],
    [3, 104, 16],
  ];
  expect(play(looks)).toEqual([1, 3, 5, 7, 9]);
});
