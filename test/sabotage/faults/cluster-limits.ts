// Faults of limits that several nodes share by way of Redis, and several threads by way of memory.

import type { Fault } from '../fault.ts';

const FAULTY_REDIS = ['test/limits/leased/faults.test.ts'];

export const CLUSTER_LIMIT_FAULTS: readonly Fault[] = [
  {
    id: 'T-120',
    plants: 'a node uses a window that it leased from beyond its end',
    edits: [
      {
        file: 'src/limits/leased/counters.ts',
        find: 'if (endsAtMs !== undefined && nowMs >= endsAtMs) windows.delete(name);',
        put: 'if (endsAtMs !== undefined && nowMs >= endsAtMs + WINDOW_MS) windows.delete(name);',
      },
      {
        file: 'src/limits/leased/counters.ts',
        find: '!mayBeOver(window, nowMs) &&',
        put: '!mayBeOver(window, nowMs - WINDOW_MS) &&',
      },
    ],
    tests: FAULTY_REDIS,
  },
  {
    id: 'T-121',
    plants: 'a call to Redis that arrives late undoes a newer one',
    edits: [
      {
        file: 'src/limits/leased/decide.lua',
        find: 'local repeated = own.seq >= call.seq',
        put: 'local repeated = false',
      },
    ],
    tests: ['test/limits/leased/script.test.ts'],
  },
  {
    id: 'T-122',
    plants: 'what one limit refuses is taken from the others',
    edits: [
      {
        file: 'src/limits/leased/decide.lua',
        find: 'if not repeated and fits and (asked.need[1] > 0 or window.start) and',
        put: 'if not repeated and (asked.need[1] > 0 or window.start) and',
      },
    ],
    tests: ['test/limits/leased/script.test.ts'],
  },
  {
    id: 'T-123',
    plants: 'the slots of a node that died stay taken',
    edits: [
      {
        file: 'src/limits/leased/decide.lua',
        find: 'if holder ~= call.holder and record.ends > now then',
        put: 'if holder ~= call.holder then',
      },
    ],
    tests: FAULTY_REDIS,
  },
  {
    id: 'T-124',
    plants: 'a Redis that has forgotten an account begins it at nothing',
    edits: [
      {
        file: 'src/limits/leased/exchange.ts',
        find: 'return { marks, seed: await seedOf(dependencies, counters, asked.plan ?? {}) };',
        put: 'return { marks, seed: (await seedOf(dependencies, counters, asked.plan ?? {})) && [] };',
      },
    ],
    tests: FAULTY_REDIS,
  },
  {
    id: 'T-125',
    plants: 'a node keeps what it was leased and does not use',
    edits: [
      {
        file: 'src/limits/leased/accounts.ts',
        find: 'if (!isUp() || !(renews || (!isTold && silentMs >= TELL_MS))) continue;',
        put: 'if (!isUp() || !renews) continue;',
      },
    ],
    tests: FAULTY_REDIS,
  },
  {
    id: 'T-126',
    plants: 'without Redis each node has all of the limit',
    edits: [
      {
        file: 'src/limits/leased/share.ts',
        find: 'return Math.max(1, Math.floor(limit / Math.max(1, nodes)));',
        put: 'return Math.max(1, Math.floor(limit / Math.min(1, nodes)));',
      },
    ],
    tests: FAULTY_REDIS,
  },
  {
    id: 'T-127',
    plants: 'nobody asks Redis again once it has failed',
    edits: [
      {
        file: 'src/store/redis/client.ts',
        find: '    if (!up) void probe();\n',
        put: '    if (!up && closed) void probe();\n',
      },
    ],
    tests: ['test/store/redis/client.test.ts'],
    only: 'probe was answered',
  },
  {
    id: 'T-128',
    plants: 'two threads take the last slot at the same time',
    edits: [
      {
        file: 'src/limits/shared/take.ts',
        find: `      table.addSlots(entry, 1);
      if (table.slots(entry) <= limit) return true;
      giveBack();
      return false;`,
        put: `      if (table.slots(entry) >= limit) return false;
      table.addSlots(entry, 1);
      return true;`,
      },
    ],
    tests: ['test/limits/shared-races.test.ts'],
  },
  {
    id: 'T-129',
    plants: 'the slots of a thread that died stay taken',
    edits: [
      {
        file: 'src/server/threads/server-threads.ts',
        find: 'recoverThread(limits, number);',
        put: 'void [recoverThread, limits];',
      },
    ],
    tests: ['test/blackbox/threads.test.ts'],
    only: 'of which one dies',
  },
];
