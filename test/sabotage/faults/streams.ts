// Faults of streams: their bytes, their bounds, and what may be tried again.

import type { Fault } from '../fault.ts';

export const STREAMS: readonly Fault[] = [
  {
    id: 'S-14a',
    plants: 'text is written into chat chunks as it is',
    edits: [
      {
        file: 'src/wire/chat/stream.ts',
        find: 'beforeText + JSON.stringify(event.text) + afterText',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        put: 'beforeText + `"${event.text}"` + afterText',
      },
    ],
    tests: ['test/wire/chat/stream.test.ts'],
  },
  {
    id: 'S-14b',
    plants: 'arguments of calls are written into chat chunks as they are',
    edits: [
      {
        file: 'src/wire/chat/stream.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        find: '{"arguments":${JSON.stringify(json)}}',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        put: '{"arguments":"${json}"}',
      },
    ],
    tests: ['test/wire/chat/stream.test.ts'],
  },
  {
    id: 'S-14c',
    plants: 'text is written into Messages events as it is',
    edits: [
      {
        file: 'src/wire/messages/stream.ts',
        find: "if (open.kind === 'text') return open.deltaStart + JSON.stringify(text) + DELTA_END;",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        put: 'if (open.kind === \'text\') return open.deltaStart + `"${text}"` + DELTA_END;',
      },
    ],
    tests: ['test/wire/messages/stream.test.ts'],
  },
  {
    id: 'S-19a',
    plants: 'a stream that breaks after content begins again at another upstream',
    edits: [
      {
        file: 'src/generate/generate.ts',
        find: '    // A server that stops ends its streams, which then look as if their upstream had.',
        put: `    if (grant.attempts.records.length < 2) {
      grant.attempts.add(attempt, pumped.failure);
      const again = await findUpstream(dependencies, admitted);
      if (again.kind === 'serving') return await deliver(dependencies, admitted, again, client);
    }`,
      },
    ],
    tests: ['test/blackbox/upstream-failures.test.ts'],
    only: 'after content',
  },
  {
    id: 'S-19b',
    plants: 'an upstream is asked again whatever it said of the request',
    edits: [
      {
        file: 'src/core/failover.ts',
        find: 'if (!FAILURES[failure.class].next || cancelled || elapsedMs >= deadlineMs) return STOP;',
        put: "if (failure.class === 'gateway' || cancelled || elapsedMs >= deadlineMs) return STOP;",
      },
    ],
    tests: ['test/core/failover.test.ts', 'test/generate/route.test.ts'],
  },
  {
    id: 'S-24a',
    plants: 'a line of a stream may be as long as it likes',
    edits: [
      {
        file: 'src/wire/sse.ts',
        find: 'if (needed > limits.lineBytes) return',
        put: 'if (needed > limits.lineBytes * 1_000) return',
      },
    ],
    tests: ['test/wire/sse.test.ts'],
  },
  {
    id: 'S-24b',
    plants: 'an event of a stream may be as long as it likes',
    edits: [
      {
        file: 'src/wire/sse.ts',
        find: 'return data.length > maxLength ?',
        put: 'return data.length > maxLength * 1_000 ?',
      },
    ],
    tests: ['test/wire/sse.test.ts'],
  },
  {
    id: 'S-24c',
    plants: 'a client that does not read is written to all the same',
    edits: [
      {
        file: 'src/generate/client-stream.ts',
        find: 'if ((controller.desiredSize ?? 1) > 0) return undefined;',
        put: 'if ((controller.desiredSize ?? 1) > -1e12) return undefined;',
      },
    ],
    tests: ['test/generate/client-stream.test.ts'],
  },
  {
    id: 'S-24d',
    plants: 'the pump does not wait for a client that is behind',
    edits: [
      {
        file: 'src/generate/pump.ts',
        find: 'if (room !== undefined) await room;',
        put: 'if (room !== undefined) void room;',
      },
    ],
    tests: ['test/generate/pump.test.ts'],
  },
  {
    id: 'S-24e',
    plants: 'a whole answer may be as large as it likes',
    edits: [
      {
        file: 'src/upstream/read-text.ts',
        find: 'if (bytes > ANSWER_BYTES_MAX) {',
        put: 'if (bytes > ANSWER_BYTES_MAX * 2) {',
      },
    ],
    tests: ['test/upstream/source.test.ts'],
  },
  {
    id: 'S-24g',
    plants: 'a whole answer that comes in place of a stream may be as large as it likes',
    edits: [
      {
        file: 'src/upstream/source.ts',
        find: 'while (bytes <= ANSWER_BYTES_MAX) {',
        put: 'while (bytes <= ANSWER_BYTES_MAX * 2) {',
      },
    ],
    tests: ['test/upstream/source.test.ts'],
  },
  {
    id: 'S-24f',
    plants: 'an answer that never ends is read for ever',
    edits: [
      {
        file: 'src/upstream/flood-guard.ts',
        find: 'return charactersLeft < 0 ?',
        put: 'return charactersLeft < -1e12 ?',
      },
    ],
    tests: ['test/upstream/bounds.test.ts'],
  },
  {
    id: 'S-25a',
    plants: 'a short-enough text is counted in one piece, however long that takes',
    edits: [
      {
        file: 'src/generate/tokenizer.ts',
        find: 'if (text.length <= PIECE_CHARACTERS) return countPiece(text);',
        put: 'if (text.length <= PIECE_CHARACTERS * 1_000) return countPiece(text);',
      },
    ],
    tests: ['test/generate/tokenizer.test.ts'],
  },
  {
    id: 'S-25b',
    plants: 'a long text is counted in one piece',
    edits: [
      {
        file: 'src/generate/tokenizer.ts',
        find: 'const limit = start + PIECE_CHARACTERS;',
        put: 'const limit = start + PIECE_CHARACTERS * 1_000;',
      },
    ],
    tests: ['test/generate/tokenizer.test.ts'],
  },
  {
    id: 'S-25c',
    plants: 'the tokenizer never gives the loop a turn',
    edits: [
      {
        file: 'src/generate/tokenizer.ts',
        find: 'const TURN_SIZES = { room: 4_096, part: 1_024 };',
        put: 'const TURN_SIZES = { room: 4_096_000, part: 1_024_000 };',
      },
    ],
    tests: ['test/generate/tokenizer.test.ts'],
  },
  {
    id: 'T-55',
    plants: 'a stream that ends without a finish reason is an answer',
    edits: [
      {
        file: 'src/upstream/source.ts',
        find: "        const failure = decoder.end();\n        return { events: taken(), end: failure ?? 'finished' };",
        put: "        decoder.end();\n        return { events: taken(), end: 'finished' };",
      },
    ],
    tests: ['test/upstream/endings.test.ts'],
  },
  {
    id: 'T-56',
    plants: 'the refusal of our own credential is told to the caller as one of theirs',
    edits: [
      {
        file: 'src/core/failure.ts',
        find: "    case 'unsupported':\n      return",
        put: "    case 'credential':\n      return new GatewayError('invalid_api_key', shown);\n    case 'unsupported':\n      return",
      },
    ],
    tests: ['test/blackbox/upstream-failures.test.ts'],
    only: 'before content',
  },
  {
    id: 'T-57',
    plants: 'the pump has no heartbeat',
    edits: [
      {
        file: 'src/generate/pump.ts',
        find: 'if (!wroteSinceTick) client.write(encoder.heartbeat());',
        put: "if (!wroteSinceTick) client.write('');",
      },
    ],
    tests: ['test/generate/pump.test.ts'],
  },
];
