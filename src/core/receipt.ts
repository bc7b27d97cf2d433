// Receipts: the account's record of each request and each other movement of its balance, as one
// line of JSON that contains the hash of the previous line. The ledger writes them in the
// transaction of the movement; `receipt-chain.ts` verifies them. A version of the format never
// changes.

import { isoTime } from './calendar.ts';
import { BASES, OUTCOMES, type Outcome, type Usage } from './generation.ts';
import {
  formatDecimal,
  formatTokens,
  MICRO_DECIMALS,
  type Micro,
  micro,
  negate,
  parseDecimal,
  type UsdRate,
  usdRate,
} from './money.ts';
import type { Price } from './price.ts';
import { priceTexts, readPrice } from './price-terms.ts';
import { detailMembers, readDetails } from './usage-details.ts';

/** The `previous` of an account's first receipt. */
export const NO_PREVIOUS_RECEIPT = '0'.repeat(64);

/** The position of a receipt in its account's chain. */
export type ReceiptLink = {
  readonly accountId: string;
  /** 1, 2, 3, … within the account, without gaps. */
  readonly sequence: number;
  /** SHA-256 of the previous body, in lower-case hex. */
  readonly previous: string;
  /** The balance after this movement, holds included: the running sum of all receipts. */
  readonly posted: Micro;
  /** The same without the holds of other requests. */
  readonly available: Micro;
};

export type RequestFacts = {
  readonly kind: 'request';
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly model: string;
  /** Null if no model answered. */
  readonly modelServed: string | null;
  readonly outcome: Outcome;
  readonly usage: Usage;
  readonly price: Price;
  /** The serving model's price if it differs; the lower of both was charged. */
  readonly priceServed: Price | null;
  /** The total reserved when the request ended. */
  readonly held: Micro;
  readonly charged: Micro;
  readonly debited: Micro;
  /** The part of the charge that the account could not pay. */
  readonly loss: Micro;
  readonly usdPerMillion: UsdRate;
};

export type RequestReceipt = ReceiptLink & RequestFacts;

export const MOVEMENT_KINDS = ['credit', 'grant', 'redemption', 'adjustment'] as const;

export type MovementFacts = {
  readonly kind: (typeof MOVEMENT_KINDS)[number];
  readonly transferId: string;
  readonly at: number;
  /** Negative only for an adjustment. */
  readonly amount: Micro;
};

export type MovementReceipt = ReceiptLink & MovementFacts;

export type AccountReceipt = RequestReceipt | MovementReceipt;

/** The change of the balance by a movement. */
export function movedBy(
  receipt: Pick<RequestReceipt, 'kind' | 'debited'> | Pick<MovementReceipt, 'kind' | 'amount'>,
): Micro {
  return receipt.kind === 'request' ? negate(receipt.debited) : receipt.amount;
}

/**
 * The receipt as text. The order of the members is fixed, because the hash covers exactly these
 * characters. Amounts and prices are decimals of service tokens.
 */
export function receiptBody(receipt: AccountReceipt): string {
  return linkedBody(receipt, receipt);
}

/** The same for a receipt in its two parts. */
export function linkedBody(link: ReceiptLink, facts: RequestFacts | MovementFacts): string {
  const { accountId, sequence, previous, posted, available } = link;
  const details = facts.kind === 'request' ? detailMembers(facts.usage) : '';
  return (
    `{"version":${versionOf(facts, details)},"account":${quoteName(accountId)},` +
    `"sequence":${sequence},"previous":"${previous}",` +
    (facts.kind === 'request' ? requestMembers(facts, details) : movementMembers(facts)) +
    `,"balance":"${formatTokens(posted)}","available":"${formatTokens(available)}"}`
  );
}

/**
 * 2 with members that only some usage and some prices have. A receipt without them is of version 1,
 * so each receipt has only one form.
 */
function versionOf(facts: RequestFacts | MovementFacts, details: string): 1 | 2 {
  if (facts.kind !== 'request') return 1;
  const { price, priceServed } = facts;
  const terms = price.terms ?? priceServed?.terms ?? null;
  return terms === null && details === '' ? 1 : 2;
}

function requestMembers(receipt: RequestFacts, details: string): string {
  const { modelServed, usage, priceServed } = receipt;
  return (
    `"kind":"request","id":${quote(receipt.requestId)},` +
    `"started_at":"${isoTime(receipt.startedAt)}","ended_at":"${isoTime(receipt.endedAt)}",` +
    `"model":${quoteName(receipt.model)},` +
    `"model_served":${modelServed === null ? 'null' : quoteName(modelServed)},` +
    `"outcome":"${receipt.outcome}","usage":{"input_tokens":${usage.inputTokens},` +
    `"cached_input_tokens":${usage.cachedInputTokens},` +
    `"cache_write_tokens":${usage.cacheWriteTokens},"output_tokens":${usage.outputTokens},` +
    `"reasoning_tokens":${usage.reasoningTokens},"basis":"${usage.basis}"${details}},` +
    `"price":${priceMembers(receipt.price)},` +
    `"price_served":${priceServed === null ? 'null' : priceMembers(priceServed)},` +
    `"held":"${formatTokens(receipt.held)}","charged":"${formatTokens(receipt.charged)}",` +
    `"debited":"${formatTokens(receipt.debited)}","loss":"${formatTokens(receipt.loss)}",` +
    `"usd_per_million":"${formatDecimal(receipt.usdPerMillion, MICRO_DECIMALS)}"`
  );
}

