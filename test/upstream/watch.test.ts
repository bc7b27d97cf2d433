// The timers of an attempt on a test clock: each expires exactly when it should, and none for
// delays that are not the upstream's.

import { describe, expect, test } from 'bun:test';
import { createDeadlines } from '../../src/core/deadlines.ts';
import type { AttemptPhase, UpstreamFailure } from '../../src/core/failure.ts';
import type { GenerationEvent } from '../../src/core/generation.ts';
import type { UpstreamTimeouts } from '../../src/core/model.ts';
import { Watch } from '../../src/upstream/watch.ts';

const TIMEOUTS: UpstreamTimeouts = {
  connectMs: 10,
  firstByteMs: 100,
  firstContentMs: 300,
  idleMs: 80,
  minTokensPerSecond: 0,
  totalMs: 1_000,
};

const TEXT: GenerationEvent = { kind: 'text-delta', text: 'abcd' };
const USAGE: GenerationEvent = { kind: 'usage', usage: { basis: 'rejected', doubt: 'malformed' } };

type Step =
  /** At this time an awaited read arrives; bytes alone by default. */
  | readonly ['comes', atMs: number, ...events: GenerationEvent[]]
  /** From here on the client waits for the next read; they do from the start, and after each read. */
  | readonly ['waits', atMs: number]
  /** A read here is followed by no further wait. */
  | readonly ['fills', atMs: number, ...events: GenerationEvent[]];

type Options = { readonly timeouts?: Partial<UpstreamTimeouts>; readonly onePiece?: boolean };

type Seen = {
  readonly atMs: number | undefined;
  readonly failure: UpstreamFailure | undefined;
  readonly fired: number;
  readonly watch: Watch;
  readonly pass: (untilMs: number) => void;
};

/** Plays the steps, and then lets time pass; the clock is looked at in every millisecond. */
function play(steps: readonly Step[], untilMs: number, options: Options = {}): Seen {
  let nowMs = 5_000;
  let fired = 0;
  let atMs: number | undefined;
  const deadlines = createDeadlines(() => nowMs);
  const call = {
    abort() {
      fired += 1;
      atMs = nowMs - 5_000;
    },
  };
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const watch = new Watch(timeouts, deadlines, options.onePiece ?? false, call);
  const pass = (until: number): void => {
    while (nowMs - 5_000 < until) {
      nowMs += 1;
      deadlines.sweep();
    }
  };
  watch.wait();
  for (const [what, at, ...events] of steps) {
    pass(at);
    if (what === 'waits') watch.wait();
    else watch.read(events);
    if (what === 'comes') watch.wait();
  }
  pass(untilMs);
  return { atMs, failure: watch.timedOut(), fired, watch, pass };
}

const comments = (everyMs: number, count: number): Step[] =>
  Array.from({ length: count }, (_, index) => ['comes', (index + 1) * everyMs] as const);

const trickle = (fromMs: number, everyMs: number, event: GenerationEvent = TEXT): Step[] =>
  Array.from({ length: 30 }, (_, index) => ['comes', fromMs + index * everyMs, event] as const);

const text = (of: string): GenerationEvent => ({ kind: 'text-delta', text: of });
const THOUGHT: GenerationEvent = { kind: 'reasoning-delta', text: 'x' };
const CALL: GenerationEvent = { kind: 'tool-start', index: 0, id: '', name: '' };
const ARGUMENT: GenerationEvent = { kind: 'tool-delta', index: 0, json: '{' };
/** Two tokens in each gap that is allowed, and one every 40 ms comes too slowly. */
const FAST = { timeouts: { minTokensPerSecond: 40 } };

const WORDS: Readonly<Record<string, string>> = {
  first_byte: 'no byte of an answer within 100 ms',
  first_content: 'no content within 300 ms',
  stream: 'no content for 80 ms in the middle of the answer',
  throughput: 'fewer than 40 tokens a second over 80 ms',
  total: 'not complete within 1000 ms',
};

const RUNS_OUT: readonly (readonly [string, AttemptPhase, number, readonly Step[], Options])[] = [
  ['nothing comes', 'first_byte', 100, [], {}],
  ['keep-alives, no content', 'first_content', 300, comments(50, 9), {}],
  ['usage is no content', 'first_content', 300, [['comes', 10, USAGE]], {}],
  ['an empty delta is no content', 'first_content', 300, [['comes', 10, text('')]], {}],
  ['one piece has as long as first content', 'first_content', 300, [], { onePiece: true }],
  ['silence behind content', 'stream', 120, [['comes', 40, TEXT]], {}],
  ['comments fill no gap', 'stream', 120, [['comes', 40, TEXT], ...comments(55, 2)], {}],
  ['thinking is content', 'stream', 379, [...comments(90, 3), ['comes', 299, THOUGHT]], {}],
  [
    'a tool call is',
    'stream',
    230,
    [
      ['comes', 90, CALL],
      ['comes', 150, ARGUMENT],
    ],
    {},
  ],
  ['it goes on for ever', 'total', 1_000, trickle(50, 50), {}],
  ['too slow', 'throughput', 120, trickle(40, 40), FAST],
  [
    'slow from some moment on',
    'throughput',
    100,
    [['comes', 10, text('x'.repeat(400))], ...trickle(50, 40)],
    FAST,
  ],
];

