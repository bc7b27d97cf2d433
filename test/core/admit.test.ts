// Which requests are admitted, in which order checks apply, and how much output a request may have.
// Context refusals must match the patterns by which published clients recognise them.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  type ClientFormatName,
  codeOf,
  decideOutputBound,
  type LimitCode,
  type LimitFacts,
  REFUSAL_ORDER,
  refusedByLimits,
  refusedByStanding,
  requireFeatures,
  requireInPlan,
  requireModel,
  requirePlan,
  type StandingFacts,
} from '../../src/core/admit.ts';
import { ERRORS, type ErrorCode, GatewayError } from '../../src/core/error.ts';
import { failureError } from '../../src/core/failure.ts';
import type { OutputLimit, Turn } from '../../src/core/generation.ts';
import type { Catalog, Model, ModelFeature } from '../../src/core/model.ts';
import { micro, tokenCount, usdRate } from '../../src/core/money.ts';
import { BUILT_IN_PLANS, type Plan } from '../../src/core/plan.ts';
import { DEFAULT_SERVICE } from '../../src/core/service.ts';
import { alwaysAt, flatPrice } from '../support/price.ts';
import { thrownBy } from '../support/thrown.ts';

function plan(more: Partial<Plan> = {}): Plan {
  const [first] = BUILT_IN_PLANS;
  if (first === undefined) throw new Error('no plan');
  return { ...first, maxContext: 1_000, ...more };
}

function model(more: Partial<Model> = {}): Model {
  return {
    slug: 'm',
    aliases: [],
    displayName: 'M',
    description: '',
    created: 0,
    contextWindow: 1_000,
    maxOutput: 100,
    features: new Set(),
    prices: alwaysAt(flatPrice('1', 1n)),
    servedBy: [],
    fallbacks: [],
    ...more,
  };
}

function limit(
  tokens: number | undefined,
  field: OutputLimit['field'] = 'max_tokens',
): OutputLimit | undefined {
  return tokens === undefined ? undefined : { tokens, field };
}

/** The refusal that `work` throws, as a plain object. */
function refusal(work: () => unknown): {
  code: ErrorCode;
  param: string | undefined;
  message: string;
} {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) {
      return { code: error.code, param: error.param, message: error.message };
    }
    throw error;
  }
  throw new Error('nothing was refused');
}

test('the order of refusals is the public one', () => {
  expect(REFUSAL_ORDER).toEqual([
    'missing_api_key',
    'invalid_api_key',
    'email_not_verified',
    'account_inactive',
    'account_blocked',
    'api_key_blocked',
    'key_paused',
    'ip_blocked',
    'address_not_allowed',
    'maintenance_mode',
    'rate_limit_exceeded',
    'concurrency_limit_exceeded',
    'minimum_balance',
    'payload_too_large',
    'invalid_request',
    'model_not_found',
    'model_not_in_plan',
    'model_not_allowed_for_key',
    'context_length_exceeded',
    'tokens_per_minute_exceeded',
    'daily_limit_exceeded',
    'monthly_limit_exceeded',
    'insufficient_balance',
    'key_budget_exhausted',
  ]);
  expect(REFUSAL_ORDER.every((refusal) => codeOf(refusal) in ERRORS)).toBe(true);
});

describe('standing', () => {
  const GOOD: StandingFacts = {
    emailVerified: true,
    standing: 'active',
    accountBlocked: false,
    keyBlocked: false,
    keyPaused: false,
    addressBlocked: false,
    addressExcluded: false,
    maintenance: false,
  };
  const WRONGS: readonly [ErrorCode, Partial<StandingFacts>][] = [
    ['email_not_verified', { emailVerified: false }],
    ['account_inactive', { standing: 'suspended' }],
    ['account_blocked', { accountBlocked: true }],
    ['api_key_blocked', { keyBlocked: true }],
    ['key_paused', { keyPaused: true }],
    ['ip_blocked', { addressBlocked: true }],
    ['address_not_allowed', { addressExcluded: true }],
    ['maintenance_mode', { maintenance: true }],
  ];

  test('a good one is not refused', () => {
    expect(refusedByStanding(GOOD)).toBeUndefined();
  });

  test('pending deletion is as inactive as suspended', () => {
    expect(refusedByStanding({ ...GOOD, standing: 'pending_deletion' })).toBe('account_inactive');
  });

  test('of any set of wrongs the first decides', () => {
    const set = fc.uniqueArray(fc.nat(WRONGS.length - 1), { minLength: 1 });
    fc.assert(
      fc.property(set, (indexes) => {
        const facts = Object.assign({ ...GOOD }, ...indexes.map((index) => WRONGS[index]?.[1]));
        expect(refusedByStanding(facts)).toBe(WRONGS[Math.min(...indexes)]?.[0]);
      }),
    );
  });
});

