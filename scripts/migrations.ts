// `bun run migrations NAME`: generates the next migration of both databases from the table
// definitions. Add it to the list in src/store/migrations.ts; a test fails until you do.

import { spawn } from 'bun';

const [name] = process.argv.slice(2);
if (name === undefined) {
  process.stderr.write('Name the migration: bun run migrations usage_days\n');
  process.exit(2);
}

const GENERATE = ['bun', 'run', '--bun', 'drizzle-kit', 'generate', '--name', name];

for (const [dialect, schema, folder] of [
  ['sqlite', 'src/store/*tables.ts', 'drizzle/sqlite'],
  ['postgresql', 'scripts/postgres-schema.ts', 'drizzle/postgres'],
] as const) {
  const child = spawn([...GENERATE, '--dialect', dialect, '--schema', schema, '--out', folder], {
    stdin: 'inherit',
    stdout: 'inherit',
    stderr: 'inherit',
  });
  const code = await child.exited;
  if (code !== 0) process.exit(code);
}
