// Money is conserved, and every request is booked once, with the amount that its client received
// (I-01 to I-03, I-06, I-11).

import { costOf, readTokens, writeTokens, writeUsd } from '../amounts.ts';
import { readAnswer } from '../client.ts';
import { isEndedByOthers } from '../excuses.ts';
import { eachAccount, eachRequest, type Law } from './law.ts';

const conserved = eachAccount('credits - debits = posted', (account, books) => {
  const { ledger } = books;
  const credits = books.credits
    .filter(({ takers }) => takers.includes(account.id))
    .reduce((sum, { amount }) => sum + amount, readTokens(String(account.credit)));
  const requests = new Set(
    ledger.holds.filter(({ accountId }) => accountId === account.id).map((hold) => hold.requestId),
  );
  const debits = ledger.records
    .filter(({ requestId }) => requests.has(requestId))
    .reduce((sum, { debited }) => sum + debited, 0n);
  const expected = credits - debits;
  const posted = ledger.balances.find(({ accountId }) => accountId === account.id)?.posted;
  if (posted === expected) return undefined;
  return `posted is ${posted}, and credits of ${credits} less debits of ${debits} are ${expected}`;
});

const entriesMakeTheBalance = eachAccount('entries = posted', (account, { ledger }) => {
  const entries = ledger.entries.filter(
    ({ ledgerAccount }) => ledgerAccount === `customer:${account.id}`,
  );
  const sum = entries.reduce((total, { amount }) => total + amount, 0n);
  const posted = ledger.balances.find(({ accountId }) => accountId === account.id)?.posted;
  return posted === sum ? undefined : `posted is ${posted}, its entries sum to ${sum}`;
});

const nothingHeld = eachAccount('nothing is held at rest', (account, { ledger }) => {
  const held = ledger.balances.find(({ accountId }) => accountId === account.id)?.held;
  const open = ledger.holds.filter(
    (hold) => hold.accountId === account.id && hold.endedAtMs === undefined,
  );
  if (held === 0n && open.length === 0) return undefined;
  return `${held} held, open holds: ${open.map(({ mark, phase }) => `${mark} (${phase})`).join(', ')}`;
});

const legsSumToZero: Law = {
  name: 'two legs that sum to zero',
  breaches: ({ ledger }) =>
    [...Map.groupBy(ledger.entries, ({ transferId }) => transferId)].flatMap(([subject, legs]) => {
      const sum = legs.reduce((total, { amount }) => total + amount, 0n);
      if (sum === 0n && legs.length === 2) return [];
      return [{ subject, detail: `${legs.length} legs that sum to ${sum}` }];
    }),
};

const neverBelowZero: Law = {
  name: 'never below zero',
  breaches: ({ samples }) =>
    samples
      .filter(({ available }) => readTokens(available) < 0n)
      .map(({ accountId, available, atMs }) => ({
        subject: accountId,
        detail: `${available} available at ${atMs}`,
      })),
};

const creditedOnce: Law = {
  name: 'a credit is booked once',
  breaches: ({ credits, ledger }) =>
    credits.flatMap(({ kind, amount, takers, sent, complaint }) => {
      const booked = ledger.entries
        .filter((entry) => entry.kind === kind && entry.amount === amount)
        .filter(({ ledgerAccount }) => ledgerAccount.startsWith('customer:'))
        .map(({ ledgerAccount }) => ledgerAccount.slice('customer:'.length));
      const once = takers.length === 1 && booked.length === 1 && takers[0] === booked[0];
      if (once && complaint === '') return [];
      const detail = `sent ${sent} times, confirmed to [${takers}], booked for [${booked}] ${complaint}`;
      return [{ subject: `${kind} of ${writeTokens(amount)}`, detail }];
    }),
};

const endedOnce = eachRequest('one end a hold', ({ hold, record, entries }) => {
  if (hold === undefined) return undefined;
  const ends = ['settled', 'released', 'expired'];
  if (hold.endedAtMs === undefined || !ends.includes(hold.phase)) {
    return `the hold is still ${hold.phase}`;
  }
  const booked = entries.filter(({ transferId }) => transferId.startsWith('settle:'));
  const paid = booked.find(({ ledgerAccount }) => ledgerAccount === 'operator:revenue')?.amount;
  if ((paid ?? 0n) === (record?.debited ?? 0n)) return undefined;
  return `the record says ${record?.debited}, the entries say ${paid}`;
});

