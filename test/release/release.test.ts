// The parts of a release, from a small stand-in for the executable: formats, digests, the SBOM and the
// licences of what the build really takes. `scripts/release --check` installs and runs the real files.

import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Ajv from 'ajv';
import { verifySignature } from '../../scripts/release-steps/checks/mach-o.ts';
import { image } from '../../scripts/release-steps/container/image.ts';
import { deb } from '../../scripts/release-steps/deb.ts';
import { inventory, licencesText } from '../../scripts/release-steps/inventory.ts';
import { sbom } from '../../scripts/release-steps/sbom.ts';
import { signMachO } from '../../scripts/release-steps/sign-mach-o.ts';
import { bytesOf, tar } from '../../scripts/release-steps/tar.ts';
import { pinsMatch } from '../../scripts/release-steps/targets.ts';
import { runTool } from '../../scripts/release-steps/tool.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { temporaryDirectory } from '../support/database.ts';
import { gatewayCommand } from '../support/gateway.ts';

const root = resolve(import.meta.dir, '../..');
const folder = temporaryDirectory();
const SECONDS = 1_700_000_000;
const PACKAGES = ['node_modules/pino', 'node_modules/@preact/signals', 'node_modules/postgres'];

test('the digests of runtimes are those of the Bun that package.json pins', () => {
  expect(pinsMatch()).toBe(true);
});

test.skipIf(process.env['TOLLGATE_TEST_SOURCE'] === '1')(
  'the executable does not name the folder that it was built in',
  async () => {
    const [executable = ''] = gatewayCommand();
    const bytes = Buffer.from(await Bun.file(executable).arrayBuffer());
    expect(bytes.indexOf('serve the gateway until')).toBeGreaterThan(0);
    expect(bytes.indexOf(`${root}/`)).toBe(-1);
  },
);

describe('archives', () => {
  test('tar reads what was written: files, folders, links, modes and owners', async () => {
    const path = join(folder, 'one.tar');
    const entries = [
      { path: 'folder', mode: 0o750, owner: 65_532 },
      { path: 'folder/file', mode: 0o640, content: 'x'.repeat(513) },
      { path: 'folder/link', mode: 0o777, link: '/folder/file' },
    ];
    await Bun.write(path, tar(entries, SECONDS));
    const listed = await runTool(['tar', '--numeric-owner', '--utc', '-tvf', path]);
    expect(
      listed
        .trimEnd()
        .split('\n')
        .map((line) => line.replace(/ +/g, ' ')),
    ).toEqual([
      'drwxr-x--- 65532/65532 0 2023-11-14 22:13 folder/',
      '-rw-r----- 0/0 513 2023-11-14 22:13 folder/file',
      'lrwxrwxrwx 0/0 0 2023-11-14 22:13 folder/link -> /folder/file',
    ]);
    await runTool(['tar', '-xf', path, '-C', folder, 'folder/file']);
    expect(readFileSync(join(folder, 'folder/file'), 'utf8')).toBe('x'.repeat(513));
  });

  test('a path that the format cannot hold is an error', () => {
    expect(() => tar([{ path: 'x'.repeat(101), mode: 0o644, content: '' }], 0)).toThrow('too long');
  });
});

