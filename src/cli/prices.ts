// `tollgate prices`: the price book of every model, and what the prices of another catalog would
// have made of requests that are in the books.

import type { Command } from 'commander';
import { loadCatalog } from '../catalog/catalog.ts';
import { findCatalog } from '../catalog/source.ts';
import { isoTime, utcMonth } from '../core/calendar.ts';
import type { Catalog, Model } from '../core/model.ts';
import { eachUsedRequest } from '../ledger/usage-records.ts';
import {
  candidatePrices,
  laterModels,
  preview,
  previewRecord,
} from '../operations/price-preview.ts';
import { priceSheet } from '../operations/price-sheet.ts';
import {
  addCommand,
  addGroup,
  CommandError,
  type Output,
  type Perform,
  shortTime,
} from './command.ts';
import type { Context } from './context.ts';
import { previewText } from './price-preview.ts';
import { priceSheetText } from './price-sheet.ts';
import { parseTime, readSpan } from './span.ts';

export function addPriceCommands(program: Command, perform: Perform): void {
  const prices = addGroup(program, 'prices', 'show prices, and what other prices would mean');
  perform<ShowOptions>(
    addCommand(prices, 'show', 'show every price of the catalog, from when and at which hours')
      .option('--model <model>', 'only this model')
      .option('--at <time>', 'mark what is in force then (default: now)'),
    showPrices,
  );
  perform<PreviewOptions>(
    addCommand(prices, 'preview', 'show what a catalog would have made of past requests')
      .requiredOption('--catalog <file>', 'the catalog to try; the server does not see it')
      .option('--month <month>', 'requests of a month such as 2026-10 (default: the last one)')
      .option('--from <time>', 'requests from a day or an instant on')
      .option('--to <time>', 'requests before a day or an instant')
      .option('--account <account>', 'only the requests of this account')
      .option('--prices-at <time>', 'as if the prices that begin by then had been there always'),
    previewPrices,
  );
}

type ShowOptions = { readonly model?: string; readonly at?: string };

function showPrices(context: Context, options: ShowOptions): Output {
  const catalog = context.catalog();
  const atMs = parseTime(options.at, '--at') ?? context.clock();
  const models = options.model === undefined ? catalog.models : [findModel(catalog, options.model)];
  return {
    json: priceSheet(catalog, models, atMs),
    text: priceSheetText(catalog, models, atMs),
  };
}

type PreviewOptions = {
  readonly catalog: string;
  readonly month?: string;
  readonly from?: string;
  readonly to?: string;
  readonly account?: string;
  readonly pricesAt?: string;
};

function previewPrices(context: Context, options: PreviewOptions): Output {
  const candidate = loadCandidate(context, options.catalog);
  const span = readSpan(options) ?? utcMonth(utcMonth(context.clock()).fromMs - 1);
  const pricesAtMs = parseTime(options.pricesAt, '--prices-at');
  const { database, accounts } = context.openStore();
  const accountId = options.account === undefined ? undefined : accounts.find(options.account).id;
  const requests = eachUsedRequest(database, { ...span, accountId });
  const result = preview(requests, candidatePrices(candidate, pricesAtMs));
  const later = pricesAtMs === undefined ? laterModels(candidate, span.untilMs) : [];
  return {
    json: {
      from: isoTime(span.fromMs),
      to: isoTime(span.untilMs),
      account_id: accountId ?? null,
      prices_at: pricesAtMs === undefined ? null : isoTime(pricesAtMs),
      ...previewRecord(result),
      later_prices: later,
    },
    text: [
      `Requests from ${shortTime(span.fromMs)} to ${shortTime(span.untilMs)}, UTC; amounts are in service tokens.`,
      previewText(result),
      ...later.map(
        (slug) =>
          `${slug} has prices that begin after these requests; --prices-at applies them all the same.`,
      ),
    ].join('\n'),
  };
}

/** Another file in the place of the configured one, with the same environment. */
function loadCandidate(context: Context, path: string): Catalog {
  const { directory } = context;
  const environment = context.environment().variables;
  const found = findCatalog({ path, environment, directory, namedBy: '--catalog' });
  return loadCatalog({ ...found, nowMs: context.clock() });
}

function findModel(catalog: Catalog, name: string): Model {
  const found = catalog.resolve(name);
  if (found !== undefined) return found;
  throw new CommandError(
    'model_not_found',
    'There is no model with this slug or alias; tollgate models lists them.',
  );
}
