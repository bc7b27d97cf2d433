// Builds the description of the operators' API, OpenAPI 3.1, from its route table, the readers of
// bodies and queries, the schemas of answers and the error table of the console. Pure.

import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { statusOf } from '../../dashboard/edge/error.ts';
import type { TokenRoute } from '../../dashboard/operator-api/route.ts';
import { named } from '../answers.ts';
import {
  errorAnswer,
  hoisted,
  type JsonRecord,
  type OpenApiDocument,
  requestBody,
  sorted,
} from '../schemas.ts';
import { OPERATOR_OPERATIONS } from './operations.ts';

/** What every route may answer. */
const COMMON_CODES = [
  ...['invalid_request', 'invalid_operator_token', 'scope_required', 'role_not_permitted'],
  ...['too_many_attempts', 'internal_error', 'unavailable'],
];

const BODY_CODES = ['payload_too_large', 'unsupported_media_type'];

const PATH_TEXTS: Readonly<Record<string, string>> = {
  accounts: 'The id or the e-mail address of an account.',
  keys: 'The id of a key.',
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
  readonly routes: readonly TokenRoute[];
}): OpenApiDocument {
  const schemas: { [name: string]: JsonRecord } = {};
  const paths: { [path: string]: { [method: string]: JsonRecord } } = {};
  for (const each of options.routes) {
    const { method, path } = each.route;
    const template = path.replace(/:(\w+)/g, '{$1}');
    const operation = hoisted(operationOf(each), schemas);
    paths[template] = { ...paths[template], [method.toLowerCase()]: operation };
  }
  paths['/openapi.json'] = { get: hoisted(DESCRIPTION, schemas) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate operators’ API',
      version: options.version,
      description:
        'Accounts, keys, credits, usage and prices for programs of the operator, on the listener of the console.',
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

function operationOf({ name, scope, route }: TokenRoute): JsonRecord {
  const { summary, description, texts = {}, answer, codes, example } = OPERATOR_OPERATIONS[name];
  const body = route.body === 'unread' ? undefined : route.body;
  const all = [...COMMON_CODES, ...(body === undefined ? [] : BODY_CODES), ...codes];
  const parameters = [...pathParameters(route.path), ...queryParameters(route.query, texts)];
  return {
    operationId: name,
    summary,
    description: `${description} It needs the scope \`${scope}\`.`,
    security: [{ bearer: [scope] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : requestBody(body, texts, example)),
    responses: { 200: answerOf(answer), ...errorAnswers(all) },
  };
}

function pathParameters(path: string): readonly JsonRecord[] {
  return [...path.matchAll(/\/(\w+)\/:(\w+)/g)].map(([, collection = '', name = '']) => ({
    ...{ name, in: 'path', required: true, description: PATH_TEXTS[collection] },
    schema: Type.String({ minLength: 1 }),
  }));
}

function queryParameters(
  query: TObject | undefined,
  texts: Readonly<Record<string, string>>,
): readonly JsonRecord[] {
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    ...{ name, in: 'query', required: false, description: texts[name], schema },
  }));
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
