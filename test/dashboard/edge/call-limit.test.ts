import { expect, test } from 'bun:test';
import { createCallLimit } from '../../../src/dashboard/edge/call-limit.ts';

function open(callersMax?: number) {
  let now = 0;
  const limit = createCallLimit({
    ...{ monotonic: () => now, most: 3, per: 'minute', what: 'changes' },
    ...(callersMax !== undefined && { callersMax }),
  });
  /** The seconds to wait; undefined for an admitted call. */
  const call = (caller: string): number | undefined => {
    try {
      limit(caller);
      return undefined;
    } catch (error) {
      expect(error).toMatchObject({ code: 'too_many_attempts' });
      return (error as { retryAfterSeconds?: number }).retryAfterSeconds;
    }
  };
  const calls = (...callers: string[]) => callers.map(call);
  return { calls, advance: (ms: number) => (now += ms), limit };
}

test('admits so many calls a minute of each caller', () => {
  const { calls, advance } = open();
  expect(calls('ann', 'ann', 'ann', 'ann')).toEqual([undefined, undefined, undefined, 60]);
  expect(calls('ben')).toEqual([undefined]);
  advance(45_000);
  expect(calls('ann')).toEqual([15]);
  advance(15_000);
  expect(calls('ann', 'ann', 'ann', 'ann')).toEqual([undefined, undefined, undefined, 60]);
});

test('says what is limited, and when to try again', () => {
  const { limit } = open();
  for (let call = 0; call < 3; call += 1) limit('ann');
  expect(() => limit('ann')).toThrow(
    'The limit of 3 changes a minute is reached. Try again in 60 seconds.',
  );
});

test('counts those who called last, so that its memory is bounded', () => {
  const { calls } = open(2);
  expect(calls('ann', 'ann', 'ann', 'ben', 'ann')).toEqual([...Array(4).fill(undefined), 60]);
  calls('cat', 'dan');
  expect(calls('ann')).toEqual([undefined]);
});
