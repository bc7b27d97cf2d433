// The stream of a first request with an `Idempotency-Key`: what its client gets, and what is recorded.

import { expect, test } from 'bun:test';
import { RecordingStream, replay } from '../../src/http/recording.ts';
import { Transcript, unpack } from '../../src/idempotency/transcript.ts';

function record(bytesMax = 1_000_000) {
  const transcript = new Transcript();
  const stored = Promise.withResolvers<void>();
  const happened: string[] = [];
  const stream = new RecordingStream({
    ...{ transcript, bytesMax },
    onFull: () => void happened.push('full'),
    async onComplete() {
      happened.push('complete');
      await stored.promise;
    },
  });
  const recorded = (): string => Buffer.concat([...unpack(transcript.pack())]).toString();
  return { stream, stored, happened, recorded };
}

test('ends for its client when its answer is stored', async () => {
  const { stream, stored, happened, recorded } = record();
  let isOver = false;
  const text = new Response(stream.body).text().finally(() => {
    isOver = true;
  });
  stream.write('one ');
  stream.close('two');
  await Bun.sleep(20);
  expect([isOver, happened]).toEqual([false, ['complete']]);
  stored.resolve();
  expect(await text).toBe('one two');
  expect(recorded()).toBe('one two');
});

test('is recorded to its end without its client', () => {
  const { stream, happened, recorded } = record();
  stream.write('one ');
  stream.leave();
  expect([stream.gone(), stream.write('two ')]).toEqual([false, undefined]);
  stream.close('three');
  expect([recorded(), happened]).toEqual(['one two three', ['complete']]);
});

test('is cut where its recording is full', async () => {
  const { stream, happened } = record(100);
  const read = new Response(stream.body).text();
  stream.write('x'.repeat(100));
  expect(stream.gone()).toBe(false);
  stream.write('y');
  expect([stream.gone(), happened]).toEqual([true, ['full']]);
  expect(read).rejects.toThrow('longer than can be recorded');
});

test('a replay ends when its client has it all, or has left', async () => {
  const transcript = new Transcript();
  transcript.append(Buffer.from('x'.repeat(200_000)));
  const packed = transcript.pack();
  let ends = 0;
  const onEnd = (): void => {
    ends += 1;
  };
  const whole = await new Response(replay(packed, onEnd).body).text();
  expect([whole, ends]).toEqual(['x'.repeat(200_000), 1]);
  const left = replay(packed, onEnd);
  expect(ends).toBe(1);
  left.leave();
  await Bun.sleep(1);
  expect(ends).toBe(2);
});
