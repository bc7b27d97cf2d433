// A gateway with an empty database beside one with 90 days of requests of 200 accounts, half of
// them by one account. Measures answers, in the first minutes and later, start, pages, a backup and
// `doctor`.

import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRollUp } from '../../../src/ledger/series/roll-up.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { newEmail, openSignUp } from '../../../test/support/customer.ts';
import type { Gateway } from '../../../test/support/gateway.ts';
import { openMailbox } from '../../../test/support/mailbox.ts';
import { whole } from '../catalog.ts';
import { type BenchRow, type Case, compare } from '../compare.ts';
import { databaseUrl, HEAVY, writePast } from '../history.ts';
import { openLoad } from '../load.ts';
import { residentMegabytes } from '../machine.ts';
import { loadOf, measure, mid, type Sample } from '../measure.ts';
import { stallDuring, timePages } from '../pages.ts';
import type { GatewaySubject, Rig } from '../rig.ts';
import { printTable, say, secondsSince, shown } from '../table.ts';

const ACCOUNTS = 200;
const DAYS = 90;
const CONNECTIONS = 64;

/** Two minutes after the start, in turns. */
const FIRST = { rounds: 15, seconds: 4 };

/** Of the past, what the gateway itself adds up after its start. */
const ADDED_UP_LATER = 1_000_000;

export const pastRow: BenchRow = {
  name: 'past',
  onDemand: true,
  run: async (rig) => {
    const [build] = rig.builds;
    await using mailbox = await openMailbox();
    await using stack = new AsyncDisposableStack();
    // The load is no habit of the key, which would be paused.
    const environment = { ...openSignUp(mailbox), RUNAWAY_FACTOR: 'off' };
    const directory = await newPast(rig.requests);
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    const early = await rig.startBuild(build, { directory, environment });
    await addUp(early.gateway, directory);
    await early.gateway.stop();

    const empty = await rig.startBuild(build, { environment });
    stack.use(empty.gateway);
    const full = await rig.startBuild(build, { directory, environment });
    stack.use(full.gateway);
    const created = await full.gateway.run('key', 'create', HEAVY);
    const subjects = [
      { ...empty, name: 'empty', email: newEmail() },
      {
        ...full,
        name: `${rig.requests.toLocaleString('en')} requests`,
        key: String(created['key']),
        email: `${HEAVY}@example.org`,
      },
    ];
    const started = await inTurn(subjects, afterStart);
    const cases = subjects.map((subject) => ({ name: subject.name, subject, ask: whole }));
    const first = await firstMinutes(rig, cases);
    const measured = [...(await compare(rig, cases, { connections: CONNECTIONS })).values()];
    const pages = await inTurn(subjects, ({ gateway, email }) =>
      timePages(gateway, mailbox, email),
    );
    const backups = await inTurn(subjects, backUp);
    const doctors = await inTurn(subjects, askDoctor);
    const line = (name: string, value: (at: number) => string) => [name, value(0), value(1)];
    printTable(
      ['a past', ...subjects.map(({ name }) => name)],
      [
        line('database, MB', (at) => shown(started[at]?.megabytes ?? 0)),
        line('start, ms', (at) => shown(subjects[at]?.startMs ?? 0)),
        line('resident memory after it, MB', (at) => shown(started[at]?.resident ?? 0)),
        line('first check of caps, longest stall ms', (at) => shown(started[at]?.stallMs ?? 0)),
        line('CPU µs a whole answer, first two minutes', (at) =>
          shown(mid(first[at], ({ cpu }) => cpu.all)),
        ),
        line('whole answers/s', (at) => shown(mid(measured[at], ({ rate }) => rate))),
        line('CPU µs a whole answer', (at) => shown(mid(measured[at], ({ cpu }) => cpu.all))),
        line('p99 ms', (at) => shown(mid(measured[at], ({ p99Us }) => p99Us / 1_000))),
        line('slowest page, p95 ms', (at) => shown(pages[at]?.p95Ms ?? 0)),
        line('which', (at) => pages[at]?.name ?? ''),
        line('backup, s', (at) => shown(backups[at] ?? 0)),
        line('doctor with the audit, s', (at) => shown(doctors[at] ?? 0)),
      ],
    );
    return [];
  },
};

async function inTurn<S, T>(subjects: readonly S[], work: (subject: S) => Promise<T>) {
  const results: T[] = [];
  for (const subject of subjects) results.push(await work(subject));
  return results;
}

/** What runs after a start runs beside these answers: the audit, above all. */
async function firstMinutes(rig: Rig, cases: readonly Case[]): Promise<readonly Sample[][]> {
  const samples: Sample[][] = cases.map(() => []);
  const window = { connections: CONNECTIONS, seconds: FIRST.seconds };
  for (let round = 0; round < FIRST.rounds; round += 1) {
    for (const [at, { subject, ask }] of cases.entries()) {
      samples[at]?.push(await measure(subject, ask, window, rig.upstream.pid));
    }
  }
  return samples;
}

/** A new folder of a gateway whose database has so many requests; the caller removes it. */
export async function newPast(requests: number): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-past-'));
  const past = { requests, accounts: ACCOUNTS, days: DAYS };
  await writePast(directory, past, requests - ADDED_UP_LATER);
  return directory;
}

/** As after an upgrade: the last of the past are not in the series yet. */
export async function addUp(gateway: Gateway, directory: string): Promise<void> {
  const database = openDatabase({ url: databaseUrl(directory), sync: 'normal', readonly: true });
  const { behind } = createRollUp(database);
  const startedAt = performance.now();
  const stallMs = await stallDuring(gateway, async () => {
    while ((await behind()) > 0) await Bun.sleep(100);
  });
  await database.close();
  say(`they were added up in ${secondsSince(startedAt)} s; longest stall ${stallMs.toFixed(0)} ms`);
}

async function afterStart(subject: GatewaySubject) {
  const { size } = await stat(subject.gateway.databasePath);
  const resident = residentMegabytes(subject.pid);
  const stallMs = await stallDuring(subject.gateway, async () => {
    const open = await openLoad(loadOf(subject, whole, 1), true);
    while (open.latenciesUs.length === 0) await Bun.sleep(1);
    open.close();
  });
  return { megabytes: size / 1e6, resident, stallMs };
}

async function backUp({ gateway }: GatewaySubject): Promise<number> {
  const startedAt = performance.now();
  await gateway.run('backup', 'copy.db');
  const seconds = (performance.now() - startedAt) / 1_000;
  await rm(join(gateway.directory, 'copy.db'));
  return seconds;
}

async function askDoctor({ gateway, build }: GatewaySubject): Promise<number> {
  const startedAt = performance.now();
  await Bun.spawn([build.binary, 'doctor', '--json'], {
    cwd: gateway.directory,
    env: { ...gateway.environment },
    ...{ stdout: 'ignore', stderr: 'ignore' },
  }).exited;
  return (performance.now() - startedAt) / 1_000;
}
