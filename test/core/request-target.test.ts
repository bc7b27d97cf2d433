import { expect, test } from 'bun:test';
import { targetOf } from '../../src/core/request-target.ts';

test.each([
  ['http://gate.example/models?language=de', '/models', '?language=de'],
  ['http://[/models?language=de', '/models', '?language=de'],
  ['http://x:99999/docs/search?q=a/b', '/docs/search', '?q=a/b'],
  ['http://%', '/', ''],
  ['/models', '/models', ''],
])('the target of %p has its path and its query', (url, pathname, search) => {
  const target = targetOf({ url });
  expect([target.pathname, target.search]).toEqual([pathname, search]);
});
