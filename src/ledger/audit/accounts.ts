// Audits accounts: the receipts of each form an unbroken chain, every row matches the facts that
// its receipt hashed, and the balance is their sum. Where months are archived, the chain and the sum
// continue from the last anchor.
//
// A balance names its last receipt, and rows never change. So one read of the balance fixes which
// rows belong to it; they are then read page by page while later ones are written. A pass that
// leaves rows out continues from the receipt before the rows that it reads: an earlier pass read it,
// and the hashes behind it contain its own.

import { hash } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { add, formatTokens, type Micro, ZERO } from '../../core/money.ts';
import { movedBy, NO_PREVIOUS_RECEIPT, receiptBody } from '../../core/receipt.ts';
import { type ChainStart, createChainCheck } from '../../core/receipt-chain.ts';
import type { Database } from '../../store/contract.ts';
import { ReceiptReader } from '../booked-receipts.ts';
import { hashText } from '../receipts.ts';
import { anchorDifferences } from './anchors.ts';
import type { AuditScope, Difference } from './difference.ts';
import { accountPages } from './pages.ts';
import { type AuditPass, EVERYTHING, type NumberRange, passOf, rangesOf } from './pass.ts';

const RECEIPTS_PAGE = 500;

/** The balance of an account; all null where there is none. */
type Row = {
  readonly accountId: string;
  readonly posted: Micro | null;
  readonly held: Micro;
  readonly open: Micro;
  readonly sequence: bigint;
  readonly head: Uint8Array | null;
  readonly receipted: Micro;
  /** The numbers of the account's last receipts, and of its last ones up to the mark of the pass. */
  readonly request: bigint;
  readonly movement: bigint;
  readonly oldRequest: bigint;
  readonly oldMovement: bigint;
  /** Of the last anchor: all null where nothing is archived. */
  readonly archived: bigint | null;
  readonly anchorHead: Uint8Array | null;
  readonly anchorPosted: Micro | null;
};

export async function* accountDifferences(
  database: Database,
  scope: AuditScope,
): AsyncGenerator<Difference> {
  const { pass = EVERYTHING, accountId: only } = scope;
  const receipts = new ReceiptReader(database.db);
  for await (const page of accountPages(database, only)) {
    for (const row of await balancesOf(database, page, pass)) {
      const { accountId } = row;
      if (row.posted === null) {
        yield { kind: 'posted', accountId, subject: accountId, detail: 'it has no balance' };
        continue;
      }
      const own = { ...scope, pass: passOf(pass, accountId) };
      yield* differencesOf(database, receipts, row, own);
    }
  }
}

/**
 * A month may be archived and removed while its rows are read. So the first difference counts only
 * if the anchor is still the one that the reading began with; otherwise the account is read again.
 */
async function* differencesOf(
  database: Database,
  receipts: ReceiptReader,
  row: Row,
  scope: OwnScope,
): AsyncGenerator<Difference> {
  let isChecked = false;
  for await (const difference of allOf(database, receipts, row, scope)) {
    if (!isChecked) {
      const [now] = await balancesOf(database, [row.accountId], scope.pass);
      if (now !== undefined && now.archived !== row.archived) {
        yield* differencesOf(database, receipts, now, scope);
        return;
      }
      isChecked = true;
    }
    yield difference;
  }
}

type OwnScope = AuditScope & { readonly pass: AuditPass };

async function* allOf(
  { db }: Database,
  receipts: ReceiptReader,
  row: Row,
  scope: OwnScope,
): AsyncGenerator<Difference> {
  const after = Number(row.archived ?? 0n);
  const to = Math.max(after, Number(row.request), Number(row.movement));
  const old = Math.max(Number(row.oldRequest), Number(row.oldMovement));
  for (const range of rangesOf(scope.pass, { after, to }, old)) {
    const isFirst = range.after === after;
    if (range.after === range.to && range.to < to) continue;
    await scope.rest?.();
    if (isFirst && row.archived !== null) yield* anchorDifferences(db, row.accountId);
    const start = isFirst ? startOf(row) : await startAt(receipts, row.accountId, range.after);
    const end = yield* chainDifferences(receipts, row.accountId, range, start, scope);
    if (range.to === to) yield* endDifferences(row, to, end);
  }
}

/** The balances of a page of accounts. */
function balancesOf(
  database: Database,
  accountIds: readonly string[],
  pass: AuditPass,
): Promise<Row[]> {
  const first = accountIds[0] ?? '';
  const last = accountIds.at(-1) ?? '';
  const lastOf = (table: 'requests' | 'movements', mark?: number) =>
    sql`coalesce((select t.sequence from ${sql.identifier(table)} t where t.account = b.number
      ${mark === undefined ? sql`` : sql`and t.number <= ${mark}`} order by t.sequence desc limit 1), 0)`;
  return database.rows<Row>(
    sql`select a.id as "accountId", b.posted, b.held, b.sequence, b.head, b.receipted,
        (select coalesce(sum(h.amount), 0) from open_holds h where h.account = b.number) as open,
        ${lastOf('requests')} as request, ${lastOf('movements')} as movement,
        ${lastOf('requests', pass.requests)} as "oldRequest",
        ${lastOf('movements', pass.movements)} as "oldMovement",
        m.last_sequence as archived, m.head as "anchorHead", m.closing as "anchorPosted"
      from accounts a left join balances b on b.account_id = a.id
        left join archived_months m on m.account = b.number and m.first_sequence =
          (select max(first_sequence) from archived_months where account = b.number)
      where a.id between ${first} and ${last} order by a.id`,
  );
}

