// The actors of a round beside the faults: clients that keep sending requests, operators who top up
// accounts, and an observer of balances. They know a server only by its address.

import { readTokens } from './amounts.ts';
import type { GatewayLag, Lag, RoundAccount, Sample, Verdict } from './books.ts';
import { ask, type ClientEntry, readAnswer, type Target } from './client.ts';
import {
  type CommandPlace,
  type Credit,
  redeemCode,
  runCommand,
  sendCredit,
  sendCreditOnce,
} from './credits.ts';
import { type Drawn, drawRequest } from './draw.ts';
import type { Killer, Trigger } from './killer.ts';
import { type ReceiptRow, receiptOf } from './ledger.ts';
import type { Random } from './random.ts';
import { ACCOUNTS, type AccountName } from './setup.ts';
import type { CrashUpstream } from './upstream.ts';

/** What the parties of a round share. */
export type Stage = {
  readonly random: Random;
  readonly upstream: CrashUpstream;
  readonly accounts: readonly RoundAccount[];
  readonly clients: ClientEntry[];
  readonly commands: CommandPlace;
  /** Where to ask now; waits while no gateway serves. */
  readonly target: () => Promise<Target>;
  /** Something happened to a request that was sent to that target. */
  readonly happened: (trigger: Trigger, target: Target) => void;
  readonly over: () => boolean;
};

const SAMPLE_EVERY_MS = 100;

/** Every client asks again and again until the round is over. */
export async function playClients(stage: Stage): Promise<void> {
  const clients = ACCOUNTS.flatMap(({ name, clients }) =>
    stage.accounts
      .filter((account) => account.name === name)
      .flatMap((account) => Array.from({ length: clients }, (_, lane) => ({ account, lane }))),
  );
  await Promise.all(
    clients.map(async ({ account, lane }) => {
      const random = stage.random.fork(`client ${account.name} ${lane}`);
      for (let turn = 0; !stage.over(); turn += 1) {
        const drawn = drawRequest(random, account.name, `${account.name}-${lane}-${turn}`);
        const entry = await askAs(stage, account, drawn);
        const refused = (readAnswer(entry).status ?? 503) >= 400;
        await Bun.sleep(refused ? random.whole(20, 150) : random.whole(0, 30));
      }
    }),
  );
}

export async function askAs(
  stage: Stage,
  account: RoundAccount,
  drawn: Drawn,
  patienceMs?: number,
): Promise<ClientEntry> {
  const { happened, clients } = stage;
  const target = await stage.target();
  const watch = {
    onAsk: () => happened('ask', target),
    onBill: () => happened('bill', target),
    onLeave: () => happened('leave', target),
  };
  const entry = await ask(target, account.key, drawn, watch, patienceMs);
  clients.push(entry);
  return entry;
}

/** Tops up the accounts that are always short of money, and lets two of them race for codes. */
export async function playCredits({ random, commands, accounts, over }: Stage): Promise<Credit[]> {
  const own = random.fork('credits');
  const short = shortOfMoney(accounts);
  const credits: Credit[] = [];
  while (!over()) {
    const account = own.pick(short);
    const tokens = account.name === 'growing' ? own.whole(5_000, 25_000) : own.whole(100, 1_500);
    const amount = BigInt(tokens) * 1_000_000n + BigInt(credits.length + 1);
    const rivals = [account.id, own.pick(short.filter(({ id }) => id !== account.id)).id];
    credits.push(
      own.chance(0.4)
        ? await redeemCode(commands, own, rivals, amount)
        : await sendCredit(commands, own, account.id, amount),
    );
    await Bun.sleep(own.whole(100, 500));
  }
  return credits;
}

/** What `/v1/account` says, again and again. */
export async function playSamples({ target, accounts, over }: Stage): Promise<Sample[]> {
  const samples: Sample[] = [];
  while (!over()) {
    const { url } = await target();
    for (const { id, key } of accounts) {
      const answer = await fetch(`${url}/v1/account`, {
        headers: { 'x-api-key': key },
        signal: AbortSignal.timeout(SAMPLE_PATIENCE_MS),
      })
        .then((response) => response.json())
        // A gateway that has just been killed says nothing.
        .catch(() => undefined);
      const available = availableOf(answer);
      if (available !== undefined) samples.push({ accountId: id, atMs: Date.now(), available });
    }
    await Bun.sleep(SAMPLE_EVERY_MS);
  }
  return samples;
}

