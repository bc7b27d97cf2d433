import { expect, test } from 'bun:test';
import { proxiedSchemes } from '../../src/server/runtime.ts';

test.each([
  ['nothing', {}, []],
  [
    'both, in capitals',
    { HTTP_PROXY: 'http://p:1', HTTPS_PROXY: 'http://p:1' },
    ['http:', 'https:'],
  ],
  ['one, in small letters', { https_proxy: 'http://p:1' }, ['https:']],
  ['an empty one', { HTTP_PROXY: '' }, []],
  ['small letters that empty it', { http_proxy: '', HTTP_PROXY: 'http://p:1' }, []],
  ['exceptions alone', { NO_PROXY: '*' }, []],
])('schemes that the environment sends through a proxy: %s', (_name, environment, schemes) => {
  expect([...proxiedSchemes(environment)]).toEqual(schemes);
});
