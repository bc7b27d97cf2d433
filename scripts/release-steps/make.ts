// `bun scripts/release-steps/make.ts FOLDER`: makes the files of a release from this checkout into a
// folder. scripts/release runs it in a clean checkout of the tag.

import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { version } from '../../package.json';
import { buildExecutable, shortCommit } from '../executable.ts';
import { baseFiles } from './container/base.ts';
import { image } from './container/image.ts';
import { deb, monitoringFiles } from './deb.ts';
import { inventory, licencesText } from './inventory.ts';
import { sbom } from './sbom.ts';
import { signMachO } from './sign-mach-o.ts';
import { bytesOf, type Entry, tarGz } from './tar.ts';
import { fetchRuntime, TARGETS, type Target } from './targets.ts';
import { runTool } from './tool.ts';

const root = resolve(import.meta.dir, '../..');

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: {
    /** Names of targets, split by commas. */
    targets: { type: 'string' },
    /** Where fetched runtimes and packages stay. */
    cache: { type: 'string', default: join(root, '.tools/release') },
  },
});
const [folder] = positionals;
if (folder === undefined) throw new Error('Name the folder to write to.');
const chosen = options.targets?.split(',');
await make(
  resolve(folder),
  TARGETS.filter(({ name }) => chosen === undefined || chosen.includes(name)),
);

type Built = { readonly target: Target; readonly executable: Uint8Array };

async function make(out: string, targets: readonly Target[]): Promise<void> {
  await mkdir(out, { recursive: true });
  const commit = shortCommit();
  const seconds = Number(await runTool(['git', '-C', root, 'log', '-1', '--format=%ct']));
  const built: Built[] = [];
  let packages: readonly string[] = [];
  const workshop = await mkdtemp(join(tmpdir(), 'tollgate-release-'));
  try {
    for (const target of targets) {
      const path = await fetchRuntime(target, options.cache);
      const outfile = join(workshop, target.name, 'tollgate');
      const runtime = { target: target.compileTarget, path };
      ({ packages } = await buildExecutable({ outfile, version, commit, runtime }));
      const bytes = await Bun.file(outfile).bytes();
      const executable = target.system === 'macos' ? signMachO(bytes, 'tollgate') : bytes;
      built.push({ target, executable });
      process.stderr.write(`${target.name} is built\n`);
    }
  } finally {
    await rm(workshop, { recursive: true });
  }
  const components = await inventory(packages, Bun.version);
  const licences = licencesText(components, await Bun.file(join(root, 'LICENSE')).text());
  const bom = sbom({ version, seconds, components });

  const names: string[] = [];
  async function write(name: string, content: Uint8Array | string): Promise<void> {
    await Bun.write(join(out, name), content);
    names.push(name);
  }
  const example = await Bun.file(join(root, '.env.example')).text();
  const monitoring = await monitoringFiles();
  for (const { target, executable } of built) {
    const name = `tollgate-${version}-${target.name}`;
    const entries: Entry[] = [
      { path: name, mode: 0o755 },
      { path: `${name}/LICENCES.txt`, mode: 0o644, content: licences },
      { path: `${name}/env.example`, mode: 0o644, content: example },
      { path: `${name}/monitoring`, mode: 0o755 },
      ...monitoring.map((file) => ({
        ...{ path: `${name}/monitoring/${file.name}`, mode: 0o644, content: file.content },
      })),
      { path: `${name}/tollgate`, mode: 0o755, content: executable },
    ];
    await write(`${name}.tar.gz`, tarGz(entries, seconds));
    const { architecture } = target;
    if (architecture === undefined) continue;
    const details = { version, architecture, seconds, executable, licences, sbom: bom };
    await write(`tollgate_${version}_${architecture}.deb`, await deb(details));
    const base = await baseFiles(architecture, options.cache);
    await write(
      `tollgate-${version}-image-${architecture}.tar`,
      image({ version, commit, seconds, licences, architecture, base, executable }),
    );
  }
  await write(`tollgate-${version}-cluster.tar.gz`, await cluster(seconds));
  await write(`tollgate-${version}-sbom.cdx.json`, bom);
  await write('LICENCES.txt', licences);
  const sums = await Promise.all(names.toSorted().map((name) => sumLine(out, name)));
  await Bun.write(join(out, 'SHA256SUMS'), sums.join(''));
  process.stdout.write(sums.join(''));
}

/** The compose file of a cluster, with what it reads. */
async function cluster(seconds: number): Promise<Uint8Array> {
  const base = `tollgate-${version}-cluster`;
  const files = await Promise.all(
    ['compose.yaml', 'haproxy.cfg', 'env.example', 'catalog.toml'].map(async (name) => ({
      path: `${base}/${name}`,
      mode: 0o644,
      content: await Bun.file(join(root, 'scripts/release-steps/container/cluster', name)).text(),
    })),
  );
  return tarGz([{ path: base, mode: 0o755 }, ...files], seconds);
}

async function sumLine(out: string, name: string): Promise<string> {
  const bytes = bytesOf(await Bun.file(join(out, name)).bytes());
  return `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`;
}
