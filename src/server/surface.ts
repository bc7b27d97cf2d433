// Constructs what both listeners answer with: the dependencies of the public surface, readiness,
// metrics, and the pages of customers and operators.

import { withDisabled, withTrouble } from '../core/health.ts';
import { answerPlayground } from '../http/playground.ts';
import type { ServerDependencies } from '../http/server.ts';
import { createMailer, type Mailer } from '../mail/mail.ts';
import type { Announcements } from './announcements.ts';
import type { Backups } from './backups.ts';
import {
  createServingDashboard,
  type ServingDashboard,
  type ServingDashboardOptions,
} from './dashboard.ts';
import { createServingDescription } from './description.ts';
import { createServingDocs } from './docs.ts';
import type { OwnHandlers } from './handlers.ts';
import type { Listeners } from './listeners.ts';
import type { ServingPipeline } from './pipeline.ts';
import type { Retention } from './retention.ts';
import { createServingSite } from './site.ts';

/** The stage of the server, on which its answers depend. */
export type ServingStage = {
  /** Set once the server listens. */
  listeners: Listeners | undefined;
  /** Reports not ready; requests are still taken. */
  isLeaving: boolean;
  /** New requests are rejected. */
  isDraining: boolean;
};

export type ServingSurfaceOptions = Omit<
  ServingDashboardOptions,
  | ('mailer' | 'upstreams' | 'problems' | 'trustedProxies' | 'announce' | 'consoleUrl')
  | ('draining' | 'port' | 'load' | 'answerPlayground' | 'warnings')
> & {
  readonly handlers: OwnHandlers;
  readonly pipeline: Pick<ServingPipeline, 'limits' | 'health' | 'trial' | 'answers'>;
  readonly announcements: Announcements;
  readonly stage: ServingStage;
  readonly backups: Backups | undefined;
  readonly retention: Retention | undefined;
  /** What does not work because the secret of sign-in could not be read. */
  readonly secretWarnings: readonly string[];
};

export type ServingSurface = {
  readonly dependencies: ServerDependencies;
  readonly pages: ServingDashboard;
  readonly mailer: Mailer;
};

export function createServingSurface(options: ServingSurfaceOptions): ServingSurface {
  const { config, domains, pipeline, selfAudit, handlers, observation, stage } = options;
  const { live, operators } = domains;
  const { serving: store } = options;
  const { log, metrics } = observation;
  const { member } = store.node;
  const mailer = createMailer({ smtpUrl: config.smtpUrl, from: config.mailFrom, log });
  const upstreams = () =>
    withTrouble(
      withDisabled(pipeline.health.states(), operators.current().isDisabled),
      observation.activity.trouble,
    );
  const { load } = handlers;
  // Readiness and the console list the same ones.
  const warnings = () => [
    ...selfAudit.warnings(),
    ...operators.warnings(),
    ...member.warnings(),
    ...pipeline.answers.warnings(),
    ...options.secretWarnings,
    ...(options.backups?.warnings() ?? []),
    ...(options.retention?.warnings() ?? []),
    ...(stage.listeners?.warnings() ?? []),
  ];
  const port = () => stage.listeners?.server.port ?? config.port;
  const pages = createServingDashboard({
    ...{
      ...options,
      mailer,
      upstreams,
      problems: store.problems,
      warnings,
      load,
      trustedProxies: handlers.trustedProxies,
    },
    announce: () => void options.announcements.announce(),
    consoleUrl: () => stage.listeners?.console()?.url,
    draining: () => stage.isDraining,
    port,
    answerPlayground: (format, call) => answerPlayground(dependencies, format, call),
  });
  const dependencies: ServerDependencies = {
    ...handlers,
    problems: store.problems,
    warnings,
    isStopped: selfAudit.isStopped,
    draining: () => stage.isLeaving,
    isRefusing: () => stage.isDraining || options.monotonic() >= store.fencedFrom(),
    metrics: metrics.print,
    upstreams,
    dashboard: pages.dashboard,
    docs: createServingDocs({
      ...{ config, observation, port, monotonic: options.monotonic },
      service: () => live.current().service,
      isCustomer: pages.isCustomer,
    }),
    openapi: createServingDescription({ config, observation, port }),
    site: createServingSite({ config, observation, port, domains, clock: options.clock }),
  };
  metrics.watch({
    requestsInFlight: () => load().requestsInFlight,
    streamsOpen: () => load().streamsOpen,
    upstreams,
    ledgerPending: () => load().ledgerPending,
    openHolds: domains.books.openHolds,
    auditDifferences: selfAudit.differences,
    catalog: live.status,
    limits: () => load().limits,
    backups: options.backups?.state,
    retention: options.retention?.state,
  });
  return { dependencies, pages, mailer };
}
