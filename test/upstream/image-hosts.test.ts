// Which names of images' hosts lead to a private network.

import { expect, test } from 'bun:test';
import { createImageHosts } from '../../src/upstream/image-hosts.ts';

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'public.example': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'rebound.example': ['10.0.0.8'],
  'mixed.example': ['93.184.215.14', '::ffff:127.0.0.1'],
  'metadata.example': ['169.254.169.254'],
  'six.example': ['fd00::8'],
  'gone.example': [],
};

function hosts() {
  const asked: string[] = [];
  const find = createImageHosts({
    async lookup(name) {
      asked.push(name);
      const found = ADDRESSES[name];
      if (found === undefined) throw new Error('not found');
      return found;
    },
    monotonic: () => 0,
  });
  return { find, asked };
}

test.each(['rebound.example', 'mixed.example', 'metadata.example', 'six.example'])(
  '%s is found among others',
  async (name) => {
    const { find } = hosts();
    expect(await find(['public.example', name, 'gone.example'])).toBe(name);
  },
);

test('public names and names that do not resolve pass', async () => {
  const { find } = hosts();
  expect(await find(['public.example', 'gone.example', 'unknown.example'])).toBeUndefined();
  expect(await find([])).toBeUndefined();
});

test('a name is looked up once, and an address never', async () => {
  const { find, asked } = hosts();
  await Promise.all([find(['public.example']), find(['public.example'])]);
  await find(['public.example', '93.184.215.14', '2606:2800::1']);
  expect(asked).toEqual(['public.example']);
});
