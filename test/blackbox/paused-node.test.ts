// A node that was suspended until the others evicted it resumes: it refuses the requests that
// waited in its sockets until it registers again as a new incarnation.

import { expect, setDefaultTimeout, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { connectDatabase } from '../../src/store/connect.ts';
import { play } from '../support/behaviours.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { generate } from '../support/client.ts';
import { startGateway } from '../support/gateway.ts';
import { newPostgresUrl } from '../support/postgres-database.ts';
import { describeWithServices } from '../support/services.ts';
import { startUpstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(90_000);

const ANSWER = play({
  pieces: [{ text: 'Hello.' }],
  finish: 'stop',
  usage: { prompt: 10, cached: 4, completion: 5 },
});

/** Answers that were paid for. */
const PAID = sql`select count(*) as paid from requests where charged > loss`;

type Paid = { readonly paid: bigint | number | string };

describeWithServices('a node that stood still', ['PostgreSQL'], () => {
  test('serves no request under the incarnation that the others have evicted', async () => {
    await using stack = new AsyncDisposableStack();
    const upstream = await startUpstream({ answers: ANSWER });
    stack.defer(upstream.close);
    const catalog = catalogFor(upstream, ['answers'], {
      model: { price: { input: '1', cached_input: '0.1', output: '2' } },
      plans: { large: LARGE_PLAN },
    });
    const url = await newPostgresUrl();
    const environment = { DATABASE_URL: url, OPERATOR_PORT: 'off' };
    const asleep = stack.use(await startGateway({ catalog, environment }));
    const awake = stack.use(await startGateway({ catalog, environment }));
    const { key, id } = await asleep.createAccount({ plan: 'large' });
    const ask = async (): Promise<number> =>
      (await generate({ url: asleep.url, key }, 'chat', 'answers')).status;
    expect(await ask()).toBe(200);

    process.kill(asleep.pid, 'SIGSTOP');
    const waiting = Promise.all(Array.from({ length: 20 }, ask));
    await waitUntil(() => awake.output().includes('is evicted'), 40_000);
    process.kill(asleep.pid, 'SIGCONT');
    const statuses = await waiting;
    await waitUntil(async () => (await ask()) === 200);
    // The log is written behind the answers.
    await waitUntil(() => asleep.output().includes('this node rejoins as a new incarnation'));

    // The one of before and the one behind, and none for nothing of those that waited.
    const database = connectDatabase({ url, sync: 'normal' });
    stack.defer(database.close);
    const served = statuses.filter((status) => status === 200).length + 1;
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect((await database.rows<Paid>(PAID)).map(({ paid }) => Number(paid))).toEqual([served + 1]);
    const { account } = await awake.run('account', 'show', id);
    expect(account).toMatchObject({ balance: { reserved: '0' } });
    expect(await awake.run('doctor')).toMatchObject({ ok: true });
  });
});
