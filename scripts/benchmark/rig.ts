// The subjects of the benchmark rows: the upstream, B, L4, and the gateways, either one executable
// or two side by side. Each starts when a row first needs it.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type GatewayOptions, startGateway } from '../../test/support/gateway.ts';
import { benchCatalog } from './catalog.ts';
import { type Process, pin, startProcess } from './machine.ts';
import type { Subject } from './measure.ts';

export const CREDIT = 100_000_000_000;

/** An executable that is measured. */
export type Build = { readonly name: string; readonly binary: string };

export type GatewaySubject = Subject & {
  readonly build: Build;
  /** From the start of its process until it listened. */
  readonly startMs: number;
  readonly gateway: Awaited<ReturnType<typeof startGateway>>;
};

export type RigOptions = {
  readonly builds: readonly [Build, ...Build[]];
  readonly rounds: number;
  readonly seconds: number;
  /** In a database with a past. */
  readonly requests: number;
};

export type Rig = Awaited<ReturnType<typeof openRig>>;

/** Gateway, B and L4 run on core 0, load and upstream on core 1. */
export async function openRig(options: RigOptions) {
  const upstream = await startProcess('upstream.ts', [], pin(1));
  const started = new Map<string, Promise<Process>>();
  const gateways: GatewaySubject[] = [];

  async function processSubject(name: string, file: string, target: string): Promise<Subject> {
    const running = started.getOrInsertComputed(name, () => startProcess(file, [target], pin(0)));
    return { ...(await running), name, key: 'sk-bench' };
  }

  /** A fresh one; the caller disposes of its gateway. */
  async function startBuild(build: Build, more: GatewayOptions = {}): Promise<GatewaySubject> {
    const { binary, name } = build;
    const catalog = benchCatalog(upstream.url);
    const startedAt = performance.now();
    const gateway = await startGateway({ catalog, prefix: pin(0), binary, ...more });
    const startMs = performance.now() - startedAt;
    process.on('exit', () => gateway.kill());
    const account = await gateway.createAccount({ plan: 'bench', credit: CREDIT });
    const log = readdirSync(gateway.directory).find((file) => file.endsWith('.log')) ?? '';
    return {
      ...{ name, build, gateway, startMs, key: account.key, url: gateway.url, pid: gateway.pid },
      log: join(gateway.directory, log),
    };
  }

  return {
    ...options,
    upstream: { name: 'upstream alone', url: upstream.url, pid: upstream.pid, key: '' },
    startBuild,
    /** A bare forwarder. */
    bare: () => processSubject('B', 'forwarder.ts', `${upstream.url}/v1/chat/completions`),
    floor: () => processSubject('L4', 'floor/gateway.ts', upstream.url),
    /** One of each build, which all rows share. */
    async gateways(): Promise<readonly GatewaySubject[]> {
      if (gateways.length === 0) {
        for (const build of options.builds) gateways.push(await startBuild(build));
      }
      return gateways;
    },
    async [Symbol.asyncDispose]() {
      for (const { gateway } of gateways) await gateway[Symbol.asyncDispose]();
      for (const running of started.values()) (await running).kill();
      upstream.kill();
    },
  };
}
