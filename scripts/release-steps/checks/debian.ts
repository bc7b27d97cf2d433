// The Debian package: its form, its unit, and its life in a fresh Debian with a systemd of its own.

import { mkdir, rename } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DEMO_CATALOG } from '../../../src/catalog/demo-catalog.ts';
import { freePort } from '../../../test/support/listen.ts';
import { runTool } from '../tool.ts';
import { buy, type Check, inFolder, missing, type Release } from './kind.ts';

const packaging = resolve(import.meta.dir, '../packaging');

/** Of 10; above it, systemd no longer calls a service OK. */
const EXPOSURE_MAX = 2;

export const checkDebianPackage: readonly Check[] = [
  { name: 'lintian accepts the Debian packages', run: checkForm },
  { name: `the unit's exposure is below ${EXPOSURE_MAX} of 10`, run: checkUnit },
  {
    name: 'the Debian package installs, serves under systemd, upgrades, and leaves the books',
    run: liveThrough,
  },
];

async function checkForm(release: Release): Promise<string | undefined> {
  const reason = missing(['lintian', 'dpkg-deb']);
  if (reason !== undefined) return reason;
  for (const architecture of ['amd64', 'arm64'] as const) {
    const said = await runTool([
      ...['lintian', '--allow-root', '--fail-on', 'error,warning'],
      packageOf(release, architecture),
    ]);
    if (said.trim() !== '') process.stdout.write(said);
  }
  return undefined;
}

async function checkUnit(): Promise<string | undefined> {
  const reason = missing(['systemd-analyze']);
  if (reason !== undefined) return reason;
  const unit = join(packaging, 'tollgate.service');
  const said = await runTool(['systemd-analyze', 'security', '--offline=true', unit]);
  const exposure = Number(/Overall exposure level .*: ([\d.]+)/.exec(said)?.[1]);
  if (!(exposure < EXPOSURE_MAX)) throw new Error(`it is ${exposure}`);
  return undefined;
}

