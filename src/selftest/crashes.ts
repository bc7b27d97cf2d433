// Kills the gateway with SIGKILL under load, starts it again, and compares the bills that clients
// saw with the books.

import { sql } from 'drizzle-orm';
import { withTimeout } from '../async/timeout.ts';
import { MICRO_DECIMALS, parseDecimal } from '../core/money.ts';
import { usageRecords } from '../store/money-views.ts';
import { openCopy } from '../store/sqlite-copy.ts';
import { ask, type Caller, type ReceivedAnswer } from './answer.ts';
import { type Check, checkOf } from './check.ts';
import type { Scratch } from './scratch.ts';
import { SLOW_MODEL } from './upstream.ts';

const CLIENTS = 12;
/** From the first complete answer to the kill; drawn between the two. */
const KILL_MS = { least: 300, most: 1_800 };
/** How long the first answer of a load may take. */
const FIRST_ANSWER_MS = 30_000;

type Seen = { readonly answers: ReceivedAnswer[]; cutOff: number };

export async function checkCrashes(
  scratch: Scratch,
  options: { readonly key: string; readonly rounds: number; readonly random: () => number },
): Promise<readonly Check[]> {
  const { key, rounds, random } = options;
  const seen: Seen = { answers: [], cutOff: 0 };
  const wrong: Record<'loads' | 'bills' | 'holds' | 'audits', string[]> = {
    loads: [],
    bills: [],
    holds: [],
    audits: [],
  };
  for (let round = 1; round <= rounds; round += 1) {
    const gateway = await scratch.start();
    const load = startLoad(scratch.callerOf(gateway, key), seen, random);
    await withTimeout(FIRST_ANSWER_MS, load.answered);
    await Bun.sleep(KILL_MS.least + random() * (KILL_MS.most - KILL_MS.least));
    const cutBefore = seen.cutOff;
    await gateway.kill();
    await load.end();
    if (seen.cutOff === cutBefore) wrong.loads.push(`kill ${round} cut no answer off`);
    // Recovers what the killed one has left.
    const again = await scratch.start();
    await again.kill();
    const { booked, openHolds } = await readBooks(scratch.database);
    for (const { requestId, debited } of seen.answers) {
      const inBooks = booked.get(requestId);
      const billed = parseDecimal(debited ?? '', MICRO_DECIMALS);
      if (billed !== undefined && inBooks === billed) continue;
      wrong.bills.push(`${requestId} was billed ${debited}, the books have ${inBooks}`);
    }
    if (openHolds > 0) wrong.holds.push(`${openHolds} after kill ${round}`);
    wrong.audits.push(...(await auditOf(scratch)));
  }
  const answers = `${seen.answers.length} complete answers, ${seen.cutOff} cut off`;
  const kills = `${rounds} kills (SIGKILL) under ${CLIENTS} clients`;
  if (seen.answers.length === 0) wrong.loads.push('no answer was complete');
  return [
    checkOf('load at each kill', wrong.loads, `${kills}: ${answers}`),
    checkOf('bills after a crash', wrong.bills, 'each complete answer is booked as billed'),
    checkOf('holds after a crash', wrong.holds, 'each hold is settled or released'),
    checkOf('audit after a crash', wrong.audits, 'every balance is the sum of its entries'),
  ];
}

/** Copies the database beside requests, puts the copy in its place, and audits that. */
export async function checkBackup(
  scratch: Scratch,
  options: { readonly key: string; readonly random: () => number },
): Promise<readonly Check[]> {
  const gateway = await scratch.start();
  const seen: Seen = { answers: [], cutOff: 0 };
  const load = startLoad(scratch.callerOf(gateway, options.key), seen, options.random);
  const { backup } = await scratch.run('backup', 'copy.db');
  await gateway.kill();
  await load.end();
  const { bytes, differences } = backup as {
    readonly bytes: number;
    readonly differences: number | null;
  };
  const { restore } = await scratch.run('restore', 'copy.db', '--yes');
  const { replaced } = restore as { readonly replaced: boolean };
  const wrong = [
    ...(differences === 0 ? [] : [`the copy has ${differences} differences`]),
    ...(replaced ? [] : ['the copy was not restored']),
    ...(await auditOf(scratch)),
  ];
  return [checkOf('backup under load', wrong, `${bytes} bytes copied, audited, restored, audited`)];
}

type Load = {
  readonly answered: Promise<void>;
  /** After the kill; resolves when the last client has its answer. */
  readonly end: () => Promise<unknown>;
};

/** Clients that ask again and again until the gateway is gone. */
function startLoad(caller: Caller, seen: Seen, random: () => number): Load {
  const answered = Promise.withResolvers<void>();
  let isKilled = false;

  async function client(number: number): Promise<void> {
    while (!isKilled) {
      try {
        const answer = await ask(caller, {
          format: number % 2 === 0 ? 'chat' : 'messages',
          stream: random() < 0.7,
          model: SLOW_MODEL,
        });
        if (answer.status !== 200) continue;
        if (answer.complete) {
          seen.answers.push(answer);
          answered.resolve();
        } else seen.cutOff += 1;
      } catch {
        // The gateway is gone, or does not answer.
        return;
      }
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, number) => client(number));
  return {
    answered: answered.promise,
    end() {
      isKilled = true;
      return Promise.all(clients);
    },
  };
}

type Books = { readonly booked: ReadonlyMap<string, bigint>; readonly openHolds: number };

async function readBooks(path: string): Promise<Books> {
  const database = openCopy(path);
  try {
    const rows = await database.db
      .select({ requestId: usageRecords.requestId, debited: usageRecords.debited })
      .from(usageRecords);
    const [holds] = await database.rows<{ count: bigint }>(
      sql`select count(*) as count from open_holds`,
    );
    return {
      booked: new Map(rows.map(({ requestId, debited }) => [requestId, BigInt(debited)])),
      openHolds: Number(holds?.count ?? 0n),
    };
  } finally {
    await database.close();
  }
}

async function auditOf(scratch: Scratch): Promise<string[]> {
  const { checks } = await scratch.run('doctor');
  const found = (checks as readonly Check[]).filter(({ name }) => /^(database|ledger)$/.test(name));
  if (found.length !== 2) return ['tollgate doctor did not audit'];
  return found.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`);
}
