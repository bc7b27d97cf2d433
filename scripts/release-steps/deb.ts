// Writes the Debian package, without dpkg: an ar archive of two tar archives (deb(5)).

import { createHash } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { ar, bytesOf, type Entry, gzip, tarGz } from './tar.ts';

const packaging = resolve(import.meta.dir, 'packaging');
const root = resolve(import.meta.dir, '../..');

const MAINTAINER = 'Tollgate maintainers <maintainers@tollgate.example>';

type DebOptions = {
  readonly version: string;
  readonly architecture: 'amd64' | 'arm64';
  /** Unix seconds of every file. */
  readonly seconds: number;
  readonly executable: Uint8Array;
  readonly licences: string;
  readonly sbom: string;
};

type MonitoringFile = { readonly name: string; readonly content: string };

/** The bytes of the package. The oldest C library that Bun's symbols need is 2.17. */
export async function deb(options: DebOptions): Promise<Uint8Array> {
  const files = await packageFiles(options);
  const data = tarGz(withFolders(files), options.seconds);
  const control = tarGz(await controlFiles(options, files), options.seconds);
  const members = [
    { name: 'debian-binary', content: bytesOf('2.0\n') },
    { name: 'control.tar.gz', content: control },
    { name: 'data.tar.gz', content: data },
  ];
  return ar(members, options.seconds);
}

/** Debian's name for a version: a pre-release sorts before its release. */
export function debianVersion(version: string): string {
  return version.replace('-', '~');
}

async function packageFiles(options: DebOptions): Promise<readonly Entry[]> {
  const text = (name: string): Promise<string> => Bun.file(join(packaging, name)).text();
  const doc = 'usr/share/doc/tollgate';
  const file = (path: string, content: Uint8Array | string, mode = 0o644): Entry => ({
    ...{ path, content, mode },
  });
  return [
    file('etc/tollgate/environment', await text('environment'), 0o640),
    file('usr/bin/tollgate', options.executable, 0o755),
    file('usr/lib/systemd/system/tollgate.service', await text('tollgate.service')),
    file(`${doc}/README.Debian`, await text('README.Debian')),
    file(`${doc}/changelog.gz`, gzip(bytesOf(changelog(options)), 9)),
    file(`${doc}/copyright`, await copyright()),
    file(`${doc}/components.txt.gz`, gzip(bytesOf(options.licences), 9)),
    file(`${doc}/examples/catalog.toml`, await text('catalog.toml')),
    file(`${doc}/examples/environment`, await Bun.file(join(root, '.env.example')).text()),
    ...(await monitoringFiles()).map(({ name, content }) =>
      file(`${doc}/examples/${name}`, content),
    ),
    file(`${doc}/sbom.cdx.json.gz`, gzip(bytesOf(options.sbom), 9)),
    file('usr/share/lintian/overrides/tollgate', await text('lintian-overrides')),
    { path: 'var/lib/tollgate', mode: 0o750 },
  ];
}

/** The alert rules for Prometheus and the dashboard for Grafana. */
export function monitoringFiles(): Promise<readonly MonitoringFile[]> {
  const names = ['grafana-dashboard.json', 'prometheus-rules.yml'];
  return Promise.all(
    names.map(async (name) => ({
      name,
      content: await Bun.file(join(packaging, 'monitoring', name)).text(),
    })),
  );
}

/** Every folder above the entries, each before what it contains. */
function withFolders(files: readonly Entry[]): readonly Entry[] {
  const given = new Set(files.map(({ path }) => path));
  const folders = new Set<string>();
  for (const { path } of files) {
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
      if (!given.has(folder)) folders.add(folder);
    }
  }
  const all = [...files, ...[...folders].map((path) => ({ path, mode: 0o755 }))];
  const sorted = all.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return [
    { path: '.', mode: 0o755 },
    ...sorted.map((each) => ({ ...each, path: `./${each.path}` })),
  ];
}

async function controlFiles(
  options: DebOptions,
  files: readonly Entry[],
): Promise<readonly Entry[]> {
  const scripts = await Promise.all(
    ['postinst', 'postrm', 'prerm'].map(async (name) => ({
      path: `./${name}`,
      mode: 0o755,
      content: await Bun.file(join(packaging, name)).text(),
    })),
  );
  const sums = files.flatMap(({ path, content }) => {
    if (content === undefined || path.startsWith('etc/')) return [];
    return `${createHash('md5').update(bytesOf(content)).digest('hex')}  ${path}\n`;
  });
  return [
    { path: '.', mode: 0o755 },
    { path: './conffiles', mode: 0o644, content: '/etc/tollgate/environment\n' },
    { path: './control', mode: 0o644, content: controlText(options, files) },
    { path: './md5sums', mode: 0o644, content: sums.join('') },
    ...scripts,
  ];
}

function controlText({ version, architecture }: DebOptions, files: readonly Entry[]): string {
  const bytes = files.reduce((sum, { content = '' }) => sum + bytesOf(content).length, 0);
  return `Package: tollgate
Version: ${debianVersion(version)}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${Math.ceil(bytes / 1_024)}
Depends: adduser, init-system-helpers (>= 1.54), libc6 (>= 2.17)
Section: net
Priority: optional
Description: gateway that sells text generation
 Tollgate runs in front of language models. It serves chat completions and
 Messages, keeps keys, limits and prepaid balances, and reports on every answer
 what it cost. The books are in SQLite, or in PostgreSQL for several nodes.
`;
}

function changelog({ version, seconds }: DebOptions): string {
  const date = new Date(seconds * 1_000).toUTCString().replace('GMT', '+0000');
  return `tollgate (${debianVersion(version)}) stable; urgency=medium

  * See the changelog of Tollgate ${version}.

 -- ${MAINTAINER}  ${date}
`;
}

async function copyright(): Promise<string> {
  const own = await Bun.file(join(root, 'LICENSE')).text();
  return `Upstream-Name: Tollgate

${own.trim()}

The executable contains Bun and packages of npm. components.txt.gz in this folder
has the licence of each, and sbom.cdx.json.gz their versions.
`;
}
