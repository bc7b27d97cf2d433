// The tables of the documents are the tables of the source.

import { describe, expect, test } from 'bun:test';
import { VARIABLES } from '../../src/config/settings.ts';
import { REFUSAL_ORDER } from '../../src/core/admit.ts';
import { ERRORS, type ErrorCode, GatewayError } from '../../src/core/error.ts';
import { BUILT_IN_PLANS, type Plan } from '../../src/core/plan.ts';
import { allowedMethods } from '../../src/http/routes.ts';
import { snippetGroups } from '../../src/web/customer/keys/snippets.ts';
import { BODY_BYTES_MAX, MESSAGES_MAX, STOP_MAX, TOOLS_MAX } from '../../src/wire/limits.ts';
import { blocks, customerPage, operatorPage, read, section, tableRows } from './documents.ts';

const grouped = (value: number): string => value.toLocaleString('en-US');

describe('errors', () => {
  const page = customerPage('errors');
  const rows = tableRows(section(page, 'Codes'));

  test('has every row of the error table, and no other', () => {
    const expected = Object.entries(ERRORS).map(([code, row]) => {
      const error = new GatewayError(code as ErrorCode);
      return [String(error.status), code, row.retry];
    });
    expect(rows.map((cells) => cells.slice(0, 3))).toEqual(expected);
  });

  test('has the types of each code', () => {
    const expected = Object.keys(ERRORS).map((code) => {
      const { chatType, messagesType } = new GatewayError(code as ErrorCode);
      return [code, chatType, messagesType];
    });
    expect(tableRows(section(page, 'Types'))).toEqual(expected);
  });

  test('each code has a meaning and an action', () => {
    for (const cells of rows) {
      expect(cells).toHaveLength(5);
      for (const cell of cells.slice(3)) expect(cell).toMatch(/^[A-Z].+\.$/);
    }
  });

  test('the order of rejections has one term for each code', () => {
    const sentence = /in this order: ([^.]+)\./.exec(page)?.[1] ?? '';
    expect(sentence.split(/,\s+/)).toHaveLength(REFUSAL_ORDER.length);
  });
});

test('configuration has every variable with its default', () => {
  expect(tableRows(section(operatorPage('configuration'), 'Variables'))).toEqual(
    VARIABLES.map(({ name, fallback = '', about }) => [name, fallback, about]),
  );
});

describe('limits', () => {
  const page = customerPage('limits');

  test('has the built-in plans', () => {
    const row = (plan: Plan): string[] => [
      plan.slug,
      ...[plan.requestsPerMinute, plan.tokensPerMinute, plan.concurrentRequests].map(grouped),
      ...[plan.maxContext, plan.maxApiKeys].map(grouped),
    ];
    expect(tableRows(section(page, 'Plans'))).toEqual(BUILT_IN_PLANS.map(row));
  });

  test('has the sizes that the parsers enforce', () => {
    const sizes = new Map(tableRows(section(page, 'Sizes')).map(([what, most]) => [what, most]));
    expect(sizes.get('body')).toStartWith(`${grouped(BODY_BYTES_MAX)} bytes`);
    expect(sizes.get('messages')).toStartWith(`${MESSAGES_MAX}, `);
    expect(sizes.get('tools')).toStartWith(`${TOOLS_MAX}, `);
    expect(sizes.get('stop sequences')).toBe(String(STOP_MAX));
  });

  test('names endpoints that are served with their method', () => {
    const named = [...section(page, 'Endpoints').matchAll(/`(GET|POST) (\/[^`]*)`/g)];
    expect(named).toHaveLength(10);
    for (const [, method = '', path = ''] of named) {
      expect([path, allowedMethods(path.replace(/\{.*\}/, 'swift-1'), true)]).toEqual([
        path,
        expect.stringContaining(method),
      ]);
    }
  });
});

describe('monitoring', () => {
  const page = operatorPage('monitoring');

  test('has every alert', () => {
    const kinds = [...read('src/core/alert.ts').matchAll(/readonly kind: '(\w+)'/g)];
    const rows = tableRows(section(page, 'Alerts')).map(([kind]) => kind);
    expect(rows.toSorted()).toEqual(kinds.map((match) => match[1]).toSorted());
  });

  test('has metrics that the source has, and all of them', () => {
    const named = [...section(page, 'Metrics').matchAll(/`(?:tollgate|…)_(\w+)`/g)];
    const documented = named.map((match) => match[1] ?? '');
    const source = [...new Bun.Glob('src/observe/*.ts').scanSync()].map((path) => read(path));
    const names = source.flatMap((text) =>
      [...text.matchAll(/\btollgate_(\w+)/g)].map((match) => match[1] ?? ''),
    );
    const missing = names.filter(
      (name) => !documented.some((each) => name === each || name.endsWith(`_${each}`)),
    );
    expect(missing).toEqual([]);
    const unknown = documented.filter(
      (each) => !names.some((name) => name === each || name.endsWith(`_${each}`)),
    );
    expect(unknown).toEqual([]);
  });
});

test('agents has the settings that the key page shows', () => {
  const place = {
    baseUrl: 'http://127.0.0.1:3000',
    model: 'demo-chat',
    reasoning: false,
    responses: true,
    name: 'Tollgate',
    apiKey: 'YOUR_API_KEY',
  };
  const page = customerPage('agents');
  const shown = ['sh', 'json', 'yaml', 'toml'].flatMap((language) => blocks(page, language));
  const groups = snippetGroups(place).filter(
    ({ id }) => !['curl', 'javascript', 'python'].includes(id),
  );
  for (const { label, snippets } of groups) {
    expect(section(page, label)).toContain('```');
    for (const { code } of snippets) expect(shown).toContain(`${code}\n`);
  }
  expect(shown).toHaveLength(groups.flatMap(({ snippets }) => snippets).length);
});
