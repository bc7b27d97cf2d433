// What the routes of the API answer where nothing went wrong. A named schema (`$id`) becomes a component
// of the description. Answers may gain members, so nothing here forbids others; the tests do.

import { Type } from '@sinclair/typebox';
import { OUTCOMES } from '../core/generation.ts';
import { balance, limitUsage } from '../dashboard/records/account.ts';
import { allRates, windowPrice } from '../dashboard/records/price.ts';
import { count, decimal, instant, named, nullable, oneOf } from '../dashboard/records/schema.ts';

export const outcome = Type.Unsafe({
  $id: 'Outcome',
  type: 'string',
  enum: [...OUTCOMES],
  description: 'How the request ended.',
});

export const estimated = Type.Optional(
  Type.Literal(true, { description: 'The charge contains an estimate of unseen output.' }),
);

/** What an answer has cost. */
export const charge = {
  svc_tokens_debited: decimal,
  svc_cost_usd: decimal,
  svc_estimated: estimated,
};

/** What the end of a stream says of its cost. */
export const bill = {
  ...charge,
  svc_balance_tokens: decimal,
  svc_fallback_used: Type.Boolean(),
  svc_outcome: outcome,
};

export const finishReason = Type.Unsafe({
  $id: 'FinishReason',
  type: 'string',
  enum: ['stop', 'length', 'tool_calls', 'content_filter', 'insufficient_system_resource'],
});

export const chatUsage = named('ChatUsage', {
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: Type.Object({ cached_tokens: count }),
  completion_tokens_details: Type.Object({ reasoning_tokens: count }),
  prompt_cache_hit_tokens: count,
  prompt_cache_miss_tokens: count,
  ...charge,
});

export const completionHead = {
  id: Type.String({ pattern: '^chatcmpl-' }),
  created: count,
  model: Type.String(),
};

const toolCall = named('ToolCall', {
  id: Type.String(),
  type: Type.Literal('function'),
  function: Type.Object({
    name: Type.String(),
    arguments: Type.String({ description: 'JSON in a string.' }),
  }),
});
const customToolCall = named('CustomToolCall', {
  id: Type.String(),
  type: Type.Literal('custom'),
  custom: Type.Object({ name: Type.String(), input: Type.String() }),
});

export const chatCompletion = named('ChatCompletion', {
  ...completionHead,
  object: Type.Literal('chat.completion'),
  choices: Type.Array(
    Type.Object({
      index: Type.Literal(0),
      message: Type.Object({
        role: Type.Literal('assistant'),
        content: nullable(Type.String()),
        refusal: Type.Null(),
        reasoning_content: Type.Optional(Type.String()),
        tool_calls: Type.Optional(Type.Array(Type.Union([toolCall, customToolCall]))),
      }),
      logprobs: Type.Null(),
      finish_reason: finishReason,
    }),
    { minItems: 1, maxItems: 1 },
  ),
  usage: chatUsage,
  system_fingerprint: Type.String(),
});

export const stopReason = oneOf('end_turn', 'max_tokens', 'tool_use');
/** Where a filter ended the answer. */
export const stopDetails = Type.Optional(
  named('StopDetails', {
    type: Type.Literal('refusal'),
    category: Type.Null(),
    explanation: Type.Null(),
  }),
);

export const messageCounts = {
  input_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  output_tokens: count,
};
export const messagesUsage = { ...messageCounts, ...charge };

export const textBlock = named('TextBlock', { type: Type.Literal('text'), text: Type.String() });
export const thinkingBlock = named('ThinkingBlock', {
  type: Type.Literal('thinking'),
  thinking: Type.String(),
  signature: Type.String(),
});
export const toolUseBlock = named('ToolUseBlock', {
  type: Type.Literal('tool_use'),
  id: Type.String(),
  name: Type.String(),
  input: Type.Object({}),
});

export const messageHead = {
  id: Type.String({ pattern: '^msg_' }),
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  model: Type.String(),
};

export const message = named('Message', {
  ...messageHead,
  content: Type.Array(Type.Union([thinkingBlock, textBlock, toolUseBlock])),
  stop_reason: stopReason,
  stop_sequence: Type.Null(),
  stop_details: stopDetails,
  usage: named('MessagesUsage', messagesUsage),
});

export const tokenCount = named('TokenCount', { input_tokens: count });

const pricing = named('Pricing', {
  currency: Type.Literal('USD'),
  unit: Type.Literal('1M_tokens'),
  ...allRates,
  next_change_at: nullable(instant),
  schedule: Type.Array(
    Type.Object({
      valid_from: nullable(instant),
      ...allRates,
      windows: Type.Array(Type.Object(windowPrice)),
    }),
  ),
});

const loweredLimits = {
  requests_per_minute: nullable(count),
  tokens_per_minute: nullable(count),
  concurrent_requests: nullable(count),
};

export const model = named('Model', {
  id: Type.String(),
  object: Type.Literal('model'),
  type: Type.Literal('model'),
  created: Type.Integer(),
  created_at: instant,
  owned_by: Type.String(),
  display_name: Type.String(),
  description: Type.String(),
  aliases: Type.Array(Type.String()),
  context_window: count,
  effective_context: count,
  max_output_tokens: count,
  max_input_tokens: count,
  max_tokens: count,
  input_modalities: Type.Array(oneOf('text', 'image')),
  output_modalities: Type.Array(Type.Literal('text')),
  features: Type.Object({
    tools: Type.Boolean(),
    json_mode: Type.Boolean(),
    vision: Type.Boolean(),
    reasoning: Type.Boolean(),
    streaming: Type.Boolean(),
    prompt_cache: Type.Boolean(),
  }),
  capabilities: Type.Null(),
  reasoning: nullable(
    Type.Object({
      efforts: Type.Array(Type.String()),
      default_effort: Type.String(),
      can_disable: Type.Boolean(),
    }),
  ),
  pricing,
  available: Type.Boolean(),
  plans: Type.Array(Type.String()),
  on_disconnect: oneOf('stops', 'continues'),
  status: oneOf('active', 'degraded'),
  lifecycle: Type.Literal('active'),
  line: Type.Null(),
  limits: nullable(Type.Object(loweredLimits)),
  deprecation: Type.Null(),
  deprecated_at: Type.Null(),
  retires_at: Type.Null(),
});

export const modelList = named('ModelList', {
  object: Type.Literal('list'),
  data: Type.Array(model),
  has_more: Type.Boolean(),
  first_id: nullable(Type.String()),
  last_id: nullable(Type.String()),
});

export const account = named('Account', {
  id: Type.String(),
  object: Type.Literal('account'),
  email_verified: Type.Boolean(),
  standing: oneOf('active', 'suspended', 'pending_deletion'),
  plan: Type.Object({ slug: Type.String(), name: Type.String(), since: instant }),
  balance,
  limits: Type.Object({
    requests_per_minute: count,
    tokens_per_minute: count,
    concurrent_requests: count,
    max_context_tokens: count,
    max_active_api_keys: count,
    daily_tokens: nullable(count),
    monthly_tokens: nullable(count),
  }),
  usage: limitUsage,
  model_limits: Type.Array(
    Type.Object({
      model: Type.String(),
      ...loweredLimits,
      reason: Type.Literal('capacity'),
      until: Type.Null(),
    }),
  ),
  api_keys: Type.Object({ active: count, limit: count }),
});
