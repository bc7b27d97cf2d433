// How a gateway treats an unhealthy upstream, seen from both sides: breakers, `retry-after`,
// several credentials, a cap on requests in flight with its queue, the retry budget, weights, and
// fallbacks.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createAccounts } from '../../support/accounts.ts';
import { type Books, openBooks } from '../../support/books.ts';
import { generate, generateStream, openStream } from '../../support/client.ts';
import { held } from '../../support/description.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../../support/gateway.ts';
import { startUpstream, type Upstream, waitUntil } from '../../support/upstream.ts';
import { BEHAVIOURS, catalogText, mostAtOnce, released } from './scenes.ts';

setDefaultTimeout(60_000);

type Json = Readonly<Record<string, unknown>>;

let upstream: Upstream;
let gateway: Gateway;
let books: Books;
let customer: TestAccount;

beforeAll(async () => {
  upstream = await startUpstream(BEHAVIOURS);
  gateway = await startGateway({
    catalog: catalogText(upstream),
    environment: { SILENT_COMMIT_SECONDS: '0.2', HEARTBEAT_SECONDS: '0.1' },
  });
  books = openBooks(gateway);
  const [made] = await createAccounts(gateway, 1, { plan: 'some', credit: 10_000_000 });
  if (made === undefined) throw new Error('no account');
  customer = made;
});

closeAtEnd(() => [upstream, gateway, books]);

const asked = (site: string) => upstream.asked(site).length;

/** Who was tried, and what was said of each that did not serve. */
async function triesOf(headers: Headers): Promise<unknown[]> {
  const story = await books.story(headers.get('x-request-id'));
  const attempts = (story?.['attempts'] ?? []) as Json[];
  return attempts.map((attempt) => [attempt['upstream'], attempt['failure'] ?? 'serves']);
}

/** What /readyz says of an upstream to its operator. */
async function stateOf(id: string): Promise<Json> {
  const response = held(await fetch(`${gateway.url}/readyz`), 'GET');
  const answer = (await response.json()) as Json;
  const { upstreams } = answer['detail'] as { readonly upstreams: readonly Json[] };
  const state = upstreams.find((each) => each['upstream'] === id);
  return {
    ...state,
    warnings: (answer['warnings'] as string[]).filter((each) => each.includes(id)),
  };
}

async function breakerOf(id: string): Promise<unknown> {
  return ((await stateOf(id))['models'] as Json[])[0]?.['breaker'];
}

describe.concurrent('an upstream that fails', () => {
  test('is left alone, and its operator is warned', async () => {
    for (let request = 1; request <= 5; request += 1) {
      const { status, headers } = await generate(customer, 'chat', 'resting');
      expect([status, headers.get('x-svc-model')]).toEqual([200, 'resting']);
      expect(await triesOf(headers)).toEqual([
        ['resting', 'server_error'],
        ['well', 'serves'],
      ]);
    }
    const { headers } = await generate(customer, 'chat', 'resting');
    expect([asked('resting'), await triesOf(headers)]).toEqual([
      5,
      [
        ['resting', 'no_capacity'],
        ['well', 'serves'],
      ],
    ]);
    await waitUntil(async () => (await breakerOf('resting')) === 'open');
    expect((await stateOf('resting'))['warnings']).toEqual(['upstream resting fails for resting']);
  });

  test('is probed, and serves again once it is well', async () => {
    // Five failures and a probe open its breaker, the trial and its probe fail as well, and the next
    // ones find it well.
    await waitUntil(async () => {
      expect((await generate(customer, 'chat', 'recovering')).status).toBe(200);
      return asked('recovering') > 6 && (await breakerOf('recovering')) === 'closed';
    });
    const [fifth, sixth, seventh] = upstream.asked('recovering').slice(4);
    expect(Number(sixth?.atMs) - Number(fifth?.atMs)).toBeGreaterThanOrEqual(490);
    // A cool-down doubles with each probe that fails.
    expect(Number(seventh?.atMs) - Number(sixth?.atMs)).toBeGreaterThanOrEqual(990);
    expect(await triesOf((await generate(customer, 'chat', 'recovering')).headers)).toEqual([
      ['recovering', 'serves'],
    ]);
  });

  test('is left alone for as long as it asks', async () => {
    await waitUntil(async () => {
      expect((await generate(customer, 'chat', 'retry-after')).status).toBe(200);
      await Bun.sleep(50);
      return asked('retry-after') > 1;
    });
    const [first, second] = upstream.asked('retry-after');
    expect(Number(second?.atMs) - Number(first?.atMs)).toBeGreaterThanOrEqual(2_990);
  });

  test('without another upstream, the customer gets a retry time', async () => {
    for (const tries of [
      [['retry-after-alone', 'overloaded']],
      [['retry-after-alone', 'no_capacity']],
    ]) {
      const { status, headers, json } = await generate(customer, 'chat', 'retry-after-alone');
      expect([status, json['error']]).toMatchObject([503, { code: 'provider_unavailable' }]);
      // A slow machine spends some of the minute between the two requests.
      expect(headers.get('retry-after')).toMatch(/^([1-5]?\d|60)$/);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await triesOf(headers)).toEqual(tries);
    }
  });

  test('is not asked much more often than its customers ask', async () => {
    const requests = 60;
    const answers = await Promise.all(
      Array.from({ length: requests }, () => generate(customer, 'chat', 'storm')),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    expect(asked('storm')).toBeGreaterThan(requests);
    expect(asked('storm')).toBeLessThanOrEqual(requests * 1.2 + 10);
  });
});

