// Clients of a round that send an `Idempotency-Key`: they are cut off or leave, and repeat until
// there is an end, which may be after the round. At rest they ask for each answer once more.

import { askAs, type Stage } from './actors.ts';
import type { KeyedEntry, RoundAccount } from './books.ts';
import { type ClientEntry, readAnswer } from './client.ts';
import { type Drawn, drawRequest } from './draw.ts';
import type { Random } from './random.ts';

/** How often a client repeats a key when all is mended; a key without an end is a finding then. */
const LAST_TRIES = 40;

/** What ends a key for its client: a complete answer, or that it is lost. */
export function isFinal(entry: ClientEntry): boolean {
  const { status } = readAnswer(entry);
  return entry.complete && (status === 200 || status === 410);
}

export async function playKeyed(stage: Stage): Promise<KeyedEntry[]> {
  const account = accountOf(stage);
  const keyed: KeyedEntry[] = [];
  await Promise.all(
    Array.from({ length: account.concurrency + 1 }, async (_, lane) => {
      const random = stage.random.fork(`keyed ${lane}`);
      for (let turn = 0; !stage.over(); turn += 1) {
        const drawn = drawKeyed(random, `keyed-${lane}-${turn}`);
        const tries: ClientEntry[] = [];
        keyed.push({ mark: drawn.mark, tries });
        await playKey({ ...stage, clients: tries }, account, random, drawn);
      }
    }),
  );
  return keyed;
}

/** Repeats each key that has an end, when the servers are at rest. */
export async function repeatKeyed(
  stage: Stage,
  keyed: readonly KeyedEntry[],
): Promise<KeyedEntry[]> {
  const account = accountOf(stage);
  const repeated: KeyedEntry[] = [];
  for (const { mark, tries } of keyed) {
    const clients = [...tries];
    const last = tries.at(-1);
    if (last !== undefined && isFinal(last)) {
      await askAs({ ...stage, clients }, account, { ...last.drawn, leaving: 'stay' });
    }
    repeated.push({ mark, tries: clients });
  }
  return repeated;
}

/** `stage.clients` are the tries of this key alone. */
async function playKey(
  stage: Stage,
  account: RoundAccount,
  random: Random,
  first: Drawn,
): Promise<void> {
  const { clients: tries } = stage;
  const wanted = random.whole(1, 3);
  for (let late = 0; late < LAST_TRIES; late += stage.over() ? 1 : 0) {
    const leaving = tries.length === 0 ? first.leaving : 'stay';
    const entry = await askAs(stage, account, { ...first, leaving });
    if (tries.filter(isFinal).length >= wanted) return;
    const pauseMs = random.whole(20, 300);
    if (!isFinal(entry)) await Bun.sleep(stage.over() ? Math.max(pauseMs, toldMs(entry)) : pauseMs);
  }
}

/** A killed node holds its slots for longer than 40 short pauses; the refusal says when to ask again. */
function toldMs(entry: ClientEntry): number {
  return Number(readAnswer(entry).headers.get('retry-after') ?? 0) * 1_000;
}

/** Nothing that fails at each try: then a key would have no end. */
function drawKeyed(random: Random, mark: string): Drawn {
  const drawn = drawRequest(random, 'keyed', mark);
  const { stream, model, words } = drawn;
  const breaks = stream && model !== 'thinker' && words > 3 && random.chance(0.2);
  return {
    ...drawn,
    isKeyed: true,
    behaviour: breaks ? 'short' : 'ok',
    breakAfter: breaks ? random.whole(3, words) : 0,
  };
}

function accountOf({ accounts }: Stage): RoundAccount {
  const account = accounts.find(({ name }) => name === 'keyed');
  if (account === undefined) throw new Error('no account sends keys');
  return account;
}
