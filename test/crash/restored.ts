// The newest backup of a round, restored as an operator would after the disk is lost: into a copy of
// the gateway's folder, archives included, that is newer than the backup. It holds what had ended by
// then, unchanged, and serves.

import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { findBackups } from '../../src/core/backup-files.ts';
import { type Gateway, runCommand } from '../support/gateway.ts';
import type { Verdict } from './books.ts';
import { openHolds, readLedger } from './ledger.ts';

/** `directory` and `databasePath` are those of a gateway that has stopped; both stay as they are. */
export async function checkRestore(
  { directory, databasePath }: Pick<Gateway, 'directory' | 'databasePath'>,
  start: (directory: string) => Promise<Gateway>,
): Promise<Verdict[]> {
  const folder = join(directory, 'backups');
  const names = await readdir(folder).catch(() => []);
  const newest = findBackups(names, 'tollgate').at(-1);
  if (newest === undefined) return [];
  const place = await mkdtemp(join(tmpdir(), 'tollgate-restored-'));
  try {
    await cp(directory, place, { recursive: true, filter: (path) => path !== folder });
    const restore = await run(place, ['restore', join(folder, newest.name), '--yes']);
    if (!restore.ok) return [restore];
    const path = join(place, 'data', basename(databasePath));
    const same = await compare(path, databasePath);
    const gateway = await start(place);
    const readyz = await fetch(`${gateway.url}/readyz`);
    const open = await openHolds(`sqlite:${path}`);
    const code = await gateway.stop();
    const served = {
      command: 'serve a restored backup',
      ok: code === 0 && readyz.ok && open === 0,
    };
    return [
      restore,
      same,
      { ...served, said: `exit code ${code}, /readyz ${readyz.status}, ${open} open holds` },
      await run(place, ['doctor', '--json']),
      await run(place, ['receipts', 'verify', '--all', '--json']),
      await run(place, ['archive', 'verify', '--json']),
    ];
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

async function run(place: string, words: readonly string[]): Promise<Verdict> {
  const { code, stdout, stderr } = await runCommand(place, {}, words);
  const said = `${stdout} ${stderr}`.slice(0, 1_000);
  return { command: `${words[0]} of a restored backup`, ok: code === 0, said };
}

/** Whether each record and each movement of the copy is in the books, as it is there. */
async function compare(copyPath: string, path: string): Promise<Verdict> {
  const [copy, books] = await Promise.all(
    [copyPath, path].map((each) => readLedger(`sqlite:${each}`)),
  );
  const known = new Set([...(books?.records ?? []), ...(books?.entries ?? [])].map(lineOf));
  const rows = [...(copy?.records ?? []), ...(copy?.entries ?? [])].map(lineOf);
  const strange = rows.filter((row) => !known.has(row));
  return {
    command: 'a restored backup holds what the books hold',
    ok: strange.length === 0 && rows.length > 0,
    said: `${rows.length} rows, not in the books: ${strange.slice(0, 3).join(' ')}`,
  };
}

function lineOf(row: object): string {
  return JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}