test.each(RUNS_OUT)('%s: %s runs out', (_, phase, expectedMs, steps, options) => {
  const { atMs, failure, fired } = play(steps, 2_000, options);
  const expected = { class: 'timeout', phase, detail: WORDS[phase] } as UpstreamFailure;
  expect([atMs, failure, fired]).toEqual([expectedMs, expected, 1]);
});

test.each([
  ['first_content', { firstContentMs: 60 }],
  ['total', { totalMs: 60 }],
] as const)('%s runs out first where it is the shortest', (phase, timeouts) => {
  expect(play([], 2_000, { timeouts })).toMatchObject({ atMs: 60, failure: { phase } });
});

test.each<readonly [string, readonly Step[], Options]>([
  [
    'content just in time',
    [
      ['comes', 99],
      ['comes', 299, TEXT],
      ['comes', 378, TEXT],
    ],
    {},
  ],
  ['as fast as it must be', trickle(40, 20), FAST],
  [
    'as fast in bytes, where characters are tokens',
    trickle(40, 40, text('一二三四五六七八')),
    { timeouts: { minTokensPerSecond: 150, totalMs: 9_000 } },
  ],
])('nothing runs out: %s', (_, steps, options) => {
  expect(play(steps, (steps.at(-1)?.[1] ?? 0) + 20, options).failure).toBeUndefined();
});

describe('no read is awaited: the client reads slowly', () => {
  const FULL: readonly Step[] = [
    ['comes', 10, TEXT],
    ['fills', 30, TEXT],
  ];

  test('neither gap nor throughput run out, however long that takes', () => {
    const options = { timeouts: { minTokensPerSecond: 10 } };
    expect(play(FULL, 990, options).failure).toBeUndefined();
  });

  test('the time in all goes on where it stood: a client must not end an answer before its report', () => {
    expect(play(FULL, 9_000).failure).toBeUndefined();
    const steps: Step[] = [...FULL, ['waits', 5_030], ...trickle(5_060, 60)];
    expect(play(steps, 9_000)).toMatchObject({ atMs: 6_000, failure: { phase: 'total' } });
  });

  test('the gap goes on where it stood', () => {
    const steps: Step[] = [
      ['comes', 10, TEXT],
      ['fills', 60],
      ['waits', 500],
    ];
    // Fifty milliseconds were waited before.
    expect(play(steps, 900)).toMatchObject({ atMs: 530, failure: { phase: 'stream' } });
  });

  test('the throughput is of the time in which a read was awaited', () => {
    const options = { timeouts: { minTokensPerSecond: 40 } };
    const steps: Step[] = [
      ['comes', 10, TEXT],
      ['fills', 50, TEXT],
      ['waits', 500],
    ];
    expect(play(steps, 900, options)).toMatchObject({
      atMs: 540,
      failure: { phase: 'throughput' },
    });
  });
});

test('a throughput that is too low is found with the read that steps over the end of a window', () => {
  let nowMs = 0;
  let fired = 0;
  const deadlines = createDeadlines(() => nowMs);
  const timeouts = { ...TIMEOUTS, minTokensPerSecond: 40 };
  const call = {
    abort() {
      fired += 1;
    },
  };
  const watch = new Watch(timeouts, deadlines, false, call);
  // No sweep runs: each read comes before the sweep that would have seen it.
  for (let read = 0; read < 3; read += 1) {
    watch.wait();
    nowMs += 45;
    watch.read([TEXT]);
  }
  expect([fired, watch.timedOut()?.phase]).toEqual([1, 'throughput']);
});

test('an attempt that is over runs out no more', () => {
  const { watch, pass } = play([['comes', 10, TEXT]], 20);
  watch.stop();
  pass(5_000);
  expect(watch.timedOut()).toBeUndefined();
});

test('where an attempt is, and what came when', () => {
  const { watch, pass } = play([], 20);
  expect([watch.phase(), watch.times()]).toEqual(['first_byte', {}]);
  watch.read([]);
  watch.wait();
  expect([watch.phase(), watch.times()]).toEqual(['first_content', { firstByteMs: 20 }]);
  pass(50);
  watch.read([TEXT]);
  expect([watch.phase(), watch.times()]).toEqual([
    'stream',
    { firstByteMs: 20, firstContentMs: 50 },
  ]);
});
