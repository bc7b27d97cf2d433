// One round: a gateway over a fresh file, clients of several accounts, an upstream, top-ups and a
// killer, all at once; then recovery, rest, and the books. It judges nothing.

import { rm } from 'node:fs/promises';
import { waitUntil } from '../support/upstream.ts';
import type { Books, RoundAccount, Sample, Verdict } from './books.ts';
import { burst } from './burst.ts';
import { ask, type ClientEntry, readAnswer } from './client.ts';
import { type Credit, redeemCode, runCommand, sendCredit } from './credits.ts';
import { type Drawn, drawRequest } from './draw.ts';
import {
  gatewayOf,
  KILL_DELAYS_MS,
  type Killer,
  startKiller,
  TRIGGERS,
  type Trigger,
} from './killer.ts';
import { openHolds, readLedger } from './ledger.ts';
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

const SAMPLE_EVERY_MS = 100;
const REST_WITHIN_MS = 30_000;

/** What the parties of a round share. */
type Stage = {
  readonly random: Random;
  readonly killer: Killer;
  readonly upstream: TortureUpstream;
  readonly accounts: readonly RoundAccount[];
  readonly clients: ClientEntry[];
  readonly over: () => boolean;
};

export async function playRound({ seed, seconds, killEvery }: RoundOptions): Promise<RoundResult> {
  const random = createRandom(seed);
  let killer: Killer | undefined;
  await using upstream = await openUpstream(() => killer);
  killer = await startKiller(gatewayOf(sceneCatalog(upstream.upstream)));
  const accounts = await createAccounts(killer);
  const lag = watchLag();
  let over = false;
  const stage: Stage = {
    random,
    killer,
    upstream,
    accounts,
    clients: [],
    over: () => over,
  };
  const parties = [playClients(stage), playCredits(stage), playSamples(stage)] as const;
  await playKills(stage, seconds, killEvery);
  over = true;
  const [, credits, samples] = await Promise.all(parties);
  const quiescentAfterMs = await rest(stage);
  const bursts = await burst(await funded(stage), upstream, (account, drawn) =>
    askAs(stage, account, drawn),
  );
  const gateway = killer.gateway();
  const verdicts = await askForVerdicts(gateway.directory);
  const exitCode = await gateway.stop();
  const books: Books = {
    accounts,
    clients: stage.clients,
    upstream: upstream.book,
    kills: killer.kills,
    credits,
    samples,
    bursts,
    verdicts,
    quiescentAfterMs,
    exitCode,
    lagMs: lag.stop(),
    ledger: readLedger(gateway.databasePath),
  };
  const { directory } = gateway;
  return { books, directory, discard: () => rm(directory, { recursive: true, force: true }) };
}

async function openUpstream(killer: () => Killer | undefined) {
  const upstream = await startTortureUpstream({
    generation: () => killer()?.generation() ?? 0,
    onRequest: () => killer()?.happened('dispatch'),
    onContent: () => killer()?.happened('content'),
  });
  return { ...upstream, [Symbol.asyncDispose]: () => upstream.upstream.close() };
}

async function createAccounts(killer: Killer): Promise<RoundAccount[]> {
  return Promise.all(
    ACCOUNTS.map(async ({ name, concurrency, credit }) => {
      const { id, key } = await killer.gateway().createAccount({ plan: name, credit });
      return { name, id, key, concurrency, credit };
    }),
  );
}

/** Every client asks again and again until the round is over. */
async function playClients(stage: Stage): Promise<void> {
  const clients = ACCOUNTS.flatMap(({ name, clients }) =>
    stage.accounts
      .filter((account) => account.name === name)
      .flatMap((account) => Array.from({ length: clients }, (_, lane) => ({ account, lane }))),
  );
  await Promise.all(
    clients.map(async ({ account, lane }) => {
      const random = stage.random.fork(`client ${account.name} ${lane}`);
      for (let turn = 0; !stage.over(); turn += 1) {
        const drawn = drawRequest(random, account.name, `${account.name}-${lane}-${turn}`);
        const entry = await askAs(stage, account, drawn);
        const refused = (readAnswer(entry).status ?? 503) >= 400;
        await Bun.sleep(refused ? random.whole(20, 150) : random.whole(0, 30));
      }
    }),
  );
}