const chargedByPrice = eachRequest('charged = usage x price', ({ record }) => {
  if (record === undefined || record.debited + record.loss === 0n) return undefined;
  const { charged, debited, loss, modelRequested, modelServed } = record;
  if (debited + loss !== charged) return `${debited} debited + ${loss} lost are not ${charged}`;
  const cost = costOf(record, modelRequested, modelServed);
  return charged === cost ? undefined : `charged ${charged}, and its tokens cost ${cost}`;
});

const reportedIsBooked = eachRequest('what was reported is booked', (story) => {
  const { status, headers, bills } = readAnswer(story.client);
  if (status === undefined || bills.length === 0) return undefined;
  const requestId = headers.get('x-request-id');
  if (requestId !== story.hold?.requestId) {
    return `the client received ${requestId}, its hold is ${story.hold?.requestId}`;
  }
  const { record } = story;
  if (record === undefined) return `reported ${bills[0]?.debited}, and there is no record`;
  const debited = writeTokens(record.debited);
  const wrong = bills.find((bill) => bill.debited !== debited);
  if (wrong !== undefined) return `reported ${wrong.debited}, booked ${debited}`;
  const usd = writeUsd(record.debited);
  const wrongUsd = bills.find((bill) => bill.usd !== '' && bill.usd !== usd);
  if (wrongUsd !== undefined) return `reported ${wrongUsd.usd} USD, booked ${usd}`;
  const outcome = bills.find((bill) => bill.outcome !== undefined)?.outcome;
  if (outcome === undefined || outcome === record.outcome || isEndedByOthers(story)) {
    return undefined;
  }
  return `reported ${outcome}, booked ${record.outcome}`;
});

const receiptSaysTheSame = eachRequest(
  'one receipt, with the amount',
  ({ hold, record }, books) => {
    if (hold === undefined || record === undefined) return undefined;
    const found = books.ledger.receipts.filter(({ subject }) => subject === hold.requestId);
    if (found.length !== 1) return `${found.length} receipts`;
    const amount = `"debited":"${writeTokens(record.debited)}"`;
    const body = found[0]?.body ?? '';
    return body.includes(amount) ? undefined : `the receipt does not say ${amount}: ${body}`;
  },
);

const chainsHaveNoGaps: Law = {
  name: 'receipts without gaps',
  breaches: ({ ledger }) =>
    [...Map.groupBy(ledger.receipts, ({ accountId }) => accountId)].flatMap(([subject, rows]) => {
      const sequences = rows.map(({ sequence }) => sequence).sort((a, b) => a - b);
      const gap = sequences.findIndex((sequence, index) => sequence !== index + 1);
      return gap === -1 ? [] : [{ subject, detail: `a gap at ${gap + 1}` }];
    }),
};

const verdictsAreGood: Law = {
  name: 'its own audits find nothing',
  breaches: ({ verdicts }) =>
    verdicts
      .filter(({ ok }) => !ok)
      .map(({ command, said }) => ({ subject: command, detail: said })),
};

const comesToRest: Law = {
  name: 'at rest within 30 s',
  breaches: ({ quiescentAfterMs }) =>
    quiescentAfterMs === undefined ? [{ subject: 'serve', detail: 'holds are still open' }] : [],
};

const stopsWell: Law = {
  name: 'stops with 0',
  breaches: ({ exitCode }) =>
    exitCode === 0 ? [] : [{ subject: 'serve', detail: `ended with ${exitCode}` }],
};

export const MONEY_LAWS: readonly Law[] = [
  verdictsAreGood,
  comesToRest,
  stopsWell,
  conserved,
  entriesMakeTheBalance,
  nothingHeld,
  legsSumToZero,
  neverBelowZero,
  creditedOnce,
  endedOnce,
  chargedByPrice,
  reportedIsBooked,
  receiptSaysTheSame,
  chainsHaveNoGaps,
];
