// Top-ups and codes by the command line while the gateway serves and is killed. Each is sent
// several times, in parallel and in sequence, and some of the commands are killed. A client that
// finds no database retries until there is one. Its record says what must be booked once. No two
// amounts are equal, so that the amount identifies the top-up.

import { gatewayCommand } from '../support/gateway.ts';
import { writeTokens } from './amounts.ts';
import type { Random } from './random.ts';

export type Credit = {
  readonly kind: 'credit' | 'redemption';
  /** In 10⁻⁶ service token. */
  readonly amount: bigint;
  /** Accounts that got a confirmation of the money; it has to be one. */
  readonly takers: readonly string[];
  readonly sent: number;
  readonly killed: number;
  /** What a command said that was neither done nor refused for another's sake. */
  readonly complaint: string;
};

/** Where commands run beside the servers, and with which settings. */
export type CommandPlace = {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
};

type Sending = {
  readonly accountId: string;
  readonly code: number;
  readonly said: string;
  readonly killed: boolean;
};

/** Sends one top-up again and again. */
export async function sendCredit(
  place: CommandPlace,
  random: Random,
  accountId: string,
  amount: bigint,
): Promise<Credit> {
  const send = senderOf(place, accountId, amount);
  const first = await Promise.all([send(drawKill(random)), send()]);
  const sendings = [...first, await untilAnswered(send)];
  return creditOf('credit', amount, sendings);
}

/** Sends one top-up, once. */
export async function sendCreditOnce(
  place: CommandPlace,
  accountId: string,
  amount: bigint,
): Promise<Credit> {
  const sending = await untilAnswered(senderOf(place, accountId, amount));
  return creditOf('credit', amount, [sending]);
}

function senderOf(place: CommandPlace, accountId: string, amount: bigint) {
  const id = `crash-${amount}`;
  const command = ['account', 'credit', accountId, writeTokens(amount), '--id', id, '--json'];
  return async (killAfterMs?: number): Promise<Sending> => ({
    accountId,
    ...(await runCommand(place, command, killAfterMs)),
  });
}

/** Makes a code, which two accounts want at the same time, and want again. */
export async function redeemCode(
  place: CommandPlace,
  random: Random,
  rivals: readonly string[],
  amount: bigint,
): Promise<Credit> {
  const create = ['code', 'create', '--amount', writeTokens(amount), '--reason', 'crash'];
  const created = await untilAnswered(() => runCommand(place, [...create, '--json']));
  const code = /"code": *"([^"]+)"/.exec(created.said)?.[1] ?? 'none';
  const send = async (accountId: string, killAfterMs?: number): Promise<Sending> => {
    const command = ['code', 'redeem', code, '--account', accountId, '--json'];
    return { accountId, ...(await runCommand(place, command, killAfterMs)) };
  };
  const first = await Promise.all(rivals.map((accountId) => send(accountId, drawKill(random))));
  const again = await Promise.all(rivals.map((id) => untilAnswered(() => send(id))));
  return creditOf('redemption', amount, [...first, ...again]);
}

function drawKill(random: Random): number | undefined {
  return random.chance(0.4) ? random.whole(5, 90) : undefined;
}

/** A PostgreSQL that has crashed is back soon. */
async function untilAnswered<T extends { readonly said: string }>(
  send: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await send();
    if (!isUnavailable(answer.said) || attempt === ATTEMPTS) return answer;
    await Bun.sleep(200);
  }
}

const ATTEMPTS = 50;

function isUnavailable(said: string): boolean {
  return said.includes('"database_unavailable"');
}

function creditOf(kind: Credit['kind'], amount: bigint, sendings: readonly Sending[]): Credit {
  const done = sendings.filter(({ code }) => code === 0).map(({ accountId }) => accountId);
  const wrong = sendings.find(
    ({ code, killed, said }) =>
      code !== 0 && !killed && !said.includes('code_used') && !isUnavailable(said),
  );
  return {
    kind,
    amount,
    takers: [...new Set(done)],
    sent: sendings.length,
    killed: sendings.filter(({ killed }) => killed).length,
    complaint: wrong?.said ?? '',
  };
}

export async function runCommand(
  { directory, environment }: CommandPlace,
  command: readonly string[],
  killAfterMs?: number,
): Promise<Omit<Sending, 'accountId'>> {
  const child = Bun.spawn([...gatewayCommand(), ...command], {
    cwd: directory,
    env: { PATH: process.env['PATH'] ?? '', HOME: directory, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const timer =
    killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  const [stdout, stderr, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  clearTimeout(timer);
  return { code, said: `${stdout}${stderr}`.trim(), killed: child.signalCode === 'SIGKILL' };
}
