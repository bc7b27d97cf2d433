// Cases of how an answer ends and what it costs: left, refused, too long, billed.

import { reasonIn } from '../../support/answer.ts';
import { get } from '../../support/client.ts';
import { readEvents } from '../../support/sse.ts';
import { waitUntil } from '../../support/upstream.ts';
import { mustBill } from '../bill.ts';
import { type Case, type Cell, failureOf, must, mustRefuseOnce, talk } from './case.ts';

const LEFT_MS = 2_000;

type Balance = { readonly available: string; readonly reserved: string };

async function balanceOf({ caller }: Cell): Promise<Balance> {
  const { json } = await get(caller, '/v1/account');
  return (json as { readonly balance: Balance }).balance;
}

/** Reads some words, leaves, and waits for the bill. The account is the cell's own. */
async function leave(cell: Cell): Promise<void> {
  const before = await balanceOf(cell);
  const left = new AbortController();
  const response = await talk(cell, '[slow]').open({ stream: true, signal: left.signal });
  must(response.status === 200, `${response.status} ${response.ok ? '' : await response.text()}`);
  let words = 0;
  for await (const { data } of readEvents(response)) {
    words += data.includes('word') ? 1 : 0;
    if (words === 3) break;
  }
  left.abort();
  const [seen] = cell.seen();
  const hasLeft = () => seen?.state === 'left';
  await waitUntil(hasLeft, LEFT_MS).catch(() => undefined);
  must(hasLeft() || !cell.row.stops, `the upstream still answers ${LEFT_MS} ms later`);
  const settled = async () => Number((await balanceOf(cell)).reserved) === 0;
  await waitUntil(settled, cell.row.stops ? 5_000 : 15_000);
  const { available } = await balanceOf(cell);
  const debited = Number(before.available) - Number(available);
  must(debited > 0, 'nothing was charged for the words');
}

/** A refusal in the answer ends it; one by status is a 400. */
async function refused(cell: Cell): Promise<void> {
  const sent = talk(cell, '[filter]').send();
  const error = await failureOf(sent);
  if (error !== undefined) {
    must(error.status === 400, `the answer is ${error.message}`);
    mustRefuseOnce(cell);
    return;
  }
  const { said } = await sent;
  const wanted = ['content_filter', 'stop'].map((reason) => reasonIn(cell.format, reason));
  if (cell.format === 'messages') wanted.push('refusal');
  must(wanted.includes(String(said.reason)), `the reason is ${String(said.reason)}`);
}

async function tooLong(cell: Cell): Promise<void> {
  const error = await failureOf(talk(cell, '[long]').send());
  must(error?.status === 400, `the answer is ${error?.message ?? 200}`);
  const code = String(error.error['code']);
  must(code === 'context_length_exceeded', `the code is ${code}`);
  mustRefuseOnce(cell);
}

async function billed(cell: Cell, stream: boolean): Promise<void> {
  const reply = await talk(cell, 'Greet.').send({ stream });
  mustBill(reply.text, cell, cell.seen()[0]?.counts);
}

export const ENDINGS: readonly Case[] = [
  { name: 'leaving', run: leave },
  { name: 'refusal', mayRefuse: true, run: refused },
  { name: 'too long', mayRefuse: true, run: tooLong },
  { name: 'bill', run: (cell) => billed(cell, false) },
  { name: 'bill streamed', run: (cell) => billed(cell, true) },
];
