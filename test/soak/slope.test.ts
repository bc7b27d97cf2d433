// The slope that judges a soak: exact on lines, unmoved by bursts, and honest about noise.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createRandom } from '../crash/random.ts';
import { growthOf, type Sample } from './sample.ts';
import { leasts, medians, type Point, slopeOf } from './slope.ts';

const line = (slope: number, count: number): Point[] =>
  Array.from({ length: count }, (_, x) => ({ x, y: 5 + slope * x }));

/** Roughly normal noise of the standard deviation 1. */
function noisy(points: readonly Point[], seed: number): Point[] {
  const random = createRandom(seed);
  const draw = (): number =>
    Array.from({ length: 12 }, random.next).reduce((sum, each) => sum + each, -6);
  return points.map(({ x, y }) => ({ x, y: y + draw() }));
}

describe('the slope', () => {
  test('of a line is that of the line, with an interval of no width', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -50, max: 50 }),
        fc.integer({ min: 8, max: 60 }),
        (by, count) => {
          const slope = slopeOf(line(by, count));
          for (const end of [slope?.estimate, slope?.low, slope?.high])
            expect(end).toBeCloseTo(by, 9);
        },
      ),
    );
  });

  test('has an interval that contains the truth in most noisy series', () => {
    const runs = Array.from({ length: 200 }, (_, seed) => slopeOf(noisy(line(0.1, 60), seed)));
    const hits = runs.filter((slope) => slope && slope.low <= 0.1 && slope.high >= 0.1).length;
    expect(hits).toBeWithin(180, 201);
  });

  test('is not moved by bursts in a tenth of the points', () => {
    const points = noisy(line(0, 100), 7).map((point, index) =>
      index % 10 === 3 ? { ...point, y: point.y + 1_000 } : point,
    );
    expect(Math.abs(slopeOf(points)?.estimate ?? 1)).toBeLessThan(0.02);
  });

  test('has a wider interval where neighbours are alike', () => {
    const white = noisy(line(0, 100), 11);
    let level = 0;
    const walk = white.map(({ x, y }) => {
      level = 0.9 * level + y;
      return { x, y: level };
    });
    const width = (points: readonly Point[]): number => {
      const slope = slopeOf(points);
      return (slope?.high ?? 0) - (slope?.low ?? 0);
    };
    expect(width(walk)).toBeGreaterThan(3 * width(white));
  });

  test('of fewer than eight points is unknown', () => {
    expect(slopeOf(line(1, 7))).toBeUndefined();
  });
});

test('medians and leasts are those of each window', () => {
  const points = [9, 1, 2, 60, 50].map((y, index) => ({ x: index * 4, y }));
  const ofBoth = (one: number, other: number) => [
    { x: 5, y: one },
    { x: 15, y: other },
  ];
  expect(medians(points, 10)).toEqual(ofBoth(2, 55));
  expect(leasts(points, 10)).toEqual(ofBoth(1, 50));
});

describe('a verdict', () => {
  const MIB = 1_024 * 1_024;
  const samples = (mibPerHour: number, minutes: number): Sample[] =>
    Array.from({ length: minutes * 6 }, (_, index) => ({
      atMs: index * 10_000,
      requests: index,
      residentBytes: 150 * MIB + (index / 360) * mibPerHour * MIB + (index % 3) * 1_000,
      anonymousBytes: 0,
      descriptors: 300 + (index % 2),
      threads: 10,
      databaseBytes: index * 300,
      logBytes: 0,
    }));
  const memory = (mibPerHour: number, minutes = 60): unknown =>
    growthOf(samples(mibPerHour, minutes), 20 * 60_000)[0]?.verdict;

  test('passes slow growth, fails fast growth, and leaves a short run undecided', () => {
    expect([memory(0.5), memory(2), memory(0, 25)]).toEqual(['passed', 'failed', 'undecided']);
  });

  test('distinguishes a leak from garbage that is collected', () => {
    const random = createRandom(5);
    let garbage = 0;
    const above = Array.from({ length: 120 * 30 }, () => {
      garbage = random.chance(0.04) ? 0 : garbage + random.next() * MIB;
      return garbage + (random.chance(0.01) ? 50 * MIB : 0);
    });
    const judged = (mibPerHour: number): unknown => {
      const run = above.map((bytes, index) => {
        const base = samples(0, 1)[0] as Sample;
        const leaked = (index / 1_800) * mibPerHour * MIB;
        return { ...base, atMs: index * 2_000, residentBytes: 150 * MIB + leaked + bytes };
      });
      return growthOf(run, 20 * 60_000)[0]?.verdict;
    };
    expect([judged(0), judged(2)]).toEqual(['passed', 'failed']);
  });

  test('leaves out a last window that is not over', () => {
    const run = samples(0, 60.5).map((sample) => ({
      ...sample,
      residentBytes: sample.residentBytes + (sample.atMs < 3_600_000 ? 0 : 20 * MIB),
    }));
    expect(growthOf(run, 20 * 60_000)[0]).toMatchObject({ last: 150, verdict: 'passed' });
  });

  test('counts no growth of the first minutes', () => {
    const grown = samples(0, 60).map((sample) => ({
      ...sample,
      residentBytes: sample.residentBytes + Math.min(sample.atMs, 1_200_000) * 100,
    }));
    expect(growthOf(grown, 20 * 60_000)[0]?.verdict).toBe('passed');
  });
});