describe('the Debian package', () => {
  const make = (architecture: 'amd64' | 'arm64') =>
    deb({
      ...{ version: '1.2.3-rc.1', architecture, seconds: SECONDS },
      ...{ executable: bytesOf('program'), licences: 'licences', sbom: '{}' },
    });

  test.skipIf(Bun.which('dpkg-deb') === null)(
    'has the alert rules and the dashboard among its examples, as they are here',
    async () => {
      const path = join(folder, 'monitoring.deb');
      await Bun.write(path, await make('amd64'));
      const unpacked = join(folder, 'monitoring');
      await runTool(['dpkg-deb', '-x', path, unpacked]);
      // Nothing that an upgrade would put in place of the operator's own.
      expect(readdirSync(join(unpacked, 'var/lib/tollgate'))).toEqual([]);
      for (const name of ['prometheus-rules.yml', 'grafana-dashboard.json']) {
        const shipped = readFileSync(
          join(unpacked, 'usr/share/doc/tollgate/examples', name),
          'utf8',
        );
        expect(shipped).toBe(
          readFileSync(join(root, 'scripts/release-steps/packaging/monitoring', name), 'utf8'),
        );
      }
    },
  );

  test.skipIf(Bun.which('dpkg-deb') === null)('is one that dpkg reads', async () => {
    const path = join(folder, 'tollgate.deb');
    await Bun.write(path, await make('arm64'));
    const fields = await runTool([
      'dpkg-deb',
      '--field',
      path,
      'Package',
      'Version',
      'Architecture',
    ]);
    expect(fields).toBe('Package: tollgate\nVersion: 1.2.3~rc.1\nArchitecture: arm64\n');
    const files = join(folder, 'unpacked');
    await runTool(['dpkg-deb', '--raw-extract', path, files]);
    expect(readFileSync(join(files, 'usr/bin/tollgate'), 'utf8')).toBe('program');
    await runTool(['md5sum', '--check', '--strict', 'DEBIAN/md5sums'], { cwd: files });
    for (const script of ['postinst', 'postrm', 'prerm']) {
      await runTool(['sh', '-n', join(files, 'DEBIAN', script)]);
    }
  });

  test('is the same bytes each time', async () => {
    expect(Bun.hash(await make('amd64'))).toBe(Bun.hash(await make('amd64')));
  });

  test.skipIf(Bun.which('systemd-analyze') === null)('has a hardened unit', async () => {
    const unit = join(root, 'scripts/release-steps/packaging/tollgate.service');
    const said = await runTool(['systemd-analyze', 'security', '--offline=true', unit]);
    expect(Number(/Overall exposure level .*: ([\d.]+)/.exec(said)?.[1])).toBeLessThan(2);
  });

  test('stops the service later than the program stops by itself', () => {
    const unit = readFileSync(
      join(root, 'scripts/release-steps/packaging/tollgate.service'),
      'utf8',
    );
    const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]);
    const drain = Number(SETTINGS.drainMs.fallback) + Number(SETTINGS.drainDelayMs.fallback);
    expect(seconds).toBeGreaterThan(drain + 5);
  });
});

test('each blob of the image has the digest that refers to it, and its user is not root', async () => {
  const path = join(folder, 'image.tar');
  const options = { version: '1.2.3', commit: '12345678', seconds: SECONDS, licences: 'licences' };
  const base = [{ path: 'etc', mode: 0o755 }];
  const executable = bytesOf('program');
  await Bun.write(path, image({ ...options, architecture: 'amd64', base, executable }));
  const layout = join(folder, 'layout');
  await runTool(['mkdir', layout]);
  await runTool(['tar', '-xf', path, '-C', layout]);
  const read = async (digest: string): Promise<Buffer> => {
    const bytes = readFileSync(join(layout, 'blobs', digest.replace(':', '/')));
    expect(`sha256:${createHash('sha256').update(bytes).digest('hex')}`).toBe(digest);
    return bytes;
  };
  const index = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8'));
  const manifest = JSON.parse(String(await read(index.manifests[0].digest)));
  const { config, rootfs } = JSON.parse(String(await read(manifest.config.digest)));
  expect(config).toMatchObject({
    User: '65532:65532',
    Healthcheck: { Test: ['CMD', '/usr/bin/tollgate', 'health'] },
    Volumes: { '/var/lib/tollgate': {} },
  });
  for (const [number, { digest }] of manifest.layers.entries()) {
    const bytes = Bun.gunzipSync(new Uint8Array(await read(digest)));
    const diffId = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    expect(diffId).toBe(rootfs.diff_ids[number]);
  }
});

