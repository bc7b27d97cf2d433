// `tollgate serve`: the life of a server from its settings to its exit code, and the order of its
// shutdown. `compose.ts` constructs its parts, `background.ts` runs what works beside requests.

import { withTimeout } from '../async/timeout.ts';
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
import { startHttpThread } from './runtime.ts';
import { drain, hearStopSignals, type StopSignals } from './shutdown.ts';

/** For mails in the queue at shutdown: their recipients can request them again. */
const MAIL_GRACE_MS = 2_000;

export type ServeOptions = {
  /** Creates a demonstration account on the first run and prints how to use it. */
  readonly demo: boolean;
  /** Creates an empty database although there was one before. */
  readonly isNew: boolean;
  /** Replaces the port of the settings. */
  readonly port: number | undefined;
  readonly host: string | undefined;
};

/** Serves until SIGTERM or SIGINT; resolves with the exit code once everything is settled. */
export async function serve(inputs: Inputs, options: ServeOptions): Promise<number> {
  const given = inputs.config();
  const { port = given.port, host = given.host, isNew } = options;
  const config: ServingConfig = { ...given, port, host, isNew };
  // The default would end the process while books are opened or closed; service-changes.ts handles
  // the signal in between.
  process.on('SIGHUP', () => {});
  // Reports mistakes before anything is open.
  inputs.loadedCatalog();
  await startHttpThread();
  const parts = await createServingParts(inputs, config);
  // Installed before the listeners: a client that can connect must not be cut off by a signal.
  const signals = hearStopSignals();
  const stopped = signals.next();
  const listeners = await listen(parts);
  const stopRunning = await startRunning(parts, listeners);
  await logAddresses(parts, listeners, options.demo);

  const signal = await stopped;
  await leave(parts, signal, signals);
  await finish(parts, listeners, signal, signals);
  await listeners.closeConsole();
  await withTimeout(MAIL_GRACE_MS, parts.surface.mailer.close());
  const unsettled = await close(parts, stopRunning);
  return end(parts, unsettled, signals);
}

/** Throws `address_unavailable`; then nothing is left open. */
async function listen(parts: ServingParts): Promise<Listeners> {
  const { base, store, surface, stage } = parts;
  const { config, clock, observation } = base;
  try {
    stage.listeners = await openListeners({
      config,
      dependencies: surface.dependencies,
      answerConsole: surface.pages.console,
      onConsole: ({ url }) => writeNote(store.database, 'console', url, clock()),
      log: observation.log,
    });
  } catch (error) {
    await close(parts, () => undefined);
    await observation.log.close();
    throw error;
  }
  return stage.listeners;
}

/** Logs the addresses, once both listeners answer. */
async function logAddresses(
  { base, store, path }: ServingParts,
  listeners: Listeners,
  isDemo: boolean,
): Promise<void> {
  const { server } = listeners;
  const console = listeners.console();
  const { config, clock, randomBytes, observation } = base;
  const { accounts, keys, settings, live } = path.domains;
  const { database, ledger } = store;
  const welcome = isDemo
    ? await welcomeDemo(
        {
          accounts,
          keys,
          ledger,
          settings,
          randomBytes,
          people: createPeople({ database, clock, randomBytes }),
        },
        publicUrl(config, server.port),
        config.responsesFormat === 'on',
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

/** Reports not ready but keeps serving, until load balancers have noticed. */
async function leave(
  { base, store, stage }: ServingParts,
  signal: NodeJS.Signals,
  signals: StopSignals,
): Promise<void> {
  const { drainDelayMs } = base.config;
  stage.isLeaving = true;
  await store.node.drain();
  if (drainDelayMs === 0) return;
  base.observation.log.info(
    `${signal}: no longer ready; requests are accepted for ${drainDelayMs} ms`,
  );
  await withTimeout(drainDelayMs, signals.next());
}

/** Stops taking requests, and lets those in flight finish. */
async function finish(
  { base, path, stage }: ServingParts,
  { server }: Listeners,
  signal: NodeJS.Signals,
  signals: StopSignals,
): Promise<void> {
  const { drainMs } = base.config;
  const { log } = base.observation;
  stage.isDraining = true;
  log.info(`${signal}: draining ${path.load().requestsInFlight} requests`);
  const { inFlight } = path.pipeline;
  await drain({ server, inFlight, log, drainMs, hurry: signals.next() });
}

/**
 * Closes all parts in the reverse order of their dependencies. Resolves with the number of
 * unwritten commands.
 */
async function close(parts: ServingParts, stopRunning: () => void): Promise<number> {
  const { store, path, upkeep, surface } = parts;
  await surface.pages.close();
  stopRunning();
  upkeep.audit.close();
  await path.close();
  await upkeep.storeAlerts();
  return store.close();
}

/** Logs the result of the shutdown; returns the exit code. */
async function end(
  { base }: ServingParts,
  unsettled: number,
  signals: StopSignals,
): Promise<number> {
  const { observation } = base;
  const { log } = observation;
  const hurried = signals.next();
  await Promise.race([observation.close(), hurried]);
  log.info(unsettled === 0 ? 'stopped' : `stopped with ${unsettled} commands unsettled`);
  await Promise.race([log.close(), hurried]);
  return unsettled === 0 ? 0 : 1;
}