async function askAs(stage: Stage, account: RoundAccount, drawn: Drawn): Promise<ClientEntry> {
  const { killer, clients } = stage;
  const entry = await ask(await killer.target(), account.key, drawn, {
    onAsk: () => killer.happened('ask'),
    onBill: () => killer.happened('bill'),
    onLeave: () => killer.happened('leave'),
  });
  clients.push(entry);
  return entry;
}

/** Tops up the accounts that are always short of money, and lets two of them race for codes. */
async function playCredits({ random, killer, accounts, over }: Stage): Promise<Credit[]> {
  const own = random.fork('credits');
  const short = accounts.filter(({ name }) => name !== 'roomy' && name !== 'narrow');
  const { directory } = killer.gateway();
  const credits: Credit[] = [];
  while (!over()) {
    const account = own.pick(short);
    const tokens = account.name === 'growing' ? own.whole(5_000, 25_000) : own.whole(100, 1_500);
    const amount = BigInt(tokens) * 1_000_000n + BigInt(credits.length + 1);
    const rivals = [account.id, own.pick(short.filter(({ id }) => id !== account.id)).id];
    credits.push(
      own.chance(0.4)
        ? await redeemCode(directory, own, rivals, amount)
        : await sendCredit(directory, own, account.id, amount),
    );
    await Bun.sleep(own.whole(100, 500));
  }
  return credits;
}

/** What `/v1/account` says, again and again. */
async function playSamples({ killer, accounts, over }: Stage): Promise<Sample[]> {
  const samples: Sample[] = [];
  while (!over()) {
    const { url } = await killer.target();
    for (const { id, key } of accounts) {
      const answer = await fetch(`${url}/v1/account`, { headers: { 'x-api-key': key } })
        .then((response) => response.json())
        // A gateway that has just been killed says nothing.
        .catch(() => undefined);
      const available = availableOf(answer);
      if (available !== undefined) samples.push({ accountId: id, atMs: Date.now(), available });
    }
    await Bun.sleep(SAMPLE_EVERY_MS);
  }
  return samples;
}

function availableOf(answer: unknown): string | undefined {
  const record = answer as { readonly balance?: { readonly available?: string } } | undefined;
  return record?.balance?.available;
}

/** Kills until the time is over. Half of the rounds end with a kill, the others with clients at rest. */
async function playKills({ random, killer }: Stage, seconds: number, every: number): Promise<void> {
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
async function rest({ killer, upstream }: Stage): Promise<number | undefined> {
  const fromMs = Date.now();
  const { databasePath } = killer.gateway();
  try {
    await waitUntil(
      () => openHolds(databasePath) === 0 && upstream.upstream.active() === 0,
      REST_WITHIN_MS,
    );
    return Date.now() - fromMs;
  } catch {
    return undefined;
  }
}

/** The accounts that can pay for a burst. */
async function funded({ killer, accounts }: Stage): Promise<RoundAccount[]> {
  const { balances } = readLedger(killer.gateway().databasePath);
  return accounts.filter(({ id, concurrency }) => {
    const balance = balances.find(({ accountId }) => accountId === id);
    const available = (balance?.posted ?? 0n) - (balance?.held ?? 0n);
    return available > BigInt(concurrency + 1) * 200_000_000n;
  });
}

/** The gateway's own judges. One that this executable does not have gives no verdict. */
async function askForVerdicts(directory: string): Promise<Verdict[]> {
  const commands = [
    ['doctor', '--json'],
    ['receipts', 'verify', '--all', '--json'],
  ];
  const verdicts = await Promise.all(
    commands.map(async (command): Promise<Verdict[]> => {
      const { code, said } = await runCommand(directory, command);
      if (code === 2 && said.includes('unknown command')) return [];
      return [{ command: command.join(' '), ok: code === 0, said: said.slice(0, 1_000) }];
    }),
  );
  return verdicts.flat();
}

/** How late this process is with its own timers, at most: it cannot measure finer than that. */
function watchLag(): { readonly stop: () => number } {
  let worstMs = 0;
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    worstMs = Math.max(worstMs, nowMs - lastMs - 10);
    lastMs = nowMs;
  }, 10);
  return {
    stop() {
      clearInterval(timer);
      return Math.ceil(worstMs);
    },
  };
}
