// What the next start, or another node, makes of the requests that a kill cut off (I-08): never more than the hold,
// never less than the prompt of what an upstream saw, and close to what had passed.

import { promptCost } from '../amounts.ts';
import type { Books, Story } from '../books.ts';
import { readAnswer } from '../client.ts';
import { sentWords } from '../upstream.ts';
import { eachRequest, type Law } from './law.ts';

/**
 * A dispatch is written without waiting: this close to a kill it may be missing, or stand alone. A
 * machine that lets the rig wait lets the writer wait as well.
 */
export function dispatchSeamMs({ lagMs }: Books): number {
  return 250 + lagMs;
}

/** A checkpoint is due after so many tokens or so much time, whichever comes first. */
const CHECKPOINT_TOKENS = 256;
const CHECKPOINT_MS = 2_000;

/** Text is counted in pieces of 1,024 characters, and a write may be under way. */
const COUNTING_SEAM_TOKENS = 200;

const isRecovered = ({ record }: Story) => record?.basis === 'recovered';

const recoveredAfterAKill = eachRequest('recovered only after a kill', (story) =>
  isRecovered(story) && story.kill === undefined && story.trouble === undefined
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

const atLeastThePrompt = eachRequest('recovered at the prompt at least', (story, books) => {
  const { record, hold, served, kill } = story;
  const [first] = served;
  if (kill === undefined || first === undefined || hold === undefined) return undefined;
  const cutOff = record === undefined || isRecovered(story) || record.outcome === 'gateway_failed';
  if (!cutOff || kill.atMs - first.atMs < dispatchSeamMs(books)) return undefined;
  const requested = record?.modelRequested ?? story.client.drawn.model;
  const prompt = promptCost(hold.promptTokens, requested, record?.modelServed);
  const least = prompt < hold.amount ? prompt : hold.amount;
  if ((record?.debited ?? 0n) >= least) return undefined;
  return `${record?.debited} debited, the prompt is worth ${least}; the upstream had it ${kill.atMs - first.atMs} ms before the kill`;
});

const closeToWhatPassed = eachRequest('recovered close to what had passed', (story, books) => {
  const { record, client, served, kill, hold } = story;
  if (!isRecovered(story) || record === undefined || kill === undefined) return undefined;
  const said = Math.max(0, ...served.map((each) => sentWords(each)));
  if (record.outputTokens > said + 16) return `${record.outputTokens} booked, ${said} said`;
  // As far as the hold allows.
  if (record.debited === hold?.amount) return undefined;
  const passedBefore = (milliseconds: number) => readAnswer(client, kill.atMs - milliseconds).words;
  const byCount = passedBefore(dispatchSeamMs(books)) - CHECKPOINT_TOKENS - COUNTING_SEAM_TOKENS;
  const byTime = passedBefore(CHECKPOINT_MS + dispatchSeamMs(books)) - COUNTING_SEAM_TOKENS;
  const least = Math.max(byCount, byTime);
  if (record.outputTokens >= least) return undefined;
  return `${record.outputTokens} booked, and at least ${least} had passed long before the kill`;
});

export const RECOVERY_LAWS: readonly Law[] = [
  recoveredAfterAKill,
  withinTheHold,
  atLeastThePrompt,
  closeToWhatPassed,
];
