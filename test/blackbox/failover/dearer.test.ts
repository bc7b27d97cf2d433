// A dearer fallback serves at the price of the requested model, so a customer whose own requests make
// the cheap model fail does not get it. Runs against the executable.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { play, sendWhole } from '../../support/behaviours.ts';
import { catalogOf, ROOMY_PLAN } from '../../support/catalog.ts';
import { generate, type JsonAnswer } from '../../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../../support/gateway.ts';
import { USAGE } from '../../support/render.ts';
import { type Exchange, startUpstream, type Upstream, waitUntil } from '../../support/upstream.ts';

setDefaultTimeout(30_000);

const CHEAP = { input: '0.1', output: '0.4' };
const DEAR = { input: '10', output: '40' };

/** Dearer fallbacks of an account in ten minutes for failures that no probe confirms. */
const UNPROVEN = 5;

const ok = play({ pieces: [{ text: 'Hello.' }], finish: 'stop', usage: USAGE });
const fails = (exchange: Exchange) => sendWhole(exchange, 500, '{"error":{}}', 'application/json');
const lacks = (exchange: Exchange) => sendWhole(exchange, 404, '{"error":{}}', 'application/json');

let upstream: Upstream;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startUpstream({
    ok,
    fails,
    lacks,
    poisoned: (exchange) => (isPoisoned(exchange) ? fails : ok)(exchange),
    featureless: (exchange) => (isPoisoned(exchange) ? lacks : ok)(exchange),
  });
  const sites = ['poisoned', 'mixed', 'featureless', 'shared', 'down', 'gone', 'same', 'dear'];
  const model = (slug: string, does: string, fallback: string) => ({
    slug,
    served_by: [{ upstream: slug, model: does }],
    price: CHEAP,
    fallbacks: [fallback],
  });
  gateway = await startGateway({
    catalog: catalogOf({
      upstreams: sites.map((id) => ({
        id,
        dialect: 'chat',
        base_url: upstream.site(id).baseUrl,
        cool_down_seconds: 60,
      })),
      models: [
        model('poisoned', 'poisoned', 'dear'),
        model('mixed', 'poisoned', 'dear'),
        model('featureless', 'featureless', 'dear'),
        model('shared', 'poisoned', 'same'),
        model('down', 'fails', 'dear'),
        model('gone', 'lacks', 'dear'),
        { slug: 'dear', served_by: [{ upstream: 'dear', model: 'ok' }], price: DEAR },
        { slug: 'same', served_by: [{ upstream: 'same', model: 'ok' }], price: CHEAP },
      ],
      plans: { roomy: ROOMY_PLAN },
    }),
  });
});

closeAtEnd(() => [upstream, gateway]);

const newAccount = (): Promise<TestAccount> =>
  gateway.createAccount({ plan: 'roomy', credit: 1_000_000 });

const POISON = 'a schema that crashes the server';

function isPoisoned({ request }: Exchange): boolean {
  return request.text.includes(POISON);
}

function ask(account: TestAccount, model: string, content = 'Hello?'): Promise<JsonAnswer> {
  return generate(account, 'chat', model, { messages: [{ role: 'user', content }] });
}

const served = ({ status, headers }: JsonAnswer): unknown => [status, headers.get('x-svc-model')];

async function repeat(count: number, work: () => Promise<JsonAnswer>): Promise<JsonAnswer[]> {
  const answers: JsonAnswer[] = [];
  for (let turn = 0; turn < count; turn += 1) answers.push(await work());
  return answers;
}

const countOf = (answers: readonly JsonAnswer[], model: string): number =>
  answers.filter(({ headers }) => headers.get('x-svc-model') === model).length;

describe('an account whose requests make the cheap model fail', () => {
  test('gets 503 and not the dearer fallback while its breaker is open', async () => {
    const [attacker, victim] = await Promise.all([newAccount(), newAccount()]);
    expect(served(await ask(victim, 'poisoned'))).toEqual([200, 'poisoned']);
    await repeat(5, () => ask(attacker, 'poisoned', POISON));

    const answers = await repeat(20, () => ask(attacker, 'poisoned'));
    expect(countOf(answers, 'dear')).toBe(0);
    for (const { status, headers, json } of answers) {
      expect([status, json['error']]).toMatchObject([503, { code: 'provider_unavailable' }]);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(served(await ask(victim, 'poisoned'))).toEqual([200, 'poisoned']);
  });

  test.each(['mixed', 'featureless'])(
    'gets few dearer answers, however it mixes its requests (%s)',
    async (model) => {
      const account = await newAccount();
      const rounds = 12;
      const answers = await repeat(rounds, async () => {
        // Two in three succeed, so the breaker stays closed.
        const plain = await repeat(2, () => ask(account, model));
        expect(plain.map(served)).toEqual(plain.map(() => [200, model]));
        return ask(account, model, POISON);
      });
      expect(countOf(answers, 'dear')).toBe(UNPROVEN);
      expect(answers.filter(({ status }) => status === 503).length).toBe(rounds - UNPROVEN);
    },
  );

  test('gets a fallback that costs no more', async () => {
    const account = await newAccount();
    const answers = await repeat(5, () => ask(account, 'shared', POISON));
    answers.push(...(await repeat(5, () => ask(account, 'shared'))));
    expect(answers.map(served)).toEqual(answers.map(() => [200, 'same']));
  });
});

test.each(['down', 'gone'])(
  'the only customer gets the dearer fallback once a probe has failed as well (%s)',
  async (model) => {
    const account = await newAccount();
    await waitUntil(async () => {
      await ask(account, model);
      return upstream.probed(model).length > 0;
    });
    await waitUntil(async () => (await ask(account, model)).status === 200);
    const answers = await repeat(10, () => ask(account, model));
    expect(answers.map(served)).toEqual(answers.map(() => [200, 'dear']));
  },
);
