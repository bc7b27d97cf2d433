// Reads the CPU time of processes and cores from /proc. Returns zeros on systems without /proc.

import { readdirSync, readFileSync } from 'node:fs';

const TICKS_A_SECOND = 100;

/** What keeps a command on one core, where the machine can do that. */
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
  const path = `${import.meta.dir}/${file}`;
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

/** User and system time in microseconds. */
export type Cpu = { readonly all: number; readonly main: number; readonly ledger: number };

/** The ledger's thread is the first one that a gateway starts. */
export function cpuOf(pid: number): Cpu {
  const threads = list(`/proc/${pid}/task`).map(Number);
  const ledger = threads
    .filter((thread) => read(`/proc/${pid}/task/${thread}/comm`).trim() === 'Worker')
    .reduce((first, thread) => Math.min(first, thread), Number.POSITIVE_INFINITY);
  return {
    all: processUs(pid),
    main: threadUs(pid, pid),
    ledger: Number.isFinite(ledger) ? threadUs(pid, ledger) : 0,
  };
}

/** A process with its children, those included that have ended. */
export function treeUs(pid: number): number {
  const children = read(`/proc/${pid}/task/${pid}/children`).trim().split(' ');
  const running = children.filter((child) => child !== '').map((child) => treeUs(Number(child)));
  const [, , childUser = 0, childSystem = 0] = times(`/proc/${pid}/stat`);
  return processUs(pid) + ticks(childUser + childSystem) + running.reduce((a, b) => a + b, 0);
}

/** Threads that have ended are in it. */
export function processUs(pid: number): number {
  const [user = 0, system = 0] = times(`/proc/${pid}/stat`);
  return ticks(user + system);
}

function threadUs(pid: number, thread: number): number {
  return Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]) / 1_000;
}

/** What all cores were busy with, the time that a hypervisor took included. */
export function busyUs(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, steal = 0] = read('/proc/stat')
    .split('\n', 1)
    .flatMap((line) => line.split(/ +/).slice(1).map(Number));
  return ticks(user + nice + system + irq + softIrq + steal);
}

/** Bytes that a process has sent to disks. */
export function writtenBytes(pid: number): number {
  return Number(/^write_bytes: (\d+)/m.exec(read(`/proc/${pid}/io`))?.[1] ?? 0);
}

export function residentMegabytes(pid: number): number {
  return statusMegabytes(pid, 'VmRSS');
}

/** Since `forgetPeak`. */
export function peakMegabytes(pid: number): number {
  return statusMegabytes(pid, 'VmHWM');
}

export async function forgetPeak(pid: number): Promise<void> {
  await Bun.write(`/proc/${pid}/clear_refs`, '5');
}

function statusMegabytes(pid: number, name: string): number {
  const kilobytes = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(read(`/proc/${pid}/status`))?.[1];
  return Math.round(Number(kilobytes ?? 0) / 1_024);
}

/** The fields of `stat` from `utime`: user, system, and both of children that have ended. */
function times(path: string): number[] {
  const stat = read(path);
  return stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number);
}

function ticks(count: number): number {
  return (count / TICKS_A_SECOND) * 1e6;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
