// One round: gateways, clients of several accounts, an upstream, top-ups and faults at once; then
// recovery, rest, and the records. Here one gateway over a fresh file, with its killer; rounds of a
// cluster follow the same rules. Judged elsewhere.

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findBackups } from '../../src/core/backup-files.ts';
import { checkCopy } from '../../src/operations/backup.ts';
import { openSlowDisk } from '../support/slow-disk.ts';
import {
  askAs,
  askForVerdicts,
  exportReceipts,
  fundBursts,
  playClients,
  playCredits,
  playSamples,
  type Stage,
  takePulse,
  watchLag,
} from './actors.ts';
import type { Books, RoundAccount, Verdict } from './books.ts';
import { burst } from './burst.ts';
import { PATIENCE_MS } from './client.ts';
import { playKeyed, repeatKeyed } from './keyed.ts';
import { gatewayOf, KILL_DELAYS_MS, type Killer, startKiller, TRIGGERS } from './killer.ts';
import { openHolds, readLedger } from './ledger.ts';
import { ARCHIVING, checkArchives, startWithPast } from './past.ts';
import { createRandom, type Random } from './random.ts';
import { checkRestore } from './restored.ts';
import { ACCOUNTS, crashCatalog } from './setup.ts';
import { type CrashUpstream, startCrashUpstream } from './upstream.ts';

export type RoundOptions = {
  readonly seed: number;
  /** How long the load lasts. */
  readonly seconds: number;
  /** The longest time between two kills, in seconds. */
  readonly killEvery: number;
  /** How much longer every sync of the gateway takes, in milliseconds. */
  readonly syncMs?: number;
};

export type RoundResult = {
  readonly books: Books;
  /** Where the gateway's files are, until `discard`. */
  readonly directory: string;
  readonly discard: () => Promise<void>;
};

/** The gateways of a round, and who breaks them. */
type Show = Pick<Stage, 'random' | 'upstream' | 'commands' | 'target' | 'happened'> & {
  readonly killers: readonly Killer[];
  /** The URL of the database, which nothing keeps the rig from. */
  readonly database: string;
  /** After a gateway has died, its slots may stay taken for so long. */
  readonly slotsLapseMs: number;
  /** Plays for as long as the load is to last, and mends all. */
  readonly breakThings: () => Promise<Broken>;
};

export type Broken = Pick<Books, 'troubles' | 'played'> & {
  /** Of gateways that received a stop signal. */
  readonly exits: readonly number[];
};

/** Every 3.6 s, so that kills hit them. */
const BACKUPS = { BACKUP_DIR: 'backups', BACKUP_EVERY_HOURS: '0.001', BACKUP_KEEP: '50' };
const REST_WITHIN_MS = 30_000;
const READY_WITHIN_MS = 15_000;

export async function playRound(options: RoundOptions): Promise<RoundResult> {
  const { seed, seconds, killEvery, syncMs } = options;
  const random = createRandom(seed);
  await using disk = syncMs === undefined ? undefined : await openSlowDisk();
  await disk?.delay(syncMs ?? 0);
  let current: Killer | undefined;
  await using upstream = await startCrashUpstream((trigger) => current?.happened(trigger));
  // What the gateway itself keeps is written beside the books there.
  const isArchiving = disk === undefined && seed % 2 === 0;
  const environment = disk
    ? { ...disk.environment, REASONING_STORE: 'on' }
    : { ...BACKUPS, ...(isArchiving ? ARCHIVING : {}) };
  const start = gatewayOf(crashCatalog(upstream.upstream), environment);
  const killer = await startKiller((directory) =>
    isArchiving && directory === undefined ? startWithPast(start) : start(directory),
  );
  current = killer;
  const { target, happened, gateway } = killer;
  const { directory, databasePath } = gateway();
  try {
    const books = await playShow({
      ...{ random, upstream, target, happened },
      killers: [killer],
      database: `sqlite:${databasePath}`,
      commands: { directory, environment: {} },
      slotsLapseMs: 0,
      breakThings: () => playKills(random, killer, seconds, killEvery),
    });
    return {
      books: {
        ...books,
        verdicts: [
          ...books.verdicts,
          ...(await checkBackups(join(directory, 'backups'))),
          ...(isArchiving ? [await checkArchives(directory)] : []),
          ...(await checkRestore(gateway(), start)),
        ],
        ...(syncMs === undefined ? {} : { syncMs }),
      },
      directory,
      discard: () => rm(directory, { recursive: true, force: true }),
    };
  } finally {
    await gateway().kill();
  }
}

/** Each file with the name of a backup is whole, although servers were killed at any moment. */
async function checkBackups(folder: string): Promise<Verdict[]> {
  const names = await readdir(folder).catch(() => []);
  const backups = findBackups(names, 'tollgate');
  return Promise.all(
    backups.map(async ({ name, verified }) => {
      const check = await checkCopy(join(folder, name));
      const ok = verified && check.kind === 'intact' && check.differences === 0;
      return { command: `backup ${name}`, ok, said: JSON.stringify(check) };
    }),
  );
}

