// The shape of a catalog file: every key, its type and its range, and the words for a value that
// does not fit. Called by catalog.ts. What needs more than one value to decide is in rules.ts.

import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Value, ValueErrorType } from '@sinclair/typebox/value';
import { nearest } from '../core/nearest.ts';
import { CostSchema, PeriodSchema, PriceSchema } from './price-schema.ts';
import { ProfileTablesSchema } from './profile-schema.ts';

/** One mistake: where it is, such as `model[2].price.output`, and what is wrong. */
export type Problem = { readonly path: string; readonly text: string };

const MILLION = '(?:1000000(?:\\.0+)?|\\d{1,6}(?:\\.\\d+)?)';
const TABLE = 'a table';

/** `expects` completes the sentence "must be …". */
const text = (expects: string, maxLength: number, pattern = '^[^\\x00-\\x1f\\x7f]*$') =>
  Type.String({ pattern, maxLength, expects });
const integer = (minimum: number, maximum: number) =>
  Type.Integer({
    minimum,
    maximum,
    expects: `an integer from ${minimum} to ${maximum.toLocaleString('en-US')}`,
  });
const timeout = () =>
  Type.Number({
    minimum: 0.01,
    maximum: 86_400,
    expects: 'a number of seconds from 0.01 to 86,400',
  });
const closed = { additionalProperties: false, expects: TABLE };

/** Slugs and ids travel in headers and URLs, so they are small in both length and alphabet. */
export const SLUG_EXPECTS =
  '1 to 64 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit';
export const SLUG_SHAPE = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const slug = () => text(SLUG_EXPECTS, 64, SLUG_SHAPE.source);
const slugs = () =>
  Type.Array(Type.String({ expects: 'a slug' }), {
    expects: 'a list of different slugs',
    uniqueItems: true,
  });
const label = () => text('text of 1 to 128 characters on one line', 128, '^[^\\x00-\\x1f\\x7f]+$');

const amount = (pattern: string, minimum: number, expects: string) =>
  Type.Union([Type.String({ pattern }), Type.Integer({ minimum, maximum: 1_000_000 })], {
    expects,
  });

const LimitFields = {
  requests_per_minute: Type.Optional(integer(1, 1_000_000_000)),
  tokens_per_minute: Type.Optional(integer(1, 1_000_000_000_000)),
  concurrent_requests: Type.Optional(integer(1, 1_000_000)),
};

export const ServiceSchema = Type.Object(
  {
    name: Type.Optional(label()),
    usd_per_million: Type.Optional(
      amount(
        `^(?=.*[1-9])(?=\\d+(?:\\.\\d{1,6})?$)${MILLION}$`,
        1,
        'a decimal above zero such as "1.00", at most 1000000 and with at most 6 decimals',
      ),
    ),
    minimum_hold: Type.Optional(
      amount(
        `^(?=\\d+(?:\\.\\d{1,6})?$)${MILLION}$`,
        0,
        'a decimal such as "1", at most 1000000 and with at most 6 decimals',
      ),
    ),
  },
  closed,
);

/** What an upstream and each of its models may set. */
const TimeoutFields = {
  first_byte_seconds: Type.Optional(timeout()),
  first_content_seconds: Type.Optional(timeout()),
  idle_seconds: Type.Optional(timeout()),
  min_tokens_per_second: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1_000, expects: 'a number from 0 to 1,000' }),
  ),
  total_seconds: Type.Optional(timeout()),
};

const apiKey = () => text('visible ASCII characters', 4_096, '^[\\x21-\\x7e]*$');

export const UpstreamSchema = Type.Object(
  {
    id: slug(),
    dialect: Type.Union([Type.Literal('chat'), Type.Literal('messages'), Type.Literal('demo')], {
      expects: '"chat", "messages" or "demo"',
    }),
    base_url: Type.Optional(text('an http or https address', 2_048)),
    profile: Type.Optional(Type.String({ expects: 'the name of a profile' })),
    cancel_stops_billing: Type.Optional(Type.Boolean({ expects: 'true or false' })),
    api_key: Type.Optional(apiKey()),
    api_keys: Type.Optional(
      Type.Array(apiKey(), {
        minItems: 1,
        maxItems: 64,
        uniqueItems: true,
        expects: 'a list of 1 to 64 different keys',
      }),
    ),
    connect_seconds: Type.Optional(timeout()),
    ...TimeoutFields,
    max_in_flight: Type.Optional(integer(1, 1_000_000)),
    queue_length: Type.Optional(integer(0, 100_000)),
    queue_seconds: Type.Optional(timeout()),
    cool_down_seconds: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 60,
        expects: 'a number of seconds from 0 to 60; 0: never',
      }),
    ),
    transport: Type.Optional(
      Type.Union([Type.Literal('sockets'), Type.Literal('fetch')], {
        expects: '"sockets" or "fetch"',
      }),
    ),
    proxy: Type.Optional(text('an http address', 2_048)),
    allow_link_local: Type.Optional(Type.Boolean({ expects: 'true or false' })),
  },
  closed,
);

