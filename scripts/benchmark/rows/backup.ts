// Latency at a steady rate while automatic backups run, and between them, over a database with a
// past. Gateway, load and backups share the machine as an operator would run them, unpinned.

import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Ask, whole } from '../catalog.ts';
import type { BenchRow } from '../compare.ts';
import { HEAVY } from '../history.ts';
import type { GatewaySubject } from '../rig.ts';
import { printTable, shown } from '../table.ts';
import { addUp, newPast } from './past.ts';

const RATE = 100;
const SECONDS = 300;
/** Two minutes between the beginnings of two, so that both states get their share. */
const EVERY_HOURS = '0.0334';

type Times = { readonly during: number[]; readonly between: number[] };

export const backupRow: BenchRow = {
  name: 'backup',
  onDemand: true,
  run: async (rig) => {
    const [build] = rig.builds;
    const directory = await newPast(rig.requests);
    const first = await rig.startBuild(build, { directory });
    await addUp(first.gateway, directory);
    await first.gateway.stop();
    const environment = {
      BACKUP_DIR: 'backups',
      BACKUP_EVERY_HOURS: EVERY_HOURS,
      BACKUP_KEEP: '1',
    };
    const subject = await rig.startBuild(build, { directory, environment, prefix: [] });
    try {
      const key = String((await subject.gateway.run('key', 'create', HEAVY))['key']);
      const times = await load({ ...subject, key }, join(directory, 'backups'));
      const line = (name: string, read: (sorted: readonly number[]) => number) => [
        name,
        ...[times.during, times.between].map((each) => shown(read(each.toSorted((a, b) => a - b)))),
      ];
      const share = (of: number) => (sorted: readonly number[]) =>
        sorted[Math.floor(sorted.length * of)] ?? 0;
      printTable(
        [`${rig.requests.toLocaleString('en')} requests`, 'during a backup', 'between'],
        [
          line('answers', ({ length }) => length),
          line('p50 ms', share(0.5)),
          line('p99 ms', share(0.99)),
          line('longest ms', (sorted) => sorted.at(-1) ?? 0),
        ],
      );
      process.stdout.write(
        `\n${subject.gateway
          .output()
          .match(/backup: wrote[^"]*/g)
          ?.join('\n')}\n`,
      );
    } finally {
      await subject.gateway[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    }
    return [];
  },
};

async function load(subject: GatewaySubject, backups: string): Promise<Times> {
  const times: Times = { during: [], between: [] };
  const startedAt = performance.now();
  const running: Promise<void>[] = [];
  for (let count = 0; count < RATE * SECONDS; count += 1) {
    const dueMs = startedAt + (count * 1_000) / RATE - performance.now();
    if (dueMs > 0) await Bun.sleep(dueMs);
    const into = isRunning(backups) ? times.during : times.between;
    running.push(ask(subject, whole).then((ms) => void into.push(ms)));
  }
  await Promise.all(running);
  return times;
}

async function ask({ url, key }: GatewaySubject, { path, body = '' }: Ask): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
  });
  await response.text();
  if (response.status !== 200) throw new Error(`an answer has the status ${response.status}`);
  return performance.now() - startedAt;
}

function isRunning(backups: string): boolean {
  return existsSync(backups) && readdirSync(backups).some((name) => name.endsWith('.partial'));
}