function* balanceDifferences(row: Row, sum: Micro): Generator<Difference> {
  const { accountId, posted, held, open } = row;
  if (posted !== sum) {
    const detail = `its entries sum to ${formatTokens(sum)}, and ${formatTokens(posted ?? ZERO)} is posted`;
    yield { kind: 'posted', accountId, subject: accountId, detail };
  }
  if (held !== open) {
    const detail = `its open holds sum to ${formatTokens(open)}, and ${formatTokens(held)} is held`;
    yield { kind: 'held', accountId, subject: accountId, detail };
  }
}

/** Where the read receipts of a chain end, and the sum of its requests and movements up to there. */
type ChainStop = { readonly sum: Micro; readonly closing: Micro; readonly head: string };

/** Yields the differences of the receipts of a range, which continue from `start`. */
export async function* chainDifferences(
  receipts: ReceiptReader,
  accountId: string,
  { after: begin, to }: NumberRange,
  start: ChainStart | undefined,
  { rest }: Pick<AuditScope, 'rest'>,
): AsyncGenerator<Difference, ChainStop> {
  let written = start?.head ?? NO_PREVIOUS_RECEIPT;
  // Each text contains the hash that the previous row stores; that hash is verified below.
  const check = createChainCheck(() => written, start);
  let sum = start?.posted ?? ZERO;
  let after = begin;
  while (after < to) {
    const range = { after, before: to + 1, limit: RECEIPTS_PAGE, order: 'oldest first' } as const;
    const page = await receipts.read(accountId, range);
    for (const { receipt, hash: own } of page) {
      written = own;
      sum = add(sum, movedBy(receipt));
      const text = receiptBody(receipt);
      const problems = check.takeReceipt(receipt, text);
      for (const { kind, sequence, detail } of problems) {
        yield wrong(accountId, `receipt ${sequence}: ${kind}. ${detail}`);
      }
      // Without the previous row, the text cannot be reconstructed.
      const isAlone = problems.some(({ kind }) => kind === 'missing' || kind === 'beginning');
      const isAsHashed = hash('sha256', text, 'hex') === own;
      if (isAlone || isAsHashed) continue;
      const detail = 'it says something else than when its receipt was hashed';
      const subject = receipt.kind === 'request' ? receipt.requestId : receipt.transferId;
      yield { kind: 'receipt', accountId, subject, detail };
    }
    after = page.at(-1)?.receipt.sequence ?? to;
    await rest?.();
  }
  return { sum, closing: check.totals().closingBalance, head: written };
}

function wrong(accountId: string, detail: string): Difference {
  return { kind: 'chain', accountId, subject: accountId, detail };
}

/** Where the chain of an account with archived months continues. */
function startOf({ accountId, archived, anchorHead, anchorPosted }: Row): ChainStart | undefined {
  if (archived === null || anchorPosted === null) return undefined;
  const head = hashText(anchorHead);
  return { accountId, sequence: Number(archived), head, posted: anchorPosted };
}

/** Where the chain continues behind a receipt that an earlier pass read; undefined if it is gone. */
async function startAt(
  receipts: ReceiptReader,
  accountId: string,
  sequence: number,
): Promise<ChainStart | undefined> {
  const range = { after: sequence - 1, before: sequence + 1, limit: 1 };
  const [found] = await receipts.read(accountId, { ...range, order: 'oldest first' });
  return found && { accountId, sequence, head: found.hash, posted: found.receipt.posted };
}

function* endDifferences(row: Row, last: number, stop: ChainStop): Generator<Difference> {
  for (const detail of endProblems(row, last, stop)) yield wrong(row.accountId, detail);
  yield* balanceDifferences(row, stop.sum);
}

/** `closing` is the balance after the last receipt, `head` its hash. */
function* endProblems(row: Row, last: number, { closing, head }: ChainStop): Generator<string> {
  const { sequence, posted, receipted } = row;
  const end = `its last receipt leaves ${formatTokens(closing)}, and`;
  if (posted !== closing && last !== 0) yield `${end} ${formatTokens(posted ?? ZERO)} is posted`;
  if (receipted !== closing) {
    yield `${end} the next one would begin with ${formatTokens(receipted)}`;
  }
  if (Number(sequence) !== last)
    yield `its last receipt is ${last}, and its balance names ${sequence}`;
  if (hashText(row.head) !== head) yield 'its balance names another hash than its last receipt has';
}