describe.concurrent('of several credentials', () => {
  test('one that is refused rests, and the customer never notices', async () => {
    const tries: unknown[] = [];
    for (let request = 0; request < 8; request += 1) {
      const format = request % 2 === 0 ? 'chat' : 'messages';
      const { status, headers } = await generate(customer, format, 'one-key-refused');
      expect(status).toBe(200);
      tries.push(...(await triesOf(headers)));
    }
    const refused = tries.filter((each) => JSON.stringify(each).includes('credential'));
    expect(refused).toEqual([['one-key-refused', 'credential']]);
    expect(tries.length).toBe(9);
    expect(await stateOf('one-key-refused')).toMatchObject({
      credentials: [
        { id: '1', state: 'disabled', status: 401 },
        { id: '2', state: 'ok' },
      ],
      models: [{ breaker: 'closed' }],
      warnings: ['upstream one-key-refused refuses credential 1 (status 401)'],
    });
    await waitUntil(() =>
      gateway.output().includes('upstream one-key-refused refuses our credential 1'),
    );
  });

  test('one that is at its limit rests', async () => {
    for (let request = 0; request < 6; request += 1) {
      expect((await generate(customer, 'chat', 'one-key-limited')).status).toBe(200);
    }
    const keys = upstream.asked('one-key-limited').map(({ headers }) => headers['authorization']);
    expect(keys.filter((key) => key === 'Bearer key-one').length).toBe(1);
    expect(keys.length).toBe(7);
  });

  test('where all are refused, the customer gets a 503, and the upstream is not asked again', async () => {
    for (const format of ['chat', 'messages', 'chat'] as const) {
      const { status, json } = await generate(customer, format, 'all-keys-refused');
      expect([status, json['error']]).toMatchObject([503, { code: 'provider_unavailable' }]);
      const streamed = await generateStream(customer, format, 'all-keys-refused');
      expect(streamed.status).toBe(503);
    }
    // Each key was refused to the customer, and to a probe.
    await waitUntil(() => upstream.probed('all-keys-refused').length >= 2);
    expect([asked('all-keys-refused'), upstream.probed('all-keys-refused').length]).toEqual([2, 2]);
  });
});

describe.concurrent('an upstream that takes one request at a time', () => {
  /** The one that is being answered is held until so many of the others have been. */
  async function send(model: string, count: number, others: number) {
    let answered = 0;
    const answers = Array.from({ length: count }, async () => {
      const answer = await generate(customer, 'chat', model);
      answered += 1;
      return answer;
    });
    await waitUntil(() => answered === others);
    released.add(model);
    return Promise.all(answers);
  }

  test('gets one at a time; a few wait, and no more', async () => {
    const statuses = (await send('queue', 5, 2)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 200, 200, 503, 503]);
    expect([asked('queue'), mostAtOnce.get('queue')]).toEqual([3, 1]);
  });

  test('what does not fit goes to the next one', async () => {
    const answers = await send('overflow', 4, 3);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect([asked('overflow'), mostAtOnce.get('overflow')]).toEqual([1, 1]);
  });

  test('no request waits for longer than announced', async () => {
    const answers = await send('impatient', 3, 2);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 503, 503]);
    expect(await stateOf('impatient')).toMatchObject({ in_flight: 0, queued: 0 });
  });

  test('who leaves the queue leaves no gap in it', async () => {
    const first = generate(customer, 'chat', 'left');
    await waitUntil(() => asked('left') === 1);
    const leave = new AbortController();
    // On a busy machine its headers may leave before it does.
    const leaver = openStream(customer, 'chat', 'left', {}, leave.signal)
      .then((answer) => answer.text())
      .catch(() => 'left');
    await waitUntil(async () => (await stateOf('left'))['queued'] === 1);
    leave.abort();
    expect(await leaver).toBe('left');
    await waitUntil(async () => (await stateOf('left'))['queued'] === 0);
    const last = generate(customer, 'chat', 'left');
    released.add('left');
    expect([(await first).status, (await last).status]).toEqual([200, 200]);
    expect([asked('left'), mostAtOnce.get('left')]).toEqual([2, 1]);
  });
});

