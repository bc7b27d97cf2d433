// Runs scripts in separate Bun processes that start together and communicate by lines.

import { join } from 'node:path';

export type Script = {
  readonly pid: number;
  /** Lets the script go on after its `await start()`. */
  readonly go: () => void;
  /** The next line that the script printed; `undefined` at its end. */
  readonly line: () => Promise<string | undefined>;
  readonly kill: () => void;
  /** What it printed as errors, once it has ended. */
  readonly errors: () => Promise<string>;
};

const SOURCES = join(import.meta.dir, '../../src');

/** Runs `body` with `load('store/database.ts')` for our modules, `start()` and `say(line)`. */
export function runScript(body: string): Script {
  const source = `
    const load = (path) => import(${JSON.stringify(`${SOURCES}/`)} + path);
    const support = (path) => import(${JSON.stringify(`${import.meta.dir}/`)} + path);
    const say = (line) => process.stdout.write(line + '\\n');
    const start = () => { say('ready'); return new Promise((go) => process.stdin.once('data', go)); };
    ${body}
    process.exit(0);`;
  const child = Bun.spawn([process.execPath, '-e', source], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const errors = new Response(child.stderr).text();
  let buffer = '';
  async function line(): Promise<string | undefined> {
    for (;;) {
      const end = buffer.indexOf('\n');
      if (end >= 0) {
        const found = buffer.slice(0, end);
        buffer = buffer.slice(end + 1);
        return found;
      }
      const { value, done } = await reader.read();
      if (done) return undefined;
      buffer += value;
    }
  }
  return {
    pid: child.pid,
    go() {
      child.stdin.write('go');
      child.stdin.flush();
    },
    line,
    kill: () => child.kill('SIGKILL'),
    errors: () => errors,
  };
}

/** Waits until every script is ready, then lets them go at once. */
export async function startTogether(scripts: readonly Script[]): Promise<void> {
  for (const script of scripts) {
    const first = await script.line();
    if (first !== 'ready') throw new Error(first ?? (await script.errors()));
  }
  for (const script of scripts) script.go();
}
