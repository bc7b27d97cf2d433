// The event-stream reader against a second one, written here straight from the rules of the HTML
// standard ("Interpreting an event stream") over the whole stream at once, with our deviations:
// `error` is a field that names its event, and neither the last line nor the last event needs its
// end.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { SseDecoder, type SseLimits } from '../../../src/wire/sse.ts';
import { mutated } from '../inputs/mutate.ts';
import { inReads, readLengths } from '../inputs/reads.ts';
import { recorded, toBytes } from '../inputs/recordings.ts';
import { property } from '../property.ts';

type Read = {
  readonly records: readonly (readonly [data: string, event: string])[];
  readonly failed: boolean;
};

const LINE_END = /\r\n|\n|\r/;

export function readByTheStandard(bytes: Uint8Array, limits: SseLimits): Read {
  const records: [string, string][] = [];
  const isCut = bytes.length > limits.streamBytes;
  let data = '';
  let event = '';
  const dispatch = (): void => {
    if (data !== '') records.push([data.slice(0, -1), event]);
    data = '';
    event = '';
  };
  // One character a byte until the lines are found: line ends are the same in every encoding.
  const allowed = Buffer.from(bytes.subarray(0, limits.streamBytes));
  const lines = allowed.toString('latin1').split(LINE_END);
  for (const [number, line] of lines.entries()) {
    const lineBytes = Buffer.from(line, 'latin1');
    if (lineBytes.length > limits.lineBytes) return { records, failed: true };
    if (isCut && number === lines.length - 1) return { records, failed: true };
    let text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(lineBytes);
    if (number === 0 && text.startsWith('\uFEFF')) text = text.slice(1);
    if (text === '') {
      // What follows the last line end is no line.
      if (number < lines.length - 1) dispatch();
      continue;
    }
    const colon = text.indexOf(':');
    const field = colon === -1 ? text : text.slice(0, colon);
    const value = colon === -1 ? '' : text.slice(colon + 1).replace(/^ /, '');
    if (field === 'error') event = 'error';
    if (field === 'event') event = value;
    if (field === 'data' || field === 'error') data += `${value}\n`;
    if (data.length - 1 > limits.eventLength) return { records, failed: true };
  }
  dispatch();
  return { records, failed: false };
}

function readByOurs(reads: readonly Uint8Array[], limits: SseLimits): Read {
  const records: [string, string][] = [];
  const decoder = new SseDecoder({ record: (data, event) => records.push([data, event]) }, limits);
  for (const read of reads) {
    if (decoder.feed(read) !== undefined) return { records, failed: true };
  }
  return { records, failed: decoder.end() !== undefined };
}

const piece = fc.constantFrom(
  ...['data', 'data:', 'data: ', 'data:  x', 'event: error', 'event', 'error', 'error: x', 'id: 1'],
  ...['retry: 1', ': comment', ':', ' data: x', 'é', '😀', '\uFEFF', '\0', 'x'],
  ...['\n', '\r', '\r\n', '\n\n', '\r\r', '\r\n\r\n', '\u2028', '\u0085', '\v'],
);

const bytes = fc.oneof(
  fc
    .array(fc.oneof(piece, fc.string({ maxLength: 4 })), { maxLength: 24 })
    .chain((pieces) => fc.constantFrom('', '', '\uFEFF').map((mark) => mark + pieces.join('')))
    .map(toBytes),
  mutated(recorded('sse')),
  fc.uint8Array({ maxLength: 64 }),
);

const bound = fc.oneof(
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 24 }) },
  { weight: 5, arbitrary: fc.constant(1_000_000) },
);

export const SSE_PROPERTIES = [
  property(
    'sse: reads any bytes, however split, as the standard says',
    fc.record({
      bytes,
      lengths: readLengths,
      lineBytes: bound,
      eventLength: bound,
      streamBytes: bound,
    }),
    ({ bytes, lengths, ...limits }) => {
      const expected = readByTheStandard(bytes, limits);
      assert.deepEqual(readByOurs(inReads(bytes, lengths), limits), expected);
    },
  ),
];
