// `tollgate models`: the catalog with its prices, and the lower limits of a capacity incident.

import type { Command } from 'commander';
import { type Incident, readIncidents } from '../catalog/incidents.ts';
import { modelList } from '../catalog/model-record.ts';
import { isoTime } from '../core/calendar.ts';
import { createId } from '../core/id.ts';
import { formatDecimal, PICO_DECIMALS } from '../core/money.ts';
import type { IncidentLimits } from '../core/plan.ts';
import { priceAt } from '../core/price-book.ts';
import { writeAuditEvent } from '../identity/audit.ts';
import {
  addCommand,
  CommandError,
  OPERATOR,
  type Output,
  type Perform,
  parseCount,
  table,
} from './command.ts';
import type { Context } from './context.ts';

export function addModelCommands(program: Command, perform: Perform): void {
  const models = addCommand(program, 'models', 'list the models with their prices');
  perform(models, listModels);
  perform<LimitOptions>(
    addCommand(models, 'limit <model>', 'lower the limits of a model during a capacity incident')
      .option('--requests-per-minute <number>', 'requests per minute and account')
      .option('--tokens-per-minute <number>', 'tokens per minute and account')
      .option('--concurrent-requests <number>', 'concurrent requests of an account')
      .option('--reason <text>', 'why', '')
      .option('--clear', 'end the incident'),
    limitModel,
  );
}

function listModels(context: Context): Output {
  const catalog = context.catalog();
  const incidentOf = readIncidents(context.openStore().database);
  const price = (amount: bigint): string => formatDecimal(amount, PICO_DECIMALS);
  const nowMs = context.clock();
  const rows = catalog.models.map((model) => {
    const { input, cachedInput, output } = priceAt(model.prices, nowMs);
    return [
      model.slug,
      model.aliases.join(', ') || '-',
      price(input),
      price(cachedInput),
      price(output),
      String(model.contextWindow),
      String(model.maxOutput),
      incidentWords(incidentOf(model.slug)),
    ];
  });
  const header = [
    'MODEL',
    'ALIASES',
    'INPUT',
    'CACHED',
    'OUTPUT',
    'CONTEXT',
    'MAX OUTPUT',
    'INCIDENT',
  ];
  return {
    json: modelList(catalog, undefined, incidentOf, nowMs),
    text: `${table(header, rows)}\n\nPrices are those of now, in service tokens for one model token; tollgate prices show has all of them.`,
  };
}

function incidentWords(limits: IncidentLimits | Incident | undefined): string {
  const words = [
    limits?.requestsPerMinute && `${limits.requestsPerMinute} requests/min`,
    limits?.tokensPerMinute && `${limits.tokensPerMinute} tokens/min`,
    limits?.concurrentRequests && `${limits.concurrentRequests} concurrent`,
  ];
  return words.filter(Boolean).join(', ') || '-';
}

type LimitOptions = {
  readonly requestsPerMinute?: string;
  readonly tokensPerMinute?: string;
  readonly concurrentRequests?: string;
  readonly reason: string;
  readonly clear?: true;
};

function limitModel(context: Context, options: LimitOptions, name = ''): Output {
  if (options.clear === true) return clearLimits(context, name);
  const model = context.catalog().resolve(name)?.slug;
  if (model === undefined) {
    throw new CommandError(
      'model_not_found',
      'There is no model with this slug or alias; tollgate models lists them.',
    );
  }
  const requestsPerMinute = parseCount(options.requestsPerMinute, '--requests-per-minute');
  const tokensPerMinute = parseCount(options.tokensPerMinute, '--tokens-per-minute');
  const concurrentRequests = parseCount(options.concurrentRequests, '--concurrent-requests');
  const limits = {
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
    ...(tokensPerMinute === undefined ? {} : { tokensPerMinute }),
    ...(concurrentRequests === undefined ? {} : { concurrentRequests }),
  };
  if (Object.keys(limits).length === 0) {
    throw new CommandError(
      'no_limits',
      'Give at least one of --requests-per-minute, --tokens-per-minute, --concurrent-requests, or --clear.',
    );
  }
  const { database, incidents } = context.openStore();
  const incident = database.transaction(() => {
    auditIncident(context, 'incident.set', model, { ...limits, reason: options.reason });
    return incidents.set(model, limits, options.reason);
  });
  return {
    json: { incident: incidentRecord(incident) },
    text: `${model} is limited to ${incidentWords(incident)} where the plan allows more.`,
  };
}

/** By slug also where the catalog no longer has the model, or cannot be read at the moment. */
function clearLimits(context: Context, name: string): Output {
  const { database, incidents } = context.openStore();
  const known = incidents.list().some((incident) => incident.model === name);
  const model = known ? name : (context.catalog().resolve(name)?.slug ?? name);
  const cleared = database.transaction(() => {
    const found = incidents.clear(model);
    if (found) auditIncident(context, 'incident.cleared', model, {});
    return found;
  });
  const text = cleared ? `${model} has its plan's limits again.` : `${model} had no lower limits.`;
  return { json: { cleared }, text };
}

/**
 * Call inside the transaction of the change. It is written here because the catalog, which keeps
 * incidents, knows nothing of the audit trail.
 */
function auditIncident(
  context: Context,
  action: 'incident.set' | 'incident.cleared',
  model: string,
  detail: Readonly<Record<string, string | number>>,
): void {
  writeAuditEvent(context.openStore().database, {
    operationId: createId('op_', context.randomBytes),
    at: context.clock(),
    actor: OPERATOR,
    action,
    subject: model,
    detail,
  });
}

function incidentRecord(incident: Incident) {
  return {
    model: incident.model,
    requests_per_minute: incident.requestsPerMinute,
    tokens_per_minute: incident.tokensPerMinute,
    concurrent_requests: incident.concurrentRequests,
    reason: incident.reason,
    updated_at: isoTime(incident.updatedAt),
  } as const;
}
