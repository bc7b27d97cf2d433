// The OCI image: its digests, and its layers unpacked and run by chroot as the user that it names.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DEMO_CATALOG } from '../../../src/catalog/demo-catalog.ts';
import { freePort } from '../../../test/support/listen.ts';
import { runTool } from '../tool.ts';
import {
  type Check,
  inFolder,
  missing,
  type Release,
  WITHOUT_RESTART,
  whileServing,
} from './kind.ts';

export const checkImage: readonly Check[] = [
  {
    name: 'the image of amd64 runs by chroot as its user',
    run: (release) => run(release, 'amd64', []),
  },
  {
    name: 'the image of arm64 runs by chroot as its user, under QEMU',
    run: (release) => run(release, 'arm64', ['qemu-aarch64-static']),
  },
  { name: 'skopeo reads each image, also as Docker does', run: readBySkopeo },
];

type Descriptor = { readonly digest: string; readonly size: number };
type Index = {
  readonly manifests: readonly (Descriptor & {
    readonly platform: { readonly architecture: string };
  })[];
};
type Manifest = { readonly config: Descriptor; readonly layers: readonly Descriptor[] };
type Config = {
  readonly config: {
    readonly User: string;
    readonly WorkingDir: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly Cmd: readonly string[];
    readonly Volumes: Readonly<Record<string, unknown>>;
    readonly Healthcheck: { readonly Test: readonly string[] };
  };
  readonly rootfs: { readonly diff_ids: readonly string[] };
};

async function run(
  release: Release,
  architecture: string,
  emulator: readonly string[],
): Promise<string | undefined> {
  const reason = missing(['chroot', 'setpriv', ...emulator], true);
  if (reason !== undefined) return reason;
  await inFolder(async (folder) => {
    const { root, config } = await unpack(release, architecture, folder);
    // The emulator is static, and not a part of the image.
    for (const name of emulator) await runTool(['cp', Bun.which(name) ?? name, join(root, name)]);
    const { User, WorkingDir, Env, Entrypoint, Cmd, Volumes, Healthcheck } = config;
    const [user = '', group = ''] = User.split(':');
    if (user === '0') throw new Error('its user is root');
    if (!(WorkingDir in Volumes)) throw new Error('its data is in no volume');
    await Bun.write(join(root, WorkingDir, 'catalog.toml'), DEMO_CATALOG);
    const port = await freePort();
    const env = {
      ...Object.fromEntries(Env.map((pair) => pair.split('=', 2))),
      HOST: '127.0.0.1',
      PORT: String(port),
      OPERATOR_PORT: 'off',
      ...(emulator.length > 0 && WITHOUT_RESTART),
    };
    const prefix = [
      // Without a fork, so that signals reach the program.
      ...['unshare', '--mount', 'sh', '-ec', INSIDE, root],
      ...[user, group, WorkingDir, ...emulator.map((name) => `/${name}`)],
    ];
    const options = { env: { ...env, PATH: process.env['PATH'] ?? '' } };
    await whileServing([...prefix, ...Entrypoint, ...Cmd], port, options, async () => {
      const [, ...health] = Healthcheck.Test;
      await runTool([...prefix, ...health, '--ready'], options);
      await runTool([...prefix, ...Entrypoint, 'doctor'], options);
    });
    const owner = await runTool(['stat', '-c', '%u', join(root, WorkingDir, 'tollgate.db')]);
    if (owner.trim() !== user) throw new Error(`its database belongs to ${owner}`);
  });
  return undefined;
}

/** Docker without the store of containerd reads `manifest.json`; all others read the index. */
async function readBySkopeo({ folder, version }: Release): Promise<string | undefined> {
  const reason = missing(['skopeo']);
  if (reason !== undefined) return reason;
  for (const architecture of ['amd64', 'arm64']) {
    const archive = join(folder, `tollgate-${version}-image-${architecture}.tar`);
    for (const source of [`docker-archive:${archive}`, `oci-archive:${archive}:${version}`]) {
      await inFolder((copy) =>
        runTool(['skopeo', '--insecure-policy', 'copy', source, `dir:${copy}`]),
      );
    }
  }
  return undefined;
}

/** Everything but the volume and /tmp is read-only, as with `--read-only`. */
const INSIDE = `root=$0; user=$1; group=$2; folder=$3; shift 3
mount --make-rprivate /
mount --bind "$root" "$root"
mount --bind "$root$folder" "$root$folder"
mount -t tmpfs tmpfs "$root/tmp"
mkdir -p "$root/proc" "$root/dev"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -o remount,bind,ro "$root"
cd "$root$folder"
exec chroot --userspec="$user:$group" --groups= "$root" "$@"`;

async function unpack(release: Release, architecture: string, folder: string) {
  const layout = join(folder, 'layout');
  const root = join(folder, 'root');
  await runTool(['mkdir', layout, root]);
  const archive = join(release.folder, `tollgate-${release.version}-image-${architecture}.tar`);
  await runTool(['tar', '-xf', archive, '-C', layout]);
  const blob = async ({ digest, size }: Descriptor): Promise<Uint8Array> => {
    const [, hash = ''] = digest.split(':');
    const bytes = await Bun.file(join(layout, 'blobs/sha256', hash)).bytes();
    if (bytes.length !== size || sha256(bytes) !== hash)
      throw new Error(`${digest} is other bytes`);
    return bytes;
  };
  const read = async <Document>(from: Descriptor): Promise<Document> =>
    JSON.parse(new TextDecoder().decode(await blob(from)));
  const index: Index = await Bun.file(join(layout, 'index.json')).json();
  const [platform] = index.manifests;
  if (platform?.platform.architecture !== architecture)
    throw new Error('it is of another platform');
  const manifest = await read<Manifest>(platform);
  const { config, rootfs } = await read<Config>(manifest.config);
  for (const [number, layer] of manifest.layers.entries()) {
    const bytes = Bun.gunzipSync(new Uint8Array(await blob(layer)));
    if (`sha256:${sha256(bytes)}` !== rootfs.diff_ids[number])
      throw new Error('a layer is another');
    const file = join(folder, `layer-${number}.tar`);
    await Bun.write(file, bytes);
    await runTool(['tar', '-xf', file, '-C', root, '--same-owner', '--numeric-owner']);
  }
  return { root, config };
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
