// The catalogs of the documents load and do what their comments say.

import { describe, expect, test } from 'bun:test';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { DEMO_CATALOG } from '../../src/catalog/demo-catalog.ts';
import { ModelSchema, PlanSchema, UpstreamSchema } from '../../src/catalog/schema.ts';
import { ServiceSchema } from '../../src/catalog/service-schema.ts';
import { priceAt } from '../../src/core/price-book.ts';
import { blocks, operatorPage } from './documents.ts';

describe('catalog page', () => {
  const [example = ''] = blocks(operatorPage('catalog'), 'toml');

  test('loads, and means what its comments say', () => {
    const environment = { DEEPSEEK_API_KEY: 'upstream-secret' };
    const catalog = loadCatalog({ text: example, environment, nowMs: 0 });
    const deepseek = catalog.upstreams.get('deepseek');
    expect(deepseek?.credentials).toEqual([{ id: '1', apiKey: 'upstream-secret' }]);
    expect(catalog.models.map((model) => model.slug)).toEqual(['swift-1', 'swift-0']);
    expect(catalog.plans.get('pro')?.requestsPerMinute).toBe(300);
    expect(catalog.plans.get('trial')?.models).toEqual(['swift-0']);
  });

  test('values said to be a default are the default', () => {
    const lines = example.split('\n');
    const isDefault = (line: string): boolean =>
      /^\w+ = [^#]+#.*; default (?:[\d"]|true|false)/.test(line);
    expect(lines.filter(isDefault)).toHaveLength(14);
    const withoutDefaults = lines.filter((line) => !isDefault(line)).join('\n');
    const environment = { DEEPSEEK_API_KEY: 'upstream-secret' };
    const load = (text: string) => {
      const { resolve: _, ...catalog } = loadCatalog({ text, environment, nowMs: 0 });
      return catalog;
    };
    expect(load(withoutDefaults)).toEqual(load(example));
  });

  test('the example of branding loads with its logo', () => {
    const [service = ''] = blocks(operatorPage('branding'), 'toml');
    const models = DEMO_CATALOG.slice(DEMO_CATALOG.indexOf('[[upstream]]'));
    const asked: string[] = [];
    const readLogo = (file: string) => {
      asked.push(file);
      return undefined;
    };
    const text = `${service}\n${models}`;
    const { service: shown } = loadCatalog({ text, environment: {}, nowMs: 0, readLogo });
    expect([shown.name, shown.isPublic.docs, asked]).toEqual(['Acme AI', false, ['acme.svg']]);
  });

  test('the examples of clouds load, and mean what the page says', () => {
    const environment = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
    const chosen = blocks(operatorPage('clouds'), 'toml').map((text) => {
      const { upstreams, models } = loadCatalog({ text, environment, nowMs: 0 });
      const [upstream] = upstreams.values();
      const placement = models[0]?.servedBy[0];
      const named = placement?.profileChoice.name;
      return [upstream?.dialect === 'demo' ? undefined : upstream?.auth, named];
    });
    const aws = { region: 'us-east-1', accessKeyId: 'id', secretAccessKey: 'secret' };
    expect(chosen).toEqual([
      [{ kind: 'aws', ...aws }, 'bedrock with anthropic-5.5'],
      [
        { kind: 'google', credentialsFile: '/etc/tollgate/google.json' },
        'vertex with anthropic-5.5',
      ],
    ]);
  });

  test('the example of prices loads, and means what its comments say', () => {
    const [prices = ''] = blocks(operatorPage('pricing'), 'toml');
    const environment = { DEEPSEEK_API_KEY: 'upstream-secret' };
    const catalog = loadCatalog({ text: `${example}\n${prices}`, environment, nowMs: 0 });
    const book = catalog.resolve('swift-2')?.prices ?? expect.unreachable();
    const inputAt = (time: string): bigint => priceAt(book, Date.parse(time)).input / 10n ** 9n;
    const times = ['2098-12-31T16:00Z', '2098-12-31T23:00Z', '2099-01-01T00:00Z'];
    // A Wednesday, its night, the Thursday that follows, and the Saturday.
    expect([...times, '2099-01-03T12:00Z'].map(inputAt)).toEqual([270n, 135n, 200n, 100n]);
  });

  test('the first catalog of the install page loads by itself', () => {
    const [text = ''] = blocks(operatorPage('install'), 'toml');
    const environment = { DEEPSEEK_API_KEY: 'upstream-secret' };
    const { models } = loadCatalog({ text, environment, nowMs: 0 });
    expect(models.map(({ slug }) => slug)).toEqual(['swift-1']);
  });

  test('the draft of the pricing page is a draft', () => {
    const [, draft = ''] = blocks(operatorPage('pricing'), 'toml');
    expect(Object.keys(Bun.TOML.parse(draft))).toEqual(['add']);
  });

  test('has every key', () => {
    const schemas = [ServiceSchema, UpstreamSchema, ModelSchema, PlanSchema];
    const keys = schemas.flatMap((schema) => Object.keys(schema.properties));
    const missing = keys.filter((key) => !new RegExp(`\\b${key}(?: = |\\]\\])`).test(example));
    expect(missing).toEqual([]);
  });
});
