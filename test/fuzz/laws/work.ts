// The complexity of codecs: four times the input may cost four times the work, not sixteen times. A
// caller's body has up to 2 MB, an upstream's stream has no limit.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BUILT_IN_PROFILES } from '../../../src/core/built-in-profiles.ts';
import { GatewayError } from '../../../src/core/error.ts';
import { Fold } from '../../../src/core/fold.ts';
import type { GenerationEvent } from '../../../src/core/generation.ts';
import { createStopCutter } from '../../../src/core/stop.ts';
import { parseBody } from '../../../src/wire/body.ts';
import { checkGrowth } from '../checks/work.ts';
import { answerSequence, head, receipt } from '../inputs/answers.ts';
import { codecOf, profileChoice, profileOf } from '../inputs/profiles.ts';
import { toBytes } from '../inputs/recordings.ts';
import { FORMATS, type FormatName } from '../inputs/requests.ts';
import { recordText } from '../inputs/streams.ts';
import { property } from '../property.ts';

/** `#` and `~` stand for a number that rises and one that falls. */
function repeated(unit: string, repeats: number): string {
  let text = '';
  for (let at = 0; at < repeats; at += 1) {
    text += unit.replaceAll('#', String(at)).replaceAll('~', String(repeats - at));
  }
  return text;
}

/** Bodies with a place for many of something, at `@`, and for as many results, at `&`. */
const PLACES: readonly (readonly [format: FormatName, body: string])[] = [
  ['chat', '{"model":"m","messages":[{"role":"user","content":"@"}]}'],
  ['chat', '{"model":"m","messages":[{"role":"user","content":[@{"type":"text","text":"x"}]}]}'],
  ['chat', '{"model":"m",@"messages":[{"role":"user","content":"x"}]}'],
  [
    'chat',
    '{"model":"m","messages":[{"role":"assistant","tool_calls":[@{"id":"a","function":{"name":"f","arguments":"@"}}]},{"role":"user","content":"x"}]}',
  ],
  [
    'chat',
    '{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":{@"x":1}}}]}',
  ],
  [
    'chat',
    '{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:@,x"}}]}]}',
  ],
  ['responses', '{"model":"m","input":"@"}'],
  ['responses', '{"model":"m",@"input":"x"}'],
  ['responses', '{"model":"m","input":[@{"role":"user","content":"x"}]}'],
  [
    'responses',
    '{"model":"m","input":[{"role":"user","content":[@{"type":"input_text","text":"x"}]}]}',
  ],
  [
    'responses',
    '{"model":"m","input":[{"type":"function_call","call_id":"a","name":"f","arguments":"@"},{"role":"user","content":"x"}]}',
  ],
  [
    'responses',
    '{"model":"m","input":"x","tools":[{"type":"function","name":"f","parameters":{@"x":1}}]}',
  ],
  ['messages', '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"@x"}]}'],
  [
    'messages',
    '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[@{"type":"text","text":"x"}]}]}',
  ],
  [
    'messages',
    '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"system":[@{"type":"text","text":"x"}]}',
  ],
  ['messages', '{"model":"m","max_tokens":1,@"messages":[{"role":"user","content":"x"}]}'],
  [
    'messages',
    '{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{@"x":1}}]},{"role":"user","content":"x"}]}',
  ],
  [
    'messages',
    '{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[@{"type":"text","text":"x"}]},{"role":"user","content":[&{"type":"text","text":"x"}]}]}',
  ],
  [
    'messages',
    '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"@AAAA"}}]}]}',
  ],
];

const TEXT_UNITS = [
  ...[
    'a',
    ' ',
    '\\n',
    '\\\\',
    '\\"',
    '\\ud83d',
    '\\ud83d\\ude00',
    '\\\\\\ud83d',
    '{',
    '<think>',
    'A',
    'é',
  ],
];

const ITEM_UNITS = [
  '{"type":"reasoning","summary":[{"type":"summary_text","text":"x"}]},',
  '{"type":"function_call","call_id":"a~","name":"f","arguments":"{}"},',
  '{"type":"function_call_output","call_id":"a#","output":"x"},',
  '{"type":"text","text":"x"},',
  '{"type":"text","text":""},',
  '{"type":"text","text":"x-anthropic-billing-header: y"},',
  '{"type":"image_url","image_url":{"url":"https://a.example/b"}},',
  '{"type":"thinking","thinking":"x"},',
  '{"type":"tool_use","id":"a#","name":"f","input":{"a":"#"}},',
  '{"type":"tool_use","id":"a","name":"f"},',
  '{"type":"tool_result","tool_use_id":"a~"},',
  '{"id":"a~","function":{"name":"f","arguments":"{}"}},',
  '{"type":"x","content":[{"input":1}]},',
];

const MEMBER_UNITS = [
  '"k#":1,',
  '"k":{"a":[1,2]},',
  '"#":"\\\\",',
  '"messages":[],',
  '"\\u0061~":"x",',
];

const RESULT = '{"type":"tool_result","tool_use_id":"a~","content":"x"},';

const crowded = fc.record({
  place: fc.constantFrom(...PLACES),
  unit: fc.constantFrom(...TEXT_UNITS, ...ITEM_UNITS, ...MEMBER_UNITS),
  profile: profileChoice,
});

