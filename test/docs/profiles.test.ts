// The profiles of the documents are those of the source, with every field and every value.

import { describe, expect, test } from 'bun:test';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { PROFILE_SCHEMAS } from '../../src/catalog/profile-schema.ts';
import { BUILT_IN_PROFILES } from '../../src/core/built-in-profiles.ts';
import { wordsOf } from '../../src/core/effort.ts';
import type { UpstreamProfile } from '../../src/core/profile.ts';
import { blocks, operatorPage, section, tableRows } from './documents.ts';

describe('profile page', () => {
  const page = operatorPage('profiles');
  const profiles = tableRows(section(page, 'Built-in profiles'));
  const fields = tableRows(section(page, 'Fields'));
  const MODEL = `
    [[model]]
    slug = "m"
    context_window = 1
    max_output = 1
    price = { input = 1, output = 1 }
    served_by = [{ upstream = "up", model = "m" }]`;

  function profileOf(dialect: UpstreamProfile['dialect'], tables: string, name = 'row') {
    const upstream = `
      [[upstream]]
      id = "up"
      dialect = "${dialect}"
      base_url = "http://up"
      profile = "${name}"`;
    const catalog = loadCatalog({ text: MODEL + upstream + tables, environment: {}, nowMs: 0 });
    const loaded = catalog.upstreams.get('up');
    return loaded?.dialect === 'demo' ? undefined : loaded?.profile;
  }

  test('every built-in profile, with all that differs from its default', () => {
    expect(profiles.map(([name]) => name)).toEqual([...BUILT_IN_PROFILES.keys()]);
    for (const [name = '', , differs = ''] of profiles) {
      const profile = BUILT_IN_PROFILES.get(name) ?? expect.unreachable();
      const [, like] = /^as `([^`]+)`, /.exec(differs) ?? [];
      const base = like ?? profile.dialect;
      // The cell has lost its outer marks; what stands before the first setting is words.
      const settings =
        differs === 'nothing' ? [] : differs.replace(/^as .*?, `?/, '').split('`, `');
      const table = ['\n[profile.row]', `base = "${base}"`, ...settings].join('\n');
      expect([name, profileOf(profile.dialect, table.replaceAll('`', ''))]).toEqual([
        name,
        profile,
      ]);
    }
  });

  test('every field of each dialect, with its values, the default first', () => {
    for (const [column, dialect, name] of [
      [1, 'chat', 'chat'],
      [2, 'messages', 'messages'],
      [3, 'responses', 'responses'],
    ] as const) {
      const { base: _, efforts: __, ...known } = PROFILE_SCHEMAS[dialect].properties;
      const described = fields.filter((cells) => cells[column] !== '');
      expect(described.map(([field]) => field).toSorted()).toEqual(Object.keys(known).toSorted());
      for (const cells of described) {
        const [field = ''] = cells;
        const values = (cells[column] ?? '').split('`, `');
        for (const [index, value] of values.entries()) {
          const table = `\n[profile.row]\nbase = "${name}"\n${field} = ${value}`;
          const same = Bun.deepEquals(profileOf(dialect, table), profileOf(dialect, '', name));
          expect([field, value, same]).toEqual([field, value, index === 0]);
        }
        const allowed: unknown = Reflect.get(Reflect.get(known, field), 'anyOf');
        if (Array.isArray(allowed)) expect([field, values.length]).toEqual([field, allowed.length]);
      }
    }
  });

  test('the example of efforts, in each dialect', () => {
    const [example = ''] = /efforts = \[[^\]]*\]/.exec(section(page, 'Fields')) ?? [];
    const effortWords = wordsOf(['low', 'medium', 'high']);
    for (const dialect of ['chat', 'messages', 'responses'] as const) {
      const table = `\n[profile.row]\nbase = "${dialect}"\n${example}`;
      expect(profileOf(dialect, table)).toMatchObject({ effortWords });
    }
  });

  test('the example of the upstream page loads, and means what its comments say', () => {
    const [example = ''] = blocks(operatorPage('upstreams'), 'toml');
    const text = `${MODEL.replace('"up"', '"workstation"')}\n${example}`;
    const catalog = loadCatalog({ text, environment: { ANTHROPIC_API_KEY: 'k' }, nowMs: 0 });
    const base = profileOf('chat', '', 'llama.cpp');
    expect(catalog.upstreams.get('workstation')).toMatchObject({
      profileName: 'workstation',
      profile: {
        ...base,
        thinkTags: 'opened',
        effortWords: { off: '', low: 'low', high: 'high', max: 'max' },
        extraBody: { cache_prompt: true },
      },
    });
    expect(catalog.upstreams.get('anthropic')).toMatchObject({
      dialect: 'messages',
      baseUrl: 'https://api.anthropic.com',
      profileName: 'anthropic',
    });
  });
});