describe('what is inside', () => {
  test('is listed in an SBOM that the schema of CycloneDX accepts', async () => {
    const components = await inventory(PACKAGES, '1.4.5');
    const document = JSON.parse(sbom({ version: '1.2.3', seconds: SECONDS, components }));
    const library = Bun.resolveSync('@cyclonedx/cyclonedx-library/package.json', root);
    const schemas = join(dirname(library), 'res/schema');
    const ajv = new Ajv({ strict: false, validateFormats: false });
    for (const name of ['spdx', 'jsf-0.82', 'cryptography-defs']) {
      const file = `${name}.SNAPSHOT.schema.json`;
      const { $id: _, ...text } = JSON.parse(readFileSync(join(schemas, file), 'utf8'));
      ajv.addSchema(text, `http://cyclonedx.org/schema/${file}`);
    }
    const schema = JSON.parse(readFileSync(join(schemas, 'bom-1.6.SNAPSHOT.schema.json'), 'utf8'));
    const isValid = ajv.compile(schema);
    expect([isValid(document), isValid.errors]).toEqual([true, null]);
    expect(isValid({ ...document, components: [{ type: 'engine', name: 'bun' }] })).toBe(false);
    expect(document.components.map(({ purl }: { purl: string }) => purl)).toEqual([
      expect.stringMatching(/^pkg:npm\/%40preact\/signals@\d/),
      expect.stringMatching(/^pkg:npm\/pino@\d/),
      expect.stringMatching(/^pkg:npm\/postgres@\d/),
      'pkg:npm/bun@1.4.5',
      expect.stringMatching(/^pkg:deb\/debian\/libc6@2.*deb12u\d+\?arch=amd64$/),
      expect.stringMatching(/^pkg:deb\/debian\/libc6@2.*deb12u\d+\?arch=arm64$/),
    ]);
    for (const { name, hashes } of document.components) {
      const digest = name === 'libc6' ? /^[\da-f]{64}$/ : /^[\da-f]{128}$/;
      if (name !== 'bun') expect(hashes[0].content).toMatch(digest);
    }
  });

  test('has its licence texts, also of packages that ship none', async () => {
    const text = licencesText(await inventory(PACKAGES, '1.4.5'), 'own licence');
    expect(text.split('Version 2.1, February 1999').length).toBe(2);
    const library = ['GNU LIBRARY GENERAL PUBLIC LICENSE', 'GNU LESSER GENERAL PUBLIC LICENSE'];
    const words = ['own licence', 'Copyright (c) 2016', 'public domain', 'JavaScriptCore'];
    for (const each of [...words, ...library]) {
      expect(text).toContain(each);
    }
  });
});

test('a signed Mach-O file verifies, and no longer with another byte', () => {
  const signed = signMachO(machO(), 'tollgate');
  verifySignature(signed);
  const changed = new Uint8Array(signed);
  changed[5_000] = (changed[5_000] ?? 0) ^ 1;
  expect(() => verifySignature(changed)).toThrow('the digest of page 1 is another one');
  expect(() => verifySignature(machO())).toThrow('cannot be read');
});

/** A file of three pages with the commands that a signature changes, and no signature. */
function machO(): Uint8Array {
  const file = new Uint8Array(3 * 4_096);
  const view = new DataView(file.buffer);
  view.setUint32(0, 0xfeedfacf, true);
  view.setUint32(16, 3, true);
  let at = 32;
  for (const [name, offset, size] of [
    ['__TEXT', 0, 4_096],
    ['__LINKEDIT', 8_192, 4_096],
  ] as const) {
    view.setUint32(at, 0x19, true);
    view.setUint32(at + 4, 72, true);
    file.set(bytesOf(name), at + 8);
    view.setBigUint64(at + 40, BigInt(offset), true);
    view.setBigUint64(at + 48, BigInt(size), true);
    at += 72;
  }
  view.setUint32(at, 0x1d, true);
  view.setUint32(at + 4, 16, true);
  view.setUint32(at + 8, 10_000, true);
  return file;
}

describe('the cluster', () => {
  const cluster = join(root, 'scripts/release-steps/container/cluster');
  const compose = Bun.YAML.parse(readFileSync(join(cluster, 'compose.yaml'), 'utf8')) as {
    services: Record<
      string,
      {
        image: string;
        user?: string;
        environment?: Record<string, string>;
        security_opt?: string[];
        cap_drop?: string[];
      }
    >;
  };

  test('sets only settings that exist', () => {
    const names = new Set<string>(Object.values(SETTINGS).map(({ name }) => name));
    const set = Object.keys(compose.services['node']?.environment ?? {});
    expect(set.length).toBeGreaterThan(5);
    expect(set.filter((name) => !names.has(name))).toEqual([]);
  });

  // The entrypoint of such an image starts as root and changes its user, which takes capabilities:
  // https://github.com/redis/docker-library-redis/issues/175
  test('names the user of each image of others that has no capabilities', () => {
    const others = Object.entries(compose.services).filter(
      ([, { image: name, cap_drop: dropped = [] }]) =>
        !name.startsWith('tollgate:') && dropped.includes('ALL'),
    );
    expect(others.map(([name, { user }]) => [name, user])).toEqual([['limits', 'redis']]);
  });

  test('gives no container new privileges', () => {
    for (const service of Object.values(compose.services)) {
      expect(service.security_opt).toEqual(['no-new-privileges:true']);
    }
  });
});
