// Servers echo what they refuse. For any text of a caller, a failure is classified as without the
// echo.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { GenerationRequest, JsonValue } from '../../../src/core/generation.ts';
import { NO_CONVERSATION } from '../../../src/wire/upstream/call-names.ts';
import { wordsOf } from '../../../src/wire/upstream/callers-words.ts';
import {
  errorEventFailure,
  readErrorRecord,
  statusFailure,
} from '../../../src/wire/upstream/failure.ts';
import {
  messagesErrorEvent,
  messagesFailure,
} from '../../../src/wire/upstream/messages/failure.ts';
import { cpuTimer } from '../../support/cpu-time.ts';
import { classified } from './support.ts';

/** What makes a class of its own, in the words of some vendor. */
const BAIT = [
  'Incorrect API key provided',
  'invalid api key',
  'API key not valid',
  'Arrearage',
  'API key expired',
  'Organization has been restricted',
  'Billing hard limit',
  'insufficient_quota',
  'Insufficient Balance',
  'Your credit balance is too low',
  'This organization has been disabled',
  'rate limit',
  'Too many requests',
  'overloaded',
  'at capacity',
  'maximum context length',
  'prompt is too long',
  'exceeds the context',
  'Prompt 超长',
  'exceed context limit',
  'model_not_found',
  'is not a valid model',
  'unknown model',
  'requires moderation',
  'input was flagged',
  'thinking.type',
  'max_tokens: 9 > 8, which is the maximum allowed number of output tokens',
];

/** Errors as servers write them; `ECHO` is where they repeat a value. */
const MESSAGES = [
  'Invalid value: ECHO. Supported values are: 1 and 2.',
  "Invalid schema for function 'f': 'ECHO' is not of type 'object'",
  'ECHO is not of type string',
  'messages.0.content: ECHO',
  'Something went wrong.',
  'The engine is gone. (ECHO)',
  // These have a class of their own.
  "This model's maximum context length is 8192 tokens: ECHO",
  'ECHO: Incorrect API key provided.',
  'ECHO. Your credit balance is too low to access this.',
  'gold/1 is not a valid model ID (ECHO)',
  'You are being overloaded with ECHO',
];

type Shape = (message: string, echo: string) => string;

const SHAPES: readonly Shape[] = [
  (message) => JSON.stringify({ error: { message, type: 'invalid_request_error', code: null } }),
  (message) => JSON.stringify({ error: { message, code: 'context_length_exceeded' } }),
  (message) => JSON.stringify({ type: 'error', error: { type: 'api_error', message } }),
  (message) => JSON.stringify({ error: message, code: 'invalid-argument' }),
  (message, echo) => JSON.stringify({ detail: [{ msg: message, input: echo, loc: ['body'] }] }),
  (message) => JSON.stringify([{ error: { code: 400, message } }]),
  (message, echo) => `<html>${message}<p>${echo}</p></html>`,
  (message) => message,
];

const STATUSES = [
  ...[200, 400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 498],
  ...[500, 502, 503, 504, 529],
];

/** How a value is spelled where it is repeated. */
const SPELLINGS: readonly ((value: string) => string)[] = [
  (value) => value,
  (value) => JSON.stringify(value).slice(1, -1),
  (value) => JSON.stringify(JSON.stringify(value)).slice(1, -1),
  (value) => value.toUpperCase(),
  (value) => value.replaceAll(/\s+/g, ' '),
  (value) => value.slice(0, 20),
  (value) => `${value.slice(0, 40)}...`,
  (value) => value.replaceAll('<', '&lt;'),
];

/** How a caller may hide the words that a server will show. */
const DISGUISES: readonly ((value: string) => string)[] = [
  (value) => value,
  (value) => value.replaceAll(' ', '\\u0020').replaceAll('a', '\\u0061'),
  (value) => encodeURIComponent(value),
  (value) => value.replaceAll(' ', '\n '),
  (value) => value.replaceAll('e', '&#101;'),
];

function requestOf(place: number, text: string): GenerationRequest {
  const tool = { name: 'f', parameters: {} };
  const base: GenerationRequest = {
    ...{ model: 'm', system: '', turns: [], stop: [], tools: [], json: false },
    ...{ stream: true, includeUsage: true },
  };
  const user = { role: 'user' as const, parts: [{ kind: 'text' as const, text }] };
  switch (place % 6) {
    case 0:
      return { ...base, turns: [user] };
    case 1:
      return { ...base, system: text };
    case 2:
      return { ...base, tools: [{ ...tool, parameters: { [text]: 1, description: text } }] };
    case 3:
      return { ...base, stop: [text] };
    case 4: {
      const toolCalls = [{ id: 'c', name: 'f', arguments: text }];
      return { ...base, turns: [{ role: 'assistant', reasoning: '', text: '', toolCalls }] };
    }
    default:
      return {
        ...base,
        turns: [{ role: 'tool', toolCallId: 'c', text, isError: false }],
      };
  }
}

