// The command line: defines the commands, prints their output and errors, and sets the exit code (0
// done, 1 refused or failed, 2 used wrongly).

import { Command, CommanderError, type OptionValues } from 'commander';
import { CatalogError } from '../catalog/source.ts';
import { ConfigError } from '../config/read.ts';
import { errorCodeOf, messageOf } from '../core/message-of.ts';
import { IdentityError } from '../identity/error.ts';
import { LedgerRefusal, LedgerUnavailable } from '../ledger/error.ts';
import { OperationError } from '../operations/error.ts';
import { isStoreFailure, StoreError, sqliteCode } from '../store/error.ts';
import { fullDiskError } from '../store/full-disk.ts';
import { VERSION } from '../version.ts';
import { addAccountCommands } from './account.ts';
import { addArchiveCommands } from './archive.ts';
import { addAuditCommand } from './audit.ts';
import { addBackupCommand } from './backup.ts';
import { addBlockCommands } from './block.ts';
import { addCatalogCommands } from './catalog.ts';
import { addCodeCommands } from './code.ts';
import { CommandError, type Perform, type Work } from './command.ts';
import { addCompactCommand } from './compact.ts';
import { createContext } from './context.ts';
import { addDocsCommand } from './docs.ts';
import { addDoctorCommand } from './doctor.ts';
import { addExplainCommand } from './explain.ts';
import { addMovingCommands } from './export-import.ts';
import { addHealthCommand } from './health.ts';
import { addInviteCommands } from './invite.ts';
import { addKeyCommands } from './key.ts';
import { addMaintenanceCommands } from './maintenance.ts';
import { addMigrateCommand } from './migrate.ts';
import { addModelCommands } from './models.ts';
import { addNodesCommand } from './nodes.ts';
import { addOperatorCommands } from './operator.ts';
import { addPriceCommands } from './prices.ts';
import { addReceiptCommands } from './receipts.ts';
import { addReconcileCommand } from './reconcile.ts';
import { addRestoreCommand } from './restore.ts';
import { addSelfTestCommand } from './selftest.ts';
import { addServeCommand } from './serve-command.ts';
import { addTokenCommands } from './token.ts';
import { addUpstreamCommands } from './upstream.ts';

/** Runs one command line and returns its exit code; never throws. */
export async function main(argv: readonly string[]): Promise<number> {
  let exitCode = 0;
  process.stdout.on('error', ignoreLostReader);
  const perform: Perform = (command, work) => {
    command.action(async () => {
      exitCode = await carryOut(command, work);
    });
  };
  try {
    await createProgram(perform).parseAsync(argv);
    return exitCode;
  } catch (error) {
    return printFailure(error, argv.includes('--json'));
  }
}

/** A reader such as `head` may have enough before the end, which is no failure. */
function ignoreLostReader(error: Error): void {
  if (errorCodeOf(error) !== 'EPIPE') throw error;
}

function createProgram(perform: Perform): Command {
  const program = new Command('tollgate');
  program
    .description(
      'A gateway that sells text generation through the wire formats that clients speak.',
    )
    .version(VERSION, '--version', 'print the version')
    .helpOption('-h, --help', 'print what a command does and its options')
    .helpCommand(false)
    .exitOverride()
    // Errors are printed in one place, below, as text or as JSON.
    .configureOutput({ outputError: () => undefined });
  addServeCommand(program, perform);
  addMigrateCommand(program, perform);
  addDoctorCommand(program, perform);
  addSelfTestCommand(program, perform);
  addHealthCommand(program, perform);
  addAccountCommands(program, perform);
  addCodeCommands(program, perform);
  addKeyCommands(program, perform);
  addTokenCommands(program, perform);
  addBlockCommands(program, perform);
  addNodesCommand(program, perform);
  addMaintenanceCommands(program, perform);
  addAuditCommand(program, perform);
  addOperatorCommands(program, perform);
  addInviteCommands(program, perform);
  addCatalogCommands(program, perform);
  addModelCommands(program, perform);
  addUpstreamCommands(program, perform);
  addPriceCommands(program, perform);
  addExplainCommand(program, perform);
  addReconcileCommand(program, perform);
  addReceiptCommands(program, perform);
  addArchiveCommands(program, perform);
  addBackupCommand(program, perform);
  addCompactCommand(program, perform);
  addRestoreCommand(program, perform);
  addMovingCommands(program, perform);
  addDocsCommand(program, perform);
  return program;
}

async function carryOut<Options extends OptionValues>(
  command: Command,
  work: Work<Options>,
): Promise<number> {
  const context = createContext(process.env, process.cwd());
  try {
    const options = command.optsWithGlobals<Options>();
    const output = await work(context, options, ...command.args);
    if (output.pieces !== undefined) await printPieces(output.pieces);
    else print(options['json'] === true ? JSON.stringify(output.json) : output.text);
    return output.exitCode ?? 0;
  } catch (error) {
    // Without valid settings there is no database to look at.
    throw error instanceof ConfigError
      ? error
      : (fullDiskError(error, context.config().databaseUrl) ?? error);
  } finally {
    await context.close();
  }
}

function print(text: string): void {
  if (text !== '') process.stdout.write(`${text}\n`);
}

/** Writes one piece at a time: the reader may be slower than the disk. */
async function printPieces(pieces: AsyncIterable<string>): Promise<void> {
  for await (const piece of pieces) {
    const lost = await new Promise((resolve) => process.stdout.write(piece, resolve));
    if (lost instanceof Error) return;
  }
}

function printFailure(error: unknown, asJson: boolean): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const { code, message, exitCode } = describeFailure(error);
  const text = asJson ? JSON.stringify({ error: { code, message } }) : `error: ${message}`;
  process.stderr.write(`${text}\n`);
  return exitCode;
}

type Failure = { readonly code: string; readonly message: string; readonly exitCode: 1 | 2 };

function describeFailure(error: unknown): Failure {
  if (error instanceof CommanderError) return usageFailure(error);
  const message = messageOf(error);
  return { code: failureCode(error), message: plainMessage(error) ?? message, exitCode: 1 };
}

/** A group without a command has already printed its help. */
function usageFailure(error: CommanderError): Failure {
  const message =
    error.code === 'commander.help'
      ? 'A command is missing; --help lists them.'
      : error.message.replace(/^error: /, '');
  return { code: 'usage', message, exitCode: 2 };
}

function failureCode(error: unknown): string {
  if (error instanceof CommandError || error instanceof OperationError) return error.code;
  if (error instanceof IdentityError) return error.code;
  if (error instanceof ConfigError) return 'invalid_configuration';
  if (error instanceof CatalogError) return 'invalid_catalog';
  if (error instanceof LedgerRefusal) return 'ledger_refused';
  if (error instanceof LedgerUnavailable) return 'database_unavailable';
  if (error instanceof StoreError || isStoreFailure(error)) return 'database_unavailable';
  return 'internal_error';
}

/** Messages for errors of the database; other errors have their own. */
function plainMessage(error: unknown): string | undefined {
  const code = sqliteCode(error);
  if (code === undefined) return undefined;
  if (code.startsWith('SQLITE_BUSY')) {
    return 'The database was locked by another process for too long. Nothing was changed; try again.';
  }
  return `The database failed (${code}). Nothing was changed; run tollgate doctor.`;
}