const PlacementSchema = Type.Object(
  {
    upstream: Type.String({ expects: 'the id of an upstream' }),
    model: text('text of 1 to 256 characters on one line', 256, '^[^\\x00-\\x1f\\x7f]+$'),
    weight: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1_000_000,
        expects: 'a number above 0, at most 1,000,000',
      }),
    ),
    ...TimeoutFields,
    cost: Type.Optional(CostSchema),
  },
  closed,
);

const FeatureSchema = Type.Union(
  [Type.Literal('tools'), Type.Literal('json'), Type.Literal('vision'), Type.Literal('reasoning')],
  { expects: '"tools", "json", "vision" or "reasoning"' },
);

export const ModelSchema = Type.Object(
  {
    slug: slug(),
    aliases: Type.Optional(
      Type.Array(text('1 to 128 visible ASCII characters', 128, '^[\\x21-\\x7e]+$'), {
        expects: 'a list of aliases',
      }),
    ),
    display_name: Type.Optional(label()),
    description: Type.Optional(
      Type.String({ maxLength: 4_096, expects: 'text of at most 4,096 characters' }),
    ),
    created: Type.Optional(text('a date such as "2026-01-31"', 10, '^\\d{4}-\\d{2}-\\d{2}$')),
    context_window: integer(1, 100_000_000),
    max_output: integer(1, 100_000_000),
    features: Type.Optional(
      Type.Array(FeatureSchema, { uniqueItems: true, expects: 'a list of different features' }),
    ),
    image_factor: Type.Optional(
      Type.Number({ minimum: 0.01, maximum: 1_000, expects: 'a number from 0.01 to 1,000' }),
    ),
    price: PriceSchema,
    prices: Type.Optional(
      Type.Array(PeriodSchema, {
        expects: 'a list of later prices, each written as [[model.prices]]',
      }),
    ),
    served_by: Type.Array(PlacementSchema, {
      minItems: 1,
      expects: 'a list of at least one { upstream = "…", model = "…" }',
    }),
    fallbacks: Type.Optional(slugs()),
    incident_limits: Type.Optional(Type.Object(LimitFields, closed)),
  },
  closed,
);

export const PlanSchema = Type.Object(
  {
    ...LimitFields,
    name: Type.Optional(label()),
    max_context: Type.Optional(integer(1, 100_000_000)),
    max_api_keys: Type.Optional(integer(1, 1_000_000)),
    daily_tokens: Type.Optional(integer(1, 1_000_000_000_000_000)),
    monthly_tokens: Type.Optional(integer(1, 1_000_000_000_000_000)),
    models: Type.Optional(slugs()),
  },
  closed,
);

const DocumentSchema = Type.Object(
  {
    service: Type.Optional(ServiceSchema),
    upstream: Type.Array(UpstreamSchema, {
      minItems: 1,
      expects: 'a list of at least one upstream, each written as [[upstream]]',
    }),
    model: Type.Array(ModelSchema, {
      minItems: 1,
      expects: 'a list of at least one model, each written as [[model]]',
    }),
    plan: Type.Optional(Type.Record(Type.String(), PlanSchema, { expects: TABLE })),
    profile: Type.Optional(ProfileTablesSchema),
  },
  closed,
);

export type CatalogDocument = Static<typeof DocumentSchema>;
export type ModelEntry = Static<typeof ModelSchema>;
export type UpstreamEntry = Static<typeof UpstreamSchema>;
export type PlacementEntry = Static<typeof PlacementSchema>;
export type PlanEntry = Static<typeof PlanSchema>;

export function isCatalogDocument(document: unknown): document is CatalogDocument {
  return Value.Check(DocumentSchema, document);
}

/** Every place where the document does not have the shape above; one problem a place. */
export function documentProblems(document: unknown): Problem[] {
  return shapeProblems(document, DocumentSchema, '');
}

/** Every place where a value at `path` does not have the shape of its schema; one problem a place. */
export function shapeProblems(value: unknown, schema: TSchema, path: string): Problem[] {
  const problems = new Map<string, Problem>();
  for (const error of Value.Errors(schema, value)) {
    const key = error.path.slice(error.path.lastIndexOf('/') + 1);
    const place = placeOf(error.path, path);
    if (problems.has(place)) continue;
    problems.set(place, { path: place, text: words(error.type, error.schema, key) });
  }
  return [...problems.values()];
}

function words(type: ValueErrorType, schema: TSchema, key: string): string {
  if (type === ValueErrorType.ObjectAdditionalProperties) {
    const meant = nearest(key, Object.keys(schema['properties']));
    return meant === undefined
      ? 'is not a known key'
      : `is not a known key; did you mean ${meant}?`;
  }
  const expects = `must be ${String(schema['expects'])}`;
  return type === ValueErrorType.ObjectRequiredProperty ? `is missing; ${expects}` : expects;
}

/** Tables whose keys are names of the operator's own: a number among them is no index. */
const NAMING_TABLES: ReadonlySet<string> = new Set(['plan', 'profile']);

/** `/model/2/price/output` below `start` as `model[2].price.output`. Keys get quotes if need be. */
function placeOf(pointer: string, start: string): string {
  const parts = pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return parts.reduce((path, part) => {
    if (path === '') return tomlKey(part);
    if (/^\d+$/.test(part) && !NAMING_TABLES.has(path)) return `${path}[${part}]`;
    return `${path}.${tomlKey(part)}`;
  }, start);
}

export function tomlKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}
