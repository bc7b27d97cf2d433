// Top-ups by the command line while the gateway serves and is killed: each one is sent several times,
// at once and one after the other, and some of the commands are killed. Its book says what must
// have been booked, once.

import type { Gateway } from '../support/gateway.ts';
import { gatewayCommand } from '../support/gateway.ts';
import type { Random } from './random.ts';

export type Credit = {
  readonly creditId: string;
  readonly accountId: string;
  /** In service tokens. */
  readonly amount: number;
  readonly sent: number;
  readonly killed: number;
  /** The commands that said it was done. */
  readonly confirmed: number;
  /** What the last one said where none was. */
  readonly complaint: string;
};

type Sending = { readonly code: number; readonly said: string; readonly killed: boolean };

/** Sends one credit again and again, until two commands have confirmed it. */
export async function sendCredit(
  gateway: Pick<Gateway, 'directory'>,
  random: Random,
  { creditId, accountId, amount }: Pick<Credit, 'creditId' | 'accountId' | 'amount'>,
): Promise<Credit> {
  const command = ['account', 'credit', accountId, String(amount), '--id', creditId, '--json'];
  const send = (killAfterMs?: number) => runCommand(gateway.directory, command, killAfterMs);
  const killAfterMs = random.chance(0.4) ? random.whole(5, 90) : undefined;
  const sendings = [...(await Promise.all([send(killAfterMs), send()])), await send()];
  return {
    creditId,
    accountId,
    amount,
    sent: sendings.length,
    killed: sendings.filter(({ killed }) => killed).length,
    confirmed: sendings.filter(({ code }) => code === 0).length,
    complaint: sendings.find(({ code, killed }) => code !== 0 && !killed)?.said ?? '',
  };
}

export async function runCommand(
  directory: string,
  command: readonly string[],
  killAfterMs?: number,
): Promise<Sending> {
  const child = Bun.spawn([...gatewayCommand(), ...command], {
    cwd: directory,
    env: { PATH: process.env['PATH'] ?? '', HOME: directory },
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
