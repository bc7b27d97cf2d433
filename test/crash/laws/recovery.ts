// How the next start, or another node, recovers the requests that a kill cut off (I-08): soon,
// nothing where nothing was delivered, never more than the hold, never less than the prompt of what
// was delivered, and close to what was passed on.

import { promptCost } from '../amounts.ts';
import { type Books, isKeptFrom, lagAround, type Story } from '../books.ts';
import { readAnswer } from '../client.ts';
import type { Kill } from '../killer.ts';
import { sentWords } from '../upstream.ts';
import { eachRequest, type Law } from './law.ts';

/**
 * A checkpoint is written without waiting: this close to a kill it may be missing, or stand alone. A
 * machine that lets the rig wait lets the writer wait as well. On a slow disk it waits for the sync
 * of the batch before it, and for its own.
 */
export function checkpointSeamMs(books: Books, { atMs }: Kill): number {
  return 250 + 2 * (books.syncMs ?? 0) + lagAround(books, atMs);
}

/** A checkpoint is due after so many tokens or so much time, whichever comes first. */
const CHECKPOINT_TOKENS = 256;
const CHECKPOINT_MS = 2_000;

/** Text is counted in pieces of 1,024 characters, and a write may be in flight. */
const COUNTING_SEAM_TOKENS = 200;

const isRecovered = ({ record }: Story) => record?.basis === 'recovered';

const recoveredAfterAKill = eachRequest('recovered only after a kill', (story) =>
  isRecovered(story) && story.kill === undefined && !isKeptFrom(story, 'database')
    ? 'its gateway was neither killed nor kept from the books'
    : undefined,
);

const withinTheHold = eachRequest('recovered within the hold', (story) => {
  const { record } = story;
  if (record === undefined || !isRecovered(story)) return undefined;
  if (record.outcome !== 'gateway_failed') return `its outcome is ${record.outcome}`;
  if (record.debited <= record.held) return undefined;
  return `${record.debited} debited, ${record.held} held`;
});

/** Until when the books could record it. */
function writtenUntilMs({ troubles }: Story, kill: Kill): number {
  const away = troubles.filter(({ keepsFrom }) => keepsFrom === 'database');
  return Math.min(kill.atMs, ...away.map(({ fromMs }) => fromMs));
}

const undeliveredIsFree = eachRequest('recovered for nothing before its content', (story) => {
  const { record, client, served } = story;
  if (!isRecovered(story) || record === undefined || record.charged === 0n) return undefined;
  if (!client.drawn.stream) return `${record.charged} charged for a whole answer`;
  if (served.some((each) => sentWords(each) > 0)) return undefined;
  return `${record.charged} charged, and no upstream had sent any content`;
});

const atLeastThePrompt = eachRequest('recovered at the prompt at least', (story, books) => {
  const { record, hold, kill, client } = story;
  if (kill === undefined || hold === undefined || !client.drawn.stream) return undefined;
  const cutOff = record === undefined || isRecovered(story) || record.outcome === 'gateway_failed';
  const writtenMs = writtenUntilMs(story, kill) - checkpointSeamMs(books, kill);
  if (!cutOff || readAnswer(client, writtenMs).words === 0) return undefined;
  const requested = record?.modelRequested ?? story.client.drawn.model;
  const prompt = promptCost(hold.promptTokens, requested, record?.modelServed);
  const least = prompt < hold.amount ? prompt : hold.amount;
  if ((record?.debited ?? 0n) >= least) return undefined;
  return `${record?.debited} debited, the prompt is worth ${least}; content was delivered long before the kill`;
});

const closeToWhatPassed = eachRequest('recovered close to what had passed', (story, books) => {
  const { record, client, served, kill, hold } = story;
  if (!isRecovered(story) || record === undefined || kill === undefined) return undefined;
  const said = Math.max(0, ...served.map((each) => sentWords(each)));
  if (record.outputTokens > said + 16) return `${record.outputTokens} booked, ${said} said`;
  // As far as the hold allows.
  if (record.debited === hold?.amount) return undefined;
  const passedBefore = (milliseconds: number) => readAnswer(client, kill.atMs - milliseconds).words;
  const byCount =
    passedBefore(checkpointSeamMs(books, kill)) - CHECKPOINT_TOKENS - COUNTING_SEAM_TOKENS;
  const byTime = passedBefore(CHECKPOINT_MS + checkpointSeamMs(books, kill)) - COUNTING_SEAM_TOKENS;
  const least = Math.max(byCount, byTime);
  if (record.outputTokens >= least) return undefined;
  return `${record.outputTokens} booked, and at least ${least} had passed long before the kill`;
});

/** What is promised of a gateway that died, for every successor. */
const ENDED_WITHIN_MS = 30_000;

/** No request can end while the books are away. */
const endedInTime = eachRequest('what a dead gateway held is ended within 30 s', (story, books) => {
  const { kill, hold } = story;
  if (kill === undefined || hold?.endedAtMs === undefined) return undefined;
  const endedAtMs = hold.endedAtMs;
  const away = books.troubles.filter(
    ({ keepsFrom, generation, fromMs }) =>
      keepsFrom === 'database' && generation === undefined && fromMs <= endedAtMs,
  );
  const sinceMs = Math.max(kill.atMs, ...away.map(({ toMs }) => toMs));
  const lateMs = endedAtMs - sinceMs;
  return lateMs <= ENDED_WITHIN_MS ? undefined : `ended ${lateMs} ms afterwards`;
});

export const RECOVERY_LAWS: readonly Law[] = [
  endedInTime,
  recoveredAfterAKill,
  withinTheHold,
  undeliveredIsFree,
  atLeastThePrompt,
  closeToWhatPassed,
];
