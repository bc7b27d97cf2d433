// What the parts of the benchmark share about the machine that they run on: cores, processes and what
// they use, and lines of a table on the standard output.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const TICKS_A_SECOND = 100;

/** What a command is started with so that it stays on one core, where the machine can do that. */
export function pin(core: number): string[] {
  if (Bun.which('taskset') === null || navigator.hardwareConcurrency < 2) return [];
  return ['taskset', '-c', String(core)];
}

export type Process = { readonly url: string; readonly pid: number; readonly kill: () => void };

/** Starts a part of the benchmark and waits for its address. */
export async function startProcess(
  file: string,
  args: readonly string[],
  prefix: readonly string[],
): Promise<Process> {
  const path = join(import.meta.dir, file);
  const child = Bun.spawn([...prefix, process.execPath, path, ...args], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  // Also when the benchmark fails: nothing that it started may outlive it.
  process.on('exit', () => child.kill());
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of child.stdout) {
    text += decoder.decode(bytes);
    const url = /listening on (http:\S+)\n/.exec(text)?.[1];
    if (url !== undefined) return { url, pid: child.pid, kill: () => child.kill() };
  }
  throw new Error(`${file} ended before it listened`);
}

/** User and system time of a process so far; zero where the system has no /proc. */
export function cpuMicroseconds(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND) * 1e6;
  } catch {
    return 0;
  }
}

/** What a process holds in memory now. */
export function residentMegabytes(pid: number): string {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return (Number(kilobytes) / 1_024).toFixed(0);
  } catch {
    return 'unknown';
  }
}

export function row(name: string, cells: readonly string[]): void {
  process.stdout.write(`${name.padEnd(34)}${cells.map((cell) => cell.padStart(16)).join('')}\n`);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
