// The alert rules and the dashboard that ship with a release: promtool accepts and tests the rules,
// and both name only metrics and labels that the executable prints.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { catalogFor } from '../support/catalog.ts';
import { generate, generateStream } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway } from '../support/gateway.ts';
import { parseMetrics } from '../support/metrics.ts';
import { runProgram } from '../support/program.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

setDefaultTimeout(60_000);

const FILES = resolve(import.meta.dir, '../../scripts/release-steps/packaging/monitoring');
const RULES = join(FILES, 'prometheus-rules.yml');
const CASES = join(import.meta.dir, 'prometheus-rules.test.yml');

type Rules = {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
};
type Panel = {
  readonly id: number;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
};
type Dashboard = { readonly panels: readonly Panel[] };

const readRules = async (): Promise<Rules> => Bun.YAML.parse(await Bun.file(RULES).text()) as Rules;
const readDashboard = (): Promise<Dashboard> =>
  Bun.file(join(FILES, 'grafana-dashboard.json')).json();

const PROMTOOL = Bun.which('promtool');
const isSkipped = PROMTOOL === null && process.env['CI'] !== 'true';
if (isSkipped) {
  process.stderr.write('skipped, as there is no promtool (package prometheus): alert rules\n');
}

function promtool(...words: readonly string[]) {
  return runProgram([PROMTOOL ?? 'promtool', ...words]);
}

describe.skipIf(isSkipped)('the alert rules', () => {
  test('are valid', async () => {
    expect(await promtool('check', 'rules', RULES)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('SUCCESS'),
    });
  });

  test('fire in trouble, and not beside it', async () => {
    expect(await promtool('test', 'rules', CASES)).toMatchObject({ code: 0 });
  });

  test('each has a case in which it fires, and a rule that fires too early is found', async () => {
    const { groups } = await readRules();
    const cases = await Bun.file(CASES).text();
    const silent = groups
      .flatMap(({ rules }) => rules.map(({ alert }) => alert))
      .filter((alert) => !cases.includes(`alertname="${alert}"`));
    expect(silent).toEqual([]);
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-rules-'));
    const rules = await Bun.file(RULES).text();
    await Bun.write(
      join(folder, 'rules.yml'),
      rules.replace('breaker[2m]) == 2', 'breaker[2m]) >= 1'),
    );
    const path = /rule_files: \[.*\]/;
    await Bun.write(join(folder, 'cases.yml'), cases.replace(path, 'rule_files: [rules.yml]'));
    expect((await promtool('test', 'rules', join(folder, 'cases.yml'))).code).toBe(1);
    await rm(folder, { recursive: true });
  });

  test('accept every expression of the dashboard as a rule', async () => {
    const expressions = expressionsOf(await readDashboard()).map((expr) =>
      expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    );
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-rules-'));
    const rules = expressions.map((expr, index) => ({ record: `panel:${index}`, expr }));
    // JSON is YAML.
    const groups = [{ name: 'dashboard', rules }];
    await Bun.write(join(folder, 'rules.yml'), JSON.stringify({ groups }));
    expect(await promtool('check', 'rules', join(folder, 'rules.yml'))).toMatchObject({ code: 0 });
    await rm(folder, { recursive: true });
  });
});

describe('what /metrics prints', () => {
  let upstream: Upstream;
  let gateway: Gateway;
  let types: ReadonlyMap<string, string>;
  let text: string;

  beforeAll(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({
      catalog: catalogFor(upstream, ['ok', 'status-500']),
      environment: { BACKUP_DIR: 'backups', RETENTION_DAYS: '400' },
    });
    const account = await gateway.createAccount();
    await generate(account, 'chat', 'ok');
    await generateStream(account, 'messages', 'ok');
    await generate(account, 'chat', 'status-500');
    text = await (await fetch(`${gateway.url}/metrics`)).text();
    types = new Map(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
    );
  });
  closeAtEnd(() => [upstream, gateway]);

  test('has every metric that the rules and the dashboard name', async () => {
    const { groups } = await readRules();
    const rules = groups.flatMap((group) => group.rules.map(({ expr }) => expr));
    const all = [...rules, ...expressionsOf(await readDashboard())];
    const named = new Set(all.flatMap(metricsOf));
    expect(named.size).toBeGreaterThan(30);
    expect([...named].filter((name) => !isPrinted(name, types))).toEqual([]);
    expect(
      ['tollgate_no_such_total', 'tollgate_build_info_bucket'].filter((name) =>
        isPrinted(name, types),
      ),
    ).toEqual([]);
  });

  test('has every label that they sum by, with the values that they select', async () => {
    const printed = parseMetrics(text);
    const labels = new Set(printed.flatMap((series) => Object.keys(series.labels)));
    const { groups } = await readRules();
    const rules = groups.flatMap((group) => group.rules.map(({ expr }) => expr));
    const used = [...rules, ...expressionsOf(await readDashboard())].flatMap((expr) => [
      ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */)),
      ...[...expr.matchAll(/(\w+)(?:=~|!=|=)"/g)].map(([, label = '']) => label),
    ]);
    // Prometheus adds the first two, and no answer here was doubted, skipped or alarming.
    const others = ['instance', 'job', 'doubt', 'reason', 'kind'];
    expect(
      [...new Set(used)].filter((label) => !labels.has(label) && !others.includes(label)),
    ).toEqual([]);
  });

  test('the panels of the dashboard have ids and titles of their own, and expressions', async () => {
    const { panels } = await readDashboard();
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    expect(panels.filter(({ targets }) => targets?.length === 0)).toEqual([]);
  });
});

function expressionsOf({ panels }: Dashboard): string[] {
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

/** `up` is Prometheus's own. */
function metricsOf(expr: string): string[] {
  return expr.match(/\b(?:tollgate|process)_\w+/g) ?? [];
}

function isPrinted(name: string, types: ReadonlyMap<string, string>): boolean {
  return types.has(name) || types.get(name.replace(/_(?:bucket|sum|count)$/, '')) === 'histogram';
}
