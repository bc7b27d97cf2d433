// One round: a gateway over a fresh file, clients of several accounts, an upstream, top-ups and a
// killer, all at once; then recovery, rest, and the books. It judges nothing.

import { rm } from 'node:fs/promises';
import type { Books, RoundAccount } from './books.ts';
import { burst } from './burst.ts';
import {
  gatewayOf,
  KILL_DELAYS_MS,
  type Killer,
  startKiller,
  TRIGGERS,
  type Trigger,
} from './killer.ts';
import { openHolds, readLedger } from './ledger.ts';
import {
  askAs,
  askForVerdicts,
  funded,
  playClients,
  playCredits,
  playSamples,
  type Stage,
  watchLag,
} from './parties.ts';
import { createRandom, type Random } from './random.ts';
import { ACCOUNTS, sceneCatalog } from './scene.ts';
import { startTortureUpstream, type TortureUpstream } from './upstream.ts';

export type RoundOptions = {
  readonly seed: number;
  /** How long the load lasts. */
  readonly seconds: number;
  /** The longest time between two kills, in seconds. */
  readonly killEvery: number;
};

export type RoundResult = {
  readonly books: Books;
  /** Where the gateway's files are, until `discard`. */
  readonly directory: string;
  readonly discard: () => Promise<void>;
};

const REST_WITHIN_MS = 30_000;

export async function playRound({ seed, seconds, killEvery }: RoundOptions): Promise<RoundResult> {
  const random = createRandom(seed);
  let killer: Killer | undefined;
  await using upstream = await startTortureUpstream((trigger) => killer?.happened(trigger));
  killer = await startKiller(gatewayOf(sceneCatalog(upstream.upstream)));
  const { target, happened } = killer;
  const { directory, databasePath } = killer.gateway();
  const database = `sqlite:${databasePath}`;
  const accounts = await createAccounts(killer);
  const lag = watchLag();
  let over = false;
  const stage: Stage = {
    ...{ random, upstream, accounts, target, happened },
    clients: [],
    commands: { directory, environment: {} },
    over: () => over,
  };
  const parties = [playClients(stage), playCredits(stage), playSamples(stage)] as const;
  await playKills(random, killer, seconds, killEvery);
  over = true;
  const [, credits, samples] = await Promise.all(parties);
  const quiescentAfterMs = await rest(database, upstream, REST_WITHIN_MS);
  const rich = funded(accounts, await readLedger(database));
  const bursts = await burst(rich, upstream, (account, drawn) => askAs(stage, account, drawn));
  const verdicts = await askForVerdicts(stage.commands);
  const exitCode = await killer.gateway().stop();
  const books: Books = {
    ...{ accounts, credits, samples, bursts, verdicts, quiescentAfterMs, exitCode },
    clients: stage.clients,
    upstream: upstream.book,
    kills: killer.kills,
    troubles: [],
    played: [],
    nodes: 1,
    lagMs: lag.stop(),
    ledger: await readLedger(database),
  };
  return { books, directory, discard: () => rm(directory, { recursive: true, force: true }) };
}

/** One after the other: several commands at once would wait for each other's locks. */
export async function createAccounts(killer: Killer): Promise<RoundAccount[]> {
  const accounts: RoundAccount[] = [];
  for (const { name, concurrency, credit } of ACCOUNTS) {
    const { id, key } = await killer.gateway().createAccount({ plan: name, credit });
    accounts.push({ name, id, key, concurrency, credit });
  }
  return accounts;
}

/** Kills until the time is over. Half of the rounds end with a kill, the others with clients at rest. */
async function playKills(
  random: Random,
  killer: Killer,
  seconds: number,
  every: number,
): Promise<void> {
  const own = random.fork('kills');
  const endsWithAKill = own.chance(0.5);
  const endAtMs = Date.now() + seconds * 1_000;
  const leftMs = () => endAtMs - Date.now();
  for (;;) {
    const afterMs = own.whole(300, Math.max(300, every * 1_000));
    // Whatever else is cut off, an acknowledged debit must not be: that is tried most.
    const trigger = own.pick<Trigger>([...TRIGGERS, 'bill', 'bill']);
    const delayMs = own.pick(KILL_DELAYS_MS);
    if (afterMs > leftMs()) {
      await Bun.sleep(Math.max(0, leftMs()));
      if (endsWithAKill || killer.kills.length === 0)
        await killer.killOnce({ afterMs: 0, trigger, delayMs });
      return;
    }
    await killer.killOnce({ afterMs, trigger, delayMs });
  }
}

/** Waits until nothing is open. Answers how long that took; undefined where it took too long. */
export async function rest(
  database: string,
  { upstream }: TortureUpstream,
  withinMs: number,
): Promise<number | undefined> {
  const fromMs = Date.now();
  while (upstream.active() > 0 || (await openHolds(database)) > 0) {
    if (Date.now() - fromMs > withinMs) return undefined;
    await Bun.sleep(20);
  }
  return Date.now() - fromMs;
}
