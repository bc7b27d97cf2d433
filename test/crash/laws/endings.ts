// Each outcome costs what it should: nothing where nothing was delivered, what was produced where a
// client left, the upstream's own counts where an answer is complete (I-04, I-07, and the rules for
// clients that leave and upstreams that fail).

import { costOf, promptCost } from '../amounts.ts';
import { isKeptFrom, lagAround, type Story } from '../books.ts';
import { readAnswer } from '../client.ts';
import { excuseForRefusal, excuseForSilence, isEndedByOthers, isRevoked } from '../excuses.ts';
import { sentWords } from '../upstream.ts';
import { eachRequest, type Law } from './law.ts';
import { checkpointSeamMs } from './recovery.ts';

/** Two percent, or a few tokens: words that were in flight, and seams between counted pieces. */
function seam(words: number): number {
  return Math.max(16, Math.ceil(words / 50));
}

/** An upstream's own zero is a zero, after any earlier count. */
function saysZero({ client }: Story): boolean {
  return client.drawn.behaviour === 'zero';
}

/** What the first slice of a hold pays for. */
const SLICE_WORDS = 4_096;

/** After a client has left, the gateway has so long to stop the upstream. */
const ABORT_MS = 500;

/** What an upstream has sent that is read to its end after a client leaves. */
const isReadOn = ({ client }: Story): boolean =>
  client.drawn.model === 'steady' || client.drawn.model === 'thinker';

/** How many of the words that an upstream says come before the client's stop sequence. */
function wordsToStop({ client }: Story, said: number): number {
  const { stopAfter } = client.drawn;
  return stopAfter >= 0 && stopAfter < said ? stopAfter : said;
}

/** Words behind a stop sequence that cost nothing; further ones cost what they do elsewhere. */
const UNREAD_FREE = 1_024;

const unseenIsFree = eachRequest('what no upstream saw costs nothing', (story) => {
  const { served, record, hold, client } = story;
  if (served.length > 0 || record === undefined || record.debited === 0n) return undefined;
  // A connection that is closed right behind a request is one that an upstream may not hear of.
  const prompt = promptCost(hold?.promptTokens ?? 0, client.drawn.model);
  if (record.outcome === 'client_cancelled' && record.debited <= prompt) return undefined;
  return `debited ${record.debited}, ${record.outcome}`;
});

const servedHasHold = eachRequest('what an upstream saw has a hold', (story, books) => {
  const { served, hold, kill, client } = story;
  if (served.length === 0 || hold !== undefined) return undefined;
  // The upstream is called while the hold is written, and nothing is passed on before it is.
  if (readAnswer(client).words === 0 && isKeptFrom(story, 'database')) return undefined;
  if (isRevoked(story, books)) return undefined;
  // Without an answer there is no request id, and the books have no mark of what cost nothing.
  if (readAnswer(client).status === undefined) return undefined;
  const fromMs = kill === undefined ? 0 : kill.atMs - checkpointSeamMs(books, kill);
  const isLast = kill !== undefined && served.every(({ atMs }) => atMs >= fromMs);
  return isLast && readAnswer(client).words === 0 ? undefined : 'there is no hold';
});

const refusedIsFree = eachRequest('a refusal costs nothing', (story) => {
  const { status } = readAnswer(story.client);
  if (status === undefined || status < 400) return undefined;
  const { record, entries, hold, served, client } = story;
  if ((record?.debited ?? 0n) === 0n && entries.length === 0) return undefined;
  if (isEndedByOthers(story) && record !== undefined && client.drawn.stream) {
    // Its first checkpoint was written, and its node did not learn that.
    const said = Math.max(0, ...served.map((each) => sentWords(each)));
    const inputTokens = hold?.promptTokens ?? 0;
    const counts = { inputTokens, cachedInputTokens: 0, outputTokens: said + seam(said) };
    if (record.debited <= costOf(counts, client.drawn.model)) return undefined;
  }
  return `status ${status}, debited ${record?.debited}, ${entries.length} entries`;
});

