import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { UpstreamFailure } from '../../src/core/failure.ts';
import { SseDecoder, type SseLimits } from '../../src/wire/sse.ts';

const encoder = new TextEncoder();
const WIDE: SseLimits = { lineBytes: 1_048_576, eventLength: 1_048_576, streamBytes: 33_554_432 };

type Result = {
  readonly records: readonly { readonly data: string; readonly event: string }[];
  readonly failure: UpstreamFailure | undefined;
};

function decode(reads: readonly Uint8Array[], limits: Partial<SseLimits> = {}): Result {
  const records: { data: string; event: string }[] = [];
  const decoder = new SseDecoder(
    { record: (data, event) => records.push({ data, event }) },
    {
      ...WIDE,
      ...limits,
    },
  );
  for (const read of reads) {
    const failure = decoder.feed(read);
    if (failure !== undefined) return { records, failure };
  }
  return { records, failure: decoder.end() };
}

function decodeText(text: string, limits: Partial<SseLimits> = {}): Result {
  return decode([encoder.encode(text)], limits);
}

function bytewise(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
}

function data(...values: string[]): Result {
  return { records: values.map((value) => ({ data: value, event: '' })), failure: undefined };
}

describe('event streams', () => {
  const cases: readonly (readonly [title: string, text: string, expected: Result])[] = [
    ['case 72: CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', data('a', 'b')],
    ['case 72: CR alone', 'data: a\r\rdata: b\r\r', data('a', 'b')],
    ['mixed line ends', 'data: a\r\ndata: b\n\r\ndata: c\r\n\n', data('a\nb', 'c')],
    [
      'case 75: several events in one read',
      'data: a\n\ndata: b\n\ndata: c\n\n',
      data('a', 'b', 'c'),
    ],
    ['case 76: comments', ': x\n\n:y\ndata: a\n: inside\ndata: b\n\n', data('a\nb')],
    ['case 77: no space after the colon', 'data:a\n\ndata:  b\n\n', data('a', ' b')],
    ['case 78: data in several lines', 'data: a\ndata:\ndata: b\n\n', data('a\n\nb')],
    ['case 79: a byte-order mark', '\uFEFFdata: a\n\n', data('a')],
    ['a byte-order mark later is a character', 'data: \uFEFFa\n\n', data('\uFEFFa')],
    ['case 80: id, retry and unknown fields', 'id: 1\nretry: 5\nfoo: b\ndata: a\n\n', data('a')],
    ['case 81: an event without data', 'event: keepalive\n\ndata: a\n\n', data('a')],
    ['case 81: empty data', 'data:\n\ndata\n\n', data('', '')],
    ['case 83: the last event has no blank line', 'data: a\n\ndata: b\n', data('a', 'b')],
    ['case 83: nor a line end', 'data: a\n\ndata: b', data('a', 'b')],
    [
      'case 85: U+2028, U+0085 and NUL end no line',
      'data: a\u2028b\u0085c\0\n\n',
      data('a\u2028b\u0085c\0'),
    ],
    [
      'case 86: a field named error',
      'error: {"a":1}\n\ndata: b\n\n',
      {
        records: [
          { data: '{"a":1}', event: 'error' },
          { data: 'b', event: '' },
        ],
        failure: undefined,
      },
    ],
    [
      'an event has its name, and the next one does not inherit it',
      'event: error\ndata: a\n\ndata: b\n\n',
      {
        records: [
          { data: 'a', event: 'error' },
          { data: 'b', event: '' },
        ],
        failure: undefined,
      },
    ],
    ['nothing', '', data()],
    ['blank lines alone', '\n\n\r\n\r', data()],
  ];

  for (const [title, text, expected] of cases) {
    const bytes = encoder.encode(text);
    test(title, () => expect(decodeText(text)).toEqual(expected));
    test(`${title}, split at every position`, () => {
      for (let at = 0; at <= bytes.length; at += 1) {
        expect(decode([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(expected);
      }
      expect(decode(bytewise(bytes))).toEqual(expected);
    });
  }

  test('any bytes, in any reads, give the same records', () => {
    const line = fc.constantFrom(
      'data: a',
      'data:é漢😀',
      ':c',
      'event: e',
      'error: x',
      '',
      '\uFEFF',
    );
    const end = fc.constantFrom('\n', '\r', '\r\n');
    const lines = fc.array(fc.tuple(line, end).map((parts) => encoder.encode(parts.join(''))));
    const noise = fc.uint8Array({ maxLength: 8 });
    const stream = fc
      .array(
        fc.oneof(
          lines,
          noise.map((bytes) => [bytes]),
        ),
      )
      .map((parts) => new Uint8Array(Buffer.concat(parts.flat())));
    fc.assert(
      fc.property(stream, fc.array(fc.nat()), (bytes, positions) => {
        const cuts = positions.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b);
        const borders = [0, ...cuts, bytes.length];
        const reads = borders
          .slice(1)
          .map((border, index) => bytes.subarray(borders[index], border));
        for (const streamBytes of [WIDE.streamBytes, bytes.length, bytes.length >> 1]) {
          const limits = { lineBytes: 12, eventLength: 16, streamBytes };
          expect(decode(reads, limits)).toEqual(decode([bytes], limits));
        }
        expect(decode(bytewise(bytes))).toEqual(decode([bytes]));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('bounds', () => {
  const lineFailure = (bytes: number): UpstreamFailure => ({
    class: 'malformed',
    detail: `the upstream sent a line of more than ${bytes} bytes`,
  });

  test('a line may be as long as its limit, in bytes, and not longer', () => {
    const limits = { lineBytes: 10 };
    expect(decodeText('data: 1234\n\n', limits)).toEqual(data('1234'));
    expect(decodeText('data: 12345\n\n', limits).failure).toEqual(lineFailure(10));
    expect(decodeText('data: é34\n\n', limits)).toEqual(data('é34'));
    expect(decodeText('data: é345\n\n', limits).failure).toEqual(lineFailure(10));
  });

  test('an event may be as long as its limit, its lines together', () => {
    const limits = { eventLength: 5 };
    expect(decodeText('data: 12\ndata: 34\n\n', limits)).toEqual(data('12\n34'));
    expect(decodeText('data: 12\ndata: 345\n\n', limits)).toEqual({
      records: [],
      failure: {
        class: 'malformed',
        detail: 'the upstream sent an event of more than 5 characters',
      },
    });
  });

  test('a stream may be as long as its limit, for any bytes', () => {
    const failure: UpstreamFailure = {
      class: 'malformed',
      detail: 'the upstream sent a stream of more than 18 bytes',
    };
    const text = 'data: a\n\ndata: b\n\n';
    expect(decodeText(text, { streamBytes: 18 })).toEqual(data('a', 'b'));
    expect(decodeText(`${text}d`, { streamBytes: 18 })).toEqual({ ...data('a', 'b'), failure });
    for (const endless of [': x\n', '\n', '\r', 'id: 1\n', 'event: e\n\n', 'data\n\n']) {
      const decoder = new SseDecoder({ record: () => {} }, { ...WIDE, streamBytes: 18 });
      let fed = 0;
      for (; decoder.feed(encoder.encode(endless)) === undefined; fed += endless.length);
      expect([endless, fed]).toEqual([endless, 18 - (18 % endless.length)]);
    }
  });

  test('an endless event fails at its limit, in lines of any kind', () => {
    for (const [line, fitting] of [
      ['data\n', 5],
      ['data:\n', 5],
      ['data: 1\n', 2],
      ['error: 1\n', 2],
    ] as const) {
      const decoder = new SseDecoder({ record: () => {} }, { ...WIDE, eventLength: 4 });
      let fed = 0;
      for (; decoder.feed(encoder.encode(line)) === undefined; fed += 1);
      expect([line, fed]).toEqual([line, fitting]);
    }
  });

  test('records before the failure are handed over', () => {
    const limits = { lineBytes: 10 };
    expect(decodeText(`data: a\n\n${'x'.repeat(11)}\n\ndata: b\n\n`, limits)).toEqual({
      records: [{ data: 'a', event: '' }],
      failure: lineFailure(10),
    });
  });

  test('a line of 10 MB fails at the limit, however it arrives', () => {
    const huge = new Uint8Array(10_000_000).fill(120);
    expect(decode([huge])).toEqual({ records: [], failure: lineFailure(WIDE.lineBytes) });
    const decoder = new SseDecoder({ record: () => {} }, WIDE);
    let fed = 0;
    let failure: UpstreamFailure | undefined;
    while (failure === undefined && fed < huge.length) {
      failure = decoder.feed(huge.subarray(fed, fed + 16_384));
      fed += 16_384;
    }
    expect(failure).toEqual(lineFailure(WIDE.lineBytes));
    expect(fed).toBe(WIDE.lineBytes + 16_384);
  });

  // Quadratic copying would take minutes here, which is beyond any test's time.
  test('a line of 1 MB in reads of one byte', () => {
    const bytes = encoder.encode(`data: ${'x'.repeat(1_000_000)}\n\n`);
    expect(decode(bytewise(bytes)).records[0]?.data.length).toBe(1_000_000);
  });
});
