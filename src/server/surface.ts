// Constructs what both listeners answer with: the dependencies of the public surface, readiness,
// metrics, and the pages of customers and operators.

import { withDisabled, withLastAttempts } from '../core/health.ts';
import { upstreamWarnings } from '../core/readiness.ts';
import type { Sentence } from '../core/sentence.ts';
import { createMailWriter } from '../dashboard/texts/mail-writer.ts';
import { answerPlayground } from '../http/playground.ts';
import type { ServerDependencies } from '../http/server.ts';
import type { WriteMail } from '../identity/sign-in/mails.ts';
import { createMailer, type Mailer } from '../mail/mail.ts';
import type { Base } from './base.ts';
import { createServingDashboard, type ServingDashboard } from './dashboard.ts';
import { createServingDescription } from './description.ts';
import { createServingDocs } from './docs.ts';
import type { Listeners } from './listeners.ts';
import type { RequestPath } from './request-path.ts';
import { createServingSite } from './site.ts';
import type { ServingStore } from './store.ts';
import type { Upkeep } from './upkeep.ts';

/** The stage of the server, on which its answers depend. */
export type ServingStage = {
  /** Set once the server listens. */
  listeners: Listeners | undefined;
  /** Reports not ready; requests are still taken. */
  isLeaving: boolean;
  /** New requests are rejected. */
  isDraining: boolean;
};

export type ServingSurfaceOptions = {
  readonly base: Base;
  readonly store: ServingStore;
  readonly path: RequestPath;
  readonly upkeep: Upkeep;
  readonly stage: ServingStage;
};

export type ServingSurface = {
  readonly dependencies: ServerDependencies;
  readonly pages: ServingDashboard;
  readonly mailer: Mailer;
  readonly writeMail: WriteMail;
};

export function createServingSurface(options: ServingSurfaceOptions): ServingSurface {
  const { base, store, path, upkeep, stage } = options;
  const { config, clock, monotonic, observation } = base;
  const { domains, pipeline, handlers, load } = path;
  const { audit } = upkeep;
  const { live, serviceStates } = domains;
  const { log, metrics } = observation;
  const mailer = createMailer({ smtpUrl: config.smtpUrl, from: config.mailFrom, log });
  const writeMail = createMailWriter({
    service: () => live.current().service,
    isLogged: mailer.mode === 'log',
  });
  const upstreams = () =>
    withLastAttempts(
      withDisabled(pipeline.health.states(), serviceStates.current().isDisabled),
      observation.activity,
    );
  const warnings: ServerDependencies['warnings'] = (audience) => [
    ...warningsOf(options),
    ...upstreamWarnings(upstreams(), audience),
  ];
  const port = () => stage.listeners?.server.port ?? config.port;
  const pages = createServingDashboard({
    base,
    store,
    path,
    upkeep,
    mails: { mail: mailer.send, writeMail },
    mailMode: mailer.mode,
    upstreams,
    warnings: () => warnings('operator'),
    consoleUrl: () => stage.listeners?.console()?.url,
    draining: () => stage.isDraining,
    port,
    answerPlayground: (format, call) => answerPlayground(dependencies, format, call),
  });
  const dependencies: ServerDependencies = {
    ...handlers,
    problems: store.problems,
    warnings,
    isStopped: audit.isStopped,
    draining: () => stage.isLeaving,
    isRefusing: () => stage.isDraining || monotonic() >= store.fencedFrom(),
    metrics: metrics.print,
    upstreams,
    dashboard: pages.dashboard,
    docs: createServingDocs({
      config,
      observation,
      port,
      monotonic,
      catalog: live.current,
      isCustomer: pages.isCustomer,
      maskedKeyOf: pages.maskedKeyOf,
    }),
    openapi: createServingDescription({ config, observation, port, catalog: live.current }),
    site: createServingSite({ config, observation, port, domains, clock }),
  };
  metrics.watch({
    requestsInFlight: () => load().requestsInFlight,
    streamsOpen: () => load().streamsOpen,
    upstreams,
    warnings: () => warnings('operator').length,
    ledgerPending: () => load().ledgerPending,
    openHolds: domains.books.openHolds,
    auditDifferences: audit.differences,
    catalog: live.status,
    limits: () => load().limits,
    backups: upkeep.backups?.state,
    retention: upkeep.retention?.state,
  });
  return { dependencies, pages, mailer, writeMail };
}

/** What an operator should know, upstreams aside. */
function warningsOf({ store, path, upkeep, stage }: ServingSurfaceOptions): readonly Sentence[] {
  return [
    ...upkeep.audit.warnings(),
    ...path.domains.serviceStates.warnings(),
    ...store.node.member.warnings(),
    ...path.warnings(),
    ...(upkeep.backups?.warnings() ?? []),
    ...(upkeep.retention?.warnings() ?? []),
    ...(stage.listeners?.warnings() ?? []),
  ];
}
