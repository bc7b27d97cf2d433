// Work that is long in all gives the event loop a turn between its pieces, and repeats none of it.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { GenerationEvent } from '../../src/core/generation.ts';
import { generate } from '../../src/generate/generate.ts';
import { OutputMeter } from '../../src/generate/meter.ts';
import { createOverrun } from '../../src/generate/overrun.ts';
import { createTokenizer } from '../../src/generate/tokenizer.ts';
import { chatFormat } from '../../src/wire/chat/format.ts';
import { temporaryDirectory } from '../support/database.ts';
import { closeBooks, type OpenBooks, openBooks } from '../support/ledger.ts';
import { candidate, listedAttempt } from './fixtures.ts';
import { catalogWith, openPipeline, planWith, reads } from './rig.ts';

const directory = temporaryDirectory();
let open: OpenBooks;

beforeAll(async () => {
  open = await openBooks(directory);
});

afterAll(() => closeBooks(open));

/** Counts the turns of the event loop until it is stopped. */
function countTurns() {
  let turns = 0;
  let isOn = true;
  const turn = (): void => {
    turns += 1;
    if (isOn) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    now: () => turns,
    stop: () => {
      isOn = false;
    },
  };
}

test('the steps of a large body are in turns of their own', async () => {
  const turns = countTurns();
  const at: number[] = [];
  const tokenizer = createTokenizer(
    (text) => text.length,
    () => 0,
  );
  const pipeline = await openPipeline(
    open,
    catalogWith(planWith({}), [candidate('first').model]),
    'acct_turns',
    {
      startAttempt: (options) =>
        listedAttempt(options.candidate, [{ events: [], end: 'finished' }]),
      tokenizer: {
        ...tokenizer,
        counterFor: (...account) => {
          at.push(turns.now());
          return tokenizer.counterFor(...account);
        },
      },
    },
  );
  const body = {
    model: 'first',
    max_tokens: 20,
    messages: [{ role: 'user', content: 'Hi' }],
    ignored: 'x'.repeat(200_000),
  };
  const call = pipeline.call('req_turns', {
    readBody: async (room) => {
      const read = await reads(body)(room);
      at.push(turns.now());
      return read;
    },
    format: {
      ...chatFormat,
      parse: (parsed) => {
        at.push(turns.now());
        return chatFormat.parse(parsed);
      },
    },
  });
  await generate(pipeline.dependencies, call).catch(() => undefined);
  turns.stop();
  const [read = 0, parsed = 0, sized = 0] = at;
  expect([read < parsed, parsed < sized]).toEqual([true, true]);
});

test('a word without an end beyond its bound is counted a few times, not once for each delta', async () => {
  let counted = 0;
  const meter = new OutputMeter((text) => {
    counted += 1;
    return Math.ceil(text.length / 4);
  });
  const overrun = createOverrun(meter, 100_000, { abort: () => undefined });
  const deltas = Array.from({ length: 60_000 }, (): GenerationEvent => {
    return { kind: 'text-delta', text: 'abcd' };
  });
  await overrun.take({ events: deltas });
  expect(meter.tokens()).toBe(60_000);
  // One for each batch of 256 characters.
  expect(counted).toBeLessThan(2_000);
});