/** What the rig asks for is valid: there is no other reason to be refused. */
const refusedForAReason = eachRequest('refused for a reason', (story, books) => {
  const { status, text } = readAnswer(story.client);
  if (status === undefined || status < 400 || [402, 429].includes(status)) return undefined;
  const failed = story.served.some(({ ended }) => ended?.how !== 'finished');
  const isExcused = failed || excuseForRefusal(story, books) !== undefined;
  return status === 503 && isExcused ? undefined : `status ${status}: ${text.slice(0, 300)}`;
});

const deliveredIsPaid = eachRequest('what was delivered is paid', (story, books) => {
  const { record, client } = story;
  const { words } = readAnswer(client);
  if (words === 0 || saysZero(story)) return undefined;
  if (record !== undefined && record.debited + record.loss > 0n) return undefined;
  const { kill } = story;
  // A node of a cluster delivers nothing before its first checkpoint is written.
  if (books.nodes === 1 && kill !== undefined && client.drawn.stream) {
    const seamMs = checkpointSeamMs(books, kill);
    if (readAnswer(client, kill.atMs - seamMs).words === 0) return undefined;
  }
  return `${words} words were delivered, and ${record === undefined ? 'nothing was booked' : `${record.outcome} cost nothing`}`;
});

const completeIsComplete = eachRequest('a complete answer is what the upstream said', (story) => {
  const { client, record, served } = story;
  if (record?.outcome !== 'completed') return undefined;
  const last = served.at(-1);
  if (last === undefined) return 'completed, and no upstream saw it';
  const due = wordsToStop(story, sentWords(last));
  if (client.complete && readAnswer(client).words !== due) {
    return `${readAnswer(client).words} words arrived of ${due}`;
  }
  const reported = last.ended?.how === 'finished' ? last.reported : undefined;
  const isCut = due < sentWords(last);
  if (reported !== undefined && !isCut) {
    const { prompt, cached, completion } = reported;
    const { inputTokens, cachedInputTokens, outputTokens, basis } = record;
    const same =
      basis === 'reported' &&
      inputTokens === prompt &&
      cachedInputTokens === cached &&
      outputTokens === completion;
    return same
      ? undefined
      : `booked ${JSON.stringify([inputTokens, cachedInputTokens, outputTokens, basis])}, reported ${JSON.stringify(reported)}`;
  }
  if (saysZero(story)) return undefined;
  const unread = Math.max(0, sentWords(last) - due - UNREAD_FREE);
  const said = due + unread + (isCut ? (reported?.reasoning ?? 0) : 0);
  if (Math.abs(record.outputTokens - said) <= seam(said)) return undefined;
  return `${record.outputTokens} booked as ${record.basis}, ${said} said`;
});

const hiddenIsPaid = eachRequest('what is thought unseen is paid', (story) => {
  const { client, record, served } = story;
  const last = served.at(-1);
  const hidden = last?.reported?.reasoning ?? 0;
  if (record === undefined || record.basis === 'recovered') return undefined;
  if (last?.ended?.how !== 'finished' || hidden === 0) return undefined;
  if (record.outcome !== 'completed' && record.outcome !== 'client_cancelled') return undefined;
  const { words } = readAnswer(client);
  const least = Math.min(words + hidden, last.reported?.completion ?? 0);
  if (record.outputTokens >= least - seam(least)) return undefined;
  return `${record.outputTokens} booked, ${words} delivered and ${hidden} hidden`;
});

const leftPaysWhatWas = eachRequest('who leaves pays what was produced', (story) => {
  const { client, record, served, hold } = story;
  if (record?.outcome !== 'client_cancelled' || hold === undefined) return undefined;
  // A client whose patience ended has left too.
  const leftAtMs = client.left?.atMs ?? client.endedAtMs;
  const last = served.at(-1);
  const said = last === undefined ? 0 : sentWords(last) + (last.reported?.reasoning ?? 0);
  if (record.outputTokens > said + seam(said)) return `${record.outputTokens} booked, ${said} said`;
  if (record.basis === 'reported' && saysZero(story)) return undefined;
  const had = readAnswer(client, leftAtMs).words;
  if (record.outputTokens < had - seam(had))
    return `${record.outputTokens} booked, ${had} delivered`;
  const prompt = promptCost(hold.promptTokens, record.modelRequested, record.modelServed);
  const touched = record.outputTokens > 0 || had > 0;
  if (!touched && record.charged > prompt) return `${record.charged} charged for a prompt`;
  return undefined;
});