/** Runs all actors while faults are active, waits for rest, and reads the books. */
export async function playShow(show: Show): Promise<Books> {
  const { killers, database, slotsLapseMs, breakThings, ...shared } = show;
  const accounts = await createAccounts(killers);
  const lag = watchLag();
  let over = false;
  let ended = false;
  const pulses = killers.map((killer) => takePulse(killer, () => ended));
  const stage: Stage = { ...shared, accounts, clients: [], over: () => over };
  const parties = [
    playClients(stage),
    playCredits(stage),
    playSamples(stage),
    playKeyed(stage),
  ] as const;
  const { exits, ...broken } = await breakThings();
  over = true;
  const [, credits, samples, asked] = await Promise.all(parties);
  const quiescentAfterMs = await rest(database, stage.upstream);
  const ready = await Promise.all(killers.map(askWhetherReady));
  const keyed = await repeatKeyed(stage, asked);
  const burstCredits = await fundBursts(stage);
  const patienceMs = PATIENCE_MS + 2 * slotsLapseMs;
  const bursts = await burst(
    accounts,
    stage.upstream,
    (account, drawn) => askAs(stage, account, drawn, patienceMs),
    slotsLapseMs,
  );
  const verdicts = [...ready, ...(await askForVerdicts(stage.commands))];
  const receipts = await exportReceipts(stage.commands, accounts);
  const codes = await Promise.all(killers.map(({ gateway }) => gateway().stop()));
  ended = true;
  return {
    ...{ accounts, keyed, samples, bursts, verdicts, quiescentAfterMs, ...broken },
    credits: [...credits, ...burstCredits],
    clients: stage.clients,
    upstream: stage.upstream.book,
    kills: killers.flatMap(({ kills }) => kills),
    nodes: killers.length,
    exitCode: [...exits, ...codes].find((code) => code !== 0) ?? 0,
    lags: lag.stop(),
    gatewayLags: (await Promise.all(pulses)).flat(),
    ledger: { ...(await readLedger(database)), receipts },
  };
}

/** One after the other: several commands at once would wait for each other's locks. */
async function createAccounts([killer]: readonly Killer[]): Promise<RoundAccount[]> {
  if (killer === undefined) throw new Error('a round has a gateway');
  const accounts: RoundAccount[] = [];
  for (const { name, concurrency, credit } of ACCOUNTS) {
    const { id, key } = await killer.gateway().createAccount({ plan: name, credit });
    accounts.push({ name, id, key, concurrency, credit });
  }
  return accounts;
}

/**
 * Kills until the time is over. Half of the rounds end with a kill, the others with clients at
 * rest.
 */
async function playKills(
  random: Random,
  killer: Killer,
  seconds: number,
  every: number,
): Promise<Broken> {
  const own = random.fork('kills');
  const endsWithAKill = own.chance(0.5);
  const endAtMs = Date.now() + seconds * 1_000;
  const leftMs = () => endAtMs - Date.now();
  const broken: Broken = { troubles: [], played: [], exits: [] };
  for (;;) {
    const afterMs = own.whole(300, Math.max(300, every * 1_000));
    // An acknowledged debit must survive every cut, so that is tried most.
    const trigger = own.pick([...TRIGGERS, 'bill', 'bill'] as const);
    const delayMs = own.pick(KILL_DELAYS_MS);
    if (afterMs > leftMs()) {
      await Bun.sleep(Math.max(0, leftMs()));
      if (endsWithAKill || killer.kills.length === 0)
        await killer.killOnce({ afterMs: 0, trigger, delayMs });
      return broken;
    }
    await killer.killOnce({ afterMs, trigger, delayMs });
  }
}

/** Waits until nothing is open. Answers how long that took; undefined where it took too long. */
async function rest(database: string, { upstream }: CrashUpstream): Promise<number | undefined> {
  const fromMs = Date.now();
  while (upstream.active() > 0 || (await openHolds(database)) > 0) {
    if (Date.now() - fromMs > REST_WITHIN_MS) return undefined;
    await Bun.sleep(20);
  }
  return Date.now() - fromMs;
}

/** When all is mended, every gateway says so. */
async function askWhetherReady({ gateway }: Killer, index: number): Promise<Verdict> {
  const command = `/readyz of gateway ${index + 1}`;
  const untilMs = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const answer = await fetch(`${gateway().url}/readyz`);
    const said = await answer.text();
    // A node that has just lost Redis serves its share until it has found it again.
    const isWhole = answer.status === 200 && !said.includes('"limits":"share"');
    if (isWhole) return { command, ok: true, said };
    if (Date.now() > untilMs) return { command, ok: false, said };
    await Bun.sleep(100);
  }
}
