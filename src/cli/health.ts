// `tollgate health`: asks the server of these settings whether it is alive, for containers and service
// managers, whose images have no other HTTP client.

import type { Command } from 'commander';
import type { Config } from '../config/settings.ts';
import { httpUrl } from '../config/urls.ts';
import { addCommand, CommandError, type Output, type Perform } from './command.ts';
import type { Context } from './context.ts';

const ANSWER_MS = 2_000;

type HealthOptions = { readonly ready?: true };

export function addHealthCommand(program: Command, perform: Perform): void {
  const command = addCommand(
    program,
    'health',
    'ask the server on this machine whether it is alive; exit code 0 if it is',
  ).option('--ready', 'ask whether it should get new requests instead');
  perform<HealthOptions>(command, async (context, options) => health(context, options));
}

async function health(context: Context, options: HealthOptions): Promise<Output> {
  const config = context.config();
  if (config.port === 0) {
    throw new CommandError('no_port', 'PORT is 0, so the port of the server is not known.');
  }
  const path = options.ready === true ? '/readyz' : '/healthz';
  const ok = await isHealthy(config, path);
  const text = ok ? `${path} answers 200` : `${path} does not answer 200 within ${ANSWER_MS} ms`;
  return { json: { ok }, text, exitCode: ok ? 0 : 1 };
}

/** Whether the server of these settings answers `path` with 200. */
export async function isHealthy(
  config: Pick<Config, 'host' | 'port'>,
  path: '/healthz' | '/readyz',
): Promise<boolean> {
  return (await askServer(config, path))?.ok === true;
}

/** What the server of these settings answers; undefined if it does not in time. */
export async function askServer(
  { host, port }: Pick<Config, 'host' | 'port'>,
  path: '/healthz' | '/readyz',
  token?: string,
): Promise<Response | undefined> {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const signal = AbortSignal.timeout(ANSWER_MS);
  // A proxy of the process environment is for upstreams: it may not reach this machine, or answer for it.
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const url = `${httpUrl(name, port)}${path}`;
  return fetch(url, { headers, signal, proxy: false }).catch(() => undefined);
}
