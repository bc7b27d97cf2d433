// The answer of GET /v1/api-keys.

import { Type } from '@sinclair/typebox';
import { keyAnswer } from '../dashboard/records/key.ts';
import { count, named } from '../dashboard/records/schema.ts';

export const apiKeyList = named('ApiKeyList', {
  object: Type.Literal('list'),
  data: Type.Array(keyAnswer),
  has_more: Type.Boolean(),
  active_count: count,
  active_limit: count,
});