const abortedInTime = eachRequest('who leaves stops the upstream', (story, books) => {
  const { left } = story.client;
  if (left === undefined || isReadOn(story)) return undefined;
  // It is not known there that the client has left.
  if (isKeptFrom(story, 'clients')) return undefined;
  const { generation } = story.client;
  const own = books.gatewayLags.filter((lag) => lag.generation === generation);
  const lagMs = Math.max(lagAround(books, left.atMs), lagAround({ lags: own }, left.atMs));
  for (const { atMs, ended } of story.served) {
    const lateMs = (ended?.atMs ?? Number.POSITIVE_INFINITY) - Math.max(left.atMs, atMs);
    if (lateMs > ABORT_MS + lagMs) {
      return `the upstream went on for ${lateMs} ms; the rig or the gateway was late by ${lagMs} ms`;
    }
  }
  return undefined;
});

const billedIsRead = eachRequest('what is billed to its end is read to its end', (story) => {
  const { client, served, hold, kill } = story;
  // Without a hold on the disk nothing is billed, and the request ends at once.
  if (!isReadOn(story) || client.left === undefined || kill || hold === undefined) return undefined;
  // A longer one may go on as far as the money does.
  if (client.drawn.words > SLICE_WORDS) return undefined;
  if (served.every(({ ended }) => ended?.how !== 'gone')) return undefined;
  return 'the upstream was stopped';
});

/** No token is passed on that is not paid for, and the client learns that there was more. */
const stoppedIsPaid = eachRequest('who runs out of money has paid for each token', (story) => {
  const { client, record } = story;
  if (record?.outcome !== 'stopped_balance') return undefined;
  const { words, text } = readAnswer(client);
  const { modelRequested, modelServed } = record;
  const counts = { inputTokens: 0, cachedInputTokens: 0, outputTokens: words };
  const worth = costOf(counts, modelRequested, modelServed);
  if (worth > record.debited && !saysZero(story))
    return `${words} words are worth ${worth}, debited ${record.debited}`;
  if (!client.complete || /"(length|max_tokens)"/.test(text)) return undefined;
  return 'the answer does not say that it was cut for its length';
});

/** Each outcome needs a cause. */
const outcomeHasACause = eachRequest('an outcome has its cause', (story, books) => {
  const { client, record, served } = story;
  if (record === undefined) return undefined;
  const { leaving } = client.drawn;
  switch (record.outcome) {
    case 'completed':
    case 'stopped_balance':
      return undefined;
    case 'client_cancelled':
      return leaving !== 'stay' || client.complete === false ? undefined : 'the client stayed';
    case 'upstream_failed':
      return served.some(({ ended }) => ended?.how === 'broke') || isGarbage(story)
        ? undefined
        : `no upstream broke: ${served.map(({ ended }) => ended?.how).join(', ')}`;
    default:
      return story.kill === undefined && excuseForRefusal(story, books) === undefined
        ? `${record.outcome} without a kill`
        : undefined;
  }
});

function isGarbage({ client }: Story): boolean {
  return client.drawn.behaviour === 'garbage';
}

const everyRequestEnds = eachRequest('every request ends', (story) => {
  const { client, kill } = story;
  if (client.complete || client.left !== undefined || kill !== undefined) return undefined;
  if (excuseForSilence(story) !== undefined) return undefined;
  const waitedMs = client.endedAtMs - client.sentAtMs;
  return `no complete answer and no kill, after ${waitedMs} ms; ${readAnswer(client).status ?? 'no head'}`;
});

export const ENDING_LAWS: readonly Law[] = [
  unseenIsFree,
  servedHasHold,
  refusedIsFree,
  refusedForAReason,
  deliveredIsPaid,
  completeIsComplete,
  hiddenIsPaid,
  leftPaysWhatWas,
  abortedInTime,
  billedIsRead,
  stoppedIsPaid,
  outcomeHasACause,
  everyRequestEnds,
];