function movementMembers({ kind, transferId, at, amount }: MovementFacts): string {
  return `"kind":"${kind}","id":${quote(transferId)},"at":"${isoTime(at)}","amount":"${formatTokens(amount)}"`;
}

/** Caches the text of prices: they are immutable, and most receipts name the same few. */
const knownPrices = new WeakMap<Price, string>();

function priceMembers(price: Price): string {
  return knownPrices.getOrInsertComputed(price, (each) => JSON.stringify(priceTexts(each)));
}

function quote(text: string): string {
  return JSON.stringify(text);
}

/** Caches the text of accounts and models, which repeat like prices. */
const knownNames = new Map<string, string>();
const NAMES_MAX = 1_000;

function quoteName(name: string): string {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  if (knownNames.size === NAMES_MAX) knownNames.clear();
  const quoted = quote(name);
  knownNames.set(name, quoted);
  return quoted;
}

/**
 * Parses a body. `undefined` unless it is byte for byte what `receiptBody` would write, so that
 * each receipt has only one valid form.
 */
export function readReceipt(body: string): AccountReceipt | undefined {
  try {
    const value = JSON.parse(body);
    const receipt = receiptOf(value);
    return receiptBody(receipt) === body ? receipt : undefined;
  } catch {
    return undefined;
  }
}

/** A wrong type throws here, or changes the text when the receipt is written again. */
function receiptOf(value: Members): AccountReceipt {
  const link = {
    accountId: text(value, 'account'),
    sequence: whole(value, 'sequence'),
    previous: text(value, 'previous'),
    posted: amount(value, 'balance'),
    available: amount(value, 'available'),
  };
  if (value['kind'] === 'request') return { ...link, kind: 'request', ...requestOf(value) };
  const kind = MOVEMENT_KINDS.find((known) => known === value['kind']);
  if (kind === undefined) throw new TypeError('unknown kind');
  const at = Date.parse(text(value, 'at'));
  return { ...link, kind, transferId: text(value, 'id'), at, amount: amount(value, 'amount') };
}

function requestOf(value: Members): Omit<RequestFacts, 'kind'> {
  const served = value['price_served'];
  return {
    requestId: text(value, 'id'),
    startedAt: Date.parse(text(value, 'started_at')),
    endedAt: Date.parse(text(value, 'ended_at')),
    model: text(value, 'model'),
    modelServed: value['model_served'] === null ? null : text(value, 'model_served'),
    outcome: oneOf(OUTCOMES, value['outcome']),
    usage: usageOf(value['usage'] as Members),
    price: readPrice(value['price'] as Members),
    priceServed: served === null ? null : readPrice(served as Members),
    held: amount(value, 'held'),
    charged: amount(value, 'charged'),
    debited: amount(value, 'debited'),
    loss: amount(value, 'loss'),
    usdPerMillion: usdRate(decimal(value, 'usd_per_million', MICRO_DECIMALS)),
  };
}

type Members = { readonly [name: string]: unknown };

function usageOf(value: Members): Usage {
  return {
    inputTokens: whole(value, 'input_tokens'),
    cachedInputTokens: whole(value, 'cached_input_tokens'),
    cacheWriteTokens: whole(value, 'cache_write_tokens'),
    outputTokens: whole(value, 'output_tokens'),
    reasoningTokens: whole(value, 'reasoning_tokens'),
    basis: oneOf(BASES, value['basis']),
    ...readDetails(value),
  };
}

function oneOf<T extends string>(known: readonly T[], value: unknown): T {
  const found = known.find((name) => name === value);
  if (found === undefined) throw new TypeError('unknown name');
  return found;
}

function text(members: Members, name: string): string {
  const value = members[name];
  if (typeof value !== 'string') throw new TypeError('not a text');
  return value;
}

function whole(members: Members, name: string): number {
  const value = members[name];
  if (!Number.isSafeInteger(value)) throw new TypeError('not a whole number');
  return Number(value);
}

function amount(members: Members, name: string): Micro {
  return micro(decimal(members, name, MICRO_DECIMALS));
}

function decimal(members: Members, name: string, decimals: number): bigint {
  const value = parseDecimal(text(members, name), decimals);
  if (value === undefined) throw new TypeError('not a decimal');
  return value;
}
