// The operator's catalog: any text is a catalog that can be served from, or a list of what is wrong
// with it that shows no value of the file or the environment.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { loadCatalog } from '../../../src/catalog/catalog.ts';
import { DEMO_CATALOG } from '../../../src/catalog/demo-catalog.ts';
import { CatalogError } from '../../../src/catalog/source.ts';
import type { Catalog } from '../../../src/core/model.ts';
import { wordsOf } from '../../../src/core/sentence.ts';
import { dialectOf } from '../../../src/wire/upstream/dialect.ts';
import { requestWith } from '../../support/request.ts';
import { mutated, valuesMutated } from '../inputs/mutate.ts';
import { toBytes } from '../inputs/recordings.ts';
import { anyText, SECRET } from '../inputs/text.ts';
import { property } from '../property.ts';

const ROOT = join(import.meta.dir, '..', '..', '..');

/** The catalogs of the documentation. */
const EXAMPLES = ['catalog', 'install', 'pricing', 'upstreams'].flatMap((page) => {
  const text = readFileSync(join(ROOT, 'src/docs/operators', `${page}.md`), 'utf8');
  return [...text.matchAll(/```toml\n([\s\S]*?)```/g)].map(([, example = '']) => example);
});

const PROFILES = `
[[upstream]]
id = "up"
dialect = "chat"
base_url = "http://127.0.0.1:1/v1"
api_key = "${SECRET}"
profile = "first"

[[upstream]]
id = "other"
dialect = "messages"
base_url = "http://127.0.0.1:1"
api_key = "\${UP_KEY}"
profile = "third"

[[upstream]]
id = "cloud"
dialect = "messages"
base_url = "http://127.0.0.1:1"
profile = "vertex"
aws = { region = "r", access_key_id = "${SECRET}", secret_access_key = "\${UP_KEY}" }

[[model]]
slug = "m"
context_window = 1000
max_output = 100
price = { input = "0.15", output = 1 }
served_by = [{ upstream = "up", model = "m" }, { upstream = "other", model = "m", weight = 0.5 }, { upstream = "cloud", model = "m" }]

[profile.first]
base = "second"
stop_max = 4
effort_words = { max = "high" }
extra_body = { a = [1, { b = true }], d = 2026-01-01 }

[profile.second]
base = "mistral"
tool_ids = "word"

[profile.third]
base = "anthropic"
thinking_budgets = { low = 1024 }
`;

/** How TOML values of this file take a variable of the environment. */
const variable = (name: string): string => `"\${${name}}"`;

const REPLACEMENTS = [
  ...['"up"', '"other"', '"m"', '"first"', '"second"', '"third"', '"mistral"', '"anthropic"'],
  ...['"chat"', '"messages"', '"demo"', '"*"', '"$"', variable('UP_KEY'), variable('NOPE')],
  ...['2026-01-01', '07:32:00', 'inf', 'nan', '-inf', '0x10', '1_000', '1e3', '-1', '0', '1.5'],
  ...['[]', '{}', '[[]]', '""', '"0.15"', '"1e3"', '"-1"', '"http://a:b@c.example"', 'true'],
  ...['"2026-02-30"', '"${"', '"x${"'],
  // Values that are no TOML, so that the parser speaks of them.
  ...[`"${SECRET}`, SECRET, `'${SECRET}`, `"${SECRET}" x`, `[${SECRET}]`, `"""${SECRET}`],
  ...[`"\\q${SECRET}"`, `{ ${SECRET} }`, `4${SECRET}`, `"${SECRET}" = 1`],
];

const seeds = fc.constantFrom(...EXAMPLES, DEMO_CATALOG, PROFILES).map(toBytes);
const replacement = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...REPLACEMENTS) },
  anyText.map((text) => JSON.stringify(text)),
);

const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

function load(text: string): Catalog | CatalogError {
  const environment = { UP_KEY: SECRET, DEEPSEEK_API_KEY: SECRET, ANTHROPIC_API_KEY: SECRET };
  try {
    return loadCatalog({ path: '/catalog.toml', text, environment, nowMs: 0 });
  } catch (error) {
    assert.ok(error instanceof CatalogError, `not a list of problems: ${String(error)}`);
    return error;
  }
}

const QUESTION = requestWith({ stream: true });

function checkCatalog(catalog: Catalog): void {
  assert.ok(catalog.models.length > 0 && catalog.upstreams.size > 0 && catalog.plans.size >= 5);
  for (const model of catalog.models) {
    assert.equal(catalog.resolve(model.slug), model);
    assert.ok(model.maxOutput <= model.contextWindow && model.maxOutput > 0);
    const prices = model.prices.flatMap(({ price, windows }) => [
      price,
      ...windows.map((each) => each.price),
    ]);
    for (const { input, cachedInput, cacheWrite, output } of prices) {
      assert.ok(input >= 0n && output >= 0n && cacheWrite >= 0n);
      assert.ok(cachedInput >= 0n && cachedInput <= input);
    }
    for (const { upstream } of model.servedBy) assert.ok(catalog.upstreams.has(upstream));
    for (const slug of model.fallbacks) assert.ok(catalog.resolve(slug) !== undefined);
  }
  const profiles = catalog.models.flatMap(({ servedBy }) => servedBy.map(({ profile }) => profile));
  for (const profile of profiles) {
    const call = { upstream: 'u', model: 'm', maxOutputTokens: 10, stream: true, reasons: true };
    const written = dialectOf(profile).request(QUESTION, call);
    assert.ok(typeof written === 'string', 'every upstream can be asked');
    JSON.parse(written);
  }
}

function checkProblems({ problems }: CatalogError): void {
  assert.ok(problems.length > 0);
  for (const problem of problems) assert.match(wordsOf(problem), /^catalog\.toml: /);
}

export const CATALOG_PROPERTIES = [
  property(
    'catalog: any text is a catalog or a list of problems',
    fc.oneof(mutated(seeds).map(toText), anyText),
    (text) => {
      const catalog = load(text);
      if (catalog instanceof CatalogError) checkProblems(catalog);
      else checkCatalog(catalog);
    },
  ),
  property(
    'catalog: a problem shows no value',
    valuesMutated(seeds, replacement).map(toText),
    (text) => {
      const catalog = load(text);
      if (!(catalog instanceof CatalogError)) return checkCatalog(catalog);
      checkProblems(catalog);
      assert.ok(!catalog.message.includes(SECRET), 'a problem shows a value');
    },
  ),
];