async function liveThrough(release: Release): Promise<string | undefined> {
  const reason = missing(['debootstrap', 'unshare', 'nsenter', 'dpkg'], true);
  if (reason !== undefined) return reason;
  await inFolder(async (folder) => {
    const system = join(folder, 'debian');
    await layDebian(system);
    await runTool(['cp', packageOf(release, 'amd64'), join(system, 'srv/tollgate.deb')]);
    const boot = Bun.spawn(
      [
        ...['unshare', '--mount', '--pid', '--fork', '--cgroup', '--uts', '--ipc', '--kill-child'],
        ...['sh', join(import.meta.dir, 'boot-systemd'), system],
      ],
      { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
    );
    try {
      await liveInside(release, insideOf(await systemdOf(boot.pid)));
    } finally {
      boot.kill('SIGKILL');
      await boot.exited;
    }
  });
  return undefined;
}

/** A fresh Debian, kept as an archive: to fetch it takes a minute. */
async function layDebian(folder: string): Promise<void> {
  const kept = resolve(import.meta.dir, '../../../.tools/release/debian-bookworm.tar');
  if (await Bun.file(kept).exists()) {
    await mkdir(folder);
    await runTool(['tar', '-xpf', kept, '-C', folder]);
    return;
  }
  const include = '--include=adduser,init-system-helpers,systemd,dbus';
  await runTool(['debootstrap', '--variant=minbase', include, 'bookworm', folder]);
  await mkdir(dirname(kept), { recursive: true });
  await runTool(['tar', '-C', folder, '-cf', `${kept}.${process.pid}`, '.']);
  await rename(`${kept}.${process.pid}`, kept);
}

type Inside = (script: string) => Promise<string>;

/** The one child of `unshare` is systemd, once the script has become it. */
async function systemdOf(parent: number): Promise<number> {
  for (let tries = 0; tries < 300; tries += 1) {
    const children = await Bun.file(`/proc/${parent}/task/${parent}/children`).text();
    const child = Number(children.trim().split(' ')[0]);
    const name = child > 0 ? await Bun.file(`/proc/${child}/comm`).text() : '';
    if (name.trim() === 'systemd') return child;
    await Bun.sleep(100);
  }
  throw new Error('systemd did not start in its namespaces');
}

function insideOf(pid: number): Inside {
  const enter = ['nsenter', '-t', String(pid), '-m', '-p', '-C', '-u', '-i', '--root', '--wd'];
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive' };
  return (script) => runTool([...enter, 'sh', '-ec', script], { env });
}

const STATE = '/var/lib/tollgate';
/** A command as an operator runs it. */
const AS_OPERATOR = `cd ${STATE} && runuser -u tollgate --`;

async function liveInside({ version }: Release, inside: Inside): Promise<void> {
  await inside('systemctl is-system-running --wait || true');
  await inside('dpkg -i /srv/tollgate.deb');
  await inside('systemctl is-enabled tollgate');
  await expectOutput(inside, 'systemctl is-active tollgate || true', 'inactive');
  await expectOutput(inside, `stat -c %U:%G:%a ${STATE}`, 'tollgate:tollgate:750');
  await expectOutput(inside, 'stat -c %U:%G:%a /etc/tollgate/environment', 'root:tollgate:640');

  const port = await freePort();
  await inside(`printf '%s' '${DEMO_CATALOG}' > ${STATE}/catalog.toml
    chown tollgate: ${STATE}/catalog.toml
    printf 'PORT=${port}\\nOPERATOR_PORT=off\\n' >> /etc/tollgate/environment
    systemctl start tollgate`);
  await serves(inside);
  const created = await inside(
    `${AS_OPERATOR} tollgate account create --email ann@example.com --credit 100000 --verified --json`,
  );
  const { key, account }: { key: string; account: { id: string } } = JSON.parse(created);
  await buy(port, key);
  const owner = 'stat -c %U /proc/$(systemctl show -p MainPID --value tollgate)';
  await expectOutput(inside, owner, 'tollgate');
  await expectOutput(inside, `find ${STATE} -perm /077 -type f`, `${STATE}/catalog.toml`);

  // An upgrade restarts the service on the same books.
  const before = await inside('systemctl show -p MainPID --value tollgate');
  await inside('dpkg -i /srv/tollgate.deb');
  await serves(inside);
  const after = await inside('systemctl show -p MainPID --value tollgate');
  if (before === after) throw new Error('an upgrade did not restart the service');
  await buy(port, key);
  await inside(`${AS_OPERATOR} tollgate doctor`);
  await expectOutput(inside, 'tollgate --version | cut -d+ -f1', version);

  // A bad catalog must not start.
  await inside(
    `systemctl stop tollgate; cp ${STATE}/catalog.toml /srv/; echo x > ${STATE}/catalog.toml`,
  );
  const started = await inside('systemctl start tollgate && echo started || echo refused');
  if (started.trim() !== 'refused') throw new Error('the service started with a bad catalog');
  await inside(`systemctl stop tollgate; cp /srv/catalog.toml ${STATE}/; systemctl reset-failed`);

  await inside('dpkg --purge tollgate');
  await expectOutput(inside, 'test -e /usr/bin/tollgate && echo there || echo gone', 'gone');
  await inside(`test -s ${STATE}/tollgate.db`);
  await inside(`dpkg -i /srv/tollgate.deb
    printf 'PORT=${port}\\nOPERATOR_PORT=off\\n' >> /etc/tollgate/environment
    systemctl restart tollgate`);
  await serves(inside);
  await buy(port, key);
  await inside(`${AS_OPERATOR} tollgate account show ${account.id}`);
}

async function serves(inside: Inside): Promise<void> {
  try {
    await inside(
      `${AS_OPERATOR} sh -c 'for i in $(seq 100); do tollgate health --ready >/dev/null && exit 0; sleep 0.1; done; exit 1'`,
    );
  } catch {
    throw new Error(
      `it does not serve:\n${await inside('journalctl --no-pager -n 50 -u tollgate')}`,
    );
  }
}

async function expectOutput(inside: Inside, script: string, expected: string): Promise<void> {
  const said = (await inside(script)).trim();
  if (said !== expected) throw new Error(`${script} printed ${said}, not ${expected}`);
}

function packageOf({ folder, version }: Release, architecture: 'amd64' | 'arm64'): string {
  return join(folder, `tollgate_${version}_${architecture}.deb`);
}
