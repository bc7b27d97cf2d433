// Checks a chain of receipts, or a slice of one: order, hashes and arithmetic, each link against
// the one before. Called by the command line, which may have nothing but an exported file, and by
// the audit of the books. Keeps one link in memory, however long the chain is.

import { add, formatTokens, type Micro, subtract, ZERO } from './money.ts';
import { charge, chargeServed } from './price.ts';
import {
  type AccountReceipt,
  movedBy,
  NO_PREVIOUS_RECEIPT,
  type RequestReceipt,
  readReceipt,
} from './receipt.ts';

/**
 * unreadable     no receipt, or one that is written in another way than receipts are
 * account        the receipt of another account
 * missing        receipts between the one before and this one are not there
 * order          a receipt that comes too late, again, or with another number than its own
 * changed        the hash of the receipt `sequence` is not what the next one names
 * beginning      the first of all receipts names one before it
 * charge         the charge is not what tokens and prices make
 * debit          what was debited and what was lost are not the charge
 * balance        the balance does not follow from the one before
 * end            the chain does not end where it says that it does
 */
export type ChainProblem = {
  readonly kind:
    | 'unreadable'
    | 'account'
    | 'missing'
    | 'order'
    | 'changed'
    | 'beginning'
    | 'charge'
    | 'debit'
    | 'balance'
    | 'end';
  /** Whose receipt is wrong; where that cannot be read, the number that it ought to have. */
  readonly sequence: number;
  /** One sentence for people, with the values that disagree. */
  readonly detail: string;
};

export type ChainTotals = {
  readonly accountId: string | undefined;
  /** Of the first and the last receipt; 0 where there is none. */
  readonly first: number;
  readonly last: number;
  readonly requests: number;
  readonly movements: number;
  /** By requests. */
  readonly debited: Micro;
  readonly loss: Micro;
  /** By everything else, adjustments downwards included. */
  readonly credited: Micro;
  /** Taken as given where the slice begins in the middle of a chain, like its first `previous`. */
  readonly openingBalance: Micro;
  readonly closingBalance: Micro;
  /** The `previous` of the first receipt. */
  readonly previous: string;
  /** The hash of the last body, which the next receipt of the account has to name. */
  readonly head: string;
};

export type ChainCheck = {
  /** Takes the next body and answers what is wrong, with it or with the one before. */
  readonly take: (body: string) => readonly ChainProblem[];
  /** The same where it is known what the body says. */
  readonly takeReceipt: (receipt: AccountReceipt, body: string) => readonly ChainProblem[];
  readonly totals: () => ChainTotals;
};

/** `sha256` answers in lower-case hexadecimal. */
export function createChainCheck(sha256: (body: string) => string): ChainCheck {
  let before: AccountReceipt | undefined;
  let totals: ChainTotals = {
    accountId: undefined,
    first: 0,
    last: 0,
    requests: 0,
    movements: 0,
    debited: ZERO,
    loss: ZERO,
    credited: ZERO,
    openingBalance: ZERO,
    closingBalance: ZERO,
    previous: NO_PREVIOUS_RECEIPT,
    head: NO_PREVIOUS_RECEIPT,
  };

  function take(body: string): readonly ChainProblem[] {
    const receipt = readReceipt(body);
    if (receipt !== undefined) return takeReceipt(receipt, body);
    return [problem('unreadable', totals.last + 1, 'This is no receipt.')];
  }

  function takeReceipt(receipt: AccountReceipt, body: string): readonly ChainProblem[] {
    const sequence = totals.last + 1;
    if (before !== undefined && receipt.accountId !== before.accountId) {
      const detail = 'This receipt belongs to another account.';
      return [problem('account', sequence, detail)];
    }
    const place = before === undefined ? placeOfFirst(receipt) : placeAfter(before, receipt);
    if (place.kind === 'misplaced') return place.problems;
    const problems = [...place.problems, ...arithmetic(receipt)];
    if (before !== undefined && place.kind === 'next') {
      problems.push(...continuity(before, receipt, sequence));
    }
    accept(receipt, place.kind === 'next' ? sequence : receipt.sequence, body);
    return problems;
  }

  /** The hash says more than the number: a receipt that names the one before is the next one. */
  function placeAfter(last: AccountReceipt, receipt: AccountReceipt): Place {
    const expected = last.sequence + 1;
    if (receipt.previous === totals.head) {
      if (receipt.sequence === expected) return { kind: 'next', problems: [] };
      const detail = `This receipt calls itself ${receipt.sequence}.`;
      const problems = [problem('order', expected, detail)];
      return { kind: 'next', problems };
    }
    if (receipt.sequence === expected) {
      const detail = `Its hash is not the one that receipt ${expected} names.`;
      const problems = [problem('changed', last.sequence, detail)];
      return { kind: 'next', problems };
    }
    if (receipt.sequence < expected) {
      const detail = `This receipt comes after receipt ${last.sequence}.`;
      return { kind: 'misplaced', problems: [problem('order', receipt.sequence, detail)] };
    }
    const detail = `The receipts from ${expected} to ${receipt.sequence - 1} are not there.`;
    return { kind: 'jump', problems: [problem('missing', expected, detail)] };
  }

  function accept(receipt: AccountReceipt, sequence: number, body: string): void {
    if (before === undefined) {
      const { accountId, posted, previous } = receipt;
      totals = {
        ...totals,
        accountId,
        first: sequence,
        previous,
        openingBalance: subtract(posted, movedBy(receipt)),
      };
    }
    before = sequence === receipt.sequence ? receipt : { ...receipt, sequence };
    const isRequest = receipt.kind === 'request';
    totals = {
      ...totals,
      last: sequence,
      requests: totals.requests + (isRequest ? 1 : 0),
      movements: totals.movements + (isRequest ? 0 : 1),
      debited: add(totals.debited, isRequest ? receipt.debited : ZERO),
      loss: add(totals.loss, isRequest ? receipt.loss : ZERO),
      credited: add(totals.credited, isRequest ? ZERO : receipt.amount),
      closingBalance: receipt.posted,
      head: sha256(body),
    };
  }

  return { take, takeReceipt, totals: () => totals };
}

