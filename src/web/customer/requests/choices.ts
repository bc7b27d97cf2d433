// The models and keys of the account, as the options of filters.

import type { RequestFiltersRecord } from '../../../dashboard/records/customer-request.ts';
import type { SelectOption } from '../../ui/field.tsx';
import { useResource } from '../../ui/resource.ts';

/** Empty until loaded. */
export function useRequestChoices() {
  const choices = useResource<RequestFiltersRecord>('/requests/filters').data.value;
  const models: readonly SelectOption[] = (choices?.models ?? []).map((slug) => ({
    value: slug,
    label: slug,
  }));
  const keys: readonly SelectOption[] = (choices?.keys ?? []).map(({ id, name, masked }) => ({
    value: id,
    label: name ?? masked,
  }));
  return { models, keys };
}
