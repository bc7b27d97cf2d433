// What scripts/release runs: clones the tag into a temporary folder, lets that checkout make the files,
// compares a second run, and checks the result.

import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkRelease } from './check.ts';
import { runTool } from './tool.ts';

const root = resolve(import.meta.dir, '../..');
const cache = join(root, '.tools/release');

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    commit: { type: 'boolean', default: false },
    twice: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
  },
});
const [tag] = positionals;
if (options.commit === (tag !== undefined)) {
  process.stderr.write('Name a tag, such as v1.0.0, or use --commit for the last commit.\n');
  process.exit(2);
}
process.exitCode = (await release(tag ?? 'HEAD')) ? 0 : 1;

async function release(reference: string): Promise<boolean> {
  const first = await makeIn('one', reference);
  try {
    if (options.twice && !(await isRepeatable(first, reference))) return false;
    const out = join(root, 'dist/release', first.version);
    await rm(out, { recursive: true, force: true });
    await cp(first.files, out, { recursive: true });
    process.stdout.write(`${first.sums}The files are in dist/release/${first.version}.\n`);
    return !options.check || (await checkRelease(out, first.version));
  } finally {
    await rm(first.folder, { recursive: true });
  }
}

type Made = {
  readonly folder: string;
  readonly files: string;
  readonly version: string;
  readonly sums: string;
};

/** `name` makes paths of different lengths, which must not show in the files. */
async function makeIn(name: string, reference: string): Promise<Made> {
  const folder = await mkdtemp(join(tmpdir(), `tollgate-release-${name}-`));
  const checkout = join(folder, 'checkout');
  await runTool(['git', 'clone', '--quiet', '--no-checkout', root, checkout]);
  await runTool([
    'git',
    '-C',
    checkout,
    'checkout',
    '--quiet',
    '--detach',
    await hashOf(reference),
  ]);
  const manifest: { version: string } = await Bun.file(join(checkout, 'package.json')).json();
  const { version } = manifest;
  if (tag !== undefined && tag !== `v${version}`) {
    throw new Error(`The tag ${tag} is of version ${version} by its package.json.`);
  }
  const bun = process.execPath;
  await runTool([bun, 'install', '--frozen-lockfile'], { cwd: checkout });
  const files = join(folder, 'files');
  const make = ['scripts/release-steps/make.ts', files, '--cache', cache];
  const sums = await runTool([bun, ...make], { cwd: checkout });
  return { folder, files, version, sums };
}

async function hashOf(reference: string): Promise<string> {
  const name = reference === 'HEAD' ? reference : `refs/tags/${reference}`;
  return (await runTool(['git', '-C', root, 'rev-parse', `${name}^{commit}`])).trim();
}

/** Whether a second checkout makes the same bytes. */
async function isRepeatable(first: Made, reference: string): Promise<boolean> {
  const second = await makeIn('another', reference);
  await rm(second.folder, { recursive: true });
  if (second.sums === first.sums) {
    process.stdout.write('Two builds in different folders made the same bytes.\n');
    return true;
  }
  process.stderr.write(`Two builds differ:\n${first.sums}and\n${second.sums}`);
  return false;
}
