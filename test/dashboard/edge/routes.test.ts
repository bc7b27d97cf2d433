// The route tables of both applications: no route hides another one.

import { expect, test } from 'bun:test';
import { ROUTES, titleOf } from '../security/routes.ts';

test('no two routes have the same method and path', () => {
  const titles = ROUTES.map((route) =>
    titleOf({ ...route, path: route.path.replace(/:\w+/g, ':') }),
  );
  expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([]);
});