describe('an echo never decides', () => {
  const cases = fc.record({
    pieces: fc.array(fc.oneof(fc.constantFrom(...BAIT), fc.string({ maxLength: 12 })), {
      minLength: 1,
      maxLength: 4,
    }),
    disguise: fc.constantFrom(...DISGUISES),
    spelling: fc.constantFrom(...SPELLINGS),
    message: fc.constantFrom(...MESSAGES),
    shape: fc.constantFrom(...SHAPES),
    status: fc.constantFrom(...STATUSES),
    place: fc.nat(5),
  });

  test('for any repeated part of any request in any error', () => {
    fc.assert(
      fc.property(cases, ({ pieces, disguise, spelling, message, shape, status, place }) => {
        const value = pieces.join(' ');
        const wrote = wordsOf(requestOf(place, disguise(value)));
        const bodyOf = (echo: string): string =>
          shape(
            message.replaceAll('ECHO', () => echo),
            echo,
          );
        const [body, plain] = [bodyOf(spelling(value)), bodyOf('x')];
        const { wrote: none } = NO_CONVERSATION;
        // Words of the server that the caller wrote as well count for neither side.
        const own = message.split('ECHO').some((words) => BAIT.some((bait) => isIn(bait, words)));
        const isOwn = own && BAIT.some((bait) => isIn(bait, value) && isIn(bait, message));
        fc.pre(!isOwn);
        expect(classified(statusFailure(status, body, wrote))).toEqual(
          classified(statusFailure(status, plain, none)),
        );
        expect(classified(messagesFailure(status, body, wrote))).toEqual(
          classified(messagesFailure(status, plain, none)),
        );
        expect(classified(errorEventFailure(body, wrote))).toEqual(
          classified(errorEventFailure(plain, none)),
        );
        expect(classified(messagesErrorEvent(body, wrote))).toEqual(
          classified(messagesErrorEvent(plain, none)),
        );
      }),
      { numRuns: 2_000 },
    );
  });
});

function isIn(words: string, text: string): boolean {
  return text.toLowerCase().includes(words.toLowerCase());
}

describe('the words of a caller', () => {
  const wrote = wordsOf(requestOf(0, 'Say "Incorrect  API\\u0020key" and 100%25 of it'));

  test.each(['incorrect api key', 'API-key', 'key', '100% of'])('%s: yes', (words) => {
    expect(wrote(words)).toBe(true);
  });

  test.each(['incorrect api keys provided', 'apikeyz', '', '…'])('%s: no', (words) => {
    expect(wrote(words)).toBe(false);
  });

  test('are looked for across its texts, and not in images', () => {
    const parts = [
      { kind: 'text' as const, text: 'Incorrect API ' },
      { kind: 'text' as const, text: 'key' },
      { kind: 'image' as const, url: 'data:image/png;base64,arrearage' },
    ];
    const of = wordsOf({ ...requestOf(1, ''), turns: [{ role: 'user', parts }] });
    expect([of('incorrect api key'), of('arrearage')]).toEqual([true, false]);
    const schema = wordsOf(requestOf(2, 'data: API key expired'));
    expect(schema('API key expired')).toBe(true);
  });

  test('are taken to be there where a request is too long to look through', () => {
    expect(wordsOf(requestOf(0, ' '.repeat(1_000_001)))('arrearage')).toBe(true);
    expect(wordsOf(requestOf(0, '\\u0020'.repeat(100_000)))('arrearage')).toBe(true);
  });

  test.each<[string, JsonValue]>([
    ['empty texts', ''],
    ['numbers', 1],
    ['empty lists', []],
    ['empty objects', {}],
  ])('are taken to be there where a schema has too many %s, at once', (_name, value) => {
    const parameters = { enum: Array.from({ length: 690_000 }, () => value) };
    const request = { ...requestOf(0, 'x'), tools: [{ name: 'f', parameters }] };
    const cpuMs = cpuTimer();
    expect(wordsOf(request)('arrearage')).toBe(true);
    expect(cpuMs()).toBeLessThan(1_000);
  });

  test('are looked for once, in however many spellings an error repeats them', () => {
    const letters = [...'prompt too long'];
    const spellings = Array.from({ length: 4_000 }, (_, number) => {
      return letters.map((letter, at) => ((number >> at) & 1 ? letter.toUpperCase() : letter));
    });
    const body = spellings.map((spelling) => spelling.join('')).join(' ');
    const empty = Array.from({ length: 49_000 }, () => ({ kind: 'text' as const, text: '' }));
    const request = requestOf(0, 'prompt too long');
    const turns = [{ role: 'user' as const, parts: empty }, ...request.turns];
    const cpuMs = cpuTimer();
    expect(statusFailure(400, body, wordsOf({ ...request, turns })).class).toBe('bad_request');
    expect(cpuMs()).toBeLessThan(1_000);
  });

  test('are looked for a bounded number of times', () => {
    const of = wordsOf(requestOf(1, 'x'.repeat(900_000)));
    const found = Array.from({ length: 1_000 }, (_, number) => of(`arrearage ${number}`));
    expect(found.indexOf(true)).toBeGreaterThan(0);
    expect(found.lastIndexOf(false)).toBeLessThan(found.indexOf(true));
  });
});

test('a code of the upstream counts although the caller wrote it as well', () => {
  const wrote = wordsOf(requestOf(0, 'What does insufficient_quota mean?'));
  const body = '{"error":{"code":"insufficient_quota","message":"no"}}';
  expect(statusFailure(429, body, wrote).class).toBe('credential');
  const said = '{"error":{"message":"no: What does insufficient_quota mean?"}}';
  expect(statusFailure(429, said, wrote).class).toBe('rate_limited');
  const record = { error: { code: 'rate_limit_exceeded', message: 'no' } };
  expect(readErrorRecord(record, wordsOf(requestOf(0, 'rate_limit_exceeded')))?.class).toBe(
    'rate_limited',
  );
});