describe('limits', () => {
  const FREE: LimitFacts = {
    freeSlots: 1,
    freeRequests: 1,
    freeTokens: 100,
    restOfDay: 100,
    restOfMonth: 100,
    least: 50,
    freeCapTokens: 100,
    tokens: 100,
  };
  const FULL: readonly [LimitCode, Partial<LimitFacts>][] = [
    ['concurrency_limit_exceeded', { freeSlots: 0 }],
    ['rate_limit_exceeded', { freeRequests: 0 }],
    ['tokens_per_minute_exceeded', { freeTokens: 99 }],
    ['daily_limit_exceeded', { restOfDay: 49 }],
    ['monthly_limit_exceeded', { restOfMonth: 49 }],
    // What is reserved comes back, so it is looked at last.
    ['concurrency_limit_exceeded', { freeCapTokens: 99 }],
  ];

  test('exactly enough is enough', () => {
    expect(refusedByLimits(FREE)).toBeUndefined();
  });

  test('limits that were lowered below what is used refuse, and do not wrap', () => {
    expect(refusedByLimits({ ...FREE, freeSlots: -3 })?.code).toBe('concurrency_limit_exceeded');
    expect(refusedByLimits({ ...FREE, restOfMonth: -1 })?.code).toBe('monthly_limit_exceeded');
  });

  test('of any set of full limits the first decides', () => {
    const set = fc.uniqueArray(fc.nat(FULL.length - 1), { minLength: 1 });
    fc.assert(
      fc.property(set, (indexes) => {
        const facts = Object.assign({ ...FREE }, ...indexes.map((index) => FULL[index]?.[1]));
        expect(refusedByLimits(facts)?.code).toBe(FULL[Math.min(...indexes)]?.[0]);
      }),
    );
  });
});

describe('the output bound', () => {
  type Row = [
    name: string,
    prompt: number,
    maxTokens: number | undefined,
    modelMore: Partial<Model>,
    planMore: Partial<Plan>,
    bound: number,
  ];

  const BOUNDS: readonly Row[] = [
    ['the caller decides below the maximum', 10, 50, {}, {}, 50],
    ['the maximum output caps the caller', 10, 500, {}, {}, 100],
    ['absent: the maximum output', 10, undefined, {}, {}, 100],
    ['absent: what the window leaves', 950, undefined, {}, {}, 50],
    ['absent: one token is left', 999, undefined, {}, {}, 1],
    ['the sum may reach the window', 900, 100, {}, {}, 100],
    ['the plan caps the window', 400, 100, {}, { maxContext: 500 }, 100],
    ['the window is below the plan', 400, 100, { contextWindow: 500 }, {}, 100],
    ['absent: what the plan leaves', 450, undefined, {}, { maxContext: 500 }, 50],
  ];

  test.each(BOUNDS)('%s', (_name, prompt, maxTokens, modelMore, planMore, bound) => {
    const decided = decideOutputBound(
      model(modelMore),
      plan(planMore),
      tokenCount(prompt),
      limit(maxTokens),
      'chat',
    );
    expect(decided).toBe(tokenCount(bound));
  });

  const decide = (
    format: ClientFormatName,
    prompt: number,
    maxTokens: number | undefined,
    field?: OutputLimit['field'],
  ) => {
    return () =>
      decideOutputBound(model(), plan(), tokenCount(prompt), limit(maxTokens, field), format);
  };

  test('chat: the prompt alone does not fit', () => {
    expect(refusal(decide('chat', 1_000, undefined))).toEqual({
      code: 'context_length_exceeded',
      param: 'messages',
      message:
        "This model's maximum context length is 1000 tokens for this account, and the prompt is too long for it: the messages take 1000 tokens. Shorten the messages.",
    });
  });

  test('Messages: the prompt alone does not fit', () => {
    expect(refusal(decide('messages', 1_234, 1))).toEqual({
      code: 'context_length_exceeded',
      param: 'messages',
      message: 'prompt is too long: 1234 tokens > 1000 maximum',
    });
  });

  test('chat: only max_tokens does not fit', () => {
    expect(refusal(decide('chat', 901, 100))).toEqual({
      code: 'context_length_exceeded',
      param: 'max_tokens',
      message:
        "This model's maximum context length is 1000 tokens for this account, but the request asks for 1001 tokens (901 in the messages, 100 in max_tokens). Shorten the messages, or lower max_tokens.",
    });
  });

  test('chat: the refusal names max_completion_tokens where the caller sent that', () => {
    expect(refusal(decide('chat', 901, 100, 'max_completion_tokens'))).toEqual({
      code: 'context_length_exceeded',
      param: 'max_completion_tokens',
      message:
        "This model's maximum context length is 1000 tokens for this account, but the request asks for 1001 tokens (901 in the messages, 100 in max_completion_tokens). Shorten the messages, or lower max_completion_tokens.",
    });
  });

  test('Messages: only max_tokens does not fit, in the form with three numbers', () => {
    const { code, param, message } = refusal(decide('messages', 901, 100));
    expect({ code, param }).toEqual({ code: 'context_length_exceeded', param: 'max_tokens' });
    // The pattern by which the most used agent finds the numbers, to lower max_tokens by itself.
    const found = /input length and `max_tokens` exceed context limit: (\d+) \+ (\d+) > (\d+)/;
    expect(message.match(found)?.slice(1)).toEqual(['901', '100', '1000']);
  });

  /** Chat libraries know a prompt that is too long by these; each looks for one of them only. */
  const PROMPT_WORDS = ['prompt is too long', 'maximum context length'];

  test('chat: the words of every library are in it', () => {
    const prompt = refusal(decide('chat', 1_000, undefined)).message;
    const output = refusal(decide('chat', 901, 100)).message;
    const upstream = failureError({ class: 'context_length', detail: '' }).message;
    const wanted: readonly (readonly [message: string, words: readonly string[]])[] = [
      [prompt, [...PROMPT_WORDS, "This model's maximum context length is"]],
      [output, ["This model's maximum context length is"]],
      [upstream, [...PROMPT_WORDS, "is longer than the model's context length"]],
    ];
    for (const [message, words] of wanted) {
      for (const word of words) expect(message).toContain(word);
    }
  });

  test('every admitted request fits the window, the plan, the model and the caller', () => {
    const positive = fc.integer({ min: 1, max: 300 });
    fc.assert(
      fc.property(
        fc.record({
          prompt: positive,
          window: positive,
          maxContext: positive,
          maxOutput: positive,
        }),
        fc.option(positive, { nil: undefined }),
        ({ prompt, window, maxContext, maxOutput }, maxTokens) => {
          const given = model({ contextWindow: window, maxOutput });
          const context = Math.min(window, maxContext);
          const fits = prompt < context && prompt + (maxTokens ?? 0) <= context;
          const decideNow = () =>
            decideOutputBound(
              given,
              plan({ maxContext }),
              tokenCount(prompt),
              limit(maxTokens),
              'chat',
            );
          if (!fits) {
            expect(refusal(decideNow).code).toBe('context_length_exceeded');
            return;
          }
          const bound = decideNow();
          expect(bound).toBe(
            tokenCount(Math.min(maxOutput, maxTokens ?? maxOutput, context - prompt)),
          );
          expect(bound).toBeGreaterThanOrEqual(1);
        },
      ),
    );
  });
});

