// After a round, at rest: sends as many parallel requests as an account may have, and one more. A
// leaked slot shows as one that is not admitted.

import type { Burst, RoundAccount } from './books.ts';
import { type ClientEntry, readAnswer } from './client.ts';
import type { Drawn } from './draw.ts';
import type { CrashUpstream } from './upstream.ts';

const ADMITTED_WITHIN_MS = 5_000;

type Ask = (account: RoundAccount, drawn: Drawn) => Promise<ClientEntry>;

/**
 * Asks for all `accounts` at once; each has to cover the worst cases of its requests. Slots that a
 * node died with lapse by themselves: a refused client retries for `patienceMs`.
 */
export async function burst(
  accounts: readonly RoundAccount[],
  upstream: CrashUpstream,
  ask: Ask,
  patienceMs = 0,
): Promise<Burst[]> {
  const results = accounts.map((account) => burstOf(account, upstream, ask, patienceMs));
  const lastOnes = await Promise.all(results.map(async (result) => (await result).tried));
  upstream.openGate();
  await Promise.all(lastOnes);
  return Promise.all(results.map(async (result) => (await result).finish()));
}

async function burstOf(
  account: RoundAccount,
  upstream: CrashUpstream,
  ask: Ask,
  patienceMs: number,
) {
  const { name, concurrency } = account;
  const impatientAtMs = Date.now() + patienceMs;
  const askUntilAdmitted = async (index: number): Promise<void> => {
    for (let attempt = 0; ; attempt += 1) {
      const entry = await ask(account, drawBurst(account, `${index}-${attempt}`));
      if (readAnswer(entry).status !== 429 || Date.now() > impatientAtMs) return;
      await Bun.sleep(100);
    }
  };
  const asked = Array.from({ length: concurrency }, (_, index) => askUntilAdmitted(index));
  const admitted = () =>
    upstream.book.filter(({ mark }) => mark.startsWith(`burst-${name}-`)).length;
  const deadline = Date.now() + ADMITTED_WITHIN_MS + patienceMs;
  while (admitted() < concurrency && Date.now() < deadline) await Bun.sleep(5);
  const inTime = admitted();
  const extra = ask(account, drawBurst(account, 'last'));
  // It either is refused at once or stands at the gate with the others.
  let refused: ClientEntry | undefined;
  extra.then((entry) => {
    refused = entry;
  });
  while (refused === undefined && Date.now() < deadline) await Bun.sleep(5);
  return {
    tried: true,
    async finish(): Promise<Burst> {
      await Promise.all([...asked, extra]);
      const refusal = refused === undefined ? 'an answer' : refusalOf(refused);
      return { account: name, limit: concurrency, admitted: inTime, refusal };
    },
  };
}

function drawBurst({ name }: RoundAccount, which: string): Drawn {
  return {
    mark: `burst-${name}-${which}`,
    account: name,
    model: 'swift',
    format: 'chat',
    stream: true,
    maxTokens: 20,
    behaviour: 'ok',
    words: 3,
    wordsInPiece: 1,
    gapMs: 0,
    delayMs: 0,
    breakAfter: 0,
    fillerCharacters: 0,
    hidden: 0,
    stopAfter: -1,
    leaving: 'stay',
    leaveAfterBytes: 0,
    leaveAfterMs: 0,
  };
}

function refusalOf(entry: ClientEntry): string {
  const { status, text } = readAnswer(entry);
  return `${status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? 'without a code'}`;
}
