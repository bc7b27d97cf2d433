// The description of the API names what the tables of the source name, and is valid OpenAPI 3.1.

import { describe, expect, test } from 'bun:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { REFERENCE_PAGES, reference } from '../../scripts/reference.ts';
import { ERRORS } from '../../src/core/error.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { createDocument } from '../../src/openapi/document.ts';
import { OPERATIONS } from '../../src/openapi/operations.ts';
import { read } from '../docs/documents.ts';

const document = JSON.parse(
  JSON.stringify(createDocument({ version: '1.0.0', url: 'https://api.example.com' })),
);

test('is valid', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  expect([valid, errors]).toEqual([true, undefined]);
});

test('has every route that customers may ask, and no other', () => {
  const described = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations as object).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const served = ROUTES.filter(({ name }) => name !== 'metrics').map(
    ({ method, path }) => `${method} ${path.replace(/:(\w+)/, '{$1}')}`,
  );
  expect(described.toSorted()).toEqual(served.toSorted());
});

describe('errors', () => {
  test('every code is described', () => {
    expect(document.components.schemas.ErrorCode.enum).toEqual(Object.keys(ERRORS));
    expect(document['x-error-codes'].map(({ code }: { code: string }) => code)).toEqual(
      Object.keys(ERRORS),
    );
  });

  test('every code belongs to an operation, except those that no described request gets', () => {
    const used = new Set<string>(Object.values(OPERATIONS).flatMap(({ codes }) => codes));
    const unused = Object.keys(ERRORS).filter((code) => !used.has(code));
    expect(unused).toEqual([
      ...['session_required', 'operator_only', 'method_not_allowed', 'websocket_not_offered'],
    ]);
  });
});

test('every field of a body has a sentence', () => {
  const silent = Object.values(OPERATIONS).flatMap(({ body }) =>
    Object.keys(body?.schema['properties'] ?? {}).filter(
      (field) => body?.texts[field]?.endsWith('.') !== true,
    ),
  );
  expect(silent).toEqual([]);
});

test('every reference leads to a component, and every component is referred to', () => {
  const referred = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)];
  expect([...new Set(referred.map(([, name]) => name))].toSorted()).toEqual(
    Object.keys(document.components.schemas).toSorted(),
  );
});

test('the reference pages are what `bun run reference` writes', () => {
  const { routes, objects } = REFERENCE_PAGES;
  expect({ routes: read(routes), objects: read(objects) }).toEqual(reference());
});
