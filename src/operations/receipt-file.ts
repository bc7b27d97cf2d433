// Files of receipts: one receipt per line, and a last line with the end of the chain. `receipts
// export` and the customer's pages write them; `receipts verify` checks them without a database.

import { createReadStream, openSync, readSync } from 'node:fs';
import { pipeline } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { createGunzip } from 'node:zlib';
import { errorCodeOf } from '../core/message-of.ts';
import { NO_PREVIOUS_RECEIPT, readReceipt } from '../core/receipt.ts';
import {
  type ChainCheck,
  type ChainProblem,
  type ChainTotals,
  chainEnd,
  createChainCheck,
} from '../core/receipt-chain.ts';

export type FileCheck = {
  readonly problems: readonly ChainProblem[];
  readonly totals: ChainTotals;
};

/** The file may come from a stranger, and a small one may unpack to any size. */
const LINE_CHARACTERS_MAX = 1_048_576;
const PROBLEMS_MAX = 10_000;

/** Lower-case hexadecimal. */
export function sha256(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex');
}

/** The lines of an export with their line breaks, in pages. */
export async function* exportLines(
  pages: AsyncIterable<readonly string[]>,
): AsyncGenerator<string, void, undefined> {
  let first: string | undefined;
  let last: string | undefined;
  for await (const bodies of pages) {
    first ??= bodies[0];
    last = bodies.at(-1) ?? last;
    yield bodies.map((body) => `${body}\n`).join('');
  }
  const [beginning, end] = [first, last].map((body) => readReceipt(body ?? ''));
  const head = last === undefined ? NO_PREVIOUS_RECEIPT : sha256(last);
  const places = { first: beginning?.sequence ?? 0, last: end?.sequence ?? 0 };
  yield `${chainEnd({ accountId: beginning?.accountId, ...places, head })}\n`;
}

/**
 * Reads the file in pieces, unpacked where it is compressed, to its end or to a receipt. Rejects where
 * it cannot be read.
 */
export async function checkFile(path: string, upTo = Number.POSITIVE_INFINITY): Promise<FileCheck> {
  const check = createChainCheck(sha256);
  const problems: ChainProblem[] = [];
  // Invalid UTF-8 and a byte order mark are changes like any other.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let rest = '';
  let waiting: string | undefined;
  try {
    for await (const bytes of openFile(path)) {
      const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (waiting !== undefined) problems.push(...check.take(waiting));
        waiting = line;
        if (check.totals().last >= upTo) return { problems, totals: check.totals() };
      }
      const excess = excessOf(rest, problems);
      if (excess !== undefined) {
        problems.push(problemAfter(check, 'unreadable', excess));
        return { problems, totals: check.totals() };
      }
    }
    decoder.decode();
  } catch (error) {
    // Damage to a compressed file is damage to its text.
    if (!(error instanceof TypeError) && !errorCodeOf(error).startsWith('Z_')) throw error;
    problems.push(problemAfter(check, 'unreadable', 'What follows is no text.'));
  }
  problems.push(...checkEnd(check, waiting, rest));
  return { problems, totals: check.totals() };
}

/** Why a file is read no further. */
function excessOf(rest: string, problems: readonly ChainProblem[]): string | undefined {
  if (rest.length > LINE_CHARACTERS_MAX) return 'What follows is longer than any receipt.';
  return problems.length > PROBLEMS_MAX ? 'What follows was not checked.' : undefined;
}

/** The bytes of a file, which are unpacked if they begin as gzip does. */
function openFile(path: string): AsyncIterable<Uint8Array> {
  const descriptor = openSync(path, 'r');
  const magic = new Uint8Array(2);
  const isPacked = readSync(descriptor, magic, 0, 2, 0) === 2 && isDeepStrictEqual(magic, GZIP);
  const file = createReadStream(path, { fd: descriptor, start: 0 });
  if (!isPacked) return file;
  const unpacked = createGunzip();
  // An error ends the unpacking and is caught where its output is read.
  pipeline(file, unpacked, () => undefined);
  return unpacked;
}

const GZIP = Uint8Array.of(0x1f, 0x8b);

/** `last` is the last complete line, `rest` the bytes behind it. */
function checkEnd(check: ChainCheck, last: string | undefined, rest: string): ChainProblem[] {
  if (last === chainEnd(check.totals()) && rest === '') return [];
  const isEnd = last?.startsWith('{"end":') === true;
  const problems = last === undefined || isEnd ? [] : [...check.take(last)];
  if (rest !== '') return [...problems, problemAfter(check, 'end', 'The file ends within a line.')];
  const detail = isEnd
    ? 'The last line does not fit the receipts before it: one of them was changed or is not there.'
    : 'The line that ends an export is not there: the file was cut off.';
  return [...problems, problemAfter(check, 'end', detail)];
}

function problemAfter(check: ChainCheck, kind: ChainProblem['kind'], detail: string): ChainProblem {
  return { kind, sequence: check.totals().last, detail };
}

type CheckedFile = { readonly path: string; readonly totals: ChainTotals };

/**
 * Checks whether files that belong to one account go on from each other, in any order in which they are
 * given, and whether receipts that are in several files are the same. Returns the problems of each.
 */
export async function checkJoints<File extends CheckedFile>(
  files: readonly File[],
): Promise<ReadonlyMap<File, readonly ChainProblem[]>> {
  const problems = new Map<File, readonly ChainProblem[]>();
  const furthest = new Map<string, File>();
  for (const file of files.toSorted((one, other) => one.totals.first - other.totals.first)) {
    const { accountId, last } = file.totals;
    if (accountId === undefined) continue;
    const before = furthest.get(accountId);
    if (before !== undefined) problems.set(file, await checkJoint(before, file));
    if (before === undefined || last > before.totals.last) furthest.set(accountId, file);
  }
  return problems;
}

async function checkJoint(
  before: CheckedFile,
  after: CheckedFile,
): Promise<readonly ChainProblem[]> {
  const { last, head, closingBalance } = before.totals;
  const sequence = last + 1;
  const { first, previous, openingBalance } = after.totals;
  if (first < sequence) return checkOverlap(before, after);
  if (first > sequence) {
    const detail = `The receipts from ${sequence} to ${first - 1} are in none of the files.`;
    return [{ kind: 'missing', sequence, detail }];
  }
  const fits = previous === head && openingBalance === closingBalance;
  const detail = `It does not go on from receipt ${last} of the file before.`;
  return fits ? [] : [{ kind: 'changed', sequence, detail }];
}

/** The hash of their last common receipt covers the others, because each names the one before it. */
async function checkOverlap(
  before: CheckedFile,
  after: CheckedFile,
): Promise<readonly ChainProblem[]> {
  const sequence = Math.min(before.totals.last, after.totals.last);
  if ((await headAt(before, sequence)) === (await headAt(after, sequence))) return [];
  const detail = `Its receipts up to ${sequence} are not those of the file before.`;
  return [{ kind: 'changed', sequence, detail }];
}

async function headAt({ path, totals }: CheckedFile, sequence: number): Promise<string> {
  if (totals.last === sequence) return totals.head;
  return (await checkFile(path, sequence)).totals.head;
}
