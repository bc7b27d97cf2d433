// One soak: a gateway under mixed traffic at a steady rate, with reloads of its catalog, automatic
// backups, and commands beside it. Takes a sample every two seconds.

import { createRandom } from '../crash/random.ts';
import { type Gateway, runCommand, startGateway } from '../support/gateway.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { MemoryLeast, type Sample, takeSample } from './sample.ts';
import { sendOne, soakCatalog, type World } from './traffic.ts';

const MEMORY_LOOK_MS = 100;
const RELOAD_MS = 60_000;
/** Every so many reloads bring a catalog that is refused. */
const INVALID_EVERY = 5;
/** Which reload of these is followed by commands: each is a process, which costs much. */
const COMMANDS_AT = 2;
/** As many audits in two hours as in half a day, the first ones while memory settles. */
const AUDITS = { AUDIT_SECONDS: '600' };
/** Each quarter of an hour. */
const BACKUPS = { BACKUP_DIR: 'backups', BACKUP_EVERY_HOURS: '0.25', BACKUP_KEEP: '2' };
const WARM_FACTOR = 16;
const CREDIT = 1_000_000_000_000;

export type SoakOptions = {
  readonly seed: number;
  readonly runMs: number;
  /** Requests a second. */
  readonly rate: number;
  /** How long the rate is sixteen times as high at first, so that compiler and caches are warm. */
  readonly warmMs?: number;
  /** A folder with a database, which the caller removes. */
  readonly directory?: string;
  readonly sampleMs?: number;
  readonly reloadMs?: number;
  readonly onSample?: (sample: Sample) => void;
};

export type SoakResult = {
  readonly samples: readonly Sample[];
  /** Requests by kind and status. */
  readonly counts: ReadonlyMap<string, number>;
  /** Answers with a status that their kind does not allow, and failed exchanges. */
  readonly unexpected: readonly string[];
  readonly reloads: number;
  readonly exitCode: number;
  /** What `tollgate doctor` says afterwards. */
  readonly healthy: boolean;
};

const UNEXPECTED_MAX = 100;

export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { seed, runMs, rate, sampleMs = 2_000, reloadMs = RELOAD_MS, warmMs = 0 } = options;
  await using upstream = await startUpstream();
  await using gateway = await startGateway({
    catalog: soakCatalog(upstream, 0),
    environment: { LOG_LEVEL: 'error', ...BACKUPS, ...AUDITS },
    ...(options.directory === undefined ? {} : { directory: options.directory }),
  });
  const world = await createWorld(gateway, seed);
  const samples: Sample[] = [];
  const counts = new Map<string, number>();
  const unexpected: string[] = [];
  const running = new Set<Promise<void>>();
  let sent = 0;
  let reloads = 0;

  async function one(): Promise<void> {
    try {
      const { kind, status, expected } = await sendOne(world);
      const name = `${kind}: ${status}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      if (!expected && unexpected.length < UNEXPECTED_MAX) unexpected.push(name);
    } catch (error) {
      note(error);
    }
  }

  function note(error: unknown): void {
    if (unexpected.length < UNEXPECTED_MAX) unexpected.push(String(error));
  }

  const startedAt = performance.now();
  const sinceStart = (): number => performance.now() - startedAt;
  const memory = new MemoryLeast(gateway.pid);
  const timers = [
    repeat(MEMORY_LOOK_MS, () => void memory.look()),
    repeat(sampleMs, () => {
      const atMs = Math.round(sinceStart());
      const sample = takeSample(gateway, { ...{ atMs, requests: sent }, ...memory.take() });
      samples.push(sample);
      options.onSample?.(sample);
      // The upstream's list is for tests; here it would fill the memory of this process.
      upstream.requests.length = 0;
    }),
    repeat(reloadMs, async () => {
      reloads += 1;
      await reload(gateway, upstream, reloads);
      // Commands refuse an invalid catalog, so they follow a valid one.
      if (reloads % INVALID_EVERY === COMMANDS_AT) await useCommands(gateway).catch(note);
    }),
  ];
  while (sinceStart() < runMs) {
    const request = one();
    running.add(request);
    void request.finally(() => running.delete(request));
    sent += 1;
    // Gaps of a Poisson process: a steady beat would never meet two requests at once.
    const now = sinceStart() < warmMs ? rate * WARM_FACTOR : rate;
    await Bun.sleep((-Math.log(1 - world.random.next()) / now) * 1_000);
  }
  for (const timer of timers) clearInterval(timer);
  await Promise.all(running);
  const exitCode = await gateway.stop();
  // A past may have plans that the catalog of the soak lacks, so only the file and the books count.
  const { directory, environment } = gateway;
  const { stdout } = await runCommand(directory, environment, ['doctor', '--json']);
  const { checks } = JSON.parse(stdout) as {
    readonly checks: readonly { readonly name: string; readonly ok: boolean }[];
  };
  const judged = checks.filter(({ name }) => name === 'database' || name === 'ledger');
  const healthy = judged.length === 2 && judged.every(({ ok }) => ok);
  return { samples, counts, unexpected, reloads, exitCode, healthy };
}

async function createWorld(gateway: Gateway, seed: number): Promise<World> {
  const rich = await gateway.createAccount({ plan: 'soak', credit: CREDIT });
  const poor = await gateway.createAccount({ plan: 'soak', credit: '0.5' });
  return { rich, poor, random: createRandom(seed) };
}

/** Alternates a price; every fifth catalog is invalid, and the one before it stays. */
async function reload(gateway: Gateway, upstream: Upstream, version: number): Promise<void> {
  const catalog = soakCatalog(upstream, version);
  const isInvalid = version % INVALID_EVERY === 0;
  await gateway.writeCatalog(isInvalid ? `${catalog}\n[service]\n` : catalog);
}

async function useCommands(gateway: Gateway): Promise<void> {
  const { id } = await gateway.createAccount({ plan: 'soak', credit: 1 });
  await gateway.run('key', 'create', id, '--name', 'soak');
  await gateway.run('account', 'credit', id, '5');
}

function repeat(everyMs: number, work: () => void | Promise<void>): Timer {
  return setInterval(() => void work(), everyMs);
}