/**
 * The last line of an exported chain. It says where the chain ends and what its last hash is, so that
 * nothing can be cut off and the last receipt cannot be changed unnoticed.
 */
export function chainEnd({ accountId, first, last, head }: ChainTotals): string {
  return JSON.stringify({ end: last, account: accountId, first, head });
}

/** All problems of a chain that is at hand, and what it adds up to. */
export function checkChain(
  bodies: Iterable<string>,
  sha256: (body: string) => string,
): { readonly problems: readonly ChainProblem[]; readonly totals: ChainTotals } {
  const check = createChainCheck(sha256);
  const problems: ChainProblem[] = [];
  for (const body of bodies) problems.push(...check.take(body));
  return { problems, totals: check.totals() };
}

/** Whether a receipt follows the one before, stands somewhere further on, or is passed over. */
type Place = {
  readonly kind: 'next' | 'jump' | 'misplaced';
  readonly problems: readonly ChainProblem[];
};

function problem(kind: ChainProblem['kind'], sequence: number, detail: string): ChainProblem {
  return { kind, sequence, detail };
}

function placeOfFirst({ sequence, previous }: AccountReceipt): Place {
  const begins = previous === NO_PREVIOUS_RECEIPT;
  if (begins === (sequence === 1)) return { kind: 'jump', problems: [] };
  const detail = begins
    ? 'This receipt names none before it.'
    : 'This receipt names one before it.';
  return { kind: 'jump', problems: [problem('beginning', sequence, detail)] };
}

function arithmetic(receipt: AccountReceipt): ChainProblem[] {
  const { sequence, posted, available } = receipt;
  const problems: ChainProblem[] = [];
  if (available < 0n || available > posted) {
    const detail = `${formatTokens(available)} of ${formatTokens(posted)} cannot be available.`;
    problems.push(problem('balance', sequence, detail));
  }
  if (receipt.kind !== 'request') return problems;
  const { charged, debited, loss } = receipt;
  if (!chargeIsRight(receipt)) {
    const detail = `The tokens cost ${formatTokens(costOf(receipt))}, and ${formatTokens(charged)} was charged.`;
    problems.push(problem('charge', sequence, detail));
  }
  if (debited < 0n || loss < 0n || debited + loss !== charged) {
    const detail = `${formatTokens(debited)} debited and ${formatTokens(loss)} lost are not ${formatTokens(charged)}.`;
    problems.push(problem('debit', sequence, detail));
  }
  return problems;
}

/** What the tokens cost: at the lower of both prices, and nothing where nobody answered. */
function costOf({ modelServed, usage, price, priceServed }: RequestReceipt): Micro {
  if (modelServed === null) return ZERO;
  return priceServed === null ? charge(usage, price) : chargeServed(usage, price, priceServed);
}

/**
 * The cost to the unit. What was not completed may have been counted by the gateway alone, and such
 * a count never takes more than what was held.
 */
function chargeIsRight(receipt: RequestReceipt): boolean {
  const { charged, held, outcome } = receipt;
  const cost = costOf(receipt);
  return charged === cost || (outcome !== 'completed' && cost > held && charged === held);
}

function continuity(
  before: AccountReceipt,
  receipt: AccountReceipt,
  sequence: number,
): ChainProblem[] {
  const expected = add(before.posted, movedBy(receipt));
  if (receipt.posted === expected) return [];
  const detail = `The balance would be ${formatTokens(expected)}, and is ${formatTokens(receipt.posted)}.`;
  return [problem('balance', sequence, detail)];
}
