// Cases of a vendor's faults that are none of the customer's: each is a 503 that says nothing of the
// vendor, and a refused credential raises an alert.

import { waitUntil } from '../../support/upstream.ts';
import { Conversation } from '../conversation.ts';
import { FAULTS, faultySlug } from '../faults.ts';
import { type Case, type Cell, failureOf, must } from './case.ts';

async function fault(cell: Cell, word: string, ours: boolean): Promise<void> {
  const { row, caller, format, mark } = cell;
  const conversation = new Conversation(format, caller, faultySlug(row, word));
  const error = await failureOf(conversation.user(`${mark} Greet.`).send());
  must(error !== undefined, 'it was served');
  const { code } = error.error;
  must(error.status === 503 && code === 'provider_unavailable', `the answer is ${error.message}`);
  const asked = cell.seen();
  must(asked.length > 0, 'the vendor was not asked');
  if (!ours) return;
  must(asked.length === 1, `the vendor was asked ${asked.length} times with one credential`);
  const words = `upstream ${row.upstream}-${word} refuses`;
  await waitUntil(() => cell.output().includes(words), 5_000).catch(() => {
    throw new Error('no alert says that the vendor refuses our credential');
  });
}

export const FAULT_CASES: readonly Case[] = FAULTS.map(({ word, name, ours }) => ({
  name,
  formats: ['chat'],
  applies: (row) => row.leads && (row.credential || !ours),
  mayRefuse: true,
  run: (cell) => fault(cell, word, ours),
}));
