// `tollgate key edit|pause|resume`: bounds keys without replacing them. Its options are those of
// `tollgate key create`, too.

import { type Command, Option } from 'commander';
import { BUDGET_PERIODS, type BudgetPeriod } from '../core/key-budget.ts';
import type { ApiKey } from '../identity/key-record.ts';
import type { OperationDependencies } from '../operations/dependencies.ts';
import {
  type BoundsEdit,
  type BudgetEdit,
  boundKeyRecord,
  editKey,
} from '../operations/key-bounds.ts';
import { addCommand, OPERATOR, type Output, type Perform } from './command.ts';
import { confirmed } from './confirmation.ts';
import type { Context } from './context.ts';
import { openParts } from './open-operations.ts';
import { parseExpiry } from './parse.ts';

export type BoundsOptions = {
  readonly budgetTotal?: string;
  readonly budgetDay?: string;
  readonly budgetMonth?: string;
  readonly models?: string;
  readonly networks?: string;
  readonly runawayGuard?: string;
};

/** Removes a bound. */
const NONE = 'none';

export function withBounds(command: Command): Command {
  return command
    .option('--budget-total <amount>', `service tokens that it may spend; ${NONE}: no limit`)
    .option('--budget-day <amount>', 'the same for each UTC day')
    .option('--budget-month <amount>', 'the same for each UTC month')
    .option('--models <list>', `the models that it may use, such as swift-1,deep-1; ${NONE}: all`)
    .option('--networks <list>', `where it may be used, such as 192.0.2.0/24; ${NONE}: anywhere`)
    .addOption(
      new Option('--runaway-guard <on|off>', 'off: the runaway guard never pauses it').choices([
        'on',
        'off',
      ]),
    );
}

export function addKeyEditCommands(group: Command, perform: Perform): void {
  perform<EditOptions>(
    withBounds(addCommand(group, 'edit <key>', 'change what a key may do and spend'))
      .option('--name <text>', 'a name of at most 100 characters')
      .option('--expires <date>', `when it expires, such as 2027-01-31; ${NONE}: never`),
    edit,
  );
  perform(addCommand(group, 'pause <key>', 'refuse its requests until you resume it'), pause);
  perform(addCommand(group, 'resume <key>', 'serve the requests of a paused key again'), resume);
}

type EditOptions = BoundsOptions & { readonly name?: string; readonly expires?: string };

async function edit(context: Context, options: EditOptions, name = ''): Promise<Output> {
  const parts = await openParts(context);
  const { id } = await parts.keys.find(name);
  const { expires } = options;
  const changes: BoundsEdit = {
    ...readBounds(options),
    ...(options.name !== undefined && { name: options.name }),
    ...(expires !== undefined && { expiresAt: expires === NONE ? null : parseExpiry(expires) }),
  };
  const row = await editKey(parts, id, changes, OPERATOR);
  return changed(context, parts, row, 'is changed');
}

async function pause(context: Context, _options: object, name = ''): Promise<Output> {
  const parts = await openParts(context);
  const { id } = await parts.keys.find(name);
  return changed(context, parts, await parts.keys.pause(id, 'operator', OPERATOR), 'is paused');
}

async function resume(context: Context, _options: object, name = ''): Promise<Output> {
  const parts = await openParts(context);
  const { id } = await parts.keys.find(name);
  const row = await parts.keys.resume(id, 'operator', OPERATOR);
  return changed(context, parts, row, 'is not paused');
}

async function changed(
  context: Context,
  parts: OperationDependencies,
  row: ApiKey,
  done: string,
): Promise<Output> {
  const nodes = await confirmed(context);
  const record = await boundKeyRecord(parts, row);
  return {
    json: { api_key: record, nodes: nodes.json },
    text: [`Key ${row.id} (${row.masked}) ${done}. ${nodes.text}`, ...boundsText(record)].join(
      '\n',
    ),
  };
}

export function readBounds(options: BoundsOptions): BoundsEdit {
  const given: Readonly<Record<BudgetPeriod, string | undefined>> = {
    total: options.budgetTotal,
    day: options.budgetDay,
    month: options.budgetMonth,
  };
  const budget: BudgetEdit = Object.fromEntries(
    Object.entries(given)
      .filter(([, amount]) => amount !== undefined)
      .map(([period, amount]) => [period, amount === NONE ? null : amount]),
  );
  return {
    ...(Object.keys(budget).length > 0 && { budget }),
    ...(options.models !== undefined && { models: readList(options.models) }),
    ...(options.networks !== undefined && { networks: readList(options.networks) }),
    ...(options.runawayGuard !== undefined && { isGuarded: options.runawayGuard === 'on' }),
  };
}

function readList(text: string): readonly string[] | null {
  if (text === NONE) return null;
  return text.split(',').map((each) => each.trim());
}

type Bound = Awaited<ReturnType<typeof boundKeyRecord>>;

/** One line for each bound. */
export function boundsText({ budget, models, networks, ...key }: Bound): readonly string[] {
  const budgets = BUDGET_PERIODS.flatMap((period) => {
    const limit = budget?.[period] ?? null;
    return limit === null ? [] : [`Budget (${period}): ${limit.spent} of ${limit.limit} spent`];
  });
  return [
    ...budgets,
    ...(models === null ? [] : [`Models: ${models.join(', ')}`]),
    ...(networks === null ? [] : [`Networks: ${networks.join(', ')}`]),
    ...(key.runaway_guard ? [] : ['Runaway guard: off']),
    ...(key.paused_at === null ? [] : [`Paused since ${key.paused_at} (${key.paused_reason})`]),
  ];
}
