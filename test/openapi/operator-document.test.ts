// The description of the operators' API has every row with a scope, and is valid OpenAPI 3.1.

import { expect, test } from 'bun:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { OPERATOR_PAGES, operatorReference } from '../../scripts/reference.ts';
import { SCOPES } from '../../src/core/operator-scope.ts';
import { scopedRoutes } from '../../src/dashboard/edge/route.ts';
import { operatorRoutes } from '../../src/dashboard/operator/routes.ts';
import { createOperatorDocument } from '../../src/openapi/operator-document.ts';
import { anything } from '../dashboard/security/routes.ts';
import { read } from '../docs/documents.ts';

const all = operatorRoutes(anything);
const routes = scopedRoutes(all);
const description = createOperatorDocument({ version: '1.0.0', routes: all });
const document = JSON.parse(JSON.stringify(description));

type Operation = {
  readonly operationId: string;
  readonly security: readonly { readonly bearer?: readonly string[] }[];
  readonly parameters?: readonly { readonly name: string; readonly description?: string }[];
  readonly requestBody?: {
    readonly content: Record<string, { readonly schema: { properties: object } }>;
  };
  readonly responses: Record<string, { readonly 'x-error-codes'?: readonly string[] }>;
};

const operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      title: `${method.toUpperCase()} ${path}`,
      operation,
    })),
);

test('is valid', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  expect([valid, errors]).toEqual([true, undefined]);
});

test('has every route of the table with its scope, and itself', () => {
  const described = operations.map(({ title, operation }) => [
    title,
    operation.operationId,
    operation.security[0]?.bearer?.[0],
  ]);
  const served = routes.map(({ method, path, operation: { name, scope } }) => [
    `${method} ${path.replace(':id', '{id}')}`,
    name,
    scope,
  ]);
  expect(described.toSorted()).toEqual(
    [...served, ['GET /openapi.json', 'get_description', undefined]].toSorted(),
  );
  expect(new Set(routes.map(({ operation }) => operation.name)).size).toBe(routes.length);
  expect(new Set(routes.map(({ operation }) => operation.scope))).toEqual(new Set(SCOPES));
});

test('every field of a body and every parameter has a sentence', () => {
  const silent = operations.flatMap(({ title, operation: { parameters = [], requestBody } }) => {
    const body = requestBody?.content['application/json']?.schema.properties ?? {};
    const fields = Object.entries(body as Record<string, { description?: string }>);
    return [...parameters.map((each) => [each.name, each] as const), ...fields]
      .filter(([, { description }]) => description?.endsWith('.') !== true)
      .map(([name]) => `${title} ${name}`);
  });
  expect(silent).toEqual([]);
});

test('an example of a body is one that its route takes', () => {
  for (const { operation, body, readBody } of routes) {
    const { name, example } = operation;
    expect([name, example === undefined]).toEqual([name, body === undefined]);
    if (example !== undefined) expect(readBody(example)).toEqual(example);
  }
});

test('every reference leads to a component, and every component is referred to', () => {
  const referred = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)];
  expect([...new Set(referred.map(([, name]) => name))].toSorted()).toEqual(
    Object.keys(document.components.schemas).toSorted(),
  );
});

test('the reference pages are what `bun run reference` writes, and have every route', () => {
  const texts = OPERATOR_PAGES.map((page) => read(page));
  expect(texts).toEqual(OPERATOR_PAGES.map(operatorReference));
  const titles = routes.map(({ method, path }) => `## ${method} ${path.replace(':id', '{id}')}`);
  const lines = new Set(texts.flatMap((text) => text.split('\n')));
  expect(titles.filter((title) => !lines.has(title))).toEqual([]);
});
