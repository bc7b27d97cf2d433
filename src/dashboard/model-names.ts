// The models that a key can be bound to, for the forms of both applications.

import type { Model } from '../core/model.ts';
import { type List, wholeList } from './edge/page.ts';
import type { ModelNameRecord } from './records/model.ts';

export function modelNames(models: readonly Model[]): List<ModelNameRecord> {
  return wholeList(models.map(({ slug, displayName }) => ({ slug, name: displayName })));
}
