// `tollgate serve`: the life of a server, from the settings to its exit code, and the order in which
// it ends. What it is made of is in `compose.ts`, what it does beside answering in
// `background.ts`.

import { withTimeout } from '../async/timeout.ts';
import type { Config } from '../config/settings.ts';
import { httpUrl, publicUrl } from '../config/urls.ts';
import { createPeople } from '../identity/sign-in/people.ts';
import { writeNote } from '../store/server-notes.ts';
import { VERSION } from '../version.ts';
import { startRunning } from './background.ts';
import type { ServingConfig } from './base.ts';
import { createServingParts, type ServingParts } from './compose.ts';
import { welcomeDemo } from './demo.ts';
import type { Inputs } from './inputs.ts';
import { type Listeners, openListeners } from './listeners.ts';
import { drain, hearStopSignals, type StopSignals } from './shutdown.ts';

/** For mails that wait when the server ends: whoever misses one asks again. */
const MAIL_GRACE_MS = 2_000;

export type ServeOptions = {
  /** Makes a demonstration account on the first run and prints how to use it. */
  readonly demo: boolean;
  /** Makes an empty database although there was one. */
  readonly isNew: boolean;
  /** In place of the settings. */
  readonly port: number | undefined;
  readonly host: string | undefined;
};

/** Serves until SIGTERM or SIGINT; resolves with the exit code once everything is settled. */
export async function serve(inputs: Inputs, options: ServeOptions): Promise<number> {
  const config = withOverrides(inputs.config(), options);
  // Its default would end the process while books are opened or closed; operators.ts listens between.
  process.on('SIGHUP', () => {});
  // What is wrong with it is told before anything is open.
  inputs.loadedCatalog();
  const parts = await createServingParts(inputs, config);
  // From before it listens: who can call must not be cut off, and may stop the server, at once.
  const signals = hearStopSignals();
  const stopped = signals.next();
  const listeners = await listen(parts);
  const stopRunning = await startRunning(parts, listeners);
  await tell(parts, listeners, options.demo);

  const signal = await stopped;
  await leave(parts, signal, signals);
  await finish(parts, listeners, signal, signals);
  await listeners.closeConsole();
  await withTimeout(MAIL_GRACE_MS, parts.mailer.close());
  const unsettled = await close(parts, stopRunning);
  return end(parts, unsettled, signals);
}

/** Throws `address_unavailable`; then nothing is open any more. */
async function listen(parts: ServingParts): Promise<Listeners> {
  const { config, dependencies, pages, store, stage, clock, observation } = parts;
  try {
    stage.listeners = await openListeners({
      config,
      dependencies,
      answerConsole: pages.console,
      onConsole: ({ url }) => writeNote(store.database, 'console', url, clock()),
      log: observation.log,
    });
  } catch (error) {
    await close(parts, () => undefined);
    await parts.observation.log.close();
    throw error;
  }
  return stage.listeners;
}

/** Says where it listens, once whatever is asked there is answered. */
async function tell(
  { config, domains, store, clock, randomBytes, observation }: ServingParts,
  listeners: Listeners,
  isDemo: boolean,
): Promise<void> {
  const { server } = listeners;
  const console = listeners.console();
  const { accounts, keys, settings, live } = domains;
  const { database, ledger } = store;
  const welcome = isDemo
    ? await welcomeDemo(
        {
          ...{ accounts, keys, ledger, settings, randomBytes },
          people: createPeople({ database, clock, randomBytes }),
        },
        publicUrl(config, server.port),
      )
    : [];
  const lines = [
    `tollgate listening on ${httpUrl(config.host, server.port)}`,
    ...(console === undefined ? [] : [`operator console on ${console.url}`]),
    `catalog: ${live.status().path ?? 'the built-in demonstration catalog'}`,
    ...welcome,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  observation.log.info(`serving version ${VERSION}`);
}

/** Not ready any more, and serving still: until the load balancers have noticed. */
async function leave(
  { config, stage, store, observation }: ServingParts,
  signal: NodeJS.Signals,
  signals: StopSignals,
): Promise<void> {
  const { drainDelayMs } = config;
  stage.isLeaving = true;
  await store.node.drain();
  if (drainDelayMs === 0) return;
  observation.log.info(`${signal}: not ready any more; requests are taken for ${drainDelayMs} ms`);
  await withTimeout(drainDelayMs, signals.next());
}

/** Takes no new requests, and lets those in flight finish. */
async function finish(
  { config, stage, path, observation }: ServingParts,
  { server }: Listeners,
  signal: NodeJS.Signals,
  signals: StopSignals,
): Promise<void> {
  const { drainMs } = config;
  const { log } = observation;
  stage.isDraining = true;
  log.info(`${signal}: draining ${path.load().requestsInFlight} requests`);
  const { inFlight } = path.pipeline;
  await drain({ server, inFlight, log, drainMs, hurry: signals.next() });
}

/** Closes all parts, those that others need last. Resolves with the commands left unwritten. */
async function close(parts: ServingParts, stopRunning: () => void): Promise<number> {
  const { pages, path, selfAudit, store } = parts;
  await pages.close();
  stopRunning();
  selfAudit.close();
  await path.close();
  return store.close();
}

/** The last words, and the exit code. */
async function end(
  { observation }: ServingParts,
  unsettled: number,
  signals: StopSignals,
): Promise<number> {
  const { log } = observation;
  const hurried = signals.next();
  await Promise.race([observation.close(), hurried]);
  log.info(unsettled === 0 ? 'stopped' : `stopped with ${unsettled} commands unsettled`);
  await Promise.race([log.close(), hurried]);
  return unsettled === 0 ? 0 : 1;
}

function withOverrides(config: Config, options: ServeOptions): ServingConfig {
  const { port = config.port, host = config.host } = options;
  return { ...config, port, host, isNew: options.isNew };
}
