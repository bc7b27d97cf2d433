// Builds the description of the operators' API, OpenAPI 3.1, from the rows of the console that are open
// to tokens, and the error table of the console. Pure.

import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { statusOf } from '../dashboard/edge/error.ts';
import {
  type ConsoleRoutes,
  type Operation,
  type Route,
  scopedRoutes,
} from '../dashboard/edge/route.ts';
import { named, nothing } from '../dashboard/records/schema.ts';
import {
  errorAnswer,
  hoisted,
  type JsonRecord,
  type OpenApiDocument,
  requestBody,
  sorted,
} from './schemas.ts';

/** What every route may answer. */
export const COMMON_CODES: readonly string[] = [
  'invalid_request',
  'invalid_operator_token',
  'scope_required',
  'role_not_permitted',
  'too_many_attempts',
  'internal_error',
  'unavailable',
];

/** Beside those, every route with a body. */
export const BODY_CODES = ['payload_too_large', 'unsupported_media_type'];

/** What the id of a path is, and the error where there is none. */
const COLLECTIONS: Readonly<Record<string, readonly [text: string, code: string]>> = {
  accounts: ['The id or the e-mail address of an account.', 'account_not_found'],
  keys: ['The id of a key.', 'key_not_found'],
  codes: ['The id of a code.', 'code_not_found'],
  invites: ['The id of an invitation.', 'invite_not_found'],
  models: ['The slug or an alias of a model.', 'model_not_found'],
  upstreams: ['The id of an upstream.', 'upstream_not_found'],
  alerts: ['The id of an alert.', 'alert_not_found'],
};

const error = named('Error', {
  error: Type.Object({
    code: Type.String(),
    message: Type.String(),
    param: Type.Optional(Type.String({ description: 'The field of the request that is wrong.' })),
    request_id: Type.String({ pattern: '^req_' }),
  }),
});

const HEADERS = {
  'x-request-id': {
    description: 'The id of the request.',
    required: true,
    schema: Type.String({ pattern: '^req_' }),
  },
};

const RETRY_AFTER = {
  description: 'Seconds to wait before the next attempt.',
  required: false,
  schema: Type.Integer({ minimum: 0 }),
};

export function createOperatorDocument(options: {
  readonly version: string;
  readonly routes: ConsoleRoutes;
}): OpenApiDocument {
  const schemas: { [name: string]: JsonRecord } = {};
  const paths: { [path: string]: { [method: string]: JsonRecord } } = {};
  for (const route of scopedRoutes(options.routes)) {
    const { method, path } = route;
    const template = path.replace(/:(\w+)/g, '{$1}');
    const operation = hoisted(operationOf(route, route.operation), schemas);
    paths[template] = { ...paths[template], [method.toLowerCase()]: operation };
  }
  paths['/openapi.json'] = { get: hoisted(DESCRIPTION, schemas) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate operators’ API',
      version: options.version,
      description:
        'What operators do in the console, for their programs, on the listener of the console.',
    },
    servers: [{ url: '/operator/api/v1' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A token with scopes, `tgo-…`.' },
      },
      schemas: sorted(schemas),
    },
  };
}

const DESCRIPTION = {
  operationId: 'get_description',
  summary: 'Get this description',
  description: 'Returns this document.',
  security: [],
  responses: {
    200: answerOf(Type.Object({ openapi: Type.String() }, { additionalProperties: true })),
  },
};

function operationOf(
  { path, body, query }: Pick<Route<undefined>, 'path' | 'body' | 'query'>,
  { name, scope, summary, answer, codes = [], example }: Operation,
): JsonRecord {
  const fields = body === 'unread' ? undefined : body;
  const parameters = [...pathParameters(path), ...queryParameters(query)];
  const all = [
    ...COMMON_CODES,
    ...(fields === undefined ? [] : BODY_CODES),
    ...missing(path),
    ...codes,
  ];
  return {
    operationId: name,
    summary: summary.replace(/\. .*|\.$/, ''),
    description: `${summary} It needs the scope \`${scope}\`.`,
    security: [{ bearer: [scope] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(fields === undefined ? {} : requestBody(fields, {}, example)),
    responses: { ...success(answer), ...errorAnswers(all) },
  };
}

function pathParameters(path: string): readonly JsonRecord[] {
  return idsOf(path).map(([name, [description]]) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: Type.String({ minLength: 1 }),
  }));
}

function missing(path: string): readonly string[] {
  return idsOf(path).flatMap(([, [, code]]) => ['not_found', code]);
}

function idsOf(path: string) {
  return [...path.matchAll(/\/(\w+)\/:(\w+)/g)].map(
    ([, collection = '', name = '']) => [name, COLLECTIONS[collection] ?? ['', '']] as const,
  );
}

function queryParameters(query: TObject | undefined): readonly JsonRecord[] {
  return Object.entries(query?.properties ?? {}).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: false,
    description,
    schema,
  }));
}

function success(answer: TSchema): JsonRecord {
  if (answer !== nothing) return { 200: answerOf(answer) };
  return { 204: { description: 'Done.', headers: HEADERS } };
}

function answerOf(schema: TSchema): JsonRecord {
  return {
    description: 'The answer.',
    headers: HEADERS,
    content: { 'application/json': { schema } },
  };
}

/** By status. */
function errorAnswers(codes: readonly string[]): JsonRecord {
  const byStatus = Map.groupBy(new Set(codes), statusOf);
  return Object.fromEntries(
    [...byStatus].map(([status, those]) => {
      const wait = status === 429 ? { 'retry-after': RETRY_AFTER } : {};
      return [status, errorAnswer(error, those, { ...HEADERS, ...wait })];
    }),
  );
}
