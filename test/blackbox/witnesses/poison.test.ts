// One poisoned prompt beside other customers: for every kind of failure they are served, and the
// operator gets no alert about a credential. Each cell has its own upstream.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createAccounts } from '../../support/accounts.ts';
import { catalogOf, ROOMY_PLAN } from '../../support/catalog.ts';
import { FORMATS, type Format, generate, generateStream } from '../../support/client.ts';
import { type Gateway, startGateway, type TestAccount } from '../../support/gateway.ts';
import { samples } from '../../support/tier.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';
import { BEHAVIOURS, POISON, POISONED_PROMPT, POISONS } from './poisons.ts';

setDefaultTimeout(180_000);

type Json = Readonly<Record<string, unknown>>;
type Cell = { readonly id: string; readonly poison: string; readonly dialect: Format };

const KEYS = [['key-one'], ['key-one', 'key-two']] as const;
const VICTIMS = 2;
const ROUNDS = samples(4, 6);
/** In each round of the first half one account attacks, after that both do. */
const ATTACKERS = 2;
const AT_ONCE = 4;

/** What stalls does so for as long as this, and once or twice; the victims are served in that time. */
const STALL_TIMERS = { first_byte_seconds: 3, first_content_seconds: 3, total_seconds: 4 };

const CELLS: readonly Cell[] = Object.keys(POISONS).flatMap((poison) =>
  FORMATS.flatMap((dialect) =>
    KEYS.map((keys) => ({ id: `${poison}-${dialect}-${keys.length}`, poison, dialect })),
  ),
);

function catalogText(upstream: Upstream): string {
  const upstreams = CELLS.map(({ id, poison, dialect }) => {
    const { baseUrl, messagesBaseUrl } = upstream.site(id);
    return {
      ...{ id, dialect, base_url: dialect === 'chat' ? baseUrl : messagesBaseUrl },
      api_keys: KEYS.find((keys) => id.endsWith(String(keys.length))) ?? [],
      ...(poison === 'stall' ? STALL_TIMERS : {}),
    };
  });
  const models = CELLS.map(({ id, poison }) => ({
    slug: id,
    served_by: [{ upstream: id, model: poison }],
  }));
  return catalogOf({ upstreams, models, plans: { roomy: { ...ROOMY_PLAN, models: ['*'] } } });
}

let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream(BEHAVIOURS);
});

afterAll(() => upstream.close());

type Outcome = {
  readonly cell: string;
  readonly refused: number;
  readonly served: number;
  readonly poisoned: number;
};

/** Plays one cell: a request of each victim, a few poisoned prompts at once, and so on. */
async function play(
  cell: Cell,
  attackers: readonly TestAccount[],
  victims: readonly TestAccount[],
): Promise<Outcome> {
  const messages = [{ role: 'user', content: POISONED_PROMPT }];
  let [served, refused, poisoned] = [0, 0, 0];
  const serve = async (round: number): Promise<void> => {
    for (const [index, victim] of victims.entries()) {
      const format = FORMATS[(round + index) % 2] ?? 'chat';
      const { status } = await generate(victim, format, cell.id);
      if (status === 200) served += 1;
      else refused += 1;
    }
  };
  await serve(0);
  for (let round = 1; round <= ROUNDS; round += 1) {
    const both = round > ROUNDS / 2;
    const attacks = Array.from({ length: AT_ONCE }, async (_, index) => {
      const attacker = attackers[both ? index % ATTACKERS : 0];
      if (attacker === undefined) throw new Error('no attacker');
      const format = FORMATS[index % 2] ?? 'chat';
      if (index % 2 === 0) return (await generate(attacker, format, cell.id, { messages })).status;
      const { status, events } = await generateStream(attacker, format, cell.id, { messages });
      return events.some(({ data }) => data.includes('error')) ? 503 : status;
    });
    const statuses = await Promise.all(attacks);
    poisoned += statuses.filter((status) => status === 200).length;
    await serve(round);
  }
  return { cell: cell.id, served, refused, poisoned };
}

describe('a poisoned prompt', () => {
  let gateway: Gateway;
  let accounts: TestAccount[];
  let outcomes: readonly Outcome[] = [];
  let startedAt = 0;

  beforeAll(async () => {
    gateway = await startGateway({ catalog: catalogText(upstream) });
    const purse = { plan: 'roomy', credit: 100_000_000 };
    accounts = await createAccounts(gateway, ATTACKERS + VICTIMS, purse);
    startedAt = Date.now();
    const attackers = accounts.slice(0, ATTACKERS);
    const victims = accounts.slice(ATTACKERS);
    const left = [...CELLS];
    const played: Outcome[] = [];
    const work = async (): Promise<void> => {
      for (let cell = left.shift(); cell !== undefined; cell = left.shift()) {
        played.push(await play(cell, attackers, victims));
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    outcomes = played;
  }, 180_000);

  afterAll(() => gateway[Symbol.asyncDispose]());

  test('serves the victims of every kind of failure, and fails the poisoned prompt', () => {
    const harmed = outcomes.filter(({ refused, poisoned }) => refused > 0 || poisoned > 0);
    expect(harmed).toEqual([]);
    expect(outcomes.length).toBe(CELLS.length);
    expect(outcomes.every(({ served }) => served === (ROUNDS + 1) * VICTIMS)).toBe(true);
  });

  test('asks for itself at most once in ten seconds for each key and each model', () => {
    const seconds = (Date.now() - startedAt) / 1_000;
    const most = (keys: number): number => (keys + 1) * (Math.ceil(seconds / 10) + 1);
    for (const { id } of CELLS) {
      const probes = upstream.probed(id);
      const keys = id.endsWith('2') ? 2 : 1;
      const sent = probes.filter(({ atMs }) => atMs >= startedAt).length;
      expect([id, sent <= most(keys)]).toEqual([id, true]);
      expect(probes.filter(({ text }) => text.includes(POISON))).toEqual([]);
    }
  });

  test('reports no fault to the operator', async () => {
    const reported = gateway
      .output()
      .split('\n')
      .filter((line) => /refuses our credential|circuit breaker is open/.test(line))
      .map((line) => (JSON.parse(line) as Json)['msg']);
    const answer = (await (await fetch(`${gateway.url}/readyz`)).json()) as Json;
    const warnings = answer['warnings'] as string[];
    expect([...reported, ...warnings]).toEqual([]);
  });
});
