// Faults of the limits: windows, slots, caps, and what a refusal may consume.

import type { Fault } from '../fault.ts';

const LIMITS = ['test/limits/limits.test.ts'];

export const LIMIT_FAULTS: readonly Fault[] = [
  {
    id: 'S-07a',
    plants: 'a slot is counted until its request gives it back, even one that nobody will end',
    edits: [
      {
        file: 'src/limits/account.ts',
        find: 'else state.claims.delete(claim);',
        put: 'else claim.leaseUntil = nowMs + LEASE_MS;',
      },
    ],
    tests: LIMITS,
  },
  {
    id: 'S-07b',
    plants: 'a claim that is ended twice gives back twice',
    edits: [
      {
        file: 'src/limits/limits.ts',
        find: 'if (ended) return false;',
        put: 'if (ended && usedTokens < 0) return false;',
      },
    ],
    tests: LIMITS,
  },
  {
    id: 'S-08a',
    plants: 'every admitted request starts the window anew',
    edits: [
      {
        file: 'src/core/window.ts',
        find: 'window.startedAt ??= nowMs;',
        put: 'window.startedAt = nowMs;',
      },
    ],
    tests: LIMITS,
  },
  {
    id: 'S-08b',
    plants: 'every admitted request renews the leases of all others',
    edits: [
      {
        file: 'src/limits/limits.ts',
        find: '    state.claims.add(open);',
        put: `    for (const claim of state.claims) claim.leaseUntil = nowMs + LEASE_MS;
    state.claims.add(open);`,
      },
    ],
    tests: LIMITS,
  },
  {
    id: 'S-09a',
    plants: 'the limits are looked at first and taken from later',
    edits: [
      {
        file: 'src/limits/limits.ts',
        find: 'for (const window of windows) takeFrom(window, tokens, nowMs);',
        put: `queueMicrotask(() => {
      for (const window of windows) takeFrom(window, tokens, nowMs);
    });`,
      },
    ],
    tests: LIMITS,
  },
  {
    id: 'S-09b',
    plants: 'a refusal by one limit has taken from another',
    edits: [
      {
        file: 'src/limits/limits.ts',
        find: "    if (decided.kind === 'refused') {\n",
        put: "    if (decided.kind === 'refused') {\n      takeFrom(state.plan, 0, nowMs);\n",
      },
    ],
    tests: LIMITS,
  },
  {
    id: 'S-10a',
    plants: 'a client that leaves keeps its slot for as long as its upstream is read',
    edits: [
      {
        file: 'src/generate/lifetime.ts',
        find: 'if (!isDraining || endDrain !== undefined) slot.free();',
        put: 'if (!isDraining) slot.free();',
      },
    ],
    tests: ['test/generate/lifetime.test.ts'],
  },
  {
    id: 'S-10b',
    plants: 'nobody hears that a client has left before its answer began',
    edits: [
      {
        file: 'src/generate/lifetime.ts',
        find: "signal.addEventListener('abort', leave);",
        put: "signal.addEventListener('abort', () => undefined);",
      },
    ],
    tests: ['test/generate/lifetime.test.ts'],
  },
  {
    id: 'S-10c',
    plants: 'a client that leaves before its answer began keeps slot and hold',
    edits: [
      {
        file: 'src/generate/generate.ts',
        find: "  await finish(dependencies, admitted, left ? 'client' : 'gateway', { attempt });",
        put: "  if (!left) await finish(dependencies, admitted, 'gateway', { attempt });",
      },
    ],
    tests: ['test/generate/generate.test.ts'],
  },
  {
    id: 'T-42a',
    plants: 'the limits count minutes by the wall clock',
    edits: [
      {
        file: 'src/limits/limits.ts',
        find: 'const { clock, monotonic, isLive, history } = dependencies;',
        put: 'const { clock, clock: monotonic, isLive, history } = dependencies;',
      },
    ],
    tests: LIMITS,
  },
  {
    id: 'T-42b',
    plants: 'a server hands the wall clock to the limits in place of the one that never jumps',
    edits: [
      {
        file: 'src/server/pipeline.ts',
        find: 'const limiting = { clock, monotonic, isLive',
        put: 'const limiting = { clock, monotonic: clock, isLive',
      },
    ],
    tests: ['test/blackbox/wall-clock.test.ts'],
  },
  {
    id: 'T-42c',
    plants: 'a wall clock that is put right ends every answer under way',
    edits: [
      {
        file: 'src/server/pipeline.ts',
        find: 'const deadlines = createDeadlines(monotonic);',
        put: 'const deadlines = createDeadlines(clock);',
      },
    ],
    tests: ['test/blackbox/wall-clock.test.ts'],
  },
  {
    id: 'T-43',
    plants: 'a request settles in the day in which it ends',
    edits: [
      {
        file: 'src/limits/limits.ts',
        find: '      for (const period of periods) period.since += usedTokens - tokens;',
        put: `      periodAt(state.days, clock(), utcDay).since += usedTokens - tokens;
      periodAt(state.months, clock(), utcMonth).since += usedTokens - tokens;`,
      },
    ],
    tests: LIMITS,
  },
  {
    id: 'T-44',
    plants: 'the caps keep the estimate and never hear what was used',
    edits: [
      {
        file: 'src/limits/limits.ts',
        find: 'period.since += usedTokens - tokens;',
        put: 'period.since += (usedTokens - tokens) * 0;',
      },
    ],
    tests: LIMITS,
  },
  {
    id: 'T-45',
    plants: 'a restart opens the window of a minute',
    edits: [
      {
        file: 'src/limits/past.ts',
        find: 'history.admittedSince(timeMs - WINDOW_MS + 1)',
        put: 'history.admittedSince(timeMs + WINDOW_MS)',
      },
    ],
    tests: LIMITS,
  },
  {
    id: 'T-46',
    plants: 'a restart opens the caps',
    edits: [
      {
        file: 'src/limits/period.ts',
        find: 'return before + since;',
        put: 'return before * 0 + since;',
      },
    ],
    tests: LIMITS,
  },
  {
    id: 'T-47',
    plants: 'a model’s limits in an incident do not count',
    edits: [
      {
        file: 'src/limits/limits.ts',
        find: '{ window: modelWindow, slotsUsed: slotsUsed(state, model), limits: incident },',
        put: '{ window: modelWindow, slotsUsed: slotsUsed(state, model), limits: incident && {} },',
      },
    ],
    tests: LIMITS,
  },
  {
    id: 'T-48',
    plants: 'a request that the balance refuses keeps its claim',
    edits: [
      {
        file: 'src/generate/grant.ts',
        find: "const limits = await claim.cancel(isOver ? 'request' : undefined);",
        put: 'const limits = isOver ? claim.view : await claim.cancel();',
      },
    ],
    tests: ['test/generate/generate.test.ts'],
  },
  {
    id: 'T-49',
    plants: 'a request that the ledger cannot hold keeps its claim',
    edits: [
      {
        file: 'src/generate/grant.ts',
        find: '    await claim.cancel();\n',
        put: '',
      },
    ],
    tests: ['test/generate/generate.test.ts'],
  },
  {
    id: 'T-50',
    plants: 'a server says of every request that it lives',
    edits: [
      {
        file: 'src/generate/in-flight.ts',
        find: 'isLive: (requestId) => aborts.has(requestId),',
        put: "isLive: (requestId) => aborts.has(requestId) || requestId !== '',",
      },
    ],
    tests: ['test/generate/in-flight.test.ts'],
  },
];
