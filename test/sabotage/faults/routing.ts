// Faults of the router: upstreams that are asked too often, too soon or never again, and places,
// probes and names that get lost on the way.

import type { Fault } from '../fault.ts';

const BREAKER = 'src/core/breaker.ts';
const FAILOVER = 'src/core/failover.ts';
const HEALTH = 'src/upstream/health.ts';
const ROUTE = 'src/generate/route.ts';
const PERMIT = 'src/upstream/permit.ts';
const CREDENTIALS = 'src/upstream/credentials.ts';
const STANDING = 'src/core/standing.ts';
const BREAKERS = 'src/core/breakers.ts';

export const ROUTING: readonly Fault[] = [
  {
    id: 'T-95a',
    plants: 'a breaker lets everybody in as soon as its time is over',
    edits: [
      {
        file: BREAKER,
        find: "if (kind === 'probing' || nowMs < openUntilMs) return undefined;",
        put: 'if (nowMs < openUntilMs) return undefined;',
      },
    ],
    tests: ['test/core/breaker.test.ts'],
  },
  {
    id: 'T-95b',
    plants: 'a probe whose client leaves never gives its turn back',
    edits: [
      {
        file: BREAKER,
        find: "      if (pass !== epoch || kind !== 'probing') return;\n      kind = 'open';",
        put: "      if (pass !== epoch || kind !== 'probing' || nowMs >= 0) return;\n      kind = 'open';",
      },
    ],
    tests: ['test/core/breaker.test.ts', 'test/upstream/health.test.ts'],
  },
  {
    id: 'T-95c',
    plants: 'one request that asks three times opens a breaker as three',
    edits: [{ file: BREAKER, find: 'if (!repeated) {', put: 'if (repeated || nowMs >= 0) {' }],
    tests: ['test/core/breaker.test.ts', 'test/upstream/health.test.ts'],
  },
  {
    id: 'T-96a',
    plants: 'a request may ask as often as it likes',
    edits: [{ file: FAILOVER, find: 'const ATTEMPTS_MAX = 3;', put: 'const ATTEMPTS_MAX = 9;' }],
    tests: ['test/core/failover.test.ts', 'test/generate/route.test.ts'],
  },
  {
    id: 'T-96b',
    plants: 'all who failed together ask again together',
    edits: [
      {
        file: FAILOVER,
        find: 'situation.dice * (PAUSE_MAX_MS - PAUSE_MIN_MS)',
        put: '0 * (PAUSE_MAX_MS - PAUSE_MIN_MS)',
      },
    ],
    tests: ['test/core/failover.test.ts'],
  },
  {
    id: 'T-96c',
    plants: 'the retry budget refuses nobody',
    edits: [
      {
        file: ROUTE,
        find: 'if (health.takeRepeat(candidate)) return step;',
        put: 'if (health.takeRepeat(candidate) || step.afterMs >= 0) return step;',
      },
    ],
    tests: ['test/generate/route-waits.test.ts'],
  },
  {
    id: 'T-96d',
    plants: 'each attempt has the whole time of the request',
    edits: [
      {
        file: ROUTE,
        find: 'if (timeouts.totalMs <= leftMs) return candidate;',
        put: 'if (timeouts.totalMs <= leftMs || leftMs > 0) return candidate;',
      },
    ],
    tests: ['test/generate/route.test.ts'],
  },
  {
    id: 'T-97a',
    plants: 'who leaves as it is let in takes its place along',
    edits: [{ file: ROUTE, find: "entry.end('given_up');", put: 'void entry;' }],
    tests: ['test/generate/route-waits.test.ts'],
  },
  {
    id: 'T-97b',
    plants: 'a refused request keeps its place at the gate',
    edits: [
      {
        file: HEALTH,
        find: '    node.gate.exit(account);\n    return refusal(lease',
        put: '    return refusal(lease',
      },
    ],
    tests: ['test/upstream/health.test.ts'],
  },
  {
    id: 'T-97c',
    plants: 'a stream that breaks off after its first word is none of the failures of its upstream',
    edits: [
      {
        file: PERMIT,
        find: 'if (hasEnded) return;\n      if (result',
        put: "if (hasEnded) return;\n      if (hasAnswered) result = 'finished';\n      if (result",
      },
    ],
    tests: ['test/upstream/health.test.ts'],
  },
  {
    id: 'T-98a',
    plants: 'a refusal of one account keeps a credential from all others',
    edits: [
      {
        file: STANDING,
        find: 'setOwn(account, { refusals: 1, sinceMs: nowMs, untilMs, status });',
        put: 'common = { refusals: 1, sinceMs: nowMs, untilMs, status };',
      },
    ],
    tests: ['test/core/standing.test.ts', 'test/upstream/credentials.test.ts'],
  },
  {
    id: 'T-98b',
    plants: 'a key that was exchanged rests for the one before it',
    edits: [
      {
        file: CREDENTIALS,
        find: 'if (!kept.has(apiKey)) standings.delete(apiKey);',
        put: 'if (!kept.has(apiKey)) standings.set([...kept][0] ?? apiKey, standing(apiKey));',
      },
      {
        file: CREDENTIALS,
        find: '  const standingOf = (',
        put: '  const standing = (apiKey: string): Standing => standings.get(apiKey) as Standing;\n  const standingOf = (',
      },
    ],
    tests: ['test/upstream/health.test.ts', 'test/upstream/credentials.test.ts'],
  },
  {
    id: 'T-98c',
    plants: 'what two accounts send opens the breaker of all, whatever a probe is told',
    edits: [
      {
        file: BREAKERS,
        find: "if (kind === 'open' || !wasSuspected) return false;\n      if (isWell) {",
        put: "if (kind === 'open' || !wasSuspected) return false;\n      if (isWell && epoch < 0) {",
      },
    ],
    tests: ['test/core/breakers.test.ts'],
  },
  {
    id: 'T-98d',
    plants: 'callers have the operator pay for probes without bound',
    edits: [
      { file: STANDING, find: 'const PROBE_GAP_MS = 10_000;', put: 'const PROBE_GAP_MS = 0;' },
    ],
    tests: ['test/core/standing.test.ts'],
  },
  {
    id: 'T-99a',
    plants: 'after a silence another model answers under the name of the first',
    edits: [
      {
        file: 'src/generate/deferred-attempt.ts',
        find: 'if (isUnnamed && attempt !== undefined) name(attempt.candidate.model.slug);',
        put: 'void name;',
      },
    ],
    tests: ['test/blackbox/failover/health.test.ts'],
    only: 'may come from a fallback model',
  },
  {
    id: 'T-99b',
    plants: 'a fallback that sees no images is asked what is in them',
    edits: [
      {
        file: 'src/core/route.ts',
        find: "if (hasImages) features.push('vision');",
        put: 'void hasImages;',
      },
    ],
    tests: ['test/core/route.test.ts'],
  },
  {
    id: 'T-99c',
    plants: 'a fallback is told a bound that it cannot make',
    edits: [
      {
        file: 'src/core/route.ts',
        find: 'const bound = Math.min(outputBound, fallback.maxOutput);',
        put: 'const bound = outputBound;',
      },
    ],
    tests: ['test/core/route.test.ts'],
  },
];
