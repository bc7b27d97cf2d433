// Details of usage in the column of the report: the report stays as the upstream wrote it.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { TextPacker } from '../../src/core/shape.ts';
import { packReport, reportShape, unpackReport } from '../../src/core/usage-details.ts';

const details = fc.record(
  {
    cachedExplicitTokens: fc.nat(),
    cacheWriteLongTokens: fc.nat(),
    serviceTier: fc.constantFrom('priority', 'tier-2'),
  },
  { requiredKeys: [] },
);

test('a report and its details read back, by shape and as plain text', () => {
  fc.assert(
    fc.property(
      fc.option(fc.json(), { nil: undefined }),
      details,
      fc.boolean(),
      (rawUsage, usage, known) => {
        let shape = '';
        const packer = new TextPacker((text) => {
          shape = text;
          return known ? 7 : undefined;
        });
        const packed = packReport(rawUsage, usage, packer);
        const isEmpty = rawUsage === undefined && Object.keys(usage).length === 0;
        expect(packed === null).toBe(isEmpty);
        expect(unpackReport(packed, () => shape)).toEqual({
          rawUsage: rawUsage ?? null,
          details: usage,
        });
        if (known && shape !== '') expect(reportShape(packed)).toBe(7);
      },
    ),
  );
});

test('a report without details is stored as before', () => {
  const raw = '{"prompt_tokens":20}';
  expect(packReport(raw, {}, new TextPacker(() => 3))).toEqual(new TextPacker(() => 3).pack(raw));
});

test('details add a byte for each count', () => {
  const raw = '{"prompt_tokens":20}';
  const packer = new TextPacker(() => 3);
  const packed = packReport(raw, { cacheWriteLongTokens: 9, serviceTier: 'priority' }, packer);
  expect(packed).toHaveLength(3);
});