describe('models of a plan', () => {
  test.each([
    [['*'], true],
    [['m'], true],
    [['other', 'm'], true],
    [['other'], false],
    [[], false],
  ])('%j includes m: %p', (models, included) => {
    const check = () => requireInPlan(plan({ models }), model());
    if (included) expect(check).not.toThrow();
    else expect(refusal(check).code).toBe('model_not_in_plan');
  });
});

test('a model and a plan are those of the catalog, or no request is admitted', () => {
  const [m, p] = [model(), plan()];
  const catalog: Catalog = {
    serviceName: 'Test',
    service: DEFAULT_SERVICE,
    usdPerMillion: usdRate(1n),
    minimumHold: micro(1n),
    upstreams: new Map(),
    models: [m],
    plans: new Map([['p', p]]),
    resolve: (slug) => (slug === 'm' ? m : undefined),
  };
  expect([requireModel(catalog, 'm'), requirePlan(catalog, 'p')]).toEqual([m, p]);
  expect(refusal(() => requireModel(catalog, 'n'))).toMatchObject({
    code: 'model_not_found',
    param: 'model',
  });
  // The operator's mistake and not the caller's, who may come back.
  expect(refusal(() => requirePlan(catalog, 'q')).code).toBe('provider_unavailable');
});

describe('a feature that the catalog says a model lacks', () => {
  const picture: Turn = { role: 'user', parts: [{ kind: 'image', url: 'data:image/png;base64,' }] };
  const tool = { name: 'f', parameters: {} };
  const plain = { turns: [], tools: [], json: false };
  const needs = [
    ['vision', { ...plain, turns: [picture] }, 'messages', 'messages'],
    ['tools', { ...plain, tools: [tool] }, 'tools', 'tools'],
    ['json', { ...plain, json: true }, 'response_format', 'output_config.format'],
  ] as const;
  const ALL: readonly ModelFeature[] = ['vision', 'tools', 'json'];

  test.each(needs)('rejects a request that needs %s, and names the field', (feature, ...rest) => {
    const [request, chat, messages] = rest;
    const lacking = { features: new Set(ALL.filter((each) => each !== feature)) };
    const stated = { ...lacking, statesFeatures: true };
    for (const [format, param] of [
      ['chat', chat],
      ['messages', messages],
    ] as const) {
      const refusal = thrownBy(GatewayError, () => requireFeatures(stated, request, format));
      expect(refusal).toMatchObject({ code: 'invalid_request', param });
      expect(requireFeatures(stated, plain, format)).toBeUndefined();
      // Without the catalog's word, the upstream decides.
      expect(requireFeatures(lacking, request, format)).toBeUndefined();
      const able = { features: new Set([feature]), statesFeatures: true };
      expect(requireFeatures(able, request, format)).toBeUndefined();
    }
  });
});
