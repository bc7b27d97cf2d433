// The pump: every event once and in order, one write a read, heartbeats in silence, and the three
// ways in which a stream ends.

import { expect, test } from 'bun:test';
import type { GenerationEvent } from '../../src/core/generation.ts';
import { ClientStream } from '../../src/generate/client-stream.ts';
import { OutputMeter } from '../../src/generate/meter.ts';
import { type PumpOptions, pump } from '../../src/generate/pump.ts';
import type { Batch } from '../../src/upstream/attempt.ts';
import type { StreamEncoder } from '../../src/wire/format.ts';
import { CUT, candidate, FINISH, HELLO, listedAttempt } from './fixtures.ts';

const ENCODER: StreamEncoder = {
  start: () => '<',
  servedBy: () => {},
  push: (event) => (event.kind === 'text-delta' ? event.text : ''),
  heartbeat: () => '~',
  finish: () => '>',
  fail: () => '!',
};

const EXHAUSTED: GenerationEvent = { kind: 'finish', reason: 'insufficient_system_resource' };

const text = (words: string): GenerationEvent => ({ kind: 'text-delta', text: words });

function setUp(batches: readonly Batch[], more: Partial<PumpOptions> = {}) {
  const attempt = listedAttempt(candidate('a'), batches);
  const written: string[] = [];
  class ObservedStream extends ClientStream {
    override write(words: string): Promise<void> | undefined {
      written.push(words);
      return super.write(words);
    }
  }
  const client = new ObservedStream(() => attempt.abort());
  const meter = new OutputMeter((counted) => counted.length);
  const ending = pump({
    attempt,
    first: attempt.next(),
    encoder: ENCODER,
    client,
    onEvent: (event) => meter.push(event),
    tellsExhaustion: true,
    heartbeatMs: 60_000,
    ...more,
  });
  return { attempt, client, meter, written, ending };
}

test('events in order, one write a read, nothing for a read without text', async () => {
  const { written, ending, meter } = setUp([
    { events: [text('a'), text('b')] },
    { events: [] },
    { events: [text('c'), FINISH], end: 'finished' },
  ]);
  expect(await ending).toEqual({ kind: 'finished' });
  expect(written).toEqual(['<', 'ab', 'c']);
  expect(meter.estimate(0).outputTokens).toBe(3);
});

test('an upstream that breaks ends it; what came with the break is delivered and counted', async () => {
  const { written, ending, meter, attempt } = setUp([
    { events: [text('a')] },
    { events: [text('b')], end: CUT },
  ]);
  expect(await ending).toEqual({ kind: 'failed', failure: CUT });
  expect(written).toEqual(['<', 'a', 'b']);
  expect([meter.estimate(0).outputTokens, attempt.aborts()]).toEqual([2, 1]);
});

test('a client that leaves in a silence stops the upstream', async () => {
  const { client, ending, attempt, meter } = setUp([{ events: [HELLO] }]);
  const reader = client.body.getReader();
  await reader.read();
  await reader.read();
  await reader.cancel();
  expect(await ending).toEqual({ kind: 'client_left', over: true });
  expect(attempt.aborts()).toBeGreaterThan(0);
  expect(meter.output()).toBe('answer');
});

test('a client that does not read holds the upstream back', async () => {
  const large = text('x'.repeat(70_000));
  const { client, written, ending } = setUp([
    { events: [large] },
    { events: [text('more'), FINISH], end: 'finished' },
  ]);
  await Bun.sleep(5);
  expect(written.map((each) => each.length)).toEqual([1, 70_000]);
  const reader = client.body.getReader();
  await reader.read();
  await reader.read();
  expect(await ending).toEqual({ kind: 'finished' });
  expect(written.at(-1)).toBe('more');
});

test('a silence has a heartbeat in every interval', async () => {
  const { written, ending, attempt } = setUp([{ events: [HELLO] }], {
    heartbeatMs: 2,
  });
  while (written.length < 5) await Bun.sleep(1);
  attempt.abort();
  await ending;
  const [start, hello, ...beats] = written;
  expect([start, hello]).toEqual(['<', 'Hello']);
  // The first interval had a write in it, so it has no heartbeat.
  expect(beats).toEqual(['~', '~', '~']);
});

test('an answer cut for lack of capacity is one only where the format has a word for it', async () => {
  const cut = [{ events: [HELLO, EXHAUSTED], end: 'finished' as const }];
  expect(await setUp(cut).ending).toEqual({ kind: 'finished' });
  expect(await setUp(cut, { tellsExhaustion: false }).ending).toEqual({
    kind: 'failed',
    failure: { class: 'overloaded', detail: 'the upstream had no capacity to finish' },
  });
});
