import { expect, test } from 'bun:test';
import { createMemoryWatch } from '../../src/server/memory-watch.ts';

const MB = 1_024 * 1_024;

type Look = readonly [inFlight: number, megabytes: number, minutes?: number];

/** Which of the looks collect, and which of them drop compiled code as well. */
function play(looks: readonly Look[]): { collecting: number[]; shrinking: number[] } {
  let [inFlight, megabytes, minutes] = [0, 0, 0];
  const [collecting, shrinking]: [number[], number[]] = [[], []];
  let index = 0;
  const look = createMemoryWatch({
    inFlight: () => inFlight,
    residentBytes: () => megabytes * MB,
    monotonic: () => minutes * 60_000,
    collect: () => void collecting.push(index),
    shrink: () => void shrinking.push(index),
  });
  for (const next of looks) {
    [inFlight, megabytes, minutes = minutes] = next;
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
  expect(play(looks)).toEqual({ collecting: [1, 3, 5, 7, 9], shrinking: [] });
});

test('drops compiled code where memory stayed above its bound for five minutes', () => {
  const looks: Look[] = [
    [9, 300, 1],
    [9, 255, 2],
    [9, 300, 5],
    [9, 300, 7],
    [9, 300, 10],
  ];
  expect(play(looks)).toEqual({ collecting: [0, 3], shrinking: [4] });
});

test('drops it again once memory has grown by 64 MB over what the last drop left', () => {
  const sizes = [300, 260, 260, 323, 325, 200, 300];
  const looks = sizes.map((megabytes, index): Look => [9, megabytes, 5 * (index + 1)]);
  expect(play(looks)).toEqual({ collecting: [1, 2, 3, 5], shrinking: [0, 4, 6] });
});

test('drops no code at any load where memory is below the bound', () => {
  const looks = [1, 2, 23, 24, 25, 48].map((hour): Look => [0, 255, hour * 60]);
  expect(play(looks).shrinking).toEqual([]);
});