type Crowded = typeof crowded extends fc.Arbitrary<infer Input> ? Input : never;

function checkRequestWork({ place: [format, body], unit, profile }: Crowded): void {
  const dialect = codecOf(profileOf(profile));
  const call = { upstream: 'u', model: 'm', maxOutputTokens: 10, stream: true, reasons: true };
  checkGrowth((repeats) => {
    const fill = (mark: string): string => repeated(mark === '@' ? unit : RESULT, repeats);
    const bytes = toBytes(body.replace(/[@&]/g, fill));
    return () => {
      try {
        dialect.request(FORMATS[format].parse(parseBody(bytes)), call);
      } catch (error) {
        assert.ok(error instanceof GatewayError, `not a refusal: ${String(error)}`);
      }
    };
  });
}

const upstreamStream = fc.record({
  profile: profileChoice,
  before: fc.array(recordText, { maxLength: 2 }),
  unit: fc.array(recordText, { minLength: 1, maxLength: 2 }),
  readBytes: fc.constantFrom(64, 1_000, 16_384),
});

type UpstreamStream = typeof upstreamStream extends fc.Arbitrary<infer Input> ? Input : never;

function checkStreamWork({ profile, before, unit, readBytes }: UpstreamStream): void {
  const dialect = codecOf(profileOf(profile));
  checkGrowth((repeats) => {
    const bytes = toBytes(before.join('') + unit.join('').repeat(repeats));
    return () => {
      const decoder = dialect.stream(() => {});
      for (let at = 0; at < bytes.length; at += readBytes) {
        if (decoder.feed(bytes.subarray(at, at + readBytes)) !== undefined) return;
      }
      decoder.end();
    };
  });
}

const answerStream = fc.record({
  format: fc.constantFrom('chat' as const, 'messages' as const, 'responses' as const),
  events: answerSequence,
  /** The events that come again and again. */
  from: fc.nat({ max: 12 }),
  length: fc.integer({ min: 1, max: 4 }),
  head,
  receipt,
  filling: fc.constantFrom('', 'a', 'aaaaaaa', 'ab', ' '),
  stop: fc.array(fc.constantFrom('ab', `${'a'.repeat(60)}b`, ' x', '\n\n'), { maxLength: 3 }),
});

type AnswerStream = typeof answerStream extends fc.Arbitrary<infer Input> ? Input : never;

function checkAnswerWork(input: AnswerStream): void {
  const { events, from, length } = input;
  const isRepeated = (event: GenerationEvent): boolean =>
    event.kind !== 'tool-start' && event.kind !== 'finish' && event.kind !== 'usage';
  const unit: GenerationEvent[] = events.slice(from, from + length).filter(isRepeated);
  unit.push({ kind: 'text-delta', text: input.filling });
  checkGrowth((repeats) => {
    const middle = Array.from({ length: repeats }, () => unit).flat();
    const all = [...events.slice(0, from), ...middle, ...events.slice(from)];
    return () => {
      const encoder = FORMATS[input.format].stream(input.head);
      const cutter = createStopCutter(input.stop);
      const fold = new Fold();
      encoder.start();
      for (const event of all.flatMap((event) => cutter.push(event))) {
        fold.push(event);
        encoder.push(event);
      }
      encoder.finish(input.receipt);
      FORMATS[input.format].response(input.head, fold.answer(), input.receipt);
    };
  });
}

const bodyPump = fc.record({
  profile: fc.constantFrom(...BUILT_IN_PROFILES.keys()).map((name) => ({ name, fields: {} })),
  unit: fc.constantFrom(
    ...['{"type":"text","text":"x"},', '{"type":"thinking","thinking":"x"},'],
    ...['{"type":"tool_use","id":"a~","name":"f","input":{}},', '{"type":"x"},'],
    ...['{"id":"a~","function":{"name":"f","arguments":"{}"}},'],
  ),
  place: fc.constantFrom(
    '{"content":[@{"type":"text","text":"x"}],"stop_reason":"end_turn"}',
    '{"choices":[{"message":{"content":[@{"type":"text","text":"x"}]},"finish_reason":"stop"}]}',
    '{"choices":[{"message":{"tool_calls":[@{}]},"finish_reason":"stop"}]}',
  ),
});

type BodyPump = typeof bodyPump extends fc.Arbitrary<infer Input> ? Input : never;

function checkBodyWork({ profile, unit, place }: BodyPump): void {
  const dialect = codecOf(profileOf(profile));
  checkGrowth((repeats) => {
    const body = place.replace('@', () => repeated(unit, repeats));
    return () => dialect.response(body);
  });
}

/** Each run reads hundreds of kilobytes. */
const RUNS = 30;

export const WORK_PROPERTIES = [
  property(
    'work: reading and writing a request grows with its length',
    crowded,
    checkRequestWork,
    RUNS,
  ),
  property('work: decoding a stream grows with its length', upstreamStream, checkStreamWork, RUNS),
  property('work: encoding an answer grows with its length', answerStream, checkAnswerWork, RUNS),
  property('work: reading a whole answer grows with its length', bodyPump, checkBodyWork, RUNS),
];
