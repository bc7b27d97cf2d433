// Faults of the timers of an attempt and of the story that is told of it: upstreams that are waited
// for without end, and answers that are cut although nothing was wrong with them.

import type { Fault } from '../fault.ts';

const WATCH = 'src/upstream/watch.ts';
const LOG = 'src/generate/attempt-log.ts';

export const TIMERS: readonly Fault[] = [
  {
    id: 'T-70a',
    plants: 'keep-alives fill the gap between two events',
    edits: [
      {
        file: WATCH,
        find: 'gapMs = tokens > 0 ? 0 : gapMs + waitedMs;',
        put: 'gapMs = 0;',
      },
    ],
    tests: ['test/upstream/watch.test.ts', 'test/upstream/timers.test.ts'],
  },
  {
    id: 'T-70b',
    plants: 'keep-alives are content',
    edits: [{ file: WATCH, find: 'else if (tokens > 0) {', put: 'else {' }],
    tests: ['test/upstream/watch.test.ts', 'test/upstream/timers.test.ts'],
  },
  {
    id: 'T-70c',
    plants: 'an answer is cut because its client reads slowly',
    edits: [
      {
        file: WATCH,
        find: '      waitsSince = undefined;\n',
        put: '      waitsSince = nowMs;\n',
      },
    ],
    tests: ['test/upstream/watch.test.ts'],
  },
  {
    id: 'T-70d',
    plants: 'a trickle is waited for as long as an answer may last',
    edits: [
      {
        file: 'src/core/throughput.ts',
        find: 'if (over + 1 >= STEPS && total < least) return true;',
        put: 'if (over + 1 >= STEPS && total < -least) return true;',
      },
    ],
    tests: ['test/core/throughput.test.ts', 'test/upstream/timers.test.ts'],
  },
  {
    id: 'T-70e',
    plants: 'an answer in one piece has to be there with the first byte of a stream',
    edits: [
      {
        file: WATCH,
        find: 'times.firstByteMs === undefined && !onePiece;',
        put: 'times.firstByteMs === undefined && onePiece !== undefined;',
      },
    ],
    tests: ['test/upstream/watch.test.ts', 'test/upstream/timers.test.ts'],
  },
  {
    id: 'T-71a',
    plants: 'a stream of comments is read as far as memory and time go',
    edits: [
      {
        file: 'src/upstream/source.ts',
        find: 'return silentBytes > SILENT_BYTES_MAX ?',
        put: 'return silentBytes < 0 ?',
      },
    ],
    tests: ['test/upstream/bounds.test.ts'],
  },
  {
    id: 'T-71b',
    plants: 'what an upstream asks us to wait is not heard',
    edits: [
      {
        file: 'src/upstream/source.ts',
        find: 'return retryAfterMs === undefined ? failure : { ...failure, retryAfterMs };',
        put: 'return retryAfterMs === undefined ? failure : { ...failure };',
      },
    ],
    tests: ['test/upstream/source.test.ts'],
  },
  {
    id: 'T-72a',
    plants: 'the operator is told that a failed attempt was free, whatever it had made',
    edits: [
      {
        file: LOG,
        find: 'const usage = isSane ? reported : meter.estimate(promptTokens);',
        put: 'if (!isSane && promptTokens >= 0) return {};\n  const usage = isSane ? reported : meter.estimate(promptTokens);',
      },
    ],
    tests: ['test/generate/attempt-log.test.ts'],
  },
  {
    id: 'T-72b',
    plants: 'a margin is told although a cost is missing',
    edits: [
      {
        file: 'src/operations/attempt-facts.ts',
        find: 'margin: complete ? formatTokens(subtract(debited, total)) : null,',
        put: 'margin: formatTokens(subtract(debited, total)),',
      },
    ],
    tests: ['test/operations/attempts.test.ts'],
  },
];
