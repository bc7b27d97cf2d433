// The whole self-test passes on a right gateway. It measures latency, so no other test runs beside it.

import { expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Check } from '../../src/selftest/check.ts';
import { temporaryDirectory } from '../support/database.ts';
import { gatewayCommand, runCommand } from '../support/gateway.ts';
import { waitUntil } from '../support/upstream.ts';

setDefaultTimeout(180_000);

const scratches = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('tollgate-selftest-'));

/** The folder of a self-test that starts now. */
async function newScratch(before: readonly string[]): Promise<string> {
  const added = () => scratches().filter((name) => !before.includes(name));
  await waitUntil(() => added().length > 0, 20_000);
  return added()[0] ?? '';
}

/** The processes that work in a scratch folder, and have `word` in their command. */
function processesIn(folder: string, word = ''): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return (
        /^\d+$/.test(name) &&
        readlinkSync(`/proc/${name}/cwd`).includes(`/${folder}`) &&
        readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(word)
      );
    } catch {
      return false;
    }
  });
}

test('passes on this machine, touches no data, and leaves nothing', async () => {
  const before = scratches();
  const directory = temporaryDirectory();
  const environment = { DATABASE_URL: 'sqlite:./mine.db', PORT: '70000', HOME: directory };
  const { code, stdout } = await runCommand(directory, environment, [
    ...['selftest', '--rounds', '1', '--json'],
  ]);
  const { selftest } = JSON.parse(stdout);
  expect(selftest).toEqual({
    ok: true,
    version: expect.stringMatching(/^\d/),
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    executable: expect.any(Boolean),
    machine: expect.any(String),
    started_at: expect.any(String),
    duration_seconds: expect.any(Number),
    checks: expect.any(Array),
    overhead: {
      p50_ms: expect.any(Object),
      p99_ms: expect.any(Object),
      answers_per_second: expect.any(Object),
    },
  });
  const failed = (selftest.checks as Check[]).filter(({ ok }) => !ok).map(({ name }) => name);
  expect([code, failed, selftest.checks.length]).toEqual([0, [], 12]);
  expect(readdirSync(directory)).toEqual([]);
  expect(existsSync(`${directory}/mine.db`)).toBe(false);
  expect(scratches().filter((name) => !before.includes(name))).toEqual([]);
});

test('ends by a signal without leaving a folder or a process', async () => {
  const before = scratches();
  const child = Bun.spawn([...gatewayCommand(), 'selftest'], { stdout: 'ignore', stderr: 'pipe' });
  const reader = child.stderr.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toStartWith('ok ');
  const folder = await newScratch(before);
  expect(processesIn(folder).length).toBeGreaterThan(0);
  child.kill('SIGTERM');
  expect([await child.exited, processesIn(folder)]).toEqual([143, []]);
  expect(scratches()).not.toContain(folder);
});

test('ends by a signal in its first moments, too', async () => {
  const before = scratches();
  const child = Bun.spawn([...gatewayCommand(), 'selftest'], {
    stdout: 'ignore',
    stderr: 'ignore',
  });
  const folder = await newScratch(before);
  child.kill('SIGTERM');
  expect([await child.exited, processesIn(folder)]).toEqual([143, []]);
  expect(scratches()).not.toContain(folder);
});

test('leaves no process where it is killed', async () => {
  const before = scratches();
  const child = Bun.spawn([...gatewayCommand(), 'selftest'], {
    stdout: 'ignore',
    stderr: 'ignore',
  });
  const folder = await newScratch(before);
  await waitUntil(() => processesIn(folder, '\0serve\0').length > 0, 30_000);
  child.kill('SIGKILL');
  await waitUntil(() => processesIn(folder).length === 0, 20_000);
  rmSync(join(tmpdir(), folder), { recursive: true });
});