describe.concurrent('who may answer', () => {
  test('weights share requests out', async () => {
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(Array.from({ length: 20 }, () => generate(customer, 'chat', 'weighed')));
    }
    // 75 of 100, and less than once in a million runs outside of these.
    expect(asked('weighed')).toBeGreaterThan(52);
    expect(asked('weighed')).toBeLessThan(95);
  });

  test('a fallback model outside of the plan does not', async () => {
    expect((await generate(customer, 'chat', 'not-in-plan')).status).toBe(503);
  });

  test('one whose window is too small is passed over', async () => {
    const messages = [{ role: 'user', content: 'word '.repeat(2_000) }];
    const { status, headers } = await generate(customer, 'chat', 'too-big', { messages });
    expect([status, headers.get('x-svc-model')]).toEqual([200, 'spare']);
    const short = await generate(customer, 'chat', 'too-big');
    expect(short.headers.get('x-svc-model')).toBe('narrow');
  });

  test('one that sees no images is passed over where there are some', async () => {
    const url = 'data:image/png;base64,iVBORw0KGgoAAAAN';
    const content = [{ type: 'image_url', image_url: { url } }];
    const messages = [{ role: 'user', content }];
    const { headers } = await generate(customer, 'chat', 'with-image', { messages });
    expect(headers.get('x-svc-model')).toBe('spare');
    const plain = await generate(customer, 'chat', 'with-image');
    expect(plain.headers.get('x-svc-model')).toBe('blind');
  });

  test('three upstreams of one model are tried, and no more', async () => {
    const { status, headers } = await generate(customer, 'chat', 'three-at-most');
    expect(status).toBe(503);
    const tries = await triesOf(headers);
    expect(tries.map((each) => JSON.stringify(each).includes('server_error'))).toEqual([
      true,
      true,
      true,
    ]);
  });

  test('each fallback model is tried, however many models failed before it', async () => {
    const { status, headers } = await generate(customer, 'chat', 'many-fallbacks');
    expect([status, headers.get('x-svc-model')]).toEqual([200, 'spare']);
    expect(await triesOf(headers)).toEqual([
      ['many-fallbacks', 'mismatch'],
      ['well', 'mismatch'],
      ['well', 'mismatch'],
      ['well', 'serves'],
    ]);
  });

  test.each(['chat', 'messages'] as const)(
    'each fallback model is tried, however many upstreams failed before it (%s)',
    async (format) => {
      const { status, headers } = await generate(customer, format, 'many-upstreams');
      expect([status, headers.get('x-svc-model')]).toEqual([200, 'spare']);
      expect((await triesOf(headers)).slice(3)).toEqual([
        ['well', 'mismatch'],
        ['well', 'serves'],
      ]);
    },
  );

  test('an answer that has begun in silence may come from another upstream', async () => {
    const served = await generateStream(customer, 'messages', 'silent');
    expect([served.status, served.headers.get('x-svc-model')]).toEqual([200, null]);
    expect(served.events.at(-1)?.event).toBe('message_stop');
    expect(await triesOf(served.headers)).toEqual([
      ['silent', 'timeout'],
      ['well', 'serves'],
    ]);
  });

  test.each(['chat', 'messages'] as const)(
    'an answer that has begun in silence may come from a fallback model (%s)',
    async (format) => {
      const { status, headers, events } = await generateStream(customer, format, 'silent-fallback');
      expect([status, headers.get('x-svc-model')]).toEqual([200, null]);
      expect(JSON.stringify(events)).toContain('Hello.');
      expect(await triesOf(headers)).toEqual([
        ['silent-fallback', 'timeout'],
        ['well', 'mismatch'],
        ['well', 'serves'],
      ]);
      const sent = events.flatMap(({ json }) => (json === undefined ? [] : [json]));
      if (format === 'messages') {
        const delta = sent.find(({ type }) => type === 'message_delta');
        expect(delta).toMatchObject({ usage: { svc_fallback_used: true } });
        return;
      }
      expect(sent.at(-1)).toMatchObject({ model: 'spare', svc_fallback_used: true });
      const models = sent.map((chunk) => chunk['model']);
      const named = models.indexOf('spare');
      expect(models.slice(0, named).every((model) => model === 'silent-fallback')).toBe(true);
      expect(models.slice(named).every((model) => model === 'spare')).toBe(true);
    },
  );

  test('an answer that has begun in silence and finds no upstream ends in an error event', async () => {
    const failed = await generateStream(customer, 'messages', 'silent-alone');
    expect([failed.status, failed.headers.get('x-svc-model')]).toEqual([200, null]);
    expect(failed.events.at(-1)?.json?.['error']).toMatchObject({
      code: 'provider_unavailable',
      svc_tokens_debited: '0',
    });
    const tries = await triesOf(failed.headers);
    expect(new Set(tries.map((each) => JSON.stringify(each)))).toEqual(
      new Set(['["silent-alone","timeout"]']),
    );
  });
});

test('afterwards no request is in progress or waiting', async () => {
  await upstream.waitFor(({ active }) => active() === 0);
  const answer = (await (await fetch(`${gateway.url}/readyz`)).json()) as Json;
  const { upstreams } = answer['detail'] as { readonly upstreams: readonly Json[] };
  expect(upstreams.filter((each) => each['in_flight'] !== 0 || each['queued'] !== 0)).toEqual([]);
  expect(await gateway.run('doctor')).toMatchObject({ ok: true });
});