const SAMPLE_PATIENCE_MS = 2_000;

function availableOf(answer: unknown): string | undefined {
  const record = answer as { readonly balance?: { readonly available?: string } } | undefined;
  return record?.balance?.available;
}

/**
 * Gives the accounts that are short of money what a burst needs. The ledger takes another request
 * of an account only if its balance covers the worst cases of all its open requests but one, and a
 * refusal for that would look like a slot that leaked.
 */
export async function fundBursts({ commands, accounts }: Stage): Promise<Credit[]> {
  const credits: Credit[] = [];
  for (const { id } of shortOfMoney(accounts)) {
    // No other top-up is so large: its amount stays its own.
    const amount = BURST_CREDIT + BigInt(credits.length);
    credits.push(await sendCreditOnce(commands, id, amount));
  }
  return credits;
}

const BURST_CREDIT = readTokens('1000000');

const RICH: readonly AccountName[] = ['roomy', 'narrow', 'keyed'];

function shortOfMoney(accounts: readonly RoundAccount[]): RoundAccount[] {
  return accounts.filter(({ name }) => !RICH.includes(name));
}

/** The gateway's own judges. */
export async function askForVerdicts(place: CommandPlace): Promise<Verdict[]> {
  const commands = [
    ['doctor', '--json'],
    ['receipts', 'verify', '--all', '--json'],
  ];
  return Promise.all(
    commands.map(async (command): Promise<Verdict> => {
      const { code, said } = await runCommand(place, command);
      return { command: command.join(' '), ok: code === 0, said: said.slice(0, 1_000) };
    }),
  );
}

/** The receipts of all accounts as their customers get them. */
export async function exportReceipts(
  place: CommandPlace,
  accounts: readonly RoundAccount[],
): Promise<ReceiptRow[]> {
  const receipts: ReceiptRow[] = [];
  for (const { id } of accounts) {
    const { code, said } = await runCommand(place, ['receipts', 'export', '--account', id]);
    if (code !== 0) throw new Error(`receipts export ended with ${code}: ${said}`);
    receipts.push(...said.trim().split('\n').flatMap(receiptOf));
  }
  return receipts;
}

const TICK_MS = 10;

const PULSE_EVERY_MS = 50;

/** Less than this is nothing that a law is so exact about. */
const LATE_MS = 20;

/** How long a gateway took for an answer that needs nothing but its processor, again and again. */
export async function takePulse(killer: Killer, ended: () => boolean): Promise<GatewayLag[]> {
  const lags: GatewayLag[] = [];
  while (!ended()) {
    const { url, generation } = await killer.target();
    const fromMs = Date.now();
    // One that was killed, or is stalled, is late all the same.
    const signal = AbortSignal.timeout(SAMPLE_PATIENCE_MS);
    await fetch(`${url}/healthz`, { signal }).catch(() => undefined);
    const toMs = Date.now();
    const lateMs = toMs - fromMs;
    if (lateMs > LATE_MS) lags.push({ generation, fromMs, toMs, lateMs });
    await Bun.sleep(PULSE_EVERY_MS);
  }
  return lags;
}

/** Watches how late this process is with its own timers: it cannot measure finer than that. */
export function watchLag(): { readonly stop: () => readonly Lag[] } {
  const lags: Lag[] = [];
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const passedMs = performance.now() - lastMs;
    lastMs += passedMs;
    const lateMs = Math.ceil(passedMs - TICK_MS);
    if (lateMs > LATE_MS) lags.push({ fromMs: Date.now() - passedMs, toMs: Date.now(), lateMs });
  }, TICK_MS);
  return {
    stop() {
      clearInterval(timer);
      return lags;
    },
  };
}
