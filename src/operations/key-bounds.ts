// Sets what a key may do and spend: name, expiry, models and networks in the row of the key, its
// budget in the ledger. Called by the dashboard, the console and `tollgate key`.

import { isoTime, nextUtcDay, nextUtcMonth } from '../core/calendar.ts';
import { createId } from '../core/id.ts';
import {
  BUDGET_PERIODS,
  type BudgetLimits,
  type BudgetPeriod,
  spentIn,
} from '../core/key-budget.ts';
import {
  formatTokens,
  formatUsd,
  larger,
  type Micro,
  subtract,
  type UsdRate,
  ZERO,
} from '../core/money.ts';
import { type Actor, authorOf } from '../identity/audit.ts';
import { normaliseModels } from '../identity/key-bounds.ts';
import type { KeyEdit } from '../identity/key-edits.ts';
import { type ApiKey, keyRecord } from '../identity/key-record.ts';
import { type KeyBudget, readKeyBudgets } from '../ledger/budget-list.ts';
import { parseAmount } from './amounts.ts';
import type { OperationDependencies } from './dependencies.ts';
import { OperationError } from './error.ts';

/** Amounts in service tokens; null removes a limit, an absent one stays as it is. */
export type BudgetEdit = Readonly<Partial<Record<BudgetPeriod, string | null | undefined>>>;

export type BoundsEdit = Omit<KeyEdit, 'models' | 'isBudgeted'> & {
  /** Slugs or aliases; null: every model of the plan. */
  readonly models?: readonly string[] | null | undefined;
  readonly budget?: BudgetEdit | null | undefined;
};

type Parts = Pick<
  OperationDependencies,
  'keys' | 'ledger' | 'database' | 'catalog' | 'clock' | 'randomBytes'
>;

type NewKey = BoundsEdit & { readonly accountId: string; readonly text?: string | undefined };

/** The budget is set before the caller gets the text of the key, so no request precedes it. */
export async function createBoundKey(
  parts: Parts,
  { models, budget, ...facts }: NewKey,
  actor: Actor,
) {
  const limits = budget === undefined || budget === null ? undefined : parseBudget(budget);
  const stored = normaliseModels(models ?? null, parts.catalog().resolve);
  const { expiresAt, ...rest } = facts;
  const expiry = expiresAt === null ? {} : { expiresAt };
  const made = await parts.keys.create({ ...rest, ...expiry, models: stored }, actor);
  if (limits !== undefined) await setBudget(parts, made.row, limits, actor);
  return made;
}

/** Checks all of the edit before it changes anything. Repeating it changes nothing. */
export async function editKey(
  parts: Parts,
  id: string,
  { models, budget, ...edit }: BoundsEdit,
  actor: Actor,
): Promise<ApiKey> {
  const limits = budget === undefined ? {} : parseBudget(budget ?? ALL_REMOVED);
  const { resolve } = parts.catalog();
  const stored = models === undefined ? {} : { models: normaliseModels(models, resolve) };
  const isBudgeted = Object.keys(limits).length > 0;
  const row = await parts.keys.edit(id, { ...edit, ...stored, isBudgeted }, actor);
  if (isBudgeted) await setBudget(parts, row, limits, actor);
  return row;
}

const ALL_REMOVED: BudgetEdit = { total: null, day: null, month: null };

/** Throws `invalid_budget`. A budget of nothing is one, too: it refuses every paid request. */
function parseBudget(budget: BudgetEdit): Partial<BudgetLimits> {
  const limits: Partial<Record<BudgetPeriod, Micro | null>> = {};
  for (const period of BUDGET_PERIODS) {
    const text = budget[period];
    if (text === undefined) continue;
    limits[period] = text === null ? null : amountOf(text);
  }
  return limits;
}

function amountOf(text: string): Micro {
  if (/^0+(\.0+)?$/.test(text.trim())) return ZERO;
  try {
    return parseAmount(text);
  } catch {
    throw new OperationError(
      'invalid_budget',
      'A budget is an amount of service tokens, such as 5000000 or 0.5, with at most 6 decimals.',
    );
  }
}

async function setBudget(
  { ledger, clock, randomBytes }: Parts,
  row: ApiKey,
  limits: Partial<BudgetLimits>,
  actor: Actor,
): Promise<void> {
  const { accountId, id } = row;
  const family = row.family ?? id;
  const by = authorOf(actor, createId('op_', randomBytes));
  await ledger.budget({ accountId, family, keyId: id, limits, by, nowMs: clock() });
}

type RecordParts = Pick<Parts, 'database' | 'catalog' | 'clock'>;

/** Reads the budgets of the given keys at once, for their records. */
export async function boundKeyRecords(
  { database, catalog, clock }: RecordParts,
  keys: readonly ApiKey[],
  currentKeyId?: string,
) {
  const nowMs = clock();
  const { usdPerMillion } = catalog();
  const familyOf = ({ id, family }: ApiKey): string => family ?? id;
  const budgets = await readKeyBudgets(database, [...new Set(keys.map(familyOf))]);
  return (row: ApiKey) => {
    const found = budgets.get(familyOf(row));
    /** Null for a key without a limit. */
    const budget = found === undefined ? null : budgetRecord(found, usdPerMillion, nowMs);
    return { ...keyRecord(row, nowMs, currentKeyId), budget };
  };
}

export async function boundKeyRecord(parts: RecordParts, row: ApiKey) {
  return (await boundKeyRecords(parts, [row]))(row);
}

function budgetRecord(
  { limits, spend, reserved }: KeyBudget,
  usdPerMillion: UsdRate,
  nowMs: number,
) {
  const spent = spentIn(spend, nowMs);
  const renewals = { total: null, day: nextUtcDay(nowMs), month: nextUtcMonth(nowMs) };
  const of = (period: BudgetPeriod) => {
    const limit = limits[period];
    if (limit === null) return null;
    const renewsAt = renewals[period];
    return {
      limit: formatTokens(limit),
      limit_usd: formatUsd(limit, usdPerMillion),
      spent: formatTokens(spent[period]),
      spent_usd: formatUsd(spent[period], usdPerMillion),
      remaining: formatTokens(larger(ZERO, subtract(limit, spent[period]))),
      /** Null for the total, which does not renew. */
      renews_at: renewsAt === null ? null : isoTime(renewsAt),
    } as const;
  };
  const record = { total: of('total'), day: of('day'), month: of('month') };
  if (BUDGET_PERIODS.every((period) => record[period] === null)) return null;
  // What running requests reserve is in service tokens, too.
  return { ...record, reserved: formatTokens(reserved) } as const;
}
