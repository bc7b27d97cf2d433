// The data of pages: when it is read again, and what stays shown until then.

import { expect, test } from 'bun:test';
import { held, openPage, settle, until } from '../support/page.ts';

type Shown<Value> = { readonly value: Value };

type List = {
  readonly rows: Shown<readonly number[] | undefined>;
  readonly loading: Shown<boolean>;
  readonly more: () => Promise<void>;
  readonly toNext: () => Promise<void>;
  readonly toPrevious: () => Promise<void>;
  readonly refresh: () => void;
};

type UseList = (path: string, query?: object, kept?: object) => List;

const FIRST = { data: [1], next: 'b' };

test('a refresh waits for a running read, and reads the page that is shown', async () => {
  const first = held<object>();
  const page = await openPage({
    app: 'operator',
    path: '/approvals',
    answer: ({ path }) => (path.includes('after') ? { data: [2], next: null } : first.promise),
  });
  const useList = page.parts.useList as UseList;
  const { result } = page.run(() => useList('/rows'));
  await until(() => page.reads('/rows').length === 1);
  result()?.refresh();
  expect(page.reads('/rows')).toHaveLength(1);
  first.release(FIRST);
  await until(() => result()?.rows.value?.length === 1);
  result()?.refresh();
  await until(() => page.reads('/rows').length === 2 && result()?.loading.value === false);
  await result()?.toNext();
  expect(result()?.rows.value).toEqual([2]);
  result()?.refresh();
  await until(() => page.reads('/rows').length === 4 && result()?.loading.value === false);
  expect(result()?.rows.value).toEqual([2]);
  await result()?.toPrevious();
  expect(result()?.rows.value).toEqual([1]);
  await result()?.more();
  expect(result()?.rows.value).toEqual([1, 2]);
  page.close();
});

test('the page of an earlier visit is not read until the user comes back to the window', async () => {
  const kept = {
    data: [4, 5],
    next: 'd',
    place: { start: 'c', rowsBefore: 3 },
    before: [{ rowsBefore: 0 }],
  };
  const page = await openPage({
    app: 'dashboard',
    path: '/requests',
    answer: ({ path }) => (path.includes('after=c') ? { data: [4, 6], next: 'e' } : FIRST),
  });
  const useList = page.parts.useList as UseList;
  const { result } = page.run(() => useList('/rows', {}, kept));
  await settle();
  expect([page.reads('/rows'), result()?.rows.value]).toEqual([[], [4, 5]]);
  page.comeBack();
  await until(() => result()?.rows.value?.includes(6) === true);
  expect(page.reads('/rows')).toHaveLength(1);
  page.close();
});

test('while a feed is down, what is read replaces its last message', async () => {
  let reads = 0;
  const page = await openPage({
    app: 'dashboard',
    path: '/',
    answer: () => {
      reads += 1;
      return { reads };
    },
  });
  type Overview = { readonly data: Shown<object | undefined> };
  const useResource = page.parts.useResource as (path: string) => Overview;
  const useLatest = page.parts.useLatest as (
    path: string,
    resource: Overview,
  ) => { readonly latest: object | undefined };
  const { result } = page.run(() => {
    const resource = useResource('/overview');
    const { latest } = useLatest('/feed', resource);
    return { latest, data: resource.data.value };
  });
  await until(() => page.feeds.length === 1 && result()?.data !== undefined);
  const [feed] = page.feeds;
  feed?.onopen();
  feed?.send({ live: true });
  await settle();
  expect(result()).toEqual({ latest: { live: true }, data: { reads: 1 } });
  feed?.onerror();
  await until(() => result()?.latest === undefined);
  expect(result()?.data).toEqual({ reads: 2 });
  page.close();
});
