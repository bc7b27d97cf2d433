// A gateway with a year of requests, before and after it archived what is older than 31 days, and how
// long that took under load. Measures size, start, pages, a backup and the audit.

import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Customer, openSignUp, signIn, signUp } from '../../../test/support/customer.ts';
import { openMailbox } from '../../../test/support/mailbox.ts';
import { whole } from '../catalog.ts';
import type { BenchRow } from '../compare.ts';
import { HEAVY, writePast } from '../history.ts';
import { openLoad } from '../load.ts';
import { residentMegabytes } from '../machine.ts';
import { loadOf } from '../measure.ts';
import { timePage } from '../pages.ts';
import type { GatewaySubject, Rig } from '../rig.ts';
import { printTable, say, secondsSince, shown } from '../table.ts';

const PAST = { accounts: 200, days: 365 };
const RETENTION_DAYS = '31';
const CONNECTIONS = 8;
const LOAD_MS = 20_000;

const PAGES = [
  '/overview',
  '/requests',
  '/requests?outcome=failed',
  '/requests?end_user=unknown',
  '/ledger',
] as const;

export const retentionRow: BenchRow = {
  name: 'retention',
  onDemand: true,
  run: async (rig) => {
    const [build] = rig.builds;
    await using mailbox = await openMailbox();
    const environment = openSignUp(mailbox);
    const directory = await mkdtemp(join(tmpdir(), 'tollgate-retention-'));
    try {
      await writePast(directory, { ...PAST, requests: rig.requests });
      const first = await rig.startBuild(build, { directory, environment });
      const customer = await signUp(first.gateway, mailbox, `${HEAVY}@example.org`);
      const before = await measure(first, customer);
      // The rest takes hours where the past is long.
      printTable(['all', ''], Object.entries(before));
      await first.gateway.stop();
      await archive(rig, directory, environment);
      const second = await rig.startBuild(build, { directory, environment });
      const after = await measure(second, customer);
      await second.gateway.stop();
      printTable(
        [`${rig.requests.toLocaleString('en')} requests`, 'all', 'older ones archived'],
        Object.keys(before).map((name) => [name, before[name] ?? '', after[name] ?? '']),
      );
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
    return [];
  },
};

/** Serves with `RETENTION_DAYS` until nothing is left to archive or to remove. */
async function archive(
  rig: Rig,
  directory: string,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const [build] = rig.builds;
  const server = await rig.startBuild(build, {
    directory,
    environment: { ...environment, RETENTION_DAYS },
  });
  const startedAt = performance.now();
  const load = await openLoad(loadOf(server, whole, CONNECTIONS));
  await Bun.sleep(LOAD_MS);
  load.close();
  const latencies = load.latenciesUs.toSorted((one, other) => one - other);
  const p99 = (latencies[Math.floor(latencies.length * 0.99)] ?? 0) / 1_000;
  const longest = (latencies.at(-1) ?? 0) / 1_000;
  say(
    `${latencies.length} answers at the same time: p99 ${shown(p99)} ms, longest ${shown(longest)} ms`,
  );
  for (;;) {
    await Bun.sleep(500);
    const said = server.gateway.output();
    if (said.includes('archived requests from')) break;
    if (said.includes('archive: ')) throw new Error(said);
  }
  say(`archived and removed in ${secondsSince(startedAt)} s`);
  const files = await readdir(join(directory, 'data/archive'), {
    recursive: true,
    withFileTypes: true,
  });
  let bytes = 0;
  let count = 0;
  for (const file of files) {
    if (!file.isFile()) continue;
    count += 1;
    bytes += (await stat(join(file.parentPath, file.name))).size;
  }
  say(`${count} files of ${shown(bytes / 1e6)} MB`);
  await server.gateway.stop();
}

async function measure(subject: GatewaySubject, customer: Customer) {
  const { gateway } = subject;
  const facts: Record<string, string> = {
    'database, MB': shown((await stat(gateway.databasePath)).size / 1e6),
    'start, ms': shown(subject.startMs),
    'resident memory after it, MB': shown(residentMegabytes(subject.pid)),
  };
  const session = await signIn(gateway, customer);
  for (const path of PAGES) {
    const { p95Ms } = await timePage(gateway, session, path);
    facts[`${path}, p95 ms`] = shown(p95Ms);
  }
  const audited = performance.now();
  await gateway.run('receipts', 'verify', '--account', HEAVY);
  facts['verify half of the receipts, s'] = secondsSince(audited);
  const doctor = performance.now();
  await Bun.spawn([subject.build.binary, 'doctor', '--json'], {
    cwd: gateway.directory,
    env: { ...gateway.environment },
    ...{ stdout: 'ignore', stderr: 'ignore' },
  }).exited;
  facts['doctor with the audit, s'] = secondsSince(doctor);
  const backup = performance.now();
  await gateway.run('backup', 'copy.db');
  facts['backup, s'] = secondsSince(backup);
  facts['backup, MB'] = shown((await stat(join(gateway.directory, 'copy.db'))).size / 1e6);
  await rm(join(gateway.directory, 'copy.db'));
  return facts;
}
