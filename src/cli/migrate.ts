// `tollgate migrate`: migrates the database to this version, or shows what that would do.

import type { Command } from 'commander';
import type { Database } from '../store/contract.ts';
import { migrate, migrationPlan, migrationStatus } from '../store/migrate.ts';
import { addCommand, type Output, type Perform } from './command.ts';

type MigrateOptions = { readonly status?: true; readonly plan?: true };

export function addMigrateCommand(program: Command, perform: Perform): void {
  const command = addCommand(
    program,
    'migrate',
    'bring the database up to this version, all of it or nothing',
  )
    .option('--status', 'only show what is applied and what is not')
    .option('--plan', 'only show the SQL that would be run');
  perform<MigrateOptions>(command, async (context, { status, plan }) => {
    const database = context.openDatabase({ readonly: status === true || plan === true });
    try {
      if (status === true) return await showStatus(database);
      return await (plan === true ? showPlan(database) : applyPending(database));
    } finally {
      await database.close();
    }
  });
}

async function showPlan(database: Database): Promise<Output> {
  const pending = await migrationPlan(database);
  const plan = pending.map(({ tag, sql }) => ({ tag, sql }));
  const text = plan.map(({ tag, sql }) => `-- ${tag}\n${sql.trim()}\n`).join('\n');
  return { json: { plan }, text: text === '' ? '-- The database is up to date.' : text };
}

async function showStatus(database: Database): Promise<Output> {
  const status = await migrationStatus(database);
  const lines = [
    ...status.applied.map((tag) => `applied  ${tag}`),
    ...status.pending.map((tag) => `pending  ${tag}`),
  ];
  return { json: status, text: lines.join('\n') };
}

async function applyPending(database: Database): Promise<Output> {
  const applied = await migrate(database);
  const text =
    applied.length === 0
      ? 'The database is up to date.'
      : `Applied ${applied.length} migrations: ${applied.join(', ')}.`;
  return { json: { applied }, text };
}
