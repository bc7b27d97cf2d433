// Messages that recall permits, over a real Redis: another holder gives up what it does not use, and a
// holder that does not answer is not waited for.

import { expect, test } from 'bun:test';
import { createRecalls } from '../../../src/limits/leased/recalls.ts';
import { describeWithServices } from '../../support/services.ts';
import { waitUntil } from '../../support/upstream.ts';
import { useRedis } from './cluster.ts';

const never = () => new Promise(() => {});

describeWithServices('recalled permits', ['Redis'], () => {
  const used = useRedis();
  let channels = 0;

  async function openTwo(sleep: (ms: number) => Promise<unknown>) {
    channels += 1;
    const channel = `permits-${channels}`;
    const given: string[] = [];
    const open = (holder: string) =>
      createRecalls({
        ...{ redis: used().redis, channel, holder, sleep },
        async giveUp(accountId) {
          given.push(`${holder} ${accountId}`);
        },
      });
    const [first, second] = [open('first'), open('second')];
    await waitUntil(async () =>
      (await used().server.ask(`PUBSUB NUMSUB ${channel}`)).includes(':2\r\n'),
    );
    return { first, second, given };
  }

  test('another holder gives them up, and all requests that wait ask again', async () => {
    const { first, second, given } = await openTwo(never);
    await Promise.all([first.recall('acct_1'), first.recall('acct_1')]);
    expect(given).toEqual(['second acct_1']);
    await second.recall('acct_2');
    expect(given).toEqual(['second acct_1', 'first acct_2']);
    first.stop();
    second.stop();
  });

  test('a holder that does not answer is waited for 100 ms', async () => {
    const slept: number[] = [];
    const { first, second, given } = await openTwo(async (ms) => slept.push(ms));
    second.stop();
    await first.recall('acct_1');
    expect([slept, given]).toEqual([[100], []]);
    first.stop();
  });
});
