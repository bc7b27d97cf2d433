// Mutants of streams and routing.

import type { Mutant } from '../mutant.ts';

export const STREAM_MUTANTS: readonly Mutant[] = [
  {
    id: 'S-14a',
    does: 'text is written into chat chunks as it is',
    edits: [
      {
        in: 'push',
        find: 'this.#beforeText + JSON.stringify(event.text) + AFTER_TEXT',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        put: 'this.#beforeText + `"${event.text}"` + AFTER_TEXT',
      },
    ],
    tests: ['test/wire/chat/stream.test.ts'],
  },
  {
    id: 'S-14c',
    does: 'text is written into Messages events as it is',
    edits: [
      {
        in: 'textDelta',
        find: "if (open.kind === 'text') return open.deltaStart + JSON.stringify(text) + DELTA_END;",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        put: 'if (open.kind === \'text\') return open.deltaStart + `"${text}"` + DELTA_END;',
      },
    ],
    tests: ['test/wire/messages/stream.test.ts'],
  },
  {
    id: 'S-19a',
    does: 'a stream that breaks after content begins again at another upstream',
    edits: [
      {
        in: 'isStopped',
        find: 'const isStopped = dependencies.inFlight.aborted()',
        put: `if (grant.attempts.records.length < 2) {
      grant.attempts.add(attempt, pumped.failure);
      const again = await findUpstream(dependencies, admitted);
      if (again.kind === 'serving') return await deliver(dependencies, admitted, again, client);
    }
    const isStopped = dependencies.inFlight.aborted()`,
      },
    ],
    tests: ['test/blackbox/failover/matrix.test.ts'],
    only: 'late: late-cut',
  },
  {
    id: 'S-24a',
    does: 'a line of a stream may be as long as it likes',
    edits: [
      {
        in: '#keep',
        find: 'if (needed > lineBytes) return',
        put: 'if (needed > lineBytes * 1_000) return',
      },
    ],
    tests: ['test/wire/sse.test.ts'],
  },
  {
    id: 'S-24c',
    does: 'a client that does not read is written to all the same',
    edits: [
      {
        in: '#send',
        find: 'const room = this.#block();',
        put: 'const room = undefined;',
      },
    ],
    tests: ['test/generate/client-stream.test.ts'],
  },
  {
    id: 'T-55',
    does: 'a stream that ends without a finish reason is an answer',
    edits: [
      {
        in: 'end',
        find: `const failure = this.#decoder.end();
    return { events: this.#events, end: failure ?? 'finished' };`,
        put: `this.#decoder.end();
    return { events: this.#events, end: 'finished' };`,
      },
    ],
    tests: ['test/upstream/endings.quiet.test.ts'],
  },
  {
    id: 'T-95a',
    does: 'a breaker admits every request as soon as its time is over',
    edits: [
      {
        in: 'enter',
        find: "if (kind === 'probing' || nowMs < openUntilMs) return undefined;",
        put: 'if (nowMs < openUntilMs) return undefined;',
      },
    ],
    tests: ['test/core/breaker.test.ts'],
  },
  {
    id: 'T-96a',
    does: 'a request may ask as often as it likes',
    edits: [
      { in: 'ATTEMPTS_MAX', find: 'const ATTEMPTS_MAX = 3;', put: 'const ATTEMPTS_MAX = 9;' },
    ],
    tests: ['test/core/failover.test.ts', 'test/generate/route.test.ts'],
  },
];
