// `bun run build [entry]`: compiles Tollgate into one executable, dist/tollgate. The test suite and
// the benchmark run that file, so what is tested is what is shipped.

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { version } from '../package.json';
import { buildExecutable, shortCommit } from './executable.ts';

const outfile = resolve(import.meta.dir, '../dist/tollgate');
const startedAt = performance.now();
const entry = process.argv[2];
await buildExecutable({
  outfile,
  version,
  commit: shortCommit(),
  ...(entry !== undefined && { entry: resolve(entry) }),
});
const megabytes = ((await stat(outfile)).size / 1e6).toFixed(0);
const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
process.stdout.write(`dist/tollgate ${version}, ${megabytes} MB, built in ${seconds} s\n`);
