// `tollgate models`: lists the catalog with its prices, and the reduced limits of capacity
// incidents.

import type { Command } from 'commander';
import { type Incident, readIncidents } from '../catalog/incidents.ts';
import { modelList } from '../catalog/model-record.ts';
import { formatDecimal, PICO_DECIMALS, type Pico } from '../core/money.ts';
import type { IncidentLimits } from '../core/plan.ts';
import { priceAt } from '../core/price-book.ts';
import { clearIncident, incidentRecord, setIncident } from '../operations/incidents.ts';
import { addCommand, type Output, type Perform, table } from './command.ts';
import type { Context } from './context.ts';
import { changeOf } from './open-operations.ts';
import { parseCount } from './parse.ts';

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

async function listModels(context: Context): Promise<Output> {
  const catalog = context.catalog();
  const incidentOf = await readIncidents((await context.openStore()).database);
  const price = (rate: Pico): string => formatDecimal(rate, PICO_DECIMALS);
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
    json: modelList(catalog, {}, incidentOf, nowMs),
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

async function limitModel(context: Context, options: LimitOptions, name = ''): Promise<Output> {
  const change = await changeOf(context);
  if (options.clear === true) {
    const { model, cleared } = await clearIncident(change, context.catalog, name);
    const words = cleared ? "has its plan's limits again." : 'had no lower limits.';
    return { json: { cleared }, text: `${model} ${words}` };
  }
  const requestsPerMinute = parseCount(options.requestsPerMinute, '--requests-per-minute');
  const tokensPerMinute = parseCount(options.tokensPerMinute, '--tokens-per-minute');
  const concurrentRequests = parseCount(options.concurrentRequests, '--concurrent-requests');
  const limits = {
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
    ...(tokensPerMinute === undefined ? {} : { tokensPerMinute }),
    ...(concurrentRequests === undefined ? {} : { concurrentRequests }),
  };
  const incident = await setIncident(change, context.catalog(), name, limits, options.reason);
  return {
    json: { incident: incidentRecord(incident) },
    text: `${incident.model} is limited to ${incidentWords(incident)} where the plan allows more.`,
  };
}
