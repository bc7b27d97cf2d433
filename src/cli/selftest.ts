// `tollgate selftest`: prints the table of the self-test with version, machine and checksum.

import { type Command, Option } from 'commander';
import type { Check } from '../selftest/check.ts';
import type { SelfTest } from '../selftest/selftest.ts';
import type { Part } from '../selftest/upstream.ts';
import { addCommand, type Output, type Perform, table } from './command.ts';
import type { Context } from './context.ts';
import { parseCount } from './parse.ts';

type Options = {
  readonly rounds: string;
  readonly part?: Part;
  readonly target?: string;
};

export function addSelfTestCommand(program: Command, perform: Perform): void {
  perform<Options>(
    addCommand(program, 'selftest', 'prove on this machine what the documentation promises')
      .option('--rounds <number>', 'how often the gateway is killed under load', '5')
      // What the command starts itself.
      .addOption(new Option('--part <name>').choices(['upstream', 'forwarder']).hideHelp())
      .addOption(new Option('--target <url>').hideHelp()),
    selfTest,
  );
}

async function selfTest(_context: Context, options: Options): Promise<Output> {
  if (options.part !== undefined) {
    const { servePart } = await import('../selftest/upstream.ts');
    return servePart(options.part, options.target ?? '', (url) =>
      process.stdout.write(`listening on ${url}\n`),
    );
  }
  const rounds = parseCount(options.rounds, '--rounds') ?? 1;
  const module = await import('../selftest/selftest.ts');
  const result = await module.selfTest({
    rounds,
    random: Math.random,
    // Standard output has one document; this shows the progress.
    onChecks: (checks) =>
      process.stderr.write(checks.map((check) => `${lineOf(check)}\n`).join('')),
  });
  return {
    json: { selftest: recordOf(result) },
    text: textOf(result),
    exitCode: result.ok ? 0 : 1,
  };
}

const verdict = ({ ok }: Check): string => (ok ? 'ok' : 'FAILED');

const lineOf = (check: Check): string => `${verdict(check)} ${check.name}`;

function textOf(result: SelfTest): string {
  const { checks, ok, version, checksum, machine, startedAt, seconds } = result;
  const held = checks.filter((check) => check.ok).length;
  return [
    table(
      ['CHECK', 'RESULT', 'DETAIL'],
      checks.map((check) => [check.name, verdict(check), check.detail]),
    ),
    '',
    `version     ${version}`,
    `${result.isExecutable ? 'executable ' : 'runtime    '} sha256 ${checksum}`,
    `machine     ${machine}`,
    `run         ${startedAt}, ${seconds} s`,
    `signed off  ${ok ? 'yes' : 'NO'}: ${held} of ${checks.length} checks hold`,
  ].join('\n');
}

function recordOf(result: SelfTest): Record<string, unknown> {
  const { checks, ok, version, checksum, machine, startedAt, seconds, overhead } = result;
  return {
    ok,
    version,
    sha256: checksum,
    executable: result.isExecutable,
    machine,
    started_at: startedAt,
    duration_seconds: seconds,
    checks,
    overhead:
      overhead === undefined
        ? null
        : {
            p50_ms: overhead.p50Ms,
            p99_ms: overhead.p99Ms,
            answers_per_second: overhead.perSecond,
          },
  };
}
