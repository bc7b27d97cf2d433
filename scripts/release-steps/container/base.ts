// The files of the image below the program: Debian's C library and the few files of /etc that it
// reads. There is no shell and no package manager in the image.

import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry } from '../tar.ts';
import { runTool } from '../tool.ts';
import { name, sha256, version } from './packages.json';

export type Architecture = 'amd64' | 'arm64';

/** The numbers of the user that the program runs as. */
export const USER = 65_532;

/** Where Debian keeps the libraries, and where programs look for the loader. */
const PLACES = {
  amd64: { triplet: 'x86_64-linux-gnu', loader: 'ld-linux-x86-64.so.2', loaderFolder: 'lib64' },
  arm64: { triplet: 'aarch64-linux-gnu', loader: 'ld-linux-aarch64.so.1', loaderFolder: 'lib' },
} as const;

const LIBRARIES = [
  ...['libc.so.6', 'libdl.so.2', 'libm.so.6', 'libpthread.so.0', 'librt.so.1'],
  ...['libnss_dns.so.2', 'libnss_files.so.2', 'libresolv.so.2'],
];

/** The entries of the image's first layer. `cache` keeps the packages. */
export async function baseFiles(
  architecture: Architecture,
  cache: string,
): Promise<readonly Entry[]> {
  const { triplet, loader, loaderFolder } = PLACES[architecture];
  const unpacked = await mkdtemp(join(tmpdir(), 'tollgate-base-'));
  try {
    await runTool(['dpkg-deb', '-x', await fetchLibrary(architecture, cache), unpacked]);
    const folder = `lib/${triplet}`;
    const libraries = await Promise.all(
      [loader, ...LIBRARIES].toSorted().map(async (file) => ({
        path: `${folder}/${file}`,
        mode: 0o755,
        content: await Bun.file(join(unpacked, folder, file)).bytes(),
      })),
    );
    const notice = 'usr/share/doc/libc6/copyright';
    return [
      ...folders(['etc', 'lib', folder, ...(loaderFolder === 'lib' ? [] : [loaderFolder])]),
      ...libraries,
      { path: `${loaderFolder}/${loader}`, mode: 0o777, link: `/${folder}/${loader}` },
      { path: 'etc/group', mode: 0o644, content: `root:x:0:\ntollgate:x:${USER}:\n` },
      { path: 'etc/passwd', mode: 0o644, content: PASSWD },
      { path: 'etc/nsswitch.conf', mode: 0o644, content: 'hosts: files dns\n' },
      { path: 'tmp', mode: 0o1777 },
      ...folders(['usr', 'usr/share', 'usr/share/doc', 'usr/share/doc/libc6']),
      { path: notice, mode: 0o644, content: await Bun.file(join(unpacked, notice)).bytes() },
      ...folders(['usr/bin', 'var', 'var/lib']),
      { path: 'var/lib/tollgate', mode: 0o750, owner: USER },
    ];
  } finally {
    await rm(unpacked, { recursive: true });
  }
}

const PASSWD = `root:x:0:0:root:/:/sbin/nologin
tollgate:x:${USER}:${USER}:Tollgate:/var/lib/tollgate:/sbin/nologin
`;

const folders = (paths: readonly string[]): readonly Entry[] =>
  paths.map((path) => ({ path, mode: 0o755 }));

/** The pinned package, from `cache` or from Debian with apt in a state of its own. */
async function fetchLibrary(architecture: Architecture, cache: string): Promise<string> {
  const kept = join(cache, `${name}_${version}_${architecture}.deb`);
  if ((await digestOf(kept)) === sha256[architecture]) return kept;
  const state = await mkdtemp(join(tmpdir(), 'tollgate-apt-'));
  try {
    await Promise.all(
      ['lists/partial', 'archives/partial', 'download'].map((folder) =>
        mkdir(join(state, folder), { recursive: true }),
      ),
    );
    await Bun.write(join(state, 'status'), '');
    const apt = [
      ...['apt-get', '-qq', '-o', `Dir::State=${state}`, '-o', `Dir::Cache=${state}`],
      ...['-o', `Dir::State::status=${join(state, 'status')}`, '-o', 'APT::Sandbox::User='],
      ...['-o', `APT::Architecture=${architecture}`, '-o', `APT::Architectures=${architecture}`],
    ];
    await runTool([...apt, 'update']);
    const download = join(state, 'download');
    await runTool([...apt, 'download', `${name}=${version}`], { cwd: download });
    const [file = ''] = await Array.fromAsync(new Bun.Glob('*.deb').scan({ cwd: download }));
    const digest = await digestOf(join(download, file));
    if (digest !== sha256[architecture]) {
      throw new Error(
        `${name} ${version} of ${architecture} has the digest ${digest}; scripts/release-steps/container/packages.json pins ${sha256[architecture]}.`,
      );
    }
    await mkdir(cache, { recursive: true });
    await runTool(['cp', join(download, file), `${kept}.${process.pid}`]);
    await rename(`${kept}.${process.pid}`, kept);
    return kept;
  } finally {
    await rm(state, { recursive: true });
  }
}

async function digestOf(path: string): Promise<string | undefined> {
  const file = Bun.file(path);
  if (!(await file.exists())) return undefined;
  return createHash('sha256')
    .update(await file.bytes())
    .digest('hex');
}
