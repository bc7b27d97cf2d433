// The capabilities of a model as short labels.

import type { ModelRecord } from '../../../dashboard/records/model.ts';
import { listed } from '../../text/t.ts';
import { featureWords } from './search.ts';

export function Features({ features }: Pick<ModelRecord, 'features'>) {
  return <span class="soft small">{listed(featureWords(features))}</span>;
}
