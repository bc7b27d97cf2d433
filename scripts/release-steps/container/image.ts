// Writes the OCI image of one architecture as an archive of an image layout (OCI image specification
// 1.1), without a daemon. `docker load`, `podman load` and `skopeo copy` read it; an archive of several
// architectures is read by some of them only.

import { createHash } from 'node:crypto';
import { bytesOf, type Entry, gzip, tar } from '../tar.ts';
import { type Architecture, USER } from './base.ts';

type ImageOptions = {
  readonly version: string;
  readonly commit: string;
  /** Unix seconds of every file. */
  readonly seconds: number;
  readonly licences: string;
  readonly architecture: Architecture;
  readonly base: readonly Entry[];
  readonly executable: Uint8Array;
};

type Descriptor = {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
};

type Blobs = Map<string, Uint8Array>;

const DATA = '/var/lib/tollgate';
const SECOND_NS = 1_000_000_000;

/** The bytes of the archive. */
export function image(options: ImageOptions): Uint8Array {
  const { architecture, version, seconds } = options;
  const blobs: Blobs = new Map();
  const layers = [options.base, programFiles(options)].map((entries) => {
    const bytes = tar(entries, seconds);
    return {
      diffId: `sha256:${sha256(bytes)}`,
      descriptor: add(blobs, 'application/vnd.oci.image.layer.v1.tar+gzip', gzip(bytes)),
    };
  });
  const config = add(
    blobs,
    'application/vnd.oci.image.config.v1+json',
    json({
      created: new Date(seconds * 1_000).toISOString(),
      architecture,
      os: 'linux',
      config: configOf(options),
      rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    }),
  );
  const manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config,
    layers: layers.map(({ descriptor }) => descriptor),
  };
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...add(blobs, manifest.mediaType, json(manifest)),
        platform: { os: 'linux', architecture },
        annotations: {
          'org.opencontainers.image.ref.name': version,
          // containerd takes the name as it is, and Docker looks for the full one.
          'io.containerd.image.name': `docker.io/library/tollgate:${version}`,
        },
      },
    ],
  };
  // Docker without the store of containerd reads this file, and not the index.
  const saved = {
    Config: pathOf(config),
    RepoTags: [`tollgate:${version}`],
    Layers: manifest.layers.map(pathOf),
  };
  const entries: Entry[] = [
    { path: 'oci-layout', mode: 0o644, content: '{"imageLayoutVersion":"1.0.0"}' },
    { path: 'index.json', mode: 0o644, content: JSON.stringify(index) },
    { path: 'manifest.json', mode: 0o644, content: JSON.stringify([saved]) },
    { path: 'blobs', mode: 0o755 },
    { path: 'blobs/sha256', mode: 0o755 },
    ...[...blobs]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([digest, content]) => ({ path: `blobs/sha256/${digest}`, mode: 0o644, content })),
  ];
  return tar(entries, seconds);
}

const pathOf = ({ digest }: Descriptor): string => `blobs/${digest.replace(':', '/')}`;

/** OCI knows no health check: it is Docker's, and other engines ignore it. */
function configOf({ version, commit }: ImageOptions) {
  return {
    User: `${USER}:${USER}`,
    WorkingDir: DATA,
    Entrypoint: ['/usr/bin/tollgate'],
    Cmd: ['serve'],
    Env: ['PATH=/usr/bin', 'HOST=0.0.0.0', `DATABASE_URL=sqlite:${DATA}/tollgate.db`],
    ExposedPorts: { '3000/tcp': {} },
    Volumes: { [DATA]: {} },
    StopSignal: 'SIGTERM',
    Healthcheck: {
      Test: ['CMD', '/usr/bin/tollgate', 'health'],
      Interval: 10 * SECOND_NS,
      Timeout: 5 * SECOND_NS,
      StartPeriod: 60 * SECOND_NS,
      Retries: 3,
    },
    Labels: {
      'org.opencontainers.image.title': 'Tollgate',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': commit,
      'org.opencontainers.image.licenses': 'MIT',
    },
  };
}

function programFiles({ licences, executable }: ImageOptions): readonly Entry[] {
  const doc = 'usr/share/doc/tollgate';
  return [
    { path: 'usr/bin/tollgate', mode: 0o755, content: executable },
    { path: doc, mode: 0o755 },
    { path: `${doc}/copyright`, mode: 0o644, content: licences },
  ];
}

function add(blobs: Blobs, mediaType: string, content: Uint8Array): Descriptor {
  const digest = sha256(content);
  blobs.set(digest, content);
  return { mediaType, digest: `sha256:${digest}`, size: content.length };
}

const json = (value: unknown): Uint8Array => bytesOf(JSON.stringify(value));

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
